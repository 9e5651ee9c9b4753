"""What every recogniser does before and after: the rate it needs, pieces around speech, words in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor
from typing import NamedTuple

from fullduplex.errors import InputError
from fullduplex.listening.recognisers import Samples
from fullduplex.model.speech import Token

RATE = 16_000


class Placed(NamedTuple):
    """A word with its times in seconds, how sure the recogniser is (None: it does not say), and if it was aligned."""

    text: str
    start: float
    end: float
    confidence: float | None = None
    aligned: bool = False


def check_language(name: str, language: str, known: Sequence[str]) -> None:
    """Raise :class:`InputError` where a recogniser does not know the language."""
    if language not in known:
        shown = ", ".join(known) if len(known) <= 8 else f"one of its {len(known)}"
        raise InputError(name, "language", found=language, expected=shown)


def at_16_khz(samples: Samples, rate: int) -> Samples:
    """Return one voice at 16 kHz; raises :class:`InputError` where it is not one voice."""
    if samples.ndim != 1:
        raise InputError("audio", found=f"{samples.shape[-1]} channels", expected="one voice")
    from fullduplex.data.audio import resample

    return samples if rate == RATE or not len(samples) else resample(samples, rate, RATE)


def around_speech(samples: Samples, *, longest: float = 28.0, silence: float = 1.0) -> list[tuple[int, int]]:
    """Return the pieces of 16 kHz audio in which somebody speaks, as sample spans.

    Speech with silences shorter than ``silence`` seconds between is one piece, with 0.2 s before and after
    it; a piece over ``longest`` seconds is cut at its longest silence. Recognisers get
    only these: on silence, Whisper invents words. Uses the Silero model that
    faster-whisper carries.
    """
    from faster_whisper.vad import VadOptions, get_speech_timestamps

    if not samples.any():
        return []
    options = VadOptions(
        threshold=0.5,
        min_speech_duration_ms=60,
        max_speech_duration_s=longest,
        min_silence_duration_ms=round(1000 * silence),
        speech_pad_ms=200,
    )
    return [(int(found["start"]), int(found["end"])) for found in get_speech_timestamps(samples, options)]


def in_order(words: Iterable[Placed], duration: float) -> list[Placed]:
    """Return words within [0, ``duration``], each starting no earlier than the one before and ending before the next.

    Words without a letter or digit (a lone dash or dots) are left out: they are nothing
    that was said.
    """
    # Times have four digits; the last one inside the recording is found by cutting, not by rounding.
    last = floor(duration * 10_000) / 10_000
    found: list[Placed] = []
    for word in words:
        text = word.text.strip()
        if not any(character.isalnum() for character in text):
            continue
        earliest = found[-1].start if found else 0.0
        start = round(float(min(max(word.start, earliest), last)), 4)
        end = round(float(min(max(word.end, start), last)), 4)
        if found and found[-1].end > start:
            found[-1] = found[-1]._replace(end=start)
        found.append(word._replace(text=text, start=start, end=end))
    return found


def tokens_of(words: Iterable[Placed]) -> tuple[Token, ...]:
    """Return the words as a file has them."""
    return tuple(Token(word.text, word.start, word.end) for word in words)
