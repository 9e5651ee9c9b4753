"""A turn of a script is spoken: each phrase by itself, without silence around it, and where its words sound.

A pause is made *at a word*: a voice that knows its words says the turn in one breath, and is cut between the two
words, so that the melody before the pause is the sentence's own. Other voices say each phrase by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.data import audio
from fullduplex.errors import InputError
from fullduplex.listening.recognisers import Recogniser
from fullduplex.making.joining import at_rate
from fullduplex.making.processed import shouted, whispered
from fullduplex.making.script import Phrase, Turn
from fullduplex.model.spans import SECOND, Span, ms, seconds
from fullduplex.model.speech import Word
from fullduplex.providers.voices import Spoken, Voice, as_spoken, audible

#: A cut fades over this long on both its sides, and is looked for this far from where two words meet.
_FADE, _AROUND = ms(5), ms(10)
#: A clip that is nowhere louder than this, in dB of full scale, holds no voice.
SOFTEST = -70.0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Said:
    """A phrase as it was said: at the item's rate, audible from its first sample to its last.

    ``spoken.words_from`` is ``synthesiser``, ``recogniser NAME``, or empty where nothing places its words. ``cut``:
    it was said in one breath with its neighbours.
    """

    phrase: Phrase
    spoken: Spoken
    voice: dict[str, Any] | None
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who says a dialogue's turns, and how.

    ``voice_of`` gives the voice of a phrase, ``clips`` is the folder of the recordings, ``recogniser`` places
    the words of what has no times (None: they stay without), ``seed`` draws the noise of whispers.
    """

    voice_of: Callable[[Phrase], Voice]
    clips: Path
    rate: int
    language: str = "en"
    recogniser: Recogniser | None = None
    seed: int = 0

    def say(self, turn: Turn) -> list[Said]:
        """Return each phrase of ``turn`` as it was said; raises :class:`InputError` where one cannot be."""
        said = list[Said]()
        for (clip, _), run in groupby(turn.phrases, key=lambda phrase: (phrase.clip, phrase.voice)):
            phrases = list(run)
            said += map(self._recorded, phrases) if clip else self._spoken(phrases)
        return said

    def _recorded(self, phrase: Phrase) -> Said:
        samples, rate = audio.read(self.clips / phrase.clip)
        loudest = float(np.abs(samples).max())
        if loudest <= 10 ** (SOFTEST / 20):
            # Made as loud as a voice, it would be its own noise.
            raise InputError(
                self.clips / phrase.clip, found=f"nothing above {SOFTEST:g} dB of full scale", expected="a voice"
            )
        return self._finished(phrase, as_spoken(phrase.clip, samples, rate), None, cut=False)

    def _spoken(self, phrases: Sequence[Phrase]) -> Iterator[Said]:
        voice = self.voice_of(phrases[0])
        spec = voice.spec.to_json()
        whole = voice.speak(" ".join(phrase.text for phrase in phrases)) if len(phrases) > 1 else None
        parts = None if whole is None else cut_between(whole, [phrase.text for phrase in phrases])
        for at, phrase in enumerate(phrases):
            one = parts[at] if parts else voice.speak(phrase.text)
            yield self._finished(phrase, one, spec, cut=parts is not None)

    def _finished(self, phrase: Phrase, spoken: Spoken, voice: dict[str, Any] | None, *, cut: bool) -> Said:
        if phrase.style:
            samples, rate = spoken.samples, spoken.rate
            other = whispered(samples, rate, self.seed) if phrase.style == "whispered" else shouted(samples, rate)
            spoken = audible(Spoken(other, rate, spoken.words, spoken.words_from))
        # Resampling moves the first and the last audible sample.
        spoken = audible(at_rate(spoken, self.rate))
        if spoken.words is None and self.recogniser is not None:
            spoken = with_words_heard(spoken, phrase.text, self.recogniser, self.language)
        return Said(phrase, spoken, voice, cut)


