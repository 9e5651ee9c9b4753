"""A facade's talk over HTTP: what the client asks are its messages, and what it gets are pieces of answers.

One request is answered at a time, and one talk is held at a time: it begins with the first request and is over when
the client has closed its connections. A message of the client is a ``str``, method and path, where it has no body
(``GET /chat``), else the ``bytes`` of its body. A message to it is a ``str``, the status of an answer that holds
nothing (``405``), or ``bytes``, a piece of the answer that is open; empty bytes end that. Pieces that nobody has asked
for wait for the next request.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from fullduplex.systems.wire import Gone
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.facades import Carrier, Facade, Reported
from fullduplex.testing.facades.inbox import Inbox
from fullduplex.testing.facades.talking import hold
from fullduplex.testing.model import Reset

#: A request's head, and its body, are no longer than this (bytes).
_HEAD, _BODY = 65_536, 1 << 27


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asked."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


async def request_of(reader: asyncio.StreamReader) -> Request | None:
    """Return the next request of a connection, None at its end; raises ValueError for what is none."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError as error:
        raise ValueError("a request's head does not end") from error
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    fields = (line.partition(":") for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in fields}
    length = int(headers.get("content-length") or 0)
    if not 0 <= length <= _BODY:
        raise ValueError(f"a body of {length} bytes")
    return Request(method, path, headers, await reader.readexactly(length))


def answer(status: str, body: bytes = b"", kind: str = "text/plain") -> bytes:
    """Return a whole answer: ``status`` is its number, with or without words."""
    line = status if " " in status else f"{status} -"
    return f"HTTP/1.1 {line}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


class Asking(Inbox):
    """The client of a talk: a :class:`~fullduplex.testing.facades.Peer` that asks and is answered."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.path, self.headers = "", {}  # type: str, Mapping[str, str]
        #: Whether it has had an answer, and how many connections it has open.
        self.answered, self.connections = False, 0
        self._kind = kind
        self._turn = asyncio.Lock()
        self._pieces: deque[bytes] = deque()
        self._writers: set[asyncio.StreamWriter] = set()
        self._open: asyncio.StreamWriter | None = None
        self._begun, self._over = False, asyncio.Event()

    # For the talk.

    async def send(self, message: str | bytes) -> None:
        """Answer what it asks with a status, a piece, or the end."""
        if isinstance(message, bytes):
            self._pieces.append(message)
            await self._give()
        elif self._open is not None:
            self._open.write(answer(message))
            await self._end()

    def ask_again(self, message: str | bytes) -> None:
        """Let what it asks be the next message once more."""
        self._messages.put_nowait(message)

    async def close(self, reason: str) -> None:
        """Close its connections: there is no word for the reason."""
        for writer in list(self._writers):
            writer.close()

    def reset(self) -> None:
        """Break its connections off."""
        for writer in list(self._writers):
            raw = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    async def _give(self) -> None:
        """Write the pieces of the open answer that wait."""
        while self._open is not None and self._pieces:
            piece, writer = self._pieces.popleft(), self._open
            head = b""
            if not self._begun:
                kind = f"Content-Type: {self._kind}\r\nTransfer-Encoding: chunked\r\n\r\n"
                head, self._begun = b"HTTP/1.1 200 OK\r\n" + kind.encode(), True
            # A chunk of nothing ends them.
            writer.write(head + f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            if not piece:
                await self._end()
            else:
                with suppress(ConnectionError):
                    await writer.drain()

    async def _end(self) -> None:
        writer, self._open, self.answered = self._open, None, True
        self._over.set()
        if writer is not None:
            with suppress(ConnectionError):
                await writer.drain()

    # For its connections.

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take requests from a connection, one answer after another, until it is closed."""
        self.connections += 1
        self._writers.add(writer)
        try:
            while (request := await request_of(reader)) is not None:
                async with self._turn:
                    if not await self._answered(request, reader, writer):
                        break
        except (OSError, ValueError, asyncio.IncompleteReadError):
            # It is no client, or none any more.
            pass
        finally:
            self._writers.discard(writer)
            writer.close()
            self.connections -= 1
            if not self.connections:
                self._messages.put_nowait(Gone("the client left"))

    async def _answered(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Return whether ``request`` was answered before its client left."""
        self.path, self.headers = request.path, request.headers
        self._over.clear()
        self._open, self._begun = writer, False
        self._messages.put_nowait(request.body or f"{request.method} {request.path}")
        await self._give()
        over, left = asyncio.ensure_future(self._over.wait()), asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({over, left}, return_when=asyncio.FIRST_COMPLETED)
            return over.done()
        finally:
            self._open = None
            for task in (over, left):
                task.cancel()
            await asyncio.gather(over, left, return_exceptions=True)


def over_http(kind: str) -> Carrier:
    """Return what carries talks over HTTP, in answers of the content type ``kind``."""

    def carry(facade: Facade, behaviour: Behaviour, port: int, reported: Reported) -> AbstractAsyncContextManager[int]:
        return _serve(kind, facade, behaviour, port, reported)

    return carry


@asynccontextmanager
async def _serve(kind: str, facade: Facade, behaviour: Behaviour, port: int, reported: Reported) -> AsyncIterator[int]:
    asking: list[Asking] = []
    talks: set[asyncio.Task[None]] = set()

    def over(client: Asking) -> None:
        # Whoever connects from now on begins another talk.
        if client in asking:
            asking.remove(client)

    async def talk(client: Asking) -> None:
        report: Mapping[str, Any] = {}
        try:
            report = await hold(facade, behaviour, client)
        except Reset:
            client.reset()
        except Gone:
            # It left before the talk began; there is nobody to tell.
            pass
        finally:
            over(client)
            reported(report)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        holding: asyncio.Task[None] | None = None
        if not asking:
            asking.append(Asking(kind))
            holding = asyncio.create_task(talk(asking[0]))
            talks.add(holding)
            holding.add_done_callback(talks.discard)
        client = asking[0]
        await client.connected(reader, writer)
        if not client.connections:
            over(client)
            if not client.answered and holding is not None:
                # It did not wait until the server was ready.
                holding.cancel()

    server = await asyncio.start_server(connected, "127.0.0.1", port, limit=_HEAD)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for holding in list(talks):
            holding.cancel()
        await asyncio.gather(*talks, return_exceptions=True)


__all__ = ["Asking", "Request", "answer", "over_http", "request_of"]
