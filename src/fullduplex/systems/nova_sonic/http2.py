"""A stream of signed events both ways over one HTTP/2 request: what carries Nova Sonic's events.

The library ``h2`` knows the protocol and touches no socket; here are the socket, the flow of bytes, and the framing.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlsplit

from fullduplex.errors import ConversationError, PluginError, printable
from fullduplex.systems.keys import without
from fullduplex.systems.nova_sonic.eventstream import Malformed, Message, Messages, encode
from fullduplex.systems.nova_sonic.signing import Chain, Credentials, signature_of, signed_request
from fullduplex.systems.wire import Door, Gone

TYPE = "application/vnd.amazon.eventstream"
#: A server that refuses says so this soon; one that takes the stream may say nothing until it has something to say.
SETTLES = 1.0
#: How many bytes are read at a time, and how many may wait to be sent.
_READ, _WAITING = 65_536, 1 << 20


class Answered(Exception):
    """An HTTP answer that is no stream; ``response`` has its status, as others' errors have."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        super().__init__(f"HTTP {status}")
        self.response = self
        self.status_code, self.headers, self.body = status, headers, body


def path_of(model: str) -> str:
    """Return the path of a model's stream."""
    return f"/model/{quote(model, safe='')}/invoke-with-bidirectional-stream"


@asynccontextmanager
async def stream(door: Door, model: str, who: Credentials, within: float) -> AsyncIterator[Stream]:
    """Open a stream; raises :class:`ConversationError` where nobody takes it, with the status behind it.

    ``http://`` is spoken without encryption from the first byte on, for servers within this machine.
    """
    parts = urlsplit(door.url)
    secure = parts.scheme == "https"
    host, port = parts.hostname or "", parts.port or (443 if secure else 80)
    where = f"{printable(host)}:{port}"
    protocol = _library()
    try:
        async with asyncio.timeout(within):
            reader, writer = await asyncio.open_connection(host, port, ssl=_certified(door) if secure else None)
    except (OSError, TimeoutError) as error:
        reason = printable(str(error) or type(error).__name__)
        raise ConversationError(f"{where}: no server answers there: {reason}") from error
    spoken = writer.get_extra_info("ssl_object")
    if secure and spoken is not None and spoken.selected_alpn_protocol() != "h2":
        writer.close()
        raise ConversationError(f"{where}: the server does not speak HTTP/2")
    made = Stream(protocol, reader, writer, who)
    try:
        async with asyncio.timeout(within):
            await made.open(parts.netloc, path_of(model), secure)
        yield made
    except Answered as error:
        raise _refused(error, where, who) from error
    except (TimeoutError, Gone) as error:
        raise ConversationError(f"{where}: took the connection and no stream: {error or 'in time'}") from error
    finally:
        await made.close()


def _refused(error: Answered, where: str, who: Credentials) -> ConversationError:
    said = error.body.decode("utf-8", "replace")
    with suppress(ValueError, AttributeError):
        told = json.loads(said)
        said = str(told.get("message") or told.get("Message") or said)
    plain = printable(without(who.secret, without(who.token, said)), 200)
    kind = error.headers.get("x-amzn-errortype", "").partition(":")[0]
    sentence = f"{where} took no stream, HTTP {error.status_code}" + (f" ({printable(kind, 60)})" if kind else "")
    return ConversationError(f"{sentence}: {plain}" if plain else sentence)


def _certified(door: Door) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if not door.verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    return context


def _library() -> Any:
    try:
        import h2.config
        import h2.connection
        import h2.errors
        import h2.events
    except ImportError as error:
        raise PluginError("system 'nova-sonic' needs h2, which is not installed; install fullduplex[nova]") from error
    return h2


