"""One item of a run: its files as they were given, and what was heard in them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.data import audio
from fullduplex.data.dataset import Entry, Voice
from fullduplex.data.fdb_folder import load_trial, read_tokens, transcript, twin_of
from fullduplex.data.files import read_json, replacing, write_json
from fullduplex.data.interactions import FILE as INTERACTION
from fullduplex.data.interactions import on_the_clock, read_interaction
from fullduplex.errors import InputError
from fullduplex.measures.events import inferred
from fullduplex.measures.placed import placed_by_words
from fullduplex.model.items import Event, Item
from fullduplex.model.spans import SECOND, Span, Timeline, in_seconds, seconds
from fullduplex.model.speech import Token, Track, Word
from fullduplex.model.trials import Absent, Trial, Verdict
from fullduplex.runs.sounds import read_acoustics
from fullduplex.runs.told import DONE, read_told

SCHEMA = 1
#: The hearing that people see, and that events are inferred from.
SEEN = "silero"
#: Who says what came with the recordings.
RECORDED = "recorded"
MEND = "score into the same --out again to mend it"
_KEYS = {"id", "set", "task", "dataset", "group", "files", "failed", "events", "duration", "missing", "infer"}
#: The sides of an item, and the stem of the files of each; those of its clean twin, where it has one.
TRACKS = {"user": "input", "system": "output"}
TWIN_TRACKS = {"clean_user": "clean_input", "clean_system": "clean_output"}


def place(entry: Entry, folder: Path, system: str, *, infer: bool) -> dict[str, Any]:
    """Lay ``entry`` out as a Full-Duplex-Bench item folder of a run, and return its item.json.

    Plain audio files are hard links to the user's own (copies across file systems): nothing
    here ever writes into one, every writer replaces. A channel of a larger file, or
    one that begins at an offset, is written anew. ``infer``: no item of the set has an
    annotated event, so the user's channel may show them. A malformed file is left out and
    named in ``faults``; without the system's words or sound the item has ``failed``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    trial, faults = _loaded(entry)
    failed = trial.failed
    files: dict[str, str] = {}
    durations: dict[str, float | None] = {"user": None, "system": None}
    for role, voice in (("user", entry.user_voice), ("system", entry.system_voice)):
        if voice is None:
            continue
        try:
            name = _place_voice(voice, folder, TRACKS[role], entry.offset if role == "system" else 0)
            files[role] = name
            durations[role] = in_seconds(audio.probe(folder / name).duration)
        except InputError as error:
            faults.append(str(error))
            if role == "system" and trial.system.tokens is None:
                failed = failed or str(error)
    twin = twin_of(entry)
    said = {"input.json": trial.user.tokens, "output.json": trial.system.tokens}
    if twin is not None:
        faults += _place_twin(twin, folder, files, durations)
        of_twin = load_trial(replace(twin, user_voice=None, system_voice=None))
        faults += [of_twin.failed] if of_twin.failed else []
        said |= {"clean_input.json": of_twin.user.tokens, "clean_output.json": of_twin.system.tokens}
    for name, path in entry.files.items():
        # The official names only: anything else could climb out of the folder.
        if name.endswith(".json") and "/" not in name and name not in ("item.json", "speech.json", "words.json"):
            tokens = said.get(name)
            if tokens is None and name in said and not (failed or entry.task == "pause_handling"):
                continue  # it cannot be read, and a fault says so; a pause's every transcript is a sample
            if entry.offset and name.endswith("output.json") and tokens is not None:
                write_json(folder / name, transcript(tokens))
            else:
                _copy(path, folder / name)
            files[name] = name
    interaction = _interaction(entry, folder)
    item = {
        **blank(entry, system),
        "files": files,
        "events": event_rows(interaction_events(interaction) if interaction else trial.events),
        "reference": {"interaction": interaction}
        if interaction
        else ({} if failed or not trial.events else {**_raw_ends(entry.files), **_context(trial)}),
        "infer": infer,
        "missing": list(trial.missing),
        "failed": failed,
        "faults": faults,
        "duration": durations,
        "offset": in_seconds(entry.offset),
    }
    rating = trial.verdicts.get("rating")
    if isinstance(rating, Verdict):
        item["rating"] = {"value": rating.value, "reason": rating.reason}
    behaviour = trial.verdicts.get("behaviour")
    if isinstance(behaviour, Verdict):
        item["behaviour"] = list(behaviour.votes)
    write_json(folder / "item.json", item)
    return item


