"""A bot's end of a WebRTC call: a track of its own, the user's, and a data channel.

Imported only where aiortc is installed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack

from fullduplex.driving.playout import Samples
from fullduplex.model.spans import SECOND
from fullduplex.systems.pipecat.webrtc import FRAME, RATE, mono
from fullduplex.systems.wire import Gone
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.facades import Facade, Reported
from fullduplex.testing.facades.inbox import Inbox
from fullduplex.testing.facades.over_http import answer, request_of
from fullduplex.testing.facades.talking import hold
from fullduplex.testing.model import Reset

_SIZE = FRAME * RATE // SECOND
#: A client that was told that it is over may take so long to leave (seconds).
_LEAVES = 1.0


class Mouth(MediaStreamTrack):  # type: ignore[misc]
    """The bot's track: what it was given to say, one frame after another at real time, and silence.

    Each packet leaves up to ``jitter`` microseconds later than it should, drawn from ``seed``.
    """

    kind = "audio"

    def __init__(self, jitter: int, seed: int) -> None:
        super().__init__()
        self._jitter, self._rng = jitter, np.random.default_rng(seed)
        self._loop, self._sent, self._began = asyncio.get_running_loop(), 0, 0.0
        self._rest: Samples = np.zeros(0, np.float32)

    def say(self, samples: Samples) -> None:
        """Say this next."""
        self._rest = np.concatenate([self._rest, samples])

    def hush(self) -> None:
        """Say no more of it."""
        self._rest = self._rest[:0]

    async def recv(self) -> Any:
        """Return the next frame when it is due; raises MediaStreamError at the end."""
        from av import AudioFrame

        if self.readyState != "live":
            raise MediaStreamError
        self._began = self._began or self._loop.time()
        late = int(self._rng.integers(0, self._jitter + 1)) if self._jitter else 0
        await asyncio.sleep(self._began + self._sent / RATE + late / SECOND - self._loop.time())
        part, self._rest = self._rest[:_SIZE], self._rest[_SIZE:]
        pcm = np.clip(np.rint(np.pad(part, (0, _SIZE - len(part))) * 32_768), -32_768, 32_767).astype(np.int16)
        frame = AudioFrame.from_ndarray(pcm[None, :], format="s16", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = RATE, self._sent, Fraction(1, RATE)
        self._sent += _SIZE
        return frame


class Call(Inbox):
    """The client of a talk: ``str`` is what comes over the channel, ``bytes`` a frame of its track (16 bits, mono)."""

    def __init__(self, path: str, headers: Mapping[str, str], behaviour: Behaviour) -> None:
        super().__init__()
        self.path, self.headers = path, headers
        self.mouth = Mouth(behaviour.jitter, behaviour.seed)
        #: When the client can be told something, and when it is gone.
        self.opened, self.gone = asyncio.Event(), asyncio.Event()
        self._channel: Any = None
        self._hearing: asyncio.Task[None] | None = None
        self._connection: Any = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self._connection.on("track", self._track)
        self._connection.on("datachannel", self._opened)
        self._connection.on("connectionstatechange", self._changed)

    async def answer(self, offer: Mapping[str, Any]) -> dict[str, str]:
        """Return the answer to an offer; raises ValueError for what is none."""
        await self._connection.setRemoteDescription(RTCSessionDescription(offer["sdp"], offer["type"]))
        await self._connection.setLocalDescription(await self._connection.createAnswer())
        return {"sdp": self._connection.localDescription.sdp, "type": "answer", "pc_id": "facade"}

    async def send(self, message: str | bytes) -> None:
        """Send a message over the channel; raises :class:`Gone`."""
        if self._channel is None or self._channel.readyState != "open":
            raise Gone("the channel is closed")
        self._channel.send(message)

    async def close(self, reason: str) -> None:
        """End the call once the client, that was told why, has left."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LEAVES):
                await self.gone.wait()
        await self.end()

    async def end(self) -> None:
        """End the call without a word."""
        if self._hearing is not None:
            self._hearing.cancel()
        self.mouth.stop()
        # The library waits for one future wherever a call is ended, and a waiter that is cancelled would take it along.
        await asyncio.shield(self._connection.close())

    def _track(self, track: Any) -> None:
        if track.kind == "audio" and self._hearing is None:
            self._connection.addTrack(self.mouth)
            self._hearing = asyncio.ensure_future(self._hear(track))

    async def _hear(self, track: Any) -> None:
        with suppress(MediaStreamError):
            while True:
                pcm = np.rint(mono(await track.recv()) * 32_768)
                self._messages.put_nowait(np.clip(pcm, -32_768, 32_767).astype("<i2").tobytes())
        self._left()

    def _opened(self, channel: Any) -> None:
        self._channel = channel
        channel.on("message", self._messages.put_nowait)
        self.opened.set()

    def _changed(self) -> None:
        if self._connection.connectionState in ("failed", "closed"):
            self._left()

    def _left(self) -> None:
        self.gone.set()
        self._messages.put_nowait(Gone("the client left"))


@asynccontextmanager
async def calls(facade: Facade, behaviour: Behaviour, port: int, reported: Reported) -> AsyncIterator[int]:
    """Take calls as long as the context is open: an offer that is posted is answered. Give the port."""
    talks: set[asyncio.Task[None]] = set()

    async def talk(call: Call) -> None:
        report: Mapping[str, Any] = {}
        try:
            # What is late is the packets: what they hold is there in time.
            report = await hold(facade, replace(behaviour, jitter=0), call)
        except (Reset, Gone):
            # A call has no reset: it is over from one packet to the next.
            pass
        finally:
            await call.end()
            reported(report)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await request_of(reader)
            if request is None:
                return
            if request.method != "POST":
                writer.write(answer("405"))
                return
            call = Call(request.path, request.headers, behaviour)
            # It gets ready from now on.
            holding = asyncio.create_task(talk(call))
            talks.add(holding)
            holding.add_done_callback(talks.discard)
            try:
                told = json.dumps(await call.answer(json.loads(request.body)))
            except BaseException:
                holding.cancel()
                raise
            writer.write(answer("200", told.encode(), "application/json"))
        except (OSError, ValueError, KeyError, TypeError):
            writer.write(answer("400"))
        finally:
            with suppress(OSError):
                await writer.drain()
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", port)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for holding in list(talks):
            holding.cancel()
        await asyncio.gather(*talks, return_exceptions=True)


__all__ = ["Call", "Mouth", "calls"]
