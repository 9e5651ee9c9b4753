"""The crop that the released recognition script makes, against what it gave its recogniser and wrote."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.data import audio
from fullduplex.data.fdb_folder import transcript
from fullduplex.listening.crop import words_after
from fullduplex.model.speech import Token

EXPECTED = Path(__file__).resolve().parents[3] / "shared/cases/full-duplex-bench/expected/v1_asr_crop.json"
needed = pytest.mark.skipif(not EXPECTED.is_file(), reason="the released scripts' cases are not beside this checkout")


@dataclass
class StandIn:
    """Hears one word in whatever it is given, as the stand-in of the recorded cases did."""

    given: list[tuple[int, int]] = field(default_factory=list)

    def recognise(self, samples: Any, rate: int, language: str) -> Any:
        self.given.append((len(samples), rate))
        return type("Heard", (), {"tokens": (Token("word", 0.1, 0.3),)})


@needed
@pytest.mark.parametrize(
    ("number", "rate", "channels", "end"), [(1, 16_000, 1, 6.0), (2, 24_000, 2, 6.00003), (3, 16_000, 1, 99.0)]
)
def test_only_what_follows_the_interruption_is_heard(
    number: int, rate: int, channels: int, end: float, tmp_path: Path
) -> None:
    case = json.loads(EXPECTED.read_text())[number]
    audio.write(tmp_path / "output.wav", np.full((rate * 10, channels), 0.1, np.float32), rate)
    samples, read = audio.read(tmp_path / "output.wav")
    recogniser = StandIn()
    found = words_after(recogniser, samples, read, end)
    given = [{"samples": n, "sr": r, "channels": 1} for n, r in recogniser.given]
    assert given == [one for one in case["given_to_asr"] if one["samples"]]
    assert transcript(found) == case["written"]["output.json"]
