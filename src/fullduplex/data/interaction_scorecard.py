"""A released scorecard of InteractionBench (``benchmark.json``) as the content of an interaction.json.

A scorecard says for each graded event which word of the user's calls for what, when and with what answer. It says no
times: where the word was said, the recording has to tell (:mod:`fullduplex.measures.placed`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fullduplex.data.files import brief, member, number, read_json, text
from fullduplex.data.interactions import ACTIONS, OVERLAPS, SCHEMA
from fullduplex.errors import InputError

#: Their names of scenarios, and ours.
CATEGORIES = MappingProxyType(
    {
        "backchannel": "ib_backchannel",
        "pause": "ib_pause",
        "turn_taking": "ib_turn_taking",
        "user_backchannel": "ib_user_backchannel",
        "interruption": "ib_interruption",
        "logic_puzzle": "ib_logic",
        "countdown_completion": "ib_countdown",
        "alternating_count": "ib_alternating_count",
        "grammar_correction": "ib_grammar",
        "keyword_wait": "ib_keyword_wait",
        "stay_quiet_until_help": "ib_stay_quiet",
        "whisper_production": "ib_whisper",
        "volume_understanding": "ib_volume",
        "interaction_groundedness": "ib_groundedness",
    }
)
#: Categories of scorecards that no scenario of the benchmark asks.
UNSCORED = (
    "deliberate_overlap",
    "forbidden_phrase_interruption",
    "wrong_word_correction",
    "predictive_number_continuation",
    "phrase_completion",
)
#: The user's turns of the scenarios whose items have no script in the release.
_TURNS = {
    "ib_backchannel": ("u0",),
    "ib_pause": ("u0",),
    "ib_turn_taking": ("u0",),
    "ib_user_backchannel": ("u0", "b0", "b1"),
    "ib_interruption": ("u0", "u1"),
    "ib_whisper": ("u0",),
    "ib_volume": ("u0",),
}
#: An answer of several parts that the system says by itself: content alone, tied to no word.
_BY_ITSELF = "SELF_COMPLETE"
#: Their types of probes, and ours; theirs is kept as ``kind``.
_PROBES = {
    "recall": "recall",
    "reference": "recall",
    "state_update": "update",
    "genuine_correction": "update",
    "stale_turn": "update",
    "unknown": "never_said",
    "constraint": "constraint",
    "speaker": "attribution",
    "false_action": "false_premise",
    "false_accusation": "false_premise",
    "nonsense": "nonsense",
}
#: Probes that assume what the scripted assistant said or did.
_RESTING = frozenset({"unknown", "false_action", "false_accusation"})

Line = tuple[str, str]


def read_dialogue(path: Path) -> list[Line]:
    """Return the scripted lines of a dialogue.json as (``user`` or ``assistant``, text); raises :class:`InputError`."""
    told = read_json(path)
    made = []
    for n, one in enumerate(_list(member(told, "utterances", path), path, "utterances")):
        field = f"utterances[{n}]"
        made.append((_who(one, path, field), text(member(one, "text", path, field), path, f"{field}.text")))
    return made


def interaction(
    dataset: str, scorecard: Path | None, lines: Sequence[Line] = (), turns: int = 0, number_of: str = ""
) -> dict[str, Any]:
    """Return the content of an interaction.json whose times are not known yet: ``unplaced``, and None for each.

    ``lines`` are the script, ``turns`` is how many recordings of the user's the item has (0: not told); where the
    two differ, the turns have no text. ``number_of`` is the item's number, by which a file of several conversations
    is read. Events that are not graded call for nothing. Raises :class:`InputError` in one sentence on a scorecard
    that cannot be meant.
    """
    told = read_json(scorecard) if scorecard is not None else {}
    path = scorecard or Path()
    if not isinstance(told, dict):
        raise InputError(path, found=brief(told), expected="a scorecard, an object")
    told = _conversation(told, path, number_of)
    own = _list(told.get("turns", []), path, "turns")
    if own:
        lines = [
            (_who(one, path, f"turns[{n}]"), text(member(one, "text", path, f"turns[{n}]"), path, f"turns[{n}].text"))
            for n, one in enumerate(own)
        ]
    script, cues = _script(dataset, lines, turns)
    expects = [
        made
        for n, one in enumerate(_list(told.get("expected_events", []), path, "expected_events"))
        if (made := _expected(one, path, f"expected_events[{n}]", script, cues)) is not None
    ]
    return {
        "schema": SCHEMA,
        "scenario": dataset.removeprefix("ib_"),
        "category": text(told.get("category", ""), path, "category"),
        "target": _target(told, path),
        "synthesised": True,
        "expects": expects,
        "probes": _probes(own, path, script),
        "pauses": [{"cue": "u0", "start": None, "end": None}] if dataset == "ib_pause" else [],
        "script": script,
        "turns": [{"id": cue, "timestamp": None, "text": said} for cue, said in cues],
        "unplaced": True,
    }


def _conversation(told: Mapping[str, Any], path: Path, number_of: str) -> dict[str, Any]:
    """Return the conversation of that number in a file of several (``scenarios``), else the whole."""
    if "scenarios" not in told:
        return dict(told)
    for one in _list(told["scenarios"], path, "scenarios"):
        digits = str(one.get("id", "")).rpartition("-")[2] if isinstance(one, dict) else ""
        if digits.isdigit() and number_of.isdigit() and int(digits) == int(number_of):
            return dict(one)
    raise InputError(path, "scenarios", found=f"none of number {number_of or 'unknown'}", expected="one for each item")


def _script(dataset: str, lines: Sequence[Line], turns: int) -> tuple[list[dict[str, str]], list[tuple[str, str]]]:
    """Return the script, its user lines tied to cues, and each cue with its text."""
    users = sum(who == "user" for who, _ in lines)
    tied = bool(users) and turns in (0, users)
    script, cues = [], list[tuple[str, str]]()
    for who, said in lines:
        line = {"who": who, "text": said}
        if who == "user" and tied:
            line["cue"] = f"u{len(cues)}"
            cues.append((line["cue"], said))
        script.append(line)
    if not tied:
        names = tuple(f"u{n}" for n in range(turns)) or _TURNS.get(dataset, ())
        cues = [(name, "") for name in names]
    if dataset == "ib_user_backchannel":  # they are no lines of the script
        cues += [(name, "") for name in _TURNS[dataset] if name not in {cue for cue, _ in cues} and name[0] == "b"]
    return script, cues


def _expected(
    event: Any, path: Path, field: str, script: Sequence[Mapping[str, str]], cues: Sequence[tuple[str, str]]
) -> dict[str, Any] | None:
    if not isinstance(event, dict):
        raise InputError(path, field, found=brief(event), expected="an event, an object")
    graded, trigger = event.get("graded", True), event.get("trigger")
    if not isinstance(graded, bool):
        raise InputError(path, f"{field}.graded", found=brief(graded), expected="true or false")
    action = text(member(event, "expected_action", path, field), path, f"{field}.expected_action")
    if action not in (*ACTIONS, _BY_ITSELF):
        raise InputError(path, f"{field}.expected_action", found=action, expected=", ".join((*ACTIONS, _BY_ITSELF)))
    if not graded or trigger is None or action == _BY_ITSELF:
        return None
    overlap = event.get("expected_overlap")
    if overlap not in (None, *OVERLAPS):
        raise InputError(path, f"{field}.expected_overlap", found=brief(overlap), expected=", ".join(OVERLAPS))
    reference = event.get("onset_reference")
    if reference not in (None, "trigger_word_end"):
        raise InputError(path, f"{field}.onset_reference", found=brief(reference), expected="trigger_word_end")
    position = trigger.get("ov_reported") if isinstance(trigger, dict) else None
    return {
        "id": text(event.get("event_id", ""), path, f"{field}.event_id"),
        "cue": _cue(event.get("response_line_index"), path, f"{field}.response_line_index", script, cues),
        "word": text(member(trigger, "anchor_word", path, f"{field}.trigger"), path, f"{field}.trigger.anchor_word"),
        "position": None if position is None else number(position, path, f"{field}.trigger.ov_reported"),
        "action": action,
        "window": _window(event.get("onset_window_ms"), path, f"{field}.onset_window_ms"),
        "overlap": overlap or "allowed",
        "target": text(event.get("target_response") or "", path, f"{field}.target_response"),
        "start": None,
        "end": None,
    }


def _cue(
    line: object, path: Path, field: str, script: Sequence[Mapping[str, str]], cues: Sequence[tuple[str, str]]
) -> str:
    """Return the turn that a reply answers: the last of the user's before it in the script, else the last of all."""
    if line is not None and (not isinstance(line, int) or isinstance(line, bool) or line < 0):
        raise InputError(path, field, found=brief(line), expected="the number of a line, counted from 0")
    before = [one["cue"] for one in script[:line] if "cue" in one]
    return before[-1] if before else cues[-1][0] if cues else "u0"


