"""When the user speaks: conditions on what has been heard so far.

A condition answers with the moment at which it is met, or None while it is not. It is asked
at the end of each frame, when everything before that moment is known, so the user can begin
inside the frame, at the very microsecond.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from fullduplex.driving.playout import Samples
from fullduplex.model.spans import SECOND

#: Louder than this the system is heard (-40 dB of full scale).
AUDIBLE = 0.01


@dataclass(slots=True)
class Ear:
    """What the user has heard until ``now``; times in microseconds on the session clock.

    ``spoke_until`` is the end of the user's own last words (0 before the first).
    ``reply_began`` and ``reply_until`` are the first and last moments at which the system
    was heard after that, or None. ``words`` are those that the system reported and when.
    """

    now: int = 0
    spoke_until: int = 0
    reply_began: int | None = None
    reply_until: int | None = None
    words: list[tuple[str, int]] = field(default_factory=list)

    def hear(self, samples: Samples, at: int, rate: int) -> None:
        """Take the system's voice, whose first sample sounds at sample ``at``."""
        loud = np.flatnonzero(np.abs(samples) > AUDIBLE)
        times = (loud + at) * SECOND // rate
        times = times[times >= self.spoke_until]
        if len(times):
            if self.reply_began is None:
                self.reply_began = int(times[0])
            self.reply_until = int(times[-1]) + SECOND // rate

    def begin(self, until: int) -> None:
        """Begin to speak until ``until``: a reply is what comes after it."""
        self.spoke_until, self.reply_began, self.reply_until = until, None, None
        self.words.clear()


class Due(Protocol):
    """The condition of a cue."""

    def __call__(self, ear: Ear) -> int | None:
        """Return when the cue is due, or None when that is not known yet."""
        ...


@dataclass(frozen=True, slots=True)
class at:  # noqa: N801  a cue reads as a phrase: Turn(audio, at(seconds(2)))
    """Due at ``time`` on the session clock."""

    time: int

    def __call__(self, ear: Ear) -> int | None:
        """Return ``time``."""
        return self.time


@dataclass(frozen=True, slots=True)
class after_reply:  # noqa: N801
    """Due once the system has replied and has been quiet for ``quiet``, or ``timeout`` after the user's last words."""

    quiet: int
    timeout: int

    def __call__(self, ear: Ear) -> int | None:
        """Return the earlier of the two moments that has come."""
        late = ear.spoke_until + self.timeout
        if ear.reply_until is not None and ear.now - ear.reply_until >= self.quiet:
            return min(ear.reply_until + self.quiet, late)
        return late if ear.now >= late else None


@dataclass(frozen=True, slots=True)
class into_reply:  # noqa: N801
    """Due ``delay`` after the system was first heard to reply."""

    delay: int

    def __call__(self, ear: Ear) -> int | None:
        """Return the reply's onset and ``delay``."""
        return None if ear.reply_began is None else ear.reply_began + self.delay


@dataclass(frozen=True, slots=True)
class after_word:  # noqa: N801
    """Due ``delay`` after the system reported ``word`` (letters of either case) since the user's last words."""

    word: str
    delay: int = 0

    def __call__(self, ear: Ear) -> int | None:
        """Return the word's first report and ``delay``."""
        wanted = self.word.casefold()
        return next((time + self.delay for word, time in ear.words if word == wanted), None)
