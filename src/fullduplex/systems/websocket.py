"""The open protocol: a server that anybody can write in forty lines, driven over one WebSocket.

The client opens with a text ``hello``; the server answers ``ready``. From then on binary messages are sound, the
user's one way and the system's the other, and nothing but sound; texts are JSON objects with a ``type``. The page
docs/systems/websocket.md has every message and a whole server.

=======  ====================================================================================================
client   ``hello`` (protocol, prompt, rate_in, rate_out, frame), binary pcm16, ``heard`` (id, played) once a frame
         where ``ready`` asks for it, ``finish``, then the connection's end
server   ``ready`` (rate_out, coding, heard, anything else), binary in that coding, ``speech`` (id, at), ``end``,
         ``flush`` (id), and ``said``, ``user_vad``, ``note``, ``close`` as in :mod:`fullduplex.systems.texts`
=======  ====================================================================================================

Times in texts are decimal seconds. What is not understood is kept as a note.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from fullduplex.driving.link import Closed, Happening, Link, Note, Position, Ready, Timing, Traits
from fullduplex.driving.playout import Chunk, Flush, Samples
from fullduplex.errors import ConversationError, printable
from fullduplex.model.spans import SECOND, in_seconds, seconds
from fullduplex.model.spec import Spec
from fullduplex.systems.incoming import CODINGS, Incoming
from fullduplex.systems.keys import key_of
from fullduplex.systems.moshi.urls import address
from fullduplex.systems.texts import event_of, object_of, unreadable
from fullduplex.systems.wire import Door, Gone, Wire, connected, read_at

PROTOCOL = "fullduplex/1"
_LIVE: tuple[Timing, ...] = ("sync", "burst", "paced", "unit")
_FLUSHES = ("none", "all", "id")
_SOURCES = ("none", "utterance", "session")
_RATES = range(8_000, 192_001)


@dataclass(frozen=True, slots=True)
class WebSocket:
    """A talk with a server of the open protocol at ``url`` (``ws://`` or ``wss://``).

    What you declare of it: ``timing`` (burst: ahead of real time; paced; sync: a frame for a frame; unit), ``flush``
    (none, all, id), ``source`` (what ``at`` counts from: none, utterance, session), ``exclusive`` (one talk at a time),
    ``longest`` (seconds, 0 without a limit). ``conform`` measures whether it holds. ``rate_in`` and ``frame`` (seconds)
    are how it gets the user, ``rate_out`` the rate that its sound is kept at, whatever rate it announces. ``model`` is
    what you run there: kept with the run, not verified. ``key`` or ``key_file``: sent as a bearer token; no part of
    the spec and never shown. ``verify``: whether its certificate has to be a trusted one. ``ready_within``: seconds.
    """

    url: str = ""
    model: str = ""
    timing: Timing = "burst"
    flush: Literal["none", "all", "id"] = "all"
    source: Literal["none", "utterance", "session"] = "none"
    rate_in: int = 16_000
    rate_out: int = 24_000
    frame: float = 0.02
    exclusive: bool = False
    longest: float = 0.0
    key: str = field(default="", repr=False)
    key_file: str = ""
    verify: bool = True
    ready_within: float = 30.0

    def __post_init__(self) -> None:
        chosen = (("timing", self.timing, _LIVE), ("flush", self.flush, _FLUSHES), ("source", self.source, _SOURCES))
        for name, value, known in chosen:
            if value not in known:
                raise ValueError(f"{name}: found {printable(repr(value), 80)}, expected one of {', '.join(known)}")
        for name, rate in (("rate_in", self.rate_in), ("rate_out", self.rate_out)):
            if rate not in _RATES:
                raise ValueError(f"{name}: found {rate}, expected samples a second, 8000 to 192000")
        if not 0.005 <= self.frame <= 1 or seconds(self.frame) * self.rate_in % SECOND:
            raise ValueError(f"frame: found {self.frame:g}, expected seconds, 0.005 to 1, of a whole number of samples")
        if not 0 <= self.longest <= 86_400:
            raise ValueError(f"longest: found {self.longest:g}, expected seconds, 0 to 86400")

    @property
    def spec(self) -> Spec:
        """Return what is declared of it; where it runs and the key change nothing."""
        beside = ("url", "key", "key_file", "verify", "ready_within", "exclusive", "longest")
        return Spec("websocket", {name: getattr(self, name) for name in self.__slots__ if name not in beside}, "1")

    @property
    def traits(self) -> Traits:
        """Return what is declared."""
        return Traits(
            self.rate_in,
            self.rate_out,
            seconds(self.frame),
            self.timing,
            self.flush,
            exclusive=self.exclusive,
            source=self.source,
            longest=seconds(self.longest),
        )

    def door(self, prompt: str) -> Door:
        """Return where a talk is opened; raises :class:`InputError` where ``url`` is no WebSocket's."""
        key = key_of("websocket", self.key, self.key_file)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return Door(address(self.url or "ws://localhost:8765", {}, "/"), headers, verify=self.verify)

    def connect(self, prompt: str) -> AbstractAsyncContextManager[Link]:
        """Open a talk; the server is told ``prompt``."""
        return connected(self, prompt)

    @asynccontextmanager
    async def over(self, wire: Wire, prompt: str) -> AsyncIterator[Talking]:
        """Open a talk over ``wire``; raises :class:`ConversationError` where the server is not ready in time."""
        talking = Talking(wire, self)
        try:
            async with asyncio.timeout(self.ready_within):
                await talking.get_ready(prompt)
        except TimeoutError:
            raise ConversationError(
                f"the server took the connection and was not ready within {self.ready_within:g} s:"
                " it may be busy with another talk"
            ) from None
        except Gone as error:
            raise ConversationError(f"the server left before it was ready: {error}") from error
        yield talking


class Talking:
    """One talk over a wire."""

    def __init__(self, wire: Wire, system: WebSocket) -> None:
        self.ready = Ready()
        self._wire, self._system = wire, system
        self._early: list[Happening] = []
        self._incoming = Incoming("pcm16", system.rate_out, system.rate_out)
        self._id, self._at = "", None  # type: str, int | None
        self._wants_heard, self._gone = False, False

    @property
    def read(self) -> float | None:
        """Return when the latest message was read, on the event loop's clock."""
        return read_at(self._wire)

    async def get_ready(self, prompt: str) -> None:
        """Say hello and return once the server is ready; what it says before is kept for the talk."""
        system = self._system
        hello: dict[str, Any] = {"type": "hello", "protocol": PROTOCOL, "prompt": prompt}
        hello |= {"rate_in": system.rate_in, "rate_out": system.rate_out, "frame": system.frame}
        await self._wire.send(json.dumps(hello))
        while True:
            message = await self._wire.receive()
            told = object_of(message) if isinstance(message, str) else None
            if told is not None and told.get("type") == "ready":
                break
            if isinstance(message, bytes):
                self._early.append(Note("early_sound", {"bytes": len(message)}))
                continue
            events = self._understood(message)
            closed = next((event for event in events if isinstance(event, Closed)), None)
            if closed is not None:
                raise Gone(closed.reason or "it closed the talk")
            self._early += events
        rate, coding = told.get("rate_out", system.rate_out), told.get("coding", "pcm16")
        if type(rate) is not int or rate not in _RATES or coding not in CODINGS:
            raise ConversationError(f"the server announces {printable(repr((rate, coding)), 80)}, no such audio")
        self._incoming = Incoming(coding, rate, system.rate_out)
        self._wants_heard = told.get("heard") is True
        settings = {key: value for key, value in told.items() if key != "type"}
        self.ready = Ready(settings | {"prompt": prompt, "resampled": rate != system.rate_out and coding != "opus"})

    async def send(self, frame: Samples) -> None:
        """Send the next frame of the user as pcm16."""
        await self._give(np.clip(np.rint(frame * 32_768), -32_768, 32_767).astype("<i2").tobytes())

    async def heard(self, position: Position) -> None:
        """Tell what has been heard, where the server wants to know and something has."""
        if self._wants_heard and position.played:
            told = {"type": "heard", "id": position.id, "played": in_seconds(position.played)}
            await self._give(json.dumps(told))

    async def finish(self) -> None:
        """Tell that the user is done."""
        await self._give(json.dumps({"type": "finish"}))

    async def _give(self, message: str | bytes) -> None:
        # A wire that is gone is told of once, by the reader, with its reason.
        if not self._gone:
            with suppress(Gone):
                await self._wire.send(message)

    async def __aiter__(self) -> AsyncIterator[Happening]:
        """Yield what comes until the server closes or is gone."""
        for event in self._early:
            yield event
        while not self._gone:
            try:
                events = self._understood(await self._wire.receive())
            except Gone as error:
                events = [*self._tail(), Closed(str(error))]
            for event in events:
                self._gone |= isinstance(event, Closed)
                yield event

    def _understood(self, message: str | bytes) -> list[Happening]:
        """Return the events of one message; what cannot be understood is a note."""
        if isinstance(message, bytes):
            return [self._chunk(self._incoming.take(message))]
        told = object_of(message)
        if told is None:
            return [unreadable(message)]
        try:
            return self._meant(told)
        except (KeyError, TypeError, ValueError, OverflowError):
            return [unreadable(message)]

    def _meant(self, told: Mapping[str, Any]) -> list[Happening]:
        """Return the events of a text; raises what :func:`event_of` raises."""
        kind = told.get("type")
        if kind in ("speech", "end"):
            id, at = told.get("id", ""), told.get("at")
            start = None if at is None else seconds(at)
            if type(id) is not str:
                raise TypeError(id)
            tail = self._tail() if kind == "end" or id != self._id else []
            self._id, self._at = ("", None) if kind == "end" else (id, start)
            return tail
        if kind == "flush":
            id = told.get("id")
            if id is not None and type(id) is not str:
                raise TypeError(id)
            return [*self._tail(), Flush(id)]
        event = event_of(kind, told)
        return [*self._tail(), event] if isinstance(event, Closed) else [event]

    def _chunk(self, samples: Samples) -> Chunk:
        chunk = Chunk(samples, self._id, source=self._at)
        if self._at is not None:
            self._at += len(samples) * SECOND // self._system.rate_out
        return chunk

    def _tail(self) -> list[Happening]:
        """Return what still waited to become samples."""
        rest = self._incoming.end()
        return [replace(self._chunk(rest), source=None)] if len(rest) else []


__all__ = ["PROTOCOL", "Talking", "WebSocket"]
