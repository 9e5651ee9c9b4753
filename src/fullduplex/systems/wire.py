"""What carries messages between us and a server: one WebSocket, opened as a talk needs it.

No compression (it waits for more to compress), no Nagle delay, messages of any size. A driver that speaks over a
WebSocket says where its ``door`` is and holds its talk ``over`` whatever :class:`Wire` it is given, so that the same
code runs over a socket and in memory, on the virtual clock.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol
from urllib.parse import quote, urlencode, urlsplit

from fullduplex.driving.link import Link, Traits
from fullduplex.errors import ConversationError, InputError, printable
from fullduplex.model.spans import SECOND, seconds
from fullduplex.model.spec import Spec

#: A server that does not take a connection within this (microseconds) is not there.
OPENS_WITHIN = seconds(20)
#: The codes with which a WebSocket is closed since all is said, or since its server ends.
_FAREWELLS = (1000, 1001)
#: What stands in a path or a query as it is, what is spelled by ``%`` already among it.
_URL = "/?%:@!$&'()*+,;=~-._"


class Gone(Exception):
    """The other side is gone: why, and whether it ``broke`` off instead of taking its leave."""

    def __init__(self, why: str = "", *, broke: bool = False) -> None:
        super().__init__(why)
        self.broke = broke


class Wire(Protocol):
    """What carries messages both ways, in order."""

    async def send(self, message: str | bytes) -> None:
        """Give a message to the other side; raises :class:`Gone`."""
        ...

    async def receive(self) -> str | bytes:
        """Return the next message of the other side; raises :class:`Gone`."""
        ...


@dataclass(frozen=True, slots=True)
class Door:
    """Where a talk is opened: the whole URL with its query, the headers (keys may be among them), subprotocols.

    ``verify`` is whether the certificate of a ``wss`` server has to be one that this machine trusts.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    subprotocols: Sequence[str] = ()
    verify: bool = True


def address(url: str, path: str, query: Mapping[str, Any] = MappingProxyType({})) -> str:
    """Return ``url`` with ``path`` where it has none, and with ``query`` behind what it has, spelled as URLs are.

    Raises :class:`InputError` for what is no WebSocket URL.
    """
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("ws", "wss") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        sound = False
    if not sound:
        raise InputError("--system", "url", found=printable(url, 80), expected="ws://HOST:PORT or wss://HOST:PORT")
    joined = "&".join(filter(None, (quote(parts.query, safe=_URL), urlencode(query))))
    path = path if parts.path in ("", "/") else quote(parts.path, safe=_URL)
    return parts._replace(path=path, query=joined, fragment="").geturl()


class OverWire(Protocol):
    """A system that talks over a wire: what :func:`connected`, and a test in memory, need of it."""

    @property
    def spec(self) -> Spec:
        """Return what exactly is driven."""
        ...

    @property
    def traits(self) -> Traits:
        """Return what a driver has to know."""
        ...

    def door(self, prompt: str) -> Door:
        """Return where a talk with this prompt is opened."""
        ...

    def over(self, wire: Wire, prompt: str) -> AbstractAsyncContextManager[Link]:
        """Open a talk over ``wire``; it is entered once the handshake is over."""
        ...


@asynccontextmanager
async def connected(system: OverWire, prompt: str) -> AsyncIterator[Link]:
    """Open a talk with ``system`` over a WebSocket of its own; raises :class:`ConversationError` where it cannot be."""
    async with websocket(system.door(prompt)) as wire, system.over(wire, prompt) as link:
        yield link


