"""Where a run's numbers come from: when its talks were held, by which models of which revision, in which voices."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fullduplex.data.files import read_json
from fullduplex.errors import InputError, printable
from fullduplex.model.spec import Spec
from fullduplex.reporting.language import ENGLISH
from fullduplex.reporting.seats import NETWORK, over_network
from fullduplex.runs.items import read_item
from fullduplex.runs.run import Run
from fullduplex.runs.told import DONE, read_told

_ACCENT = re.compile(r"\baccent:\s*([\w -]+)")
#: Voices that speak a language as its speakers do: whatever accent they are asked for, they have none.
_PLAIN = ("kokoro", "hibari", "pico", "piper")
_DAY = 10


def made_with(run: Run) -> dict[str, Any]:
    """Return when a run was recorded and what it was made with, in words, by part: ``recorded``, ``system``, ``words``.

    ``system``: its parts (``model``, ``recogniser``, ``voice``) with their revisions, as its talks noted them;
    ``words`` and ``speech``: the recogniser and the detectors that heard the recordings. Where items differ, each
    with the number of its items. ``reached``: over a network, where it was.
    """
    parts: dict[str, Counter[str]] = {}
    held: list[str] = []
    dated: list[str] = []
    for folder in run.items():
        talk = _talk(folder)
        if isinstance(talk.get("held"), str):
            held.append(talk["held"][:_DAY])
        dated += _dated(folder / DONE, folder / "output.wav")
        for name, told in _specs(talk.get("system"), "system"):
            parts.setdefault(name, Counter())[told] += 1
        for name, told in _heard_by(folder):
            parts.setdefault(name, Counter())[told] += 1
    driven = run.about.get("driven")
    made: dict[str, Any] = {"recorded": _when(held, dated)}
    if not driven:
        made["system"] = "recordings that were given: no revision of the system is known"
    elif over_network(run.about):
        made["reached"] = NETWORK
    return made | {name: _each(found) for name, found in parts.items()}


def accents(run: Run) -> list[str]:
    """Return what has to be said of accents that items ask for and their voices do not have; nothing where all do.

    An accent is the one of the notes of the item's interaction (``accent: Spanish``), the voice the one that spoke.
    """
    asked: Counter[str] = Counter()
    without: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    for folder in run.items():
        told = _interaction(folder)
        found = _ACCENT.search(str(told.get("notes", "")))
        if found is None:
            continue
        asked[printable(found[1].strip(), 40)] += 1
        voice = _voice(str(told.get("voice", "")))
        (without if voice in _PLAIN else unknown)[printable(voice, 40) or "not named"] += 1
    if not asked:
        return []
    wanted = ", ".join(f"{number} {accent}" for accent, number in asked.most_common())
    said = []
    if without:
        voices = ", ".join(without)
        said.append(
            f"{without.total()} of {asked.total()} items that ask for an accent ({wanted}) were spoken without it: "
            f"the voices ({voices}) have none"
        )
    if unknown:
        said.append(
            f"whether {unknown.total()} of {asked.total()} items that ask for an accent ({wanted}) were spoken with it "
            f"is not known: voices {', '.join(unknown)}"
        )
    return said


def _specs(value: Any, part: str) -> Iterator[tuple[str, str]]:
    """Yield each named part of a spec as its talk has it, the whole first, with name, checkpoint and revision."""
    if not isinstance(value, Mapping) or not isinstance(value.get("name"), str):
        return
    options = value.get("options")
    options = options if isinstance(options, Mapping) else {}
    chosen = [str(options[key]) for key in ("model", "file", "size", "checkpoint") if isinstance(options.get(key), str)]
    revision = str(value.get("revision") or "")
    yield part, printable(", ".join([value["name"], *chosen, revision or "revision not told"]), 300)
    for name, option in options.items():
        yield from _specs(option, f"{part}: {name}" if part != "system" else str(name))


def _heard_by(folder: Path) -> Iterator[tuple[str, str]]:
    yield from _specs(_file(folder / "words.json").get("spec"), "words")
    hearings = _file(folder / "speech.json").get("hearings")
    for name, heard in hearings.items() if isinstance(hearings, Mapping) else ():
        if isinstance(heard, Mapping):
            yield from _specs(heard.get("spec"), f"speech ({printable(str(name), 60)})")


def _talk(folder: Path) -> Mapping[str, Any]:
    try:
        return read_told(folder)
    except InputError:
        return {}  # no talk, or one that is counted as unreadable


def _file(path: Path) -> Mapping[str, Any]:
    try:
        value = read_json(path) if path.is_file() else {}
    except InputError:
        return {}  # a failure that is counted where the item is measured
    return value if isinstance(value, Mapping) else {}


def _interaction(folder: Path) -> Mapping[str, Any]:
    try:
        reference = read_item(folder).get("reference")
    except InputError:
        return {}
    told = reference.get("interaction") if isinstance(reference, Mapping) else None
    return told if isinstance(told, Mapping) else {}


def _voice(spec: str) -> str:
    try:
        return Spec.parse(spec).name if spec else ""
    except ValueError:
        return spec


def _dated(*paths: Path) -> list[str]:
    there = next((path for path in paths if path.is_file()), None)
    if there is None:
        return []
    return [datetime.fromtimestamp(there.stat().st_mtime, UTC).date().isoformat()]


def _when(held: list[str], dated: list[str]) -> str:
    if held:
        return _between(held)
    if dated:
        return f"not noted; its files are dated {_between(dated)}, and a copy may be dated anew"
    return "not known"


def _between(days: list[str]) -> str:
    first, last = min(days), max(days)
    return printable(first if first == last else f"{first} to {last}", 60)


def _each(found: Counter[str]) -> str:
    if len(found) == 1:
        return next(iter(found))
    return "; ".join(
        f"{told} ({ENGLISH.plural('{n} item', '{n} items', number)})" for told, number in found.most_common()
    )
