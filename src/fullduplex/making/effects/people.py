"""Other people near the user: a voice in the background, and the user or a bystander who speaks to somebody else.

Full-Duplex-Bench v1.5 simulates both; its figures are the defaults. The level is that of the direct
sound before the room colours it, in dB from the user's own speech level.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fullduplex.errors import InputError
from fullduplex.making.effects.filters import Taps, centred, high_shelf, low_pass
from fullduplex.making.effects.members import (
    AUDIO,
    FREQUENCY,
    LEVEL,
    Flag,
    Maybe,
    Member,
    Row,
    Several,
    Time,
    as_json,
    check,
)
from fullduplex.making.effects.sound import Load, Made, Samples, amplitude, at_full_scale, count, span, speech_level
from fullduplex.model.items import Event
from fullduplex.model.spans import SECOND, ms, seconds

Reflections = tuple[tuple[int, float], ...]
_REFLECTIONS = Several(Row((Time(1, seconds(2)), LEVEL), "a delay in seconds and a level in dB"), 32)
#: An item does not last a day.
WHEN = Time(0, seconds(86_400))


@dataclass(frozen=True, slots=True)
class Background:
    """Speech in the background: somebody else's talk, a television.

    ``audio`` names the recording; it begins at ``at`` and sounds ``level`` dB from the user's speech, without
    what lies above ``low_pass`` Hz, with ``reflections`` (a delay and a level below the direct sound each).
    ``repeat``: it goes round to the end of the audio. What outlasts the audio is cut.
    """

    audio: str
    level: float = -15.0
    at: int = 0
    low_pass: float | None = 3_000.0
    reflections: Reflections = ((ms(100), -10.0),)
    repeat: bool = False

    kind: ClassVar[str] = "background"
    live: ClassVar[bool] = False
    adds: ClassVar[bool] = True
    members: ClassVar[Mapping[str, Member]] = {
        "audio": AUDIO,
        "level": LEVEL,
        "at": WHEN,
        "low_pass": Maybe(FREQUENCY),
        "reflections": _REFLECTIONS,
        "repeat": Flag(),
    }

    def __post_init__(self) -> None:
        check(self)

    def to_json(self) -> dict[str, Any]:
        """Return the effect as a JSON object."""
        return as_json(self)

    def make(self, samples: Samples, rate: int, *, random: np.random.Generator, load: Load) -> Made:
        """Return the voice, and an event ``background`` where it is heard."""
        taps = np.ones(1) if self.low_pass is None else low_pass(self.low_pass, rate)
        return _placed(self, load(self.audio), taps, samples, rate, repeat=self.repeat)


@dataclass(frozen=True, slots=True)
class OtherDirected:
    """Speech that is meant for somebody else: the user turns away and talks to a third person.

    ``audio`` names the recording; it begins at ``at`` and sounds ``level`` dB from the user's speech,
    ``shelf`` dB softer above ``shelf_from`` Hz, as a mouth that is turned away does, with ``reflections``.
    """

    audio: str
    at: int = 0
    level: float = -8.0
    shelf: float = -5.0
    shelf_from: float = 4_000.0
    reflections: Reflections = ((ms(45), -6.0), (ms(120), -12.0))

    kind: ClassVar[str] = "other_directed"
    live: ClassVar[bool] = False
    adds: ClassVar[bool] = True
    members: ClassVar[Mapping[str, Member]] = {
        "audio": AUDIO,
        "at": WHEN,
        "level": LEVEL,
        "shelf": LEVEL,
        "shelf_from": FREQUENCY,
        "reflections": _REFLECTIONS,
    }

    def __post_init__(self) -> None:
        check(self)

    def to_json(self) -> dict[str, Any]:
        """Return the effect as a JSON object."""
        return as_json(self)

    def make(self, samples: Samples, rate: int, *, random: np.random.Generator, load: Load) -> Made:
        """Return the voice, and an event ``other_directed`` where it is heard."""
        taps = high_shelf(self.shelf, self.shelf_from, rate)
        return _placed(self, load(self.audio), taps, samples, rate)


def reflected(samples: Samples, rate: int, reflections: Reflections) -> Samples:
    """Return ``samples`` with each reflection added, longer by the latest of them."""
    delays = [count(delay, rate) for delay, _ in reflections]
    made = np.zeros(len(samples) + max(delays, default=0), np.float32)
    made[: len(samples)] += samples
    for late, (_, level) in zip(delays, reflections, strict=True):
        made[late : late + len(samples)] += samples * np.float32(amplitude(level))
    return made


def _placed(
    effect: Background | OtherDirected, voice: Samples, taps: Taps, samples: Samples, rate: int, *, repeat: bool = False
) -> Made:
    first = count(effect.at, rate)
    room = len(samples) - first
    if room <= 0:
        found = f"{effect.at / SECOND:g} s, in audio of {len(samples) / rate:g} s"
        raise InputError(effect.kind, "at", found=found, expected="a time within the audio")
    voice = at_full_scale(voice, effect.audio)
    level = speech_level(samples, rate) * amplitude(effect.level) / speech_level(voice, rate)
    if repeat:
        voice = np.resize(voice, room)
    notes = (f"{effect.kind}: cut off where the audio ends",) if len(voice) > room else ()
    voice = voice[:room]
    direct = (centred(voice, taps) * level).astype(np.float32)
    sound = reflected(direct, rate, effect.reflections)[:room]
    made = np.zeros(len(samples), np.float32)
    made[first : first + len(sound)] = sound
    event = Event(effect.kind, span(first, len(voice), rate), source=f"effect {effect.kind}")
    return Made(made, (event,), notes)
