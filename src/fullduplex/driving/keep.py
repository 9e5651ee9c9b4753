"""A talk on disk, and the log read back: what was received can be placed anew at any time.

``received.jsonl`` has a line for each thing that came, in order; ``received.flac`` holds the
samples of all chunks end to end. Together they are what came, whatever playout made of it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.data import audio
from fullduplex.data.files import brief, member, parse_json, read_text_file, replacing, text, time
from fullduplex.driving.drive import Talk
from fullduplex.driving.link import Closed, Said, UserVad
from fullduplex.driving.playout import Chunk, Flush, Samples
from fullduplex.errors import InputError, printable
from fullduplex.model.spans import in_seconds, seconds

LOG, AUDIO, ABOUT = "received.jsonl", "received.flac", "talk.json"
SCHEMA = 1


def about(talk: Talk) -> dict[str, Any]:
    """Return what ``talk`` was, without sound and events: the rules, what became of them, every frame's lateness.

    Times are decimal seconds; ``lateness`` is one number for each frame. ``source_clock`` is the line
    from the system's clock to the session's where its chunks tell the session's time.
    """
    return {
        "schema": SCHEMA,
        "clock": talk.clock,
        "duration": in_seconds(talk.duration),
        "ended_by": talk.ended_by,
        "hang_up": None if talk.hang_up is None else talk.hang_up.to_json(),
        "cap": in_seconds(talk.cap),
        "handshake": in_seconds(talk.handshake),
        "work": {"seconds": in_seconds(talk.work[0]), "processor_seconds": in_seconds(talk.work[1])},
        "ready": plain(talk.ready.settings),
        "prompt": talk.prompt,
        "priming": in_seconds(talk.priming),
        "rates": {"user": talk.user_rate, "system": talk.rate},
        "turns": [turn.to_json() for turn in talk.turns],
        "pacing": talk.pacing.to_json() | {"lateness": [in_seconds(late) for late in talk.pacing.lateness]},
    }


def write_received(folder: Path, talk: Talk) -> None:
    """Write the log of ``talk`` into ``folder``; of a talk in which no sample came there is no ``received.flac``.

    The first line says the rate and the pacing; times are decimal seconds on the session clock.
    """
    lines: list[dict[str, Any]] = [{"kind": "talk", "rate": talk.rate, "pacing": talk.pacing.to_json()}]
    placed = {id(part.chunk): part for part in talk.placed}
    events = sorted((*talk.received, *talk.notes), key=lambda event: event.arrived)
    for event in events:
        line: dict[str, Any] = {"kind": type(event).__name__.lower(), "arrived": in_seconds(event.arrived)}
        if isinstance(event, Chunk):
            part = placed[id(event)]
            line |= {"samples": part.size, "id": event.id, "epoch": event.epoch}
            line["source"] = None if event.source is None else in_seconds(event.source)
            line |= {"played_from": round(part.start / talk.rate, 6), "played": part.played, "late": part.late}
        elif isinstance(event, Flush):
            line["scope"] = event.scope
        elif isinstance(event, Said):
            words = [{"text": text, "timestamp": [in_seconds(a), in_seconds(b)]} for text, a, b in event.words]
            line |= {"text": event.text, "who": event.who, "id": event.id, "words": words}
            if event.source is not None:
                line["source"] = in_seconds(event.source)
        elif isinstance(event, UserVad):
            line["speaking"] = event.speaking
            if event.source is not None:
                line["source"] = in_seconds(event.source)
        elif isinstance(event, Closed):
            line |= {"reason": event.reason} | ({"broke": True} if event.broke else {})
        else:
            line |= {"note": event.kind, "data": plain(event.data)}
            if event.source is not None:
                line["source"] = in_seconds(event.source)
        lines.append(line)
    sounding = [event.samples for event in talk.received if isinstance(event, Chunk) and len(event.samples)]
    if sounding:
        audio.write(folder / AUDIO, np.concatenate(sounding), talk.rate, "PCM_24")
    else:
        (folder / AUDIO).unlink(missing_ok=True)
    with replacing(folder / LOG) as file:
        file.write_bytes(b"".join(map(_line, lines)))


def _line(told: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(told, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair: legal in JSON, but only as an escape
        return json.dumps(told, allow_nan=False).encode() + b"\n"


#: Values within values, so many deep, are kept; what is deeper is told as an ellipsis.
DEEPEST = 100


def plain(value: Any, deep: int = DEEPEST) -> Any:
    """Return ``value`` as JSON can hold it: what is no JSON, or no finite number, as a text; ``deep`` levels of it."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Mapping | list | tuple) and not deep:
        return "…"
    if isinstance(value, Mapping):
        return {str(key): plain(part, deep - 1) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part, deep - 1) for part in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and math.isfinite(value):
        return value
    return printable(repr(value))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Log:
    """What a talk's system sent: audio and flushes in order of arrival at ``rate``, and the words it reported."""

    received: tuple[Chunk | Flush, ...]
    said: tuple[Said, ...]
    rate: int


