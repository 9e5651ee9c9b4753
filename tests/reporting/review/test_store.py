"""Answers on disk: nothing lost, nothing changed, damage told."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fullduplex.reporting.review.figures import figures, told
from fullduplex.reporting.review.forms import load
from fullduplex.reporting.review.store import (
    Review,
    append,
    file_of,
    lines,
    majority,
    rater_name,
    read_kept,
    read_reviews,
)

FORM = load("duplexact")
ANN = Review("Ann", FORM.name, FORM.version, FORM.digest, "set", "1", {"label": "yes"}, 3.0, "2026-01-01", 0.5)


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    review = replace(ANN, note="a note\nof two lines", sides={"A": "x", "B": "y"}, verdict={"rating": 4.0})
    append(tmp_path, review)
    assert read_reviews(tmp_path) == [review]


def test_a_line_is_as_documented(tmp_path: Path) -> None:
    append(tmp_path, ANN)
    (line,) = file_of(tmp_path, "Ann").read_text().splitlines()
    assert set(json.loads(line)) == {
        "schema", "rater", "form", "form_version", "form_digest", "set", "item", "answers", "seconds", "when", "heard",
        "note",
    }  # fmt: skip


def test_the_later_answer_wins_and_the_earlier_line_stays(tmp_path: Path) -> None:
    append(tmp_path, ANN)
    append(tmp_path, replace(ANN, answers={"label": "no"}))
    assert [review.answers["label"] for review in read_reviews(tmp_path)] == ["no"]
    assert [review.answers["label"] for review in lines(tmp_path)] == ["yes", "no"]


def test_two_tabs_lose_no_answer_to_each_other(tmp_path: Path) -> None:
    append(tmp_path, ANN)
    append(tmp_path, replace(ANN, answers={"voice": 4}))
    assert read_reviews(tmp_path)[0].answers == {"label": "yes", "voice": 4}


def test_an_answer_under_other_words_stands_until_the_same_question_is_answered_anew(tmp_path: Path) -> None:
    later = replace(ANN, form_version="9", form_digest="of other words")
    append(tmp_path, ANN)
    append(tmp_path, replace(later, answers={"voice": 4}))
    assert majority(read_reviews(tmp_path), FORM.name, "label")[ANN.key].votes == {"yes": 1}
    append(tmp_path, replace(later, answers={"label": "no"}))
    assert majority(read_reviews(tmp_path), FORM.name, "label")[ANN.key].votes == {"no": 1}
    append(tmp_path, replace(later, answers={"label": None}))
    assert majority(read_reviews(tmp_path), FORM.name, "label") == {}


def test_an_answer_that_is_taken_back_is_none(tmp_path: Path) -> None:
    append(tmp_path, ANN)
    append(tmp_path, replace(ANN, answers={"label": None}))
    assert majority(read_reviews(tmp_path), FORM.name, "label") == {}


def test_answers_to_other_words_of_a_form_stand_apart(tmp_path: Path) -> None:
    append(tmp_path, ANN)
    append(tmp_path, replace(ANN, form_digest="another", answers={"label": "no"}))
    assert [review.answers["label"] for review in read_reviews(tmp_path)] == ["yes", "no"]


@pytest.mark.parametrize("damage", [
    b'{"schema": 1, "rater": "Ann", "fo', b"\xff\xfe", b"[]", b"null", b'{"schema": 2}', b'{"schema": 1}', b"NaN",
    b"[" * 5_000, b"x" * 300_000,
])  # fmt: skip
def test_a_damaged_line_is_told_and_costs_no_other(tmp_path: Path, damage: bytes) -> None:
    append(tmp_path, ANN)
    with file_of(tmp_path, "Ann").open("ab") as file:
        file.write(damage)  # no end of line: the writer was killed
    append(tmp_path, replace(ANN, item="2"))
    kept = read_kept(tmp_path)
    assert [review.item for review in kept.reviews] == ["1", "2"]
    assert kept.damaged and all("line 2" in text or "line" in text for text in kept.damaged)


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_no_file_among_the_answers_is_told_and_costs_no_other(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    append(tmp_path, ANN)
    make(tmp_path / "reviews" / "Bo.jsonl")
    kept = read_kept(tmp_path)
    assert kept.reviews == [ANN]
    assert "Bo.jsonl: found no file" in kept.damaged[0]


@pytest.mark.parametrize("change", [
    {"answers": {"label": True}}, {"answers": [1]}, {"heard": float("inf")}, {"seconds": "3"}, {"sides": {"A": 1}},
    {"verdict": {"rating": []}}, {"rater": 7},
])  # fmt: skip
def test_a_line_that_was_edited_into_nonsense_is_told(tmp_path: Path, change: dict[str, object]) -> None:
    append(tmp_path, ANN)
    path = file_of(tmp_path, "Ann")
    path.write_text(json.dumps(json.loads(path.read_text()) | change) + "\n")
    kept = read_kept(tmp_path)
    assert (kept.reviews, len(kept.damaged)) == ([], 1)


def test_many_writers_at_once_keep_every_line_whole(tmp_path: Path) -> None:
    def write(number: int) -> None:
        for turn in range(5):
            append(tmp_path, replace(ANN, item=f"{number}-{turn}", note="x" * 3_000))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = read_kept(tmp_path)
    assert (len(kept.reviews), kept.damaged) == (40, ())


@pytest.mark.parametrize("name", ["../../x", "a/b", "<script>", ".", "CON\u202e", "ä" * 70, "-rf"])
def test_a_raters_file_lies_in_the_folder_whatever_the_name(tmp_path: Path, name: str) -> None:
    append(tmp_path, replace(ANN, rater=name))
    assert [path.parent for path in tmp_path.rglob("*.jsonl")] == [tmp_path / "reviews"]
    assert read_reviews(tmp_path)[0].rater == name


@pytest.mark.parametrize(("given", "kept"), [("  Ann \t B ", "Ann B"), ("A\u0308nn", "\u00c4nn")])
def test_a_name_is_kept_in_one_spelling(given: str, kept: str) -> None:
    assert rater_name(given) == kept


@pytest.mark.parametrize("given", ["", " ", "a\x00b", "a\u202eb", "x" * 81])
def test_what_is_no_name_is_refused(given: str) -> None:
    with pytest.raises(ValueError, match="Give a name"):
        rater_name(given)


def test_a_run_without_reviews_has_none(tmp_path: Path) -> None:
    assert read_reviews(tmp_path) == []


def test_most_raters_decide_and_two_that_lead_alike_do_not() -> None:
    said = [("Ann", "1", "yes"), ("Bo", "1", "yes"), ("Cy", "1", "no"), ("Ann", "2", "yes"), ("Bo", "2", "no")]
    found = majority([replace(ANN, rater=r, item=i, answers={"label": v}) for r, i, v in said], FORM.name, "label")
    assert (found["set/1"].value, found["set/1"].votes, found["set/1"].n) == ("yes", {"yes": 2, "no": 1}, 3)
    assert (found["set/2"].value, found["set/2"].n) == (None, 2)


def test_a_rater_counts_once_an_item() -> None:
    changed = [ANN, replace(ANN, answers={"label": "no"}), replace(ANN, rater="Bo", answers={"label": "no"})]
    assert majority(changed, FORM.name, "label")["set/1"].votes == {"no": 2}


def test_a_preference_is_for_a_system_and_not_for_a_side() -> None:
    one = replace(ANN, form="preference", answers={"preferred": "A"}, sides={"A": "x", "B": "y"})
    two = replace(one, rater="Bo", answers={"preferred": "B"}, sides={"A": "y", "B": "x"})
    assert majority([one, two], "preference", "preferred")["set/1"].votes == {"x": 2}


def test_figures_are_those_of_ratings_and_those_of_majorities() -> None:
    said = [("Ann", "1", 5), ("Bo", "1", 4), ("Cy", "1", 4), ("Ann", "2", 1), ("Bo", "2", 2)]
    reviews = [replace(ANN, rater=r, item=i, answers={"content": v, "label": "yes"}) for r, i, v in said]
    by = {one.question: one for one in figures(reviews, FORM)}
    content = by["content"]
    assert (content.n, content.items, content.raters, content.ties) == (5, 2, 3, 1)
    assert content.mean == pytest.approx(3.2)
    assert content.spread == pytest.approx(1.6431677)
    assert content.non_negative == pytest.approx(0.6)
    assert content.majorities == {4: 1}
    assert by["label"].majorities == {"yes": 2} and by["label"].mean is None
    assert "mean 3.20 ± 1.64" in told(content) and told(by["voice"]) == "voice: no answers"
