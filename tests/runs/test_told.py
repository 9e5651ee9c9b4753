"""The record of a talk is read back as what it should be, or refused in a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fullduplex.clocks import differing
from fullduplex.errors import InputError
from fullduplex.runs.run import Run
from fullduplex.runs.talks import talks
from fullduplex.runs.told import read_told

BAD = [
    [],
    {"pacing": 3},
    {"clocks": [1]},
    {"turns": {}},
    {"turns": [{"timestamp": [2, 1]}]},
    {"turns": [{}]},
    {"attempts": [1]},
    {"attempts": [{"discarded": ["late"]}]},
    {"duration": "x"},
    {"duration": 1e6},
    {"ended_by": []},
    {"pacing": {"worst_lateness": "x"}},
    {"received": {"decision_lag": 3}},
    {"received": {"decision_lag": {"units": [[1.0]]}}},
    {"received": {"decision_lag": {"units": [[1.0, "late"]]}}},
    {"received": {"decision_lag": {"units": [[1.0, float("inf")]]}}},
]


@pytest.mark.parametrize("told", BAD)
def test_what_is_no_talk_s_record_is_refused(told: Any, tmp_path: Path) -> None:
    (tmp_path / "talk.json").write_text(json.dumps(told))
    with pytest.raises(InputError, match=r"talk\.json"):
        read_told(tmp_path)


def test_a_talk_that_never_began_has_a_record_too(tmp_path: Path) -> None:
    (tmp_path / "talk.json").write_text(json.dumps({"schema": 1, "attempts": [{"attempt": 1}], "failed": "no server"}))
    assert read_told(tmp_path)["failed"] == "no server"


def test_records_that_cannot_be_read_are_counted_and_stop_nothing(tmp_path: Path) -> None:
    for n, told in enumerate(BAD):
        folder = tmp_path / "trials" / "set" / str(n)
        folder.mkdir(parents=True)
        (folder / "item.json").write_text("{}")
        (folder / "talk.json").write_text(json.dumps(told))
    found = talks(Run(tmp_path, {}))
    assert found is not None and (found.n, found.unreadable) == (0, len(BAD))
    assert any(f"{len(BAD)} talks have a talk.json that cannot be read" in line for line in found.sentences())
    assert not differing(Run(tmp_path, {}))
