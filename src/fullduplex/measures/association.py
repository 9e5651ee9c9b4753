"""Whether one number of an item depends on another: a rank correlation, and how often chance gives one as strong."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

from fullduplex.measures.clusters import Floats
from fullduplex.measures.intervals import RESAMPLES
from fullduplex.measures.metric import Estimate
from fullduplex.measures.permutation import EXACT_UP_TO
from fullduplex.measures.ranks import spearmans_rho

#: Below this many items (or groups of items) nothing is tested: too few arrangements for chance to be ruled out.
FEWEST = 5
#: Sums that are equal on paper may differ by this share of their terms.
_ROUNDING = 1e-9
#: How many arranged numbers are held at once.
_BLOCK = 1 << 18


@dataclass(frozen=True, slots=True)
class Association:
    """How an outcome goes with a value: Spearman's ``rho`` over ``rho.n`` items with its interval, and a two-sided p.

    ``p`` is None where nothing was tested; ``method`` says how, or why not.
    """

    rho: Estimate
    p: float | None
    method: str


def association(
    outcome: Mapping[str, float],
    value: Mapping[str, float],
    groups: Mapping[str, str] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Association:
    """Return whether ``outcome`` depends on ``value``, over the items that have both.

    rho: Spearman's, equal values at the mean of their ranks; of an outcome of 0 and 1 it is the point-biserial
    correlation with the value's ranks. p: did the outcome not depend on the value, any arrangement of the outcomes over
    the items would be as likely; p is the share of arrangements whose rho is at least as far from 0 as the one found.
    All different arrangements are counted where there are at most 20,000, else ``resamples`` are drawn and
    p = (1 + as far) / (1 + drawn), which is never 0. Items of one group resemble each other: where a group has several,
    its mean outcome and mean value stand for it, and groups are arranged.
    No p: fewer than :data:`FEWEST` items or groups, every outcome alike, every value alike.
    Raises ValueError on a value that is not finite. Source: Pitman 1937; of two outcomes it is the exact test of Mann
    and Whitney 1947.
    """
    rho = spearmans_rho(outcome, value, groups, seed, resamples)
    y, x, unit = _pairs(outcome, value, groups)
    if len(x) < FEWEST:
        return Association(rho, None, f"fewer than {FEWEST} {unit}")
    if np.ptp(y) == 0 or np.ptp(x) == 0:
        return Association(rho, None, f"every {'outcome' if np.ptp(y) == 0 else 'value'} is alike")
    p, how = _permuted(_ranks(y), _ranks(x), resamples=resamples, seed=seed)
    return Association(rho, p, f"permutation of the outcomes over {len(x)} {unit}, {how}")


def _pairs(
    outcome: Mapping[str, float], value: Mapping[str, float], groups: Mapping[str, str] | None
) -> tuple[Floats, Floats, str]:
    """Return outcomes and values in an order that they alone decide, and what they are of."""
    by: dict[str, list[tuple[float, float]]] = {}
    for item in sorted(outcome.keys() & value.keys()):
        group = groups.get(item, "") if groups is not None else ""
        by.setdefault(f"group {group}" if group else f"item {item}", []).append((outcome[item], value[item]))
    unit = "groups" if any(len(pairs) > 1 for pairs in by.values()) else "items"
    means = sorted(
        (math.fsum(y for y, _ in pairs) / len(pairs), math.fsum(x for _, x in pairs) / len(pairs))
        for pairs in by.values()
    )
    table = np.array(means, dtype=np.float64).reshape(-1, 2)
    return table[:, 0], table[:, 1], unit


def _ranks(values: Floats) -> Floats:
    """Return each value's rank less the mean rank, equal values at the mean of theirs."""
    _, level, count = np.unique(values, return_inverse=True, return_counts=True)
    highest = np.cumsum(count)
    ranks: Floats = (highest - (count - 1) / 2)[level] - (len(values) + 1) / 2
    return ranks


def _permuted(y: Floats, x: Floats, *, resamples: int, seed: int) -> tuple[float, str]:
    """Return the two-sided p of Σ x·y over arrangements of ``y``, and which arrangements were counted."""
    reach = abs(float(x @ y)) - _ROUNDING * float(np.abs(x) @ np.abs(y))
    low, high = float(y.min()), float(y.max())
    highs = int((y == high).sum())
    two = highs + int((y == low).sum()) == len(y)
    count = math.comb(len(y), highs) if two else math.factorial(len(y))
    if count <= EXACT_UP_TO:
        # Every value's ranks sum to 0, so that of two outcomes only who has the higher one matters.
        sums = (
            np.array([x[list(those)].sum() for those in combinations(range(len(x)), highs)]) * (high - low)
            if two
            else np.array(list(permutations(y))) @ x
        )
        return float(np.mean(np.abs(sums) >= reach)), f"all {count} arrangements"
    as_far = sum(int((np.abs(drawn @ x) >= reach).sum()) for drawn in _drawn(y, resamples, seed))
    return (1 + as_far) / (1 + resamples), f"{resamples} arrangements, seed {seed}"


def _drawn(y: Floats, resamples: int, seed: int) -> Iterator[Floats]:
    rng = np.random.default_rng(seed)
    at_once = max(1, _BLOCK // len(y))
    for start in range(0, resamples, at_once):
        yield rng.permuted(np.tile(y, (min(at_once, resamples - start), 1)), axis=1)
