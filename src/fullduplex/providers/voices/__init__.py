"""Voices: text in, speech out, with the time of each word where the synthesiser knows it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fullduplex.errors import InputError, printable
from fullduplex.model.spans import SECOND, Span, ms
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Word

#: The loudness of every voice: the RMS of its audible 10-ms frames, in dB of full scale.
LEVEL = -23.0
#: No sample is louder than this, in dB of full scale; a peaky voice stays below ``LEVEL``.
PEAK = -1.0
#: Speech begins and ends with the first and last sample louder than this, in dB of full scale.
AUDIBLE = -50.0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Spoken:
    """What a voice said: float32 samples on the grid of 16-bit audio, at ``rate``.

    The first and the last sample are audible; there is no silence around them. ``words`` are
    placed from the first sample on, or None where the synthesiser does not tell.
    ``words_from`` names their source (``synthesiser``), empty without words.
    """

    samples: NDArray[np.float32]
    rate: int
    words: tuple[Word, ...] | None = None
    words_from: str = ""

    @property
    def duration(self) -> int:
        """Return the length in microseconds."""
        return len(self.samples) * SECOND // self.rate


class Voice(Protocol):
    """A synthesiser with its options: equal specs say equal texts with equal samples."""

    @property
    def spec(self) -> Spec:
        """Return what exactly speaks."""
        ...

    def speak(self, text: str) -> Spoken:
        """Return ``text`` as speech; raises :class:`InputError` where nothing in it can be spoken."""
        ...


def check_speakable(text: str) -> None:
    """Raise :class:`InputError` where ``text`` has neither a letter nor a digit."""
    if not any(c.isalnum() for c in text):
        raise InputError("text", found=repr(printable(text, 60)), expected="words to speak")


def check_latin(text: str) -> None:
    """Raise :class:`InputError` where ``text`` has a letter that is not Latin: a voice for these would skip the word.

    Marks on letters, and signs such as those of the phonetic alphabet, are letters' companions and no letters.
    """
    for c in unicodedata.normalize("NFKC", text):
        if unicodedata.category(c) in ("Lu", "Ll", "Lt", "Lo") and not unicodedata.name(c, "").startswith("LATIN"):
            raise InputError("text", found=repr(printable(text, 60)), expected="Latin letters, for this voice")


def checked_factor(voice: str, option: str, value: object, at_least: float, at_most: float) -> None:
    """Raise :class:`InputError` unless ``value`` is a number from ``at_least`` to ``at_most``, both allowed."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not at_least <= value <= at_most:
        raise InputError(voice, option, found=value, expected=f"a number from {at_least:g} to {at_most:g}")


def checked_seed(voice: str, value: object) -> None:
    """Raise :class:`InputError` unless ``value`` is a whole number from 0 on."""
    if type(value) is not int or value < 0:
        raise InputError(voice, "seed", found=value, expected="a whole number, 0 or more")


def levelled(samples: NDArray[np.float32], rate: int) -> NDArray[np.float32]:
    """Return ``samples`` with the RMS of its audible 10-ms frames at ``LEVEL``, or less where ``PEAK`` is met first.

    A frame is audible at 30 dB below the loudest or above. Silence is returned as it is.
    """
    size = max(1, ms(10) * rate // SECOND)
    frames = np.pad(samples, (0, -len(samples) % size)).reshape(-1, size).astype(np.float64)
    power = (frames**2).mean(axis=1)
    if not power.max(initial=0.0):
        return samples
    loudness = power[power >= power.max() * 10 ** (-30 / 10)].mean()
    gain = 10 ** (LEVEL / 20) / loudness**0.5
    gain = min(gain, 10 ** (PEAK / 20) / float(np.abs(samples).max()))
    even: NDArray[np.float32] = (samples * gain).astype(np.float32)
    return even


def as_spoken(
    text: str, samples: NDArray[np.float32], rate: int, words: Sequence[Word] | None = None, words_from: str = ""
) -> Spoken:
    """Return ``samples`` levelled, rounded to 16 bits and cut to what is audible, and its words with it.

    A word is cut at the edges; of one that falls outside, what is audible up to its neighbour. Raises
    :class:`InputError` where nothing sounds.
    """
    even = np.rint(levelled(samples, rate) * 32768).astype(np.float32) / np.float32(32768)
    if not (np.abs(even) > 10 ** (AUDIBLE / 20)).any():
        raise InputError("text", found=repr(printable(text, 60)), expected="words that this voice can speak")
    return audible(Spoken(even, rate, None if words is None else tuple(words), words_from))


def audible(spoken: Spoken) -> Spoken:
    """Return ``spoken`` from its first audible sample to its last, and its words with it; silence stays as it is.

    A word is cut at the edges; of one that falls outside, what is audible up to its neighbour.
    """
    loud = np.flatnonzero(np.abs(spoken.samples) > 10 ** (AUDIBLE / 20))
    if not len(loud):
        return spoken
    rate, first, last = spoken.rate, int(loud[0]), int(loud[-1]) + 1
    words = spoken.words
    if words is not None:
        words = tuple(_within(words, first * SECOND // rate, (last - first) * SECOND // rate))
    return Spoken(spoken.samples[first:last], rate, words, spoken.words_from)


def _within(words: Sequence[Word], begin: int, duration: int) -> list[Word]:
    """Return ``words`` with ``begin`` as their zero, inside ``[0, duration)``; none is lost."""
    placed: list[Word] = []
    following = duration
    for word in reversed(words):
        start = min(max(word.span.start - begin, 0), duration - 1)
        end = min(word.span.end - begin, duration)
        if end <= start:
            # It fell before the first sound, or shrank to nothing: what is left before its neighbour is its.
            end = max(start + 1, min(following, duration))
        placed.append(replace(word, span=Span(start, end)))
        following = start
    return placed[::-1]
