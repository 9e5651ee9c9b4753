"""What an interaction calls for: ``interaction.json`` of an item, read, and set on a talk's clock.

The file (times in decimal seconds, from the beginning of the cue's own audio)::

    {"schema": 1, "scenario": "grammar", "category": "grammar", "target": "went", "synthesised": true,
     "expects": [{"id": "1", "cue": "u0", "start": 4.21, "end": 4.63, "word": "goed", "action": "INTERRUPT",
                  "window": [0.05, 0.3], "overlap": "required", "target": "went"}],
     "probes": [{"id": "1", "cue": "u9", "type": "recall", "expected": "...", "fact": "...",
                 "rests_on_assistant": false}],
     "pauses": [{"cue": "u0", "start": 2.1, "end": 3.7}],
     "marks": [{"cue": "u0", "start": 2.1, "end": 3.7, "kind": "ignored", "text": "..."}],
     "script": [{"who": "user", "text": "...", "cue": "u0"}, {"who": "assistant", "text": "..."}]}

``marks`` are stretches of a cue that an action is judged by (:data:`MARKS`); ``setting``, ``origin`` and
``instructed`` say of what kind the item is (:data:`SETTINGS`, :data:`ORIGINS`, :data:`INSTRUCTED`).

Once a talk was held, ``turns`` says when each cue fell, and every time can be set on the session clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fullduplex.data.audio import probe
from fullduplex.data.files import brief, member, number, read_json, text, time
from fullduplex.errors import InputError
from fullduplex.model.spans import in_seconds

FILE = "interaction.json"
SCHEMA = 1
ACTIONS = ("WAIT", "BACKCHANNEL", "TAKE_FLOOR", "INTERRUPT", "CONTINUE", "YIELD", "RESUME", "ABORT")
OVERLAPS = ("required", "forbidden", "allowed")
PROBES = ("recall", "update", "never_said", "constraint", "attribution", "false_premise", "nonsense")
#: What a stretch of a cue is: the user holds the floor and the system waits; speech that is not for the system;
#: a response may begin before the turn's end; a listener's brief token belongs here; the point at which to break in.
MARKS = ("wait", "ignored", "entry", "backchannel", "target")
#: Where the talk takes place, where its audio is from, and when the system is told what to do.
SETTINGS = ("casual", "meeting", "interview", "customer_service")
ORIGINS = ("recorded", "synthesised")
INSTRUCTED = ("pre-session", "in-session", "not")
_KNOWN = {
    "schema", "scenario", "category", "topic", "target", "targets", "synthesised", "instruction", "expects", "probes",
    "pauses", "script", "turns", "style", "state", "notes", "reply", "voice", "marks",
    "setting", "origin", "instructed",
}  # fmt: skip
_TEXTS = ("category", "topic", "target", "instruction", "style", "notes", "reply", "voice")
#: How the tasks begin that are called by their scenario.
ACTION_TASKS = "da_"
#: What a cue's audio may be shorter than what is marked in it: times are written in microseconds.
_ROUNDED = 0.001


def read_interaction(path: Path, task: str = "") -> dict[str, Any]:
    """Return what an interaction.json says; raises :class:`InputError` on one that cannot be meant.

    ``task``: the item's, where that is known; an action's (``da_…``) is its scenario. What it marks has to lie in a
    turn that it has, or, where none has fallen yet, in a cue of the cues.json beside it.
    """
    told = read_json(path)
    if not isinstance(told, dict):
        raise InputError(path, found=brief(told), expected="an object with a scenario")
    unknown = sorted(set(told) - _KNOWN)
    if unknown:
        raise InputError(path, found=repr(unknown[0]), expected=", ".join(sorted(_KNOWN)))
    if told.get("schema") != SCHEMA:
        raise InputError(path, "schema", found=brief(told.get("schema")), expected=str(SCHEMA))
    scenario = text(member(told, "scenario", path), path, "scenario")
    if task.startswith(ACTION_TASKS) and scenario != task.removeprefix(ACTION_TASKS):
        # It would be measured as the one, and told and judged as the other.
        expected = f"{task.removeprefix(ACTION_TASKS)}, as its set is called"
        raise InputError(path, "scenario", found=brief(scenario), expected=expected)
    for name in _TEXTS:
        text(told.get(name, ""), path, name)
    for n, line in enumerate(_list(told, "script", path)):
        if not isinstance(line, dict):
            raise InputError(path, f"script[{n}]", found=brief(line), expected="an object with who and text")
        for name in ("who", "text"):
            text(line.get(name, ""), path, f"script[{n}].{name}")
    expects = [_expected(one, path, f"expects[{n}]") for n, one in enumerate(_list(told, "expects", path))]
    probes = [_probe(one, path, f"probes[{n}]") for n, one in enumerate(_list(told, "probes", path))]
    pauses = [_placed(one, path, f"pauses[{n}]") for n, one in enumerate(_list(told, "pauses", path))]
    marks = [_mark(one, path, f"marks[{n}]") for n, one in enumerate(_list(told, "marks", path))]
    for name, known in (("setting", SETTINGS), ("origin", ORIGINS), ("instructed", INSTRUCTED)):
        value = text(told.get(name, ""), path, name)
        if value and value not in known:
            raise InputError(path, name, found=value, expected=", ".join(known))
    twice = next((one["id"] for n, one in enumerate(probes) if one["id"] in [p["id"] for p in probes[:n]]), None)
    if twice is not None:
        raise InputError(path, "probes", found=f"{twice!r} twice", expected="an id for each probe")
    turns = _turns(told, path)
    _lies_in_cues({"expects": expects, "probes": probes, "pauses": pauses, "marks": marks}, turns, path)
    return {**told, "expects": expects, "probes": probes, "pauses": pauses, "marks": marks, "turns": turns}


def on_the_clock(told: Mapping[str, Any], turns: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Return what :func:`read_interaction` read with every time on the session clock, in decimal seconds.

    ``turns`` are a talk's (``id``, ``timestamp`` or None, ``text``, ``premise``); without them those of the file count.
    What stands in a cue that never fell has ``start`` and ``end`` None. A probe has ``asked``: whether it was.
    """
    fell = list(turns) or list(told["turns"])
    spans = {str(turn["id"]): turn["timestamp"] for turn in fell}

    def moved(one: Mapping[str, Any]) -> dict[str, Any]:
        span = spans.get(one["cue"])
        if span is None:
            return {**one, "start": None, "end": None}
        # The end of the talk may cut a cue off: what lies past it was never said.
        said = span[0] + one["end"] <= span[1] + 0.001
        return {**one, "start": span[0] + one["start"], "end": span[0] + one["end"]} if said else {
            **one, "start": None, "end": None,
        }  # fmt: skip

    probes = [{**one, "asked": spans.get(one["cue"]) is not None} for one in told["probes"]]
    return {
        **told,
        "turns": [dict(turn) for turn in fell],
        "expects": [moved(one) for one in told["expects"]],
        "pauses": [moved(one) for one in told["pauses"]],
        "marks": [moved(one) for one in told.get("marks", ())],
        "probes": [
            {
                **one,
                "start": (spans.get(one["cue"]) or [None, None])[0],
                "end": (spans.get(one["cue"]) or [None, None])[1],
            }
            for one in probes
        ],
    }


