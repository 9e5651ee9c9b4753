"""What a rater reads, in the language of the page: the questionnaire's words, and what the package says of an item.

A questionnaire in another language is one of other words: its digest is another, and so its answers stand apart from
those that were given to the English words. The values that are kept are the same. What was said in the clip, and a
machine's verdict, stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fullduplex.reporting.language import Language
from fullduplex.reporting.review.card import HEADINGS, OURS
from fullduplex.reporting.review.forms import Form, Question


def form_told(form: Form, tell: Language) -> Form:
    """Return a questionnaire in the language of ``tell``; what the catalogue does not have stays as it was written."""
    if tell.original:
        return form
    return replace(
        form,
        title=tell.kept(form.title),
        intro=tell.kept(form.intro),
        questions=tuple(_question_told(one, tell) for one in form.questions),
    )


def _question_told(question: Question, tell: Language) -> Question:
    options = tuple(
        replace(one, label=tell.kept(one.label), help=tell.kept(one.help) if one.help else "")
        for one in question.options
    )
    lines = [tell.kept(line) for line in question.help.split("\n")]
    return replace(question, ask=tell.kept(question.ask), help="\n".join(lines), options=options)


def sheet_told(sheet: Mapping[str, Any], tell: Language) -> dict[str, Any]:
    """Return what the page shows of an item (see :func:`.card.card`) with what the package says of it told."""
    if tell.original:
        return dict(sheet)
    ours = {HEADINGS[name] for name in OURS}

    def written(pairs: Any) -> list[list[str]]:
        return [[tell.kept(head), _label(text, tell) if head in ours else text] for head, text in pairs]

    return {
        **sheet,
        "shown": written(sheet["shown"]),
        "told": {key: written(pairs) for key, pairs in sheet["told"].items()},
        "events": [{**event, "kind": tell.kept(str(event["kind"]))} for event in sheet["events"]],
    }


def _label(text: str, tell: Language) -> str:
    """Return a label told: as a whole, else as ``TITLE. What it means``."""
    if tell.knows(text):
        return tell.kept(text)
    title, there, means = text.partition(". ")
    return f"{tell.kept(title)}{there}{tell.kept(means)}" if there else text
