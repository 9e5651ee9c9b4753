"""A judge against people: accuracy, F1, the table of confusions, and each class by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fullduplex.measures.agreement.chance import Groups
from fullduplex.measures.agreement.ratings import Ratings, Value, reference, said, scale_of
from fullduplex.measures.clusters import Floats
from fullduplex.measures.intervals import RESAMPLES, estimate
from fullduplex.measures.metric import Estimate
from fullduplex.measures.resampling import estimate_of, members, ratio, summed


@dataclass(frozen=True, slots=True)
class Matched:
    """The items that a judge and people both settled: people's majority and the judge's verdict, in one order.

    ``absent``: how many items are missing, by reason: ``no verdict`` · ``no human label`` · ``raters tie``.
    """

    items: tuple[str, ...]
    people: tuple[Value, ...]
    judge: tuple[Value, ...]
    absent: dict[str, int]


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often people said one thing and the judge another.

    ``table[i][j]``: the number of items that people called ``labels[i]`` and the judge ``labels[j]``.
    """

    labels: tuple[Value, ...]
    table: tuple[tuple[int, ...], ...]
    n: int
    absent: dict[str, int]


@dataclass(frozen=True, slots=True)
class Class:
    """One value of the scale: how well the judge finds it, and how well it can be believed when it says so.

    ``recall``: the share, among the items that people called so, of those that the judge called so too;
    ``precision``: the share, among the items that the judge called so, of those that people called so too.
    Each has its own n. ``f1`` = 2 both / (people's + judge's); None where neither ever said it.
    """

    label: Value
    recall: Estimate
    precision: Estimate
    f1: float | None


def matched(judge: Mapping[str, Value | None], people: Ratings) -> Matched:
    """Return people's majority and the judge's verdict of every item that has both.

    Raises ValueError where one speaks in numbers and the other in names.
    """
    settled, lost = reference(people)
    absent: Counter[str] = Counter()
    items = []
    for item in sorted({*judge, *people}):
        if judge.get(item) is None:
            # An item that nobody has said anything of is no item.
            absent["no verdict"] += item in settled or item in lost
        elif item in settled:
            items.append(item)
        else:
            absent[lost.get(item, "no human label")] += 1
    verdicts = [value for item in items if (value := judge[item]) is not None]
    labels = [settled[item] for item in items]
    scale_of([*verdicts, *labels])
    return Matched(tuple(items), tuple(labels), tuple(verdicts), {why: n for why, n in sorted(absent.items()) if n})


def accuracy(
    judge: Mapping[str, Value | None],
    people: Ratings,
    groups: Groups = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Return the share of items on which the judge says what the majority of people says.

    Interval: as any rate's, Wilson or a bootstrap of groups.
    Absent: ``no verdict`` · ``no human label`` · ``raters tie``.
    """
    both = matched(judge, people)
    hits = [float(a == b) for a, b in zip(both.people, both.judge, strict=True)]
    return estimate(hits, members(both.items, groups), both.absent, "rate", seed, resamples)


def agreement_with_each(
    judge: Mapping[str, Value | None],
    people: Ratings,
    groups: Groups = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Return how often the judge says what a person says, no majority taken.

    Mean over items of the share of the item's people who said what the judge says; ties of people need no breaking.
    Absent: ``no verdict`` · ``no human label``.
    """
    rows = said(people)
    scale_of([*(v for v in judge.values() if v is not None), *(v for row in rows.values() for v in row.values())])
    absent: Counter[str] = Counter()
    shares: dict[str, float] = {}
    for item in sorted({*judge, *rows}):
        verdict, row = judge.get(item), rows.get(item, {})
        if verdict is None:
            absent["no verdict"] += 1
        elif not row:
            absent["no human label"] += 1
        else:
            shares[item] = sum(value == verdict for value in row.values()) / len(row)
    values = list(shares.values())
    owners = members(list(shares), groups)
    return estimate(values, owners, absent, "rate" if set(values) <= {0.0, 1.0} else "mean", seed, resamples)


def macro_f1(
    judge: Mapping[str, Value | None],
    people: Ratings,
    groups: Groups = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Return the mean F1 over classes, each weighing the same however rare.

    F1 of a class = 2 both / (people's + judge's); classes are the values that either used on these items.
    A resample's mean is over the classes that it holds. Without a single error no resample has one, and there is
    no interval.
    Absent: ``no verdict`` · ``no human label`` · ``raters tie``.
    """
    both = matched(judge, people)
    if both.items and both.people == both.judge:
        return Estimate(1.0, None, None, len(both.items), both.absent, "no error to draw again: no interval")
    scale = scale_of([*both.people, *both.judge])
    size = len(scale)
    ones = np.eye(size)
    place = {value: i for i, value in enumerate(scale)}
    labelled = ones[[place[value] for value in both.people]] if both.items else np.empty((0, size))
    judged = ones[[place[value] for value in both.judge]] if both.items else np.empty((0, size))

    def formula(sums: Floats) -> Floats:
        hits, theirs, its = sums[:, :size], sums[:, size : 2 * size], sums[:, 2 * size :]
        each = ratio(2 * hits, theirs + its)
        return ratio(np.nansum(each, axis=1), np.isfinite(each).sum(axis=1))

    found = summed(np.column_stack([labelled * judged, labelled, judged]), members(both.items, groups))
    return estimate_of(found, formula, undefined="no class", seed=seed, resamples=resamples, absent=both.absent)


def confusion(judge: Mapping[str, Value | None], people: Ratings, labels: Sequence[Value] | None = None) -> Confusion:
    """Return the table of people's majority (rows) against the judge's verdict (columns).

    ``labels`` gives the order, and rows and columns for values that never occurred.
    """
    both = matched(judge, people)
    scale = scale_of([*both.people, *both.judge], labels)
    times = Counter(zip(both.people, both.judge, strict=True))
    table = tuple(tuple(times[row, column] for column in scale) for row in scale)
    return Confusion(scale, table, len(both.items), both.absent)


def per_class(
    judge: Mapping[str, Value | None],
    people: Ratings,
    labels: Sequence[Value] | None = None,
    groups: Groups = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> tuple[Class, ...]:
    """Return recall, precision and F1 of each value of the scale, in its order.

    Absent, beside what :func:`matched` lacks: ``people never said it`` (recall) · ``judge never said it`` (precision).
    """
    both = matched(judge, people)
    pairs = list(zip(both.items, both.people, both.judge, strict=True))

    def share(label: Value, *, among: int, hit: int, nobody: str) -> Estimate:
        chosen = [pair for pair in pairs if pair[among] == label]
        hits = [float(pair[hit] == label) for pair in chosen]
        owners = members([pair[0] for pair in chosen], groups)
        absent = both.absent | ({} if chosen else {nobody: len(pairs)})
        return estimate(hits, owners, absent, "rate", seed, resamples)

    classes = []
    for label in scale_of([*both.people, *both.judge], labels):
        agreed = sum(a == label == b for _, a, b in pairs)
        named = sum(a == label for _, a, _ in pairs) + sum(b == label for _, _, b in pairs)
        recall = share(label, among=1, hit=2, nobody="people never said it")
        precision = share(label, among=2, hit=1, nobody="judge never said it")
        classes.append(Class(label, recall, precision, 2 * agreed / named if named else None))
    return tuple(classes)
