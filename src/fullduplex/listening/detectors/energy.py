"""Speech by level alone: for checks without weights, and where every sound is speech."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fullduplex.errors import InputError
from fullduplex.listening.detectors import Samples, Segments
from fullduplex.listening.detectors.frames import segments_of
from fullduplex.model.spec import Spec

RATE = 16_000
FRAME = 160


class Energy:
    """Frames of 10 ms whose level is ``floor_dbfs`` or more, and within ``below_loudest_db`` of the loudest frame.

    Level is the RMS of the frame without its mean over the recording, in dB of full
    scale. The floor is absolute: a recording of noise at -60 dBFS has no speech however
    the noise is spread, which a threshold taken from the recording's own quiet parts
    cannot say. Silences shorter than ``min_silence_ms`` are filled, then speech shorter
    than ``min_speech_ms`` is dropped.
    """

    rate = RATE

    def __init__(
        self,
        floor_dbfs: float = -45.0,
        below_loudest_db: float = 30.0,
        min_silence_ms: int = 100,
        min_speech_ms: int = 60,
    ) -> None:
        if floor_dbfs > 0:
            raise InputError("energy", "floor_dbfs", found=floor_dbfs, expected="decibels of full scale, 0 or less")
        if min(below_loudest_db, min_silence_ms, min_speech_ms) < 0:
            raise InputError("energy", found="a negative option", expected="0 or more")
        self.floor_dbfs, self.below_loudest_db = floor_dbfs, below_loudest_db
        self.min_silence_ms, self.min_speech_ms = min_silence_ms, min_speech_ms

    @property
    def spec(self) -> Spec:
        """Return the options that decide the segments."""
        options = {
            name: getattr(self, name) for name in ("floor_dbfs", "below_loudest_db", "min_silence_ms", "min_speech_ms")
        }
        return Spec("energy", options, "1")

    def detect(self, batch: Sequence[Samples]) -> list[Segments]:
        """Return each recording's segments: 16 kHz, one voice."""
        return [self._segments(samples) for samples in batch]

    def _segments(self, samples: Samples) -> Segments:
        count = -(-len(samples) // FRAME)
        if not count:
            return ()
        centred = np.zeros(count * FRAME, np.float64)
        centred[: len(samples)] = samples - np.mean(samples, dtype=np.float64)
        power = np.mean(centred.reshape(count, FRAME) ** 2, axis=1)
        least = max(10 ** (self.floor_dbfs / 10), float(power.max()) * 10 ** (-self.below_loudest_db / 10))
        return segments_of(
            power >= least,
            FRAME,
            len(samples),
            RATE,
            silence_at_least=RATE * self.min_silence_ms // 1000,
            speech_at_least=RATE * self.min_speech_ms // 1000,
        )
