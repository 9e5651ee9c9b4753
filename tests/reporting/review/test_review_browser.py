"""The review in headless Chromium, as a rater has it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fullduplex.reporting.review.desk import Desk
from fullduplex.reporting.review.server import ReviewServer
from fullduplex.reporting.review.store import file_of, lines, read_reviews
from fullduplex.runs.run import Run

pytestmark = pytest.mark.browser

Seated = Callable[..., Desk]


class Rater:
    """A rater at the page, with what the page asked for and complained of."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.asked: list[str] = []
        self.said: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))

    def enter(self, url: str, name: str) -> None:
        self.page.goto(url)
        self.page.wait_for_selector("html[data-ready=true]")
        self.page.keyboard.type(name)
        self.page.keyboard.press("Enter")
        self.page.wait_for_function("() => !document.getElementById('door').checkVisibility()")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def at(self, clip: int) -> None:
        """Wait until a clip is open."""
        self.page.wait_for_selector(f"#desk[data-clip='{clip}']:not([hidden])")

    def answered(self, text: str) -> None:
        """Wait until the page has been told that so many are kept."""
        self.page.wait_for_function("text => document.getElementById('count').textContent.startsWith(text)", arg=text)


@pytest.fixture
def rater(browser: Any) -> Iterator[Callable[..., Rater]]:
    contexts = []

    def make(**options: Any) -> Rater:
        context = browser.new_context(**({"viewport": {"width": 1200, "height": 900}} | options))
        contexts.append(context)
        return Rater(context.new_page())

    yield make
    for context in contexts:
        context.close()


def test_ten_items_with_the_keyboard_alone_and_nothing_is_lost_by_leaving(
    run: Run, seated: Seated, served: Callable[[Desk], ReviewServer], rater: Callable[..., Rater]
) -> None:
    url = served(seated(run)).url
    ann = rater()
    ann.enter(url, "Ann")
    for clip in range(1, 7):
        ann.at(clip)
        ann.press(str(clip % 6))
        ann.answered(f"{clip} of 10")
        ann.press("Enter")
    ann.at(7)
    ann.page.close()
    again = rater()
    again.enter(url, "Ann")
    for clip in range(7, 11):
        again.at(clip)
        again.press(str(clip % 6))
        again.answered(f"{clip} of 10")
        again.press("Enter")
    again.page.wait_for_selector("#end:not([hidden])")
    assert "You answered all 10 clips" in again.page.locator("#end").inner_text()
    reviews = [review for review in read_reviews(run.path) if review.rater == "Ann"]
    assert sorted(int(review.answers["rating"] or 0) for review in reviews) == [0, 1, 1, 2, 2, 3, 3, 4, 4, 5]
    assert ann.said == again.said == []
    assert all(address.startswith((f"{url.partition('/?')[0]}/", "data:,")) for address in ann.asked)


def test_a_second_rater_has_another_order(
    run: Run, seated: Seated, served: Callable[[Desk], ReviewServer], rater: Callable[..., Rater]
) -> None:
    url = served(seated(run)).url
    for name in ("Ann", "Bo"):
        someone = rater()
        someone.enter(url, name)
        for clip in range(1, 11):
            someone.at(clip)
            someone.press("3")
            someone.answered(f"{clip} of 10")
            someone.press("Enter")
    orders = [
        [json.loads(line)["item"] for line in file_of(run.path, n).read_text().splitlines()] for n in ("Ann", "Bo")
    ]
    firsts = [list(dict.fromkeys(order)) for order in orders]
    assert sorted(firsts[0]) == sorted(firsts[1]) and firsts[0] != firsts[1]


@pytest.fixture
def ann(run: Run, seated: Seated, served: Callable[[Desk], ReviewServer], rater: Callable[..., Rater]) -> Rater:
    """Give a rater with the first clip of ten before her."""
    someone = rater()
    someone.enter(served(seated(run)).url, "Ann")
    someone.at(1)
    return someone


