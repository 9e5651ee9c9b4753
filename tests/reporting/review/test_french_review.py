"""The review in French: the questionnaire and the page, with the values that are kept in every language alike."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fullduplex.reporting.kept_language import keep_language, language_of
from fullduplex.reporting.language import ENGLISH, language_named
from fullduplex.reporting.review.card import HEADINGS
from fullduplex.reporting.review.desk import Desk
from fullduplex.reporting.review.forms import load, load_file, names
from fullduplex.reporting.review.page import render
from fullduplex.reporting.review.server import ReviewServer
from fullduplex.reporting.review.store import read_reviews
from fullduplex.reporting.review.subjects import choose
from fullduplex.reporting.review.translated import form_told, sheet_told
from fullduplex.runs.run import Run

FRENCH = language_named("fr")


def desk_in_french(run: Run, form: str = "interruption") -> Desk:
    told = form_told(load(form), FRENCH)
    return Desk(told, choose([run], told), language=FRENCH)


def post(server: ReviewServer, path: str, **body: Any) -> dict[str, Any]:
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)) as connection:
        connection.request("POST", path, json.dumps(body), {"X-Review-Token": server.token})
        value: dict[str, Any] = json.loads(connection.getresponse().read())
        return value


@pytest.mark.parametrize("name", names())
def test_a_form_in_french_keeps_its_values_and_has_a_digest_of_its_own(name: str) -> None:
    ours, theirs = load(name), form_told(load(name), FRENCH)
    assert [q.key for q in theirs.questions] == [q.key for q in ours.questions]
    for one, told in zip(ours.questions, theirs.questions, strict=True):
        assert told.ask != one.ask
        assert [(o.value, o.key) for o in told.options] == [(o.value, o.key) for o in one.options]
    assert (theirs.name, theirs.version) == (ours.name, ours.version)
    assert theirs.digest != ours.digest


def test_a_form_in_english_is_the_form_itself() -> None:
    form = load("naturalness")
    assert form_told(form, ENGLISH) is form


def test_a_form_of_ones_own_is_shown_in_the_words_that_it_was_written_in(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(
        'name = "own"\nversion = "1"\ntitle = "Chaleur {n} <b>"\n[[question]]\nkey = "warm"\n'
        'ask = "La voix est-elle chaleureuse ?"\nkind = "yes-no-unclear"\n',
        encoding="utf-8",
    )
    told = form_told(load_file(file), FRENCH)
    assert (told.title, told.questions[0].ask) == ("Chaleur {n} <b>", "La voix est-elle chaleureuse ?")
    assert [option.label for option in told.questions[0].options] == ["Oui", "Non", "Peu clair"]


def test_the_page_is_french_and_its_scripts_have_french_words() -> None:
    page = render(form_told(load("interruption"), FRENCH), "token", tell=FRENCH)[0].decode()
    assert '<html lang="fr">' in page
    assert "Votre nom" in page and "Your name" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    (given,) = re.findall(r'id="given">(.*?)</script>', page)
    messages = json.loads(given)["messages"]
    assert messages["Thank you, {name}."] == "Merci, {name}."
    assert messages["Play"] == "Lecture"


def test_the_english_page_carries_no_catalogue() -> None:
    assert '"messages"' not in render(load("interruption"), "token")[0].decode().partition("</script>")[0]


def test_what_a_french_rater_answers_is_kept_as_every_answer_is(
    run: Run, served: Callable[[Desk], ReviewServer]
) -> None:
    server = served(desk_in_french(run))
    seat = post(server, "/join", rater="Zoé")["clips"][0]["id"]
    card = post(server, "/open", id=seat)
    assert [head for head, _ in card["shown"]] == ["Dit avant", "Puis on entend"]
    assert card["clips"][0]["events"][0]["kind"] == "événement"
    post(server, "/answer", id=seat, answers={"rating": 4}, note="", seconds=1, heard=1)
    (review,) = [one for one in read_reviews(run.path) if one.rater == "Zoé"]
    assert review.answers == {"rating": 4}
    assert review.form_digest == form_told(load("interruption"), FRENCH).digest != load("interruption").digest


def test_what_cannot_be_is_told_in_french(run: Run, served: Callable[[Desk], ReviewServer]) -> None:
    server = served(desk_in_french(run))
    assert post(server, "/join", rater="")["error"].startswith("Donnez un nom")
    assert post(server, "/open", id="x")["error"] == "Cet extrait n’est plus connu\u202f; rechargez la page."


def test_labels_are_told_and_what_was_said_is_not() -> None:
    sheet = {
        "shown": [[HEADINGS["condition"], "the user interrupts the system"], [HEADINGS["event"], "hold the floor"]],
        "told": {"label": [[HEADINGS["action"], "hold the floor: go on speaking"]]},
        "events": [{"kind": "may begin here", "start": 0.0, "end": 1.0, "text": "may begin here"}],
        "asked": ["label"],
    }
    told = sheet_told(sheet, FRENCH)
    assert told["shown"] == [["Situation", "l’utilisateur interrompt le système"], ["Puis on entend", "hold the floor"]]
    assert told["told"]["label"] == [["Comportement attendu", "garder la parole\u00a0: continuer de parler"]]
    assert (told["events"][0]["kind"], told["events"][0]["text"]) == ("peut commencer ici", "may begin here")


def test_raters_of_a_run_are_asked_in_the_language_that_it_keeps(run: Run) -> None:
    keep_language(run, "fr")
    assert language_of([Run.open(run.path)]).code == "fr"


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 390, "height": 800})
    yield context.new_page()
    context.close()


@pytest.mark.browser
def test_a_french_rater_sees_french_and_nothing_overflows(
    run: Run, served: Callable[[Desk], ReviewServer], page: Any
) -> None:
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(served(desk_in_french(run)).url)
    page.wait_for_selector("html[data-ready=true]")
    page.keyboard.type("Zoé")
    page.keyboard.press("Enter")
    page.wait_for_selector("#desk[data-clip='1']:not([hidden])")
    text = page.locator("body").inner_text()
    assert "Le système répond-il bien à l’interruption" in text
    assert "0 sur 10 évalués · extrait 1" in text
    assert not re.search(r"\b(Play|Next|Previous|Event again|answered|Both|Somebody)\b", text)
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert said == []
