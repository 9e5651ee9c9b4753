"""What an item of an action calls for, as its page tells it: condition, target, and the stretches it is judged by."""

from __future__ import annotations

from typing import Any

from fullduplex.benchmarks.duplexact.conditions import actions, condition_named
from fullduplex.measures.interaction import scene
from fullduplex.model.spans import in_seconds
from fullduplex.model.trials import Absent, Trial

#: What each kind of mark means, in a legend.
MARKS = {
    "wait": "silence is called for",
    "ignored": "speech that is to be ignored",
    "entry": "a response may begin here",
    "backchannel": "a brief token belongs here",
    "target": "the point at which to break in",
}


def condition_of(trial: Trial) -> dict[str, Any]:
    """Return what the trial's condition is and calls for; nothing where it is no condition of an action.

    ``title``, ``definition``, ``calls_for``, ``whose`` (the condition's definition) and ``criteria`` (whose those of
    success are), ``immediate``, ``follow_through`` and ``timing`` (what succeeds; "" where nothing is timed),
    ``target``, ``setting``, ``origin``, and ``marks``: ``kind``, ``means``, ``text``, ``start`` and ``end`` in decimal
    seconds (None of one that was never said).
    """
    found = scene(trial)
    condition = None if isinstance(found, Absent) else condition_named(found.scenario)
    if isinstance(found, Absent) or condition is None:
        return {}
    action = next(one for one in actions() if one.key == condition.action)
    return {
        "title": f"{action.title}: {condition.title}",
        "definition": condition.definition,
        "calls_for": condition.calls_for,
        "whose": condition.source,
        "criteria": action.success,
        "immediate": action.immediate,
        "follow_through": action.follow_through,
        "timing": action.timing,
        "target": found.target,
        "setting": found.setting.replace("_", " "),
        "origin": found.origin,
        "marks": [
            {
                "kind": mark.kind,
                "means": MARKS.get(mark.kind, mark.kind),
                "text": mark.text,
                "start": None if mark.span is None else in_seconds(mark.span.start),
                "end": None if mark.span is None else in_seconds(mark.span.end),
            }
            for mark in found.marks
        ],
    }
