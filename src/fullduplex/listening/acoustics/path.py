"""The best path through the candidates of all frames: one pitch, or none, for each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullduplex.listening.acoustics.contour import Floats


class Path:
    """The path of greatest strength less costs, through candidates that come block by block.

    ``jump`` is what an octave between neighbouring frames costs, ``switch`` what going from
    voiced to unvoiced or back costs. What it keeps is 9 bytes a candidate: for 15 of
    them 100 times a second, 24 MB for half an hour.
    """

    def __init__(self, *, jump: float, switch: float) -> None:
        self._jump, self._switch = jump, switch
        self._totals: Floats | None = None
        self._last_octaves = np.zeros(0)
        self._frequencies: list[Floats] = []
        self._came_from: list[NDArray[np.int8]] = []

    def extend(self, frequencies: Floats, strengths: Floats) -> None:
        """Take the next frames, both [frames, candidates], one frame or more.

        The frequency is NaN for an unvoiced candidate, the strength -inf for one that is not there.
        """
        octaves = np.log2(frequencies)
        before = np.vstack([octaves[:1] if self._totals is None else self._last_octaves, octaves[:-1]])
        voiced, voiced_before = ~np.isnan(octaves), ~np.isnan(before)
        came_from = np.zeros(frequencies.shape, np.int8)
        each = np.arange(frequencies.shape[1])
        totals = self._totals
        for i, strength in enumerate(strengths):
            if totals is None:
                totals = strength
                continue
            now, then = voiced[i][:, None], voiced_before[i]
            apart = np.abs(octaves[i][:, None] - before[i])
            reached = totals - np.where(now & then, self._jump * apart, self._switch * (now ^ then))
            came_from[i] = best = reached.argmax(axis=1)
            totals = reached[each, best] + strength
        self._totals, self._last_octaves = totals, octaves[-1]
        self._frequencies.append(frequencies)
        self._came_from.append(came_from)

    def frequencies(self) -> Floats:
        """Return the frequency of each frame on the path, NaN where it is unvoiced."""
        if self._totals is None:
            return np.zeros(0)
        at = int(self._totals.argmax())
        parts = []
        for frequencies, came_from in zip(reversed(self._frequencies), reversed(self._came_from), strict=True):
            chosen = np.zeros(len(frequencies))
            for i in range(len(frequencies) - 1, -1, -1):
                chosen[i] = frequencies[i, at]
                at = int(came_from[i, at])
            parts.append(chosen)
        return np.concatenate(parts[::-1])
