"""When the user speaks: conditions on what has been heard so far.

A condition answers with the moment at which it is met, or None while it is not. It is asked
at the end of each frame, when everything before that moment is known, so the user can begin
inside the frame, at the very microsecond.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fullduplex.data.files import brief, member, text, time
from fullduplex.driving.playout import Samples
from fullduplex.errors import InputError
from fullduplex.model.spans import SECOND, in_seconds, ms, seconds

#: Louder than this the system is heard (-40 dB of full scale).
AUDIBLE = 0.01
#: A silence shorter than this lies within the system's speech.
BREATH = ms(500)


@dataclass(slots=True)
class Ear:
    """What the user has heard and said until ``now``; times in microseconds on the session clock.

    ``spoke_from`` and ``spoke_until`` span the user's own last words (0 before the first).
    ``reply_began`` and ``reply_until`` are the first and last moments at which the system
    was heard after that, or None. ``system_since`` and ``system_until`` bound the system's latest stretch
    of sound without a silence of :data:`BREATH`, or are None while it has not been heard.
    ``words`` are the system's since the user's last words, each with its end, or the moment at which it was
    reported where its place is not told; ``said`` is
    every report of the system in order: who spoke, the text, the moment it arrived.
    ``pending`` tells whether audible sound has come that has not sounded yet, and ``sound`` gives
    what sounded between two moments, at ``rate``.
    """

    now: int = 0
    spoke_from: int = 0
    spoke_until: int = 0
    reply_began: int | None = None
    reply_until: int | None = None
    system_since: int | None = None
    system_until: int | None = None
    words: list[tuple[str, int]] = field(default_factory=list)
    said: list[tuple[str, str, int]] = field(default_factory=list)
    pending: Callable[[], bool] = lambda: False
    sound: Callable[[int, int], Samples] = lambda start, end: np.zeros(0, np.float32)
    rate: int = 24_000

    @property
    def speaking(self) -> bool:
        """Return whether the user is still saying something at ``now``."""
        return self.now < self.spoke_until

    @property
    def system_speaks(self) -> bool:
        """Return whether the system was heard within the last :data:`BREATH`."""
        return self.system_until is not None and self.now - self.system_until < BREATH

    def hear(self, samples: Samples, at: int, rate: int) -> None:
        """Take the system's voice, whose first sample sounds at sample ``at``."""
        loud = np.flatnonzero(np.abs(samples) > AUDIBLE)
        if not len(loud):
            return
        self._stretch(loud, at, rate)
        times = (loud + at) * SECOND // rate
        times = times[times >= self.spoke_until]
        if len(times):
            if self.reply_began is None:
                self.reply_began = int(times[0])
            self.reply_until = (int(loud[-1]) + at + 1) * SECOND // rate

    def _stretch(self, loud: NDArray[np.intp], at: int, rate: int) -> None:
        gaps = np.flatnonzero(np.diff(loud) * SECOND >= BREATH * rate)
        first = int(loud[gaps[-1] + 1] if len(gaps) else loud[0]) + at
        begins = first * SECOND // rate
        if len(gaps) or self.system_until is None or begins - self.system_until >= BREATH:
            self.system_since = begins
        self.system_until = (int(loud[-1]) + at + 1) * SECOND // rate

    def begin(self, start: int, until: int) -> None:
        """Begin to speak at ``start`` until ``until``: a reply is what comes after it."""
        self.spoke_from, self.spoke_until, self.reply_began, self.reply_until = start, until, None, None
        self.words.clear()

    def report(self, who: str, text: str, arrived: int, *, placed: bool = False) -> None:
        """Take what the system reports that it, or the user, said.

        ``placed``: it also says when each word sounds, so that each counts when it does (:meth:`word`).
        """
        self.said.append((who, text, arrived))
        if who == "system" and not placed:
            self.words += [(plain(word), arrived) for word in text.split()]

    def word(self, text: str, ended: int) -> None:
        """Take a word of the system's that was heard until ``ended``."""
        if ended >= self.spoke_until:
            self.words.append((plain(text), ended))


def plain(word: str) -> str:
    """Return a word without the marks around it, in lower case."""
    return word.strip(".,;:!?\"'“”‘’«»…—-()").casefold()


