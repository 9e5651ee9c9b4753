"""What effects share: samples, how loud speech is, where it is silent, and what an effect has made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from fullduplex.errors import InputError
from fullduplex.making.effects.members import Member
from fullduplex.model.items import Event
from fullduplex.model.spans import SECOND, Span, Timeline, ms

Samples = NDArray[np.float32]
#: Brings a recording by name, one voice at the rate of the audio it goes into.
Load = Callable[[str], Samples]

FRAME = ms(10)
#: A frame is audible within this of the loudest frame …
BELOW_LOUDEST = 30.0
#: Where the loudest frame is below this, in dB of full scale, nobody speaks.
FLOOR = -60.0
#: The level of the speech where nobody speaks, in dB of full scale: that of this package's voices.
UNSPOKEN = -23.0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Made:
    """What an effect made: samples, what it put where, and what a user should know."""

    samples: Samples
    events: tuple[Event, ...] = ()
    notes: tuple[str, ...] = ()


class Offline(Protocol):
    """An effect on samples that are at hand.

    ``adds``: :meth:`make` takes the speech and returns what is to be added to it. Otherwise it takes
    samples and returns them changed. Both have the length of what was given.
    """

    kind: ClassVar[str]
    live: ClassVar[bool]
    adds: ClassVar[bool]
    members: ClassVar[Mapping[str, Member]]

    def to_json(self) -> dict[str, Any]:
        """Return the effect as a JSON object."""
        ...

    def make(self, samples: Samples, rate: int, *, random: np.random.Generator, load: Load) -> Made:
        """Return what is to be added to ``samples`` (``adds``), or ``samples`` changed."""
        ...


def amplitude(level: float) -> float:
    """Return the factor of ``level`` dB."""
    return float(10 ** (level / 20))


def count(time: int, rate: int) -> int:
    """Return a time as a number of samples, to the nearest."""
    return (2 * time * rate + SECOND) // (2 * SECOND)


def audible(samples: Samples, rate: int) -> NDArray[np.bool_]:
    """Return for each 10-ms frame whether it is audible.

    Its RMS is within 30 dB of the loudest frame's. None is audible where the loudest is below -60 dB of full
    scale. The last frame is filled up with silence.
    """
    power = _powers(samples, rate)
    loudest = float(power.max(initial=0.0))
    if loudest < amplitude(FLOOR) ** 2:
        return np.zeros(len(power), np.bool_)
    loud: NDArray[np.bool_] = power >= loudest * amplitude(-BELOW_LOUDEST) ** 2
    return loud


def speech_level(samples: Samples, rate: int) -> float:
    """Return how loud the speech in ``samples`` is, as an RMS; full scale is 1.

    sqrt(mean of x² over the audible 10-ms frames): silences do not count. Where no frame is audible it is
    -23 dB of full scale, so that an item in which the user keeps silent gets the noise of the others.
    """
    power = _powers(samples, rate)[audible(samples, rate)]
    return float(power.mean()) ** 0.5 if len(power) else amplitude(UNSPOKEN)


def speech(samples: Samples, rate: int, *, bridge: int = ms(200)) -> Timeline:
    """Return when ``samples`` are audible; silences of ``bridge`` or shorter belong to the speech."""
    size = _size(rate)
    edges = np.flatnonzero(np.diff(audible(samples, rate), prepend=False, append=False))
    return Timeline(
        Span(int(start) * size * SECOND // rate, int(end) * size * SECOND // rate)
        for start, end in zip(edges[::2], edges[1::2], strict=True)
    ).bridge(bridge)


def rms(samples: NDArray[np.floating[Any]]) -> float:
    """Return the root of the mean square of all samples; 0 for none."""
    return float(np.mean(np.square(samples, dtype=np.float64))) ** 0.5 if len(samples) else 0.0


def at_full_scale(samples: Samples, name: str) -> Samples:
    """Return a recording with its greatest sample at full scale; raises :class:`InputError` on silence."""
    peak = float(np.abs(samples).max(initial=0.0))
    if not peak:
        raise InputError(name, found="silence", expected="a recording in which something sounds")
    return (samples / np.float32(peak)).astype(np.float32)


def fitted(samples: NDArray[np.floating[Any]], length: int) -> Samples:
    """Return ``samples`` cut or filled with silence to ``length``, as float32."""
    made = np.zeros(length, np.float32)
    made[: len(samples)] = samples[:length]
    return made


def faded(samples: Samples, rate: int, over: int = ms(10)) -> Samples:
    """Return ``samples`` with both ends faded over ``over``, so that a cut does not click."""
    size = min(count(over, rate), len(samples) // 2)
    ramp = (np.arange(size, dtype=np.float32) + 0.5) / max(1, size)
    made = samples.copy()
    made[:size] *= ramp
    made[len(made) - size :] *= ramp[::-1]
    return made


def span(first: int, length: int, rate: int) -> Span:
    """Return where ``length`` samples from ``first`` on lie in time."""
    start = first * SECOND // rate
    return Span(start, max(start + 1, (first + length) * SECOND // rate))


def _size(rate: int) -> int:
    return max(1, count(FRAME, rate))


def _powers(samples: Samples, rate: int) -> NDArray[np.float64]:
    size = _size(rate)
    padded = np.pad(samples, (0, -len(samples) % size)).reshape(-1, size)
    powers: NDArray[np.float64] = np.mean(np.square(padded, dtype=np.float64), axis=1)
    return powers
