"""Where both APIs are opened, when a key may travel there, and what it means where they refuse."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlencode, urlsplit

from fullduplex.errors import ConversationError, InputError, printable
from fullduplex.systems.keys import without
from fullduplex.systems.openai.line import text
from fullduplex.systems.wire import Door, Wire, websocket


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


def admitted(system: str, preset: str, home: str, key: str, key_name: str) -> None:
    """Let a talk pass that is asked for at a ``home`` and has a key; raises :class:`InputError` for any other."""
    if not home:
        raise InputError("--system", "url", expected=f"the address of your own resource, for {preset}")
    if not key:
        do = f"set {key_name}, or name a file that holds it with key_file"
        raise InputError(system, "key", expected="a key for this service", do=do)


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
    context = websocket(door, what=what.removeprefix("the "))
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


__all__ = ["address", "admitted", "opened", "secured"]
