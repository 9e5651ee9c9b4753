"""What people found of items, as tables: by action and by condition, with who agrees, and which items are not valid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fullduplex.benchmarks.duplexact.conditions import condition_named
from fullduplex.data.files import write_json
from fullduplex.measures.agreement import (
    fleiss_kappa,
    krippendorffs_alpha,
    naturalness,
    percent_agreement,
    validity,
    verdict_of,
)
from fullduplex.measures.agreement.ratings import Level, Value
from fullduplex.measures.agreement.validity import NO, NON_NEGATIVE, UNCLEAR, YES
from fullduplex.measures.metric import Estimate
from fullduplex.reporting.review.items import ItemReview
from fullduplex.reporting.review.labels import titles_of
from fullduplex.reporting.review.store import HEARD, Review, read_kept

FILE = "validity.json"
SCHEMA = 1
LABELS = "yes-no-unclear"
VOTES = (YES, NO, UNCLEAR)
_POINTS = [1, 2, 3, 4, 5]
Ratings = dict[str, dict[str, Value | None]]


@dataclass(frozen=True, slots=True)
class _Row:
    """What a line of the tables is about: all items, those of an action, or those of a condition."""

    of: str
    action: str
    condition: str
    items: frozenset[str]


def validated(review: ItemReview, *, seed: int = 0) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return what raters found of the items of ``review``, and sentences about what a reader has to know.

    Every yes-no-unclear question gives :class:`fullduplex.measures.agreement.Validity`, every scale from 1 to 5
    :class:`fullduplex.measures.agreement.Naturalness`, over all items, each action and each condition. ``invalid`` are
    the items of which more than half of the raters say no to some question; ``doubtful`` those that are neither that
    nor found valid by more than half: mostly unclear, or tied. Intervals draw items, or their groups where they have
    any. Written to ``validity.json`` in the review's folder.
    """
    kept = read_kept(review.path)
    form = review.about["form"]
    ours = [one for one in kept.reviews if one.form == form["name"] and one.key in review.items]
    counted = [one for one in ours if one.form_digest == form["digest"]]
    groups = {key: str(one["group"]) for key, one in review.items.items() if one["group"]}
    asked = [one for one in form["questions"] if one["kind"] == LABELS or one["values"] == _POINTS]
    ratings = {one["key"]: _ratings(counted, one) for one in asked}
    rows = [
        {
            "of": row.of,
            "action": row.action,
            "condition": row.condition,
            "items": len(row.items),
            "found": {one["key"]: _figures(one, _among(ratings[one["key"]], row.items), groups, seed) for one in asked},
        }
        for row in _rows(review)
    ]
    told = {
        "schema": SCHEMA,
        "data": str(review.data),
        "form": {name: form[name] for name in ("name", "version", "digest")},
        "questions": [{"key": one["key"], "kind": one["kind"]} for one in asked],
        "raters": sorted({one.rater for one in counted}),
        "asked_of_each": form.get("raters"),
        "ratings_an_item": _per_item(review, ratings, asked),
        "rows": rows,
        "agreement": {one["key"]: _agreement(one, ratings[one["key"]], groups, seed) for one in asked},
        "invalid": [],
        "doubtful": [],
    } | _not_valid(review, ratings, asked)
    write_json(review.path / FILE, told)
    return told, (*kept.damaged, *_remarks(told, ours, counted))


def _ratings(reviews: Sequence[Review], question: Mapping[str, Any]) -> Ratings:
    found: Ratings = {}
    for one in reviews:
        value = one.value(question["key"])
        if value in question["values"] and not isinstance(value, bool):
            # A rater counts once an item, with the last answer.
            found.setdefault(one.key, {})[one.rater] = value
    return found


def _among(ratings: Ratings, items: frozenset[str]) -> Ratings:
    return {key: row for key, row in ratings.items() if key in items}


