"""Systems in one table: told the same or not, by what their talks say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fullduplex.data.files import write_json
from fullduplex.reporting.asked_alike import asked_alike
from fullduplex.runs.run import Run


def run(path: Path, system: str, talks: dict[str, dict[str, Any] | None]) -> Run:
    for name, told in talks.items():
        folder = path / "trials" / "ib_logic" / name
        folder.mkdir(parents=True)
        item = {
            "schema": 1, "id": name, "set": "ib_logic", "task": "ib_logic", "dataset": "ib_logic", "system": system,
            "group": "", "files": {}, "events": [], "reference": {}, "infer": False, "missing": [], "failed": "",
            "duration": {}, "offset": 0.0,
        }  # fmt: skip
        write_json(folder / "item.json", item)
        if told is not None:
            write_json(folder / "talk.json", told)
    return Run(path, {"system": system})


def told(prompt: str, stimulus: str = "a") -> dict[str, Any]:
    return {"prompt": prompt, "made_of": {"stimulus": stimulus}}


def test_one_instruction_for_all_is_said(tmp_path: Path) -> None:
    both = [run(tmp_path / name, name, {"1": told("Talk."), "2": told("Sing.")}) for name in "ab"]
    assert asked_alike(both) == ("every system had the same instruction and the same user in 2 items that they share",)
    assert asked_alike(both[:1]) == ()


def test_another_instruction_or_user_is_counted(tmp_path: Path) -> None:
    one = run(tmp_path / "a", "a", {"1": told("Talk."), "2": told("Talk."), "3": told("Talk.")})
    two = run(tmp_path / "b", "b", {"1": told("Be brief."), "2": told("Talk.", "b")})
    assert asked_alike([one, two]) == (
        "not every system had the same instruction: 1 of 2 items that they share differ",
        "not every system had the same user: 1 of 2 items that they share differ",
    )


def test_recordings_do_not_tell_what_a_system_was_told(tmp_path: Path) -> None:
    driven = run(tmp_path / "a", "a", {"1": told("Talk.")})
    recorded = run(tmp_path / "b", "b", {"1": None})
    assert asked_alike([driven, recorded]) == ("what b was told is not known: recordings",)
    assert asked_alike([recorded, recorded]) == ()


def test_a_system_that_takes_no_instruction_was_not_told_the_same(tmp_path: Path) -> None:
    deaf = told("Talk.") | {"ready": {"prompt_taken": False}}
    one = run(tmp_path / "a", "a", {"1": deaf, "2": told("")})
    two = run(tmp_path / "b", "b", {"1": told("Talk."), "2": told("")})
    lacks = "a was not told the instruction of 1 of 2 items: its protocol has no place for one"
    assert asked_alike([one]) == (lacks,)
    assert asked_alike([one, two]) == (
        lacks,
        "not every system had the same instruction: 1 of 2 items that they share differ",
    )


def test_words_that_a_system_has_of_its_own_are_its_instruction(tmp_path: Path) -> None:
    own = told("") | {"ready": {"role": "You are a wise teacher."}}
    one, two = run(tmp_path / "a", "a", {"1": own}), run(tmp_path / "b", "b", {"1": told("")})
    assert asked_alike([one, two]) == (
        "not every system had the same instruction: the one item that they share differs",
    )
    taken = told("Talk.") | {"ready": {"role": "Talk."}}
    same = [run(tmp_path / "c", "c", {"1": taken}), run(tmp_path / "d", "d", {"1": told("Talk.")})]
    assert asked_alike(same) == (
        "every system had the same instruction and the same user in the one item that they share",
    )
