"""Pipecat's frames on the wire: five messages of Protocol Buffers, written and read without its library.

A ``Frame`` holds one of text (1), audio (2), transcription (3), message (4), interruption (5). Used are of text
and transcription ``text`` (3); of audio ``audio`` (3), ``sample_rate`` (4), ``num_channels`` (5); of message ``data``
(1), which is JSON.
Read in ``frames.proto`` of pipecat-ai 1.14.0; what its serializer wrote are the fixtures of the tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "audio", "transcription", "message", "interruption"]
_KINDS: dict[int, Kind] = {1: "text", 2: "audio", 3: "transcription", 4: "message", 5: "interruption"}
_FIELDS = {kind: field for field, kind in _KINDS.items()}
_VARINT, _LONG, _BYTES, _SHORT = 0, 1, 2, 5


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame: ``text`` of a text, a transcription or a message; ``audio`` of ``channels`` at ``rate``."""

    kind: Kind
    text: str = ""
    audio: bytes = b""
    rate: int = 0
    channels: int = 0


def written(frame: Frame) -> bytes:
    """Return the bytes of a frame."""
    body = b""
    if frame.kind == "message":
        body = _bytes(1, frame.text.encode())
    elif frame.kind in ("text", "transcription"):
        body = _bytes(3, frame.text.encode())
    elif frame.kind == "audio":
        body = _bytes(3, frame.audio) + _number(4, frame.rate) + _number(5, frame.channels)
    return _bytes(_FIELDS[frame.kind], body)


def read(data: bytes) -> Frame:
    """Return the frame of ``data``; raises ValueError for what is none, UnicodeDecodeError for what is no text."""
    found: Frame | None = None
    for field, value in _fields(data):
        kind = _KINDS.get(field)
        if kind is not None and isinstance(value, bytes):
            found = _read(kind, value)
    if found is None:
        raise ValueError("no frame that is known")
    return found


def _read(kind: Kind, data: bytes) -> Frame:
    told = dict(_fields(data))
    if kind == "audio":
        audio, rate, channels = told.get(3, b""), told.get(4, 0), told.get(5, 0)
        if not isinstance(audio, bytes) or not isinstance(rate, int) or not isinstance(channels, int):
            raise ValueError("audio of other types")
        return Frame(kind, audio=audio, rate=rate, channels=channels)
    text = told.get(1 if kind == "message" else 3, b"")
    if not isinstance(text, bytes):
        raise ValueError("text of another type")
    return Frame(kind, text="" if kind == "interruption" else text.decode())


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | _BYTES) + _varint(len(value)) + value


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3 | _VARINT) + _varint(value) if value else b""


def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([*made, value])


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the number and the value of each field; raises ValueError where the bytes end within one."""
    at = 0
    while at < len(data):
        key, at = _varint_at(data, at)
        field, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, at = _varint_at(data, at)
            yield field, value
            continue
        if wire == _BYTES:
            size, at = _varint_at(data, at)
        elif wire in (_LONG, _SHORT):
            size = 8 if wire == _LONG else 4
        else:
            raise ValueError(f"a field of the type {wire}")
        if at + size > len(data):
            raise ValueError("the bytes end within a field")
        yield field, data[at : at + size]
        at += size


def _varint_at(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("the bytes end within a number")
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 128:
            return value, at


__all__ = ["Frame", "read", "written"]
