"""What raters said, as corrections of the run: the majority's yes and no in place of what a rule concluded."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fullduplex.errors import InputError, RunError
from fullduplex.measures.judged_reply import TO_HEAR
from fullduplex.reporting.review.forms import Form, Question
from fullduplex.reporting.review.store import Majority, Review, majority, read_kept
from fullduplex.runs.amendments import Amendment, standing
from fullduplex.runs.items import read_item
from fullduplex.runs.run import Run
from fullduplex.runs.stored import estimates

#: How the reason of a correction begins that a review gave: a later one replaces it, and no correction by hand.
BY_REVIEW = "review"
_VALUES = {"yes": 1.0, "no": 0.0}


@dataclass(frozen=True, slots=True)
class Amending:
    """The corrections that a review comes to, and a sentence for each item on which it comes to none."""

    made: tuple[Amendment, ...]
    remarks: tuple[str, ...] = ()


def amending(run: Run, form: Form, when: str) -> Amending:
    """Return the corrections of ``run`` that the answers to ``form`` come to, for what its questions amend.

    An item is corrected where most of its raters say yes or no and the number says otherwise, and confirmed where the
    number waits for a person to hear it. Unclear answers and raters who split evenly correct nothing, nor does what
    stands by an earlier review or was corrected by hand. Raises :class:`RunError` where no question of the form
    amends anything, and :class:`InputError` where the run was not measured or its corrections cannot be read.
    """
    questions = [question for question in form.questions if question.amends]
    if not questions:
        raise RunError(f"{form.name}: no question of this form corrects a number; `fullduplex amend` does, one by one")
    there = {(row["scenario"], row["item"], row["metric"]): row for row in estimates(run)["items"]}
    tasks = _tasks(run)
    kept = [one for one in read_kept(run.path).reviews if (one.form, one.form_digest) == (form.name, form.digest)]
    by_hand = {(one.set, one.item, one.what.rpartition("/")[2]): one for one in standing(run)}
    made: list[Amendment] = []
    remarks: list[str] = []
    for question in questions:
        for review, found in _answered(kept, form, question):
            where = f"{review.key}, {question.amends}"
            value = _VALUES.get(str(found.value))
            scenarios = (review.set, tasks.get(review.key, ""))
            row = next(filter(None, (there.get((one, review.item, question.amends)) for one in scenarios)), None)
            before = by_hand.get((review.set, review.item, question.amends))
            if row is None:
                remarks.append(f"{where}: the run has no such number")
            elif value is None:
                remarks.append(f"{where}: {'raters split evenly' if found.value is None else 'unclear'}")
            elif before is not None and not before.why.startswith(BY_REVIEW):
                remarks.append(f"{where}: corrected by hand already ({before.who}); left as it is")
            elif (before.new if before is not None else _settled(row)) != value:
                raters = sorted({one.rater for one in kept if one.key == review.key and one.answers.get(question.key)})
                count = f"{found.votes[str(found.value)]} of {found.n} rater{'s' * (found.n != 1)}"
                why = f"{BY_REVIEW} {form.name} {form.version}: {found.value}, {count}"
                what = review.set, review.item, question.amends
                made.append(Amendment(", ".join(raters), when, why, *what, row["value"], value))
    return Amending(tuple(made), tuple(remarks))


def _tasks(run: Run) -> dict[str, str]:
    """Return each item's task, by which its scenario may be called in place of its set."""
    found = {}
    for folder in run.items():
        with contextlib.suppress(InputError):  # told where it is measured
            item = read_item(folder)
            found[f"{item['set']}/{item['id']}"] = str(item["task"])
    return found


def _answered(kept: list[Review], form: Form, question: Question) -> Iterator[tuple[Review, Majority]]:
    """Yield each item that somebody answered ``question`` of, by one of its reviews, and what most raters said."""
    first = {review.key: review for review in reversed(kept)}
    for key, found in majority(kept, form.name, question.key).items():
        yield first[key], found


def _settled(row: Mapping[str, Any]) -> float | None:
    """Return the number in ``row``, None where there is none or it waits for a person."""
    return None if row["value"] is None or TO_HEAR in str(row.get("why", "")) else float(row["value"])
