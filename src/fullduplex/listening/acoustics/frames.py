"""Where the frames of a contour lie, and the samples in them, as Praat places them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fullduplex.listening.acoustics.contour import Floats, Samples

Indices = NDArray[np.int64]

#: Frames that are analysed at once: what bounds the memory, however long the sound.
_BLOCK = 256


def centres(length: int, rate: int, *, window: float, step: float) -> Floats:
    """Return the centres, in seconds, of the frames of ``window`` seconds that fit into ``length`` samples.

    The frames are ``step`` seconds apart and lie symmetrically in the sound: what is left
    over is shared by both ends. None fits a sound shorter than ``window``.
    """
    # In this order, so that a frame that just fits does so here where it does in Praat.
    duration = length * (1 / rate)
    if window > duration:
        return np.zeros(0)
    count = int(np.floor((duration - window) / step)) + 1
    first = 0.5 * duration - 0.5 * (count * step) + 0.5 * step
    return first + np.arange(count, dtype=np.float64) * step


def blocks(times: Floats) -> Iterator[slice]:
    """Yield the frames in runs that are few enough to be analysed at once."""
    for start in range(0, len(times), _BLOCK):
        yield slice(start, min(start + _BLOCK, len(times)))


def sample_before(times: Floats, rate: int) -> Indices:
    """Return the last sample whose centre is not after each time; sample ``i`` is centred on ``(i + 1/2) / rate``."""
    return np.floor((times - 0.5 / rate) / (1 / rate)).astype(np.int64)


def sample_nearest(times: Floats, rate: int) -> Indices:
    """Return the sample whose centre is nearest to each time, the later one of two."""
    return np.floor((times - 0.5 / rate) / (1 / rate) + 0.5).astype(np.int64)


def stretches(samples: Samples, starts: Indices, length: int) -> Floats:
    """Return [starts, length] in float64: the samples from each start on, 0 beyond either end of the sound."""
    first, last = int(starts.min()), int(starts.max()) + length
    held = np.zeros(last - first)
    within = samples[max(first, 0) : max(last, 0)]
    held[max(-first, 0) : max(-first, 0) + len(within)] = within
    return np.asarray(np.lib.stride_tricks.sliding_window_view(held, length)[starts - first])


def local_means(samples: Samples, before: Indices, period: int) -> Floats:
    """Return [frames, 1]: the mean of the longest period on each side of each centre."""
    made: Floats = stretches(samples, before + 1 - period, 2 * period).mean(axis=1, keepdims=True)
    return made


def loudness(frames: Floats, period: int, peak: float) -> Floats:
    """Return how loud the middle of each frame is, at most 1: its peak within the longest period, over the sound's."""
    half, reach = frames.shape[1] // 2, period // 2 + 1
    middle = frames[:, max(half - reach, 0) : half + reach]
    made: Floats = np.minimum(np.abs(middle).max(axis=1) / peak, 1)
    return made


def peak_of(samples: Samples) -> float:
    """Return how far a sample of the sound lies from its mean, at most; 0 for no samples and for a constant."""
    if not len(samples):
        return 0.0
    mean = float(np.mean(samples, dtype=np.float64))
    return max(float(samples.max()) - mean, mean - float(samples.min()))
