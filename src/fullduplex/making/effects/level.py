"""Louder, softer, and too loud."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fullduplex.making.effects.members import Member, Number, as_json, check
from fullduplex.making.effects.sound import Load, Made, Samples, amplitude


@dataclass(frozen=True, slots=True)
class Gain:
    """Everything ``level`` dB louder, or softer where it is negative."""

    level: float

    kind: ClassVar[str] = "gain"
    live: ClassVar[bool] = False
    adds: ClassVar[bool] = False
    members: ClassVar[Mapping[str, Member]] = {"level": Number(-60, 60, "dB")}

    def __post_init__(self) -> None:
        check(self)

    def to_json(self) -> dict[str, Any]:
        """Return the effect as a JSON object."""
        return as_json(self)

    def make(self, samples: Samples, rate: int, *, random: np.random.Generator, load: Load) -> Made:
        """Return the samples, louder or softer."""
        with np.errstate(over="ignore"):  # whoever made it too loud is told once, by what is no number
            return Made((samples * np.float32(amplitude(self.level))).astype(np.float32))


@dataclass(frozen=True, slots=True)
class Clipping:
    """An input that cannot take more: ``gain`` dB louder, then cut off at ``level`` dB of full scale, on both sides.

    A note tells which share of the samples was cut off, since an input that is soft enough passes unchanged.
    """

    level: float = 0.0
    gain: float = 0.0

    kind: ClassVar[str] = "clipping"
    live: ClassVar[bool] = False
    adds: ClassVar[bool] = False
    members: ClassVar[Mapping[str, Member]] = {
        "level": Number(-60, 0, "dB of full scale"),
        "gain": Number(-60, 60, "dB"),
    }

    def __post_init__(self) -> None:
        check(self)

    def to_json(self) -> dict[str, Any]:
        """Return the effect as a JSON object."""
        return as_json(self)

    def make(self, samples: Samples, rate: int, *, random: np.random.Generator, load: Load) -> Made:
        """Return the samples, cut off."""
        most = np.float32(amplitude(self.level))
        with np.errstate(over="ignore"):
            loud = samples * np.float32(amplitude(self.gain))
        cut = int(np.count_nonzero(np.abs(loud) > most))
        note = f"clipping: {cut:,} of {len(samples):,} samples were cut off"
        return Made(np.clip(loud, -most, most).astype(np.float32), notes=(note,))
