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

from fullduplex.driving.link import Closed, Happening, Note, Ready, Said
from fullduplex.driving.playout import Chunk, Samples
from fullduplex.errors import ConversationError, printable
from fullduplex.systems.openai.ahead import Ahead
from fullduplex.systems.openai.line import Event, Line, error_text, member, milliseconds, text
from fullduplex.systems.openai.session import Session, kept
from fullduplex.systems.openai.sideband import RATE, Sideband
from fullduplex.systems.openai.sound import Format, Voice, announced, bytes_of, encoded, text_of
from fullduplex.systems.talking import Translating

#: How long the server may take to account for a talk that is over (seconds).
CLOSES_WITHIN = 3.0


class Talking(Translating[Event | Note, Mapping[str, Any]]):
    """One talk over a line, in ``format`` at ``rate`` both ways; ``told`` are the settings of the driver.

    ``session`` is what is asked for.
    """

    busy = "it may be busy"

    def __init__(self, line: Line, format: Format, rate: int, told: Mapping[str, Any], session: Session) -> None:
        self._line, self._ahead = line, Ahead(line)
        super().__init__(self._ahead, told)
        self.sideband: Sideband | None = None
        self.waits = 0.0
        self._format, self._rate, self._session = format, rate, session
        self._voice = Voice(format, rate, rate)
        self._chunks = 0
        self._closing, self._closed = False, asyncio.Event()

    async def get_ready(self) -> None:
        """Return once the session has started; raises :class:`ConversationError` where the server refuses it."""
        await self.give({"type": "session.start", "session": self._session})
        started = kept((await self.until(self._started)).get("session"))
        asked: tuple[Format, int] = (self._format, self._rate)
        if announced(member(started, "audio", "format"), asked) != asked:
            raise ConversationError("the session holds another audio format than it was asked for")
        settings = dict(self.ready.settings) | {"session": started}
        if isinstance(expires := started.get("expires_at"), int | float):
            settings["expires_at"] = expires
        self.ready = Ready(settings)
        self._ahead.start()

    def _started(self, told: Event | Note) -> Event | None:
        if isinstance(told, dict) and told["type"] == "error":
            raise ConversationError(f"the Live API refused the session: {self._line.plain(error_text(told))}")
        return told if isinstance(told, dict) and told["type"] == "session.started" else None

    async def send(self, frame: Samples) -> None:
        """Send the next frame of the user."""
        audio = text_of(encoded(self._format, frame))
        await self.give({"type": "session.input_audio.append", "audio": audio})

    async def finish(self) -> None:
        """Ask for the session's end, and wait a little for what the server says of it."""
        if not self._closing and not self.gone:
            self._closing = True
            await self.give({"type": "session.close"})
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSES_WITHIN):
                    await self._closed.wait()

    async def leave(self) -> None:
        """Ask for the session's end where nobody has, and read no more."""
        if not self._closing:
            self._closing = True
            await self.give({"type": "session.close"})
        await self._ahead.stop()

    async def __aiter__(self) -> AsyncIterator[Happening]:
        """Yield what comes until the server closes or is gone."""
        async for event in super().__aiter__():
            if isinstance(event, Closed) and self._closing:
                # We asked for it: the talk ends when the user's side does.
                self._closed.set()
                await asyncio.Event().wait()
            yield event

    def tail(self) -> list[Note]:
        """Return what the sideband had to say since."""
        if self.sideband is None:
            return []
        notes, self.sideband.notes = self.sideband.notes, []
        return notes

    async def understood(self, message: Event | Note) -> list[Happening]:
        """Return the events of one message, behind what the sideband had to say."""
        events = await self._meant(message)
        return [*self.tail(), *events]

    async def _meant(self, told: Event | Note) -> list[Happening]:
        """Return the events of one message; what cannot be understood is a note."""
        if isinstance(told, Note):
            return [told]
        kind = told["type"]
        if kind == "session.output_audio.delta":
            return await self._sound(told)
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
            self.errors.append(self._line.plain(error_text(told)))
            return [Note("error", _members(member(told, "error") or told))]
        if kind == "info" or kind.startswith(("session.", "delegation.", "decision.", "response.", "transport.")):
            return [Note(printable(kind, 80), _members(told))]
        return [Note("unknown", {"type": printable(kind, 80), "members": [printable(key) for key in list(told)[:20]]})]

    def _reason(self, told: Event) -> str:
        reason = printable(text(told, "reason"), 80) or "no reason"
        return f"the session was closed: {reason}{self.last_error}"

    async def _sound(self, told: Event) -> list[Happening]:
        try:
            data = bytes_of(told.get("delta"))
        except ValueError:
            return [Note("unreadable", _members(told))]
        number, self._chunks = self._chunks, self._chunks + 1
        source = None
        if self.sideband is not None and data:
            came = asyncio.get_running_loop().time() if self.read is None else self.read
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
