"""A Pipecat bot behind SmallWebRTC: an audio track each way, RTVI over a data channel, an offer over HTTP.

The bot's track never ends and is never taken back: an interruption shows as the track going quiet. Between the bot and
our ear lie Opus and aiortc's jitter buffer, which holds four packets: 80 ms and more that are in every latency, as they
are in a browser's call. ``source`` of each chunk is its place on the track's own clock (RTP), from the first one heard.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from fullduplex.driving.link import Closed, Happening, Link, Note, Position, Ready, Traits
from fullduplex.driving.playout import Chunk, Samples
from fullduplex.errors import ConversationError, InputError, PluginError, printable
from fullduplex.model.spans import SECOND, ms
from fullduplex.model.spec import Spec
from fullduplex.systems.pipecat.rtvi import Rtvi, client_ready

#: Both ways: what Opus keeps on WebRTC.
RATE, FRAME = 48_000, ms(20)
_CHANNEL = "chat"
#: A track that carries silence too and brings nothing for so long (seconds) is gone.
_GONE_AFTER = 3.0


@dataclass(frozen=True, slots=True)
class PipecatWebRtc:
    """A talk with a bot whose SmallWebRTC transport is offered at ``url`` (``http://`` or ``https://``).

    ``stun``: a STUN server (``stun:HOST:PORT``) where the bot is not in the same network. ``rtvi``: wait until the bot
    says that it is ready. ``silent``: its track rests between replies (``audio_out_auto_silence=False``), so that one
    that brings nothing is not taken to be gone. ``model`` is what runs there: kept with the run, not verified.
    ``verify``: whether its certificate has to be a trusted one. ``ready_within``: seconds for all of the handshake.
    """

    url: str = ""
    model: str = ""
    rtvi: bool = True
    silent: bool = False
    stun: str = ""
    verify: bool = True
    ready_within: float = 30.0

    @property
    def spec(self) -> Spec:
        """Return what is told to the bot; where it runs changes nothing."""
        return Spec("pipecat-webrtc", {"model": self.model, "rtvi": self.rtvi, "silent": self.silent}, "1")

    @property
    def traits(self) -> Traits:
        """Return a media track, without a flush, with a clock of its own."""
        return Traits(RATE, RATE, FRAME, timing="track", flush="none", source="session")

    def offers(self) -> str:
        """Return where the offer goes; raises :class:`InputError` where ``url`` is none of HTTP."""
        url = self.url or "http://localhost:7860"
        try:
            parts = urlsplit(url)
            sound = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            sound = False
        if not sound:
            expected = "http://HOST:PORT or https://HOST:PORT"
            raise InputError("--system", "url", found=printable(url, 80), expected=expected)
        return parts._replace(path=parts.path if parts.path not in ("", "/") else "/api/offer").geturl()

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[Link]:
        """Open a talk; raises :class:`ConversationError` where the bot is not ready in time."""
        if find_spec("aiortc") is None:
            raise PluginError(
                "system 'pipecat-webrtc' needs aiortc, which is not installed; install fullduplex[webrtc]"
            )
        talking = Talking(self)
        try:
            try:
                async with asyncio.timeout(self.ready_within):
                    await talking.call(self.offers())
                    if self.rtvi:
                        await talking.get_ready()
            except TimeoutError:
                raise ConversationError(
                    f"the Pipecat bot was not ready within {self.ready_within:g} s ({talking.state}): it may be busy, "
                    "out of reach for UDP, or know nothing of RTVI (rtvi=false)"
                ) from None
            talking.begin({"prompt_taken": False} if prompt else {})
            yield talking
        finally:
            await talking.leave()


class Talking:
    """One call."""

    def __init__(self, system: PipecatWebRtc) -> None:
        from aiortc import RTCConfiguration, RTCIceServer, RTCPeerConnection

        from fullduplex.systems.pipecat.microphone import Microphone

        self.ready = Ready()
        #: When the event that was yielded last came, on the event loop's clock.
        self.read: float | None = None
        self._system = system
        servers = [RTCIceServer(system.stun)] if system.stun else []
        self._connection: Any = RTCPeerConnection(RTCConfiguration(iceServers=servers))
        self._microphone = Microphone(RATE)
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[tuple[float, Happening]] = asyncio.Queue()
        self._rtvi, self._bot_ready, self._open = Rtvi(), asyncio.Event(), asyncio.Event()
        self._hearing: asyncio.Task[None] | None = None
        self._began, self._first = False, None  # type: bool, int | None
        self._connection.addTrack(self._microphone)
        self._channel: Any = self._connection.createDataChannel(_CHANNEL, ordered=True)
        self._channel.on("open", self._open.set)
        self._channel.on("message", self._message)
        self._connection.on("track", self._track)
        self._connection.on("connectionstatechange", self._changed)

    @property
    def state(self) -> str:
        """Return how far the connection is."""
        return str(self._connection.connectionState)

    async def call(self, url: str) -> None:
        """Make the offer and take the answer; return once the track and the channel are open."""
        import httpx
        from aiortc import RTCSessionDescription

        await self._connection.setLocalDescription(await self._connection.createOffer())
        offer = {"sdp": self._connection.localDescription.sdp, "type": "offer"}
        where = printable(url.partition("?")[0])
        try:
            # Certificates take a while to load, and are needed for https alone.
            verify = self._system.verify and url.startswith("https:")
            async with httpx.AsyncClient(verify=verify, trust_env=False, timeout=None) as client:
                answer = await client.post(url, json=offer)
            told = answer.json() if answer.is_success else None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            reason = printable(str(error) or type(error).__name__)
            raise ConversationError(f"{where}: no Pipecat bot answers there: {reason}") from error
        except ValueError:
            told = None
        if not isinstance(told, dict) or type(told.get("sdp")) is not str or told.get("type") != "answer":
            raise ConversationError(f"{where}: answered {answer.status_code} and no SDP to the offer")
        try:
            await self._connection.setRemoteDescription(RTCSessionDescription(told["sdp"], "answer"))
        except Exception as error:
            raise ConversationError(f"{where}: its answer fits no offer: {printable(str(error), 200)}") from error
        await self._open.wait()

    async def get_ready(self) -> None:
        """Return once the bot says that it is ready; raises :class:`ConversationError` where it left."""
        if self._channel.readyState == "open":
            self._channel.send(client_ready())
            await self._bot_ready.wait()
        if self._rtvi.ready is None:
            raise ConversationError("the Pipecat bot left before it was ready")

    def begin(self, settings: dict[str, Any]) -> None:
        """Let the talk begin: what came before was none of it."""
        waiting = [self._events.get_nowait()[1] for _ in range(self._events.qsize())]
        closed = [event for event in waiting if isinstance(event, Closed)]
        self.ready = Ready(dict(self._rtvi.ready or {}) | {"jitter_buffer": "aiortc, 4 packets"} | settings)
        self._began = True
        self._tell(*closed)

    def _tell(self, *events: Happening) -> None:
        if any(isinstance(event, Closed) for event in events):
            # Nobody has to wait for it any more.
            self._open.set()
            self._bot_ready.set()
        for event in events:
            self._events.put_nowait((self._loop.time(), event))

    def _message(self, message: str | bytes) -> None:
        if isinstance(message, bytes):
            self._tell(Note("unknown", {"bytes": len(message)}))
        elif '"peerLeft"' in message:
            self._tell(Closed("the bot left"))
        else:
            self._tell(*self._rtvi.events(message, ""))
        if self._rtvi.ready is not None:
            self._bot_ready.set()

    def _changed(self) -> None:
        if self.state in ("failed", "closed"):
            self._tell(Closed(f"the connection is {self.state}", broke=self.state == "failed"))

    def _track(self, track: Any) -> None:
        if track.kind == "audio" and self._hearing is None:
            self._hearing = asyncio.ensure_future(self._hear(track))

    async def _hear(self, track: Any) -> None:
        from aiortc.mediastreams import MediaStreamError

        within = None if self._system.silent else _GONE_AFTER
        try:
            while True:
                async with asyncio.timeout(within if self._began else None):
                    frame = await track.recv()
                if not self._began:
                    continue
                self._first = frame.pts if self._first is None else self._first
                source = (frame.pts - self._first) * SECOND // RATE
                self._tell(Chunk(mono(frame), source=source))
        except TimeoutError:
            why = f"no sound came for {_GONE_AFTER:g} s: the bot is gone, or rests (silent=true)"
            self._tell(Closed(why, broke=True))
        except MediaStreamError:
            self._tell(Closed("the bot's track ended"))

    async def send(self, frame: Samples) -> None:
        """Give the track the user's next frame."""
        self._microphone.take(frame)

    async def heard(self, position: Position) -> None:
        """Take no note: there is no word for it."""

    async def finish(self) -> None:
        """Take no note: a user who says no more is still on the line."""

    async def leave(self) -> None:
        """End the call."""
        if self._hearing is not None:
            self._hearing.cancel()
        self._microphone.stop()
        await self._connection.close()

    async def __aiter__(self) -> AsyncIterator[Happening]:
        """Yield what comes until the call is over."""
        while True:
            self.read, event = await self._events.get()
            yield event
            if isinstance(event, Closed):
                return


def mono(frame: Any) -> Samples:
    """Return the samples of a decoded frame: 16 bits, the mean of its channels."""
    pcm = frame.to_ndarray().reshape(-1, len(frame.layout.channels)).astype(np.float32)
    mean: Samples = (pcm.mean(axis=1) / np.float32(32_768)).astype(np.float32)
    return mean


__all__ = ["FRAME", "RATE", "PipecatWebRtc", "Talking", "mono"]
