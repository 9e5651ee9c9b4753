"""Two systems on the same items: is the difference more than chance, and how large is it?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fullduplex.measures.clusters import Floats, clusters, flipped_sums, resampled_means
from fullduplex.measures.intervals import RESAMPLES, wilson

#: Up to this many sign patterns are all enumerated; beyond it they are drawn.
EXACT_UP_TO = 20_000


@dataclass(frozen=True, slots=True)
class Paired:
    """A paired difference: the mean of b - a over ``n`` items, its 95 % interval, and a two-sided p.

    ``low`` and ``high`` are None when there is one group only; ``p`` is None when n is 0.
    """

    n: int
    effect: float | None
    low: float | None
    high: float | None
    p: float | None
    method: str


def paired(
    a: Mapping[str, float],
    b: Mapping[str, float],
    groups: Mapping[str, str] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Paired:
    """Return how ``b`` differs from ``a``, item by item.

    effect = mean over items of b - a, in the unit of the values. p: were the systems
    exchangeable, the sign of a group's summed difference would be a coin's; p is the share
    of sign patterns whose total is at least as far from 0. All patterns are enumerated
    when there are at most 20,000, else ``resamples`` are drawn and p = (1 + as far) /
    (1 + drawn), which is never 0. Groups whose difference is 0 change no total and are left out.
    Interval: percentile bootstrap that draws groups of pairs with replacement. Values of 0 and 1
    that all differ alike (no flips, say) cannot be resampled into anything else: they
    have the bounds that Wilson's interval for 0 of as many groups allows.

    Raises ValueError when the items differ: pairing is the caller's to decide.
    """
    if a.keys() != b.keys():
        raise ValueError("paired values must be of the same items")
    items = sorted(a)
    differences = np.array([b[item] - a[item] for item in items], dtype=np.float64)
    found = clusters(differences, None if groups is None else [groups.get(item, "") for item in items])
    n, k = len(items), len(found.sums)
    if not n:
        return Paired(0, None, None, None, None, "no pairs")
    effect = math.fsum(differences) / n
    p, test = _sign_flip(found.sums, flips=resamples, seed=seed)
    unit = "items" if found.single else "groups"
    if k == 1:
        return Paired(n, effect, None, None, p, f"{test}; one {unit[:-1]}: no interval")
    if found.equal and {*a.values(), *b.values()} <= {0, 1}:
        low, high = _bounds_without_spread(effect, k)
        return Paired(n, effect, low, high, p, f"{test}; Wilson 95 % on {k} {unit}, every difference equal")
    if found.equal:
        low = high = effect
    else:
        means = resampled_means(found, resamples=resamples, seed=seed)
        low, high = (float(x) for x in np.quantile(means, (0.025, 0.975)))
    interval = f"paired bootstrap 95 %, {k} {unit}, {resamples} resamples, seed {seed}"
    return Paired(n, effect, low, high, p, f"{test}; {interval}" + (", every difference equal" if found.equal else ""))


def _bounds_without_spread(effect: float, k: int) -> tuple[float, float]:
    """Return the interval of a paired rate whose ``k`` groups all differ alike: by -1, 0 or 1.

    The share of items that could differ otherwise is at most Wilson's upper bound for 0 of k,
    and each such item moves the mean by one (from 0) or at most two (from -1 or 1).
    """
    _, other = wilson(0, k)
    if effect == 0:
        return -other, other
    return (effect - 2 * other, effect) if effect > 0 else (effect, effect + 2 * other)


def holm(ps: Sequence[float]) -> list[float]:
    """Return the p values adjusted for being read together, in the order given.

    The i-th smallest of m (from 0) is multiplied by m - i, then kept from falling below
    any smaller one's, and from exceeding 1. Source: Holm 1979.
    """
    adjusted = [0.0] * len(ps)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        highest = max(highest, min(1.0, ps[place] * (len(ps) - rank)))
        adjusted[place] = highest
    return adjusted


def _sign_flip(sums: Floats, *, flips: int, seed: int) -> tuple[float, str]:
    """Return the two-sided p of the total of ``sums`` under random signs, and how it was found."""
    moving = sums[sums != 0]
    k = len(moving)
    if k == 0:
        return 1.0, "sign-flip permutation, nothing differs"
    # Totals that are equal on paper may differ in their last bits.
    reach = abs(float(moving.sum())) - 1e-9 * float(np.abs(moving).sum())
    if 2**k <= EXACT_UP_TO:
        signs = (np.arange(2**k)[:, None] >> np.arange(k) & 1) * 2 - 1
        share = np.mean(np.abs(signs @ moving) >= reach)
        return float(share), f"sign-flip permutation, all {2**k} patterns"
    as_far = int(np.sum(np.abs(flipped_sums(moving, flips=flips, seed=seed)) >= reach))
    return (1 + as_far) / (1 + flips), f"sign-flip permutation, {flips} patterns, seed {seed}"