def _place_twin(twin: Entry, folder: Path, files: dict[str, str], durations: dict[str, float | None]) -> Iterator[str]:
    """Lay out the clean twin's voices beside the item's; yield a sentence for each that cannot be opened."""
    for role, voice in (("clean_user", twin.user_voice), ("clean_system", twin.system_voice)):
        durations[role] = None
        if voice is None:
            continue
        try:
            offset = twin.offset if role == "clean_system" else 0
            files[role] = _place_voice(voice, folder, TWIN_TRACKS[role], offset)
            durations[role] = in_seconds(audio.probe(folder / files[role]).duration)
        except InputError as error:
            files.pop(role, None)
            yield str(error)


def interaction_events(told: Mapping[str, Any]) -> tuple[Event, ...]:
    """Return what an interaction calls for as events of the timeline: trigger words, pauses, probes."""
    made = [("trigger", one, one["word"]) for one in told["expects"]]
    made += [("pause", one, "") for one in told["pauses"]]
    made += [("probe", one, f"{one['type']}: {one['expected']}") for one in told["probes"]]
    return tuple(
        Event(kind, Span(seconds(one["start"]), max(seconds(one["start"]) + 1, seconds(one["end"]))), text)
        for kind, one, text in made
        if one["start"] is not None
    )


def event_rows(events: Iterable[Event]) -> list[dict[str, Any]]:
    """Return events as item.json has them, in decimal seconds."""
    return [
        {
            "kind": event.kind,
            "start": in_seconds(event.span.start),
            "end": in_seconds(event.span.end),
            "text": event.text,
            "source": event.source,
        }
        for event in events
    ]


def blank(entry: Entry, system: str) -> dict[str, Any]:
    """Return the item.json of an entry of which nothing is known but its names."""
    return {
        "schema": SCHEMA,
        "id": entry.id,
        "task": entry.task,
        "dataset": entry.dataset,
        "set": entry.set,
        "system": system,
        "group": entry.group,
        "files": {},
        "events": [],
        "reference": {},
        "infer": False,
        "missing": [],
        "failed": "",
        "faults": [],
        "duration": {"user": None, "system": None},
        "offset": in_seconds(entry.offset),
    }


def _loaded(entry: Entry) -> tuple[Trial, list[str]]:
    """Return what the readable files of ``entry`` say, and a sentence for each that is not."""
    trial = load_trial(entry)
    if not trial.failed:
        return trial, []
    core = {name: path for name, path in entry.files.items() if name == "output.json"}
    bare = replace(entry, files=core, events=(), user_voice=None, system_voice=None)
    if load_trial(bare).failed:
        return trial, [trial.failed]
    good, faults = dict(core), list[str]()
    for name, path in entry.files.items():
        fault = load_trial(replace(bare, files={**core, name: path})).failed
        if fault:
            faults.append(fault)
        else:
            good[name] = path
    found = load_trial(replace(entry, files=good))
    # Audio that cannot be opened is named again where it is laid out.
    return replace(found, failed=""), faults


def read_item(folder: Path) -> dict[str, Any]:
    """Return the item.json of ``folder``; raises :class:`InputError` unless it is one that a run wrote."""
    path = folder / "item.json"
    item = read_json(path)
    missing = sorted(_KEYS - set(item)) if isinstance(item, dict) else ["id"]
    if missing:
        raise InputError(path, found=f"no {missing[0]!r}", expected="an item.json that a run wrote", do=MEND)
    return dict(item)


