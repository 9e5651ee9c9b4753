"""JSON events over a wire: what came, what it says without the key, and why the other side is gone."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from fullduplex.driving.link import Note
from fullduplex.errors import printable
from fullduplex.systems.keys import without
from fullduplex.systems.wire import Gone, Wire, read_at

Event = dict[str, Any]


class Line:
    """Events of one talk. The ``key`` is in nothing that is read from here."""

    def __init__(self, wire: Wire, key: str = "") -> None:
        self._wire, self._key = wire, key

    @property
    def read(self) -> float | None:
        """Return when the latest message was read, on the event loop's clock, where the wire tells."""
        return read_at(self._wire)

    async def send(self, message: Mapping[str, Any]) -> None:
        """Send an event; raises :class:`Gone`."""
        await self._wire.send(json.dumps(message))

    async def receive(self) -> Event | Note:
        """Return the next event, a note of what is none; raises :class:`Gone`."""
        try:
            message = await self._wire.receive()
        except Gone as error:
            raise Gone(self.plain(str(error)), broke=error.broke) from error
        if isinstance(message, bytes):
            # Some send their events in binary frames.
            message = message.decode("utf-8", "replace")
        # Vendors repeat a wrong key in what they say of it.
        message = without(self._key, message)
        told = _read(message)
        if told is None:
            return Note("unreadable", {"text": printable(message[:200]), "characters": len(message)})
        return told

    def plain(self, text: str, limit: int = 300) -> str:
        """Return ``text`` on one line, without the key."""
        return printable(without(self._key, text), limit)


def _read(message: str) -> Event | None:
    """Return an event; None for what is no JSON object with a type."""
    try:
        told = json.loads(message, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) and isinstance(told.get("type"), str) else None


def _no_number(text: str) -> float:
    raise ValueError(text)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def milliseconds(value: Any) -> int | None:
    """Return a time in milliseconds as microseconds; None for what is no time."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
        return None
    return round(value * 1_000)


def member(told: Any, *names: str) -> Any:
    """Return what lies at ``names`` within objects, None where there is nothing."""
    for name in names:
        if not isinstance(told, Mapping):
            return None
        told = told.get(name)
    return told


def text(told: Any, *names: str) -> str:
    """Return the text that lies at ``names``, empty where there is none."""
    found = member(told, *names)
    return found if isinstance(found, str) else ""


def error_text(told: Event) -> str:
    """Return what an error event says."""
    said = text(told, "error", "message") or text(told, "message") or text(told, "error", "code")
    return said or "an error without a message"
