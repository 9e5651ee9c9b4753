"""What the user does in an item: what cannot be read of it is found before a talk is held."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from fullduplex import cli
from fullduplex.data import audio

AT_ONCE = {"when": "at", "time": 0}


def checked(folder: Path, cues: str) -> Any:
    item = folder / "synthetic_user_interruption" / "0"
    item.mkdir(parents=True)
    audio.write(item / "a.wav", np.full(8_000, 0.1, np.float32), 16_000)
    audio.write(item / "input.wav", np.full(8_000, 0.1, np.float32), 16_000)
    (item / "broken.wav").write_bytes(b"RIFF")
    (item / "cues.json").write_text(cues)
    return CliRunner().invoke(cli.main, ["check", str(folder), "--json"])


@pytest.mark.parametrize(
    ("cues", "told"),
    [
        ("[]", "an object with cues"),
        ("{", "expected JSON"),
        ('{"cues": []}', "at least one cue"),
        (json.dumps({"cues": [{"audio": "none.wav", "due": AT_ONCE}]}), "none.wav"),
        (json.dumps({"cues": [{"audio": "../../../../etc/passwd", "due": AT_ONCE}]}), "passwd"),
        (json.dumps({"cues": [{"audio": "broken.wav", "due": AT_ONCE}]}), "broken.wav"),
        (json.dumps({"cues": [{"audio": "a.wav", "due": {"when": "at", "time": -1}}]}), "cues[0]"),
    ],
)
def test_check_finds_cues_that_cannot_be_read(tmp_path: Path, cues: str, told: str) -> None:
    done = checked(tmp_path, cues)
    (found,) = (one for one in json.loads(done.output)["findings"] if one["file"] == "cues.json")
    assert done.exit_code == 3 and found["level"] == "error" and told in found["text"]


def test_check_finds_nothing_wrong_with_cues_that_can_be_read(tmp_path: Path) -> None:
    done = checked(tmp_path, json.dumps({"cues": [{"audio": "a.wav", "due": AT_ONCE}]}))
    assert not [one for one in json.loads(done.output)["findings"] if one["file"] == "cues.json"]