def trial_or_failure(folder: Path, hearing: str = SEEN, reference: Mapping[str, Any] | None = None) -> Trial:
    """Return :func:`read_trial`, or a trial that has failed where a file of the run was cut or edited by hand."""
    try:
        return read_trial(folder, hearing, reference)
    except InputError as error:
        return Trial(Item(folder.name), failed=f"{error}; {MEND}")
    except (KeyError, TypeError, ValueError, AttributeError):
        return Trial(Item(folder.name), failed=f"{folder}: words.json or speech.json is not as a run writes it; {MEND}")


def read_trial(folder: Path, hearing: str = SEEN, reference: Mapping[str, Any] | None = None) -> Trial:
    """Return the trial in ``folder`` as heard with ``hearing``; a missing track is None, never empty.

    ``reference`` maps item ids to reference distributions.
    """
    item = read_json(folder / "item.json")
    words, speech = _optional(folder / "words.json"), _optional(folder / "speech.json")
    heard = speech.get("hearings", {}).get(hearing, {})
    tracks = {
        role: _track(folder, name, item, role, words, heard, f"{hearing}: {_named(heard)}")
        for role, name in TRACKS.items()
    }
    failed = item["failed"] or heard.get("failed", "")
    events = tuple(
        Event(e["kind"], Span(seconds(e["start"]), seconds(e["end"])), e["text"], e["source"]) for e in item["events"]
    )
    told: dict[str, Any] = {"task": item["task"], **item["reference"]}
    if told.get("interaction", {}).get("unplaced") and tracks["user"].words is not None:
        user, side = tracks["user"], tracks["system"]
        found = placed_by_words(told["interaction"], tracks["user"].words, side.speech, user.speech)
        told["interaction"], events = found.told, interaction_events(found.told)
    if item["infer"] and not events:
        seen = speech.get("hearings", {}).get(SEEN, {}).get("tracks", {}).get("input")
        events = inferred(item["task"], None if seen is None else _timeline(seen))
        for event in events:
            if event.kind == "user_end":
                key = "turn_end_seconds" if item["task"] == "smooth_turn_taking" else "interruption_end_seconds"
                told[key] = in_seconds(event.span.end)
    distribution = _distribution(reference or {}, item["id"])
    if distribution is not None:
        told["distribution"] = distribution
    verdicts: dict[str, Verdict | Absent] = {}
    if "rating" in item:
        verdicts["rating"] = Verdict(item["rating"]["value"], reason=item["rating"]["reason"], by=RECORDED)
    if item.get("behaviour"):
        verdicts["behaviour"] = Verdict(item["behaviour"][0], tuple(item["behaviour"]), by=RECORDED)
    made = Item(item["id"], events=events, reference=told, group=item["group"])
    twin = None
    if {"clean_system", "clean_output.json"} & set(item["files"]):
        sides = [
            _track(folder, name, item, role, words, heard, f"{hearing}: {_named(heard)}")
            for role, name in TWIN_TRACKS.items()
        ]
        twin = Trial(replace(made, events=()), sides[0], sides[1], failed=failed)
    system = replace(tracks["system"], acoustics=read_acoustics(folder))
    return Trial(
        made, tracks["user"], system, events, None, verdicts, tuple(item["missing"]), failed, twin
    )  # fmt: skip


def _track(folder: Path, name: str, item: Any, role: str, words: Any, heard: Any, speech_from: str) -> Track:
    told, sound = words.get("tracks", {}).get(name), heard.get("tracks", {}).get(name)
    spoken: tuple[Word, ...] | None = None
    tokens: tuple[Token, ...] | None = None
    words_from = ""
    if told is not None:
        words_from = told["from"]
        spoken = tuple(
            Word(text, Span(seconds(s), max(seconds(s) + 1, seconds(e))), c) for text, s, e, c in told["words"]
        )
        # What the scripts read: of an interruption that this package transcribed, only what follows it.
        if (folder / f"{name}.json").is_file() and not item["failed"]:
            tokens = read_tokens(folder / f"{name}.json")
        else:
            tokens = tuple(Token(text, s, e) for text, s, e, _ in told["words"])
    segments = None if sound is None else tuple((float(s), float(e)) for s, e in sound["segments"])
    speech = None if sound is None else _timeline(sound)
    length = item["duration"].get(role)
    duration = None if length is None else seconds(length)
    told_from = speech_from if segments is not None else ""
    peak = None if sound is None else sound.get("peak")
    return Track(spoken, speech, {}, tokens, segments, duration, words_from, told_from, peak == 0, peak)


