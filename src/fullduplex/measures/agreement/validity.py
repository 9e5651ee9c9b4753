"""Whether people find items valid: shares of yes, by rating and by the majority of an item's raters, and naturalness.

Source: DuplexAct's human validation (its Tables 10 to 13).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fullduplex.measures.agreement.chance import Groups
from fullduplex.measures.agreement.ratings import Ratings, Value, said
from fullduplex.measures.intervals import RESAMPLES, estimate, wilson
from fullduplex.measures.metric import Estimate
from fullduplex.measures.resampling import members

#: What a person can say of a label.
YES: Literal["yes"] = "yes"
NO: Literal["no"] = "no"
UNCLEAR: Literal["unclear"] = "unclear"
#: What the raters of an item come to where no answer has more than half of them.
TIED: Literal["tied"] = "tied"
Verdict = Literal["yes", "no", "unclear", "tied"]
#: Of a five-point scale, this and above is not negative: inferred. The page does not say what its rate counts, and no
#: ratings of content naturalness have its mean, its deviation and its rate at 4 and above.
NON_NEGATIVE = 3


@dataclass(frozen=True, slots=True)
class Validity:
    """What people say of one label over some items.

    ``items`` are those that somebody rated, ``ratings`` counts all their answers by what was said, ``majorities`` the
    items by :func:`verdict_of`. ``by_rating`` is the share of yes among all ratings, unclear ones among them, with an
    interval over items; ``by_rating_wilson`` is Wilson's, which takes ratings as independent and is too narrow where
    the raters of an item agree. ``by_majority`` is the share of items with the verdict yes; tied ones are among the
    items, and not valid. Its interval is Wilson's, or over groups where items have any.
    """

    items: int
    ratings: Mapping[str, int]
    majorities: Mapping[str, int]
    by_rating: Estimate
    by_rating_wilson: tuple[float, float] | None
    by_majority: Estimate


@dataclass(frozen=True, slots=True)
class Naturalness:
    """What people say of one quality on a five-point scale: over ``ratings`` of ``items``.

    ``mean`` with an interval over items, ``spread`` the standard deviation of all ratings (of the sample: n - 1; None
    below two), ``non_negative`` the share of ratings of at least :data:`NON_NEGATIVE`.
    """

    items: int
    ratings: Mapping[int, int]
    mean: Estimate
    spread: float | None
    non_negative: Estimate


def verdict_of(answers: Sequence[Value]) -> Verdict:
    """Return what more than half of an item's raters said of a label, ``tied`` where no answer has more than half.

    All raters count, also those who found it unclear: of five, 2 yes, 2 no and 1 unclear is tied, and so is 2 yes,
    1 no and 2 unclear. Raises ValueError where nobody rated, or somebody said something else.
    """
    counted = Counter(answers)
    strange = [value for value in counted if value not in (YES, NO, UNCLEAR)]
    if strange or not answers:
        raise ValueError(f"a label is said to be yes, no or unclear, not {strange[0] if strange else 'nothing'}")
    for answer in (YES, NO, UNCLEAR):
        if 2 * counted[answer] > len(answers):
            return answer
    return TIED


def verdicts(ratings: Ratings) -> dict[str, Verdict]:
    """Return :func:`verdict_of` each item that somebody rated."""
    return {item: verdict_of(list(row.values())) for item, row in said(ratings).items() if row}


def validity(ratings: Ratings, groups: Groups = None, seed: int = 0, resamples: int = RESAMPLES) -> Validity:
    """Return how valid people find a label of the items in ``ratings``.

    Absent: ``nobody rated`` (items). ``groups`` maps items to what they belong to, such as a conversation.
    """
    rows = said(ratings)
    rated = {item: list(row.values()) for item, row in rows.items() if row}
    absent = {"nobody rated": len(rows) - len(rated)}
    found = {item: verdict_of(answers) for item, answers in rated.items()}
    answers = [answer for row in rated.values() for answer in row]
    counts = Counter(map(str, answers))
    owners = members(list(rated), groups)
    whose = _of_ratings(rated, owners)
    return Validity(
        len(rated),
        {answer: counts[answer] for answer in (YES, NO, UNCLEAR)},
        {verdict: sum(one == verdict for one in found.values()) for verdict in (YES, NO, UNCLEAR, TIED)},
        estimate([float(answer == YES) for answer in answers], whose, absent, "rate", seed, resamples),
        wilson(counts[YES], len(answers)) if answers else None,
        estimate([float(found[item] == YES) for item in rated], owners, absent, "rate", seed, resamples),
    )


def naturalness(ratings: Ratings, groups: Groups = None, seed: int = 0, resamples: int = RESAMPLES) -> Naturalness:
    """Return how natural people find the items in ``ratings``, each answer one of 1 to 5.

    Absent: ``nobody rated`` (items). Raises ValueError where an answer is none of the scale.
    """
    rows = said(ratings)
    rated = {item: list(row.values()) for item, row in rows.items() if row}
    numbers = [answer for row in rated.values() for answer in row]
    if any(number not in (1, 2, 3, 4, 5) for number in numbers):
        raise ValueError("naturalness is rated from 1 to 5")
    values = [float(number) for number in numbers]
    whose = _of_ratings(rated, members(list(rated), groups))
    absent = {"nobody rated": len(rows) - len(rated)}
    mean = estimate(values, whose, absent, "mean", seed, resamples)
    spread = None
    if len(values) > 1 and mean.value is not None:
        spread = math.sqrt(math.fsum((value - mean.value) ** 2 for value in values) / (len(values) - 1))
    high = [float(value >= NON_NEGATIVE) for value in values]
    return Naturalness(
        len(rated),
        {point: values.count(point) for point in (1, 2, 3, 4, 5)},
        mean,
        spread,
        estimate(high, whose, absent, "rate", seed, resamples),
    )


def _of_ratings(rated: Mapping[str, Sequence[Value]], owners: Sequence[str]) -> list[str]:
    """Return the group of each rating: its item's, or the item itself, whose raters judge one and the same thing."""
    pairs = zip(rated.items(), owners, strict=True)
    return [f"group {owner}" if owner else f"item {item}" for (item, row), owner in pairs for _ in row]
