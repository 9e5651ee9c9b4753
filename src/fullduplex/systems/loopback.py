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
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from fullduplex.driving.link import Closed, Happening, Note, Position, Ready, Traits
from fullduplex.driving.playout import Chunk, Flush, Samples
from fullduplex.errors import ConversationError, printable
from fullduplex.model.spans import SECOND, in_seconds, ms, seconds
from fullduplex.model.spec import Spec, digest
from fullduplex.systems.incoming import CODINGS, Incoming
from fullduplex.systems.texts import event_of, object_of, unreadable
from fullduplex.systems.wire import Door, Gone, Wire, read_at, websocket

#: Kind, flags, epoch, number, id, source time.
HEADER = struct.Struct("<BBHIIq")
SYSTEM_AUDIO, USER_AUDIO, HEARD = 1, 2, 3
LAST = 1
#: How long the server may take to report when the talk is over.
REPORT_WITHIN = seconds(8)

_RATES = range(8_000, 192_001)


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
        async with (
            websocket(Door(self.url), within=self.ready_within, what="loopback server") as wire,
            talk_over(wire, self, prompt) as talking,
        ):
            yield talking


class Told(Protocol):
    """What a talk has to know of its system."""

    behaviour: Mapping[str, Any]
    traits: Traits
    ready_within: int
    reported: Callable[[Mapping[str, Any]], None] | None


@asynccontextmanager
async def talk_over(wire: Wire, system: Any, prompt: str) -> AsyncIterator[Talking]:
    """Open a talk over ``wire``, give it, and take leave; raises :class:`ConversationError` where it is not ready."""
    talking = Talking(wire, system.traits)
    opening = {"type": "open", "prompt": prompt, "rate_in": system.traits.rate_in}
    if system.behaviour:
        opening["behaviour"] = dict(system.behaviour)
    try:
        await wire.send(json.dumps(opening))
        async with asyncio.timeout(system.ready_within / SECOND):
            await talking.get_ready()
    except TimeoutError:
        noted = "".join(f"; it noted {printable(note.kind)}" for note in talking.early[-1:])
        within = in_seconds(system.ready_within)
        raise ConversationError(f"the loopback server was not ready within {within:g} s{noted}") from None
    except Gone as error:
        raise ConversationError(f"the loopback server left before it was ready: {error}") from error
    whole = False
    try:
        yield talking
        whole = True
    finally:
        report = await talking.leave()
        if system.reported is not None and report is not None:
            system.reported(report)
    if whole and report is None and not talking.gone:
        raise ConversationError(f"took leave, and no word came back within {in_seconds(REPORT_WITHIN):g} s")


