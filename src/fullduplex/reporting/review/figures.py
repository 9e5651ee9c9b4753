"""What raters said, in numbers: each answer by itself, and by the majority of an item's raters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fullduplex.measures.agreement.validity import NON_NEGATIVE
from fullduplex.reporting.language import ENGLISH
from fullduplex.reporting.review.forms import Answer, Form, Question
from fullduplex.reporting.review.store import Review, majority


@dataclass(frozen=True, slots=True)
class Figures:
    """What was answered to one question.

    ``ratings`` counts every answer, ``majorities`` every item by the answer that more of its raters gave than any
    other, ``ties`` the items without one. ``items`` and ``raters`` are how many there are. Of a scale also the
    ``mean`` of the ratings, their ``spread`` (standard deviation of the sample, None below two), and, where it goes
    from 1 to 5, ``non_negative``: the share of ratings of at least 3. None where they do not apply.
    Source: DuplexAct's human validation (rating-level and majority figures, mean ± SD, non-negative rate).
    """

    question: str
    ratings: Mapping[Answer, int]
    majorities: Mapping[Answer, int]
    ties: int
    items: int
    raters: int
    mean: float | None = None
    spread: float | None = None
    non_negative: float | None = None

    @property
    def n(self) -> int:
        """Return how many ratings there are."""
        return sum(self.ratings.values())


def figures(reviews: Sequence[Review], form: Form) -> list[Figures]:
    """Return the figures of each question of ``form`` that is no text, from the answers to these very words."""
    ours = [one for one in reviews if one.form == form.name and one.form_digest == form.digest]
    return [_of(question, ours, form) for question in form.questions if question.kind != "text"]


def _of(question: Question, reviews: Sequence[Review], form: Form) -> Figures:
    given = [(one.rater, value) for one in reviews if (value := one.value(question.key)) not in (None, "")]
    by_item = majority(reviews, form.name, question.key)
    values = [value for _, value in given if value is not None]
    numbers = [value for value in values if isinstance(value, int)] if question.kind == "scale" else []
    mean = sum(numbers) / len(numbers) if numbers else None
    spread = None
    if mean is not None and len(numbers) > 1:
        spread = math.sqrt(sum((value - mean) ** 2 for value in numbers) / (len(numbers) - 1))
    five = [option.value for option in question.options] == [1, 2, 3, 4, 5]
    return Figures(
        question=question.key,
        ratings=_counted(values),
        majorities=_counted([one.value for one in by_item.values() if one.value is not None]),
        ties=sum(one.value is None for one in by_item.values()),
        items=len(by_item),
        raters=len({rater for rater, _ in given}),
        mean=mean,
        spread=spread,
        non_negative=sum(value >= NON_NEGATIVE for value in numbers) / len(numbers) if numbers and five else None,
    )


def _counted(values: Sequence[Answer]) -> dict[Answer, int]:
    return dict(sorted(Counter(values).items(), key=lambda pair: (str(type(pair[0])), pair[0])))


def told(one: Figures) -> str:
    """Return figures as one line."""
    ratings = ", ".join(f"{value} {n}/{one.n} ({n / one.n:.1%})" for value, n in one.ratings.items())
    if not one.n:
        return f"{one.question}: no answers"
    counted = (("rating", one.n), ("item", one.items), ("rater", one.raters))
    given, items, raters = (ENGLISH.plural(f"{{n}} {what}", f"{{n}} {what}s", n) for what, n in counted)
    text = f"{one.question}: {given} of {items} by {raters}"
    if one.mean is not None:
        spread = "" if one.spread is None else f" ± {one.spread:.2f}"
        text += f"; mean {one.mean:.2f}{spread}"
        if one.non_negative is not None:
            text += f", at least {NON_NEGATIVE}: {one.non_negative:.1%}"
    text += f"; ratings: {ratings}"
    most = ", ".join(f"{value} {n}/{one.items}" for value, n in one.majorities.items())
    tied = ", ".join(filter(None, (most, f"tied {one.ties}/{one.items}" if one.ties else "")))
    return f"{text}; majority of an item: {tied}"
