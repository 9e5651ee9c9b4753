"""Who plays the user's part in a talk.

The driver asks at the end of each frame, when everything before that moment is known: does
something begin to sound in this frame, or does the user fall silent? What takes time (a
language model, a voice) runs beside the talk, in :meth:`User.think`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from fullduplex.driving.cues import Due, Ear, at
from fullduplex.driving.playout import Samples


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Turn:
    """Something the user says: float32 samples at the system's ``rate_in``, and when.

    ``id`` and ``text`` name it in the record; neither changes what is sent.
    """

    samples: Samples
    due: Due
    id: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Speak:
    """The user begins to say ``turn`` at ``at``: microseconds on the session clock, not after ``ear.now``.

    A moment before the current frame, or inside what the user still says, becomes the first that is neither.
    """

    turn: Turn
    at: int


@dataclass(frozen=True, slots=True)
class Hush:
    """The user stops in the middle of what they say, from the next frame on."""


@runtime_checkable
class User(Protocol):
    """A user: scripted, recorded or simulated."""

    def act(self, ear: Ear) -> Speak | Hush | None:
        """Return what the user does within the frame that ends at ``ear.now``; asked until it returns None."""
        ...

    @property
    def finished(self) -> bool:
        """Return whether the user will say nothing more."""
        ...

    async def think(self, ear: Ear) -> None:
        """Do what takes time, for as long as the talk lasts; it is cancelled at its end.

        ``ear`` is the one that :meth:`act` is given, and is kept up to date. Time is waited for on
        the running loop, and work is done through :func:`fullduplex.driving.clock.took`.
        """
        ...


class Turns:
    """A user who says given turns one after another, each when it is due."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._waiting = list(turns)

    def act(self, ear: Ear) -> Speak | None:
        """Return the next turn once it is due and the one before it has ended."""
        if ear.spoke_until >= ear.now:
            return None
        due = self._waiting[0].due(ear) if self._waiting else None
        return None if due is None or due >= ear.now else Speak(self._waiting.pop(0), due)

    @property
    def finished(self) -> bool:
        """Return whether every turn has begun."""
        return not self._waiting

    @property
    def scheduled(self) -> bool:
        """Return whether the next turn has a stated time, so that it will come."""
        return bool(self._waiting) and isinstance(self._waiting[0].due, at)

    @property
    def unsaid(self) -> tuple[Turn, ...]:
        """Return the turns that have not begun."""
        return tuple(self._waiting)

    async def think(self, ear: Ear) -> None:
        """Return at once: there is nothing to work out."""