class Due(Protocol):
    """The condition of a cue."""

    def __call__(self, ear: Ear) -> int | None:
        """Return when the cue is due, or None when that is not known yet."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return the condition as a JSON object, times in decimal seconds; see :func:`due_from_json`."""
        ...


@dataclass(frozen=True, slots=True)
class at:  # noqa: N801  a cue reads as a phrase: Turn(audio, at(seconds(2)))
    """Due at ``time`` on the session clock."""

    time: int

    def __call__(self, ear: Ear) -> int | None:
        """Return ``time``."""
        return self.time

    def to_json(self) -> dict[str, Any]:
        """Return the moment."""
        return {"when": "at", "time": in_seconds(self.time)}


@dataclass(frozen=True, slots=True)
class after_reply:  # noqa: N801
    """Due once the system has replied and has been quiet for ``quiet``, or ``timeout`` after the user's last words.

    It is quiet on the playout clock: what has come and has yet to sound is not over.
    """

    quiet: int
    timeout: int

    def __call__(self, ear: Ear) -> int | None:
        """Return the earlier of the two moments that has come."""
        late = ear.spoke_until + self.timeout
        if ear.reply_until is not None and ear.now - ear.reply_until >= self.quiet and not ear.pending():
            return min(ear.reply_until + self.quiet, late)
        return late if ear.now >= late else None

    def to_json(self) -> dict[str, Any]:
        """Return the two lengths."""
        return {"when": "after_reply", "quiet": in_seconds(self.quiet), "timeout": in_seconds(self.timeout)}


@dataclass(frozen=True, slots=True)
class into_reply:  # noqa: N801
    """Due ``delay`` after the system was first heard to reply."""

    delay: int

    def __call__(self, ear: Ear) -> int | None:
        """Return the reply's onset and ``delay``."""
        return None if ear.reply_began is None else ear.reply_began + self.delay

    def to_json(self) -> dict[str, Any]:
        """Return the delay."""
        return {"when": "into_reply", "delay": in_seconds(self.delay)}


@dataclass(frozen=True, slots=True)
class after_word:  # noqa: N801
    """Due ``delay`` after the system was heard to say ``word`` (letters of either case) since the user's last words.

    A word has been heard when it has sounded, where the system tells its place in the utterance; else it counts
    from the moment at which it was reported.
    """

    word: str
    delay: int = 0

    def __call__(self, ear: Ear) -> int | None:
        """Return the word's end and ``delay``."""
        wanted = plain(self.word)
        return next((time + self.delay for word, time in ear.words if word == wanted), None)

    def to_json(self) -> dict[str, Any]:
        """Return the word and the delay."""
        return {"when": "after_word", "word": self.word, "delay": in_seconds(self.delay)}


def due_from_json(value: Any, path: Path, where: str) -> Due:
    """Return the condition that ``value`` states, as :meth:`Due.to_json` wrote it.

    Raises :class:`InputError` naming ``where`` in ``path`` for anything else.
    """
    if not isinstance(value, dict) or value.get("when") not in _CONDITIONS:
        raise InputError(path, where, found=brief(value), expected=f'an object whose "when" is {_CHOICES}')
    make, times, texts = _CONDITIONS[value["when"]]
    given: dict[str, Any] = {
        key: seconds(_length(member(value, key, path, where), path, f"{where}, {key}")) for key in times
    }
    given |= {key: text(member(value, key, path, where), path, f"{where}, {key}") for key in texts}
    unknown = set(value) - {"when", *times, *texts}
    if unknown:
        raise InputError(path, where, found=f"{min(unknown)!r}", expected=", ".join((*times, *texts)))
    found: Due = make(**given)
    return found


def _length(value: Any, path: Path, where: str) -> float:
    found = time(value, path, where)
    if found < 0:
        raise InputError(path, where, found=brief(value), expected="a time in seconds, not below 0")
    return found


#: For each condition: its maker, its members that are times, its members that are texts.
_CONDITIONS: dict[str, tuple[Any, tuple[str, ...], tuple[str, ...]]] = {
    "at": (at, ("time",), ()),
    "after_reply": (after_reply, ("quiet", "timeout"), ()),
    "into_reply": (into_reply, ("delay",), ()),
    "after_word": (after_word, ("delay",), ("word",)),
}
_CHOICES = ", ".join(_CONDITIONS)
