"""Orders: how two of them agree, and how far one would survive other items.

A table sorted by a number invites reading the sorting. What is here says how often
another draw of items, of the same kind and number, would have sorted otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fullduplex.measures.clusters import Floats
from fullduplex.measures.intervals import FEW_GROUPS, RESAMPLES
from fullduplex.measures.metric import Estimate
from fullduplex.measures.resampling import Formula, Sums, drawn, members, numbered, percentile_interval, ratio, summed

#: Sums that are equal on paper may differ by this share of their terms.
_ROUNDING = 1e-9
#: Up to this many things all pairs are held at once, and resampled.
PAIRS_OF_AT_MOST = 1500
#: Why an order does not correlate.
ALL_TIED = "all tied in one of the orders"

Direction = Literal["higher", "lower"]
Scores = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Order:
    """Systems from best to worst.

    ``tiers``: those of equal value stand together, by name. ``ranks``: 1 is best; equal values share the mean
    of the ranks they fill. ``absent``: those without a value, which have no rank.
    """

    tiers: tuple[tuple[str, ...], ...]
    ranks: dict[str, float]
    absent: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Win:
    """How often one system is ahead of another over resamples.

    ``probability``: the share of resamples in which a is ahead, ties counted half (``tied`` is their share). None
    without a pair, and for one group, of which every resample is the same.
    ``n``: items with a value of both; ``absent``: the others, by reason.
    It is no p value: 0.5 is no evidence either way, and 0.97 of one pair is not 0.97 of many pairs read together.
    """

    probability: float | None
    tied: float | None
    n: int
    absent: dict[str, int]
    method: str


@dataclass(frozen=True, slots=True)
class Band:
    """The ranks that one system takes over resamples.

    ``rank``: its rank on the items as they are; ``low`` and ``high``: the 2.5 % and 97.5 % quantiles of the ranks
    taken (each a rank that was taken); ``shares``: rank -> share of resamples, ranks in order. Ranks of equal
    values are means, so halves occur. ``low`` and ``high`` are None where there is one group.
    """

    rank: float
    low: float | None
    high: float | None
    shares: dict[float, float]


@dataclass(frozen=True, slots=True)
class Bands:
    """Every system's band, over the ``n`` items that all systems have a value of; ``absent``: the items left out."""

    systems: dict[str, Band]
    n: int
    absent: dict[str, int]
    method: str


def order(values: Mapping[str, float | None], better: Direction) -> Order:
    """Return the systems in order of their values, best first."""
    _check_direction(better)
    there = {name: value for name, value in sorted(values.items()) if value is not None}
    _check_finite(there.values())
    steps = sorted(set(there.values()), reverse=better == "higher")
    tiers = tuple(tuple(name for name, value in there.items() if value == step) for step in steps)
    ranks: dict[str, float] = {}
    before = 0
    for tier in tiers:
        ranks.update(dict.fromkeys(tier, before + (len(tier) + 1) / 2))
        before += len(tier)
    return Order(tiers, ranks, tuple(sorted(name for name, value in values.items() if value is None)))


