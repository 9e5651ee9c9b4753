"""GPT-Live as a facade: one session without turns, and its sideband on a connection of its own.

The session's clock runs as the behaviour's ``drift`` says. A piece of sound begins on it when it was said, or where
the piece before it ended.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from fullduplex.driving.playout import Samples
from fullduplex.systems.openai.sound import TELEPHONE, Format, announced, encoded, text_of
from fullduplex.systems.wire import Gone
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.facades import Answer, Facade, Peer, Spoken, Unheard
from fullduplex.testing.facades.openai import Event, Numbered, Sound, read, refuses
from fullduplex.testing.stage import Terms

#: How long a session may last (seconds).
_LASTS = 1_800
_ATTACH = re.compile(r".*/live/sessions/([^/?]+)/attach(?:\?.*)?")
#: How many appends are between two accounts of what was used.
_ACCOUNTS = 50

_ODDITIES: tuple[str | bytes, ...] = (
    '{"type": "session.output_audio.delta", "delta": "no base64!"}',
    '{"type": "session.output_audio.delta", "delta": 5}',
    '{"type": "session.output_transcript.delta", "delta": null, "start_ms": 1, "end_ms": 2}',
    '{"type": "error", "error": {"message": "\\u001b[31m../../x<script>"}}',
    '{"type": "error"}',
    '{"type": "session.paused", "event_id": "e"}',
    '{"type": "delegation.created", "delegation": {"id": "../../x"}}',
    '{"type": "info", "code": "c", "message": "m"}',
    '{"type": "turn.created", "turn": 1e999}',
    '{"type": "hologram.created"}',
    '{"type": 5}',
    '{"type": "session.closed"',
    "[" * 5_000,
    "null",
    "",
    b"",
    b"\x07\xff",
)
_NOTHINGS: tuple[str | bytes, ...] = (
    '{"type": "session.output_transcript.delta", "event_id": "e", "delta": "only words", "start_ms": 0, "end_ms": 200}',
    '{"type": "session.output_audio.delta", "delta": ""}',
)
USUAL = ("usage", "session_closed", "sideband_gone", "output_time")
TERMS = Terms(rate_in=24_000, oddities=_ODDITIES, vads=0, nothings=_NOTHINGS, flushes=0, usual=USUAL)
_SYNC = "it answers when it will, and no frame for a frame"
_FLUSH = "the protocol has no flush"
BESIDE = {
    3: _FLUSH,
    4: _FLUSH,
    5: _FLUSH,
    10: _SYNC,
    11: "its samples are not coded",
    12: "its samples are not coded",
    13: _SYNC,
    14: _SYNC,
    17: "it never says that it is done",
    20: "both sides agree on the format before the first sample",
    21: "it asks for no sign of life but the WebSocket's own",
    23: "it takes no word of what was heard",
}


#: What a sideband is going to say, and when (the loop's seconds); None ends it.
_Queue = asyncio.Queue[tuple[float, Event | None]]


class _Sessions:
    """The sessions of one facade, and who looks on."""

    def __init__(self, delay: float) -> None:
        self.count, self.delay = 0, delay
        self.looking: dict[str, list[_Queue]] = {}

    def begin(self) -> str:
        self.count += 1
        id = f"live_{self.count:06d}"
        self.looking[id] = []
        return id

    def reflect(self, id: str, event: Event | None) -> None:
        due = asyncio.get_running_loop().time() + self.delay
        for queue in self.looking.get(id, ()):
            queue.put_nowait((due, event))

    async def look_on(self, peer: Peer) -> bool:
        """Hold a sideband, and return whether this is one."""
        found = _ATTACH.fullmatch(peer.path)
        if found is None:
            return False
        looking = self.looking.get(found[1])
        if looking is None:
            error = {"type": "invalid_request_error", "code": "session_not_found", "message": "No such session."}
            await peer.send(json.dumps(Numbered().event("error", error=error)))
            await peer.close("session_not_found")
            return True
        queue: _Queue = asyncio.Queue()
        looking.append(queue)
        giving = asyncio.ensure_future(self._give(peer, queue))
        try:
            with suppress(Gone):
                while True:
                    await peer.receive()
        finally:
            giving.cancel()
            with suppress(asyncio.CancelledError, Gone):
                await giving
            looking.remove(queue)
        return True

    async def _give(self, peer: Peer, queue: _Queue) -> None:
        while True:
            due, event = await queue.get()
            await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
            if event is None:
                await peer.close("")
                return
            await peer.send(json.dumps(event))


class Session:
    """One talk with a client of the Live API."""

    def __init__(self, behaviour: Behaviour, sessions: _Sessions, format: Format, rate: int) -> None:
        self.rate_in = rate
        self._behaviour, self._sessions, self._format, self._rate = behaviour, sessions, format, rate
        self._made = Numbered()
        self._sound = Sound((format, format), (rate, rate))
        self._id, self._resource = "", Event()
        self._began, self._end = 0.0, 0.0
        self._appends, self._saying = 0, 0

    async def open(self, peer: Peer, getting_ready: Callable[[], Awaitable[None]]) -> None:
        """Read what the session shall be, and say that it has started."""
        if not peer.path.partition("?")[0].endswith("/live/sessions"):
            raise Unheard("404 Not Found")
        told = read(await peer.receive())
        asked = told.get("session")
        if told["type"] != "session.start" or not isinstance(asked, Mapping) or not asked.get("model"):
            await peer.send(json.dumps(self._error("session.start has to come first, with a model.", "invalid_event")))
            raise Unheard("invalid_event")
        audio = asked.get("audio")
        format = audio.get("format") if isinstance(audio, Mapping) else None
        if announced(format, (self._format, self._rate)) != (self._format, self._rate):
            await peer.send(
                json.dumps(self._error("This facade was started for another audio format.", "invalid_value"))
            )
            raise Unheard("invalid_value")
        await getting_ready()
        self._id = self._sessions.begin()
        kind = "audio/pcm" if self._format == "pcm16" else f"audio/{self._format}"
        voice = audio.get("output", {"voice": "marin"}) if isinstance(audio, Mapping) else {"voice": "marin"}
        usual = {"format": {"type": kind, "rate": self._rate}, "output": voice}
        self._resource = {
            **asked,
            "id": self._id,
            "expires_at": int(time.time()) + _LASTS,
            "status": "active",
            "audio": usual,
        }
        self._began = asyncio.get_running_loop().time()
        await peer.send(json.dumps(self._made.event("session.started", session=self._resource)))

    def _now(self) -> float:
        """Return the session's time in seconds."""
        return (asyncio.get_running_loop().time() - self._began) * (1 + self._behaviour.drift)

    # What it says.

    def says(self, event: Spoken | Mapping[str, Any]) -> list[str | bytes]:
        """Return sound without a time (the sideband gets it with one), words with theirs, an end with its reason."""
        return [json.dumps(one) for one in self._told(event)]

    def _told(self, event: Spoken | Mapping[str, Any]) -> list[Event]:
        if isinstance(event, Spoken):
            # Within an utterance nothing lies between one piece and the next.
            start = self._end if event.id and event.id == self._saying else max(self._end, self._now())
            self._saying = event.id
            self._end = start + len(event.data) / 2 / self._rate * (1 + self._behaviour.drift)
            data = self._sound.out(event.data)
            plain: Event = {"type": "session.output_audio.delta", "delta": data}
            times = {"start_ms": round(start * 1_000), "end_ms": round(self._end * 1_000)}
            if self._format == "pcm16" and self._rate == 24_000:
                self._sessions.reflect(self._id, plain | times)
            return [plain]
        kind = event["type"]
        if kind == "said":
            at = event.get("source")
            start_ms = round(1_000 * (self._now() if at is None else float(at)))
            words = {"delta": str(event["text"]), "start_ms": start_ms, "end_ms": start_ms + 200}
            return [self._made.event("session.output_transcript.delta", **words)]
        if kind == "close":
            return [self._error(str(event.get("reason", "")), "session_expired"), self._closed("expired")]
        return []

    def _error(self, message: str, code: str, client: Any = None) -> Event:
        error = {"type": "invalid_request_error", "code": code, "message": message}
        return self._made.event("error", error=error | ({"client_event_id": client} if client else {}))

    def _closed(self, reason: str) -> Event:
        used = {"seconds": round(self._now())}
        self._sessions.reflect(self._id, None)
        return self._made.event("session.closed", reason=reason, session=self._resource, usage=used)

    # What it hears.

    def hears(self, message: str | bytes) -> list[Samples | Mapping[str, Any] | Answer]:
        """Return the user's sound, and the answers that the client gets."""
        told = read(message)
        kind, client = told["type"], told.get("event_id")
        if kind == "session.input_audio.append":
            try:
                samples = self._sound.into(told.get("audio"))
            except ValueError:
                return [self._answer(self._error("Invalid 'audio'.", "invalid_value", client))]
            self._reflected(samples)
            self._appends += 1
            if self._appends % _ACCOUNTS:
                return [samples]
            used = self._made.event("session.usage.updated", usage={"seconds": round(self._now())})
            return [samples, self._answer(used)]
        if kind == "session.close":
            return [self._answer(self._closed("close_requested")), {"type": "finish"}]
        if kind == "session.update":
            return [self._answer(self._made.event("session.updated", session=self._resource))]
        if kind in ("session.input_audio.mute", "session.input_audio.unmute"):
            return [self._answer(self._made.event(f"{kind}d"))]
        return [self._answer(self._error(f"Not in this facade's script: {kind!r}.", "unknown_event", client))]

    def _reflected(self, samples: Samples) -> None:
        if self._rate == 24_000 and self._sessions.looking.get(self._id):
            audio = text_of(encoded("pcm16", samples))
            self._sessions.reflect(self._id, {"type": "session.input_audio.append", "audio": audio})

    def _answer(self, event: Event) -> Answer:
        return Answer(json.dumps(event))


def facade(options: Mapping[str, Any]) -> Facade:
    """Return a Live server in the format that ``options`` say; its sideband runs ``sideband_delay`` seconds behind."""
    format: Format = options.get("format", "pcm16")
    rate = int(options.get("rate") or 24_000) if format == "pcm16" else TELEPHONE
    sessions = _Sessions(float(options.get("sideband_delay") or 0))

    def fits(behaviour: Behaviour) -> Behaviour:
        return replace(behaviour, coding="pcm16", rate=rate, flush="none")

    return Facade(
        "gpt-live",
        lambda behaviour: Session(behaviour, sessions, format, rate),
        replace(TERMS, rate_in=rate),
        fits,
        BESIDE,
        refuses=refuses,
        aside=sessions.look_on,
    )


__all__ = ["BESIDE", "TERMS", "Session", "facade"]
