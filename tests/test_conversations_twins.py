"""Items of v1.5 that are driven: each with its clean twin, which never stands for more than was held."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from fullduplex.cli import main
from fullduplex.data import audio
from fullduplex.runs.run import Run
from fullduplex.runs.talks import talks

RATE = 16_000
SYSTEM = """
import numpy as np
from pathlib import Path

def answer(samples, rate):
    loud = np.flatnonzero(np.abs(samples) > 0.01)
    if loud[-1] < 3 * rate and Path(__file__).with_name("fails").exists():
        raise RuntimeError("no clean twin today")
    made = np.zeros(len(samples) * 3 // 2, np.float32)
    made[48_000:120_000] = 0.3 * np.sin(np.arange(72_000) / 20)
    return made
"""


def tone(seconds: float) -> Any:
    return (0.3 * np.sin(2 * np.pi * 220 * np.arange(round(seconds * RATE)) / RATE)).astype(np.float32)


@pytest.fixture
def items(tmp_path: Path) -> Path:
    """One item: the user speaks for a second, and again from 4 s, which the clean twin lacks."""
    folder = tmp_path / "items" / "user_interruption" / "1"
    folder.mkdir(parents=True)
    for name, second in (("input", tone(1.0)), ("clean_input", np.zeros(RATE, np.float32))):
        sound = [tone(1.0), np.zeros(3 * RATE), second, np.zeros(4 * RATE)]
        audio.write(folder / f"{name}.wav", np.concatenate(sound).astype(np.float32), RATE)
    told = {"context_text": "", "current_turn_text": "Wait.", "timestamps": [4.0, 5.0]}
    (folder / "metadata.json").write_text(json.dumps(told))
    (folder / "content_tag.json").write_text(json.dumps({"behaviour": ["C_RESPOND"]}))
    (tmp_path / "system.py").write_text(SYSTEM)
    return tmp_path / "items"


def drive(items: Path, out: Path) -> tuple[int, dict[str, Any]]:
    found = CliRunner().invoke(
        main,
        ["run", "fdb-1.5@all", "--system", f"python:call={items.parent / 'system.py'}:answer", "--data", str(items),
         "--out", str(out), "--recogniser", "none", "--detector", "energy", "--no-page", "--retries", "0", "--json"],
    )  # fmt: skip
    assert found.exit_code in (0, 3), found.output
    first = json.loads(found.stdout)
    return found.exit_code, {
        f"{table['variant']}/{row['metric']}": row.get("absent") or row["value"]
        for table in (first, *first["variants"])
        for row in table["items"]
    }


def test_a_twin_whose_talk_failed_is_no_twin_until_it_is_held(items: Path, tmp_path: Path) -> None:
    fails, out = tmp_path / "fails", tmp_path / "a.run"
    fails.touch()
    status, found = drive(items, out)
    assert status == 3
    assert found["anchored/stopped_in_twin"] == "no clean twin"
    assert found["anchored/mean_pitch_clean"] == "no clean twin"
    assert found["anchored/talked_through"] == 0
    fails.unlink()
    status, found = drive(items, out)
    assert status == 0
    assert found["anchored/stopped_in_twin"] == 1


def test_what_was_judged_of_another_answer_is_not_taken_for_this_one(items: Path, tmp_path: Path) -> None:
    found = drive(items, tmp_path / "a.run")[1]
    assert found["released-d7336bd/respond"] == "not judged"


def test_a_late_twin_is_told_by_its_item(items: Path, tmp_path: Path) -> None:
    drive(items, tmp_path / "a.run")
    path = tmp_path / "a.run/trials/user_interruption/1/clean/talk.json"
    told = json.loads(path.read_text())
    path.write_text(json.dumps(told | {"pacing": {**told["pacing"], "late": True}}))
    found = talks(Run.open(tmp_path / "a.run"))
    assert found is not None and found.late_items == ["user_interruption/1 (clean twin)"]