def _rows(review: ItemReview) -> Iterator[_Row]:
    by_action: dict[str, dict[str, set[str]]] = {}
    for key, one in review.items.items():
        found = condition_named(str(one["scenario"]))
        action, condition = titles_of(found) if found else ("", str(one["scenario"]))
        by_action.setdefault(action, {}).setdefault(condition, set()).add(key)
    yield _Row("all", "", "", frozenset(review.items))
    for action, conditions in by_action.items():
        yield _Row("action", action, "", frozenset().union(*conditions.values()))
    for action, conditions in by_action.items():
        for condition, items in conditions.items():
            yield _Row("condition", action, condition, frozenset(items))


def _figures(question: Mapping[str, Any], ratings: Ratings, groups: Mapping[str, str], seed: int) -> dict[str, Any]:
    if question["kind"] == LABELS:
        found = validity(ratings, groups, seed)
        wilson = found.by_rating_wilson
        return asdict(found) | {"by_rating_wilson": None if wilson is None else list(wilson)}
    scale = naturalness(ratings, groups, seed)
    return asdict(scale) | {"ratings": {str(point): n for point, n in scale.ratings.items()}}


def _agreement(question: Mapping[str, Any], ratings: Ratings, groups: Mapping[str, str], seed: int) -> dict[str, Any]:
    """Return percent agreement, Fleiss' kappa and Krippendorff's alpha; nothing where fewer than two people rated."""
    if len({rater for row in ratings.values() for rater in row}) < 2:
        return {}
    level: Level = "nominal" if question["kind"] == LABELS else "ordinal"
    found: dict[str, Estimate] = {
        "percent": percent_agreement(ratings, groups, seed),
        "fleiss_kappa": fleiss_kappa(ratings, groups=groups, seed=seed),
        "alpha": krippendorffs_alpha(ratings, level, question["values"], groups, seed),
    }
    return {name: asdict(one) for name, one in found.items()}


def _per_item(review: ItemReview, ratings: Mapping[str, Ratings], asked: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many items have how many ratings of the first question, by that number as a text."""
    first = ratings[asked[0]["key"]] if asked else {}
    counts = Counter(len(first.get(key, {})) for key in review.items)
    return {str(n): count for n, count in sorted(counts.items())}


def _not_valid(
    review: ItemReview, ratings: Mapping[str, Ratings], asked: Sequence[Mapping[str, Any]]
) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {"invalid": [], "doubtful": []}
    labels = [one["key"] for one in asked if one["kind"] == LABELS]
    for key, one in review.items.items():
        rows = {name: list(ratings[name][key].values()) for name in labels if ratings[name].get(key)}
        answers = {name: [value for value in row if value is not None] for name, row in rows.items()}
        said = {name: verdict_of(row) for name, row in answers.items()}
        if any(verdict != YES for verdict in said.values()):
            votes = {name: {one: answers[name].count(one) for one in VOTES if one in answers[name]} for name in said}
            where = "invalid" if NO in said.values() else "doubtful"
            found[where].append({"set": one["set"], "item": one["item"], "said": said, "votes": votes})
    return found


def _remarks(told: Mapping[str, Any], ours: Sequence[Review], counted: Sequence[Review]) -> Iterator[str]:
    if len(counted) < len(ours):
        other = len(ours) - len(counted)
        were = "answer was" if other == 1 else "answers were"
        yield f"{other} {were} given to other words of {told['form']['name']}; not counted"
    wanted = told["asked_of_each"]
    few = sum(n for count, n in told["ratings_an_item"].items() if isinstance(wanted, int) and int(count) < wanted)
    if few:
        total = sum(told["ratings_an_item"].values())
        yield f"{few} of {total} items have fewer than the {wanted} ratings that the form asks for; they count"
    unheard = sum(one.heard < HEARD for one in counted)
    if unheard:
        yield f"{unheard} of {len(counted)} reviews were given before half of the clip was played; they count"


__all__ = ["FILE", "LABELS", "NON_NEGATIVE", "validated"]
