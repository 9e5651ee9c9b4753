"""What one voice said, and when it was heard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from fullduplex.model.spans import Span, Timeline


@dataclass(frozen=True, slots=True)
class Word:
    """A word as a recogniser, an annotator or a synthesiser placed it.

    ``confidence`` is between 0 and 1, or None when the source gives none.
    """

    text: str
    span: Span
    confidence: float | None = None


class Token(NamedTuple):
    """A word as its file has it: decimal seconds, an open start or end as None.

    Only ``released`` variants read tokens: they have to repeat what scripts
    computed from these very floats in this very order.
    """

    text: str
    start: float | None
    end: float | None


@dataclass(frozen=True, slots=True)
class Track:
    """One voice: its words, and the moments in which it is heard.

    ``words`` are in order of time. ``speech`` is what a detector heard, or None
    when nobody listened. ``segments`` are the detector's own segments in decimal
    seconds (two that touch stay two), ``tokens`` the file's own words; both serve
    ``released`` variants. ``acoustics`` holds numbers measured from the sound.
    ``words_from`` and ``speech_from`` name the source of each, for the report.
    ``silent_recording``: every sample is zero. ``peak``: the loudest sample, 1 at full scale, None where nobody
    listened. ``duration`` is the length of the recording in microseconds, or None.
    """

    words: tuple[Word, ...] | None = None
    speech: Timeline | None = None
    acoustics: Mapping[str, float] = field(default_factory=dict)
    tokens: tuple[Token, ...] | None = None
    segments: tuple[tuple[float, float], ...] | None = None
    duration: int | None = None
    words_from: str = ""
    speech_from: str = ""
    silent_recording: bool = False
    peak: float | None = None

    def said(self, window: Span) -> str:
        """Return the words that sound in ``window``, as text."""
        return " ".join(word.text for word in self.words or () if word.span & window)
