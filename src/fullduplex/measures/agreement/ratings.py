"""A table of ratings: who said what of which item, with gaps."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, cast

from fullduplex.errors import printable
from fullduplex.model.trials import Absent

#: What a rater can say: a number of a scale, or a label.
Value = float | str
#: Item -> rater -> value. A rater who said nothing of an item is left out, or None.
Ratings = Mapping[str, Mapping[str, Value | None]]
#: What distances between values mean: only same or other, an order, or differences.
Level = Literal["nominal", "ordinal", "interval"]


def said(ratings: Ratings) -> dict[str, dict[str, Value]]:
    """Return the ratings without gaps, items in the order of their names, raters in the order of theirs."""
    return {
        item: {rater: value for rater, value in sorted(row.items()) if value is not None}
        for item, row in sorted(ratings.items())
    }


def scale_of(values: Iterable[Value], labels: Sequence[Value] | None = None) -> tuple[Value, ...]:
    """Return the distinct values in order: that of ``labels`` where given, else numbers by size and names by letters.

    Raises ValueError when a value is not finite or none of ``labels``, or when names and numbers are mixed:
    "3" and 3 would count as a disagreement.
    """
    found = set(values)
    every = [*found, *(labels or ())]
    numbers = [value for value in every if not isinstance(value, str)]
    if numbers and len(numbers) < len(every):
        name = next(value for value in every if isinstance(value, str))
        raise ValueError(f"ratings mix numbers ({numbers[0]}) and names ({printable(name)})")
    if not all(math.isfinite(number) for number in numbers):
        raise ValueError("a rating is not a finite number; a missing one is None")
    if labels is None:
        return tuple(sorted(found, key=lambda value: cast(float, value)))
    if len(set(labels)) != len(labels):
        raise ValueError("the scale's labels name one value twice")
    if unknown := found - set(labels):
        raise ValueError(
            f"the rating {printable(str(min(unknown, key=str)))} is none of the scale's: "
            + ", ".join(printable(str(label)) for label in labels)
        )
    return tuple(labels)


def positions(scale: Sequence[Value], level: Level, *, ordered: bool) -> list[float]:
    """Return where each value of a scale lies on a line, for distances between them.

    Numbers lie where they are; names lie at 0, 1, 2 … in the scale's order, which for the levels
    ``ordinal`` and ``interval`` has to be told (``ordered``), else ValueError.
    """
    if not any(isinstance(value, str) for value in scale):
        return [float(value) for value in scale]
    if level != "nominal" and not ordered:
        raise ValueError(f"names have no order of their own: an {level} scale of names needs its labels in order")
    return [float(place) for place in range(len(scale))]


def majority(values: Iterable[Value]) -> Value | Absent:
    """Return the value that was said more often than any other.

    Absent: ``nobody rated`` · ``raters tie`` (two values were said equally often, and none more).
    """
    ranked = Counter(values).most_common(2)
    if not ranked:
        return Absent("nobody rated")
    if len(ranked) > 1 and ranked[0][1] == ranked[1][1]:
        return Absent("raters tie")
    return ranked[0][0]


def reference(people: Ratings) -> tuple[dict[str, Value], dict[str, str]]:
    """Return each item's majority of people, and for the items that have none the reason.

    Reasons: ``no human label`` · ``raters tie``.
    """
    kept: dict[str, Value] = {}
    lost: dict[str, str] = {}
    for item, row in said(people).items():
        agreed = majority(row.values()) if row else Absent("no human label")
        if isinstance(agreed, Absent):
            lost[item] = agreed.reason
        else:
            kept[item] = agreed
    return kept, lost
