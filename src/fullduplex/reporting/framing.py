"""A table with its footnotes and notes: what every table of several systems has in common, as pure data.

A table is ``variant``, ``key``, ``title``, ``text``, ``head`` (what its rows are), ``columns`` (``title``, ``unit``,
``better``; where it has one the ``group`` of columns it belongs to, and ``whose`` definition it is), ``rows``
(``name``, ``marks`` beside it, ``cells`` as in :mod:`.cells`, one a column; where rows are grouped their ``group``),
``footnotes`` (what cells have to tell; a cell's ``refs`` are the numbers of its own, from 1), ``notes`` on the table as
a whole, and ``looks``: how a page draws it, "" for plain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fullduplex.reporting.cells import BEST_RESTS_ON, BY_CONSTRUCTION, WAITING, parts_of
from fullduplex.reporting.seats import NETWORK, SIMULATED, WHOLE_TURNS, Ground

Table = dict[str, Any]


def framed(
    ground: Ground,
    key: str,
    title: str,
    text: str,
    heads: Sequence[Mapping[str, str]],
    rows: Sequence[Mapping[str, Any]],
    *,
    head: str = "System",
    looks: str = "",
) -> Table:
    """Return a table of ``rows`` under ``heads``; numbers the footnotes of its cells."""
    return {
        "variant": ground.variant,
        "key": key,
        "title": title,
        "text": text,
        "head": head,
        "columns": [{"group": "", "whose": "", **one} for one in heads],
        "rows": [{"group": "", **row} for row in rows],
        "footnotes": _footnotes(rows),
        "notes": _notes(heads, rows),
        "looks": looks,
    }


def _notes(heads: Sequence[Mapping[str, str]], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what has to be said under a table as a whole."""
    marks = {mark for row in rows for mark in row["marks"]}
    told = []
    if NETWORK in marks:
        told.append(f"“{NETWORK}”: times are where the client heard the system, and hold the way there and back.")
    if SIMULATED in marks:
        told.append(f"“{SIMULATED}”: its times were computed from the steps of its model, not lived through.")
    if any(part["note"] == BY_CONSTRUCTION for row in rows for one in row["cells"] for part in parts_of(one)):
        told.append(f"“{BY_CONSTRUCTION}”: {WHOLE_TURNS}, a system cannot speak within one; that is no restraint.")
    for place, head in enumerate(heads):
        counts = [one["n"] for row in rows if (one := row["cells"][place]) is not None and one["value"] is not None]
        if head["better"] != "neither" and counts and min(counts) < BEST_RESTS_ON * max(counts):
            told.append(f"{head['title']}: a value on less than half of the most items is not marked as best.")
    return told


def _footnotes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what cells have to tell beside their number, each once; a cell's ``refs`` number its own from 1."""
    told: dict[str, int] = {}
    for row in rows:
        for one in row["cells"]:
            if one is not None:
                texts = [text for part in parts_of(one) for text in _told(part)]
                one["refs"] = sorted({told.setdefault(text, len(told) + 1) for text in texts if text})
    return list(told)


def _told(one: Mapping[str, Any]) -> tuple[str, str, str]:
    # What waits for a judge is told once.
    reasons = [pair for pair in one["absent"] if not ("judge" in one["note"] and pair[0] in WAITING)]
    absent = "; ".join(f"{number} × {reason}" for reason, number in reasons)
    return (
        one["note"] if one["note"] != BY_CONSTRUCTION else "",
        " ".join(filter(None, (one["absent_of"], f"absent: {absent}"))) if absent else "",
        f"judged: {one['judged']}" if one["judged"] else "",
    )