def read_received(folder: Path) -> tuple[tuple[Chunk | Flush, ...], int]:
    """Return the chunks and flushes kept in ``folder``, in order of arrival, and their rate; see :func:`read_log`."""
    log = read_log(folder)
    return log.received, log.rate


def read_log(folder: Path) -> Log:
    """Return the log kept in ``folder``.

    Raises :class:`InputError` where a line cannot be read or the audio is not as long as the log says.
    """
    path = folder / LOG
    lines = [parse_json(line, path, f"line {n}") for n, line in enumerate(read_text_file(path).splitlines(), 1)]
    if not lines or member(lines[0], "kind", path, "line 1") != "talk":
        raise InputError(path, "line 1", found=brief(lines[:1]), expected='the line of kind "talk" that says the rate')
    rate = _count(lines[0], "rate", path, "line 1")
    sizes = [
        _count(line, "samples", path, f"line {n}")
        for n, line in enumerate(lines, 1)
        if member(line, "kind", path, f"line {n}") == "chunk"
    ]
    samples = audio.read(folder / AUDIO)[0] if sum(sizes) else np.zeros(0, np.float32)
    if sum(sizes) != len(samples):
        raise InputError(folder / AUDIO, found=f"{len(samples)} samples", expected=f"{sum(sizes)}, as {LOG} says")
    parts = iter(np.split(samples, np.cumsum(sizes)[:-1]) if sizes else ())
    events = (_event(line, parts, path, f"line {n}") for n, line in enumerate(lines, 1))
    received = tuple(event for event in events if event is not None)
    said = tuple(
        _said(line, path, f"line {n}")
        for n, line in enumerate(lines, 1)
        if isinstance(line, dict) and line["kind"] == "said"
    )
    return Log(received, said, rate)


def _said(line: Any, path: Path, field: str) -> Said:
    words = []
    for n, word in enumerate(member(line, "words", path, field)):
        where = f"{field}, words[{n}]"
        start, end = (seconds(time(t, path, where)) for t in member(word, "timestamp", path, where))
        words.append((text(member(word, "text", path, where), path, where), start, end))
    who = member(line, "who", path, field)
    if who not in ("system", "user"):
        raise InputError(path, f"{field}, who", found=brief(who), expected="system or user")
    at = seconds(time(member(line, "arrived", path, field), path, f"{field}, arrived"))
    said = text(member(line, "text", path, field), path, f"{field}, text")
    return Said(said, who, text(member(line, "id", path, field), path, f"{field}, id"), tuple(words), at)


def _event(line: Any, parts: Iterator[Samples], path: Path, field: str) -> Chunk | Flush | None:
    kind = line["kind"]
    if kind not in ("chunk", "flush"):
        return None
    at = seconds(time(member(line, "arrived", path, field), path, f"{field}, arrived"))
    if kind == "flush":
        scope = member(line, "scope", path, field)
        if scope is not None and type(scope) not in (str, int):
            raise InputError(path, f"{field}, scope", found=brief(scope), expected="null, an id or an epoch")
        return Flush(scope, at)
    source = member(line, "source", path, field)
    return Chunk(
        next(parts),
        text(member(line, "id", path, field), path, f"{field}, id"),
        _count(line, "epoch", path, field),
        None if source is None else seconds(time(source, path, f"{field}, source")),
        at,
    )


def _count(line: Any, key: str, path: Path, field: str) -> int:
    value = member(line, key, path, field)
    if type(value) is not int or value < 0:
        raise InputError(path, f"{field}, {key}", found=brief(value), expected="a whole number, not below 0")
    return value