def with_words_heard(spoken: Spoken, text: str, recogniser: Recogniser, language: str) -> Spoken:
    """Return ``spoken`` with its words where the recogniser hears them: those of ``text`` if it hears as many.

    Where it hears none, they stay without a place.
    """
    heard = recogniser.recognise(spoken.samples, spoken.rate, language).tokens
    found = list[Word]()
    for token in heard:
        if token.start is None or token.end is None:
            continue
        start, end = max(0, seconds(token.start)), min(seconds(token.end), spoken.duration)
        if end > start:
            found.append(Word(token.text, Span(start, end)))
    if not found:
        return spoken
    written = text.split()
    if len(written) == len(found):
        found = [Word(word, one.span) for word, one in zip(written, found, strict=True)]
    return Spoken(spoken.samples, spoken.rate, tuple(found), f"recogniser {recogniser.spec.name}")


def cut_between(spoken: Spoken, phrases: Sequence[str]) -> list[Spoken] | None:
    """Return ``spoken`` cut where one of ``phrases`` ends and the next begins, each part audible at both its ends.

    The cut lies where it is quietest around the meeting of the two words, and fades on both sides.
    None where the words are not placed, or do not end where the phrases do.
    """
    words = spoken.words
    ends = None if words is None else _last_words(words, phrases)
    if words is None or ends is None:
        return None
    parts, first, begin = list[Spoken](), 0, 0
    for last in [*ends, len(words) - 1]:
        until = len(spoken.samples) if last == len(words) - 1 else _quietest(spoken, words[last], words[last + 1])
        samples = _faded(
            spoken.samples[begin:until], spoken.rate, at_start=begin > 0, at_end=until < len(spoken.samples)
        )
        own = [
            _inside(word, begin * SECOND // spoken.rate, until * SECOND // spoken.rate)
            for word in words[first : last + 1]
        ]
        parts.append(audible(Spoken(samples, spoken.rate, tuple(own), spoken.words_from)))
        first, begin = last + 1, until
    return parts if all(len(part.samples) for part in parts) else None


def _last_words(words: Sequence[Word], phrases: Sequence[str]) -> list[int] | None:
    """Return the index of the last word of each phrase but the last, told by counting letters and digits."""
    lengths = np.cumsum([_letters(word.text) for word in words]).tolist()
    ends, at = list[int](), 0
    for phrase in phrases[:-1]:
        at += _letters(phrase)
        if at not in lengths:
            return None
        ends.append(lengths.index(at))
    distinct = len(set(ends)) == len(ends) and (not ends or ends[-1] < len(words) - 1)
    return ends if distinct and lengths[-1] == at + _letters(phrases[-1]) else None


def _letters(text: str) -> int:
    return sum(c.isalnum() for c in text)


def _quietest(spoken: Spoken, before: Word, after: Word) -> int:
    rate = spoken.rate
    low = max(before.span.start, min(before.span.end, after.span.start) - _AROUND)
    high = min(after.span.end, max(before.span.end, after.span.start) + _AROUND)
    size = 2 * _FADE * rate // SECOND
    first, last = low * rate // SECOND, max(high * rate // SECOND, low * rate // SECOND + size + 1)
    energy = np.convolve(spoken.samples[first:last].astype(np.float64) ** 2, np.ones(size), "valid")
    return first + int(np.argmin(energy)) + size // 2


def _faded(samples: Any, rate: int, *, at_start: bool, at_end: bool) -> Any:
    size = min(_FADE * rate // SECOND, len(samples))
    ramp = np.linspace(0, 1, size + 2, dtype=np.float32)[1:-1]
    made = samples.copy()
    if at_start:
        made[:size] *= ramp
    if at_end:
        made[len(made) - size :] *= ramp[::-1]
    return made


def _inside(word: Word, begin: int, until: int) -> Word:
    """Return ``word`` inside the part ``[begin, until)``, counted from its begin."""
    start = min(max(word.span.start, begin), until - 1)
    return Word(word.text, Span(start, max(start + 1, min(word.span.end, until))).shift(-begin))
