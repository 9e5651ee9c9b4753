"""Who gets which clips, in which order, and what is kept of their answers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fullduplex.reporting.review.card import synthesised
from fullduplex.reporting.review.dealing import deal, order, sides
from fullduplex.reporting.review.desk import Desk, Wrong
from fullduplex.reporting.review.store import read_reviews
from fullduplex.runs.run import Run
from fullduplex.runs.stored import read_item

Seated = Callable[..., Desk]
KEYS = [f"set/{number}" for number in range(40)]


def answer(desk: Desk, rater: str, count: int, **answers: Any) -> None:
    for clip in desk.join(rater)["clips"][:count]:
        desk.answer(clip["id"], {"answers": answers, "note": "", "seconds": 1.0, "heard": 1.0})


def test_an_order_is_drawn_by_rater_and_seed() -> None:
    ann = order(KEYS, "Ann", "f", 0)
    assert sorted(ann) == list(range(40))
    assert ann == order(KEYS, "Ann", "f", 0)
    assert ann not in (order(KEYS, "Bo", "f", 0), order(KEYS, "Ann", "f", 1), order(KEYS, "Ann", "g", 0), sorted(ann))


def test_an_item_that_is_added_moves_no_other() -> None:
    before = [KEYS[place] for place in order(KEYS[:-1], "Ann", "f", 0)]
    after = [KEYS[place] for place in order(KEYS, "Ann", "f", 0) if place != 39]
    assert before == after


def test_either_system_is_a_half_of_the_time() -> None:
    drawn = Counter(sides(f"set/{number}", rater, "f", 0) for number in range(200) for rater in ("Ann", "Bo"))
    assert set(drawn) == {(0, 1), (1, 0)} and abs(drawn[0, 1] - 200) < 50


def test_what_has_enough_raters_is_not_given_and_ones_own_always_is() -> None:
    assert deal([3, 1, 2, 0], {1}, {1: 9, 2: 5, 3: 4}, {}, raters=5, per_rater=None) == [3, 1, 0]


def test_those_with_the_fewest_answers_are_given_first() -> None:
    assert deal([3, 1, 2, 0], set(), {3: 1}, {1: 1}, raters=None, per_rater=2) == [2, 0]


def test_five_raters_an_item_and_the_sixth_has_nothing_to_do(run: Run, seated: Seated) -> None:
    desk = seated(run, raters=5, only=["pause_handling"], form="accept")
    for number in range(5):
        assert len(desk.join(f"R{number}")["clips"]) == 2
        answer(desk, f"R{number}", 2, accept="accept")
    assert desk.join("R5")["clips"] == []
    assert [clip["done"] for clip in desk.join("R0")["clips"]] == [True, True]


def test_raters_with_a_quota_share_the_items_evenly(run: Run, seated: Seated) -> None:
    desk = seated(run, per_rater=4, form="accept")
    for name in ("Ann", "Bo", "Cy"):
        assert len(desk.join(name)["clips"]) == 4
        answer(desk, name, 4, accept="accept")
    assert {(review.set, review.item) for review in read_reviews(run.path)} == {
        (subject.set, subject.item) for subject in desk.chosen.subjects
    }


def test_a_rater_who_returns_finds_the_same_order_and_the_answers(run: Run, seated: Seated) -> None:
    first = seated(run)
    answer(first, "Ann", 4, rating=3)
    again = seated(run)
    found = again.join("  Ann ")
    assert [clip["done"] for clip in found["clips"]] == [True] * 4 + [False] * 6
    assert again.open(found["clips"][0]["id"])["answers"] == {"rating": 3}
    order_of = [[first._seats[c["id"]].place for c in first.join("Ann")["clips"]],
                [again._seats[c["id"]].place for c in found["clips"]]]  # fmt: skip
    assert order_of[0] == order_of[1]


def test_systems_are_mixed_in_one_review(run: Run, other: Run, seated: Seated) -> None:
    desk = seated(run, other, form="naturalness")
    systems = [desk._seats[clip["id"]].clips[0].system for clip in desk.join("Ann")["clips"]]
    assert Counter(systems) == {run.system: 12, other.system: 12}
    assert len({*systems[:12]}) == 2
    answer(desk, "Ann", 24, naturalness=4)
    assert [len(read_reviews(one.path)) for one in (run, other)] == [12, 12]


def test_a_pair_keeps_which_system_was_on_which_side(run: Run, other: Run, seated: Seated) -> None:
    desk = seated(run, other, form="preference")
    for clip in desk.join("Ann")["clips"]:
        first = desk._seats[clip["id"]].clips[0].system
        desk.answer(clip["id"], {"answers": {"preferred": "A" if first == run.system else "B"}})
    reviews = read_reviews(run.path)
    assert {review.value("preferred") for review in reviews} == {run.system}
    assert {review.sides["A"] for review in reviews} == {run.system, other.system}
    assert read_reviews(other.path) == []


def test_a_pair_that_is_drawn_anew_shows_the_answer_on_its_new_side(run: Run, other: Run, seated: Seated) -> None:
    answer(seated(run, other, form="preference"), "Ann", 12, preferred="A")
    desk = seated(run, other, form="preference", seed=5)
    shown = [desk.open(clip["id"])["answers"]["preferred"] for clip in desk.join("Ann")["clips"]]
    assert set(shown) == {"A", "B"}


@pytest.mark.parametrize("answers", [{"rating": 6}, {"rating": "3"}, {"rating": True}, {"other": 1}, [], None])
def test_what_is_no_answer_is_refused_and_not_kept(run: Run, seated: Seated, answers: Any) -> None:
    desk = seated(run)
    clip = desk.join("Ann")["clips"][0]["id"]
    with pytest.raises(Wrong):
        desk.answer(clip, {"answers": answers})
    assert read_reviews(run.path) == []


@pytest.mark.parametrize(("heard", "kept"), [(0.25, 0.25), (7, 1.0), (-1, 0.0), ("all", 0.0), (float("nan"), 0.0)])
def test_how_much_was_heard_is_a_share(run: Run, seated: Seated, heard: Any, kept: float) -> None:
    desk = seated(run)
    clip = desk.join("Ann")["clips"][0]["id"]
    desk.answer(clip, {"answers": {"rating": 1}, "heard": heard, "seconds": 2.5, "note": "n"})
    (review,) = read_reviews(run.path)
    assert (review.heard, review.seconds, review.note) == (kept, 2.5, "n")
    assert review.form_digest == desk.form.digest


def test_a_clip_that_is_not_known_is_refused(run: Run, seated: Seated) -> None:
    with pytest.raises(Wrong, match="load the page again"):
        seated(run).open("0" * 32)


def test_answers_to_other_words_do_not_count_and_are_told(run: Run, seated: Seated) -> None:
    desk = seated(run)
    answer(desk, "Ann", 2, rating=3)
    path = next((run.path / "reviews").iterdir())
    path.write_text(path.read_text().replace(desk.form.digest, "another"))
    again = seated(run)
    assert again.others() == 2
    assert not any(clip["done"] for clip in again.join("Ann")["clips"])


def test_naturalness_is_asked_of_a_synthesised_item_only(run: Run, seated: Seated) -> None:
    desk = seated(run, form="duplexact", only=["user_interruption"])
    clips = desk.join("Ann")["clips"]
    assert desk.open(clips[0]["id"])["asked"] == ["label", "condition"]
    for folder in run.items():
        path = folder / "item.json"
        item = json.loads(path.read_text())
        item["reference"] |= {"action": "stop", "condition": "direct_interruption", "synthesised": True}
        path.write_text(json.dumps(item))
    again = seated(run, form="duplexact", only=["user_interruption"])
    card = again.open(again.join("Ann")["clips"][0]["id"])
    assert card["asked"] == ["label", "condition", "content", "voice"]
    assert card["told"] == {
        "label": [["Behaviour called for", "stop"]],
        "condition": [["Situation", "direct interruption"]],
    }


def test_what_a_synthesiser_timed_is_synthesised(run: Run) -> None:
    folder = run.path / "trials/user_interruption/1"
    assert not synthesised(read_item(folder))
    path = folder / "interrupt.json"
    told = json.loads(path.read_text())
    path.unlink()  # a link to the user's own file
    path.write_text(json.dumps([told[0] | {"time_from": "synthesiser"}]))
    assert synthesised(read_item(folder))


@pytest.mark.parametrize("spoil", [lambda path: path.write_bytes(b"not a sound"), Path.unlink])
def test_a_clip_whose_files_are_gone_is_told_to_the_host_and_not_to_the_rater(
    run: Run, seated: Seated, spoil: Callable[[Path], object]
) -> None:
    said: list[str] = []
    desk = seated(run, tell=said.append)
    clips = desk.join("Ann")["clips"]
    for path in run.path.glob("trials/*/*/output.wav"):
        spoil(path)
    with pytest.raises(Wrong) as refused:
        desk.open(clips[0]["id"])
    assert run.system not in str(refused.value)
    assert run.system in said[0]


def test_a_waveform_that_was_damaged_is_made_again(run: Run, seated: Seated) -> None:
    desk = seated(run)
    clip = desk.join("Ann")["clips"][0]["id"]
    before = desk.open(clip)["clips"][0]["tracks"]
    for path in (run.path / "audio").glob("**/*.json"):
        path.write_text('{"of":')
    assert desk.open(clip)["clips"][0]["tracks"] == before
