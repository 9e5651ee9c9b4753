"""The user's side as it is captured: a sample is made when its frame is, and not before.

So a talk of ten minutes costs memory as it goes on, and not at its beginning, when dozens of
others may be waiting for their next frame.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fullduplex.driving.playout import Samples


class Microphone:
    """Turns laid on silence. Positions are samples from the talk's beginning, asked for in order."""

    def __init__(self) -> None:
        self._turns: list[tuple[int, Samples]] = []
        # Many small pieces: one that grows would be moved as a whole, while frames of other talks wait.
        self._captured: list[bytes] = []

    def say(self, at: int, samples: Samples) -> None:
        """Let ``samples`` begin at ``at``, which has not been captured yet."""
        self._turns.append((at, samples))

    def hush(self, at: int) -> None:
        """Let nothing that has begun go on from ``at``."""
        self._turns = [(start, samples[: max(0, at - start)]) for start, samples in self._turns]

    def capture(self, first: int, end: int) -> Samples:
        """Return the samples ``[first, end)`` and keep them."""
        frame = np.zeros(max(0, end - first), np.float32)
        for start, samples in self._turns:
            lo, hi = max(first, start), min(end, start + len(samples))
            if lo < hi:
                frame[lo - first : hi - first] = samples[lo - start : hi - start]
        self._turns = [turn for turn in self._turns if turn[0] + len(turn[1]) > end]
        self._captured.append(frame.tobytes())
        return frame

    def captured(self) -> Samples:
        """Return all that was captured."""
        return joined(self._captured)


def joined(pieces: Sequence[bytes]) -> Samples:
    """Return pieces of float32 samples end to end."""
    whole = np.empty(sum(map(len, pieces)) // 4, np.float32)
    at = 0
    # Piece by piece, so that other threads get their turn in between.
    for piece in pieces:
        whole[at : at + len(piece) // 4] = np.frombuffer(piece, np.float32)
        at += len(piece) // 4
    return whole
