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

import json
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from fullduplex.driving.link import Closed, Happening, Link, Note, Position, Ready, Timing, Traits
from fullduplex.driving.playout import Chunk, Flush, Samples
from fullduplex.model.spans import SECOND, in_seconds, seconds
from fullduplex.model.spec import Spec
from fullduplex.systems.incoming import RATES, Incoming, announced, pcm16_encoded
from fullduplex.systems.keys import key_of
from fullduplex.systems.options import one_of
from fullduplex.systems.talking import Translating, begun
from fullduplex.systems.texts import event_of, object_of, ready_of, time_of, unreadable
from fullduplex.systems.wire import Door, Wire, address, connected

PROTOCOL = "fullduplex/1"
_LIVE: tuple[Timing, ...] = ("sync", "burst", "paced", "unit")
_FLUSHES = ("none", "all", "id")
_SOURCES = ("none", "utterance", "session")


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
        one_of("timing", self.timing, _LIVE)
        one_of("flush", self.flush, _FLUSHES)
        one_of("source", self.source, _SOURCES)
        for name, rate in (("rate_in", self.rate_in), ("rate_out", self.rate_out)):
            if rate not in RATES:
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
        return Door(address(self.url or "ws://localhost:8765", "/"), headers, verify=self.verify)

    def connect(self, prompt: str) -> AbstractAsyncContextManager[Link]:
        """Open a talk; the server is told ``prompt``."""
        return connected(self, prompt)

    def over(self, wire: Wire, prompt: str) -> AbstractAsyncContextManager[Talking]:
        """Open a talk over ``wire``; raises :class:`ConversationError` where the server is not ready in time."""
        return begun(Talking(wire, self, prompt), "the server", within=self.ready_within)


class Talking(Translating[str | bytes, str | bytes]):
    """One talk over a wire."""

    def __init__(self, wire: Wire, system: WebSocket, prompt: str) -> None:
        super().__init__(wire)
        self._system, self._prompt = system, prompt
        #: None before the server is ready: sound has no coding then.
        self._incoming: Incoming | None = None
        self._id, self._at = "", None  # type: str, int | None
        self._wants_heard = False

    async def get_ready(self) -> None:
        """Say hello and return once the server is ready; what it says before is kept for the talk."""
        system = self._system
        hello: dict[str, Any] = {"type": "hello", "protocol": PROTOCOL, "prompt": self._prompt}
        hello |= {"rate_in": system.rate_in, "rate_out": system.rate_out, "frame": system.frame}
        await self.wire.send(json.dumps(hello))
        told = await self.until(ready_of)
        self._incoming = announced(told, system.rate_out, "the server")
        self._wants_heard = told.get("heard") is True
        settings = {key: value for key, value in told.items() if key != "type"}
        self.ready = Ready(settings | {"prompt": self._prompt, "resampled": self._incoming.resampled})

    async def send(self, frame: Samples) -> None:
        """Send the next frame of the user as pcm16."""
        await self.give(pcm16_encoded(frame))

    async def heard(self, position: Position) -> None:
        """Tell what has been heard, where the server wants to know and something has."""
        if self._wants_heard and position.played:
            told = {"type": "heard", "id": position.id, "played": in_seconds(position.played)}
            await self.give(json.dumps(told))

    async def finish(self) -> None:
        """Tell that the user is done."""
        await self.give(json.dumps({"type": "finish"}))

    async def understood(self, message: str | bytes) -> list[Happening]:
        """Return the events of one message; what cannot be understood is a note."""
        if isinstance(message, bytes):
            if self._incoming is None:
                return [Note("early_sound", {"bytes": len(message)})]
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
            start = None if at is None else time_of(at)
            if type(id) is not str:
                raise TypeError(id)
            tail = self.tail() if kind == "end" or id != self._id else []
            self._id, self._at = ("", None) if kind == "end" else (id, start)
            return tail
        if kind == "flush":
            id = told.get("id")
            if id is not None and type(id) is not str:
                raise TypeError(id)
            return [*self.tail(), Flush(id)]
        event = event_of(kind, told)
        return [*self.tail(), event] if isinstance(event, Closed) else [event]

    def _chunk(self, samples: Samples) -> Chunk:
        chunk = Chunk(samples, self._id, source=self._at)
        if self._at is not None:
            self._at += len(samples) * SECOND // self._system.rate_out
        return chunk

    def tail(self) -> list[Happening]:
        """Return what still waited to become samples."""
        rest = self._incoming.end() if self._incoming else None
        return [] if rest is None or not len(rest) else [replace(self._chunk(rest), source=None)]


__all__ = ["PROTOCOL", "Talking", "WebSocket"]
