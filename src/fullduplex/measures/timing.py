"""How near a system's backchannels lie to where people put theirs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fullduplex.model.spans import ms

#: The width of a window of the reference distribution (Full-Duplex-Bench).
WINDOW = ms(200)


def one_hot(onsets: Sequence[int], windows: int, width: int = WINDOW) -> NDArray[np.float64]:
    """Return how many of ``onsets`` (µs) start in each of ``windows`` windows of ``width`` µs.

    An onset past the last window is counted in none.
    """
    counts = np.zeros(windows)
    for onset in onsets:
        if 0 <= onset // width < windows:
            counts[onset // width] += 1
    return counts


def divergence(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    """Return the Jensen-Shannon divergence of two distributions, log base 2: 0 equal, 1 apart.

    ½ Σ p·log₂(p/m) + ½ Σ q·log₂(q/m), m = ½(p + q); both are normalised first.
    """
    p, q = p / p.sum(), q / q.sum()
    m = (p + q) / 2
    return float((_relative(p, m) + _relative(q, m)) / 2)


def distance_as_released(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    """Return the Jensen-Shannon *distance* with natural logarithm: the root of the divergence in nats."""
    p, q = p / p.sum(), q / q.sum()
    m = (p + q) / 2
    return float(np.sqrt(max(0.0, (_relative(p, m) + _relative(q, m)) * np.log(2) / 2)))


def _relative(p: NDArray[np.float64], m: NDArray[np.float64]) -> float:
    some = p > 0
    return float((p[some] * np.log2(p[some] / m[some])).sum())
