"""Socket.IO (protocol 5, over Engine.IO 4) on a wire: events with a name and what they carry.

The library's client reads in a thread or task of its own and hands events on once they are decoded; here a message is
taken from the wire by whoever times it, and the same code runs in memory. The library's own client and
server are what it is tested against.

Each text begins with a digit, the kind of Engine.IO: open 0, close 1, ping 2, pong 3, message 4, no-op 6; a message's
next digit is the kind of Socket.IO: connect 0, disconnect 1, event 2, refused 4, event with attachments 5. Attachments
follow as binary messages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fullduplex.errors import printable
from fullduplex.systems.wire import Gone, Wire, read_at

PATH = "/socket.io/"
QUERY = {"EIO": "4", "transport": "websocket"}
#: An event with more attachments than this is none of these servers'.
ATTACHMENTS = 8
_BINARY = re.compile(r"5(\d{1,2})-(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Event:
    """An event by its name, with what it carries."""

    name: str
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Odd:
    """A message that is no event that can be read."""

    text: str
    length: int


class SocketIo:
    """One connection of the default namespace."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._next: str | bytes | None = None

    async def open(self) -> str:
        """Connect, and return the session's name; raises :class:`Gone` where the server is none or refuses."""
        first = await self._wire.receive()
        if not isinstance(first, str) or not first.startswith("0"):
            raise Gone(f"it is no Socket.IO server: it began with {printable(repr(first[:40]), 60)}")
        await self._wire.send("40")
        while True:
            message = await self._wire.receive()
            if message == "2":
                await self._wire.send("3")
            elif isinstance(message, str) and message.startswith("40"):
                told = _parsed(message[2:] or "{}")
                return printable(str(told.get("sid", "")), 100) if isinstance(told, dict) else ""
            elif isinstance(message, str) and message.startswith("44"):
                raise Gone(f"it refused: {printable(message[2:], 200)}")
            elif message in ("1", "41"):
                raise Gone("it disconnected")

    @property
    def read(self) -> float | None:
        """Return when the latest message was read, on the event loop's clock, where the wire tells."""
        return read_at(self._wire)

    async def send(self, message: Event) -> None:
        """Send an event without attachments; raises :class:`Gone`."""
        await self._wire.send("42" + json.dumps([message.name, *message.arguments], separators=(",", ":")))

    async def close(self) -> None:
        """Take leave of the namespace."""
        await self._wire.send("41")

    async def receive(self) -> Event | Odd:
        """Return the next event, or what is none; pings are answered. Raises :class:`Gone` at the end."""
        while True:
            message, self._next = self._next, None
            if message is None:
                message = await self._wire.receive()
            if message == "2":
                await self._wire.send("3")
            elif message in ("1", "41"):
                raise Gone("it disconnected")
            elif message not in ("3", "6"):
                return await self._read(message)

    async def _read(self, message: str | bytes) -> Event | Odd:
        if isinstance(message, bytes):
            return Odd("", len(message))
        odd = Odd(printable(message[:200]), len(message))
        attached = _BINARY.match(message[1:]) if message.startswith("4") else None
        if not message.startswith("42") and attached is None:
            return odd
        told = _parsed(attached[2] if attached else message[2:])
        if not isinstance(told, list) or not told or not isinstance(told[0], str):
            return odd
        if attached is None:
            return Event(told[0], tuple(told[1:]))
        count = int(attached[1])
        if count > ATTACHMENTS:
            return odd
        parts: list[bytes] = []
        while len(parts) < count:
            part = await self._wire.receive()
            if part == "2":
                await self._wire.send("3")
            elif isinstance(part, bytes):
                parts.append(part)
            else:
                # It came without its attachment; this is the next message.
                self._next = part
                return odd
        return Event(told[0], tuple(_filled(argument, parts) for argument in told[1:]))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _filled(argument: Any, parts: Sequence[bytes]) -> Any:
    """Return an argument with the attachment that it stands for: none of these servers nests them."""
    if isinstance(argument, dict) and argument.get("_placeholder") is True:
        number = argument.get("num")
        return parts[number] if isinstance(number, int) and 0 <= number < len(parts) else None
    return argument
