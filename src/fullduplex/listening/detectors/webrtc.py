"""WebRTC's detector: very fast, needs no weights, takes much noise for speech."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

import numpy as np

from fullduplex.errors import InputError
from fullduplex.listening.detectors import Samples, Segments
from fullduplex.listening.detectors.frames import segments_of
from fullduplex.model.spec import Spec

RATE = 16_000


class WebRtc:
    """Speech by WebRTC's Gaussian mixtures, frame by frame.

    ``mode``: 0 takes most for speech, 3 least. ``frame_ms``: 10, 20 or 30. ``hangover_ms``:
    silences shorter than this are filled; then speech shorter than ``min_speech_ms`` is
    dropped. The library itself holds on for some frames after speech ends.
    """

    rate = RATE

    def __init__(self, mode: int = 3, frame_ms: int = 10, hangover_ms: int = 100, min_speech_ms: int = 60) -> None:
        if mode not in (0, 1, 2, 3):
            raise InputError("webrtc", "mode", found=mode, expected="0, 1, 2 or 3")
        if frame_ms not in (10, 20, 30):
            raise InputError("webrtc", "frame_ms", found=frame_ms, expected="10, 20 or 30")
        if min(hangover_ms, min_speech_ms) < 0:
            raise InputError("webrtc", found="a negative length", expected="milliseconds, 0 or more")
        self.mode, self.frame_ms, self.hangover_ms, self.min_speech_ms = mode, frame_ms, hangover_ms, min_speech_ms

    @property
    def spec(self) -> Spec:
        """Return the options that decide the segments, and the library."""
        options = {name: getattr(self, name) for name in ("mode", "frame_ms", "hangover_ms", "min_speech_ms")}
        return Spec("webrtc", options, f"webrtcvad-wheels {version('webrtcvad-wheels')}")

    def detect(self, batch: Sequence[Samples]) -> list[Segments]:
        """Return each recording's segments: 16 kHz, one voice."""
        return [self._segments(samples) for samples in batch]

    def _segments(self, samples: Samples) -> Segments:
        import webrtcvad

        frame = RATE * self.frame_ms // 1000
        count = -(-len(samples) // frame)
        held = np.zeros(count * frame, np.int16)
        held[: len(samples)] = np.clip(np.rint(np.asarray(samples) * 32768.0), -32768, 32767)
        # A new one for each recording: it adapts to what it heard before.
        judge = webrtcvad.Vad(self.mode)
        active = np.array([judge.is_speech(row.tobytes(), RATE) for row in held.reshape(count, frame)], np.bool_)
        return segments_of(
            active,
            frame,
            len(samples),
            RATE,
            silence_at_least=RATE * self.hangover_ms // 1000,
            speech_at_least=RATE * self.min_speech_ms // 1000,
        )