def _expected(one: Any, path: Path, field: str) -> dict[str, Any]:
    made = _placed(one, path, field)
    action = text(member(one, "action", path, field), path, f"{field}.action")
    if action not in ACTIONS:
        raise InputError(path, f"{field}.action", found=action, expected=", ".join(ACTIONS))
    overlap = text(one.get("overlap", "allowed"), path, f"{field}.overlap")
    if overlap not in OVERLAPS:
        raise InputError(path, f"{field}.overlap", found=overlap, expected=", ".join(OVERLAPS))
    window = one.get("window")
    if window is not None:
        if not isinstance(window, list) or len(window) != 2:
            raise InputError(path, f"{field}.window", found=brief(window), expected="[start, end] in seconds, or null")
        window = [number(each, path, f"{field}.window") for each in window]
        if window[0] > window[1]:
            raise InputError(path, f"{field}.window", found=brief(window), expected="the start before the end")
    return made | {
        "id": text(one.get("id", ""), path, f"{field}.id"),
        "word": text(one.get("word", ""), path, f"{field}.word"),
        "action": action,
        "overlap": overlap,
        "window": window,
        "target": text(one.get("target", ""), path, f"{field}.target"),
    }


def _probe(one: Any, path: Path, field: str) -> dict[str, Any]:
    if not isinstance(one, dict):
        raise InputError(path, field, found=brief(one), expected="a probe")
    kind = text(member(one, "type", path, field), path, f"{field}.type")
    if kind not in PROBES:
        raise InputError(path, f"{field}.type", found=kind, expected=", ".join(PROBES))
    return {
        "id": text(member(one, "id", path, field), path, f"{field}.id"),
        "cue": text(member(one, "cue", path, field), path, f"{field}.cue"),
        "type": kind,
        "expected": text(member(one, "expected", path, field), path, f"{field}.expected"),
        "fact": text(one.get("fact", ""), path, f"{field}.fact"),
        "kind": text(one.get("kind", ""), path, f"{field}.kind"),
        "rests_on_assistant": _yes(one.get("rests_on_assistant", False), path, f"{field}.rests_on_assistant"),
    }


