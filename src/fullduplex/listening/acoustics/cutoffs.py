"""Sudden cut-offs: speech that breaks off instead of ending."""

from __future__ import annotations

import numpy as np

from fullduplex.listening.acoustics.contour import Samples, checked

_FRAME_MS = 30
#: Frames whose levels tell the background, the present one included.
_HISTORY = 30
#: What a frame of digital silence has as RMS, so that it has a level: -200 dB.
_LEAST = 1e-10


def cutoffs(samples: Samples, rate: int, *, drop_db: float = 18.0, above_background_db: float = 6.0) -> int:
    """Return how often the level drops by ``drop_db`` or more from one frame of 30 ms to the next.

    A drop counts only from a frame at least ``above_background_db`` above the background,
    the 10th percentile of the levels of up to 30 frames: the second of the sound at the earliest, the quieter one
    of the drop at the latest. So the end of half a second of even loudness is no cut-off: all
    of its background is itself. A rest shorter than a frame is not looked at; 0 for less than two frames.
    Where stretches of speech have been joined, a joint can count as one.
    Raises :class:`InputError` on NaN or infinity, and several channels.
    Source: the optional sudden cut-off of Full-Duplex-Bench v1.5.
    """
    samples = checked(samples, rate)
    size = rate * _FRAME_MS // 1000
    count = len(samples) // size if size else 0
    if count < 2:
        return 0
    frames = samples[: count * size].reshape(count, size)
    # An inner product of each frame, so that no squared copy of the whole sound is held.
    energy = np.array([np.dot(frame, frame) for frame in (row.astype(np.float64) for row in frames)])
    levels = 20 * np.log10(np.sqrt(energy / size) + _LEAST)
    found = 0
    for i in (1 + np.flatnonzero(np.diff(levels) <= -drop_db)).tolist():
        background = np.percentile(levels[max(1, i + 1 - _HISTORY) : i + 1], 10)
        found += bool(levels[i - 1] >= background + above_background_db)
    return found
