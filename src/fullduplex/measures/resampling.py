"""Statistics that are functions of sums over items, and their intervals from resampled groups.

A kappa, an F1 or a rank correlation is no mean, but each is a formula over sums: of
counts, of products, of disagreements. Resampling groups then needs those sums alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.measures.clusters import Floats
from fullduplex.measures.intervals import wilson
from fullduplex.measures.metric import Estimate

#: The largest share of resamples without a value that an interval may leave out.
UNDEFINED_AT_MOST = 0.05
#: Below this many groups the interval of a coefficient is too narrow (measured by ``bench/agreement_coverage.py``).
FEW_FOR_COEFFICIENTS = 50
#: How many drawn numbers are held at once.
_BLOCK = 1 << 18

#: From sums, shape (r, q), to values, shape (r,); NaN where there is none.
Formula = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class Sums:
    """What each group adds to the sums.

    ``rows``: shape (k, q), one row a group, in an order that depends on their values alone;
    ``items``: how many items they were made of.
    """

    rows: Floats
    items: int

    @property
    def unit(self) -> str:
        """Return what is drawn: ``items`` where every group is one item, else ``groups``."""
        return "items" if len(self.rows) == self.items else "groups"

    @property
    def alike(self) -> bool:
        """Return whether every group adds the same, so that no resample differs from another."""
        return bool(np.all(self.rows == self.rows[0])) if len(self.rows) else True


def members(items: Sequence[str], groups: Mapping[str, str] | None) -> list[str]:
    """Return the group of each item; "" (a group of its own) where none is named."""
    return [""] * len(items) if groups is None else [groups.get(item, "") for item in items]


def numbered(groups: Sequence[str]) -> NDArray[np.int64]:
    """Return for each item the number of its group, 0 to k - 1; an item whose group is "" is a group of its own."""
    places: dict[tuple[bool, object], int] = {}
    keys: list[tuple[bool, object]] = [(True, group) if group else (False, i) for i, group in enumerate(groups)]
    return np.array([places.setdefault(key, len(places)) for key in keys], dtype=np.int64)


def summed(rows: NDArray[Any], groups: Sequence[str]) -> Sums:
    """Return the rows, shape (n, q), added up by group.

    Neither the order of the items nor the names of the groups change a number: rows are
    sorted before they are added, and groups after.
    """
    table = np.asarray(rows, dtype=np.float64)
    if not len(table):
        return Sums(table, 0)
    owner = numbered(groups)
    order = np.lexsort((*table.T, owner))
    table, owner = table[order], owner[order]
    added = np.add.reduceat(table, np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]]), axis=0)
    return Sums(added[np.lexsort(tuple(added.T))], len(table))


def drawn(k: int, *, resamples: int, seed: int, width: int = 1) -> Iterator[NDArray[np.int64]]:
    """Yield how often each of ``k`` groups is in each resample of k, with replacement.

    Blocks of shape (r, k), together ``resamples`` rows; ``width`` is how many numbers are made of each row.
    """
    random = np.random.default_rng(seed)
    step = max(1, _BLOCK // max(k, width))
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        picked = random.integers(k, size=(rows, k)) + k * np.arange(rows)[:, None]
        yield np.bincount(picked.ravel(), minlength=rows * k).reshape(rows, k)


def value_of(found: Sums, formula: Formula) -> float | None:
    """Return the formula's value on everything, None where it has none."""
    if not len(found.rows):
        return None
    value = float(formula(found.rows.sum(axis=0)[None])[0])
    return value if np.isfinite(value) else None


def estimate_of(
    found: Sums,
    formula: Formula,
    *,
    undefined: str,
    seed: int,
    resamples: int,
    absent: Mapping[str, int] | None = None,
    farthest: float | None = None,
) -> Estimate:
    """Return the formula's value with its 95 % percentile interval over resampled groups.

    ``undefined`` says why there is no value where the formula has none. ``farthest`` is given
    when nothing disagrees (the value is 1, and no resample can show less): how much the value falls
    when all items disagree as far as they can. The lower end is then 1 - farthest × Wilson's upper
    bound for 0 of as many groups, at least -1.

    Resamples without a value are left out and counted in the method; there is no interval
    when more than 1 in 20 are, when there is one group, or when all groups are alike.
    """
    missing = {reason: count for reason, count in (absent or {}).items() if count}
    n, k = found.items, len(found.rows)
    if not n:
        return Estimate(None, None, None, 0, missing, "no values")
    value = value_of(found, formula)
    if value is None:
        return Estimate(None, None, None, n, missing, undefined)
    if k == 1:
        return Estimate(value, None, None, n, missing, "one item: no interval" if n == 1 else "one group: no interval")
    if farthest is not None:
        low = max(-1.0, 1 - farthest * wilson(0, k)[1])
        return Estimate(value, low, 1.0, n, missing, f"Wilson 95 % on {k} {found.unit}, no disagreement")
    if found.alike:
        return Estimate(value, None, None, n, missing, f"all {k} {found.unit} alike: no interval")
    width = found.rows.shape[1]
    draws = np.concatenate(
        [formula(times @ found.rows) for times in drawn(k, resamples=resamples, seed=seed, width=width)]
    )
    low_, high, method = percentile_interval(draws, k, found.unit, seed)
    return Estimate(value, low_, high, n, missing, method)


def percentile_interval(draws: Floats, k: int, unit: str, seed: int) -> tuple[float | None, float | None, str]:
    """Return the 2.5 % and 97.5 % quantiles of what the resamples gave, and the method in words."""
    kept = draws[np.isfinite(draws)]
    lost = len(draws) - len(kept)
    kind = "bootstrap" if unit == "items" else "cluster bootstrap"
    method = f"{kind} 95 %, {k} {unit}, {len(draws)} resamples, seed {seed}"
    if lost > UNDEFINED_AT_MOST * len(draws):
        return None, None, f"{method}: no interval, {lost} resamples have no value"
    method += f", {lost} without a value left out" if lost else ""
    method += f" (fewer than {FEW_FOR_COEFFICIENTS} {unit}: too narrow)" if k < FEW_FOR_COEFFICIENTS else ""
    low, high = np.quantile(kept, (0.025, 0.975))
    return float(low), float(high), method


def ratio(part: Floats, whole: Floats) -> Floats:
    """Return part / whole, NaN where the whole is 0."""
    found: Floats = np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=np.asarray(whole) != 0)
    return found
