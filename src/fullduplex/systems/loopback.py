"""The client of the loopback server: a small protocol of our own, for testing everything around it.

The talk goes over one WebSocket. The client opens with a text ``{"type": "open", "prompt", "behaviour",
"rate_in"}``; the server answers, when it is ready, ``{"type": "ready", "rate_out", "coding"}``. From then on

=========  ======================================================================================
binary     a header of 20 bytes (:data:`HEADER`): kind, flags, epoch, number, id, source time in
           microseconds (-1: none); then the bytes of the audio. Kind 1: the system's, in the
           announced coding; flag 1 marks the last of an utterance. Kind 2: the user's, pcm16, with
           the number of its frame. Kind 3: heard so many microseconds (in the place of the source
           time) of that id.
server     ``flush`` (scope), ``said`` (text, who, id, words, source), ``user_vad`` (speaking,
           source), ``note`` (kind, data), ``ping`` (n), ``close`` (reason), ``report``
client     ``open``, ``pong`` (n), ``finish``, ``leave``; a ``report`` on the talk answers ``leave``
=========  ======================================================================================

Times in texts are decimal seconds. What the client does not know is kept as a note.
"""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fullduplex.driving.link import Closed, Happening, Note, Position, Ready, Traits
from fullduplex.driving.playout import Chunk, Flush, Samples
from fullduplex.errors import ConversationError, printable
from fullduplex.model.spans import SECOND, in_seconds, seconds
from fullduplex.model.spec import Spec, digest
from fullduplex.systems.incoming import Incoming, announced, pcm16_encoded
from fullduplex.systems.talking import Translating, begun
from fullduplex.systems.texts import event_of, object_of, ready_of, unreadable
from fullduplex.systems.wire import Door, Gone, Wire, websocket

#: Kind, flags, epoch, number, id, source time.
HEADER = struct.Struct("<BBHIIq")
SYSTEM_AUDIO, USER_AUDIO, HEARD = 1, 2, 3
LAST = 1
#: How long the server may take to report when the talk is over.
REPORT_WITHIN = seconds(8)


@dataclass(frozen=True, slots=True)
class Loopback:
    """A talk with a loopback server at ``url``, such as ``ws://127.0.0.1:8765``.

    Without a ``url`` it can only be asked what it is: ``conform`` starts a server for it.
    ``behaviour`` is what the server shall do, as JSON; empty leaves it to the server. ``traits`` are what a
    driver is told, true or not. ``reported`` is called with the server's own account at the end of a talk.
    """

    url: str = ""
    behaviour: Mapping[str, Any] = field(default_factory=dict)
    traits: Traits = field(default_factory=lambda: Traits(timing="burst", flush="id"))
    ready_within: int = seconds(30)
    reported: Callable[[Mapping[str, Any]], None] | None = field(default=None, compare=False, repr=False)

    @property
    def spec(self) -> Spec:
        """Return the name and what the server is told to do; where it runs changes nothing."""
        return Spec("loopback", {"behaviour": digest(dict(self.behaviour))} if self.behaviour else {}, "1")

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[Talking]:
        """Open a talk: a WebSocket without compression, without Nagle's delay, with messages of any size.

        Raises :class:`ConversationError` where there is no such server or it is not ready in time.
        """
        if not self.url:
            raise ConversationError(
                "loopback has no url: start a server with `python -m fullduplex.testing.loopback --port 8765`, and "
                "give loopback:url=ws://127.0.0.1:8765"
            )
        async with (
            websocket(Door(self.url), within=self.ready_within, what="loopback server") as wire,
            talk_over(wire, self, prompt) as talking,
        ):
            yield talking


@asynccontextmanager
async def talk_over(wire: Wire, system: Any, prompt: str) -> AsyncIterator[Talking]:
    """Open a talk over ``wire``, give it, and take leave; raises :class:`ConversationError` where it is not ready."""
    opening = {"type": "open", "prompt": prompt, "rate_in": system.traits.rate_in}
    if system.behaviour:
        opening["behaviour"] = dict(system.behaviour)
    talking = Talking(wire, system.traits, opening, system.reported)
    async with begun(talking, "the loopback server", within=system.ready_within / SECOND):
        yield talking
    if talking.report is None and not talking.gone:
        raise ConversationError(f"took leave, and no word came back within {in_seconds(REPORT_WITHIN):g} s")