class Stream:
    """One request whose body and answer are events; a wire of texts."""

    def __init__(self, h2: Any, reader: Any, writer: Any, who: Credentials) -> None:
        self._h2, self._reader, self._writer, self._who = h2, reader, writer, who
        config = h2.config.H2Configuration(client_side=True, header_encoding="utf-8")
        self._http = h2.connection.H2Connection(config)
        self._id = 1
        self._messages = Messages()
        self._came: asyncio.Queue[tuple[float, str | Gone]] = asyncio.Queue()
        self._answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._status, self._headers, self._body = 0, dict[str, str](), bytearray()
        self._room, self._over, self._farewell = asyncio.Event(), False, False
        self._chain: Chain | None = None
        self._reading: asyncio.Task[None] | None = None
        #: When the latest message was read, on the event loop's clock; see :class:`fullduplex.driving.link.Link`.
        self.read: float | None = None

    async def open(self, host: str, path: str, secure: bool) -> None:
        """Send the request's head; raises :class:`Answered` where it is refused at once."""
        self._http.initiate_connection()
        now = datetime.now(UTC)
        asked = {"content-type": TYPE, "accept": TYPE}
        headers = signed_request(self._who, host, path, asked, now) if self._who.secret else asked
        self._chain = Chain(self._who, signature_of(headers.get("authorization", ""))) if self._who.secret else None
        pseudo = [(":method", "POST"), (":scheme", "https" if secure else "http"), (":path", path)]
        headers = {name: value for name, value in headers.items() if name != "host"}
        self._http.send_headers(self._id, [*pseudo, (":authority", host), *headers.items()])
        await self._flush()
        self._reading = asyncio.ensure_future(self._read())
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLES):
                status = await asyncio.shield(self._answer)
                if status != 200:
                    await self._ended()
                    raise Answered(status, self._headers, bytes(self._body))

    async def send(self, message: str | bytes) -> None:
        """Give an event to the server; raises :class:`Gone`."""
        await self._send(chunk_of(message))

    async def _send(self, message: Message | None) -> None:
        now = datetime.now(UTC)
        if self._chain is not None:
            data = self._chain.sign(message, now)
        else:
            data = encode(message) if message is not None else b""
        while data:
            size = min(self._http.local_flow_control_window(self._id), self._http.max_outbound_frame_size, len(data))
            if self._over:
                raise Gone("the stream is over")
            if size <= 0:
                self._room.clear()
                await self._room.wait()
                continue
            self._http.send_data(self._id, data[:size])
            data = data[size:]
            await self._flush()

    async def receive(self) -> str | bytes:
        """Return the next event of the server; raises :class:`Gone`."""
        self.read, message = await self._came.get()
        if isinstance(message, Gone):
            self._came.put_nowait((self.read, message))
            raise message
        return message

    async def close(self) -> None:
        """End the request, and the connection."""
        with suppress(Gone, OSError, self._h2.exceptions.ProtocolError, TimeoutError):
            async with asyncio.timeout(1):
                if not self._over:
                    if self._chain is not None:
                        await self._send(None)
                    self._http.end_stream(self._id)
                    await self._flush()
        if self._reading is not None:
            self._reading.cancel()
            with suppress(asyncio.CancelledError):
                await self._reading
        with suppress(OSError, self._h2.exceptions.ProtocolError):
            self._http.close_connection()
            await self._flush()
        self._writer.close()
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(1):
                await self._writer.wait_closed()

    async def _flush(self) -> None:
        self._writer.write(self._http.data_to_send())
        if self._writer.transport.get_write_buffer_size() > _WAITING:
            await self._writer.drain()

    async def _ended(self) -> None:
        """Wait a little for the whole of an answer that is no stream."""
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLES):
                while not self._over:
                    await asyncio.sleep(0.01)

    async def _read(self) -> None:
        why = "the connection broke off"
        try:
            while data := await self._reader.read(_READ):
                at = asyncio.get_running_loop().time()
                for event in self._http.receive_data(data):
                    # The first reason is the one: what follows it only ends the stream.
                    if not self._over:
                        why = self._took(event, at) or why
                await self._flush()
                if self._over:
                    break
        except (OSError, Malformed, self._h2.exceptions.ProtocolError) as error:
            why = printable(str(error) or type(error).__name__)
        self._over = True
        self._room.set()
        if not self._answer.done():
            self._answer.set_exception(Gone(why))
            # Whoever waits is told; nobody may.
            self._answer.exception()
        self._came.put_nowait((asyncio.get_running_loop().time(), Gone(why, broke=not self._farewell)))

    def _took(self, event: Any, at: float) -> str:
        """Take an event of the protocol; return why the stream is over, where it is."""
        events = self._h2.events
        if isinstance(event, events.ResponseReceived):
            self._headers = {str(name): str(value) for name, value in event.headers}
            self._status = int(self._headers.get(":status", "0"))
            if not self._answer.done():
                self._answer.set_result(self._status)
        elif isinstance(event, events.DataReceived):
            self._http.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            if self._status == 200:
                for message in self._messages.take(event.data):
                    if why := self._told(message, at):
                        self._over = True
                        return why
            elif len(self._body) < _READ:
                self._body += event.data
        elif isinstance(event, events.WindowUpdated | events.RemoteSettingsChanged):
            self._room.set()
        elif isinstance(event, events.StreamEnded):
            self._over = self._farewell = True
            return "the server ended the stream"
        elif isinstance(event, events.StreamReset):
            self._over = True
            return f"the server reset the stream ({event.error_code})"
        elif isinstance(event, events.ConnectionTerminated):
            self._over, self._farewell = True, not event.error_code
            said = (event.additional_data or b"").decode("utf-8", "replace")
            return printable(f"the server ended the connection ({event.error_code}) {said}".strip(), 200)
        return ""

    def _told(self, message: Message, at: float) -> str:
        """Take a message of the stream; return why it is over, where the message says so."""
        if message.text(":message-type") in ("exception", "error"):
            kind = message.text(":exception-type") or message.text(":error-code") or "an error"
            said = message.text(":error-message") or message.payload.decode("utf-8", "replace")
            with suppress(ValueError, AttributeError):
                said = str(json.loads(message.payload).get("message") or said)
            return printable(without(self._who.secret, without(self._who.token, f"{kind}: {said}")), 300)
        if message.text(":event-type") != "chunk":
            self._came.put_nowait((at, json.dumps({"event": {message.text(":event-type") or "nameless": {}}})))
            return ""
        try:
            payload = json.loads(message.payload)
            data = base64.b64decode(payload["bytes"], validate=True)
        except (ValueError, KeyError, TypeError, binascii.Error):
            data = message.payload
        self._came.put_nowait((at, data.decode("utf-8", "replace")))
        return ""


def chunk_of(message: str | bytes) -> Message:
    """Return an event of the model's as the chunk of the stream that carries it."""
    data = message.encode() if isinstance(message, str) else message
    payload = json.dumps({"bytes": base64.b64encode(data).decode()}).encode()
    return Message({":event-type": "chunk", ":content-type": "application/json", ":message-type": "event"}, payload)


__all__ = ["SETTLES", "TYPE", "Answered", "Stream", "chunk_of", "path_of", "stream"]
