"""A review of items in headless Chromium, as a rater has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.reporting.review.items import HOSTILE, write_items

from fullduplex.reporting.review.desk import Desk
from fullduplex.reporting.review.forms import load
from fullduplex.reporting.review.items import choose_items
from fullduplex.reporting.review.server import ReviewServer
from fullduplex.reporting.review.store import read_reviews

pytestmark = pytest.mark.browser
FORM = load("duplexact")


class Page:
    """The page as Ann has it, with what it complained of."""

    def __init__(self, page: Any, url: str, out: Path) -> None:
        self.page, self.out, self.said = page, out, list[str]()
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.goto(url)
        page.wait_for_selector("html[data-ready=true]")
        self.door = page.locator("#door").inner_text()
        page.keyboard.type("Ann")
        page.keyboard.press("Enter")
        self.at(1)

    def at(self, clip: int) -> None:
        self.page.wait_for_selector(f"#desk[data-clip='{clip}']:not([hidden])")

    def questions(self) -> list[str]:
        """Return the questions that can be seen."""
        return [one.inner_text() for one in self.page.locator(".question h2").all() if one.is_visible()]


@pytest.fixture
def opened(browser: Any, tmp_path: Path, served: Callable[[Desk], ReviewServer]) -> Iterator[Callable[..., Page]]:
    contexts = []

    def make(*, only: tuple[str, ...] = (), **options: Any) -> Page:
        _, chosen = choose_items(write_items(tmp_path / "data", 1), tmp_path / "out", FORM, only=only)
        context = browser.new_context(**({"viewport": {"width": 1200, "height": 900}} | options))
        contexts.append(context)
        return Page(context.new_page(), served(Desk(FORM, chosen)).url, tmp_path / "out")

    yield make
    for context in contexts:
        context.close()


def test_questions_come_one_after_another_and_each_with_what_it_is_about(opened: Callable[..., Page]) -> None:
    ann = opened(only=("da_ignore_other_directed",))
    assert ann.questions() == ["Is this what the situation calls for?"]
    assert "Other-directed speech" not in ann.page.locator("#desk").inner_text()
    ann.page.keyboard.press("1")
    assert ann.questions()[1:] == ["Is this the situation that you hear?"]
    assert "Other-directed speech. During the turn" in ann.page.locator(".question.on").inner_text()
    ann.page.keyboard.press("3")
    assert ann.questions()[2:] == ["How natural is what is said?"]
    ann.page.keyboard.press("4")
    ann.page.keyboard.press("2")
    ann.page.wait_for_function("() => document.getElementById('count').textContent.startsWith('1 of 1')")
    ann.page.keyboard.press("Enter")
    ann.page.wait_for_selector("#end:not([hidden])")
    (review,) = read_reviews(ann.out)
    assert review.answers == {"label": "yes", "condition": "unclear", "content": 4, "voice": 2}
    assert ann.said == []


def test_taking_the_first_answer_back_hides_what_comes_after_it(opened: Callable[..., Page]) -> None:
    ann = opened(only=("da_ignore_other_directed",))
    ann.page.keyboard.press("1")
    assert len(ann.questions()) == 2
    ann.page.keyboard.press("z")
    assert len(ann.questions()) == 1


def test_a_recorded_item_is_not_asked_how_natural_it_is(opened: Callable[..., Page]) -> None:
    ann = opened(only=("da_wait_intra_pause",))
    ann.page.keyboard.press("1")
    ann.page.keyboard.press("1")
    ann.page.wait_for_function("() => document.getElementById('count').textContent.startsWith('1 of 1')")
    assert len(ann.questions()) == 2


def test_the_assistants_lines_are_called_the_scripts_and_no_system_is_spoken_of(opened: Callable[..., Page]) -> None:
    ann = opened(only=("da_stop_direct_interruption",))
    assert "Which system" not in ann.door and "the script's" in ann.door
    text = ann.page.locator(".clip").inner_text()
    assert "Assistant, as the script has it: not spoken" in text and "script, not spoken" in text
    assert ann.page.get_by_role("button", name="System").count() == 0
    assert "Stop it" not in text and "what u1 says" in text


def test_space_plays_the_whole_clip_and_r_the_mark(opened: Callable[..., Page]) -> None:
    ann = opened(only=("da_stop_direct_interruption",))
    ann.page.keyboard.press("r")
    ann.page.wait_for_function("() => Number(document.querySelector('.stage').ariaValueNow) > 5.1")
    assert 5.0 < float(ann.page.locator(".stage").get_attribute("aria-valuenow") or 0) < 7.5
    ann.page.keyboard.press(" ")
    ann.page.wait_for_function("() => document.querySelector('.play').textContent.includes('Play')")


@pytest.mark.parametrize("name", ["da_ignore_other_directed", "da_hold_floor_continue"])
def test_a_phone_needs_no_sideways_scrolling(opened: Callable[..., Page], name: str) -> None:
    ann = opened(only=(name,), viewport={"width": 360, "height": 740})
    for key in "113":
        ann.page.keyboard.press(key)
    assert len(ann.questions()) == 4
    assert ann.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_hostile_words_of_an_item_do_nothing(opened: Callable[..., Page]) -> None:
    ann = opened(only=("da_ignore_other_directed",))
    assert HOSTILE.split()[0] in ann.page.locator(".voice.user").inner_text()
    assert (ann.page.title(), ann.said) == ("Review", [])
    assert ann.page.evaluate("document.querySelectorAll('img').length") == 0