def _timeline(sound: Any) -> Timeline:
    return Timeline(Span(seconds(s), seconds(e)) for s, e in sound["segments"] if e > s)


def _named(heard: Any) -> str:
    spec = heard.get("spec", {})
    return " ".join(filter(None, (spec.get("name", ""), spec.get("revision", ""))))


def _distribution(reference: Mapping[str, Any], item: str) -> Any:
    return reference.get(item, reference.get(item.rsplit("/", 1)[-1]))


def _optional(path: Path) -> Any:
    return read_json(path) if path.is_file() else {}


def _interaction(entry: Entry, folder: Path) -> dict[str, Any]:
    """Return the item's interaction on the session clock, {} where it has none or it cannot be read (a fault, told).

    A talk that was held in ``folder`` says where each turn fell; the run's own copy of the file then says so too.
    """
    path = entry.files.get(INTERACTION)
    if path is None:
        return {} if entry.interaction is None else on_the_clock(entry.interaction)
    try:
        told = read_interaction(path, entry.task)
        turns = read_told(folder).get("turns", ()) if (folder / DONE).is_file() else ()
    except InputError:
        return {}
    found = on_the_clock(told, turns)
    if turns:
        write_json(folder / INTERACTION, {**read_json(path), "turns": list(turns)})
    return found


def _context(trial: Trial) -> dict[str, str]:
    """Return what the user had said before the event, as the item's own files tell it."""
    context = trial.item.reference.get("context", "")
    return {"context": context} if context else {}


def _raw_ends(files: Mapping[str, Path]) -> dict[str, float]:
    # `released` variants subtract the very floats of the file.
    found: dict[str, float] = {}
    for name, key, which in (
        ("turn_taking.json", "turn_end_seconds", 0),
        ("interrupt.json", "interruption_end_seconds", 1),
        ("metadata.json", "overlap_end_seconds", 1),
    ):
        if name not in files:
            continue
        value = read_json(files[name])
        first = value[0] if isinstance(value, list) and value else value
        times = first.get("timestamp", first.get("timestamps")) if isinstance(first, dict) else None
        if isinstance(times, list) and len(times) == 2 and isinstance(times[which], int | float):
            found[key] = float(times[which])
    return found


def _place_voice(voice: Voice, folder: Path, name: str, offset: int) -> str:
    found = audio.probe(voice.path)
    whole = voice.channel is None or found.channels == 1
    suffix = voice.path.suffix.lower()
    if whole and not offset and suffix in (".wav", ".flac"):
        _link(voice.path, folder / (name + suffix))
        return name + suffix
    target = folder / f"{name}.wav"
    samples, rate = audio.read(voice.path, voice.channel)
    if offset:
        samples = _shifted(samples, round(offset * rate / SECOND))
    subtype = found.subtype if found.subtype in ("PCM_16", "PCM_24", "FLOAT") else "FLOAT"
    audio.write(target, samples, rate, subtype)
    return target.name


def _copy(source: Path, target: Path) -> None:
    data = source.read_bytes()
    if target.is_file() and target.read_bytes() == data:
        return
    with replacing(target) as part:
        part.write_bytes(data)


def _shifted(samples: NDArray[np.float32], by: int) -> NDArray[np.float32]:
    return np.concatenate([np.zeros(by, np.float32), samples]) if by >= 0 else samples[-by:]


def _link(source: Path, target: Path) -> None:
    if target.exists() and target.samefile(source):
        return
    with replacing(target) as part:
        try:
            os.link(source.resolve(), part)
        except OSError:
            shutil.copyfile(source, part)
