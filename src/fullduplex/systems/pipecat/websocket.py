"""A Pipecat bot behind a WebSocket: protobuf frames both ways, paced by the bot, an interruption frame as a flush."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from fullduplex.driving.link import Happening, Link, Note, Position, Ready, Said, Traits
from fullduplex.driving.playout import Chunk, Flush, Samples
from fullduplex.errors import ConversationError, printable
from fullduplex.model.spans import ms
from fullduplex.model.spec import Spec
from fullduplex.systems.incoming import RATES, Incoming, pcm16_encoded
from fullduplex.systems.pipecat.protobuf import Frame, read, written
from fullduplex.systems.pipecat.rtvi import Rtvi, client_ready
from fullduplex.systems.stretches import Stretches
from fullduplex.systems.talking import Translating, begun
from fullduplex.systems.wire import Door, Wire, address, connected

RATE_IN, RATE_OUT, FRAME = 16_000, 24_000, ms(20)


@dataclass(frozen=True, slots=True)
class Pipecat:
    """A talk with a bot whose transport is a WebSocket with Pipecat's protobuf serializer, at ``url``.

    ``rtvi``: say that the client is ready and wait until the bot is (each pipeline does so unless it was told not to).
    ``rate_out`` is the rate that its sound is kept at, whatever rate it sends. ``model`` is what runs there: kept with
    the run, not verified. ``verify``: whether its certificate has to be a trusted one. ``ready_within``: seconds.
    """

    url: str = ""
    model: str = ""
    rtvi: bool = True
    rate_in: int = RATE_IN
    rate_out: int = RATE_OUT
    verify: bool = True
    ready_within: float = 30.0

    def __post_init__(self) -> None:
        for name, rate in (("rate_in", self.rate_in), ("rate_out", self.rate_out)):
            if rate not in RATES or rate % 50:
                raise ValueError(f"{name}: found {rate}, expected samples a second, 8000 to 192000 and whole in 20 ms")

    @property
    def spec(self) -> Spec:
        """Return what is told to the bot; where it runs changes nothing."""
        kept = ("model", "rtvi", "rate_in", "rate_out")
        return Spec("pipecat", {name: getattr(self, name) for name in kept}, "1")

    @property
    def traits(self) -> Traits:
        """Return sound at about real time, and a flush of everything."""
        return Traits(self.rate_in, self.rate_out, FRAME, timing="paced", flush="all")

    def door(self, prompt: str) -> Door:
        """Return where a talk is opened."""
        return Door(address(self.url or "ws://localhost:8765", "/ws"), verify=self.verify)

    def connect(self, prompt: str) -> AbstractAsyncContextManager[Link]:
        """Open a talk; a bot takes no prompt over the wire."""
        return connected(self, prompt)

    def over(self, wire: Wire, prompt: str) -> AbstractAsyncContextManager[Talking]:
        """Open a talk over ``wire``; raises :class:`ConversationError` where the bot is not ready in time."""
        return begun(Talking(wire, self, bool(prompt)), "the Pipecat bot", within=self.ready_within)


class Talking(Translating[str | bytes, str | bytes]):
    """One talk over a wire."""

    busy = "it may be busy with another client, or know nothing of RTVI (rtvi=false)"

    def __init__(self, wire: Wire, system: Pipecat, prompted: bool) -> None:
        super().__init__(wire)
        self._system, self._prompted = system, prompted
        self._rtvi = Rtvi()
        self._stretches = Stretches(system.rate_out)
        self._incoming: Incoming | None = None

    async def get_ready(self) -> None:
        """Return once the bot is ready; what it says before is kept for the talk."""
        if self._system.rtvi:
            await self.wire.send(written(Frame("message", client_ready())))
            while self._rtvi.ready is None:
                self.keep(await self.understood(await self.wire.receive()))
        told = dict(self._rtvi.ready or {})
        self.ready = Ready(told | ({"prompt_taken": False} if self._prompted else {}))

    async def send(self, frame: Samples) -> None:
        """Send the next frame of the user as pcm16."""
        await self.give(written(Frame("audio", audio=pcm16_encoded(frame), rate=self._system.rate_in, channels=1)))

    async def heard(self, position: Position) -> None:
        """Take note of what has sounded: the bot is told nothing."""
        self._stretches.heard(position)

    async def understood(self, message: str | bytes) -> list[Happening]:
        """Return the events of one message; what cannot be understood is a note."""
        if isinstance(message, str):
            return [Note("unknown", {"text": printable(message, 200)})]
        try:
            frame = read(message)
        except ValueError as error:
            return [Note("unreadable", {"bytes": len(message), "why": printable(str(error))})]
        if frame.kind == "audio":
            return self._sound(frame)
        if frame.kind == "interruption":
            tail = self.tail()
            self._stretches.flush()
            return [*tail, Flush(None)]
        utterance = f"s{self._stretches.number}"
        if frame.kind == "message":
            return self._rtvi.events(frame.text, utterance)
        return [Said(frame.text, "user") if frame.kind == "transcription" else Said(frame.text, id=utterance)]

    def _sound(self, frame: Frame) -> list[Happening]:
        wav = frame.audio[:4] == b"RIFF"
        if frame.channels != 1 or frame.rate not in RATES:
            # Left out, it would make a bot that speaks a silent one.
            what = f"{frame.channels} channels at {frame.rate} samples a second"
            raise ConversationError(f"the bot sends sound of {what}, expected one channel (audio_out_channels=1)")
        tail: list[Happening] = []
        if self._incoming is None or (self._incoming.coding == "wav") != wav or self._incoming.rate != frame.rate:
            tail = self.tail()
            self._incoming = Incoming("wav" if wav else "pcm16", frame.rate, self._system.rate_out)
        return [*tail, self._chunk(self._incoming.take(frame.audio))]

    def _chunk(self, samples: Samples) -> Chunk:
        return Chunk(samples, self._stretches.take(len(samples)))

    def tail(self) -> list[Happening]:
        """Return what still waited to become samples."""
        rest = self._incoming.end() if self._incoming else None
        return [] if rest is None or not len(rest) else [self._chunk(rest)]


__all__ = ["FRAME", "RATE_IN", "RATE_OUT", "Pipecat", "Talking"]
