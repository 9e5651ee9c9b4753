"""A POST on the port of a facade's WebSocket, for servers whose settings lie beside their talks."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from fullduplex.testing.facades import Posts

#: No settings are longer than this, head and all (bytes).
_LONGEST = 65_536


def answering(posts: Posts, live: Callable[[], bool]) -> Any:
    """Return the connection of a WebSocket's server that answers a POST by ``posts``, and all else as ever."""
    from websockets.asyncio.server import ServerConnection

    class Connection(ServerConnection):
        _came: bytes | None = b""

        def data_received(self, data: bytes) -> None:
            if self._came is None:
                super().data_received(data)
                return
            self._came += data
            if len(self._came) < len(b"POST ") and b"POST ".startswith(self._came):
                return
            if not self._came.startswith(b"POST "):
                came, self._came = self._came, None
                super().data_received(came)
                return
            asked = _read(self._came)
            if asked is not None:
                status, text = posts(*asked, live())
                self.transport.write(_written(status, text))
                self.transport.close()

    return Connection


def _read(came: bytes) -> tuple[str, bytes] | None:
    """Return the path and the body of a POST; None while more of it has to come."""
    head, ended, body = came.partition(b"\r\n\r\n")
    if not ended:
        return ("", b"") if len(came) > _LONGEST else None
    first, *lines = head.decode("latin-1").split("\r\n")
    fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    told = fields.get("content-length", "0")
    length = int(told) if told.isdecimal() and len(told) < 8 else _LONGEST + 1
    if length > _LONGEST:
        return "", b""
    return (first.split(" ")[1], body[:length]) if len(body) >= length else None


def _written(status: int, text: str) -> bytes:
    body = text.encode()
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


__all__ = ["answering"]
