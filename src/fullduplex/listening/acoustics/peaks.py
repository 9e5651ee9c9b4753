"""The peaks of a correlation: where it is greatest between its samples, and how great.

Source: P. Boersma, "Accurate short-term analysis of the fundamental frequency and the
harmonics-to-noise ratio of a sampled sound" (1993): sinc interpolation under a raised cosine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullduplex.listening.acoustics.contour import Floats

#: Where a peak is looked for, in samples from the greatest one, and the samples on each side that are used for it.
_GRID = np.linspace(-1, 1, 11)
_SEARCH_DEPTH = 10
#: Samples on each side that it is then placed from, and the half width of the parabola that places it.
_PLACING_DEPTH = 30
_CLOSE = 0.1
#: A rise under this is no peak. A constant correlates with itself at every lag, so rounding alone would find
#: perfect harmonics in the digital silence beside speech.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Peaks:
    """Peaks of the correlations of several frames; one number of each for every peak, in the order of frames and lags.

    ``frame`` counts the rows; ``sample`` is the lag, in samples, of the greatest sampled
    value; ``lag`` is where the peak lies between the samples, ``height`` its value there,
    at most 1 (a value over 1, which only interpolation gives, is inverted).
    """

    frame: NDArray[np.int64]
    sample: NDArray[np.int64]
    lag: Floats
    height: Floats

    def where(self, keep: NDArray[np.bool_] | NDArray[np.int64]) -> Peaks:
        """Return some of the peaks."""
        return Peaks(self.frame[keep], self.sample[keep], self.lag[keep], self.height[keep])


def peaks(correlations: Floats, *, above: float, before: int) -> Peaks:
    """Return the peaks of [frames, lags], lags from 0, that are over ``above`` at a lag from 2 to under ``before``.

    A peak is a sample greater than the one before, by more than rounding, and no less than
    the one after; the parabola through the three places it and gives its height.
    """
    before = max(2, min(before, correlations.shape[1] - 1))
    here, left, right = (correlations[:, 2 + by : before + by] for by in (0, -1, 1))
    frame, at = np.nonzero((here > above) & (here > left + _ROUNDING) & (here >= right))
    top = here[frame, at]
    move, rise = _vertex(left[frame, at], top, right[frame, at])
    return Peaks(frame, at + 2, at + 2 + move, _at_most_one(top + rise))


def strongest(found: Peaks, count: int, rank: Floats) -> Peaks:
    """Return, in their order, the ``count`` peaks of each frame that have the highest ``rank``."""
    if not len(found.frame) or np.bincount(found.frame).max() <= count:
        return found
    order = np.lexsort((-rank, found.frame))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) - np.searchsorted(found.frame, found.frame[order])
    return found.where(place < count)


def interpolated(correlations: Floats, found: Peaks, *, depth: int) -> Peaks:
    """Return the peaks where they are, their heights interpolated from ``depth`` samples a side."""
    height = _Around(correlations, found, depth).value(found.lag)
    return Peaks(found.frame, found.sample, found.lag, _at_most_one(height))


def roughly(correlations: Floats, found: Peaks) -> Peaks:
    """Return the peaks placed within about 0.05 samples, on a coarse grid interpolated from 10 samples a side."""
    apart = _GRID[:, None] - np.arange(-_SEARCH_DEPTH, _SEARCH_DEPTH + 1)
    weights = np.sinc(apart) * np.cos(0.5 * np.pi * np.clip(apart / (_SEARCH_DEPTH + 1), -1, 1)) ** 2
    lags = np.abs(found.sample[:, None] + np.arange(-_SEARCH_DEPTH, _SEARCH_DEPTH + 1))
    values = correlations[found.frame[:, None], np.minimum(lags, correlations.shape[1] - 1)] @ weights.T
    rows = np.arange(len(values))
    best = np.clip(values.argmax(axis=1), 1, len(_GRID) - 2)
    move, rise = _vertex(*(values[rows, best + by] for by in (-1, 0, 1)))
    lag = found.sample + _GRID[best] + move * (_GRID[1] - _GRID[0])
    return Peaks(found.frame, found.sample, lag, _at_most_one(values[rows, best] + rise))


def refined(correlations: Floats, found: Peaks, *, depth: int) -> Peaks:
    """Return the peaks, roughly placed, at the maximum of the interpolation, within a sample of the greatest one.

    Placed by the interpolation from 30 samples a side, and as high there as that from ``depth``
    samples a side: a peak is flat, so its height needs the samples more than its place does.
    """
    lag = np.clip(found.lag, found.sample - 1 + _CLOSE, found.sample + 1 - _CLOSE)
    around = _Around(correlations, found, _PLACING_DEPTH)
    move, _ = _vertex(*(around.value(lag + by) for by in (-_CLOSE, 0.0, _CLOSE)))
    return interpolated(correlations, Peaks(found.frame, found.sample, lag + move * _CLOSE, found.height), depth=depth)


def _vertex(before: Floats, top: Floats, after: Floats) -> tuple[Floats, Floats]:
    """Return where the parabola through three values, one apart, is highest, from the middle one, and how much higher.

    At most one away; where it has no maximum, the middle.
    """
    slope, bend = 0.5 * (after - before), 2 * top - before - after
    has_maximum = bend > 0
    move = np.clip(np.where(has_maximum, slope, 0) / np.where(has_maximum, bend, 1), -1, 1)
    return move, move * (slope - 0.5 * bend * move)


def _at_most_one(height: Floats) -> Floats:
    return np.where(height > 1, 1 / np.maximum(height, 1), height)


def _linear(distance: Floats) -> Floats:
    """Return the weights of the two samples around a point."""
    made: Floats = np.maximum(1 - np.abs(distance), 0)
    return made


def _cubic(distance: Floats) -> Floats:
    """Return the weights of four samples around a point: a cubic with the slopes of their neighbours."""
    d = np.minimum(np.abs(distance), 2)
    return np.where(d <= 1, (1.5 * d - 2.5) * d**2 + 1, ((-0.5 * d + 2.5) * d - 4) * d + 2)


class _Around:
    """The samples around each peak, to interpolate between: a correlation is even, so lags below 0 are known too.

    Where the last lag is nearer than ``depth`` samples, the interpolation is that much
    narrower on both sides; two samples a side make a cubic, one a line.
    """

    def __init__(self, correlations: Floats, found: Peaks, depth: int) -> None:
        last = correlations.shape[1] - 1
        depth = min(depth, last)
        self._sample, self._last, self._depth = found.sample, last, depth
        self._offsets = np.arange(-depth, depth + 1)
        lags = np.minimum(np.abs(found.sample[:, None] + self._offsets), last)
        self._values = correlations[found.frame[:, None], lags]
        self._signs = np.where(self._offsets % 2, -1.0, 1.0)

    def value(self, lag: Floats) -> Floats:
        """Return the interpolated correlation at each peak's ``lag``, within one sample of the peak's."""
        floor = np.floor(lag)
        depth = np.clip(self._last - floor, 1, self._depth)[:, None]
        past = (lag - floor)[:, None]
        shift = (lag - self._sample)[:, None]
        distance = shift - self._offsets
        reach = np.where(distance >= 0, past, 1 - past) + depth
        angle = np.minimum(np.abs(distance) / reach, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            sinc = np.sin(np.pi * shift) * self._signs / (np.pi * distance)
        sinc[distance == 0] = 1
        weights = sinc * (0.5 + 0.5 * np.cos(np.pi * angle))
        few = np.flatnonzero(depth <= 2)
        if len(few):
            weights[few] = np.where(depth[few] < 2, _linear(distance[few]), _cubic(distance[few]))
        made: Floats = np.einsum("ij,ij->i", weights, self._values)
        return made
