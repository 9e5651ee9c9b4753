"""Hearing one item of a run: its words and its speech, kept with the digest of what made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex import plugins
from fullduplex.benchmarks.declare import Hearing, Parts
from fullduplex.data import audio
from fullduplex.data.dataset import Entry
from fullduplex.data.fdb_folder import read_tokens, transcript, words_of
from fullduplex.data.files import read_json, write_json
from fullduplex.errors import InputError, PluginError
from fullduplex.listening.crop import words_after
from fullduplex.listening.hear import hear_speech, recognise_tracks
from fullduplex.model.spans import in_seconds
from fullduplex.model.spec import Spec, digest
from fullduplex.model.speech import Token
from fullduplex.once import once_per_process
from fullduplex.providers.weights import sha256
from fullduplex.runs.items import SEEN, TRACKS, TWIN_TRACKS, place, read_trial
from fullduplex.runs.run import Run, again
from fullduplex.runs.sounds import forget_acoustics, measure_sound

_TRACKS = tuple({**TRACKS, **TWIN_TRACKS}.items())


@dataclass(frozen=True, slots=True)
class ListenTask:
    """One item to lay out and hear; small and picklable, so that any engine can carry it.

    ``recogniser`` is None where no words are to be recognised; ``cache`` holds weights
    and what was heard before. ``repeat``: the how-manieth time the item was driven, from 1.
    """

    run: str
    entry: Entry
    system: str
    infer: bool
    hearings: tuple[Hearing, ...]
    recogniser: Spec | None
    language: str
    cache: str
    repeat: int = 1
    parts: tuple[Parts, ...] = ()
    qualities: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """Return the item's folder in the run."""
        name = self.entry.id if self.repeat == 1 else self.entry.id.removesuffix(again(self.repeat))
        return Run(Path(self.run), {}).folder(self.entry.set, name, self.repeat)


@dataclass(frozen=True, slots=True)
class Heard:
    """What became of one item: its key, what was done anew, and why it failed if it did."""

    key: str
    did: tuple[str, ...] = ()
    failed: str = ""


def listen(task: ListenTask) -> Heard:
    """Lay the item out in the run, find its words and its speech, and keep both.

    What the folder or the cache has for this very content and spec is not made again.
    A file that cannot be heard fails the item: the sentence is kept in item.json.
    """
    folder = task.folder
    item = place(task.entry, folder, task.system, infer=task.infer)
    did: list[str] = []
    try:
        if not item["failed"]:
            did += _find_words(task, folder, item)
            did += _find_speech(task, folder, item)
            did += _find_acoustics(task, folder, item)
    except InputError as error:
        item["failed"] = str(error)
    if item["failed"]:
        write_json(folder / "item.json", item)
    return Heard(task.entry.key, tuple(did), item["failed"])


@once_per_process
def detector(spec: Spec, cache_folder: str) -> Any:
    """Return the detector for ``spec``, loaded once in each process."""
    return _made("detectors", spec, cache_folder)


@once_per_process
def recogniser(spec: Spec, cache_folder: str) -> Any:
    """Return the recogniser for ``spec``, loaded once in each process."""
    return _made("recognisers", spec, cache_folder)


def _made(family: str, spec: Spec, cache_folder: str) -> Any:
    maker = plugins.find(family, spec.name)
    options = _options(spec, cache_folder)
    edges = options.pop("edges", "raw") if family == "detectors" else "raw"
    if edges not in ("raw", "refined"):
        raise PluginError(f"detector {spec}: edges are raw or refined, not {edges!r}")
    try:
        made = maker(**options)
        if edges == "raw":
            return made
        from fullduplex.listening.edges import Refined

        return Refined(made)
    except (TypeError, ValueError) as error:
        raise PluginError(f"{family.removesuffix('s')} {spec}: {error}") from error


def _options(spec: Spec, cache_folder: str) -> dict[str, Any]:
    takes_weights = spec.name in ("silero", "whisper", "moonshine", "parakeet")
    return {**spec.options, **({"cache": Path(cache_folder)} if takes_weights else {})}


