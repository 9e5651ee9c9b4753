"""One talk in a Live session: sound in, sound out, words with their time on the session's clock.

There are no turns, no ids and no flush: who interrupts hears it fall silent. Sound has to flow in all the time. A
chunk's ``source`` is where the sideband says that it begins; words carry their own times. ``session.close`` asks for
the end, and ``session.closed`` tells what was used.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any

from fullduplex.driving.link import Closed, Happening, Note, Position, Ready, Said
from fullduplex.driving.playout import Chunk, Samples
from fullduplex.errors import ConversationError, printable
from fullduplex.systems.openai.line import Event, Line, error_text, member, milliseconds, text
from fullduplex.systems.openai.session import Session, kept
from fullduplex.systems.openai.sideband import RATE, Sideband
from fullduplex.systems.openai.sound import Format, Voice, announced, bytes_of, encoded, text_of
from fullduplex.systems.wire import Gone

#: How long the server may take to account for a talk that is over (seconds).
CLOSES_WITHIN = 3.0


class Talking:
    """One talk over a line, in ``format`` at ``rate`` both ways; ``told`` are the settings of the driver."""

    def __init__(self, line: Line, format: Format, rate: int, told: Mapping[str, Any]) -> None:
        self.ready = Ready(told)
        #: When the message of the latest event was read, on the event loop's clock.
        self.read: float | None = None
        self.sideband: Sideband | None = None
        self.waits = 0.0
        self._line, self._format, self._rate = line, format, rate
        self._voice = Voice(format, rate, rate)
        self._early: list[Happening] = []
        self._came: asyncio.Queue[tuple[float | None, Event | Note | Gone]] = asyncio.Queue()
        self._reading: asyncio.Task[None] | None = None
        self._chunks, self._error = 0, ""
        self._closing, self._closed = False, asyncio.Event()

    @property
    def last_error(self) -> str:
        """Return the last error that was told, to be put behind a reason; empty where there was none."""
        return f"; its last error: {self._error}" if self._error else ""

    async def get_ready(self, session: Session) -> None:
        """Return once the session has started; raises :class:`ConversationError` where the server refuses it."""
        await self._line.give({"type": "session.start", "session": session})
        while True:
            told = await self._line.next()
            if isinstance(told, dict) and told["type"] == "session.started":
                break
            if isinstance(told, dict) and told["type"] == "error":
                raise ConversationError(f"the Live API refused the session: {self._line.plain(error_text(told))}")
            self._early += await self._understood(told, None)
        started = kept(told.get("session"))
        asked: tuple[Format, int] = (self._format, self._rate)
        if announced(member(started, "audio", "format"), asked) != asked:
            raise ConversationError("the session holds another audio format than it was asked for")
        settings = dict(self.ready.settings) | {"session": started}
        if isinstance(expires := started.get("expires_at"), int | float):
            settings["expires_at"] = expires
        self.ready = Ready(settings)
        self._reading = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        """Read on while a piece of sound waits for its time: what comes has come when it was read."""
        while True:
            try:
                told: Event | Note | Gone = await self._line.next()
            except Gone as error:
                told = error
            self._came.put_nowait((self._line.read, told))
            if isinstance(told, Gone):
                return

    async def send(self, frame: Samples) -> None:
        """Send the next frame of the user."""
        audio = text_of(encoded(self._format, frame))
        await self._line.give({"type": "session.input_audio.append", "audio": audio})

    async def heard(self, position: Position) -> None:
        """Take no note: the protocol has no word for it."""

    async def finish(self) -> None:
        """Ask for the session's end, and wait a little for what the server says of it."""
        if not self._closing and not self._line.gone:
            self._closing = True
            await self._line.give({"type": "session.close"})
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSES_WITHIN):
                    await self._closed.wait()

    async def leave(self) -> None:
        """Ask for the session's end where nobody has, and read no more."""
        if not self._closing:
            self._closing = True
            await self._line.give({"type": "session.close"})
        if self._reading is not None:
            self._reading.cancel()
            with suppress(asyncio.CancelledError):
                await self._reading

    async def __aiter__(self) -> AsyncIterator[Happening]:
        """Yield what comes until the server closes or is gone."""
        for event in self._early:
            yield event
        while True:
            read, told = await self._came.get()
            if isinstance(told, Gone):
                events: list[Happening] = [Closed(f"{told}{self.last_error}")]
            else:
                events = await self._understood(told, read)
            self.read = read
            for event in [*self._aside(), *events]:
                if isinstance(event, Closed) and self._closing:
                    # We asked for it: the talk ends when the user's side does.
                    self._closed.set()
                    await asyncio.Event().wait()
                yield event
                if isinstance(event, Closed):
                    return

    def _aside(self) -> list[Note]:
        """Return what the sideband had to say since."""
        if self.sideband is None:
            return []
        notes, self.sideband.notes = self.sideband.notes, []
        return notes

    async def _understood(self, told: Event | Note, read: float | None) -> list[Happening]:
        """Return the events of one message; what cannot be understood is a note."""
        if isinstance(told, Note):
            return [told]
        kind = told["type"]
        if kind == "session.output_audio.delta":
            return await self._sound(told, read)
        if kind in ("session.output_transcript.delta", "session.input_transcript.delta"):
            said, start = told.get("delta"), milliseconds(told.get("start_ms"))
            if not isinstance(said, str):
                return [Note("unreadable", _members(told))]
            return [Said(said, "user" if "input" in kind else "system", source=start)]
        if kind == "session.usage.updated":
            return [Note("usage", _members(told))]
        if kind == "session.closed":
            return [Note("session_closed", _members(told)), Closed(self._reason(told))]
        if kind == "error":
            self._error = self._line.plain(error_text(told))
            return [Note("error", _members(member(told, "error") or told))]
        if kind == "info" or kind.startswith(("session.", "delegation.", "decision.", "response.", "transport.")):
            return [Note(printable(kind, 80), _members(told))]
        return [Note("unknown", {"type": printable(kind, 80), "members": [printable(key) for key in list(told)[:20]]})]

    def _reason(self, told: Event) -> str:
        reason = printable(text(told, "reason"), 80) or "no reason"
        return f"the session was closed: {reason}{self.last_error}"

    async def _sound(self, told: Event, read: float | None) -> list[Happening]:
        try:
            data = bytes_of(told.get("delta"))
        except ValueError:
            return [Note("unreadable", _members(told))]
        number, self._chunks = self._chunks, self._chunks + 1
        source = None
        if self.sideband is not None and data:
            came = asyncio.get_running_loop().time() if read is None else read
            size = len(data) if self._format == "pcm16" else 2 * len(data)
            size = size * RATE // self._rate
            source = await self.sideband.time_of(number, data, size, came + self.waits)
        return [Chunk(self._voice.take(data), source=source)]


def _members(told: Any) -> dict[str, Any]:
    """Return the members of an event without sound."""
    if not isinstance(told, Mapping):
        return {"text": printable(str(told))}
    return {
        printable(str(name), 80): value if not isinstance(value, str) else value[:2_000]
        for name, value in list(told.items())[:40]
        if name not in ("audio", "delta", "type")
    }
