from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fullduplex.errors import InputError, RunError
from fullduplex.model.items import Event, Item
from fullduplex.model.sketch import sketch
from fullduplex.model.spans import SECOND, Span, Timeline, seconds
from fullduplex.model.speech import Track, Word
from fullduplex.model.trials import Trial
from fullduplex.reporting.show import show, timeline

GOLDEN = Path(__file__).parents[1] / "golden" / "run-schema-1"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(GOLDEN, tmp_path / "a.run"))


def test_an_item_is_drawn_with_a_scale_that_stands_over_its_seconds() -> None:
    lines = show(GOLDEN, "candor_turn_taking/1").splitlines()
    top = next(i for i, line in enumerate(lines) if line.startswith("user  "))
    scale, user, system, event = lines[top - 1 : top + 3]
    assert scale.index("2") == system.index("I")  # the system's first word begins at 2 s
    assert event.startswith("turn_end") and event.index("^") - user.index("y") == 10  # "you" lasts 0.5 s


def test_words_events_and_sounds_are_listed() -> None:
    text = show(GOLDEN, "candor_turn_taking/1")
    assert "how 0.200-0.600  are 0.600-1.000  you 1.000-1.500" in text
    assert "1.500-1.900  turn_end" in text
    assert f"user    {GOLDEN / 'trials' / 'candor_turn_taking' / '1' / 'input.wav'}" in text


def test_each_fact_stands_under_its_variant_with_its_reason() -> None:
    text = show(GOLDEN, "user_interruption/../../<b>x</b>")
    released, anchored = text.index("under released-3e799c4"), text.index("under anchored")
    assert released < text.index("rating  absent: no rating") < anchored < text.index("tor  absent: censored")
    assert "latency  0 s  clipped" in text


def test_a_scale_is_not_taken_for_a_part_of_the_number(run: Path) -> None:
    table = json.loads((run / "estimates.json").read_text())
    rating = next(row for row in table["items"] if row["metric"] == "rating")
    del rating["absent"]
    rating["value"] = 4.0
    (run / "estimates.json").write_text(json.dumps(table))
    assert "  rating  4 (0-5)  " in show(run, "user_interruption/../../<b>x</b>")


def test_only_the_items_own_facts_are_shown() -> None:
    assert show(GOLDEN, "candor_pause_handling/1").count("  tor  ") == 2


def test_an_item_of_a_set_does_not_show_the_row_of_its_tasks_other_item(run: Path) -> None:
    table = json.loads((run / "estimates.json").read_text())
    for row in [row for row in table["items"] if row["scenario"] == "candor_pause_handling" and row["item"] == "1"]:
        table["items"].append({**row, "scenario": "pause_handling", "why": "somebody else's"})
    (run / "estimates.json").write_text(json.dumps(table))
    text = show(run, "candor_pause_handling/1")
    assert "  tor  " in text and "somebody else's" not in text


def test_an_item_that_failed_says_why_and_draws_nothing() -> None:
    text = show(GOLDEN, "candor_turn_taking/10")
    assert "failed: output.json, line 1 column 1" in text
    assert "one column is" not in text and "no sound at hand" in text


def test_an_item_is_found_by_its_id_alone_where_one_set_has_it() -> None:
    assert show(GOLDEN, "10").startswith("candor_turn_taking/10\n")


@pytest.mark.parametrize("name", ["candor_turn_taking/10", "smooth_turn_taking/10", "10"])
def test_an_item_is_found_by_its_set_its_task_or_its_id(name: str) -> None:
    assert show(GOLDEN, name).startswith("candor_turn_taking/10\n")


def test_an_id_that_two_sets_have_names_both() -> None:
    with pytest.raises(InputError, match="give one of candor_pause_handling/1, candor_turn_taking/1"):
        show(GOLDEN, "1")


@pytest.mark.parametrize("name", ["candor_turn_taking/3", "../../../etc", "", "/", "candor_turn_taking", "x" * 400])
def test_an_item_that_is_not_there_names_some_that_are(name: str) -> None:
    with pytest.raises(InputError, match=r"one of its 6 items; for example candor_"):
        show(GOLDEN, name)


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError):
        show(tmp_path, "1")


def test_a_run_that_was_not_measured_says_so(run: Path) -> None:
    (run / "estimates.json").unlink()
    assert "no facts yet" in show(run, "candor_turn_taking/1")


def test_nothing_in_a_file_reaches_the_terminal_as_a_control_character(run: Path) -> None:
    evil = "\x1b[2J\u202e\n"
    path = run / "trials" / "candor_turn_taking" / "1"
    item = json.loads((path / "item.json").read_text())
    item.update(system=evil, group=evil, missing=[evil])
    item["events"][0].update(kind=evil, text=evil, source=evil)
    item["files"]["user"] = evil
    (path / "item.json").write_text(json.dumps(item))
    words = json.loads((path / "words.json").read_text())
    words["tracks"]["input"].update({"from": evil, "words": [[evil, 0.0, 1.0, None]]})
    (path / "words.json").write_text(json.dumps(words))
    assert all(line.isprintable() for line in show(run, "candor_turn_taking/1").splitlines())


def test_the_timeline_is_the_sketch_that_made_the_trial() -> None:
    rows = ["user    aabb....##", "system  ....ccc...", "pause   ....^^...."]
    drawn = timeline(sketch("\n".join(rows)), width=18)
    assert drawn[1:4] == rows


@pytest.mark.parametrize("length", [0.001, 0.9, 9.21, 60.0, 3_600.0, 100_000.0])
def test_a_timeline_fits_its_width(length: float) -> None:
    made = Trial(Item("t"), Track(duration=seconds(length)), Track(speech=Timeline([Span(0, seconds(length))])))
    lines = timeline(made, width=100)
    assert all(len(line) <= 100 for line in lines)
    assert length < 1 or len(lines[1]) > 40


@given(
    st.lists(st.tuples(st.text(), st.integers(-SECOND, 99 * SECOND), st.integers(1, SECOND)), max_size=5),
    st.sampled_from(["pause", "user", "system", "", "日本", "a b"]),
)
@example([("ß", 0, 1), ("ß", 0, 10_001)], "pause")
def test_a_timelines_rows_are_of_one_width_whatever_is_said(said: list[tuple[str, int, int]], kind: str) -> None:
    words = tuple(Word(text, Span(at, at + long)) for text, at, long in said)
    lines = timeline(Trial(Item("t"), Track(words), Track(words), (Event(kind, Span(0, SECOND)),)))
    rows = lines[1:-1]
    assert len({len(row) for row in rows}) == 1
    assert len(rows) == 3
    assert all(c.isprintable() for row in rows for c in row)
