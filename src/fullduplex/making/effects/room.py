"""Rooms: reverberation, and a speaker far from the microphone.

An impulse response here begins with the direct sound, at sample 0. What a room adds comes
after it, so no onset moves. The reverberation that outlasts the audio is cut with it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullduplex.errors import InputError
from fullduplex.making.effects.filters import convolved
from fullduplex.making.effects.members import AUDIO, SEED, Maybe, Member, Number, Time, as_json, check
from fullduplex.making.effects.sound import Load, Made, Samples, amplitude, count
from fullduplex.model.spans import SECOND, in_seconds, ms, seconds

#: No reflection comes sooner after the direct sound.
GAP = ms(1)
#: The tail is kept for this many times the reverberation time: down to 72 dB below its start.
_KEPT = 1.2
#: How far the mouth is from a microphone that is worn or held, in metres.
NEAR = 0.3


@dataclass(frozen=True, slots=True)
class Reverb:
    """The user in a room.

    Either ``t60``, the time in which the reverberation falls by 60 dB, with ``direct_to_reverberant``, the energy
    of the direct sound over that of all the rest in dB: Gaussian noise under an exponential decay stands for the room,
    alike at all frequencies. Or ``response``, a recorded impulse response: its greatest peak becomes sample 0 and 1;
    what lies before it is left out. The direct sound keeps its level.
    """

    t60: int | None = None
    direct_to_reverberant: float = 6.0
    response: str | None = None
    seed: int = 0

    kind: ClassVar[str] = "reverb"
    live: ClassVar[bool] = False
    adds: ClassVar[bool] = False
    members: ClassVar[Mapping[str, Member]] = {
        "t60": Maybe(Time(ms(20), seconds(20))),
        "direct_to_reverberant": Number(-30, 60, "dB"),
        "response": Maybe(AUDIO),
        "seed": SEED,
    }

    def __post_init__(self) -> None:
        check(self)
        if (self.t60 is None) == (self.response is None):
            found = "neither" if self.t60 is None else "both"
            raise InputError(self.kind, found=found, expected="either t60 or response")

    def to_json(self) -> dict[str, Any]:
        """Return the effect as a JSON object."""
        return as_json(self)

    def make(self, samples: Samples, rate: int, *, random: np.random.Generator, load: Load) -> Made:
        """Return the user in the room."""
        if self.response is not None:
            recorded = from_its_peak(load(self.response), self.response)
            return Made(convolved(samples, recorded).astype(np.float32))
        assert self.t60 is not None
        kernel = room(self.t60, self.direct_to_reverberant, rate, random)
        return Made(convolved(samples, kernel).astype(np.float32))


@dataclass(frozen=True, slots=True)
class FarField:
    """The user at ``distance`` metres from the microphone, in a room of ``volume`` cubic metres.

    The direct sound falls as 0.3 m / distance, from the level of a microphone that is held; the
    reverberation does not: direct to reverberant is 20 log10(critical distance / distance) dB, the critical distance
    being 0.057 √(volume / t60) metres (a source that radiates evenly, in a diffuse field). The time that the sound
    takes to travel is left out.
    """

    distance: float
    t60: int = ms(500)
    volume: float = 60.0
    seed: int = 0

    kind: ClassVar[str] = "far_field"
    live: ClassVar[bool] = False
    adds: ClassVar[bool] = False
    members: ClassVar[Mapping[str, Member]] = {
        "distance": Number(NEAR, 30, "m"),
        "t60": Time(ms(20), seconds(20)),
        "volume": Number(1, 100_000, "m³"),
        "seed": SEED,
    }

    def __post_init__(self) -> None:
        check(self)

    def to_json(self) -> dict[str, Any]:
        """Return the effect as a JSON object."""
        return as_json(self)

    @property
    def direct_to_reverberant(self) -> float:
        """Return the energy of the direct sound over that of the reverberation, in dB."""
        critical = 0.057 * math.sqrt(self.volume / in_seconds(self.t60))
        return 20 * math.log10(critical / self.distance)

    def make(self, samples: Samples, rate: int, *, random: np.random.Generator, load: Load) -> Made:
        """Return the user from afar."""
        kernel = room(self.t60, self.direct_to_reverberant, rate, random) * (NEAR / self.distance)
        return Made(convolved(samples, kernel).astype(np.float32))


def room(t60: int, direct_to_reverberant: float, rate: int, random: np.random.Generator) -> NDArray[np.float64]:
    """Return the impulse response of a room: 1 at sample 0, and from 1 ms on noise that falls by 60 dB in ``t60``.

    The energy of the noise is ``direct_to_reverberant`` dB below that of the direct sound.
    """
    gap = max(1, count(GAP, rate))
    length = max(1, round(_KEPT * t60 * rate / SECOND))
    decay = 10 ** (-3 * np.arange(length) * SECOND / (rate * t60))
    tail = random.standard_normal(length) * decay
    tail *= amplitude(-direct_to_reverberant) / np.sqrt(np.sum(tail**2))
    return np.concatenate([[1.0], np.zeros(gap - 1), tail])


def from_its_peak(response: Samples, name: str) -> Samples:
    """Return an impulse response from its greatest peak on, which becomes 1 (or -1); raises :class:`InputError`."""
    peak = int(np.argmax(np.abs(response))) if len(response) else 0
    if not len(response) or not response[peak]:
        raise InputError(name, found="silence", expected="an impulse response")
    aligned: Samples = response[peak:] / np.abs(response[peak])
    return aligned
