"""A talk on disk, and the log read back: what was received can be placed anew at any time.

``received.jsonl`` has a line for each thing that came, in order; ``received.flac`` holds the
samples of all chunks end to end. Together they are what came, whatever playout made of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.data import audio
from fullduplex.data.files import replacing
from fullduplex.driving.drive import Talk
from fullduplex.driving.link import Closed, Said, UserVad
from fullduplex.driving.playout import Chunk, Flush
from fullduplex.errors import InputError
from fullduplex.model.spans import in_seconds, seconds

LOG, AUDIO = "received.jsonl", "received.flac"


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
        elif isinstance(event, UserVad):
            line["speaking"] = event.speaking
        elif isinstance(event, Closed):
            line["reason"] = event.reason
        else:
            line |= {"note": event.kind, "data": dict(event.data)}
        lines.append(line)
    chunks = [event.samples for event in talk.received if isinstance(event, Chunk) and len(event.samples)]
    if chunks:
        audio.write(folder / AUDIO, np.concatenate(chunks), talk.rate)
    else:
        (folder / AUDIO).unlink(missing_ok=True)
    with replacing(folder / LOG) as file:
        file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


def read_received(folder: Path) -> tuple[tuple[Chunk | Flush, ...], int]:
    """Return the chunks and flushes kept in ``folder``, in order of arrival, and their rate.

    Raises :class:`InputError` where a line cannot be read or the audio is not as long as the log says.
    """
    path = folder / LOG
    lines = list(_lines(path))
    if not lines or lines[0].get("kind") != "talk":
        raise InputError(path, "line 1", expected='the line of kind "talk" that says the rate')
    events: list[Chunk | Flush] = []
    total = 0
    samples = np.zeros(0, np.float32)
    rate = int(lines[0]["rate"])
    if any(line.get("samples") for line in lines):
        samples, _ = audio.read(folder / AUDIO)
    for number, line in enumerate(lines[1:], 2):
        try:
            at = seconds(line["arrived"])
            if line["kind"] == "chunk":
                size = int(line["samples"])
                source = None if line["source"] is None else seconds(line["source"])
                events.append(Chunk(samples[total : total + size], line["id"], line["epoch"], source, at))
                total += size
            elif line["kind"] == "flush":
                events.append(Flush(line["scope"], at))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(path, f"line {number}", found=str(error), expected="a chunk or a flush") from error
    if total != len(samples):
        raise InputError(folder / AUDIO, found=f"{len(samples)} samples", expected=f"{total}, as {LOG} says")
    return tuple(events), rate


def _lines(path: Path) -> Iterable[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path, found=str(error), expected="the log of a talk") from error
    for number, line in enumerate(text.splitlines(), 1):
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise InputError(path, f"line {number}", found=error.msg, expected="a JSON object") from error
        if not isinstance(value, dict):
            raise InputError(path, f"line {number}", found=type(value).__name__, expected="a JSON object")
        yield value
