"""Nova Sonic's facade over HTTP/2, as the service speaks: signed messages are checked, answers are an event stream."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import Any

from fullduplex.systems.nova_sonic.eventstream import Malformed, Message, Messages, encode
from fullduplex.systems.nova_sonic.http2 import TYPE
from fullduplex.systems.nova_sonic.signing import Chain, Credentials, moment, signature_of, signed_request
from fullduplex.systems.wire import Gone
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.facades import Facade
from fullduplex.testing.facades.talking import hold
from fullduplex.testing.model import Reset, prepare

#: Whose requests are taken; a request that nobody signed is taken too, so that it can be tried without keys.
KNOWN = Credentials("AKIDFACADE", "facade-secret", "", "us-east-1")


@asynccontextmanager
async def serve_http2(
    facade: Facade, behaviour: Behaviour, *, ssl: Any = None, who: Credentials = KNOWN, refuses: Any = None
) -> AsyncIterator[int]:
    """Serve ``facade`` over HTTP/2 as long as the context is open; give the port.

    Without ``ssl`` it is spoken from the first byte on. ``refuses`` gives for a request's headers the status, headers
    and body of a refusal, None for who is let in.
    """
    fitting = facade.fits(behaviour)
    await asyncio.to_thread(prepare, fitting)
    talks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = _Peer(reader, writer, who, refuses)
        reading = asyncio.ensure_future(peer.run())
        talks.add(reading)
        try:
            if await peer.asked():
                await hold(facade, fitting, peer)
                await peer.end()
        except Reset:
            writer.transport.abort()
        except Gone:
            pass
        finally:
            reading.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await reading
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=ssl)
    async with server:
        yield server.sockets[0].getsockname()[1]
        server.close()
        for talk in talks:
            talk.cancel()


class _Peer:
    """A client, at the server's end: one stream of one connection."""

    def __init__(self, reader: Any, writer: Any, who: Credentials, refuses: Any) -> None:
        import h2.config
        import h2.connection
        import h2.events

        self._events: Any = h2.events
        config = h2.config.H2Configuration(client_side=False, header_encoding="utf-8")
        self._http = h2.connection.H2Connection(config)
        self._reader, self._writer, self._who, self._refuses = reader, writer, who, refuses
        self._stream = 0
        self._messages = Messages()
        self._came: asyncio.Queue[str | Gone] = asyncio.Queue()
        self._head: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._chain: Chain | None = None
        self._room = asyncio.Event()
        self._over = False
        self.path, self.headers = "", {}  # type: str, Mapping[str, str]

    async def asked(self) -> bool:
        """Return whether a request came and was let in."""
        return await self._head

    async def run(self) -> None:
        why = "the client left"
        try:
            self._http.initiate_connection()
            self._flush()
            while data := await self._reader.read(65_536):
                for event in self._http.receive_data(data):
                    self._took(event)
                self._flush()
        except (OSError, Malformed, _Wrong) as error:
            why = str(error)
            if self._stream and not self._over:
                await self._answer(":exception-type", "validationException", json.dumps({"message": why}).encode())
        finally:
            self._room.set()
            if not self._head.done():
                self._head.set_result(False)
            self._came.put_nowait(Gone(why))

    def _took(self, event: Any) -> None:
        events = self._events
        if isinstance(event, events.RequestReceived):
            self._begin(event)
        elif isinstance(event, events.DataReceived):
            self._http.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            for message in self._messages.take(event.data):
                self._heard(message)
        elif isinstance(event, events.StreamEnded):
            self._came.put_nowait(Gone("1000"))
        elif isinstance(event, events.StreamReset | events.ConnectionTerminated):
            self._over = True
            self._room.set()
            self._came.put_nowait(Gone("the client left"))
        elif isinstance(event, events.WindowUpdated):
            self._room.set()

    def _begin(self, event: Any) -> None:
        headers = {str(name): str(value) for name, value in event.headers}
        self._stream, self.path, self.headers = event.stream_id, headers[":path"], headers
        refused = self._refuses(headers) if self._refuses else None
        refused = refused or self._unsigned(headers)
        if refused:
            status, more, body = refused
            self._http.send_headers(self._stream, [(":status", str(status)), *more.items()])
            self._http.send_data(self._stream, body, end_stream=True)
            self._head.set_result(False)
            return
        self._http.send_headers(self._stream, [(":status", "200"), ("content-type", TYPE)])
        self._head.set_result(True)

    def _unsigned(self, headers: Mapping[str, str]) -> tuple[int, dict[str, str], bytes] | None:
        """Return the refusal of a request with a wrong signature; one without any is taken."""
        told = headers.get("authorization")
        if told is None:
            return None
        names = told.partition("SignedHeaders=")[2].partition(",")[0].split(";")
        at = datetime.strptime(headers["x-amz-date"], "%Y%m%dT%H%M%S%z")
        signed = {name: headers[name] for name in names if name in headers}
        path = self.path.partition("?")[0]
        again = signed_request(self._who, headers[":authority"], path, signed, at)
        if signature_of(again["authorization"]) != signature_of(told):
            body = json.dumps({"message": f"The request signature we calculated does not match {told}"}).encode()
            return 403, {"x-amzn-errortype": "InvalidSignatureException"}, body
        self._chain = Chain(self._who, signature_of(told))
        return None

    def _heard(self, message: Message) -> None:
        if self._chain is not None:
            at = message.headers.get(":date")
            inner = Messages().take(message.payload)
            again = self._chain.sign(inner[0] if inner else None, at) if isinstance(at, datetime) else b""
            if again != encode(message):
                raise _Wrong(
                    f"the signature of a message made {moment(at) if isinstance(at, datetime) else '?'} is wrong"
                )
            if not inner:
                return
            message = inner[0]
        told = json.loads(message.payload)
        self._came.put_nowait(base64.b64decode(told["bytes"]).decode())

    async def send(self, message: str | bytes) -> None:
        """Give an event to the client."""
        data = message.encode() if isinstance(message, str) else message
        payload = json.dumps({"bytes": base64.b64encode(data).decode(), "p": "abcdef"}).encode()
        await self._answer(":event-type", "chunk", payload)

    async def _answer(self, kind: str, name: str, payload: bytes) -> None:
        type = "event" if kind == ":event-type" else "exception"
        headers = {kind: name, ":content-type": "application/json", ":message-type": type}
        data = encode(Message(headers, payload))
        while data:
            if self._over:
                raise Gone("the client left")
            room = min(self._http.local_flow_control_window(self._stream), self._http.max_outbound_frame_size)
            if room <= 0:
                self._room.clear()
                await self._room.wait()
                continue
            self._http.send_data(self._stream, data[:room])
            data = data[room:]
            self._flush()
            await self._writer.drain()

    async def receive(self) -> str | bytes:
        """Return the next event of the client."""
        message = await self._came.get()
        if isinstance(message, Gone):
            self._came.put_nowait(message)
            raise message
        return message

    async def close(self, reason: str) -> None:
        """End the stream with an exception that says why, or without one."""
        kind, _, said = reason.partition(": ")
        if reason:
            name = kind if said else "modelStreamErrorException"
            await self._answer(":exception-type", name, json.dumps({"message": said or reason}).encode())
        await self.end()

    async def end(self) -> None:
        """End the stream."""
        if not self._over:
            self._over = True
            self._http.end_stream(self._stream)
            self._flush()
            with suppress(OSError):
                await self._writer.drain()

    def _flush(self) -> None:
        self._writer.write(self._http.data_to_send())


class _Wrong(Exception):
    """A message that the service ends a stream for."""


__all__ = ["KNOWN", "serve_http2"]
