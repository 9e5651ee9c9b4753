"""A reply's sound, from recording to verdict: real whispers and the same sentences in a normal voice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.benchmarks.declare import Parts
from fullduplex.benchmarks.interactionbench import sounds
from fullduplex.data import audio
from fullduplex.listening.detectors.energy import Energy
from fullduplex.measures import whispering
from fullduplex.measures.replies import Limits
from fullduplex.model.items import Item
from fullduplex.model.spans import Span, Timeline, seconds
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Track
from fullduplex.model.trials import Fact, Trial
from fullduplex.runs.sounds import measure_sound, read_acoustics

RATE = 16_000
PAIRS = Path(__file__).parents[3] / "shared" / "data" / "vocal_phenomena" / "whisper_pairs_wtimit"


def answered(folder: Path, reply: Path) -> Trial:
    """Return a trial in which a system, after a loud second before the user's end, answers with ``reply`` at 4 s."""
    said, rate = audio.read(reply)
    said = audio.resample(said, rate, RATE)
    before = np.zeros(4 * RATE, np.float32)
    before[RATE : 2 * RATE] = 0.3 * np.sin(2 * np.pi * 200 * np.arange(RATE) / RATE)
    audio.write(folder / "output.wav", np.concatenate([before, said]), RATE)
    told = {
        "scenario": "whisper", "style": "", "target": "", "expects": [], "probes": [], "pauses": [],
        "turns": [{"id": "u0", "text": "Whisper this.", "timestamp": [0.5, 3.0]}],
    }  # fmt: skip
    speech = Timeline([Span(seconds(4), seconds(4) + seconds(len(said) / RATE))])
    trial = Trial(Item("1", reference={"interaction": told}), Track(), Track((), speech, duration=seconds(60)))
    parts = Parts("replies", sounds.replies, Spec("energy"), tasks=("ib_whisper",))

    def kept(mark: str, make: Any) -> tuple[dict[str, Any], bool]:
        return make(), True

    measure_sound(folder, {"system": "output.wav"}, trial, [parts], [], detector_of=lambda spec: Energy(),
                  content=lambda path: path.name, kept=kept, cache=folder)  # fmt: skip
    system = Track(trial.system.words, speech, read_acoustics(folder), duration=seconds(60))
    return Trial(trial.item, trial.user, system)


@pytest.mark.parametrize(
    ("name", "whispered"), [("s000u003w", 1), ("s002u003w", 1), ("s000u003n", 0), ("s002u003n", 0)]
)
def test_a_whispered_reply_passes_and_the_same_words_in_a_normal_voice_do_not(
    tmp_path: Path, name: str, whispered: float
) -> None:
    reply = PAIRS / f"{name}.flac"
    if not reply.is_file():
        pytest.skip("the pairs of whispered and normal sentences are not there")
    found = whispering.whispers(answered(tmp_path, reply), Limits())
    assert isinstance(found, Fact) and found.value == whispered, found
