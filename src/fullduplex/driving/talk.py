"""What a talk was: both voices, what came when, how truthfully the frames went out, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from fullduplex.driving.clock import Clock
from fullduplex.driving.cues import AUDIBLE, BREATH
from fullduplex.driving.link import Closed, Note, Ready, Said, UserVad
from fullduplex.driving.playout import Chunk, Flush, Placed, Samples, sample_at
from fullduplex.driving.user import Turn
from fullduplex.errors import ConversationError
from fullduplex.model.spans import SECOND, Span, in_seconds, seconds

#: Why a talk ended: it lasted as long as was stated; all was said and it was quiet; the user's patience after
#: the last words, or the hard cap, was used up; the system closed it; it failed, took no more audio, or sent too much.
EndedBy = Literal["length", "quiet", "patience", "cap", "closed", "failed", "stalled", "flooded"]


@dataclass(frozen=True, slots=True)
class HangUp:
    """When the user hangs up, having said everything; decided on the playout clock.

    Once neither side was heard for ``quiet`` and nothing audible is queued, or ``patience`` after the end of the
    user's last words, whichever comes first; in microseconds. A user whose next words wait for the system, and not
    for a stated time, gives up once neither side was heard for ``patience``.
    """

    quiet: int = seconds(4)
    patience: int = seconds(30)

    def to_json(self) -> dict[str, float]:
        """Return the rule, in decimal seconds."""
        return {"quiet": in_seconds(self.quiet), "patience": in_seconds(self.patience)}


@dataclass(frozen=True, slots=True)
class Premise:
    """Whether the system was talking when a turn began, and since when (microseconds); None where it was not."""

    talking: bool
    since: int | None = None


@dataclass(frozen=True, slots=True)
class TurnTaken:
    """A turn of the user as it came about: where it lies, and the premise; None of a turn that never fell due."""

    turn: Turn
    span: Span | None
    premise: Premise | None

    def to_json(self) -> dict[str, Any]:
        """Return the turn without its sound, times in decimal seconds."""
        told: dict[str, Any] = {"id": self.turn.id, "text": self.turn.text, "due": self.turn.due.to_json()}
        told["timestamp"] = None if self.span is None else [in_seconds(self.span.start), in_seconds(self.span.end)]
        if self.premise is not None:
            since = None if self.premise.since is None else in_seconds(self.premise.since)
            told["premise"] = {"system_talking": self.premise.talking, "since": since}
        return told


def premise(system: Samples, rate: int, at: int) -> Premise:
    """Return whether ``system`` sounds around ``at``, and when that stretch began.

    It talks if it was heard within :data:`BREATH` before ``at`` and is heard again within :data:`BREATH`
    after; silences shorter than that do not end a stretch.
    """
    now, breath = sample_at(at, rate), BREATH * rate // SECOND
    loud = np.flatnonzero(np.abs(system[: now + breath]) > AUDIBLE)
    before = loud[loud < now]
    if not len(before) or len(before) == len(loud) or loud[len(before)] - before[-1] >= breath:
        return Premise(False)
    gaps = np.flatnonzero(np.diff(before) >= breath)
    return Premise(True, int(before[gaps[-1] + 1] if len(gaps) else before[0]) * SECOND // rate)


@dataclass(frozen=True, slots=True)
class Pacing:
    """How truthfully the user's frames went out; times in microseconds.

    ``lateness`` of each frame of length ``frame``: the moment it was sent less the end of its capture.
    ``slipped`` is how far the schedule was moved because frames are never sent in a burst to catch up.
    """

    frame: int
    lateness: Sequence[int]
    slipped: int = 0

    @property
    def frames(self) -> int:
        """Return how many frames were sent."""
        return len(self.lateness)

    @property
    def worst(self) -> int:
        """Return the greatest lateness."""
        return max(self.lateness, default=0)

    @property
    def p99(self) -> int:
        """Return the lateness that 99 of 100 frames do not exceed."""
        ordered = sorted(self.lateness)
        return ordered[-(-99 * len(ordered) // 100) - 1] if ordered else 0

    @property
    def late(self) -> bool:
        """Return whether a frame was later than its own length: then the talk's times cannot be trusted."""
        return self.worst > self.frame

    def to_json(self) -> dict[str, object]:
        """Return the pacing as a JSON object, times in decimal seconds."""
        return {
            "frame": in_seconds(self.frame),
            "frames": self.frames,
            "worst_lateness": in_seconds(self.worst),
            "p99_lateness": in_seconds(self.p99),
            "slipped": in_seconds(self.slipped),
            "late": self.late,
        }


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Talk:
    """What happened, on the session clock.

    ``user`` is what the user said at ``user_rate``, and ``sent`` what went out: the same, but for the echo.
    ``system`` is what a listener heard at ``rate``, placed chunk by chunk as ``placed`` says, with the player's
    ``priming``. ``received`` is the log of audio, and ``notes`` of everything else. ``turns`` are the user's, those
    that never fell due at the end. ``handshake`` is how long it took the system to be ready; ``clock`` is what
    time was. ``work`` is how long work took on the step-honest clock, and how long the processor was at it.
    ``ended_by`` says why it ended; ``hang_up`` and ``cap`` (the hard one, in microseconds) are the rules.
    """

    user: Samples
    sent: Samples
    user_rate: int
    received: tuple[Chunk | Flush, ...]
    system: Samples
    rate: int
    placed: tuple[Placed, ...]
    notes: tuple[Said | UserVad | Note | Closed, ...]
    turns: tuple[TurnTaken, ...]
    pacing: Pacing
    ready: Ready = field(default_factory=Ready)
    handshake: int = 0
    clock: Clock = "virtual"
    ended_by: EndedBy = "length"
    hang_up: HangUp | None = None
    cap: int = 0
    prompt: str = ""
    priming: int = 0
    work: tuple[int, int] = (0, 0)

    @property
    def duration(self) -> int:
        """Return the length of the talk in microseconds."""
        return len(self.user) * SECOND // self.user_rate


class BrokenTalk(ConversationError):
    """A talk that ended before its time. ``talk`` is what was kept of it."""

    def __init__(self, message: str, talk: Talk | None = None) -> None:
        super().__init__(message)
        self.talk = talk

    def __reduce__(self) -> tuple[object, ...]:
        # The sentence travels between processes; the audio stays where it was recorded.
        return (BrokenTalk, (str(self),))
