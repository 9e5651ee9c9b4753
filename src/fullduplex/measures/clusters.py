"""Values gathered by the group they came from, and resamples of those groups.

Items of one speaker or one conversation resemble each other, so the group is
what a study draws and what a resample draws again. Everything here depends on
the multiset of groups alone: the order of the items and the names of the groups
change no number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: How many drawn numbers are held at once: with what is gathered from them, about 4 MB.
_BLOCK = 1 << 17


@dataclass(frozen=True, slots=True)
class Clusters:
    """Values sorted by the cluster they belong to.

    ``values``: all values; ``cluster``: for each, the number of its cluster, 0 to k - 1;
    ``sums`` and ``sizes``: for each cluster, the sum of its values and their number.
    """

    values: Floats
    cluster: Ints
    sums: Floats
    sizes: Ints

    @property
    def single(self) -> bool:
        """Return whether every cluster is one item."""
        return len(self.sums) == len(self.values)

    @property
    def equal(self) -> bool:
        """Return whether all values are equal."""
        return bool(np.all(self.values == self.values[0])) if len(self.values) else True


def clusters(values: Sequence[float] | NDArray[Any], groups: Sequence[str] | NDArray[Any] | None) -> Clusters:
    """Return ``values`` gathered by ``groups``; an item whose group is "" is a group of its own.

    ``groups`` None means that every item is its own group. Raises ValueError when the
    lengths differ or a value is not finite: what is missing is counted, not averaged.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1:
        raise ValueError(f"values are a list of numbers, not an array of {numbers.ndim} dimensions")
    if not np.all(np.isfinite(numbers)):
        raise ValueError("a value is not a finite number; what is missing belongs in `absent`")
    if groups is None:
        owner = np.arange(len(numbers))
    else:
        if len(groups) != len(numbers):
            raise ValueError(f"{len(numbers)} values have {len(groups)} groups")
        first: dict[Any, int] = {}
        # A number below zero cannot clash with the place of a named group.
        owner = np.array(
            [first.setdefault(g, len(first)) if g else -1 - i for i, g in enumerate(groups)], dtype=np.int64
        )
    # Sorted before it is summed: floating-point sums then ignore the order of the items.
    order = np.lexsort((numbers, owner))
    numbers, owner = numbers[order], owner[order]
    starts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]]) if len(owner) else np.empty(0, dtype=np.int64)
    sizes = np.diff(np.r_[starts, len(numbers)])
    sums = np.add.reduceat(numbers, starts) if len(starts) else np.empty(0)
    place = np.empty(len(starts), dtype=np.int64)
    # Two clusters of equal sum and size may differ inside, so their least and greatest values break the tie.
    ends = starts + sizes - 1
    place[np.lexsort((numbers[ends], numbers[starts], sums, sizes))] = np.arange(len(starts))
    member = place[np.repeat(np.arange(len(starts)), sizes)]
    order = np.lexsort((numbers, member))
    back = np.argsort(place)
    return Clusters(numbers[order], member[order], sums[back], sizes[back])


def resampled_means(drawn: Clusters, *, resamples: int, seed: int) -> Floats:
    """Return the mean of each of ``resamples`` draws of as many clusters, with replacement.

    The mean of a draw is the sum of its values over their number (a ratio of sums), so
    a large cluster weighs as it does in the plain mean. Shape: (resamples,).
    """
    random = np.random.default_rng(seed)
    k = len(drawn.sums)
    sums, sizes = np.zeros(resamples), np.zeros(resamples)
    for rows, columns in _blocks(resamples, k):
        picked = random.integers(k, size=(rows.stop - rows.start, columns))
        sums[rows] += drawn.sums[picked].sum(axis=1)
        sizes[rows] += drawn.sizes[picked].sum(axis=1)
    return sums / sizes


def resampled_quantiles(drawn: Clusters, q: float, *, resamples: int, seed: int) -> Floats:
    """Return the ``q``-quantile of the pooled values of each draw of clusters, with replacement.

    Quantiles interpolate linearly between order statistics, as ``numpy.quantile`` does.
    Shape: (resamples,). Memory grows with the number of values beyond 100,000.
    """
    random = np.random.default_rng(seed)
    k = len(drawn.sums)
    order = np.argsort(drawn.values, kind="stable")
    values, member = drawn.values[order], drawn.cluster[order]
    found = np.empty(resamples)
    step = max(1, _BLOCK // max(len(values), k))
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        picked = random.integers(k, size=(rows, k)) + k * np.arange(rows)[:, None]
        times = np.bincount(picked.ravel(), minlength=rows * k).reshape(rows, k)
        upto = np.cumsum(times[:, member], axis=1)
        rank = (upto[:, -1] - 1) * q
        below = np.floor(rank)
        # The value of rank r is the first whose running count exceeds r.
        low = values[(upto <= below[:, None]).sum(axis=1)]
        high = values[np.minimum((upto <= below[:, None] + 1).sum(axis=1), len(values) - 1)]
        found[start : start + rows] = low + (high - low) * (rank - below)
    return found


def flipped_sums(sums: Floats, *, flips: int, seed: int) -> Floats:
    """Return the total of ``sums`` under each of ``flips`` random choices of their signs. Shape: (flips,)."""
    random = np.random.default_rng(seed)
    totals = np.zeros(flips)
    at = 0
    for rows, columns in _blocks(flips, len(sums)):
        at = 0 if at == len(sums) else at
        sign = random.integers(2, size=(rows.stop - rows.start, columns)) * 2 - 1
        totals[rows] += sign @ sums[at : at + columns]
        at += columns
    return totals


def _blocks(rows: int, columns: int) -> Iterator[tuple[slice, int]]:
    """Cut a table of draws into blocks small enough to hold; row by row, and across when a row is long."""
    step = max(1, _BLOCK // max(1, columns))
    for start in range(0, rows, step):
        row = slice(start, min(start + step, rows))
        for left in range(0, columns, _BLOCK):
            yield row, min(_BLOCK, columns - left)
