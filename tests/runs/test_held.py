"""When a talk was held stands in its record where it was held at some time at all."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from fullduplex.cli import main
from fullduplex.data import audio


@pytest.mark.parametrize(("clock", "held"), [("wall", True), ("virtual", False)])
def test_only_a_talk_that_took_place_at_some_time_says_when(tmp_path: Path, clock: str, held: bool) -> None:
    item = tmp_path / "items" / "candor_turn_taking" / "1"
    item.mkdir(parents=True)
    audio.write(item / "input.wav", np.zeros(8_000, np.float32), 16_000)
    (item / "turn_taking.json").write_text(json.dumps([{"text": "", "timestamp": [0.2, 0.3]}]))
    run = tmp_path / "a.run"
    command = ["run", "fdb-1.0", "--data", str(item.parents[1]), "--system", "scripted", "--clock", clock]
    done = CliRunner().invoke(main, [*command, "--recogniser", "none", "--no-page", "--out", str(run)])
    assert done.exit_code == 0, done.output
    told = json.loads((run / "trials/candor_turn_taking/1/talk.json").read_text())
    assert ("held" in told) is held
    assert not held or re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", told["held"])
