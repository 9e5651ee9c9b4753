"""Where one number lies among people's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fullduplex.model.trials import Absent


@dataclass(frozen=True, slots=True)
class Standing:
    """A value among those of ``n`` conversations of people.

    ``percentile``: 0 below all of them, 100 above, 50 in the middle; ``low``, ``median``, ``high``: people's own 5 %,
    50 % and 95 % quantiles.
    """

    value: float
    percentile: float
    low: float
    median: float
    high: float
    n: int


def standing(value: float, people: Sequence[float]) -> Standing | Absent:
    """Return where ``value`` lies among ``people``, one number a conversation, in the same unit.

    percentile = 100 (below + ½ equal) / n. Neither end is better: it says how unlike people a number is. A percentile
    cannot be told finer than 100 / n. Absent: ``no people``. Raises ValueError on what is not finite.
    """
    numbers = np.asarray(people, dtype=np.float64)
    if not np.all(np.isfinite(numbers)) or not np.isfinite(value):
        raise ValueError("a value is not a finite number")
    if not len(numbers):
        return Absent("no people")
    share = (np.sum(numbers < value) + np.sum(numbers == value) / 2) / len(numbers)
    low, median, high = (float(q) for q in np.quantile(numbers, (0.05, 0.5, 0.95)))
    return Standing(value, float(100 * share), low, median, high, len(numbers))
