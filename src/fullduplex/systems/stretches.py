"""Names for the sound of a system that names none: a stretch ends where it was quiet for a while, or at a flush.

A rate at which sound comes, or a place where it ran dry, is of one utterance; over a whole talk both would
count the pauses between replies.
"""

from __future__ import annotations

from fullduplex.driving.link import Position
from fullduplex.model.spans import SECOND, ms

#: After so long without sound, what comes is something new.
QUIET = ms(500)


class Stretches:
    """What came and what was heard of it, in stretches ``s0``, ``s1``, ... of samples at ``rate``."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        #: The stretch that is coming, and how many samples of it came.
        self.number, self.came = 0, 0
        self._heard, self._played = 0, 0
        self._now, self._dry_since = 0, 0

    def take(self, samples: int) -> str:
        """Return the name of the stretch to which ``samples`` that have come now belong."""
        if samples and self.came and self.reached(self.number, self.came) and self._now - self._dry_since >= QUIET:
            self.flush()
        self.came += samples
        return f"s{self.number}"

    def flush(self) -> None:
        """Let what comes from now on be something new."""
        self.number, self.came = self.number + 1, 0

    def heard(self, position: Position) -> None:
        """Take note of what has sounded."""
        self._now = position.at
        if position.id:
            self._heard, self._played = int(position.id[1:]), position.played * self._rate // SECOND
        if not self.reached(self.number, self.came):
            self._dry_since = self._now

    def reached(self, number: int, samples: int) -> bool:
        """Return whether so many samples of that stretch have sounded, or something after it."""
        return self._heard > number or (self._heard == number and self._played >= samples)


__all__ = ["QUIET", "Stretches"]
