"""What the table of a report's systems says of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fullduplex.reporting.language import language_named
from fullduplex.reporting.systems import systems_markdown, systems_rows
from fullduplex.runs.measured import Measured
from fullduplex.runs.run import Run

TALK = {"prompt": "Be kind.", "ready": {}, "made_of": {"stimulus": "x"}, "timing": "burst"}


def run_of(path: Path, system: str, talk: dict[str, Any] | None = None, **about: Any) -> tuple[Run, Measured]:
    folder = path / "trials" / "pause_handling" / "1"
    folder.mkdir(parents=True)
    item = {
        "id": "1", "set": "pause_handling", "task": "pause_handling", "dataset": "", "group": "", "files": {},
        "failed": "", "events": [], "duration": {}, "missing": [], "infer": False,
    }  # fmt: skip
    (folder / "item.json").write_text(json.dumps(item))
    if talk is not None:
        (folder / "talk.json").write_text(json.dumps(talk))
    return Run(path, {"system": system, "language": "en", **about}), Measured([])


def driven(name: str, **options: str) -> dict[str, Any]:
    return {"driven": {"system": {"name": name, "options": options}, "clock": "wall"}}


def test_a_driven_system_has_its_clock_its_timing_class_and_whether_it_was_told(tmp_path: Path) -> None:
    told = run_of(tmp_path / "a", "a", TALK, **driven("moshi", model="base"))
    untold = run_of(tmp_path / "b", "b", TALK | {"ready": {"prompt_taken": False}}, **driven("flm-audio"))
    bare = run_of(tmp_path / "c", "c", TALK | {"prompt": ""}, **driven("moshi"))
    rows = systems_rows([told, untold, bare])
    assert [row["Instruction"] for row in rows] == ["told", "not told in 1 of 1 item", "none was given"]
    assert [rows[0][key] for key in ("Driven as", "Clock", "Timing class", "Language", "Cost")] == [
        "moshi (base)", "wall", "burst", "en", "—",
    ]  # fmt: skip


def test_recordings_are_called_so_and_nothing_is_known_of_their_instruction(tmp_path: Path) -> None:
    rows = systems_rows([run_of(tmp_path / "a", "a"), run_of(tmp_path / "b", "b", people={"rules": "x"})])
    assert [(row["Driven as"], row["Clock"], row["Instruction"]) for row in rows] == [
        ("recordings that were given", "as recorded", "not known"),
        ("recordings of people", "as recorded", "not known"),
    ]


def test_one_system_alone_has_no_table_and_hostile_names_do_nothing(tmp_path: Path) -> None:
    evil = "<script>|[x](y)"
    pairs = [run_of(tmp_path / "a", evil), run_of(tmp_path / "b", "b", TALK, **driven(evil))]
    assert systems_markdown(pairs[:1]) == ""
    assert "<script>" not in systems_markdown(pairs, language_named("fr"))
