"""Items that are left out of a run: by a list, or by what people found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fullduplex.data.entries import Entry
from fullduplex.data.leaving_out import left_out_by, without
from fullduplex.errors import InputError

ENTRIES = [Entry(name, task) for task in ("da_wait_intra_pause", "da_stop_direct_interruption") for name in ("1", "2")]


def test_a_list_has_an_item_a_line(tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("da_wait_intra_pause/2\n\nda_stop_direct_interruption/a/1\n")
    assert left_out_by(tmp_path / "out.txt") == {"da_wait_intra_pause/2", "da_stop_direct_interruption/a/1"}


def test_what_people_found_invalid_is_left_out_and_what_they_doubt_is_not(tmp_path: Path) -> None:
    rows = [{"set": "da_wait_intra_pause", "item": "2"}], [{"set": "da_wait_intra_pause", "item": "1"}]
    (tmp_path / "validity.json").write_text(json.dumps({"invalid": rows[0], "doubtful": rows[1]}))
    kept, n = without(ENTRIES, tmp_path / "validity.json")
    assert n == 1 and [entry.key for entry in kept] == [
        "da_wait_intra_pause/1", "da_stop_direct_interruption/1", "da_stop_direct_interruption/2",
    ]  # fmt: skip


def test_sets_that_are_not_run_now_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("da_wait_intra_pause/1\nda_recover_repeat/7\n")
    assert without(ENTRIES, tmp_path / "out.txt")[1] == 1


def test_an_item_may_be_called_by_its_task_by_its_folders_or_by_its_id_alone(tmp_path: Path) -> None:
    place = tmp_path / "my_turn_taking" / "b"
    entries = [
        Entry("a", "pause_handling", "candor_pause_handling"),
        Entry("b", "smooth_turn_taking", files={"output.json": place / "output.json"}),
        Entry("my_sounds/c", "backchannel"),
        Entry("d", "backchannel"),
    ]
    (tmp_path / "out.txt").write_text("pause_handling/a\nmy_turn_taking/b\nmy_sounds/c\n")
    kept, n = without(entries, tmp_path / "out.txt")
    assert n == 3 and [entry.key for entry in kept] == ["backchannel/d"]
    (tmp_path / "out.txt").write_text("a\nc\nd\n")
    assert [entry.key for entry in without(entries, tmp_path / "out.txt")[0]] == ["smooth_turn_taking/b"]


def test_a_name_that_several_items_have_says_which(tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("1")
    with pytest.raises(InputError, match="da_wait_intra_pause/1, da_stop_direct_interruption/1"):
        without(ENTRIES, tmp_path / "out.txt")


@pytest.mark.parametrize("line", ["da_wait_intra_pause/9", "elsewhere/1", "no slash"])
def test_an_item_that_is_not_there_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "out.txt").write_text(line)
    with pytest.raises(InputError, match="SET/ITEM of an item that would be run"):
        without(ENTRIES, tmp_path / "out.txt")


@pytest.mark.parametrize(
    ("text", "where"), [("{}", "invalid"), ('{"invalid": 3}', "invalid"), ("{", "out.txt"),
                        ('{"invalid": [{"set": 1, "item": "x"}]}', "invalid[0].set")],
)  # fmt: skip
def test_what_is_neither_is_refused_in_one_sentence(tmp_path: Path, text: str, where: str) -> None:
    (tmp_path / "out.txt").write_text(text)
    with pytest.raises(InputError) as refused:
        left_out_by(tmp_path / "out.txt")
    assert where in str(refused.value) and "\n" not in str(refused.value)