class Talking:
    """One talk over a wire."""

    def __init__(self, wire: Wire, traits: Traits) -> None:
        self.ready = Ready()
        self.early: list[Note] = []
        self._wire, self._traits = wire, traits
        self._frames, self._finished, self._gone = 0, False, False
        self._incoming = Incoming("pcm16", traits.rate_out, traits.rate_out)
        self._last = Chunk(np.zeros(0, np.float32))
        self._report: Mapping[str, Any] | None = None

    async def get_ready(self) -> None:
        """Return once the server is ready; what it says before is kept for the talk."""
        while True:
            message = await self._wire.receive()
            told = object_of(message) if isinstance(message, str) else None
            if told is None or told.get("type") != "ready":
                events = await self._understood(message)
                self.early += [event for event in events if isinstance(event, Note)]
                if any(isinstance(event, Closed) for event in events):
                    raise Gone("it closed the talk")
                continue
            rate, coding = told.get("rate_out", self._traits.rate_out), told.get("coding", "pcm16")
            if type(rate) is not int or rate not in _RATES or coding not in CODINGS:
                raise ConversationError(
                    f"the loopback server announces {printable(repr((rate, coding)))}, no such audio"
                )
            self._incoming = Incoming(coding, rate, self._traits.rate_out)
            settings = {key: value for key, value in told.items() if key != "type"}
            self.ready = Ready(settings | {"resampled": rate != self._traits.rate_out and coding != "opus"})
            return

    @property
    def read(self) -> float | None:
        """Return when the latest message was read, on the event loop's clock."""
        return read_at(self._wire)

    async def send(self, frame: Samples) -> None:
        """Send the next frame of the user as pcm16."""
        pcm = np.clip(np.rint(frame * 32_768), -32_768, 32_767).astype("<i2").tobytes()
        header = HEADER.pack(USER_AUDIO, 0, 0, self._frames, 0, -1)
        self._frames += 1
        await self._give(header + pcm)

    async def heard(self, position: Position) -> None:
        """Tell what has been heard, once something has."""
        if position.id.startswith("u") and position.id[1:].isdecimal():
            await self._give(HEADER.pack(HEARD, 0, 0, 0, int(position.id[1:]), position.played))

    async def finish(self) -> None:
        """Tell that the user is done."""
        if not self._finished:
            self._finished = True
            await self._give(json.dumps({"type": "finish"}))

    @property
    def gone(self) -> bool:
        """Return whether the server has closed the talk, or the connection broke."""
        return self._gone

    async def leave(self) -> Mapping[str, Any] | None:
        """Take leave; return the server's report, or None where it gives none in time."""
        with suppress(TimeoutError, Gone):
            async with asyncio.timeout(REPORT_WITHIN / SECOND):
                await self._wire.send(json.dumps({"type": "leave"}))
                while self._report is None:
                    told = await self._wire.receive()
                    if isinstance(told, str):
                        await self._understood(told)
        return self._report

    async def _give(self, message: str | bytes) -> None:
        # A wire that is gone is told of once, by the reader, with its reason.
        if not self._gone:
            with suppress(Gone):
                await self._wire.send(message)

    async def __aiter__(self) -> AsyncIterator[Happening]:
        """Yield what comes until the server closes or is gone."""
        for note in self.early:
            yield note
        while True:
            try:
                message = await self._wire.receive()
            except Gone as error:
                self._gone = True
                message = json.dumps({"type": "close", "reason": str(error)})
            for event in await self._understood(message):
                yield event
                if isinstance(event, Closed):
                    return

    async def _understood(self, message: str | bytes) -> list[Happening]:
        """Return the events of one message; what cannot be understood is a note."""
        if isinstance(message, bytes):
            return self._audio(message)
        told = object_of(message)
        if told is None:
            return [unreadable(message)]
        kind = told.get("type")
        if kind == "ping":
            await self._give(json.dumps({"type": "pong", "n": told.get("n")}))
            return []
        if kind == "report":
            self._report = told
            return []
        try:
            event = event_of(kind, told)
        except (KeyError, TypeError, ValueError, OverflowError):
            return [unreadable(message)]
        tail = self._tail() if isinstance(event, Flush | Closed) else []
        return [*tail, event]

    def _audio(self, message: bytes) -> list[Happening]:
        if len(message) < HEADER.size or message[0] != SYSTEM_AUDIO:
            return [Note("unknown", {"kind": message[0] if message else None, "bytes": len(message)})]
        _, flags, epoch, _, number, source = HEADER.unpack_from(message)
        chunk = Chunk(np.zeros(0, np.float32), f"u{number}" if number else "", epoch, source if source >= 0 else None)
        events: list[Happening] = []
        if (chunk.id, chunk.epoch) != (self._last.id, self._last.epoch):
            events = self._tail()
        self._last = chunk
        events.append(replace(chunk, samples=self._incoming.take(message[HEADER.size :])))
        if flags & LAST:
            events += self._tail()
        return events

    def _tail(self) -> list[Happening]:
        """Return what still waited to become samples of the utterance before."""
        rest = self._incoming.end()
        return [replace(self._last, samples=rest, source=None)] if len(rest) else []


__all__ = ["HEADER", "Gone", "Loopback", "Talking", "Wire", "ms", "talk_over"]