def _window(window: object, path: Path, field: str) -> list[float] | None:
    if window is None:
        return None
    if not isinstance(window, list) or len(window) != 2:
        raise InputError(path, field, found=brief(window), expected="two times in milliseconds, or null")
    low, high = (number(each, path, field, "a time in milliseconds") / 1000 for each in window)
    if low > high:
        raise InputError(path, field, found=brief(window), expected="the start before the end")
    return [low, high]


def _target(told: Mapping[str, Any], path: Path) -> str:
    events = [e for e in told.get("expected_events", []) if isinstance(e, dict) and e.get("graded", True)]
    first = events[0] if events else {}
    named = (told.get("card_target"), first.get("expected_completion"), first.get("target_response"))
    return text(next((one for one in named if one), ""), path, "card_target")


def _probes(turns: Sequence[Any], path: Path, script: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for n, (turn, line) in enumerate(zip(turns, script, strict=bool(turns))):
        probe = turn.get("probe")
        if probe is None or "cue" not in line:
            continue
        field = f"turns[{n}].probe"
        kind = text(member(probe, "type", path, field), path, f"{field}.type")
        if kind not in _PROBES:
            raise InputError(path, f"{field}.type", found=kind, expected=", ".join(_PROBES))
        made.append(
            {
                "id": str(len(made) + 1),
                "cue": line["cue"],
                "type": _PROBES[kind],
                "kind": kind,
                "expected": text(member(probe, "expected", path, field), path, f"{field}.expected"),
                "fact": "",
                "rests_on_assistant": kind in _RESTING,
            }
        )
    return made


def _who(one: Any, path: Path, field: str) -> str:
    who = {"0": "user", "1": "assistant", "user": "user", "assistant": "assistant", "A": "user", "B": "assistant"}
    speaker = str(member(one, "speaker", path, field))
    if speaker not in who:
        raise InputError(path, f"{field}.speaker", found=speaker, expected="0 or user, 1 or assistant")
    return who[speaker]


def _list(value: object, path: Path, field: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(path, field, found=brief(value), expected="a list")
    return value
