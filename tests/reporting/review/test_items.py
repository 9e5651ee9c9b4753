"""Items that people judge: which are chosen and dealt, what is shown of them, and what is kept."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.reporting.review.items import HOSTILE, write_item, write_items

from fullduplex.data import audio
from fullduplex.errors import InputError, RunError
from fullduplex.reporting.review.dealing import deal, drawn_of_each
from fullduplex.reporting.review.desk import Desk
from fullduplex.reporting.review.forms import load
from fullduplex.reporting.review.items import ItemReview, choose_items
from fullduplex.reporting.review.store import read_reviews

FORM = load("duplexact")


@pytest.fixture(scope="session")
def _written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_items(tmp_path_factory.mktemp("items") / "data")


@pytest.fixture
def data(_written: Path, tmp_path: Path) -> Path:
    """Give twelve items of the test's own."""
    shutil.copytree(_written, tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture
def seat(data: Path, tmp_path: Path) -> Callable[..., Desk]:
    def make(per_set: int | None = None, seed: int = 0, only: tuple[str, ...] = (), **options: Any) -> Desk:
        _, chosen = choose_items(data, tmp_path / "out", FORM, per_set=per_set, seed=seed, only=only)
        return Desk(FORM, chosen, seed, **options)

    return make


def cards(desk: Desk) -> dict[str, dict[str, Any]]:
    """Return the card of each item as the first rater has it, by set."""
    found = desk.join("Ann")["clips"]
    return {desk.chosen.subjects[desk._seats[one["id"]].place].set: desk.open(one["id"]) for one in found}


def test_all_items_are_judged_and_nothing_is_written_among_them(data: Path, seat: Callable[..., Desk]) -> None:
    before = {path: path.stat().st_mtime_ns for path in data.rglob("*")}
    desk = seat()
    assert len(desk.chosen.subjects) == len(cards(desk)) * 3 == 12
    assert {path: path.stat().st_mtime_ns for path in data.rglob("*")} == before


def test_the_action_is_told_first_and_the_condition_with_its_own_question(seat: Callable[..., Desk]) -> None:
    card = cards(seat())["da_ignore_other_directed"]
    assert [one[0] for one in card["told"]["label"]] == ["Behaviour called for"]
    assert card["told"]["label"][0][1].startswith("Ignore. ")
    assert card["told"]["condition"][0][1].startswith("Other-directed speech. During the turn the user says a few")
    assert "Other-directed" not in json.dumps([card["shown"], card["told"]["label"], card["clips"]])
    assert FORM.staged


def test_naturalness_is_asked_of_synthesised_items_only(seat: Callable[..., Desk]) -> None:
    asked = {name: card["asked"] for name, card in cards(seat()).items()}
    assert asked["da_wait_intra_pause"] == ["label", "condition"]
    assert asked["da_stop_direct_interruption"] == ["label", "condition", "content", "voice"]


def test_marks_stand_on_the_clock_of_the_clip_in_plain_words(seat: Callable[..., Desk]) -> None:
    found = {name: card["clips"][0]["events"] for name, card in cards(seat()).items()}
    assert found["da_wait_intra_pause"] == [{"kind": "wait", "start": 1.4, "end": 1.9, "text": ""}]
    (aside,) = found["da_ignore_other_directed"]
    assert (aside["kind"], aside["start"], aside["end"]) == ("not for the listener", 1.3, 2.1)
    (over,) = found["da_stop_direct_interruption"]
    assert (over["kind"], over["start"]) == ("said over the answer", pytest.approx(6.0, abs=0.001))


def test_the_scripts_lines_stand_in_place_and_say_that_they_are_the_scripts(seat: Callable[..., Desk]) -> None:
    clip = cards(seat())["da_stop_direct_interruption"]["clips"][0]
    words = clip["tracks"]["system"]["words"]
    assert clip["script"] and [word[0] for word in words][-3:] == ["well", "then", "no"]
    assert words[0][1] == 3.0 and words[8][2] == pytest.approx(6.0, abs=0.001) and words[9][1] > 7.4
    assert clip["tracks"]["system"]["peaks"] == "" and clip["tracks"]["system"]["speech"] == []


def test_nothing_names_an_item_a_file_or_a_voice(data: Path, seat: Callable[..., Desk]) -> None:
    for card in cards(seat()).values():
        text = json.dumps(card)
        assert not any(name in text for name in ("da_", "cues.json", ".wav", str(data)))


def test_the_user_sounds_where_the_cues_fall_and_nowhere_else(seat: Callable[..., Desk]) -> None:
    desk = seat(only=("da_stop_direct_interruption",))
    sound = desk.open(desk.join("Ann")["clips"][0]["id"])["clips"][0]["sound"]
    path = desk.sound(sound)
    assert path is not None
    for channel in (0, 1):
        samples, rate = audio.read(path, channel)
        loud = [abs(samples[round(a * rate) : round(b * rate)]).max() > 0.1 for a, b in
                ((0, 0.49), (0.5, 2.5), (2.51, 5.99), (6.0, 7.0), (7.01, 9))]  # fmt: skip
        assert loud == [False, True, False, True, False]


def test_so_many_of_each_condition_are_drawn_and_stay_drawn(
    data: Path, tmp_path: Path, seat: Callable[..., Desk]
) -> None:
    first = [subject.key for subject in seat(per_set=2).chosen.subjects]
    assert Counter(key.partition("/")[0] for key in first) == dict.fromkeys(
        ("da_wait_intra_pause", "da_ignore_other_directed", "da_stop_direct_interruption", "da_hold_floor_continue"), 2
    )
    for number in range(3, 9):
        write_item(data, "wait_intra_pause", f"{number:02d}", recorded=True)
    assert [subject.key for subject in seat(per_set=2).chosen.subjects] == first
    sets = {f"{name}/{n}": name for name in "ab" for n in range(9)}
    assert drawn_of_each(sets, 3, "f", 0) != drawn_of_each(sets, 3, "f", 1)
    assert drawn_of_each(sets, None, "f", 0) == set(sets)


def test_a_rater_with_a_quota_gets_as_many_of_each_condition(seat: Callable[..., Desk]) -> None:
    desk = seat(raters=1, per_rater=4)
    sets = []
    for name in ("Ann", "Bo", "Cy"):
        places = [desk._seats[one["id"]].place for one in desk.join(name)["clips"]]
        sets.append(Counter(desk.chosen.subjects[place].set for place in places))
    assert all(set(found.values()) == {1} and len(found) == 4 for found in sets)
    assert desk.join("Di")["clips"] == []


def test_each_item_gets_the_stated_number_of_raters(tmp_path: Path, seat: Callable[..., Desk]) -> None:
    desk = seat(raters=2, per_rater=6)
    dealt = {name: desk.join(name)["clips"] for name in ("Ann", "Bo", "Cy", "Di", "Ed")}
    for clips in dealt.values():
        for clip in clips:
            desk.answer(clip["id"], {"answers": {"label": "yes"}})
    assert set(Counter(one.key for one in read_reviews(tmp_path / "out")).values()) == {2}
    assert [len(clips) for clips in dealt.values()] == [6, 6, 6, 6, 0]


def test_strata_begin_with_those_that_a_rater_had_least_of() -> None:
    strata = ["a", "a", "a", "b", "b", "c"]
    assert set(deal(range(6), {0}, {}, {}, raters=5, per_rater=3, strata=strata)) == {0, 3, 5}


def test_a_review_goes_on_with_its_answers(tmp_path: Path, seat: Callable[..., Desk]) -> None:
    desk = seat()
    for clip in desk.join("Ann")["clips"][:2]:
        desk.answer(clip["id"], {"answers": dict.fromkeys(("label", "condition"), "yes") | {"content": 4, "voice": 4}})
    assert [one["done"] for one in seat().join("Ann")["clips"]][:3] == [True, True, False]
    assert len(ItemReview.open(tmp_path / "out").items) == 12


@pytest.mark.parametrize("change", [{"seed": 1}, {"per_set": 2}])
def test_another_sample_is_another_review(seat: Callable[..., Desk], change: dict[str, int]) -> None:
    seat()
    with pytest.raises(RunError, match="give another --out"):
        seat(**change)


def test_an_item_that_was_made_anew_is_not_the_one_that_was_judged(data: Path, seat: Callable[..., Desk]) -> None:
    seat()
    folder = data / "da_wait_intra_pause" / "01"
    samples, rate = audio.read(folder / "u0.wav")
    audio.write(folder / "u0.wav", samples / 2, rate)
    with pytest.raises(RunError, match=r"da_wait_intra_pause/01 is not what it was when it was reviewed"):
        seat()


def test_items_that_cannot_be_heard_are_left_out_and_counted(data: Path, tmp_path: Path) -> None:
    (data / "da_wait_intra_pause" / "00" / "u0.wav").write_bytes(b"RIFF")
    (data / "da_wait_intra_pause" / "01" / "cues.json").unlink()
    path = data / "da_hold_floor_continue" / "00" / "cues.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"effects": [{"kind": "noise", "snr": 10}]}))
    (data / "da_stop_direct_interruption" / "02" / "interaction.json").write_text('{"schema":')
    _, chosen = choose_items(data, tmp_path / "out", FORM)
    assert len(chosen.subjects) == 8
    assert set(chosen.remarks) == {
        "2 items cannot be read", "1 item has no cues.json, which says what is heard when",
        "1 item has effects that are put on in a talk",
    }  # fmt: skip


def test_answers_are_not_kept_among_the_items_nor_among_other_files(data: Path, tmp_path: Path) -> None:
    for out in (data, data / "review"):
        with pytest.raises(InputError, match="outside that of the items"):
            choose_items(data, out, FORM)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("x")
    with pytest.raises(RunError, match="holds no review of items"):
        choose_items(data, tmp_path / "other", FORM)


def test_a_form_about_systems_is_refused(data: Path, tmp_path: Path) -> None:
    for name in ("preference", "verdict"):
        with pytest.raises(RunError, match="asks about systems"):
            choose_items(data, tmp_path / "out", load(name))


def test_a_hostile_id_and_hostile_words_stay_what_they_are(tmp_path: Path) -> None:
    write_item(tmp_path / "data", "wait_continuous", "x <b>", script=[("user", HOSTILE)])
    _, chosen = choose_items(tmp_path / "data", tmp_path / "out", FORM)
    desk = Desk(FORM, chosen)
    (clip,) = desk.join("../../x")["clips"]
    desk.answer(clip["id"], {"answers": {"label": "no"}})
    desk.open(clip["id"])
    assert {path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*")} == {"data", "out"}
    assert [one.item for one in read_reviews(tmp_path / "out")] == ["x <b>"]


def test_a_review_file_that_was_damaged_is_told_in_one_sentence(tmp_path: Path, seat: Callable[..., Desk]) -> None:
    seat()
    path = tmp_path / "out" / "review.json"
    told = json.loads(path.read_text())
    for broken in ("{", "[]", json.dumps({**told, "schema": 9}), json.dumps({**told, "items": [{}]}),
                   json.dumps({**told, "form": {"name": "duplexact"}})):  # fmt: skip
        path.write_text(broken)
        with pytest.raises(InputError) as refused:
            ItemReview.open(tmp_path / "out")
        assert "review.json" in str(refused.value) and "\n" not in str(refused.value)


def test_words_that_a_maker_placed_stand_in_place_another_voices_apart(data: Path, seat: Callable[..., Desk]) -> None:
    def phrase(who: str, start: float, *words: str) -> dict[str, Any]:
        placed = [{"text": text, "timestamp": [start + n / 4, start + n / 4 + 0.2]} for n, text in enumerate(words)]
        return {"who": who, "timestamp": [start, start + len(words) / 4], "text": " ".join(words), "words": placed}

    phrases = [phrase("background", 0.75, "who", "wants"), phrase("user", 0.25, "rain", "all", "day")]
    for folder in (data / "da_ignore_other_directed").iterdir():
        (folder / "script.json").write_text(json.dumps({"cues": [{"id": "u0", "phrases": phrases}]}))
    clip = cards(seat())["da_ignore_other_directed"]["clips"][0]
    assert clip["tracks"]["user"]["words"] == [["rain", 0.75, 0.95], ["all", 1.0, 1.2], ["day", 1.25, 1.45]]
    assert [word[:2] for word in clip["others"]] == [["who", 1.25], ["wants", 1.5]]
    assert clip["tracks"]["user"]["speech"] == [[0.75, 1.5], [1.25, 1.75]]


def test_a_script_that_is_no_makers_costs_the_words_places_alone(data: Path, seat: Callable[..., Desk]) -> None:
    for folder in (data / "da_ignore_other_directed").iterdir():
        (folder / "script.json").write_text('{"cues": [{"id": "u0", "phrases": [{"who": 3}]}]}')
    words = cards(seat())["da_ignore_other_directed"]["clips"][0]["tracks"]["user"]["words"]
    assert words[0] == ["what", None, None]
