"""One item as one system answered it, and what is concluded from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fullduplex.model.items import Event, Item
from fullduplex.model.speech import Track


@dataclass(frozen=True, slots=True)
class Absent:
    """A measure that has no value here, and why. Never 0, never NaN."""

    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """A measured value (seconds, a share, a flag, a count), where it happened, and why it is what it is.

    ``at`` is a time on the session clock in microseconds: where to listen. ``verdict`` names the judge's verdict that
    it rests on (``addressed``; of several, with commas between), "" where a rule or a person decided.
    """

    value: float
    at: int | None = None
    why: str = ""
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class Ratio:
    """A part of a whole, kept apart so that ratios over many trials can be pooled."""

    part: float
    whole: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge said: the value, each vote, the reason, the digest of what was asked, and who says so."""

    value: float | str
    votes: tuple[float | str, ...] = ()
    reason: str = ""
    asked: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class Recording:
    """What happened in a conversation: both sides' audio files, arrivals, lateness, and the system's spec."""

    user: str = ""
    system: str = ""
    received: str = ""
    pacing: Mapping[str, Any] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trial:
    """What measures see: both voices and the events on one clock. It carries no audio.

    ``missing`` names the files that the item lacks, ``failed`` says why it could not be
    read or recorded (then every measure is Absent). ``verdicts`` are judges' by name; one that was asked for
    and not had is Absent with its reason. ``twin`` is the same item without its event, where there is one: the
    clean control of Full-Duplex-Bench v1.5.
    """

    item: Item
    user: Track = field(default_factory=Track)
    system: Track = field(default_factory=Track)
    events: tuple[Event, ...] = ()
    recording: Recording | None = None
    verdicts: Mapping[str, Verdict | Absent] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    failed: str = ""
    twin: Trial | None = None

    def event(self, kind: str) -> Event | None:
        """Return the first event of ``kind``, or None."""
        return next((event for event in self.events if event.kind == kind), None)

    def all(self, kind: str) -> tuple[Event, ...]:
        """Return every event of ``kind``, in order of time."""
        return tuple(sorted((e for e in self.events if e.kind == kind), key=lambda e: e.span))
