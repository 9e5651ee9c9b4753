"""Harvested items before raters: both voices, what the rule found, and what is asked of which task."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.making.fdb_talk import V10, write_corpus

import fullduplex.cli.harvest
import fullduplex.cli.review
from fullduplex.cli import main
from fullduplex.data import audio
from fullduplex.data.corpora.opened import open_corpus
from fullduplex.errors import RunError
from fullduplex.making.harvest.fdb.harvest import harvest_fdb
from fullduplex.making.harvest.fdb.rules import FDB_RULES
from fullduplex.making.harvest.fdb.survey import Asked
from fullduplex.reporting.review.desk import Desk
from fullduplex.reporting.review.forms import load
from fullduplex.reporting.review.items import choose_items
from fullduplex.reporting.review.page import render

assert fullduplex.cli.harvest and fullduplex.cli.review
FORM = load("accept")


@pytest.fixture(scope="session")
def _harvested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("harvested")
    corpus = open_corpus(write_corpus(place / "corpus", 1))
    for name, rules in (("fdb-1.0", V10), ("fdb-1.5", FDB_RULES["fdb-1.5"])):
        harvest_fdb(corpus, Asked(name, rules, place / name), audio_allowed="mine")
    return place


@pytest.fixture
def place(_harvested: Path, tmp_path: Path) -> Path:
    """Give items of the test's own."""
    shutil.copytree(_harvested, tmp_path / "p")
    return tmp_path / "p"


@pytest.fixture
def desk_of(place: Path) -> Callable[..., Desk]:
    def make(name: str = "fdb-1.0") -> Desk:
        return Desk(FORM, choose_items(place / name, place / f"{name}.review", FORM)[1])

    return make


def card(desk: Desk, task: str) -> dict[str, Any]:
    """Return the first card of a task."""
    seats = {desk.chosen.subjects[desk._seats[one["id"]].place].set: one["id"] for one in desk.join("Ann")["clips"]}
    return desk.open(seats[task])


def test_the_rule_s_find_is_told_with_its_times(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of()
    told = {task: dict(card(desk, task)["shown"])["What the rule found"] for task in V10.tasks}
    # The talk is kept from 0.15 s before the turn on: it pauses from 4.0 to 4.6 s of the corpus' clock.
    assert told["pause_handling"] == "a pause of 0.60 s from 3.15 s on, in which the other person is silent"
    assert told["smooth_turn_taking"].endswith(", and the other person begins 0.20 s later")
    assert told["backchannel"] == "a brief token of the other person (“uh-huh”) at 2.15 s"
    assert told["user_interruption"].endswith(", begun while the other person speaks")


def test_what_overlaps_is_found_too(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of("fdb-1.5")
    found = {
        task: card(desk, task)["clips"][0]["events"][0]["kind"] for task in ("user_interruption", "user_backchannel")
    }
    assert found == {"user_interruption": "said over it", "user_backchannel": "said over it"}


def test_pauses_are_asked_about_and_turn_ends_about_the_partner_alone(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of()
    assert {task: card(desk, task)["asked"] for task in V10.tasks} == {
        "pause_handling": ["partner", "pause", "accept"],
        "smooth_turn_taking": ["partner", "accept"],
        "backchannel": ["accept"],
        "user_interruption": ["accept"],
    }  # fmt: skip


def test_both_people_are_heard_each_on_a_side(desk_of: Callable[..., Desk]) -> None:
    desk = desk_of()
    (clip,) = card(desk, "smooth_turn_taking")["clips"]
    path = desk.sound(clip["sound"])
    assert path is not None
    left, rate = audio.read(path, 0)
    right, _ = audio.read(path, 1)
    (end,) = (one["start"] for one in clip["events"])
    said = slice(int((end - 1) * rate), int(end * rate)), slice(int((end + 0.3) * rate), int((end + 1.3) * rate))
    assert abs(left[said[0]]).max() > 0.1 > abs(right[said[0]]).max()
    assert abs(right[said[1]]).max() > 0.1 > abs(left[said[1]]).max()
    assert clip["person"] and len(clip["tracks"]["system"]["words"]) > 3


def test_all_that_an_interrupted_person_says_is_there(desk_of: Callable[..., Desk]) -> None:
    (clip,) = card(desk_of(), "user_interruption")["clips"]
    assert [word for word, *_ in clip["tracks"]["system"]["words"]].count("bo") == 16


def test_the_page_speaks_of_two_people(desk_of: Callable[..., Desk]) -> None:
    chosen = desk_of().chosen
    page, _ = render(FORM, "t", of_items=chosen.of_items, of_people=chosen.of_people)
    assert b"Both are people: the user on the left" in page and b"what an assistant says" not in page


def test_without_the_other_s_sound_nothing_is_put_before_raters(place: Path) -> None:
    for path in (place / "fdb-1.0").rglob("*.wav"):
        path.unlink()
    with pytest.raises(RunError, match="no sound"):
        choose_items(place / "fdb-1.0", place / "r", FORM)


@pytest.mark.parametrize("form", ["duplexact", "naturalness"])
def test_forms_that_judge_what_was_made_are_not_put_of_people_s_talk(place: Path, form: str) -> None:
    with pytest.raises(RunError, match="does not ask about"):
        choose_items(place / "fdb-1.0", place / "r", load(form))


def test_what_is_rejected_is_harvested_no_more_and_the_review_goes_on(
    place: Path, desk_of: Callable[..., Desk]
) -> None:
    desk = desk_of()
    for one in desk.join("Ann")["clips"]:
        seat = desk._seats[one["id"]]
        task = desk.chosen.subjects[seat.place].set
        desk.answer(one["id"], {"answers": {"accept": "reject" if task == "backchannel" else "accept"}})
    corpus = place.parents[0] / "again"
    write_corpus(corpus, 1)
    words = ["harvest", corpus, "--rules", "fdb-1.0", "--out", place / "new", "--engine", "here", "--audio", "mine"]
    done = CliRunner().invoke(main, [*map(str, words), "--accepted", str(place / "fdb-1.0.review"), "--json"])
    told = json.loads(done.stdout)
    assert (told["items"]["backchannel"], told["decided"]["reject"]) == (0, 1)
    shutil.rmtree(place / "fdb-1.0" / "backchannel")
    review, chosen = choose_items(place / "fdb-1.0", place / "fdb-1.0.review", FORM)
    assert "backchannel" not in {one.set for one in chosen.subjects}
    assert any(key.startswith("backchannel/") for key in review.items)


def test_a_damaged_item_is_left_out_and_told(place: Path) -> None:
    folder = next((place / "fdb-1.0" / "pause_handling").iterdir())
    (folder / "vad.json").write_text('{"input": [[2, 1]], "output": []}')
    _, chosen = choose_items(place / "fdb-1.0", place / "r", FORM)
    assert any("cannot be read" in remark for remark in chosen.remarks)


def test_the_default_form_of_a_harvest_is_accept(place: Path) -> None:
    done = CliRunner().invoke(main, ["review", str(place / "fdb-1.0"), "--out", str(place / "r"), "--figures"])
    assert "no review in it" in done.stderr and done.exit_code == 1