def kendalls_tau(
    a: Scores, b: Scores, groups: Mapping[str, str] | None = None, seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    """Return Kendall's tau-b of two orders of the same things.

    (C - D) / √((P - Ta)(P - Tb)): C pairs are ordered alike and D otherwise, of all P, with Ta tied in a and Tb in b.
    From -1 to 1. Interval: percentile bootstrap over things, or over their ``groups``; with few things
    (seven systems, say) it is too narrow. Time grows with the square of the number of things; beyond 1,500 there is
    no interval.
    Absent: ``not in a`` · ``not in b``. No value: all tied in one of them.
    Source: Kendall 1945.
    """
    x, y, owners, absent = _both(a, b, groups)
    if len(x) > PAIRS_OF_AT_MOST:
        parts = sum(_signs(x, y, slice(start, start + 500)).sum(axis=1) for start in range(0, len(x), 500))
        value = float(ratio(parts[:1], np.sqrt(parts[1:2] * parts[2:]))[0])
        method = f"more than {PAIRS_OF_AT_MOST} items: no interval"
        found = (value, method) if math.isfinite(value) else (None, ALL_TIED)
        return Estimate(found[0], None, None, len(x), absent, found[1])
    tables = _signs(x, y, slice(None)).reshape(3, len(x), len(x))

    def tau(times: Floats) -> Floats:
        # A thing that was drawn twice is tied with itself in both orders.
        alike, first, second = (((times @ table) * times).sum(axis=1) for table in tables)
        return ratio(alike, np.sqrt(first * second))

    return _correlation(tau, len(x), owners, absent, seed, resamples)


def spearmans_rho(
    a: Scores, b: Scores, groups: Mapping[str, str] | None = None, seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    """Return Spearman's rho of two orders of the same things: the correlation of their ranks, ties at their mean.

    From -1 to 1. Interval, absences and undefined values: as :func:`kendalls_tau`; each resample is ranked anew.
    Source: Spearman 1904.
    """
    x, y, owners, absent = _both(a, b, groups)

    def rho(times: Floats) -> Floats:
        n = times.sum(axis=1, keepdims=True)
        first, second = (_middle_ranks(values, times) - (n + 1) / 2 for values in (x, y))
        part = (times * first * second).sum(axis=1)
        whole = (times * first**2).sum(axis=1) * (times * second**2).sum(axis=1)
        return ratio(part, np.sqrt(whole))

    return _correlation(rho, len(x), owners, absent, seed, resamples)


def win_probability(
    a: Scores,
    b: Scores,
    better: Direction = "higher",
    groups: Mapping[str, str] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Win:
    """Return how often ``a`` is ahead of ``b`` in the mean, over resamples of the items that both have.

    Groups of pairs are drawn with replacement, so what makes an item hard is the same for both.
    Absent: ``no value of a`` · ``no value of b``.
    """
    _check_direction(better)
    _check_finite([*a.values(), *b.values()])
    items = sorted(a.keys() & b.keys())
    absent = _told({"no value of a": len(b.keys() - a.keys()), "no value of b": len(a.keys() - b.keys())})
    if not items:
        return Win(None, None, 0, absent, "no pairs")
    ahead = 1.0 if better == "higher" else -1.0
    differences = ahead * np.array([[a[item] - b[item]] for item in items])
    found = summed(differences, members(items, groups))
    if len(found.rows) == 1:
        return Win(None, None, len(items), absent, "one group: every resample is the same")
    rounding = _ROUNDING * np.abs(differences).max() * len(items)
    won = tied = 0
    for times in drawn(len(found.rows), resamples=resamples, seed=seed):
        totals = (times @ found.rows)[:, 0]
        won += int((totals > rounding).sum())
        tied += int((np.abs(totals) <= rounding).sum())
    method = _method(found, resamples, seed)
    return Win((won + tied / 2) / resamples, tied / resamples, len(items), absent, method)


def rank_band(
    values: Mapping[str, Scores],
    better: Direction,
    groups: Mapping[str, str] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Bands:
    """Return the ranks that each system takes over resamples of the items that all have.

    ``values``: system -> item -> value. A system's value is its mean over the items drawn.
    Absent: ``not of every system``.
    """
    _check_direction(better)
    for scores in values.values():
        _check_finite(scores.values())
    names = sorted(values)
    items = sorted(set.intersection(*(set(values[name]) for name in names))) if names else []
    every = set().union(*values.values())
    absent = _told({"not of every system": len(every) - len(items)})
    if not items:
        return Bands({}, 0, absent, "no item of every system")
    worse = -1.0 if better == "higher" else 1.0
    table = worse * np.array([[values[name][item] for name in names] for item in items])
    found = summed(np.column_stack([table, np.ones(len(items))]), members(items, groups))
    step = _ROUNDING * float(np.abs(table).max())
    k = len(found.rows)
    now = _rank_rows(_means(found.rows.sum(axis=0)[None]), step)[0]
    taken = np.concatenate(
        [
            _rank_rows(_means(times @ found.rows), step)
            for times in drawn(k, resamples=resamples, seed=seed, width=len(names) ** 2)
        ]
    )
    bands = {}
    for column, name in enumerate(names):
        ranks, counts = np.unique(taken[:, column], return_counts=True)
        shares = {float(rank): int(count) / resamples for rank, count in zip(ranks, counts, strict=True)}
        low, high = np.quantile(taken[:, column], (0.025, 0.975), method="inverted_cdf")
        sure = k > 1
        bands[name] = Band(float(now[column]), float(low) if sure else None, float(high) if sure else None, shares)
    return Bands(bands, len(items), absent, _method(found, resamples, seed))


def _both(
    a: Scores, b: Scores, groups: Mapping[str, str] | None
) -> tuple[Floats, Floats, NDArray[np.int64], dict[str, int]]:
    """Return the values of what both have, in an order that depends on the values alone, with group numbers."""
    _check_finite([*a.values(), *b.values()])
    names = sorted(a.keys() & b.keys())
    absent = _told({"not in a": len(b.keys() - a.keys()), "not in b": len(a.keys() - b.keys())})
    owners = numbered(members(names, groups))
    inside: dict[int, list[tuple[float, float]]] = {}
    for name, owner in zip(names, owners.tolist(), strict=True):
        inside.setdefault(owner, []).append((float(a[name]), float(b[name])))
    # Groups stand in an order that their values decide: names change no number.
    ordered = sorted(sorted(pairs) for pairs in inside.values())
    rows = [(*pair, place) for place, pairs in enumerate(ordered) for pair in pairs]
    table = np.array(sorted(rows), dtype=np.float64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2].astype(np.int64), absent


def _signs(x: Floats, y: Floats, rows: slice) -> Floats:
    """Return, for pairs of some things with all: +1 ordered alike and -1 otherwise, 1 if told apart by x, and by y.

    Shape: (3, pairs).
    """
    one, other = (np.sign(values[rows, None] - values[None, :]).ravel() for values in (x, y))
    return np.stack([one * other, np.abs(one), np.abs(other)])


def _correlation(
    statistic: Formula, n: int, owners: NDArray[np.int64], absent: dict[str, int], seed: int, resamples: int
) -> Estimate:
    if not n:
        return Estimate(None, None, None, 0, absent, "no pairs")
    k = int(owners.max()) + 1
    value = float(statistic(np.ones((1, n)))[0])
    if not math.isfinite(value):
        return Estimate(None, None, None, n, absent, ALL_TIED if n > 1 else "one pair: no order")
    if k == 1:
        return Estimate(value, None, None, n, absent, "one group: no interval")
    draws = np.concatenate(
        [statistic(times[:, owners].astype(np.float64)) for times in drawn(k, resamples=resamples, seed=seed, width=n)]
    )
    unit = "items" if k == n else "groups"
    low, high, method = percentile_interval(draws, k, unit, seed)
    return Estimate(value, low, high, n, absent, method)


def _middle_ranks(values: Floats, times: Floats) -> Floats:
    """Return each value's rank in each resample, equal values at the mean of theirs. Shape: that of ``times``."""
    _, level = np.unique(values, return_inverse=True)
    size = int(level.max()) + 1
    here = times @ np.eye(size)[level]
    ranks: Floats = (np.cumsum(here, axis=1) - (here - 1) / 2)[:, level]
    return ranks


def _means(sums: Floats) -> Floats:
    means: Floats = sums[:, :-1] / sums[:, -1:]
    return means


def _rank_rows(means: Floats, step: float) -> Floats:
    """Return the ranks inside each row, least first; values nearer than ``step`` are equal. Same shape."""
    less = (means[:, None, :] < means[:, :, None] - step).sum(axis=2)
    equal = (np.abs(means[:, None, :] - means[:, :, None]) <= step).sum(axis=2)
    ranks: Floats = less + (equal + 1) / 2
    return ranks


def _method(found: Sums, resamples: int, seed: int) -> str:
    k = len(found.rows)
    few = f" (fewer than {FEW_GROUPS} {found.unit}: too sure)" if k < FEW_GROUPS else ""
    return f"paired bootstrap, {k} {found.unit}, {resamples} resamples, seed {seed}{few}"


def _told(absent: Mapping[str, int]) -> dict[str, int]:
    return {reason: count for reason, count in absent.items() if count}


def _check_direction(better: str) -> None:
    if better not in ("higher", "lower"):
        raise ValueError(f"an order needs a better direction, higher or lower, not {better}")


def _check_finite(values: Iterable[float]) -> None:
    if not all(math.isfinite(value) for value in values):
        raise ValueError("a value is not a finite number; what is missing is left out")
