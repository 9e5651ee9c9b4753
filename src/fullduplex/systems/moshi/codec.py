"""The wire of Moshi, PersonaPlex and FLM-Audio: messages of a kind and its payload, Ogg-Opus in both directions.

The first byte of a binary message is its kind. A talk begins with kind 0, of one byte or nine, once the server's only
session is free and its prompts are processed; whatever comes before is kept and nothing is sent. Each frame of 1920
samples that goes in makes one come out, but for the first, which only primes the server's codec: output frame k
belongs to input frame k + 1. That is what ``source`` says of a chunk: where it would sound if the server took no time.

Text carries no time of its own: a piece belongs to the frame that is made in the same step, and its ``source`` is where
that frame begins. Kyutai's servers send it behind that frame, the others in front (``text_first``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from fullduplex.driving.link import Happening, Note, Ready, Said, Traits
from fullduplex.driving.playout import Chunk, Samples
from fullduplex.errors import printable
from fullduplex.model.spans import SECOND, in_seconds, ms, seconds
from fullduplex.systems.incoming import AHEAD, Rates
from fullduplex.systems.ogg_opus import LOOKAHEAD, OggOpus
from fullduplex.systems.ogg_opus_writer import OggOpusWriter
from fullduplex.systems.talking import Translating
from fullduplex.systems.wire import Wire

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


class Talking(Translating[str | bytes, str | bytes]):
    """One talk over a wire.

    ``longest`` is the longest session, 0 without a limit. ``text_first``: a piece of text comes in front of its frame.
    ``reads`` makes an event of a piece of text.
    """

    busy = "it may be busy with another talk, since it holds one at a time"

    def __init__(
        self,
        wire: Wire,
        settings: Mapping[str, Any],
        *,
        longest: int = 0,
        text_first: bool = False,
        reads: Callable[[str], Happening] = Said,
    ) -> None:
        super().__init__(wire, settings)
        self._longest, self._text_first, self._reads = longest, text_first, reads
        # A page for each frame, so that nothing of it waits for the next.
        self._writer = OggOpusWriter(RATE, packet=ms(20), packets=FRAME // ms(20))
        self._sent = 0
        self._opus, self._rates = OggOpus(), Rates(OggOpus.rate, RATE)
        self._came, self._metadata = 0, dict[str, Any]()

    async def get_ready(self) -> None:
        """Return once the server said that it is ready; what it says before is kept for the talk."""
        message = await self.until(_handshake)
        told = dict(self.ready.settings) | {"codec_delay": in_seconds(DELAY)}
        if len(message) >= 9:
            told["protocol_version"] = int.from_bytes(message[1:5], "little")
            told["model_version"] = int.from_bytes(message[5:9], "little")
        self.ready = Ready(told | ({"metadata": self._metadata} if self._metadata else {}))

    async def send(self, frame: Samples) -> None:
        """Send the next frame of the user; the first goes behind the header of its stream."""
        pages = b"".join(self._writer.take(frame))
        if not self._sent:
            pages = self._writer.header() + pages
        self._sent += 1
        await self.give(bytes([AUDIO]) + pages)

    def ended(self, why: str) -> str:
        """Return why the talk ended: the server's last error and its limit are told with it."""
        if self._sent and self._longest and self._sent * FRAME >= self._longest - seconds(1):
            why = f"the server's limit of {in_seconds(self._longest):g} s was reached ({why})"
        return why + self.last_error

    async def understood(self, message: str | bytes) -> list[Happening]:
        """Return the events of one message; what cannot be understood is a note."""
        if isinstance(message, str) or not message:
            text = printable(message[:200]) if isinstance(message, str) else ""
            return [Note("unreadable", {"text": text, "length": len(message)})]
        kind, payload = message[0], message[1:]
        if kind == AUDIO:
            return self._sound(payload)
        if kind == TEXT:
            text = _text(payload)
            event = self._reads(text)
            if isinstance(event, Said):
                begins = self._now() if self._text_first else max(BEHIND, self._now() - FRAME)
                event = Said(event.text, source=begins)
            return [event]
        if kind == ERROR:
            self.errors.append(_text(payload))
            return [Note("error", {"text": self.errors[-1]})]
        if kind == METADATA:
            self._metadata = _members(payload)
            return [Note("metadata", self._metadata)]
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


def _handshake(message: str | bytes) -> bytes | None:
    return message if isinstance(message, bytes) and message[:1] == bytes([HANDSHAKE]) else None


def _text(payload: bytes) -> str:
    return payload.decode("utf-8", "replace")


def _members(payload: bytes) -> dict[str, Any]:
    """Return a JSON object, or what came in place of one."""
    try:
        told = json.loads(payload)
    except (ValueError, RecursionError):
        told = None
    return told if isinstance(told, dict) else {"text": printable(_text(payload)[:200])}


__all__ = ["BEHIND", "FRAME", "RATE", "Talking", "not_taken", "traits"]
