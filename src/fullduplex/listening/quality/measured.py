"""What every measure of a sound's quality gives back, and what it takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullduplex.data.audio import resample
from fullduplex.errors import InputError

Samples = NDArray[np.float32]


class Measured(NamedTuple):
    """Numbers by name, and for each that is missing why: a name stands in one of the two."""

    values: dict[str, float]
    absent: dict[str, str]

    @classmethod
    def none(cls, names: Iterable[str], why: str) -> Measured:
        """Return that every one of ``names`` is missing, for one reason."""
        return cls({}, dict.fromkeys(names, why))

    def under(self, prefix: str) -> Measured:
        """Return the same with ``prefix_`` before every name."""
        return Measured(
            {f"{prefix}_{name}": value for name, value in self.values.items()},
            {f"{prefix}_{name}": why for name, why in self.absent.items()},
        )


def one_voice(samples: NDArray[np.floating[Any]], rate: int, what: str = "samples") -> Samples:
    """Return ``samples`` as float32; raises :class:`InputError` unless they are one finite voice at a rate above 0."""
    if samples.ndim != 1:
        raise InputError(what, found=f"an array of {samples.ndim} dimensions", expected="one voice; choose a channel")
    if rate <= 0:
        raise InputError(what, "rate", found=f"{rate} Hz", expected="a rate above 0")
    voice = np.ascontiguousarray(samples, np.float32)
    if not np.isfinite(voice).all():
        raise InputError(what, found="NaN or infinity", expected="finite samples")
    return voice


def at_rate(samples: Samples, rate: int, wanted: int) -> Samples:
    """Return ``samples`` resampled from ``rate`` to ``wanted`` and clipped to full scale, as a loudspeaker would."""
    return np.clip(resample(samples, rate, wanted), -1, 1)
