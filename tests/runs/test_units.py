"""What the record of a talk, and the run, tell of a system in fixed units."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.data.dataset import Entry
from fullduplex.driving.clock import run_virtual
from fullduplex.driving.drive import drive
from fullduplex.model.spans import seconds
from fullduplex.runs.record import write_attempt
from fullduplex.runs.run import Run
from fullduplex.runs.stimulus import Stimulus
from fullduplex.runs.talks import as_json, talks
from fullduplex.runs.told import read_told
from fullduplex.systems.minicpm_o import MiniCPMo
from fullduplex.testing.behaviour import Behaviour, Utterance
from fullduplex.testing.facades import facade_of
from fullduplex.testing.facades.serving import FacedTwin

BEHIND = "in 1 talk the system fell behind: its frames came later and later"


def kept(path: Path, **behaviour: Any) -> dict[str, Any]:
    """Return the record of a talk of 22 s with a gateway of MiniCPM-o that behaves so, kept as a run's only item."""
    system = FacedTwin(MiniCPMo(), facade_of("minicpm-o"), Behaviour(**behaviour))
    talk = run_virtual(drive(system, (), length=seconds(22)))
    folder = path / "trials" / "set" / "1"
    folder.mkdir(parents=True)
    (folder / "item.json").write_text("{}")
    write_attempt(folder, talk, {}, system, Stimulus(()), Entry("1", "set"))
    return read_told(folder)


def slow(path: Path, rtf: float) -> dict[str, Any]:
    return kept(path, pace="sync", rtf=rtf, say=(Utterance(seconds(3), seconds(4)),))


def test_a_gateway_at_1_3_times_real_time_fell_behind(tmp_path: Path) -> None:
    received = slow(tmp_path, 1.3)["received"]
    assert received["falls_behind"] is True and received["lag_growth"] == pytest.approx(0.3, abs=1e-3)
    found = talks(Run(tmp_path, {}))
    assert found is not None and BEHIND in found.sentences() and as_json(found)["fell_behind"] == 1


def test_the_lag_of_each_second_is_kept_with_median_and_p90(tmp_path: Path) -> None:
    told = slow(tmp_path, 1.3)["received"]["decision_lag"]
    ends, late = zip(*told["units"], strict=True)
    # It listens in most of them, and 22 s are enough for the answers to 16.
    assert ends == tuple(range(1, 17))
    assert late == pytest.approx([1 + 0.3 * n for n in range(1, 17)], abs=2e-3)
    assert told["median"] == pytest.approx(np.median(late)) and told["p90"] == pytest.approx(np.percentile(late, 90))
    found = talks(Run(tmp_path, {}))
    assert found is not None
    (stage,) = found.stages
    assert (stage.name, stage.n) == ("decision_lag", 16)
    assert (stage.median, stage.p90) == pytest.approx((told["median"], told["p90"]))


def test_a_gateway_that_keeps_up_did_not_fall_behind(tmp_path: Path) -> None:
    received = slow(tmp_path, 0.6)["received"]
    assert received["falls_behind"] is False and received["decision_lag"]["p90"] == pytest.approx(0.6, abs=2e-3)
    found = talks(Run(tmp_path, {}))
    assert found is not None and BEHIND not in found.sentences()


def test_where_no_second_was_answered_there_is_no_decision_lag(tmp_path: Path) -> None:
    received = kept(tmp_path)["received"]
    assert (received["decision_lag"], received["falls_behind"], received["lag_growth"]) == (None, False, 0.0)
    found = talks(Run(tmp_path, {}))
    assert found is not None and not found.stages


def test_the_log_keeps_which_second_a_note_answers(tmp_path: Path) -> None:
    slow(tmp_path, 0.6)
    lines = (tmp_path / "trials" / "set" / "1" / "received.jsonl").read_text("utf-8").splitlines()
    notes = [line for line in map(json.loads, lines) if line.get("note") == "unit"]
    assert [note["source"] for note in notes][:3] == [1.0, 2.0, 3.0]