def _find_words(task: ListenTask, folder: Path, item: Mapping[str, Any]) -> list[str]:
    there = _there(folder / "words.json")
    given = _given_words(task.entry.files.get("words.json"))
    tracks: dict[str, Any] = {}
    did: list[str] = []
    parts: dict[str, str] = {}
    for role, name in _TRACKS:
        if name in given:
            # The truth of a run's own layout: output.json there is only what released scripts want to see.
            tracks[name] = given[name]
            continue
        if (folder / f"{name}.json").is_file() and f"{name}.json" in item["files"]:
            words = words_of(read_tokens(folder / f"{name}.json"))
            tracks[name] = {
                "from": "recorded",
                "words": [[w.text, in_seconds(w.span.start), in_seconds(w.span.end), w.confidence] for w in words],
            }
            continue
        if task.recogniser is None or role not in item["files"]:
            continue
        sound = folder / item["files"][role]
        made_of = [_recogniser_spec(task), task.language, _content(sound)]
        parts[name] = digest(made_of)
        tracks[name], new = _cached(task, parts[name], lambda sound=sound: _recognise(task, sound))
        if new:
            did.append(f"words of {name}")
    spec = _recogniser_spec(task) if parts else None
    value = {"schema": 1, "spec": spec, "digest": digest(parts), "tracks": tracks}
    if there != value:
        write_json(folder / "words.json", value)
    if "clean_system" in item["files"]:
        _write_transcripts(folder, tracks, given)
    output = tracks.get("output")
    if output is not None and output["from"] != "recorded" and "output" not in given:
        tokens = tuple(Token(text, start, stop) for text, start, stop, _ in output["words"])
        end = item["reference"].get("interruption_end_seconds")
        if end is not None and task.recogniser is not None and "system" in item["files"]:
            # The released scripts let their recogniser hear only what follows the interruption.
            sound = folder / item["files"]["system"]
            mark = digest([parts.get("output", ""), "after", end])
            kept, _ = _cached(task, mark, lambda: _recognise_after(task, sound, end))
            tokens = tuple(Token(text, start, stop) for text, start, stop in kept["words"])
        if not (folder / "output.json").is_file() or _there(folder / "output.json") != transcript(tokens):
            write_json(folder / "output.json", transcript(tokens))
    return did


