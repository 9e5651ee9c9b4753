"""The wire of Moshi, PersonaPlex and FLM-Audio: messages of a kind and its payload, Ogg-Opus in both directions.

The first byte of a binary message is its kind. A talk begins with kind 0, of one byte or nine, once the server's only
session is free and its prompts are processed; whatever comes before is kept and nothing is sent. Each frame of 1920
samples that goes in makes one come out, but for the first, which only primes the server's codec: output frame k
belongs to input frame k + 1. That is what ``source`` says of a chunk: where it would sound if the server took no time.

Text carries no time of its own: a piece belongs to the frame that is made in the same step, and its ``source`` is where
that frame begins. Kyutai's servers send it behind that frame, the others in front (``text_first``).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from fullduplex.driving.link import Closed, Happening, Note, Position, Ready, Said, Traits
from fullduplex.driving.playout import Chunk, Samples
from fullduplex.errors import ConversationError, printable
from fullduplex.model.spans import SECOND, in_seconds, ms, seconds
from fullduplex.systems.incoming import AHEAD, Rates
from fullduplex.systems.ogg_opus import LOOKAHEAD, OggOpus
from fullduplex.systems.ogg_opus_writer import OggOpusWriter
from fullduplex.systems.wire import Gone, Wire, read_at

HANDSHAKE, AUDIO, TEXT, CONTROL, METADATA, ERROR, PING, COLOURED = range(8)
#: The model's frame: 1920 samples at 24 kHz.
RATE, FRAME = 24_000, ms(80)
#: Output k is whole once input k + 1 is: so much later than its place in the output it can sound at the earliest.
BEHIND = 2 * FRAME
#: Opus, and the change from its 48 kHz to the model's rate, let everything sound so much later (microseconds).
DELAY = LOOKAHEAD + AHEAD

_NAMES = {CONTROL: "control", PING: "ping", COLOURED: "coloured text"}


def traits(longest: int = 0) -> Traits:
    """Return what a driver has to know of a server of this family; ``longest`` is the longest session, 0: no limit."""
    return Traits(RATE, RATE, FRAME, timing="sync", exclusive=True, source="session", longest=longest)


def not_taken(prompt: str) -> dict[str, Any]:
    """Return the setting that tells of an item's prompt that the protocol has no place for."""
    return {"prompt_taken": False} if prompt else {}


@asynccontextmanager
async def talk_over(
    wire: Wire,
    name: str,
    *,
    ready_within: float,
    settings: Mapping[str, Any],
    longest: int = 0,
    text_first: bool = False,
    read: Callable[[str], Happening] = Said,
) -> AsyncIterator[Talking]:
    """Open a talk with the server called ``name``; give it once the handshake is over.

    ``read`` makes an event of a piece of text. Raises :class:`ConversationError` where the server refuses, leaves,
    or is not ready within ``ready_within`` seconds.
    """
    talking = Talking(wire, settings, longest, text_first=text_first, read=read)
    try:
        async with asyncio.timeout(ready_within):
            await talking.get_ready()
    except TimeoutError:
        raise ConversationError(
            f"{name} took the connection and was not ready within {ready_within:g} s: it may be busy with another talk,"
            " since it holds one at a time"
        ) from None
    except Gone as error:
        noted = "".join(f"; it said {printable(repr(note.data.get('text', '')), 200)}" for note in talking.errors)
        raise ConversationError(f"{name} left before it was ready: {error}{noted}") from error
    yield talking


