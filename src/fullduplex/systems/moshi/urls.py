"""Where a server of the family listens, and by which name its checkpoint is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from fullduplex.errors import InputError, printable
from fullduplex.systems.catalogue import SHORT_NAMES


def checkpoint(name: str) -> str:
    """Return the whole name of a checkpoint; a name that is not a short one is taken as it is."""
    if name != printable(name, 200):
        raise ValueError(f"model: found {printable(name, 80)}, expected the name of a checkpoint")
    return SHORT_NAMES.get(name, name)


def address(url: str, query: Mapping[str, Any], path: str = "/api/chat") -> str:
    """Return ``url`` with ``path`` where it has none, and with ``query`` behind what it has.

    Raises :class:`InputError` for what is no WebSocket URL.
    """
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("ws", "wss") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        sound = False
    if not sound:
        raise InputError("--system", "url", found=printable(url, 80), expected="ws://HOST:PORT or wss://HOST:PORT")
    joined = "&".join(filter(None, (parts.query, urlencode(query))))
    return parts._replace(path=path if parts.path in ("", "/") else parts.path, query=joined, fragment="").geturl()
