"""What of an item reaches the page: the two voices, the event and what the form shows; never whose it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fullduplex.data.files import parse_json, read_text_file
from fullduplex.errors import InputError
from fullduplex.model.items import Event
from fullduplex.model.spans import in_seconds
from fullduplex.model.speech import Track
from fullduplex.model.trials import Trial
from fullduplex.reporting.review.claims import Claim
from fullduplex.reporting.review.forms import Form
from fullduplex.reporting.review.labels import labels_of
from fullduplex.reporting.review.marks import marks_of
from fullduplex.runs.stored import StoredItem, read_item

#: The tasks and events of Full-Duplex-Bench in plain words.
PLAIN = {
    "pause_handling": "the user pauses and goes on",
    "smooth_turn_taking": "the user has finished and waits for an answer",
    "backchannel": "the user speaks at length",
    "user_interruption": "the user interrupts the system",
    "user_backchannel": "the user acknowledges while the system speaks",
    "talking_to_other": "the user talks to somebody else",
    "background_speech": "others speak in the background",
    "turn_end": "end of the user's turn",
    "user_end": "end of the user's turn",
}
#: What each task calls for, in the terms of DuplexAct's actions; our reading, for items without a label of their own.
CALLS_FOR = {
    "pause_handling": "wait: stay silent until the user has finished",
    "smooth_turn_taking": "take the turn: answer",
    "backchannel": "backchannel: acknowledge without taking the turn",
    "user_interruption": "stop: let the user speak, then answer",
    "user_backchannel": "hold the floor: go on speaking",
    "talking_to_other": "hold the floor: go on speaking",
    "background_speech": "hold the floor: go on speaking",
}
HEADINGS = {
    "task": "Situation",
    "kind": "Event",
    "context": "Said before",
    "event": "Then is heard",
    "action": "Behaviour called for",
    "condition": "Situation",
    "found": "What the rule found",
    "clean": "In the same talk without it, the system says",
    "verdict": "The program's verdict",
}
#: Of these fields the words are the package's own; of others they are what was said, or what a machine found.
OURS = ("task", "kind", "action", "condition")
_LONGEST = 4_000


def card(stored: StoredItem, form: Form, claim: Claim | None = None) -> dict[str, Any]:
    """Return what the page shows of an item under ``form``, without its sound.

    ``tracks`` and ``events`` are as the timeline of the report has them; an event is named ``event`` unless the
    form tells what it is. ``shown`` are a heading and a text each, in the form's order, ``told`` such by the question
    that they are written with; ``asked`` names the questions that are put of this item. Nothing in it names a system,
    an item, a file, a recogniser or a judge.
    """
    trial = stored.trial
    fields = fields_of(stored, claim)
    open_kind = bool({"task", "kind", "condition", "action"} & form.labels)
    return {
        **sheet_of(fields, form),
        "tracks": {"user": _track(trial.user), "system": _track(trial.system)},
        "events": [
            {
                "kind": _plain(event.kind) if open_kind else "event",
                "start": in_seconds(event.span.start),
                "end": in_seconds(event.span.end),
                "text": "",
            }
            for event in trial.events
        ]
        + [mark if open_kind else {**mark, "kind": "event", "text": ""} for mark in _marks(trial)],
    }


def sheet_of(fields: Mapping[str, str], form: Form) -> dict[str, Any]:
    """Return ``shown``, ``told`` and ``asked`` of an item with these ``fields``, as :func:`card` has them."""

    def written(names: Sequence[str]) -> list[list[str]]:
        return [
            [HEADINGS.get(name, _plain(name).capitalize()), fields[name][:_LONGEST]]
            for name in names
            if fields.get(name)
        ]

    return {
        "shown": written(form.shows),
        "told": {question.key: told for question in form.questions if (told := written(question.shows))},
        "asked": [q.key for q in form.questions if not q.shown_if or fields.get(q.shown_if)],
    }


def _marks(trial: Trial) -> list[dict[str, Any]]:
    told = trial.item.reference.get("interaction")
    return marks_of(told, told.get("turns", ())) if isinstance(told, Mapping) else []


def asked(folder: Path, form: Form, claim: Claim | None = None) -> list[str]:
    """Return the keys of the questions that ``form`` puts of the item in ``folder``."""
    if not any(question.shown_if for question in form.questions):
        return [question.key for question in form.questions]
    fields = fields_of(read_item(folder), claim)
    return [question.key for question in form.questions if not question.shown_if or fields.get(question.shown_if)]


def fields_of(stored: StoredItem, claim: Claim | None = None) -> dict[str, str]:
    """Return what can be shown of an item, by name: texts, and "" or nothing for what it does not have.

    ``action`` and ``condition`` are the item's own labels, of DuplexAct's with what they mean; without them what its
    task calls for (:data:`CALLS_FOR`), and the task. ``synthesised`` is ``yes`` where a synthesiser spoke the user.
    """
    trial = stored.trial
    event = trial.events[0] if trial.events else None
    reference = {key: str(value) for key, value in trial.item.reference.items() if isinstance(value, str | int)}
    return {
        **{key: _plain(value) if key in ("action", "condition") else value for key, value in reference.items()},
        "task": _plain(stored.task),
        "kind": _plain(event.kind) if event else "",
        "context": reference.get("context") or _before(trial, event),
        "event": (event.text or trial.user.said(event.span)) if event else "",
        "action": _plain(reference.get("action", "")) or CALLS_FOR.get(stored.task, ""),
        "condition": _plain(reference.get("condition", "") or stored.task),
        "verdict": claim.said if claim else "",
        "clean": _words(trial.twin.system) if trial.twin else "",
        "synthesised": "yes" if synthesised(stored) else "",
        **labels_of(stored.task),
    }


def synthesised(stored: StoredItem) -> bool:
    """Return whether a synthesiser spoke the user's side: the item says so, or its set's name, or its times do."""
    told = stored.trial.item.reference
    told = {**told, **(told.get("interaction") or {})}
    if "synthesised" in told:
        return told["synthesised"] is True
    if "origin" in told:
        return str(told["origin"]).casefold().startswith("synth")
    if stored.set.casefold().startswith("synth"):
        return True
    return any(_from_synthesiser(path) for name, path in stored.files.items() if name.endswith(".json"))


def _from_synthesiser(path: Path) -> bool:
    try:
        value = parse_json(read_text_file(path), path)
    except InputError:
        return False
    rows = value if isinstance(value, list) else [value]
    return any(isinstance(row, Mapping) and row.get("time_from") == "synthesiser" for row in rows)


def _track(track: Track) -> dict[str, Any]:
    return {
        "words": [[word.text, in_seconds(word.span.start), in_seconds(word.span.end)] for word in track.words or ()],
        "speech": [[in_seconds(span.start), in_seconds(span.end)] for span in track.speech or ()],
    }


def _words(track: Track) -> str:
    return " ".join(word.text for word in track.words or ())


def _before(trial: Trial, event: Event | None) -> str:
    if event is None:
        return ""
    return " ".join(word.text for word in trial.user.words or () if word.span.end <= event.span.start)


def _plain(name: str) -> str:
    return PLAIN.get(name, name.replace("_", " ").strip())
