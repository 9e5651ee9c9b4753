"""Agreement of raters, plain and beyond chance.

Every coefficient here is 1 - Do / De: the disagreement that was observed over the one that
raters with the same habits would show by chance. Where De is 0 (everybody gave one value
throughout) nothing could have disagreed, and there is no coefficient: neither 0 nor 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fullduplex.errors import printable
from fullduplex.measures.agreement.ratings import Level, Ratings, Value, positions, said, scale_of
from fullduplex.measures.clusters import Floats
from fullduplex.measures.intervals import RESAMPLES, estimate
from fullduplex.measures.metric import Estimate
from fullduplex.measures.resampling import Formula, Sums, estimate_of, members, ratio, summed

#: Why a coefficient of agreement beyond chance has no value.
EVERY_RATING_EQUAL = "every rating equal: agreement by chance is certain"
#: Products of differences below this share of their terms are rounding.
_ROUNDING = 1e-12

Groups = Mapping[str, str] | None


def percent_agreement(ratings: Ratings, groups: Groups = None, seed: int = 0, resamples: int = RESAMPLES) -> Estimate:
    """Return how often two raters of an item gave the same value.

    Mean over items of the share of pairs of raters that agree, each item weighing the same;
    unit: share. Interval: Wilson where every item is 0 or 1 and its own group, else as
    :func:`fullduplex.measures.intervals.estimate` says.
    Absent: ``fewer than two ratings``. It is not corrected for chance: raters who always say
    the same one of two values agree completely and know nothing.
    """
    rows = said(ratings)
    scale_of(value for row in rows.values() for value in row.values())
    kept = {item: list(row.values()) for item, row in rows.items() if len(row) >= 2}
    shares = [_agreeing_pairs(values) for values in kept.values()]
    return estimate(
        shares,
        members(list(kept), groups),
        {"fewer than two ratings": len(rows) - len(kept)},
        "rate" if set(shares) <= {0.0, 1.0} else "mean",
        seed,
        resamples,
    )


def cohens_kappa(
    ratings: Ratings,
    raters: tuple[str, str] | None = None,
    weights: Literal["linear", "quadratic"] | None = None,
    labels: Sequence[Value] | None = None,
    groups: Groups = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Return Cohen's kappa of two raters, over the items that both rated.

    1 - Σ w o / Σ w e with o the shares of pairs of values, e the products of both raters' own
    shares, and w the distance of two values: 0 or 1 without ``weights``, else their difference
    or its square. Numbers differ by what they are, whichever of the scale occur; names by their places in
    ``labels``, which weights of names need. ``raters`` may be left out where there are exactly two.
    Absent: ``not rated by NAME``. No value: every rating equal.
    Sources: Cohen 1960, 1968.
    """
    rows = said(ratings)
    first, second = raters or _the_two(rows)
    kept = {item: (row[first], row[second]) for item, row in rows.items() if first in row and second in row}
    absent = {
        f"not rated by {printable(name)}": sum(
            name not in row for row in rows.values() if other in row or name == first
        )
        for name, other in ((first, second), (second, first))
    }
    scale = scale_of((value for pair in kept.values() for value in pair), labels)
    at = np.array(positions(scale, "interval" if weights else "nominal", ordered=labels is not None))
    apart = np.abs(at[:, None] - at[None, :])
    if weights is None:
        apart = (apart > 0).astype(np.float64)
    elif weights == "quadratic":
        apart = apart**2
    elif weights != "linear":
        raise ValueError(f"weights are linear or quadratic, not {weights}")
    place = {value: i for i, value in enumerate(scale)}
    pairs = np.array([(place[a], place[b]) for a, b in kept.values()], dtype=np.int64).reshape(-1, 2)
    size = len(scale)
    ones = np.eye(size)
    table = np.column_stack([apart[pairs[:, 0], pairs[:, 1]], ones[pairs[:, 0]], ones[pairs[:, 1]]])

    def expected(sums: Floats) -> Floats:
        one, other = sums[:, 1 : 1 + size], sums[:, 1 + size :]
        products = np.einsum("ri,ij,rj->r", one, apart, other, optimize=True)
        return ratio(products, one.sum(axis=1))

    most = len(kept) * float(apart.max(initial=0.0))
    return _beyond_chance(table, expected, members(list(kept), groups), absent, most, seed, resamples)


