"""What the user does in an item: plain replay of input.wav, or what the item's cues.json says.

``cues.json`` (times in decimal seconds; every member but ``cues`` may be left out)::

    {"schema": 1,
     "prompt": "You are a helpful assistant.",
     "cues": [{"audio": "question.wav", "text": "...", "due": {"when": "at", "time": 0.5}},
              {"audio": "stop.wav", "due": {"when": "into_reply", "delay": 2.0}, "event": "interruption",
               "effects": [{"kind": "clipping", "level": -3}]}],
     "effects": [{"kind": "noise", "snr": 10, "seed": 3}],
     "hang_up": {"quiet": 4, "patience": 30}, "cap": 120}

Audio lies in the item's folder. Effects of a cue are put on its audio, the others on everything that is sent.
With ``"hang_up": null`` the talk ends with the last cue's audio. In place of ``cues`` there may be
``"branches": "script.json"`` (see :mod:`fullduplex.driving.branches`), or a simulated user (needs a ``goal`` alone)::

    "simulated": {"goal": "Book a table for two.", "persona": "warm", "model": "smollm2", "voice": "hibari",
                  "recogniser": "whisper", "policy": {"turns": 4}}

``voice`` and ``recogniser`` beside ``branches`` speak its texts and hear a system that reports no words, and
``"events": {"interruption-node": "interruption"}`` says which of its nodes is an event.
``check`` says what a valid user's side is (:class:`fullduplex.driving.validity.Check`), and ``recogniser`` in it
what hears whether the right words were said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fullduplex.data.audio import probe
from fullduplex.data.check import Finding
from fullduplex.data.dataset import Entry
from fullduplex.data.files import brief, member, no_others, read_json, text, time
from fullduplex.driving.cues import Due, at, due_from_json
from fullduplex.driving.talk import HangUp
from fullduplex.errors import InputError
from fullduplex.model.items import KINDS
from fullduplex.model.spans import seconds

CUES = "cues.json"
_MEMBERS = {
    "schema", "prompt", "cues", "effects", "hang_up", "cap",
    "branches", "voice", "recogniser", "simulated", "check", "events",
}  # fmt: skip
_CUE_MEMBERS = {"id", "audio", "channel", "text", "due", "event", "effects"}
#: No talk lasts longer.
LONGEST = seconds(86_400)
#: The hard cap of an item that states none.
CAP = seconds(120)


@dataclass(frozen=True, slots=True)
class Cued:
    """A file of the user's and when it is released; ``event`` is the kind of event that it is, if any."""

    audio: Path
    due: Due
    id: str = ""
    text: str = ""
    event: str = ""
    channel: int | None = None
    effects: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Stimulus:
    """All that the user does. Without ``hang_up`` the talk lasts as long as the one file that is replayed.

    ``cap`` is the most that a talk may last, in microseconds; None for a replay. ``branches`` and ``simulated``
    are what a user needs who decides as the talk goes on; then there are no ``cues``. ``place`` is the file
    that said all this.
    """

    cues: tuple[Cued, ...]
    prompt: str = ""
    effects: tuple[Mapping[str, Any], ...] = ()
    hang_up: HangUp | None = None
    cap: int | None = None
    branches: Path | None = None
    simulated: Mapping[str, Any] | None = None
    voice: str = ""
    recogniser: str = ""
    check: Mapping[str, Any] | None = None
    events: Mapping[str, str] = field(default_factory=dict)
    place: Path = Path()
    protocol: str = "direct replay"

    @property
    def computes(self) -> bool:
        """Return whether the user's own side takes time: a model that writes, a recogniser that hears."""
        return self.simulated is not None or (self.branches is not None and bool(self.recogniser))

    @property
    def judged(self) -> bool:
        """Return whether the user's side may be wrong: it decides for itself, or the item says what is right."""
        return self.branches is not None or self.simulated is not None or self.check is not None


def stimulus(entry: Entry) -> Stimulus:
    """Return what the user does in ``entry``; raises :class:`InputError` where it does not say."""
    if CUES in entry.files:
        return read_cues(entry.files[CUES])
    if entry.user_voice is None:
        raise InputError(entry.key, found=f"neither input.wav nor {CUES}", expected="what the user says")
    voice = entry.user_voice
    return Stimulus((Cued(voice.path, at(0), channel=voice.channel),), place=voice.path)


def unreadable(entries: Iterable[Entry]) -> tuple[Finding, ...]:
    """Return an error for each item whose ``cues.json``, or a recording that it names, cannot be read."""
    found = []
    for entry in entries:
        try:
            for cue in stimulus(entry).cues if CUES in entry.files else ():
                probe(cue.audio)
        except InputError as error:
            found.append(Finding("error", entry.key, CUES, str(error), "cannot be read"))
    return tuple(found)


