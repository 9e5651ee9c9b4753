"""Speaking: text becomes audio in the listener's queue, with its words, ahead of time or in real time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from fullduplex.driving.clock import took
from fullduplex.driving.link import Happening, Note, Said
from fullduplex.driving.playout import Chunk, Samples, sample_at
from fullduplex.errors import InputError
from fullduplex.model.spans import SECOND, seconds
from fullduplex.providers.voices import Spoken, Voice
from fullduplex.systems.cascade.clauses import Piece
from fullduplex.systems.cascade.exchange import Exchange

if TYPE_CHECKING:
    from fullduplex.systems.cascade import Cascade


class Mouth:
    """A voice, and the way to the listener: ``send`` takes what comes out, ``now`` tells the talk's time."""

    def __init__(
        self, cascade: Cascade, voice: Voice, send: Callable[[Happening], None], now: Callable[[], int]
    ) -> None:
        self.cascade, self.voice, self.send, self.now = cascade, voice, send, now
        self.rate = cascade.traits.rate_out
        self.hums = 0
        self._hum: Spoken | None = None

    async def speak(self, text: str) -> Spoken | None:
        """Return ``text`` as speech, or None where the voice cannot say it."""
        cascade = self.cascade
        declared = seconds(cascade.declared_voice + cascade.declared_voice_character * len(text))
        try:
            spoken, _ = await took(lambda: self.voice.speak(text), declared)
        except InputError as error:
            self.send(Note("unspoken", {"text": text, "why": str(error)}))
            return None
        return spoken

    async def utter(self, exchange: Exchange, text: str, spoken: Spoken) -> None:
        """Send a piece of the reply, with its words."""
        rate = self.rate
        if exchange.first is None:
            exchange.first = exchange.until = self.now()
            gap = 0
        else:
            gap = sample_at(seconds(self.cascade.gap), rate)
        samples = at_rate(spoken, rate)
        start = exchange.length + gap * SECOND // rate
        words = tuple((w.text, start + w.span.start, start + w.span.end) for w in spoken.words or ())
        piece = Piece(text, start, start + len(samples) * SECOND // rate, words)
        exchange.pieces.append(piece)
        self.send(Said(text, "system", exchange.id, words))
        await self.play(exchange, np.concatenate([np.zeros(gap, np.float32), samples]), rate)

    async def play(self, exchange: Exchange, samples: Samples, rate: int) -> None:
        """Send audio of the reply, ahead of time or in real time."""
        assert exchange.first is not None
        size = max(1, sample_at(seconds(self.cascade.chunk), rate))
        # A listener's queue that ran empty goes on when the next audio comes.
        begins = max(self.now(), exchange.until)
        source, exchange.length = exchange.length, exchange.length + len(samples) * SECOND // rate
        exchange.until = begins + len(samples) * SECOND // rate
        for first in range(0, len(samples), size):
            offset = first * SECOND // rate
            if self.cascade.paced:
                await asyncio.sleep(max(0, begins + offset - self.now()) / SECOND)
            part = samples[first : first + size]
            self.send(Chunk(part, exchange.id, exchange.number, source + offset))

    async def hum(self, turn: int) -> None:
        """Say the backchannel, beside all turns."""
        text = self.cascade.says_while_listening
        if self._hum is None:
            self._hum = await self.speak(text)
        if self._hum is None:
            return
        self.hums += 1
        id = f"b{self.hums}"
        words = tuple((w.text, w.span.start, w.span.end) for w in self._hum.words or ())
        self.send(Said(text, "system", id, words))
        self.send(Note("backchannel", {"id": id}))
        self.send(Chunk(at_rate(self._hum, self.rate), id, turn, 0))


def at_rate(spoken: Spoken, rate: int) -> Samples:
    """Return a voice's samples at ``rate``."""
    from fullduplex.data.audio import resample

    return spoken.samples if spoken.rate == rate else resample(spoken.samples, spoken.rate, rate)