class Talking:
    """One talk over a wire."""

    def __init__(
        self,
        wire: Wire,
        settings: Mapping[str, Any],
        longest: int = 0,
        *,
        text_first: bool = False,
        read: Callable[[str], Happening] = Said,
    ) -> None:
        self.ready = Ready(settings)
        self.errors: list[Note] = []
        self._wire, self._longest, self._text_first, self._read = wire, longest, text_first, read
        self._early: list[Happening] = []
        # A page for each frame, so that nothing of it waits for the next.
        self._writer = OggOpusWriter(RATE, packet=ms(20), packets=FRAME // ms(20))
        self._sent, self._gone = 0, False
        self._opus, self._rates = OggOpus(), Rates(OggOpus.rate, RATE)
        self._came = 0

    async def get_ready(self) -> None:
        """Return once the server said that it is ready; what it says before is kept for the talk."""
        while True:
            message = await self._wire.receive()
            if isinstance(message, bytes) and message[:1] == bytes([HANDSHAKE]):
                break
            self._early += self._understood(message)
        told = dict(self.ready.settings) | {"codec_delay": in_seconds(DELAY)}
        if len(message) >= 9:
            told["protocol_version"] = int.from_bytes(message[1:5], "little")
            told["model_version"] = int.from_bytes(message[5:9], "little")
        metadata = [n.data for n in self._early if isinstance(n, Note) and n.kind == "metadata"]
        self.ready = Ready(told | ({"metadata": dict(metadata[-1])} if metadata else {}))

    @property
    def read(self) -> float | None:
        """Return when the latest message was read, on the event loop's clock."""
        return read_at(self._wire)

    async def send(self, frame: Samples) -> None:
        """Send the next frame of the user; the first goes behind the header of its stream."""
        pages = b"".join(self._writer.take(frame))
        if not self._sent:
            pages = self._writer.header() + pages
        self._sent += 1
        # A wire that is gone is told of once, by the reader, with its reason.
        if not self._gone:
            with suppress(Gone):
                await self._wire.send(bytes([AUDIO]) + pages)

    async def heard(self, position: Position) -> None:
        """Take no note: the protocol has no word for it."""

    async def finish(self) -> None:
        """Take no note: the talk ends with the connection."""

    async def __aiter__(self) -> AsyncIterator[Happening]:
        """Yield what comes until the server closes or is gone."""
        for event in self._early:
            yield event
        while True:
            try:
                message = await self._wire.receive()
            except Gone as error:
                self._gone = True
                yield Closed(self._ended(str(error)))
                return
            for event in self._understood(message):
                yield event

    def _ended(self, why: str) -> str:
        """Return why the talk ended: the server's last error and its limit are told with it."""
        if self._longest and self._sent * FRAME >= self._longest - seconds(1):
            why = f"the server's limit of {in_seconds(self._longest):g} s was reached ({why})"
        said = [note.data["text"] for note in self.errors[-1:]]
        return why + "".join(f"; its last error: {printable(text, 200)}" for text in said)

    def _understood(self, message: str | bytes) -> list[Happening]:
        """Return the events of one message; what cannot be understood is a note."""
        if isinstance(message, str) or not message:
            text = printable(message[:200]) if isinstance(message, str) else ""
            return [Note("unreadable", {"text": text, "length": len(message)})]
        kind, payload = message[0], message[1:]
        if kind == AUDIO:
            return self._sound(payload)
        if kind == TEXT:
            text = _text(payload)
            event = self._read(text)
            if isinstance(event, Said):
                begins = self._now() if self._text_first else max(BEHIND, self._now() - FRAME)
                event = Said(event.text, source=begins)
            return [event]
        if kind == ERROR:
            note = Note("error", {"text": _text(payload)})
            self.errors.append(note)
            return [note]
        if kind == METADATA:
            return [Note("metadata", _members(payload))]
        return [Note(_NAMES.get(kind, "unknown"), {"kind": kind, "bytes": len(payload)})]

    def _sound(self, payload: bytes) -> list[Happening]:
        heard = self._opus.take(payload)
        if not len(heard):
            return []
        source, self._came = self._now(), self._came + len(heard)
        return [Chunk(self._rates.take(heard), source=source)]

    def _now(self) -> int:
        """Return where what comes next would sound if the server took no time."""
        return self._came * SECOND // OggOpus.rate + BEHIND


def _text(payload: bytes) -> str:
    return payload.decode("utf-8", "replace")


def _members(payload: bytes) -> dict[str, Any]:
    """Return a JSON object, or what came in place of one."""
    try:
        told = json.loads(payload)
    except (ValueError, RecursionError):
        told = None
    return told if isinstance(told, dict) else {"text": printable(_text(payload)[:200])}


__all__ = ["BEHIND", "FRAME", "RATE", "Talking", "not_taken", "talk_over", "traits"]
