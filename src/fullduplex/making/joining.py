"""Speech put together from phrases: silence between them that is exact, in a room that is not digitally silent."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullduplex.data import audio
from fullduplex.model.spans import SECOND, Span, in_seconds
from fullduplex.model.speech import Word
from fullduplex.providers.voices import Spoken

#: The room: white noise at this RMS, in dB of full scale, so that silence is not digital.
ROOM = -70.0


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase of the user where it sounds. ``words`` are None where the voice does not place them."""

    text: str
    span: Span
    words: tuple[Word, ...] | None


def at_rate(spoken: Spoken, rate: int) -> Spoken:
    """Return ``spoken`` at another rate; its times stay."""
    return Spoken(audio.resample(spoken.samples, spoken.rate, rate), rate, spoken.words, spoken.words_from)


def join(
    texts: Sequence[str], spoken: Sequence[Spoken], gaps: Sequence[int], lead: int, after: int, rate: int
) -> tuple[tuple[Phrase, ...], NDArray[np.float32]]:
    """Return the phrases where they sound, and the samples: ``lead``, the phrases with ``gaps`` between, ``after``."""
    parts, phrases, at = [silence(lead, rate)], list[Phrase](), len(silence(lead, rate))
    for text, voice, gap in zip(texts, spoken, [*gaps, after], strict=True):
        start = at * SECOND // rate
        at += len(voice.samples)
        words = None if voice.words is None else tuple(Word(w.text, w.span.shift(start)) for w in voice.words)
        phrases.append(Phrase(text, Span(start, at * SECOND // rate), words))
        parts += [voice.samples, silence(gap, rate)]
        at += len(parts[-1])
    return tuple(phrases), np.concatenate(parts)


def silence(time: int, rate: int) -> NDArray[np.float32]:
    """Return ``time`` microseconds of zeros, in whole samples."""
    return np.zeros(time * rate // SECOND, np.float32)


def room(length: int, seed: int, name: str) -> NDArray[np.float32]:
    """Return the room's noise for the item ``name``: its own, whatever others there are."""
    random = np.random.default_rng([seed, zlib.crc32(name.encode("utf-8", "replace"))])
    return (random.standard_normal(length) * 10 ** (ROOM / 20)).astype(np.float32)


def times(span: Span) -> list[float]:
    """Return a span as files have it: [start, end] in seconds."""
    return [in_seconds(span.start), in_seconds(span.end)]
