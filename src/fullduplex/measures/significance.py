"""Before and after, feature by feature: Full-Duplex-Bench v1.5's paired tests, and ours.

The released tests are repeated as they were, so that their figures can be compared. Ours
keep every pair: an outlier that is trimmed because it differs most is the finding that was looked for.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fullduplex.measures.clusters import Floats
from fullduplex.measures.intervals import RESAMPLES
from fullduplex.measures.permutation import holm, paired
from fullduplex.model.trials import Absent

#: The features that v1.5 compares, in its order.
FEATURES = ("wpm", "mean_pitch", "std_pitch", "mean_intensity", "std_intensity")
#: What it compares: the first is before, the second after.
COMPARISONS = (("pre", "post"), ("clean", "post"))
#: The behaviour that it keeps.
RESPOND = "C_RESPOND"

Trimming = Literal["mad", "iqr", "none"]
#: One sample: ``pre``, ``post`` and ``clean``, each with its features; other members are not read.
Row = Mapping[str, Mapping[str, float | None]]

#: Features of which v1.5 writes 0 where it could not measure.
_ZERO_IS_MISSING = frozenset({"wpm", "speech_dur_s", "mean_pitch", "std_pitch", "std_intensity"})
#: Intensities down to and including this many dB mean that it could not measure.
_SILENT_AT_MOST = -190.0
_MAD_TIMES, _IQR_TIMES = 3.5, 1.5
#: The standard deviation of a normal distribution over its median absolute deviation, as v1.5 rounds it.
_SIGMA_OF_MAD = 1.4826


@dataclass(frozen=True, slots=True)
class PairedTest:
    """One paired t test, after - before.

    ``n``: pairs used; ``n_removed``: valid pairs trimmed as outliers; ``absent``: pairs without a value, by reason.
    ``delta``: mean difference, in the feature's unit, ``low`` and ``high`` its 95 % t interval; ``df`` = n - 1;
    ``p`` two-sided; ``d_z`` = delta / standard deviation of the differences (n - 1).
    The figures are None where there is nothing to compute; ``why`` then says so.
    """

    name: str
    n: int
    n_removed: int
    absent: dict[str, int]
    mean_before: float | None = None
    mean_after: float | None = None
    delta: float | None = None
    low: float | None = None
    high: float | None = None
    t: float | None = None
    df: int | None = None
    p: float | None = None
    d_z: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class FeatureTest:
    """One feature before and after, on every item that has both.

    ``effect``: mean of after - before, in the feature's unit, ``low`` and ``high`` its 95 % interval; ``p``: two-sided,
    by permutation of signs; ``p_holm``: adjusted over the features read together; ``d_z``: the effect over the
    standard deviation of the differences (n - 1 items), None for fewer than two items or equal differences.
    ``absent``: items without a pair, by reason. ``method`` tells how each was found.
    """

    name: str
    n: int
    absent: dict[str, int]
    mean_before: float | None
    mean_after: float | None
    effect: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    d_z: float | None
    method: str


def responded(splits: Mapping[str, Row], behaviours: Mapping[str, Collection[str]]) -> tuple[list[Row], dict[str, int]]:
    """Return the rows whose behaviours hold ``C_RESPOND``, in the order of their names, and the reasons of the others.

    Reasons: ``no behaviour`` · ``behaviour is not C_RESPOND``.
    """
    rows, lost = [], Counter[str]()
    for name, row in sorted(splits.items()):
        if not behaviours.get(name):
            lost["no behaviour"] += 1
        elif RESPOND in behaviours[name]:
            rows.append(row)
        else:
            lost[f"behaviour is not {RESPOND}"] += 1
    return rows, dict(lost)


def released_tests(
    rows: Sequence[Row], trimming: Trimming = "mad", features: Sequence[str] = FEATURES
) -> list[PairedTest]:
    """Return the tests of v1.5's ``significance_test.py``, named ``pre_vs_post:wpm`` and so on, feature by feature.

    ``rows``: of samples that answered (:func:`responded`). A row with a ``wpm`` of exactly 0 on any side is
    dropped from every test; then 0 (rates, pitch, spread) and intensities of at most -190 dB are missing. Trimming
    looks at the differences of the valid pairs: ``mad`` keeps those within 3.5 × 1.4826 × the median absolute
    deviation of their median, all of them where that deviation is 0; ``iqr`` those within 1.5 interquartile
    ranges of the quartiles; differences on the edge are kept.

    Absent: ``a rate of 0 words a minute`` · ``not measured``. No test (``why``): fewer than two pairs.
    The released script prints nothing for such a test; equal differences make its t infinite or undefined, here None.
    Source: Full-Duplex-Bench v1.5, ``significance_test.py``. It adjusts p by Holm and prints that nowhere.
    """
    if trimming not in ("mad", "iqr", "none"):
        raise ValueError(f"outliers are trimmed by mad, iqr or none, not {trimming}")
    kept = [row for row in rows if not any(side.get("wpm") == 0 for side in _sides(row))]
    dropped = len(rows) - len(kept)
    tests = []
    for feature in features:
        for first, second in COMPARISONS:
            before = np.array([_measured(row, first, feature) for row in kept], dtype=np.float64)
            after = np.array([_measured(row, second, feature) for row in kept], dtype=np.float64)
            valid = np.isfinite(before) & np.isfinite(after)
            absent = {"a rate of 0 words a minute": dropped, "not measured": int((~valid).sum())}
            told = {reason: count for reason, count in absent.items() if count}
            tests.append(_t_test(f"{first}_vs_{second}:{feature}", before[valid], after[valid], trimming, told))
    return tests


def paired_tests(
    before: Mapping[str, Mapping[str, float | Absent | None]],
    after: Mapping[str, Mapping[str, float | Absent | None]],
    groups: Mapping[str, str] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> list[FeatureTest]:
    """Return, for each feature (``before`` and ``after``: feature -> item -> value), how it changed.

    Nothing is trimmed. p and the interval are :func:`fullduplex.measures.permutation.paired`'s: signs flip, and
    resamples draw, by group. p_holm is over all features that have a p.
    Absent: ``before: REASON`` or ``after: REASON``, with the reason of an Absent value, ``no value`` where there is
    none; an item lacking both counts under ``before``.
    """
    tests = [
        _feature_test(name, before.get(name, {}), after.get(name, {}), groups, seed, resamples)
        for name in [*before, *(name for name in after if name not in before)]
    ]
    there = [test.p for test in tests if test.p is not None]
    adjusted = iter(holm(there))
    return [test if test.p is None else replace(test, p_holm=next(adjusted)) for test in tests]


def _feature_test(
    name: str,
    before: Mapping[str, float | Absent | None],
    after: Mapping[str, float | Absent | None],
    groups: Mapping[str, str] | None,
    seed: int,
    resamples: int,
) -> FeatureTest:
    a: dict[str, float] = {}
    b: dict[str, float] = {}
    lost: Counter[str] = Counter()
    for item in sorted({*before, *after}):
        first, second = before.get(item), after.get(item)
        if first is None or isinstance(first, Absent):
            lost[f"before: {first.reason if first else 'no value'}"] += 1
        elif second is None or isinstance(second, Absent):
            lost[f"after: {second.reason if second else 'no value'}"] += 1
        else:
            a[item], b[item] = first, second
    found = paired(a, b, groups, seed, resamples)
    n = len(a)
    differences = np.array([b[item] - a[item] for item in sorted(a)], dtype=np.float64)
    return FeatureTest(
        name=name,
        n=n,
        absent=dict(sorted(lost.items())),
        mean_before=math.fsum(a.values()) / n if n else None,
        mean_after=math.fsum(b.values()) / n if n else None,
        effect=found.effect,
        low=found.low,
        high=found.high,
        p=found.p,
        p_holm=None,
        d_z=_d_z(differences),
        method=found.method,
    )


def _t_test(name: str, before: Floats, after: Floats, trimming: Trimming, absent: dict[str, int]) -> PairedTest:
    # Loaded late: most of what reads this module tests nothing.
    from scipy.special import stdtr, stdtrit

    if len(before) < 2:
        return PairedTest(name, len(before), 0, absent, why="fewer than two pairs")
    keep = _inside(after - before, trimming)
    removed = int((~keep).sum())
    before, after = before[keep], after[keep]
    n = len(before)
    if n < 2:
        return PairedTest(name, n, removed, absent, why="fewer than two pairs are left after trimming")
    differences = after - before
    delta, error = float(differences.mean()), float(differences.std(ddof=1)) / math.sqrt(n)
    reach = float(stdtrit(n - 1, 0.975)) * error
    means = PairedTest(
        name, n, removed, absent, float(before.mean()), float(after.mean()), delta, delta - reach, delta + reach
    )
    d_z = _d_z(differences)
    if d_z is None:
        return replace(means, df=n - 1, why="every difference equal: no t")
    t = delta / error
    return replace(means, t=t, df=n - 1, p=2 * float(stdtr(n - 1, -abs(t))), d_z=d_z)


def _inside(differences: Floats, trimming: Trimming) -> NDArray[np.bool_]:
    """Return which differences the rule keeps; those on its edges are kept."""
    if trimming == "mad":
        middle = float(np.median(differences))
        scale = _SIGMA_OF_MAD * float(np.median(np.abs(differences - middle)))
        if scale == 0:
            return np.ones(len(differences), dtype=bool)
        low, high = middle - _MAD_TIMES * scale, middle + _MAD_TIMES * scale
    elif trimming == "iqr":
        first, third = (float(quartile) for quartile in np.percentile(differences, (25, 75)))
        low, high = first - _IQR_TIMES * (third - first), third + _IQR_TIMES * (third - first)
    else:
        low, high = -np.inf, np.inf
    kept: NDArray[np.bool_] = (differences >= low) & (differences <= high)
    return kept


def _measured(row: Row, side: str, feature: str) -> float:
    """Return a feature, NaN where it is missing or a placeholder."""
    value = row.get(side, {}).get(feature)
    if value is None or math.isnan(value):
        return math.nan
    if math.isinf(value):
        raise ValueError(f"{side}.{feature} is not a finite number")
    if feature in _ZERO_IS_MISSING and value == 0:
        return math.nan
    if feature == "mean_intensity" and value <= _SILENT_AT_MOST:
        return math.nan
    return float(value)


def _sides(row: Row) -> list[Mapping[str, float | None]]:
    return [row.get(side, {}) for side in ("pre", "post", "clean")]


def _d_z(differences: Floats) -> float | None:
    """Return the mean difference over its standard deviation, None for fewer than two or where all are equal."""
    if len(differences) < 2:
        return None
    spread, mean = float(differences.std(ddof=1)), float(differences.mean())
    # Differences that are equal on paper may differ in their last bits.
    return mean / spread if spread > 1e-12 * float(np.abs(differences).max()) else None
