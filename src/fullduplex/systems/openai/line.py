"""JSON events over a wire: what came, what it says without the key, and why the other side is gone."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol
from urllib.parse import urlencode, urlsplit

from fullduplex.driving.link import Note
from fullduplex.errors import ConversationError, InputError, printable
from fullduplex.systems.keys import without
from fullduplex.systems.wire import Door, Gone, Wire, read_at, websocket

Event = dict[str, Any]


class Line:
    """Events of one talk. The ``key`` is in nothing that is read from here."""

    def __init__(self, wire: Wire, key: str = "") -> None:
        self._wire, self._key = wire, key
        self.gone = False

    @property
    def read(self) -> float | None:
        """Return when the latest message was read, on the event loop's clock, where the wire tells."""
        return read_at(self._wire)

    async def give(self, event: Mapping[str, Any]) -> None:
        """Send an event; a wire that is gone is told of once, by the reader, with its reason."""
        if not self.gone:
            with suppress(Gone):
                await self._wire.send(json.dumps(event))

    async def next(self) -> Event | Note:
        """Return the next event, a note of what is none; raises :class:`Gone`."""
        try:
            message = await self._wire.receive()
        except Gone as error:
            self.gone = True
            raise Gone(self.plain(str(error))) from error
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


def address(option: str, base: str, path: str, query: Mapping[str, str]) -> str:
    """Return the URL of ``path`` under ``base``, which may be ``ws``, ``wss``, ``http`` or ``https``, or end in it.

    Raises :class:`InputError` for what is no address, or holds a name or a key.
    """
    try:
        parts = urlsplit(base)
        sound = parts.scheme in ("ws", "wss", "http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        sound = False
    if not sound or not base.isprintable() or " " in base:
        raise InputError("--system", option, found=printable(base, 80), expected="wss://HOST/… or ws://HOST:PORT/…")
    if "@" in parts.netloc or any(word in parts.query.lower() for word in ("key", "token", "secret")):
        raise InputError("--system", option, found="more than an address", expected="no key in it", do="use key_file")
    where = parts.path.rstrip("/")
    if not where.endswith(path):
        where += path
    scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme)
    asked = "&".join(filter(None, (parts.query, urlencode(query))))
    return parts._replace(scheme=scheme, path=where, query=asked, fragment="").geturl()


def secured(url: str) -> bool:
    """Return whether a key may travel to ``url``: encrypted, or within this machine."""
    parts = urlsplit(url)
    return parts.scheme == "wss" or parts.hostname in ("localhost", "127.0.0.1", "::1")


_REFUSALS = {
    400: "it refuses the request",
    401: "it refuses the key",
    403: "the key gives no access to this",
    404: "it knows no such model or address",
    429: "it takes no more requests for now, by rate or quota",
}


@asynccontextmanager
async def opened(door: Door, what: str, key: str, key_name: str) -> AsyncIterator[Wire]:
    """Open a WebSocket to ``what``; raises :class:`ConversationError` with what a refusal means."""
    context = websocket(door, what=what)
    try:
        wire = await context.__aenter__()
    except ConversationError as error:
        raise ConversationError(_refusal(error, what, key, key_name)) from error
    try:
        yield wire
    finally:
        await context.__aexit__(None, None, None)


def _refusal(error: ConversationError, what: str, key: str, key_name: str) -> str:
    response = getattr(error.__cause__, "response", None)
    status = getattr(response, "status_code", None)
    if not isinstance(status, int):
        return without(key, str(error))
    body = getattr(response, "body", None) or b""
    said = _read_body(body.decode("utf-8", "replace"))
    meaning = _REFUSALS.get(status, "it fails" if status >= 500 else "it refuses the connection")
    told = f"{what} took no connection, HTTP {status}: {meaning}"
    if status == 401 and not key:
        told += f" (none was given: set {key_name}, or name a file that holds it with key_file)"
    return told + (f"; it says: {printable(without(key, said), 200)}" if said else "")


def _read_body(body: str) -> str:
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        told = None
    return (text(told, "error", "message") or text(told, "message")) if isinstance(told, dict) else body.strip()


class Readied(Protocol):
    """A talk that has to be got ready, and the last error that it was told of, as the end of a sentence."""

    @property
    def last_error(self) -> str:
        """Return "; its last error: …", or nothing."""
        ...

    async def get_ready(self, session: dict[str, Any]) -> None:
        """Ask for the session and wait until it is there; raises :class:`Gone`."""
        ...


async def readied(talking: Readied, session: dict[str, Any], what: str, within: float) -> None:
    """Get a talk with ``what`` ready; raises :class:`ConversationError` where it leaves, or takes over ``within`` s."""
    try:
        async with asyncio.timeout(within):
            await talking.get_ready(session)
    except TimeoutError:
        raise ConversationError(
            f"{what} took the connection and was not ready within {within:g} s: it may be busy{talking.last_error}"
        ) from None
    except Gone as error:
        raise ConversationError(f"{what} left before it was ready: {error}{talking.last_error}") from error