def _yes(value: Any, path: Path, field: str) -> bool:
    if not isinstance(value, bool):
        raise InputError(path, field, found=brief(value), expected="true or false")
    return value


def _placed(one: Any, path: Path, field: str) -> dict[str, Any]:
    if not isinstance(one, dict):
        raise InputError(path, field, found=brief(one), expected="an object with cue, start and end")
    start, end = (time(member(one, name, path, field), path, f"{field}.{name}") for name in ("start", "end"))
    if not 0 <= start < end:
        raise InputError(path, field, found=brief([start, end]), expected="the start before the end, none negative")
    return {"cue": text(member(one, "cue", path, field), path, f"{field}.cue"), "start": start, "end": end}


def _mark(one: Any, path: Path, field: str) -> dict[str, Any]:
    made = _placed(one, path, field)
    kind = text(member(one, "kind", path, field), path, f"{field}.kind")
    if kind not in MARKS:
        raise InputError(path, f"{field}.kind", found=kind, expected=", ".join(MARKS))
    return made | {"kind": kind, "text": text(one.get("text", ""), path, f"{field}.text")}


def _lies_in_cues(
    every: Mapping[str, Sequence[Mapping[str, Any]]], turns: Sequence[Mapping[str, Any]], path: Path
) -> None:
    """Raise :class:`InputError` on what is marked where no cue is, or behind the end of one.

    Nobody would ever say it, and a system would fail for that.
    """
    beside = path.with_name("cues.json")
    audio: dict[str, Path | None] = {str(turn["id"]): None for turn in turns}
    if not audio and beside.is_file():
        cues = read_json(beside)
        for cue in cues.get("cues", ()) if isinstance(cues, dict) and isinstance(cues.get("cues"), list) else ():
            if isinstance(cue, dict) and isinstance(cue.get("id"), str):
                file = cue.get("audio")
                audio[cue["id"]] = path.with_name(file) if isinstance(file, str) and file == Path(file).name else None
    if not audio:
        return
    lengths: dict[str, float] = {}
    for name, marked in every.items():
        for n, one in enumerate(marked):
            cue = one["cue"]
            if cue not in audio:
                raise InputError(path, f"{name}[{n}].cue", found=brief(cue), expected=f"of {', '.join(audio)}")
            file = audio[cue]
            if name == "probes" or file is None or not file.is_file():
                continue
            if cue not in lengths:
                lengths[cue] = in_seconds(probe(file).duration)
            if one["end"] > lengths[cue] + _ROUNDED:
                expected = f"a time in {file.name}, which lasts {lengths[cue]:.3f} s"
                raise InputError(path, f"{name}[{n}].end", found=f"{one['end']:g}", expected=expected)


def _turns(told: Mapping[str, Any], path: Path) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for n, turn in enumerate(_list(told, "turns", path)):
        field = f"turns[{n}]"
        if not isinstance(turn, dict):
            raise InputError(path, field, found=brief(turn), expected="an object with id and timestamp")
        span = turn.get("timestamp")
        if span is not None:
            if not isinstance(span, list) or len(span) != 2:
                raise InputError(path, f"{field}.timestamp", found=brief(span), expected="[start, end] or null")
            span = [time(each, path, f"{field}.timestamp") for each in span]
            if not 0 <= span[0] <= span[1]:
                expected = "the start before the end, none negative"
                raise InputError(path, f"{field}.timestamp", found=brief(span), expected=expected)
        text(turn.get("text", ""), path, f"{field}.text")
        premise = turn.get("premise")
        if premise is not None:
            if not isinstance(premise, dict):
                raise InputError(path, f"{field}.premise", found=brief(premise), expected="an object, or null")
            if premise.get("since") is not None:
                time(premise["since"], path, f"{field}.premise.since")
            if premise.get("system_talking") is not None:
                _yes(premise["system_talking"], path, f"{field}.premise.system_talking")
        if turn.get("id") in [other["id"] for other in made]:
            raise InputError(path, f"{field}.id", found=brief(turn["id"]), expected="an id for each turn")
        made.append({**turn, "id": text(member(turn, "id", path, field), path, f"{field}.id"), "timestamp": span})
    return made


def _list(told: Mapping[str, Any], name: str, path: Path) -> list[Any]:
    value = told.get(name, [])
    if not isinstance(value, list):
        raise InputError(path, name, found=brief(value), expected="a list")
    return value
