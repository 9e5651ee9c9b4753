"""The record of a talk, read back: whoever reads it later knows that its parts are what they should be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fullduplex.data.files import brief, member, pair, read_json, text, time
from fullduplex.driving.keep import ABOUT
from fullduplex.errors import InputError
from fullduplex.model.spans import in_seconds
from fullduplex.runs.stimulus import LONGEST

#: What a finished talk leaves last, so that its presence says that the rest is whole.
DONE = ABOUT
#: The folder of the talk with an item's clean twin, inside the item's.
TWIN = "clean"

_OBJECTS = ("pacing", "received", "clocks", "made_of")
_LISTS = ("turns", "attempts", "stages")
_TEXTS = ("clock", "ended_by", "protocol", "failed", "digest")


def read_told(folder: Path) -> dict[str, Any]:
    """Return what the talk in ``folder`` says of itself.

    Members may be missing (a talk that never began has few); those that are there have their kind. Raises
    :class:`InputError` where there is no such file or it is no talk's.
    """
    path = folder / DONE
    told = read_json(path)
    if not isinstance(told, dict):
        raise InputError(path, found=brief(told), expected="a talk.json that fullduplex wrote")
    for name in _OBJECTS:
        if not isinstance(told.get(name, {}), dict):
            raise InputError(path, name, found=brief(told[name]), expected="an object")
    for name in _TEXTS:
        text(told.get(name, ""), path, name)
    time(told.get("pacing", {}).get("worst_lateness", 0.0), path, "pacing, worst_lateness")
    _decisions(told.get("received", {}).get("decision_lag"), path)
    for name in _LISTS:
        found = told.get(name, [])
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise InputError(path, name, found=brief(found), expected="a list of objects")
    if "duration" in told and not 0 <= time(told["duration"], path, "duration") <= _LONGEST:
        raise InputError(path, "duration", found=brief(told["duration"]), expected="seconds, no more than two days")
    for n, turn in enumerate(told.get("turns", ())):
        where = f"turns[{n}], timestamp"
        found = member(turn, "timestamp", path, where)
        if found is not None:
            start, end = (time(moment, path, where) for moment in pair(found, path, where))
            if not start < end:
                raise InputError(path, where, found=brief(found), expected="start before end")
    for n, attempt in enumerate(told.get("attempts", ())):
        faults = attempt.get("discarded", [])
        listed = faults if isinstance(faults, list) else [faults]
        kinds = [fault.get("kind") if isinstance(fault, dict) else None for fault in listed]
        if not all(isinstance(kind, str) for kind in kinds):
            raise InputError(path, f"attempts[{n}], discarded", found=brief(faults), expected="a list of faults")
    return told


def _decisions(found: Any, path: Path) -> None:
    """Raise :class:`InputError` where the lags of a system in fixed units are none."""
    units = found.get("units") if isinstance(found, dict) else None
    rows = units if isinstance(units, list) else [None]
    if found is not None and not all(
        isinstance(row, list) and len(row) == 2 and all(type(x) in (int, float) and abs(x) <= _LONGEST for x in row)
        for row in rows
    ):
        raise InputError(
            path, "received, decision_lag", found=brief(found), expected="units, each its end and lag in seconds"
        )


def was_held(folder: Path) -> bool:
    """Return whether the talk in ``folder`` did not fail: one that did says nothing of what its system does."""
    if not (folder / DONE).is_file():
        return False
    try:
        return not read_told(folder).get("failed")
    except InputError:
        return False


#: A reply that comes after a whole input may make a talk longer than its cap.
_LONGEST = 2 * in_seconds(LONGEST)