def _write_transcripts(folder: Path, tracks: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Write every other transcript that the released scripts of v1.5 read beside ``output.json``."""
    for name in ("input", "clean_input", "clean_output"):
        track = tracks.get(name)
        if track is None or track["from"] == "recorded" or name in given:
            continue
        told = transcript(tuple(Token(text, start, stop) for text, start, stop, _ in track["words"]))
        if _there(folder / f"{name}.json") != told:
            write_json(folder / f"{name}.json", told)


def _given_words(path: Path | None) -> dict[str, Any]:
    """Return the tracks of a words.json that a run wrote; nothing of a file of another make under that name."""
    value = _there(path) if path is not None else {}
    tracks = value.get("tracks")
    if value.get("schema") != 1 or not isinstance(tracks, dict):
        return {}
    return {name: track for name, track in tracks.items() if _is_words(track)}


def _is_words(track: Any) -> bool:
    if (
        not isinstance(track, dict)
        or not isinstance(track.get("from"), str)
        or not isinstance(track.get("words"), list)
    ):
        return False
    return all(
        isinstance(row, list)
        and len(row) == 4
        and isinstance(row[0], str)
        and all(type(t) in (int, float) for t in row[1:3])
        for row in track["words"]
    )


def _recogniser_spec(task: ListenTask) -> dict[str, Any]:
    """Return the spec with the revision of what really recognises: another one finds other words."""
    assert task.recogniser is not None
    spec: Spec = recogniser(task.recogniser, task.cache).spec
    return spec.to_json()


def _recognise(task: ListenTask, sound: Path) -> dict[str, Any]:
    assert task.recogniser is not None
    tracks = {sound.name: audio.read(sound)}
    heard = recognise_tracks(tracks, recogniser(task.recogniser, task.cache), task.language)[sound.name]
    confidences = heard.confidences or (None,) * len(heard.tokens)
    words: list[list[Any]] = [
        [text.strip(), start, start if end is None else end, confidence]
        for (text, start, end), confidence in zip(heard.tokens, confidences, strict=True)
        if start is not None and text.strip()
    ]
    words.sort(key=lambda word: word[1])
    return {"from": task.recogniser.name, "placed": heard.placed, "remarks": list(heard.remarks), "words": words}


def _recognise_after(task: ListenTask, sound: Path, end: float) -> dict[str, Any]:
    assert task.recogniser is not None
    samples, rate = audio.read(sound)
    tokens = words_after(recogniser(task.recogniser, task.cache), samples, rate, end, task.language)
    return {"words": [list(token) for token in tokens if token.text.strip()]}


def _find_speech(task: ListenTask, folder: Path, item: Mapping[str, Any]) -> list[str]:
    there = _there(folder / "speech.json")
    kept = dict(there.get("hearings", {}))
    did: list[str] = []
    for hearing in task.hearings:
        if hearing.name != SEEN and item["task"] not in hearing.tasks:
            continue
        tracks: dict[str, Any] = {}
        failed = ""
        found = detector(hearing.detector, task.cache)
        for role, name in _TRACKS:
            side = "user" if role.endswith("user") else "system"
            if role not in item["files"] or (hearing.name != SEEN and (side not in hearing.sides or role != side)):
                continue
            sound = folder / item["files"][role]
            probe = audio.probe(sound)
            if hearing.channels == "without" and probe.channels > 1:
                continue
            if hearing.channels == "refuse" and probe.channels > 1:
                failed = f"{item['files'][role]} has {probe.channels} channels, and the released script crashes on it"
                continue
            mark = digest([hearing.to_json(), found.spec.to_json(), _content(sound), "with its peak"])
            tracks[name], new = _cached(
                task, mark, lambda sound=sound, hearing=hearing: _detect(sound, hearing, task.cache)
            )
            if new:
                did.append(f"speech of {name} ({hearing.name})")
        kept[hearing.name] = {"spec": found.spec.to_json(), "digest": digest(hearing.to_json()), "tracks": tracks}
        if failed:
            kept[hearing.name]["failed"] = failed
    value = {"schema": 1, "hearings": kept}
    if value != there and kept:
        write_json(folder / "speech.json", value)
    return did


def _find_acoustics(task: ListenTask, folder: Path, item: Mapping[str, Any]) -> list[str]:
    wanted = [part for part in task.parts if item["task"] in part.tasks]
    if not wanted or "system" not in item["files"]:
        return []
    forget_acoustics(folder)
    return measure_sound(
        folder, item["files"], read_trial(folder), wanted, task.qualities,
        detector_of=lambda spec: detector(spec, task.cache), content=_content,
        kept=lambda mark, make: _cached(task, mark, make), cache=Path(task.cache),
    )  # fmt: skip


def _detect(sound: Path, hearing: Hearing, cache_folder: str) -> dict[str, Any]:
    samples, rate = audio.read(sound)
    tracks = {sound.name: (samples, rate)}
    segments = hear_speech(tracks, detector(hearing.detector, cache_folder), hearing.assume_rate)[sound.name]
    loudest = float(np.abs(samples).max(initial=0.0))
    return {"segments": [[start, end] for start, end in segments], "duration": len(samples) / rate, "peak": loudest}


def _cached(task: ListenTask, mark: str, make: Any) -> tuple[dict[str, Any], bool]:
    path = Path(task.cache) / "heard" / mark[:2] / f"{mark}.json"
    if path.is_file():
        try:
            value: dict[str, Any] = read_json(path)
            return value, False
        except InputError:
            path.unlink(missing_ok=True)
    made: dict[str, Any] = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, made)
    return made, True


def _there(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        value = read_json(path)
    except InputError:
        return {}
    return value if isinstance(value, dict) else {}


@cache
def _hashed(path: str, size: int, changed: int) -> str:
    return sha256(Path(path))


def _content(path: Path) -> str:
    status = path.stat()
    return _hashed(str(path), status.st_size, status.st_mtime_ns)