def fleiss_kappa(
    ratings: Ratings,
    raters: int | None = None,
    groups: Groups = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Return Fleiss' kappa of items that were each rated by the same number of raters, not always the same people.

    1 - (1 - mean share of agreeing pairs) / (1 - Σ p²) with p the shares of all ratings that each value got.
    ``raters`` is how many an item has, at least 2; left out, it is the commonest number (the greater of two
    equally common ones).
    Absent: ``N ratings, not M``. No value: every rating equal.
    Source: Fleiss 1971.
    """
    rows = said(ratings)
    sizes = Counter(len(row) for row in rows.values() if len(row) >= 2)
    m = raters or max(sizes, key=lambda size: (sizes[size], size), default=2)
    if m < 2:
        raise ValueError("agreement needs at least two raters an item")
    kept = {item: list(row.values()) for item, row in rows.items() if len(row) == m}
    others = Counter(len(row) for row in rows.values() if len(row) != m)
    absent = {f"{size} rating{'s' * (size != 1)}, not {m}": count for size, count in sorted(others.items())}
    scale = scale_of(value for values in kept.values() for value in values)
    table = np.column_stack([[1 - _agreeing_pairs(values) for values in kept.values()], _counts(kept, scale)])

    def expected(sums: Floats) -> Floats:
        totals = sums[:, 1:]
        every = totals.sum(axis=1)
        return ratio(every**2 - (totals**2).sum(axis=1), every * m)

    return _beyond_chance(table, expected, members(list(kept), groups), absent, float(len(kept)), seed, resamples)


def krippendorffs_alpha(
    ratings: Ratings,
    level: Level = "nominal",
    labels: Sequence[Value] | None = None,
    groups: Groups = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Return Krippendorff's alpha: any number of raters, gaps allowed.

    1 - (n - 1) Σ o δ² / Σ n n' δ² over pairs of values, with o the coincidences (each ordered pair of ratings
    of an item of m counts 1 / (m - 1)) and n the number of paired ratings of a value. δ² is 0 or 1 (``nominal``),
    the squared difference (``interval``), or the squared number of ratings between two values, half of
    their own included (``ordinal``). Names need ``labels`` in order, unless nominal.
    Absent: ``fewer than two ratings``. No value: every rating equal.
    Source: Krippendorff 2004.
    """
    if level not in ("nominal", "ordinal", "interval"):
        raise ValueError(f"a level is nominal, ordinal or interval, not {level}")
    rows = said(ratings)
    kept = {item: list(row.values()) for item, row in rows.items() if len(row) >= 2}
    absent = {"fewer than two ratings": len(rows) - len(kept)}
    scale = scale_of((value for values in kept.values() for value in values), labels)
    at = np.array(positions(scale, level, ordered=labels is not None))
    counts = _counts(kept, scale)
    owners = members(list(kept), groups)
    if level == "ordinal":
        return _ordinal_alpha(counts, owners, absent, seed, resamples)
    if level == "nominal":
        most = float(counts.sum())
        return _beyond_chance(_nominal_rows(counts), _nominal_chance, owners, absent, most, seed, resamples)
    m = counts.sum(axis=1)
    # Any zero gives the same differences; one among the values keeps their squares small.
    shifted = at - at.min() if len(at) else at
    total, squares = counts @ shifted, counts @ shifted**2
    table = np.column_stack([ratio(_differences(m, total, squares), m - 1), m, total, squares])
    most = float(m.sum()) * float(shifted.max(initial=0.0)) ** 2
    return _beyond_chance(table, _interval_chance, owners, absent, most, seed, resamples)


def alpha_of_counts(
    groups: Iterable[Floats], absent: Mapping[str, int] | None = None, seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    """Return Krippendorff's nominal alpha of how often each value was given to each item, one group at a time.

    ``groups``: of each group the counts, shape (items, values), at least two ratings a row. It is
    :func:`krippendorffs_alpha` where nobody needs to know who said what: for items in the millions. n: items.
    """
    rows, items = list[Floats](), 0
    for counts in groups:
        rows.append(_nominal_rows(counts).sum(axis=0))
        items += len(counts)
    table = np.stack(rows) if rows else np.empty((0, 1))
    found = Sums(table[np.lexsort(tuple(table.T))], items)
    most = float(table[:, 1:].sum())
    return _of_sums(found, _nominal_chance, absent or {}, most, seed, resamples)


def _nominal_rows(counts: Floats) -> Floats:
    """Return the disagreement of each item, and its counts."""
    m = counts.sum(axis=1)
    rows: Floats = np.column_stack([ratio(m**2 - (counts**2).sum(axis=1), m - 1), counts])
    return rows


def _nominal_chance(sums: Floats) -> Floats:
    totals = sums[:, 1:]
    n = totals.sum(axis=1)
    return ratio(n**2 - (totals**2).sum(axis=1), n - 1)


def _interval_chance(sums: Floats) -> Floats:
    n = sums[:, 1]
    return ratio(_differences(n, sums[:, 2], sums[:, 3]), n - 1)


def _ordinal_alpha(
    counts: Floats, owners: Sequence[str], absent: Mapping[str, int], seed: int, resamples: int
) -> Estimate:
    """Return alpha where the distance of two values depends on how many ratings lie between them."""
    size = counts.shape[1]
    m = counts.sum(axis=1)
    low, high = _values_that_met(counts)
    met = 2 * counts[:, low] * counts[:, high] / (m - 1)[:, None]

    def formula(sums: Floats) -> Floats:
        totals, coincidences = sums[:, :size], sums[:, size:]
        middle = np.cumsum(totals, axis=1) - totals / 2
        observed = (coincidences * (middle[:, low] - middle[:, high]) ** 2).sum(axis=1)
        return 1 - ratio((totals.sum(axis=1) - 1) * observed, _spread(totals, middle))

    farthest = None
    if len(m) and not len(low):
        totals = counts.sum(axis=0)[None]
        middle = np.cumsum(totals, axis=1) - totals / 2
        n, by_chance = float(totals.sum()), float(_spread(totals, middle)[0])
        farthest = n * (n - 1) * float(np.ptp(middle)) ** 2 / by_chance if by_chance else None
    return estimate_of(
        summed(np.column_stack([counts, met]), owners),
        formula,
        undefined=EVERY_RATING_EQUAL,
        seed=seed,
        resamples=resamples,
        absent=absent,
        farthest=farthest,
    )


def _values_that_met(counts: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of different values that some item got both of, as places in the scale, the lower first."""
    met = {(int(a), int(b)) for row in counts for places in [np.flatnonzero(row)] for a, b in combinations(places, 2)}
    pairs = np.array(sorted(met), dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _spread(times: Floats, at: Floats) -> Floats:
    """Return Σ (x - x')² over all ordered pairs of ratings, row by row, ``times`` of them lying at each x."""
    return _differences(times.sum(axis=1), (times * at).sum(axis=1), (times * at**2).sum(axis=1))


def _differences(n: Floats, total: Floats, squares: Floats) -> Floats:
    """Return Σ (x - x')² over all ordered pairs of n numbers, from their sum and their sum of squares.

    What is left by rounding alone is 0.
    """
    found: Floats = n * squares - total**2
    return np.where(found <= _ROUNDING * n * squares, 0.0, 2 * found)


def _beyond_chance(
    table: Floats,
    expected: Formula,
    owners: Sequence[str],
    absent: Mapping[str, int],
    most: float,
    seed: int,
    resamples: int,
) -> Estimate:
    """Return 1 - observed / expected, where the first column of ``table`` is each item's disagreement.

    ``expected`` is on the scale of that column's sum; ``most`` is what the column would add up to were every item
    as far apart as values can be.
    """
    return _of_sums(summed(table, owners), expected, absent, most, seed, resamples)


def _of_sums(
    found: Sums, expected: Formula, absent: Mapping[str, int], most: float, seed: int, resamples: int
) -> Estimate:
    def formula(sums: Floats) -> Floats:
        return 1 - ratio(sums[:, 0], expected(sums))

    farthest = None
    if len(found.rows) and not np.any(found.rows[:, 0]):
        by_chance = float(expected(found.rows.sum(axis=0)[None])[0])
        farthest = most / by_chance if by_chance else None
    return estimate_of(
        found,
        formula,
        undefined=EVERY_RATING_EQUAL,
        seed=seed,
        resamples=resamples,
        absent=absent,
        farthest=farthest,
    )


def _agreeing_pairs(values: Sequence[Value]) -> float:
    """Return the share of the pairs of values that are equal."""
    m = len(values)
    return sum(count * (count - 1) for count in Counter(values).values()) / (m * (m - 1))


def _counts(kept: Mapping[str, Sequence[Value]], scale: Sequence[Value]) -> Floats:
    """Return how often each value of the scale was given to each item. Shape: (items, values)."""
    place = {value: i for i, value in enumerate(scale)}
    counts = np.zeros((len(kept), len(scale)))
    for row, values in enumerate(kept.values()):
        for value in values:
            counts[row, place[value]] += 1
    return counts


def _the_two(rows: Mapping[str, Mapping[str, Value]]) -> tuple[str, str]:
    names = sorted({rater for row in rows.values() for rater in row})
    if len(names) != 2:
        raise ValueError(f"Cohen's kappa is of two raters, and {len(names)} rated; name the two")
    return names[0], names[1]
