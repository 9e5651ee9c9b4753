"""Coughs, tics and bursts of noise, at stated times or drawn at a rate, in the user's silences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fullduplex.errors import InputError
from fullduplex.making.effects.members import (
    AUDIO,
    LEVEL,
    SEED,
    Flag,
    Maybe,
    Member,
    Name,
    Number,
    Several,
    as_json,
    check,
)
from fullduplex.making.effects.people import WHEN
from fullduplex.making.effects.recipes import RECIPES
from fullduplex.making.effects.sound import (
    Load,
    Made,
    Samples,
    amplitude,
    at_full_scale,
    count,
    faded,
    span,
    speech,
    speech_level,
)
from fullduplex.model.items import Event
from fullduplex.model.spans import Span, Timeline, in_seconds, ms

#: A drawn sound keeps this far from the user's words and from the next sound.
MARGIN = ms(100)


@dataclass(frozen=True, slots=True)
class Sounds:
    """Sounds that a user makes, or that happen around, and that are no words.

    ``sound``: ``cough``, ``throat`` (cleared), ``sniff``, ``click`` (of the tongue), ``tic`` (any of the three before
    it) or ``burst`` (of noise), all synthesised; with ``audio``, names of recordings to draw from, it is any name.
    Either ``at``, when each begins, or ``rate``, how many are drawn in a minute of audio on average (Poisson).
    ``level`` in dB from the user's speech, each drawn evenly within ``spread`` of it. None touches the user's
    words, unless ``over_speech``: then they fall anywhere.
    """

    sound: str
    audio: tuple[str, ...] = ()
    at: tuple[int, ...] | None = None
    rate: float | None = None
    level: float = 0.0
    spread: float = 0.0
    over_speech: bool = False
    seed: int = 0

    kind: ClassVar[str] = "sounds"
    live: ClassVar[bool] = False
    adds: ClassVar[bool] = True
    members: ClassVar[Mapping[str, Member]] = {
        "sound": Name("a sound", 60),
        "audio": Several(AUDIO),
        "at": Maybe(Several(WHEN)),
        "rate": Maybe(Number(0, 120, "a minute")),
        "level": LEVEL,
        "spread": Number(0, 60, "dB"),
        "over_speech": Flag(),
        "seed": SEED,
    }

    def __post_init__(self) -> None:
        check(self)
        if not self.sound.replace("-", "_").isidentifier():
            raise InputError(self.kind, "sound", found=repr(self.sound), expected="one word of letters and digits")
        if not self.audio and self.sound not in RECIPES:
            expected = f"one of {', '.join(RECIPES)}, or recordings in audio"
            raise InputError(self.kind, "sound", found=repr(self.sound), expected=expected)
        if (self.at is None) == (self.rate is None):
            found = "neither" if self.at is None else "both"
            raise InputError(self.kind, found=found, expected="either at or rate")

    def to_json(self) -> dict[str, Any]:
        """Return the effect as a JSON object."""
        return as_json(self)

    def make(self, samples: Samples, rate: int, *, random: np.random.Generator, load: Load) -> Made:
        """Return the sounds, an event of the name ``sound`` for each, and a note where one was cut or found no place.

        Raises :class:`InputError` where a stated time is past the end, or in the user's words without ``over_speech``.
        """
        made, events = np.zeros(len(samples), np.float32), list[Event]()
        level = speech_level(samples, rate)
        words = Timeline() if self.over_speech else speech(samples, rate)
        whole = span(0, len(samples), rate)
        minutes = in_seconds(whole.duration) / 60
        wanted = len(self.at) if self.at is not None else int(random.poisson((self.rate or 0.0) * minutes))
        taken, cut = _wider(words), 0
        for number in range(wanted):
            sound, name = self._one(rate, random, load)
            loud = level * amplitude(self.level + self.spread * random.uniform(-1, 1)) / speech_level(sound, rate)
            if self.at is not None:
                first = self._stated(number, len(sound), words, whole, rate)
            else:
                drawn = _place(taken.gaps(whole), span(0, len(sound), rate).duration, random)
                if drawn is None:
                    continue
                first = count(drawn, rate)
            kept = sound[: len(samples) - first]
            cut += len(kept) < len(sound)
            made[first : first + len(kept)] += kept * np.float32(loud)
            events.append(Event(self.sound, span(first, len(kept), rate), source=f"effect sounds, {name}"))
            taken |= _wider([events[-1].span])
        notes = [f"sounds: {cut} of {wanted} cut off where the audio ends"] * (cut > 0)
        left = wanted - len(events)
        notes += [f"sounds: {left} of {wanted} found no silence that is long enough"] * (left > 0)
        return Made(made, tuple(events), tuple(notes))

    def _one(self, rate: int, random: np.random.Generator, load: Load) -> tuple[Samples, str]:
        """Return one sound, and where it is from."""
        if not self.audio:
            made = RECIPES[self.sound](rate, random).astype(np.float32)
            return faded(at_full_scale(made, self.sound), rate, ms(1)), "synthesised"
        name = self.audio[int(random.integers(len(self.audio)))]
        return at_full_scale(load(name), name), name

    def _stated(self, number: int, length: int, words: Timeline, whole: Span, rate: int) -> int:
        assert self.at is not None
        time = self.at[number]
        field = f"at[{number}]"
        if time >= whole.end:
            expected = f"a time within the audio, {in_seconds(whole.end):g} s"
            raise InputError(self.kind, field, found=f"{in_seconds(time):g} s", expected=expected)
        first = count(time, rate)
        if words.within(span(first, length, rate)):
            found = f"{in_seconds(time):g} s, where the user speaks before the sound is over"
            raise InputError(self.kind, field, found=found, expected="a silence", do="or give over_speech")
        return first


def _wider(spans: Timeline | list[Span]) -> Timeline:
    return Timeline(Span(one.start - MARGIN, one.end + MARGIN) for one in spans)


def _place(gaps: Timeline, duration: int, random: np.random.Generator) -> int | None:
    """Return a start at which ``duration`` fits into a gap, each such start as likely; None where there is none."""
    starts = [(gap.start, gap.duration - duration + 1) for gap in gaps if gap.duration >= duration]
    if not starts:
        return None
    drawn = int(random.integers(sum(many for _, many in starts)))
    for start, many in starts:
        if drawn < many:
            return start + drawn
        drawn -= many
    raise AssertionError("a draw lies within the sum")