def test_space_plays_arrows_move_and_what_was_heard_is_kept(run: Run, ann: Rater) -> None:
    def place() -> float:
        return float(ann.page.locator(".stage").get_attribute("aria-valuenow") or "nan")

    ann.press("ArrowRight")
    assert place() == pytest.approx(1.0, abs=0.05)
    ann.press("ArrowLeft")
    assert place() == 0
    ann.press(" ")
    ann.page.wait_for_function("() => Number(document.querySelector('.stage').ariaValueNow) > 0.5")
    assert ann.page.locator(".play").inner_text() == "❚❚ Pause"
    ann.press(" ", "2")
    ann.answered("1 of 10")
    (review,) = read_reviews(run.path)
    assert 0.2 < review.heard < 0.9 and 0.5 < review.seconds < 60


def test_r_plays_the_event_again_from_a_second_before_it(ann: Rater) -> None:
    ann.press("End", "r")
    ann.page.wait_for_function("() => document.querySelector('.play').textContent.includes('Pause')")
    place = float(ann.page.locator(".stage").get_attribute("aria-valuenow") or "nan")
    assert place < 1.0


def test_words_light_up_in_step_with_the_sound(ann: Rater) -> None:
    ann.page.locator(".voice.system .word").first.click()
    assert ann.page.locator(".word.now").all_inner_texts()[0].startswith("Reply")


def test_an_earlier_answer_can_be_changed_and_the_last_taken_back(run: Run, ann: Rater) -> None:
    ann.press("2", "Enter")
    ann.at(2)
    ann.press("p")
    ann.at(1)
    assert ann.page.locator("[aria-pressed=true] kbd").first.inner_text() == "2"
    ann.press("5")
    ann.page.wait_for_function("() => document.querySelectorAll('.options [aria-pressed=true]').length === 1")
    ann.press("z")
    ann.press("Enter")
    ann.at(2)
    assert [review.answers["rating"] for review in lines(run.path)][:3] == [2, 5, 2]


def test_enter_on_an_open_question_says_so_once_and_then_leaves_it(ann: Rater) -> None:
    ann.press("Enter")
    assert "Enter again leaves it for later" in ann.page.locator(".hint").inner_text()
    ann.press("Enter")
    ann.at(2)


def test_a_note_is_written_and_kept_and_its_letters_are_no_keys(run: Run, ann: Rater) -> None:
    ann.press("c")
    ann.page.keyboard.type("3 px ?r")
    ann.press("Escape", "1", "Enter")
    ann.at(2)
    assert [(review.note, review.answers) for review in read_reviews(run.path)] == [("3 px ?r", {"rating": 1})]


def test_help_opens_and_closes_and_holds_the_keys_meanwhile(run: Run, ann: Rater) -> None:
    ann.press("?")
    assert ann.page.locator("#help").is_visible()
    ann.press("1", "Escape")
    assert not ann.page.locator("#help").is_visible()
    assert read_reviews(run.path) == []


def test_a_click_answers_and_leaves_the_keys_to_the_page(run: Run, ann: Rater) -> None:
    ann.page.locator(".options button").nth(4).click()
    ann.answered("1 of 10")
    ann.press("Enter")
    ann.at(2)
    assert read_reviews(run.path)[0].answers == {"rating": 4}


def test_every_button_is_reached_by_tab_and_shows_it(ann: Rater) -> None:
    ann.page.evaluate("document.querySelector('.options button').focus()")
    ann.press("Tab")
    style = "() => getComputedStyle(document.activeElement).outlineStyle"
    assert ann.page.evaluate(style) == "solid"
    ann.press("Enter")
    ann.answered("1 of 10")


def test_several_questions_are_answered_one_after_another(
    run: Run, seated: Seated, served: Callable[[Desk], ReviewServer], rater: Callable[..., Rater]
) -> None:
    for path in run.path.glob("trials/*/*/item.json"):
        item = json.loads(path.read_text())
        item["reference"] |= {"action": "stop", "condition": "direct interruption", "synthesised": True}
        path.write_text(json.dumps(item))
    ann = rater()
    ann.enter(served(seated(run, form="duplexact", only=["user_interruption"])).url, "Ann")
    ann.at(1)
    assert ann.page.locator(".question h2").count() == 4
    ann.press("1", "3", "4")
    assert ann.page.locator(".question.on h2").inner_text() == "How natural is the voice that says it?"
    ann.press("2", "ArrowUp", "5")
    ann.answered("1 of 10")
    ann.press("Enter")
    ann.at(2)
    assert read_reviews(run.path)[0].answers == {"label": "yes", "condition": "unclear", "content": 5, "voice": 2}


