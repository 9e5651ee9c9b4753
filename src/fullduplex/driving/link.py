"""What a driven system is: it turns bytes into events and decides nothing else.

Timing, playback, hang-up and scoring are the driver's and are the same for all.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from fullduplex.driving.clock import Clock
from fullduplex.driving.playout import Chunk, Flush, Samples
from fullduplex.model.spec import Spec

#: How a system's audio comes: a frame for a frame; ahead of real time into the listener's
#: queue; at about real time; a unit after each fixed unit; a media track; a finished file as
#: long as the input; a reply that comes after the whole input.
Timing = Literal["sync", "burst", "paced", "unit", "track", "aligned", "reply"]


@dataclass(frozen=True, slots=True)
class Traits:
    """What a driver has to know of a system.

    ``rate_in`` and ``rate_out`` in samples per second. ``frame`` is the length of the frames
    it wants, in microseconds, or 0 for any. ``flush``: what a flush of its names. ``exclusive``: one talk
    at a time. ``virtual``: it waits on the event loop alone and works through
    :func:`fullduplex.driving.clock.took`, so that a clock other than the wall's is safe; ``computes``: its
    work takes time, so that clock has to be a step clock. ``offline``: it hears nothing before the
    user's last frame, and answers with a file. ``source``: what a chunk's ``source`` counts from: its
    utterance, or the session's beginning. ``longest``: the longest session that its server holds, in microseconds,
    0 where it knows no limit.
    """

    rate_in: int = 16_000
    rate_out: int = 24_000
    frame: int = 0
    timing: Timing = "paced"
    flush: Literal["none", "all", "id", "epoch"] = "none"
    virtual: bool = False
    exclusive: bool = False
    computes: bool = False
    offline: bool = False
    source: Literal["none", "utterance", "session"] = "none"
    longest: int = 0

    @property
    def clocks(self) -> tuple[Clock, ...]:
        """Return the clocks that are safe; the first is the one to use where none is named."""
        if not self.virtual:
            return ("wall",)
        if not self.computes:
            return ("virtual", "wall", "step-honest", "step-algorithmic")
        steps: tuple[Clock, ...] = ("step-honest", "step-algorithmic")
        return steps if self.offline else ("wall", *steps)


@dataclass(frozen=True, slots=True)
class Position:
    """What a listener has heard at ``at`` on the session clock: ``played`` microseconds of the sound of ``id``.

    ``id`` names the utterance that sounded last; it is empty where none has.
    """

    at: int
    id: str = ""
    played: int = 0


@dataclass(frozen=True, slots=True)
class Ready:
    """The settings in effect once the handshake was over."""

    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Said:
    """Words that the system reports: its own, or what it took the user to say.

    ``id`` names the utterance whose chunks carry the words. ``words`` are ``(text, start, end)``
    in microseconds from that utterance's beginning, where the system knows them. ``source`` is
    when, on the system's own session clock, where it tells.
    """

    text: str
    who: Literal["system", "user"] = "system"
    id: str = ""
    words: tuple[tuple[str, int, int], ...] = ()
    arrived: int = 0
    source: int | None = None


@dataclass(frozen=True, slots=True)
class UserVad:
    """The system's own belief that the user began or ceased to speak; ``source`` on its own clock."""

    speaking: bool
    source: int | None = None
    arrived: int = 0


@dataclass(frozen=True, slots=True)
class Note:
    """Anything else worth keeping: usage, an error that did not end the talk, a queue position.

    ``source`` is when, on the system's own session clock, where it tells; of a decision of a system in fixed units, the
    end of the input unit that it answers.
    """

    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)
    arrived: int = 0
    source: int | None = None


@dataclass(frozen=True, slots=True)
class Closed:
    """The talk is over at the system's end, and why.

    ``broke``: not by its decision; the connection broke off, or it failed. What it was about to say is not known.
    """

    reason: str = ""
    arrived: int = 0
    broke: bool = False


Happening = Chunk | Flush | Said | UserVad | Note | Closed


class Link(Protocol):
    """One open talk with a system.

    A link over a socket may have ``read``: the time on the event loop at which the latest message was read. Its events
    have then come at that time, however long decoding them took.
    """

    ready: Ready

    async def send(self, frame: Samples) -> None:
        """Give the system the next frame of the user, ``float32`` at ``rate_in``."""
        ...

    def __aiter__(self) -> AsyncIterator[Happening]:
        """Yield what comes from the system until it closes; the driver writes ``arrived``."""
        ...

    async def heard(self, position: Position) -> None:
        """Tell the system what the listener has heard, once a frame. Never more than what has come."""
        ...

    async def finish(self) -> None:
        """Tell the system that the user will send no more."""
        ...


class System(Protocol):
    """Something to talk with: its name and options, its traits, and a way to open a talk."""

    @property
    def spec(self) -> Spec:
        """Return what exactly is driven."""
        ...

    @property
    def traits(self) -> Traits:
        """Return what a driver has to know."""
        ...

    def connect(self, prompt: str) -> AbstractAsyncContextManager[Link]:
        """Open a talk; it is entered once the handshake is over."""
        ...
