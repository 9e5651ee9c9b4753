"""What Freeze-Omni and VITA share: events of the user's samples as lists of bytes, and the system's as they are.

A talk begins with ``recording-started``, which the server answers with ``stop_tts`` once it has thrown away
what it knew. For each ``audio`` event that it gets it sends one queued piece of speech, if it has one: a piece is about
200 ms long and packets come more often, so a reply arrives in a burst, and comes to a halt where packets do. How long
packets are is part of what is measured.

``stop_tts`` takes back all that is queued. It comes at each interruption and also before each reply, where nothing is
queued any more; there are no ids, and what follows it is new.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from fullduplex.driving.link import Closed, Happening, Note, Said
from fullduplex.driving.playout import Chunk, Flush, Samples
from fullduplex.errors import printable
from fullduplex.systems.incoming import Incoming, pcm16_encoded
from fullduplex.systems.talking import Translating
from fullduplex.systems.vita.packets import Event, Odd, SocketIo
from fullduplex.systems.wire import Gone, Wire

RATE_IN, RATE_OUT = 16_000, 24_000
#: The packets of the demos' own pages: 256 samples.
PACKET = 0.016
_PACKETS = (0.004, 1.0)
#: How long after its first ``stop_tts`` another version of a server may leave out the rest (seconds).
_REST_WITHIN = 0.3


def checked_packet(packet: float) -> int:
    """Return the length of packets in microseconds, of whole samples; raises ValueError where it is none."""
    low, high = _PACKETS
    if not low <= packet <= high:
        raise ValueError(f"packet: found {packet:g}, expected seconds from {low:g} to {high:g}")
    samples = round(packet * RATE_IN)
    if abs(samples - packet * RATE_IN) > 1e-6 or samples * 1_000_000 % RATE_IN:
        raise ValueError(f"packet: found {packet:g}, expected a whole number of samples and of microseconds")
    return samples * 1_000_000 // RATE_IN


class Talking(Translating[Event | Odd, Event]):
    """One talk over a connection.

    ``opens`` says what comes before the recording is started, and ``stops`` how often the server says ``stop_tts``
    then.
    """

    def __init__(
        self, wire: Wire, settings: Mapping[str, Any], opens: Callable[[Talking], Awaitable[None]], stops: int
    ) -> None:
        self._link = SocketIo(wire)
        super().__init__(self._link, settings)
        self._opens, self._stops = opens, stops
        self._incoming = Incoming("pcm16", RATE_OUT, RATE_OUT)
        self._reply, self._sounded = 1, False

    async def get_ready(self) -> None:
        """Connect, start the recording, and return once the server has begun afresh."""
        await self._link.open()
        await self._opens(self)
        await self.wire.send(Event("recording-started"))
        await self.wait_for("stop_tts")
        with suppress(TimeoutError):
            async with asyncio.timeout(_REST_WITHIN):
                for _ in range(self._stops - 1):
                    await self.wait_for("stop_tts")

    async def wait_for(self, name: str) -> None:
        """Return once the event ``name`` came; what else comes is kept. Raises :class:`Gone` where it is full."""

        def came(event: Event | Odd) -> bool | None:
            if isinstance(event, Event) and event.name == "too_many_users":
                raise Gone("it has as many users as it takes (too_many_users); a place is free 3 s after a talk")
            return True if isinstance(event, Event) and event.name == name else None

        await self.until(came)

    async def send(self, frame: Samples) -> None:
        """Send the next packet of the user."""
        packet = {"sample_rate": RATE_IN, "audio": list(pcm16_encoded(frame))}
        await self.give(Event("audio", (json.dumps(packet, separators=(",", ":")),)))

    async def leave(self) -> None:
        """Stop the recording and disconnect, so that the place is free."""
        await self.give(Event("recording-stopped"))
        if not self.gone:
            with suppress(Gone):
                await self._link.close()

    async def understood(self, event: Event | Odd) -> list[Happening]:
        """Return what an event means; what cannot be understood is a note."""
        if isinstance(event, Odd):
            return [Note("unreadable", {"text": event.text, "length": event.length})]
        first = event.arguments[0] if event.arguments else None
        if event.name == "audio" and isinstance(first, bytes):
            samples = self._incoming.take(first)
            self._sounded |= bool(len(samples))
            return [Chunk(samples, f"r{self._reply}")] if len(samples) else []
        if event.name == "stop_tts":
            self._incoming.end()
            if self._sounded:
                self._reply, self._sounded = self._reply + 1, False
            return [Flush(None)]
        if event.name == "response_text" and isinstance(first, Mapping) and isinstance(first.get("text"), str):
            return [Said(first["text"], id=f"r{self._reply}")]
        if event.name == "out_time":
            return [Closed("its timer ran out (out_time): it had said nothing for too long")]
        return [Note("unknown", {"event": printable(event.name, 100), "arguments": len(event.arguments)})]


__all__ = ["PACKET", "RATE_IN", "RATE_OUT", "Talking", "checked_packet"]
