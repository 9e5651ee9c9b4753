"""What is marked in an action item, as the timeline shows it: in plain words that tell no condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fullduplex.reporting.review.labels import labels_of

#: What a mark is called above the timeline.
MARKED = {
    "wait": "wait",
    "ignored": "not for the listener",
    "entry": "may begin here",
    "backchannel": "brief token",
    "target": "break in",
}
OVER = "said over the answer"


def marks_of(told: Mapping[str, Any], turns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the marks of an interaction whose times are on the clock, and the turns after the first that have none.

    ``turns`` have an ``id`` and a ``timestamp`` of seconds, or None. Nothing where it is no item of DuplexAct's.
    """
    if not labels_of(str(told.get("scenario", ""))):
        return []
    marks = told.get("marks", ())
    made = [
        {"kind": MARKED[mark["kind"]], "start": mark["start"], "end": mark["end"], "text": mark.get("text", "")}
        for mark in marks
        if mark["start"] is not None
    ]
    marked = {mark["cue"] for mark in marks}
    made += [
        {"kind": OVER, "start": turn["timestamp"][0], "end": turn["timestamp"][1], "text": ""}
        for turn in turns[1:]
        if turn["id"] not in marked and turn["timestamp"] is not None
    ]
    return made