def read_cues(path: Path) -> Stimulus:
    """Return what the ``cues.json`` at ``path`` says; raises :class:`InputError` in one sentence."""
    told = read_json(path)
    if not isinstance(told, dict):
        raise InputError(path, found=brief(told), expected="an object with cues")
    no_others(told, _MEMBERS, path)
    if told.get("schema", 1) != 1:
        raise InputError(path, "schema", found=brief(told["schema"]), expected="1")
    branches = told.get("branches")
    simulated = told.get("simulated")
    cues = [] if branches or simulated else _list(member(told, "cues", path), path, "cues")
    hang_up = told.get("hang_up")
    rule = None if "hang_up" in told and hang_up is None else _hang_up(hang_up or {}, path)
    cap = seconds(time(told["cap"], path, "cap")) if "cap" in told else CAP
    if not 0 < cap <= LONGEST:
        raise InputError(path, "cap", found=brief(told["cap"]), expected="a time above 0, at most a day")
    if rule is None and "cap" in told:
        raise InputError(
            path, "cap", found=brief(told["cap"]), expected='none beside "hang_up": null, which ends with the last cue'
        )
    if simulated is not None and not isinstance(simulated, dict):
        raise InputError(path, "simulated", found=brief(simulated), expected="an object")
    check = told.get("check")
    if check is not None and not isinstance(check, dict):
        raise InputError(path, "check", found=brief(check), expected="an object")
    found = tuple(_cue(cue, path, f"cues[{n}]") for n, cue in enumerate(cues))
    if not found and not branches and not simulated:
        raise InputError(path, "cues", found="none", expected="at least one cue")
    replay = not branches and not simulated and all(isinstance(cue.due, at) for cue in found)
    if rule is None and not replay:
        raise InputError(path, "hang_up", found="null", expected="a rule, where not every cue has a time")
    return Stimulus(
        found,
        text(told.get("prompt", ""), path, "prompt"),
        _effects(told.get("effects", []), path, "effects"),
        rule,
        cap if rule is not None else None,
        None if branches is None else inside(path, text(branches, path, "branches"), "branches"),
        simulated,
        text(told.get("voice", ""), path, "voice"),
        text(told.get("recogniser", ""), path, "recogniser"),
        check,
        _events(told.get("events", {}), path),
        path,
        "direct replay" if replay else "simulator replay",
    )


def _events(told: Any, path: Path) -> Mapping[str, str]:
    if not isinstance(told, dict):
        raise InputError(path, "events", found=brief(told), expected="an object: a kind of event by the turn's id")
    for kind in told.values():
        if kind not in KINDS:
            raise InputError(path, "events", found=brief(kind), expected=f"one of {', '.join(KINDS)}")
    return dict(told)


def inside(path: Path, name: str, field: str) -> Path:
    """Return the file ``name`` beside ``path``; raises :class:`InputError` where it lies elsewhere or is missing."""
    try:
        found = (path.parent / name).resolve()
        inside, there = path.parent.resolve() in found.parents, found.is_file()
    except (OSError, ValueError):
        # A name too long, or with a zero in it, is no file's.
        inside = there = False
    if not inside:
        raise InputError(path, field, found=brief(name), expected="a file in the item's folder")
    if not there:
        raise InputError(path, field, found=f"{name}, which is not there", expected="a file in the item's folder")
    return path.parent / name


def _cue(told: Any, path: Path, where: str) -> Cued:
    if not isinstance(told, dict):
        raise InputError(path, where, found=brief(told), expected="an object with audio and due")
    no_others(told, _CUE_MEMBERS, path, where)
    event = text(told.get("event", ""), path, f"{where}, event")
    if event and event not in KINDS:
        raise InputError(path, f"{where}, event", found=event, expected=f"one of {', '.join(KINDS)}")
    channel = told.get("channel")
    if channel is not None and (type(channel) is not int or channel < 1):
        raise InputError(path, f"{where}, channel", found=brief(channel), expected="a channel, counted from 1")
    return Cued(
        inside(path, text(member(told, "audio", path, where), path, f"{where}, audio"), f"{where}, audio"),
        due_from_json(member(told, "due", path, where), path, f"{where}, due"),
        text(told.get("id", ""), path, f"{where}, id"),
        text(told.get("text", ""), path, f"{where}, text"),
        event,
        None if channel is None else channel - 1,
        _effects(told.get("effects", []), path, f"{where}, effects"),
    )


def _hang_up(told: Any, path: Path) -> HangUp:
    if not isinstance(told, dict):
        raise InputError(path, "hang_up", found=brief(told), expected="an object with quiet and patience")
    no_others(told, {"quiet", "patience"}, path, "hang_up")
    given = {key: seconds(time(value, path, f"hang_up, {key}")) for key, value in told.items()}
    if any(value <= 0 for value in given.values()):
        raise InputError(path, "hang_up", found=brief(told), expected="times above 0")
    return HangUp(**given)


def _effects(told: Any, path: Path, where: str) -> tuple[Mapping[str, Any], ...]:
    found = _list(told, path, where)
    for n, effect in enumerate(found):
        if not isinstance(effect, dict):
            raise InputError(path, f"{where}[{n}]", found=brief(effect), expected="an object with a kind")
    return tuple(found)


def _list(told: Any, path: Path, where: str) -> list[Any]:
    if not isinstance(told, list):
        raise InputError(path, where, found=brief(told), expected="a list")
    return told
