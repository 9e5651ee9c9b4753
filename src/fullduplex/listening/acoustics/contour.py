"""A quantity of a voice over time, and the sound that one is measured in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.errors import InputError

Samples = NDArray[np.floating[Any]]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Contour:
    """One quantity of one voice, frame by frame.

    ``times`` are the centres of the frames, in seconds from the start of the first sample;
    ``values`` are as many numbers, NaN where the quantity is undefined (no pitch in an
    unvoiced frame). A sound shorter than one frame has an empty contour.
    """

    times: Floats
    values: Floats

    @property
    def defined(self) -> Floats:
        """Return the values of the frames that have one, in order."""
        return self.values[~np.isnan(self.values)]


def checked(samples: Samples, rate: int) -> Samples:
    """Return ``samples``: one voice, floating point, full scale 1.

    Raises :class:`InputError` on integers (their full scale is not 1), more than one
    channel, NaN or infinity, and a rate that is none.
    """
    if rate <= 0:
        raise InputError("samples", "rate", found=rate, expected="samples a second, more than 0")
    if not np.issubdtype(samples.dtype, np.floating):
        raise InputError("samples", found=f"{samples.dtype} samples", expected="floating point, full scale 1")
    if samples.ndim != 1:
        raise InputError("samples", found=f"an array of {samples.ndim} dimensions", expected="one voice: [frames]")
    # The extremes are NaN or infinite if any sample is, and take no memory.
    if len(samples) and not (np.isfinite(samples.min()) and np.isfinite(samples.max())):
        at = int(np.flatnonzero(~np.isfinite(samples))[0])
        raise InputError("samples", f"sample {at}", found="NaN or infinity", expected="finite samples")
    return samples


def positive(**options: float) -> None:
    """Raise :class:`InputError` that names the option which is not more than 0."""
    for name, value in options.items():
        if not (np.isfinite(value) and value > 0):
            raise InputError("acoustics", name, found=value, expected="a number more than 0")


def checked_floor(floor: float, rate: int) -> None:
    """Raise :class:`InputError` on a pitch floor that is none, or whose period is under 16 samples."""
    positive(floor=floor)
    if floor * 16 > rate:
        raise InputError("acoustics", "floor", found=f"{floor:g} Hz", expected=f"at most {rate / 16:g} Hz at this rate")
