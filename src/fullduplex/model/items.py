"""The stimulus: user audio, when it is released, and what it calls for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fullduplex.model.spans import Span

#: The kinds of events that a cue of the user's can be.
KINDS = ("pause", "turn_end", "interruption", "overlap")


@dataclass(frozen=True, slots=True)
class Event:
    """Something on the user's side that calls for behaviour: a pause, a turn's end, an interruption.

    Kinds used by Full-Duplex-Bench: ``pause``, ``turn_end`` (the span runs from the
    end of the user's turn to the other speaker's start), ``interruption``, ``overlap``.
    ``source`` is empty when the event was annotated, else the rule that found it.
    """

    kind: str
    span: Span
    text: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Cue:
    """User audio (a file's path) and the condition that releases it."""

    audio: str
    due: Any


@dataclass(frozen=True, slots=True)
class Item:
    """A stimulus. ``group`` names its speaker or conversation, for clustered intervals."""

    id: str
    cues: tuple[Cue, ...] = ()
    events: tuple[Event, ...] = ()
    prompt: str = ""
    reference: Mapping[str, Any] = field(default_factory=dict)
    group: str = ""