@asynccontextmanager
async def websocket(door: Door, *, within: int = OPENS_WITHIN, what: str = "server") -> AsyncIterator[Wire]:
    """Open a WebSocket; raises :class:`ConversationError` where no ``what`` is there: the query is not told."""
    import ssl

    from websockets.asyncio.client import connect
    from websockets.exceptions import WebSocketException

    class Connect(connect):
        def process_redirect(self, exc: Exception) -> Exception | str:
            # To whom it would send us, no key was given; and it is another server than was asked for.
            found = super().process_redirect(exc)
            return found if not isinstance(found, str) or _origin(found) == _origin(door.url) else exc

    where = printable(door.url.partition("?")[0])
    try:
        # asyncio switches Nagle's delay off by itself.
        socket = await Connect(
            door.url,
            additional_headers=dict(door.headers),
            subprotocols=list(door.subprotocols) or None,  # type: ignore[arg-type]
            ssl=_certified(door),
            compression=None,
            max_size=None,
            max_queue=None,
            proxy=None,
            ping_interval=5,
            ping_timeout=10,
            close_timeout=1,
            open_timeout=within / SECOND,
        )
    except (OSError, WebSocketException, ValueError, TimeoutError) as error:
        reason = printable(str(error) or type(error).__name__)
        # A server that speaks plainly answers the first encrypted words so, or hangs up.
        plain = isinstance(error, ConnectionResetError | ssl.SSLEOFError) or "WRONG_VERSION_NUMBER" in reason
        if door.url.startswith("wss:") and plain:
            reason = f"it may speak without encryption; try ws:// in place of wss:// ({reason})"
        raise ConversationError(f"{where}: no {what} answers there: {reason}") from error
    try:
        yield Socket(socket)
    finally:
        await socket.close()


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


def _certified(door: Door) -> Any:
    """Return how the server's certificate is looked at: not at all where there is none."""
    import ssl

    if not door.url.startswith("wss:"):
        return None
    if door.verify:
        return True
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


class Socket:
    """A connection of the websockets library, a client's or a server's, as a wire."""

    def __init__(self, socket: Any) -> None:
        from websockets.exceptions import ConnectionClosed

        self._socket, self._closed = socket, ConnectionClosed
        #: When the latest message was read, on the event loop's clock; see :class:`fullduplex.driving.link.Link`.
        self.read: float | None = None

    async def send(self, message: str | bytes) -> None:
        """Give a message to the other side; raises :class:`Gone`."""
        try:
            await self._socket.send(message)
        except self._closed as error:
            raise _gone(error) from error

    async def receive(self) -> str | bytes:
        """Return the next message of the other side; raises :class:`Gone`."""
        try:
            message: str | bytes = await self._socket.recv()
        except self._closed as error:
            raise _gone(error) from error
        except UnicodeDecodeError as error:
            raise Gone("sent text that is not UTF-8", broke=True) from error
        finally:
            self.read = asyncio.get_running_loop().time()
        return message


def _gone(error: Any) -> Gone:
    """Return how a connection ended: by the other side's decision only where it said so, and named no failure."""
    return Gone(_why(error), broke=error.rcvd is None or error.rcvd.code not in _FAREWELLS)


def _why(error: Any) -> str:
    frame = error.rcvd
    if frame is None and error.sent is not None:
        # We ended it: for a ping without an answer, or for what is no WebSocket.
        why = "does not answer" if error.sent.code == 1011 else "sent what WebSocket does not allow"
        return printable(f"the server {why}: {error.sent.reason or error.sent.code}")
    if frame is None:
        return printable(f"the connection broke off: {error.__cause__ or 'no closing handshake'}")
    return printable(f"{frame.code} {frame.reason}".strip())


def read_at(wire: object) -> float | None:
    """Return when the latest message of ``wire`` was read, where it tells."""
    read: float | None = getattr(wire, "read", None)
    return read


class Memory:
    """Two queues as a wire; a :class:`Gone` in the queue is the end of it."""

    def __init__(self, there: asyncio.Queue[str | bytes | Gone], back: asyncio.Queue[str | bytes | Gone]) -> None:
        self._there, self._back = there, back

    async def send(self, message: str | bytes) -> None:
        """Give a message to the other side; waits where the other side takes none."""
        await self._there.put(message)

    async def receive(self) -> str | bytes:
        """Return the next message of the other side; raises :class:`Gone`."""
        message = await self._back.get()
        if isinstance(message, Gone):
            self._back.put_nowait(message)
            raise message
        return message