class Talking(Translating[str | bytes, str | bytes]):
    """One talk over a wire, begun with ``opening``; ``report`` is the server's, once leave was taken."""

    def __init__(
        self,
        wire: Wire,
        traits: Traits,
        opening: Mapping[str, Any],
        reported: Callable[[Mapping[str, Any]], None] | None = None,
    ) -> None:
        super().__init__(wire)
        self.report: Mapping[str, Any] | None = None
        self._traits, self._opening, self._reported = traits, opening, reported
        self._frames, self._finished = 0, False
        self._incoming = Incoming("pcm16", traits.rate_out, traits.rate_out)
        self._last = Chunk(np.zeros(0, np.float32))

    async def get_ready(self) -> None:
        """Return once the server is ready; what it notes before is kept for the talk."""
        await self.wire.send(json.dumps(self._opening))
        told = await self.until(ready_of)
        self._incoming = announced(told, self._traits.rate_out, "the loopback server")
        settings = {key: value for key, value in told.items() if key != "type"}
        self.ready = Ready(settings | {"resampled": self._incoming.resampled})

    def keep(self, events: Sequence[Happening]) -> None:
        """Keep the notes of what comes early, and tell the last where the server is never ready."""
        super().keep([event for event in events if isinstance(event, Note | Closed)])
        for note in events:
            if isinstance(note, Note):
                self.busy = f"it noted {printable(note.kind)}"

    async def send(self, frame: Samples) -> None:
        """Send the next frame of the user as pcm16."""
        header = HEADER.pack(USER_AUDIO, 0, 0, self._frames, 0, -1)
        self._frames += 1
        await self.give(header + pcm16_encoded(frame))

    async def heard(self, position: Position) -> None:
        """Tell what has been heard, once something has."""
        if position.id.startswith("u") and position.id[1:].isdecimal():
            await self.give(HEADER.pack(HEARD, 0, 0, 0, int(position.id[1:]), position.played))

    async def finish(self) -> None:
        """Tell that the user is done."""
        if not self._finished:
            self._finished = True
            await self.give(json.dumps({"type": "finish"}))

    async def leave(self) -> None:
        """Take leave, and wait a while for the server's report."""
        with suppress(TimeoutError, Gone):
            async with asyncio.timeout(REPORT_WITHIN / SECOND):
                await self.wire.send(json.dumps({"type": "leave"}))
                while self.report is None:
                    told = await self.wire.receive()
                    if isinstance(told, str):
                        await self.understood(told)
        if self._reported is not None and self.report is not None:
            self._reported(self.report)

    async def understood(self, message: str | bytes) -> list[Happening]:
        """Return the events of one message; what cannot be understood is a note."""
        if isinstance(message, bytes):
            return self._audio(message)
        told = object_of(message)
        if told is None:
            return [unreadable(message)]
        kind = told.get("type")
        if kind == "ping":
            await self.give(json.dumps({"type": "pong", "n": told.get("n")}))
            return []
        if kind == "report":
            self.report = told
            return []
        try:
            event = event_of(kind, told)
        except (KeyError, TypeError, ValueError, OverflowError):
            return [unreadable(message)]
        tail = self.tail() if isinstance(event, Flush | Closed) else []
        return [*tail, event]

    def _audio(self, message: bytes) -> list[Happening]:
        if len(message) < HEADER.size or message[0] != SYSTEM_AUDIO:
            return [Note("unknown", {"kind": message[0] if message else None, "bytes": len(message)})]
        _, flags, epoch, _, number, source = HEADER.unpack_from(message)
        chunk = Chunk(np.zeros(0, np.float32), f"u{number}" if number else "", epoch, source if source >= 0 else None)
        events: list[Happening] = []
        if (chunk.id, chunk.epoch) != (self._last.id, self._last.epoch):
            events = self.tail()
        self._last = chunk
        events.append(replace(chunk, samples=self._incoming.take(message[HEADER.size :])))
        if flags & LAST:
            events += self.tail()
        return events

    def tail(self) -> list[Happening]:
        """Return what still waited to become samples of the utterance before."""
        rest = self._incoming.end()
        return [replace(self._last, samples=rest, source=None)] if len(rest) else []


__all__ = ["HEADER", "Loopback", "Talking", "talk_over"]
