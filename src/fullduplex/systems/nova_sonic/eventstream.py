"""Amazon's event stream: messages with typed headers and a payload, each with its length and two checksums.

A message is the total length, the length of its headers, the CRC-32 of these two; the headers; the payload; the CRC-32
of all before. Numbers are big-endian. A header is its name, a type, a value.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

Value = str | bytes | bool | int | datetime
#: The longest message that is taken for one: the service's own limit is 16 MiB.
LONGEST = 1 << 24
_PRELUDE = struct.Struct(">III")
_BYTES, _STRING, _TIME, _UUID = 6, 7, 8, 9
_NUMBERS = {2: struct.Struct(">b"), 3: struct.Struct(">h"), 4: struct.Struct(">i"), 5: struct.Struct(">q")}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Malformed(Exception):
    """Bytes that are no such message."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message: its headers by name, and its payload."""

    headers: Mapping[str, Value] = field(default_factory=dict)
    payload: bytes = b""

    def text(self, name: str) -> str:
        """Return a header that is a text, empty where there is none."""
        found = self.headers.get(name, "")
        return found if isinstance(found, str) else ""


def encode(message: Message) -> bytes:
    """Return a message as it travels; headers are texts, bytes or moments."""
    headers = encoded_headers(message.headers)
    prelude = struct.pack(">II", 16 + len(headers) + len(message.payload), len(headers))
    whole = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + message.payload
    return whole + struct.pack(">I", zlib.crc32(whole))


def encoded_headers(headers: Mapping[str, Value]) -> bytes:
    """Return headers as they travel."""
    made = bytearray()
    for name, value in headers.items():
        key = name.encode()
        made += bytes([len(key)]) + key
        if isinstance(value, datetime):
            made += struct.pack(">Bq", _TIME, round((value - _EPOCH).total_seconds() * 1_000))
        elif isinstance(value, str | bytes):
            data = value.encode() if isinstance(value, str) else value
            made += struct.pack(">BH", _STRING if isinstance(value, str) else _BYTES, len(data)) + data
        else:
            raise TypeError(f"{name}: a header is a text, bytes or a moment here")
    return bytes(made)


class Messages:
    """Bytes as they come become messages."""

    def __init__(self) -> None:
        self._rest = b""

    def take(self, data: bytes) -> list[Message]:
        """Return the messages that ``data`` completes; raises :class:`Malformed`."""
        self._rest += data
        made = []
        while len(self._rest) >= _PRELUDE.size:
            length, headers, checksum = _PRELUDE.unpack_from(self._rest)
            if checksum != zlib.crc32(self._rest[:8]) or not 16 <= length <= LONGEST or headers > length - 16:
                raise Malformed("what comes is no event stream")
            if len(self._rest) < length:
                break
            made.append(_message(self._rest[:length], headers))
            self._rest = self._rest[length:]
        return made


def _message(data: bytes, headers: int) -> Message:
    if struct.unpack_from(">I", data, len(data) - 4)[0] != zlib.crc32(data[:-4]):
        raise Malformed("a message of the event stream has another checksum than it says")
    start = _PRELUDE.size
    try:
        return Message(_headers(data[start : start + headers]), data[start + headers : -4])
    except (struct.error, IndexError, UnicodeDecodeError, OverflowError) as error:
        raise Malformed("a message of the event stream has headers that cannot be read") from error


def _headers(data: bytes) -> dict[str, Value]:
    made: dict[str, Value] = {}
    at = 0
    while at < len(data):
        size = data[at]
        name, kind = data[at + 1 : at + 1 + size].decode(), data[at + 1 + size]
        at += 2 + size
        if kind in (0, 1):
            made[name] = kind == 0
        elif kind in _NUMBERS:
            made[name] = _NUMBERS[kind].unpack_from(data, at)[0]
            at += _NUMBERS[kind].size
        elif kind == _TIME:
            made[name] = datetime.fromtimestamp(struct.unpack_from(">q", data, at)[0] / 1_000, UTC)
            at += 8
        elif kind == _UUID:
            made[name] = data[at : at + 16]
            at += 16
        elif kind in (_BYTES, _STRING):
            length = struct.unpack_from(">H", data, at)[0]
            value = data[at + 2 : at + 2 + length]
            if len(value) < length:
                raise IndexError(name)
            made[name] = value if kind == _BYTES else value.decode()
            at += 2 + length
        else:
            raise IndexError(name)
    return made


__all__ = ["LONGEST", "Malformed", "Message", "Messages", "Value", "encode", "encoded_headers"]
