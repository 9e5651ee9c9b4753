"""A number over many trials, with its 95 % interval and the method in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullduplex.measures.clusters import Clusters, Floats, clusters, resampled_means, resampled_quantiles
from fullduplex.measures.metric import Estimate

#: How many resamples an interval rests on.
RESAMPLES = 10_000
#: The standard normal deviate that 2.5 % exceed.
Z_95 = NormalDist().inv_cdf(0.975)
#: Below this many groups a percentile interval is too narrow for skewed values (measured by ``bench/coverage.py``).
FEW_GROUPS = 20
#: Below this many values none is trimmed, as in the released scripts of Full-Duplex-Bench v1.5.
FEWEST_TRIMMED = 3

Values = Sequence[float] | NDArray[Any]
Groups = Sequence[str] | NDArray[Any] | None


def estimate(
    values: Values,
    groups: Groups = None,
    absent: Mapping[str, int] | None = None,
    kind: Literal["rate", "share", "mean", "trimmed", "median"] = "mean",
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Return the mean of ``values`` with its 95 % interval.

    ``values``: shape (n,), what is there; ``groups``: the speaker or conversation of each
    ("" : its own); ``absent``: how many are missing, by reason; ``kind`` ``rate`` demands
    values of 0 and 1, ``share`` is one where all values are such and a mean elsewhere, ``trimmed`` leaves out what
    lies below the 5th or above the 95th percentile and counts it as ``outside 5-95 %``. ``median`` is
    :func:`quantile_estimate`'s at one half.

    Interval: a rate whose every group is one item has Wilson's score interval; anything
    else the percentile interval of a bootstrap that draws groups with replacement
    (mean = sum of values over their number). A grouped rate whose values are all equal
    cannot be resampled into anything else, so it has Wilson's interval on the number of
    groups: the widest that dependence inside groups can justify. The same seed gives the
    same interval in whatever order the items come.

    Value None when n is 0. Interval None for one item or one group; ``method`` says why.
    """
    if kind == "median":
        return quantile_estimate(values, groups, 0.5, seed, absent, resamples)
    missing = {reason: count for reason, count in (absent or {}).items() if count}
    if kind == "trimmed" and len(values):
        values, groups, outside = _trimmed(np.asarray(values, dtype=np.float64), groups)
        missing |= {"outside 5-95 %": outside} if outside else {}
    found = clusters(values, groups)
    n, k = len(found.values), len(found.sums)
    if not n:
        return Estimate(None, None, None, 0, missing, "no values")
    if kind == "share" and np.all((found.values == 0) | (found.values == 1)):
        kind = "rate"
    if kind == "rate" and not np.all((found.values == 0) | (found.values == 1)):
        raise ValueError("a rate is made of values that are 0 or 1")
    value = math.fsum(found.values) / n
    if k == 1:
        return Estimate(value, None, None, n, missing, _too_few(n))
    if kind == "rate" and found.single:
        low, high = wilson(int(found.values.sum()), n)
        return Estimate(value, low, high, n, missing, "Wilson 95 %")
    if kind == "rate" and found.equal:
        low, high = wilson(k if value else 0, k)
        return Estimate(value, low, high, n, missing, f"Wilson 95 % on {k} groups, every value equal")
    if found.equal:
        # Resampling equal values says nothing that the values do not.
        return Estimate(value, value, value, n, missing, _bootstrap(found, resamples, seed))
    low, high = _percentiles(resampled_means(found, resamples=resamples, seed=seed))
    return Estimate(value, low, high, n, missing, _bootstrap(found, resamples, seed))


def _trimmed(values: NDArray[np.float64], groups: Groups) -> tuple[NDArray[np.float64], Groups, int]:
    if len(values) < FEWEST_TRIMMED:
        return values, groups, 0
    low, high = np.percentile(values, (5, 95))
    kept = (values >= low) & (values <= high)
    its = None if groups is None else [group for group, keep in zip(groups, kept, strict=True) if keep]
    return values[kept], its, int(len(values) - kept.sum())


def quantile_estimate(
    values: Values,
    groups: Groups = None,
    q: float = 0.5,
    seed: int = 0,
    absent: Mapping[str, int] | None = None,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Return the ``q``-quantile of ``values`` with its 95 % interval.

    ``q`` between 0 and 1; quantiles interpolate linearly between order statistics.
    Interval: percentile bootstrap over groups. A quantile whose tail holds fewer than
    about five values is bounded by the largest value seen; read its upper end so.
    Absent as :func:`estimate`.
    """
    if not 0 <= q <= 1:
        raise ValueError(f"a quantile lies between 0 and 1, not at {q}")
    found = clusters(values, groups)
    missing = {reason: count for reason, count in (absent or {}).items() if count}
    n = len(found.values)
    if not n:
        return Estimate(None, None, None, 0, missing, "no values")
    value = float(np.quantile(found.values, q))
    if len(found.sums) == 1:
        return Estimate(value, None, None, n, missing, _too_few(n))
    low, high = _percentiles(resampled_quantiles(found, q, resamples=resamples, seed=seed))
    return Estimate(value, low, high, n, missing, _bootstrap(found, resamples, seed))


def wilson(successes: int, n: int, z: float = Z_95) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion, ``successes`` of ``n``.

    Centre (p + z²/2n) / (1 + z²/n), half-width z √(p(1-p)/n + z²/4n²) / (1 + z²/n).
    Source: Wilson 1927.
    """
    if not 0 <= successes <= n or n == 0:
        raise ValueError(f"{successes} of {n} is not a proportion")
    p, shrink = successes / n, 1 + z * z / n
    centre = (p + z * z / (2 * n)) / shrink
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / shrink
    # At 0 and n the bound is the proportion itself; only rounding says otherwise.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return low, high


def _percentiles(draws: Floats) -> tuple[float, float]:
    low, high = np.quantile(draws, (0.025, 0.975))
    return float(low), float(high)


def _bootstrap(found: Clusters, resamples: int, seed: int) -> str:
    """Return the bootstrap's description, with what weakens it."""
    k = len(found.sums)
    kind, unit = ("bootstrap", "items") if found.single else ("cluster bootstrap", "groups")
    remarks = (", every value equal" if found.equal else "") + (
        f" (fewer than {FEW_GROUPS} {unit}: too narrow)" if k < FEW_GROUPS else ""
    )
    return f"{kind} 95 %, {k} {unit}, {resamples} resamples, seed {seed}{remarks}"


def _too_few(n: int) -> str:
    return "one item: no interval" if n == 1 else "one group: no interval"
