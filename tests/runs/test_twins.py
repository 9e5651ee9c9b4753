"""A v1.5 item and its clean twin, laid out in a run: what cannot be read costs what rests on it, and no more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex import benchmarks
from fullduplex.data import audio
from fullduplex.data.dataset import open_dataset
from fullduplex.model.spans import ms
from fullduplex.runs.items import place, read_trial
from fullduplex.runs.measured import scenario_of

ITEM = "user_interruption/1"


def words(*times: float) -> dict[str, Any]:
    chunks = [{"text": f"w{n}", "timestamp": [time, time + 0.3]} for n, time in enumerate(times)]
    return {"text": "two words", "chunks": chunks}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "given" / ITEM
    made.mkdir(parents=True)
    for name in ("input", "output", "clean_input", "clean_output"):
        audio.write(made / f"{name}.wav", np.full(8_000, 0.1, np.float32), 8_000)
        (made / f"{name}.json").write_text(json.dumps(words(0.1, 0.5)))
    told = {"context_text": "", "current_turn_text": "Wait.", "timestamps": [0.4, 0.8]}
    (made / "metadata.json").write_text(json.dumps(told))
    return made


def placed(folder: Path, tmp_path: Path, offset: int = 0) -> tuple[dict[str, Any], Path]:
    (entry,) = open_dataset(folder.parent.parent, offset=offset).entries
    return place(entry, tmp_path / "placed", "x", infer=False), tmp_path / "placed"


@pytest.mark.parametrize("name", ["input.json", "clean_input.json", "clean_output.json"])
def test_a_transcript_that_cannot_be_read_is_left_out_and_named_by_the_users_own_path(
    name: str, folder: Path, tmp_path: Path
) -> None:
    (folder / name).write_text("{")
    item, _ = placed(folder, tmp_path)
    assert item["failed"] == "" and name not in item["files"]
    assert len(item["faults"]) == 1 and str(folder / name) in item["faults"][0]


def test_a_file_that_cannot_be_read_is_told_once(folder: Path, tmp_path: Path) -> None:
    (folder / "metadata.json").write_text("{")
    (fault,) = placed(folder, tmp_path)[0]["faults"]
    assert fault.count("metadata.json") == 1


def test_an_offset_moves_the_twins_words_with_its_sound(folder: Path, tmp_path: Path) -> None:
    _, at = placed(folder, tmp_path, ms(250))
    for name in ("output", "clean_output"):
        chunks = json.loads((at / f"{name}.json").read_text())["chunks"]
        assert [chunk["timestamp"][0] for chunk in chunks] == [0.35, 0.75]
        assert audio.probe(at / f"{name}.wav").duration == ms(1250)
    assert json.loads((at / "clean_input.json").read_text()) == words(0.1, 0.5)


def test_without_the_systems_side_there_is_no_twin(folder: Path, tmp_path: Path) -> None:
    (folder / "clean_output.wav").unlink()
    (folder / "clean_output.json").unlink()
    assert read_trial(placed(folder, tmp_path)[1]).twin is None


def test_an_interruption_of_v15_is_none_of_v10s() -> None:
    (first,), (newer, *_) = benchmarks.find("fdb-1.0"), benchmarks.find("fdb-1.5")
    item = {"task": "user_interruption", "dataset": "user_interruption"}
    assert scenario_of(first, item) is None and scenario_of(newer, item) is not None
    for dataset in ("", "synthetic_user_interruption"):
        assert all(scenario_of(each, item | {"dataset": dataset}) for each in (first, newer))
