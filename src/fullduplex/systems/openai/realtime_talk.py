"""One talk over the Realtime API: events become sound, words and flushes, and it is told what was heard.

A chunk's id is its response's. ``input_audio_buffer.speech_started`` takes back, unless ``interrupt_response`` is
false, what was not heard to its end (:mod:`fullduplex.systems.openai.responses`); late deltas of it keep its id and so
are dropped by the player. At the next frame ``conversation.item.truncate`` tells the server how much of each item was
heard. ``output_audio_buffer.cleared`` (Azure, and servers with WebRTC behind) takes back the response that it names.

``speech_started`` carries the padding in front of the user's speech, and ``speech_stopped`` the silence that was waited
for: they are kept as they are told, with the settings that say how long both are.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fullduplex.driving.link import Happening, Note, Position, Ready, Said, UserVad
from fullduplex.driving.playout import Chunk, Flush, Samples
from fullduplex.errors import ConversationError, printable
from fullduplex.model.spans import SECOND, in_seconds, seconds
from fullduplex.systems.openai.line import Event, Line, error_text, member, milliseconds, text
from fullduplex.systems.openai.presets import BETA
from fullduplex.systems.openai.responses import Place, Response, Responses
from fullduplex.systems.openai.session import Session, kept, told_formats
from fullduplex.systems.openai.sound import Format, Voice, announced, bytes_of, encoded, text_of, wav
from fullduplex.systems.talking import Translating

#: Events of the protocol that say nothing which the others do not.
_PLAIN = frozenset(
    {
        "conversation.item.added",
        "conversation.item.done",
        "conversation.item.created",
        "input_audio_buffer.committed",
        "input_audio_buffer.cleared",
        "response.output_item.added",
        "response.output_item.done",
        "response.content_part.added",
        "response.content_part.done",
        "response.output_audio.done",
        "output_audio_buffer.started",
        "output_audio_buffer.stopped",
        "heartbeat",
    }
)
#: Transcripts: who says them, where their text is, and whether it is all of it.
_TEXTS = {
    "response.output_audio_transcript.delta": ("system", "delta", False),
    "response.output_audio_transcript.done": ("system", "transcript", True),
    "response.output_text.delta": ("system", "delta", False),
    "response.output_text.done": ("system", "text", True),
    "conversation.item.input_audio_transcription.delta": ("user", "delta", False),
    "conversation.item.input_audio_transcription.completed": ("user", "transcript", True),
}


@dataclass(frozen=True, slots=True)
class Agreed:
    """What both sides hold to: formats and rates of the user and the system, who interrupts, how pieces are packed.

    ``truncates``: the server takes how much was heard.
    """

    formats: tuple[Format, Format]
    rates: tuple[int, int]
    interrupts: bool = True
    wav_in: bool = False
    stamped: bool = False
    truncates: bool = True


class Talking(Translating[Event | Note, Mapping[str, Any]]):
    """One talk over a line. ``told`` are the driver's settings, ``session`` is asked for, ``longest`` its limit."""

    busy = "it may be busy"

    def __init__(self, line: Line, agreed: Agreed, told: Mapping[str, Any], session: Session, longest: int = 0) -> None:
        super().__init__(line, told)
        self._line, self._agreed, self._session, self._longest = line, agreed, session, longest
        self._voice = Voice(agreed.formats[1], agreed.rates[1], agreed.rates[1])
        self._responses = Responses(agreed.rates[1])
        self._written: set[tuple[str, str, int]] = set()
        self._last: tuple[Response, Place] | None = None
        self._sent = 0

    async def get_ready(self) -> None:
        """Return once the session is as it was asked for; what comes before is kept for the talk.

        Raises :class:`ConversationError` where the server refuses it.
        """
        # Some begin with the conversation, and have no session to tell of.
        told = await self.until(lambda told: self._one_of(told, "session.created", "conversation.created"))
        created = kept(told.get("session"))
        await self.give({"type": "session.update", "session": self._session})
        while told["type"] != "session.updated":
            told = await self.until(lambda told: self._one_of(told, "session.created", "session.updated"))
            created |= kept(told.get("session"))
        into, out = told_formats(created)
        if announced(into, (self._agreed.formats[0], self._agreed.rates[0]))[0] != self._agreed.formats[0]:
            raise ConversationError("the session takes the user's sound in another format than it was asked to")
        format, rate = announced(out, (self._agreed.formats[1], self._agreed.rates[1]))
        self._voice = Voice(format, rate, self._agreed.rates[1])
        resampled = rate != self._agreed.rates[1]
        self.ready = Ready(dict(self.ready.settings) | {"session": created, "resampled": resampled})

    def _one_of(self, told: Event | Note, *kinds: str) -> Event | None:
        """Return an event that is awaited; raises :class:`ConversationError` for an error in its place."""
        if isinstance(told, dict) and told["type"] == "error":
            raise ConversationError(f"the realtime API refused the session: {self._line.plain(error_text(told))}")
        return told if isinstance(told, dict) and told["type"] in kinds else None

    async def give(self, message: Mapping[str, Any]) -> None:
        """Send an event, stamped where the vendor wants it so."""
        stamp = {"client_timestamp": time.time_ns() // 1_000_000} if self._agreed.stamped else {}
        await super().give(dict(message) | stamp)

    async def send(self, frame: Samples) -> None:
        """Send the next frame of the user."""
        self._sent += len(frame)
        data = encoded(self._agreed.formats[0], frame)
        if self._agreed.wav_in:
            data = wav(data, self._agreed.rates[0])
        await self.give({"type": "input_audio_buffer.append", "audio": text_of(data)})

    async def heard(self, position: Position) -> None:
        """Keep how far it was heard, and tell how much of what was taken back had been."""
        for (item, content), samples in self._responses.heard(position):
            if self._agreed.truncates:
                at = samples * 1_000 // self._agreed.rates[1]
                told = {"item_id": item, "content_index": content, "audio_end_ms": at}
                await self.give({"type": "conversation.item.truncate", **told})

    def ended(self, why: str) -> str:
        """Return why the talk ended: the session's limit and the server's last error are told with it."""
        if self._longest and self._sent * SECOND // self._agreed.rates[0] >= self._longest - seconds(2):
            why = f"the session's limit of {in_seconds(self._longest):g} s was reached ({why})"
        return why + self.last_error

    async def understood(self, told: Event | Note) -> list[Happening]:
        """Return the events of one message; what cannot be understood is a note."""
        if isinstance(told, Note):
            return [told]
        kind = BETA.get(str(told["type"]), str(told["type"]))
        if kind == "response.output_audio.delta":
            return self._sound(told)
        if kind in _TEXTS:
            return self._words(kind, told)
        if kind in ("input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped"):
            return self._user(kind.endswith("started"), told)
        if kind == "output_audio_buffer.cleared":
            return self._taken_back(text(told, "response_id"))
        if kind == "response.created":
            self._responses.of(text(told, "response", "id"))
            return [Note("response.created", {"id": text(told, "response", "id")})]
        if kind == "response.done":
            return self._done(told)
        if kind == "error":
            self.errors.append(self._line.plain(error_text(told)))
            return [Note("error", _members(told, "error"))]
        if kind == "rate_limits.updated":
            return [Note("rate_limits", {"limits": told.get("rate_limits")})]
        if kind in ("session.updated", "session.created"):
            return [Note("session", kept(told.get("session")))]
        if kind == "conversation.item.truncated":
            return [Note("truncated", _members(told))]
        if kind in _PLAIN:
            return []
        if kind.startswith(("conversation.", "response.", "input_audio_buffer.", "mcp_list_tools.")):
            return [Note(printable(kind, 80), _members(told))]
        return [Note("unknown", {"type": printable(kind, 80), "members": [printable(key) for key in list(told)[:20]]})]

    def _sound(self, told: Event) -> list[Happening]:
        try:
            data = bytes_of(told.get("delta"))
        except ValueError:
            return [Note("unreadable", _members(told))]
        events: list[Happening] = []
        response = self._responses.of(text(told, "response_id"))
        place = (text(told, "item_id"), index if isinstance(index := told.get("content_index"), int) else 0)
        if place not in response.items:
            # What an utterance before held back for a change of rate belongs to it.
            events += self._tail()
            response.items[place] = 0
        self._last = response, place
        samples = self._voice.take(data)
        response.items[place] += len(samples)
        return [*events, Chunk(samples, response.id)]

    def _tail(self) -> list[Happening]:
        rest = self._voice.end()
        if self._last is None or not len(rest):
            return []
        response, place = self._last
        response.items[place] += len(rest)
        return [Chunk(rest, response.id)]

    def _words(self, kind: str, told: Event) -> list[Happening]:
        who, where, whole = _TEXTS[kind]
        content = told.get("content_index")
        of = (who, text(told, "item_id"), content if isinstance(content, int) else 0)
        said = text(told, where)
        events: list[Happening] = []
        # The whole text comes behind its pieces, where there are any.
        if said and not (whole and of in self._written):
            events = [Said(said, who, text(told, "response_id") if who == "system" else "")]  # type: ignore[arg-type]
        self._written.add(of)
        if whole and isinstance(told.get("usage"), Mapping):
            events.append(Note("usage", {"of": "transcription", **told["usage"]}))
        return events

    def _user(self, speaking: bool, told: Event) -> list[Happening]:
        vad = UserVad(speaking, milliseconds(told.get("audio_start_ms" if speaking else "audio_end_ms")))
        if not speaking or not self._agreed.interrupts:
            return [vad]
        return [vad, *self._taken_back()]

    def _taken_back(self, id: str | None = None) -> list[Happening]:
        """Take back one response, else all that were not heard to their end; with none, a flush of nothing."""
        taken = self._responses.take_back(id)
        return [*self._tail(), *(Flush(scope) for scope in taken)]

    def _done(self, told: Event) -> list[Happening]:
        response = self._responses.of(text(told, "response", "id"))
        response.done = True
        data: dict[str, Any] = {"id": response.id, "status": text(told, "response", "status")}
        for name in ("status_details", "usage"):
            value = member(told, "response", name)
            if isinstance(value, Mapping):
                data[name] = dict(value)
        error = text(told, "response", "status_details", "error", "message")
        self.errors += [self._line.plain(error)] if error else []
        return [*self._tail(), Note("response.done", data)]


def _members(told: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the members of an event, or of an object in it, without sound."""
    found = member(told, *names)
    told = found if isinstance(found, Mapping) else told
    return {
        printable(str(name), 80): value if not isinstance(value, str) else value[:2_000]
        for name, value in list(told.items())[:40]
        if name not in ("audio", "delta")
    }


__all__ = ["Agreed", "Talking"]