def test_a_pair_is_heard_against_each_other(
    run: Run, other: Run, seated: Seated, served: Callable[[Desk], ReviewServer], rater: Callable[..., Rater]
) -> None:
    ann = rater()
    ann.enter(served(seated(run, other, form="preference")).url, "Ann")
    ann.at(1)
    ann.press(" ")
    playing = "() => [...document.querySelectorAll('.play')].map((one) => one.getAttribute('aria-pressed') === 'true')"
    ann.page.wait_for_function(f"() => String(({playing})()) === 'true,false'")
    ann.press("x", " ")
    ann.page.wait_for_function(f"() => String(({playing})()) === 'false,true'")
    ann.press("2")
    ann.answered("1 of 12")
    (review,) = read_reviews(run.path)
    assert review.value("preferred") == review.sides["B"]


def test_what_cannot_be_kept_is_said_stays_on_the_page_and_is_kept_later(run: Run, ann: Rater) -> None:
    stood = run.path / "reviews"
    stood.write_text("a file where the folder should be")
    ann.press("4")
    ann.page.wait_for_selector("#trouble:not([hidden])")
    assert "Not kept" in ann.page.locator("#trouble").inner_text()
    ann.press("Enter")
    ann.page.wait_for_timeout(200)
    assert ann.page.locator("#desk").get_attribute("data-clip") == "1"
    stood.unlink()
    ann.press("Enter")
    ann.at(2)
    assert [review.answers for review in read_reviews(run.path)] == [{"rating": 4}]
    assert not ann.page.locator("#trouble").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("form", ["interruption", "preference"])
def test_a_phone_needs_no_sideways_scrolling(
    run: Run, other: Run, seated: Seated, served: Callable[[Desk], ReviewServer], rater: Callable[..., Rater],
    scheme: str, form: str,
) -> None:  # fmt: skip
    ann = rater(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    ann.enter(served(seated(run, other, form=form)).url, "Ann")
    ann.at(1)
    assert ann.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_hostile_words_are_shown_and_do_nothing(run: Run, ann: Rater) -> None:
    assert ann.page.locator(".voice.system .word").nth(1).inner_text().startswith("</script>")
    assert ann.page.evaluate("document.querySelectorAll('img').length") == 0
    assert ann.page.title() == "Review"
    assert ann.said == []


def test_a_hostile_name_of_a_rater_and_a_hostile_form_do_nothing(
    run: Run, seated: Seated, served: Callable[[Desk], ReviewServer], rater: Callable[..., Rater], tmp_path: Path
) -> None:
    hostile = "</script><img src=x onerror=document.title='taken'>"
    text = f'name = "h"\nversion = "1"\ntitle = "{hostile}"\nintro = "{hostile}"\n[[question]]\nkey = "q"\n'
    text += f'ask = "{hostile}"\nkind = "choice"\noptions = [{{value = "{hostile}"}}, {{value = "b"}}]\n'
    (tmp_path / "h.toml").write_text(text)
    ann = rater()
    name = "../../x<img src=x onerror=document.title='taken'>"
    ann.enter(served(seated(run, form=str(tmp_path / "h.toml"))).url, name)
    ann.at(1)
    ann.press("1")
    ann.answered("1 of 12")
    assert ann.page.locator("#who").inner_text() == name
    assert (ann.page.title(), ann.said) == ("Review", [])
    assert read_reviews(run.path)[0].answers == {"q": hostile}
    assert [path.parent for path in run.path.rglob("*.jsonl") if "errors" not in path.name] == [run.path / "reviews"]
