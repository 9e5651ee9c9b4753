"""When the user has finished, by loudness alone: for a model that cannot tell by itself."""

from __future__ import annotations

import numpy as np

from fullduplex.driving.cues import AUDIBLE
from fullduplex.driving.playout import Samples
from fullduplex.model.spans import SECOND, in_seconds, ms

#: What of the silence before an utterance belongs to it.
BEFORE = ms(200)


class Endpointer:
    """Cuts what the user says into utterances.

    An utterance begins with a sample above :data:`~fullduplex.driving.cues.AUDIBLE` and ends where ``silence``
    microseconds without one have passed; ``at_least`` from its first to its last such sample make one, else it is
    forgotten. It holds :data:`BEFORE` of what came before it.
    """

    def __init__(self, rate: int, silence: int, at_least: int) -> None:
        self._rate = rate
        self._silence, self._least = silence * rate // SECOND, at_least * rate // SECOND
        self._before = np.zeros(0, np.float32)
        self._kept: list[Samples] = []
        self._first, self._last, self._at = -1, -1, 0

    @property
    def speaking(self) -> bool:
        """Return whether the user is in the middle of what makes an utterance by now."""
        return self._first >= 0 and self._last - self._first >= self._least

    def hear(self, frame: Samples) -> Samples | None:
        """Take the next frame; return the utterance that ended with it, if one did."""
        loud = np.flatnonzero(np.abs(frame) > AUDIBLE)
        if self._first < 0 and len(loud):
            self._first, self._kept = self._at + int(loud[0]), [self._before]
        if len(loud):
            self._last = self._at + int(loud[-1]) + 1
        if self._first >= 0:
            self._kept.append(frame)
        else:
            self._before = np.concatenate([self._before, frame])[-(BEFORE * self._rate // SECOND) :]
        self._at += len(frame)
        if self._first < 0 or self._at - self._last < self._silence:
            return None
        whole, ended = self.speaking, np.concatenate(self._kept)
        self.forget()
        return ended if whole else None

    def forget(self) -> None:
        """Begin afresh."""
        self._first, self._last, self._kept = -1, -1, []
        self._before = np.zeros(0, np.float32)

    def told(self) -> dict[str, float | str]:
        """Return the rule, for those who read the talk."""
        return {
            "rule": "loudness",
            "silence": in_seconds(self._silence * SECOND // self._rate),
            "at_least": in_seconds(self._least * SECOND // self._rate),
        }
