"""Systems that do what they are told, to the microsecond: known answers for everything that measures.

A scripted system says named sounds at named times, or answers a stated delay after the user
ceases to speak, and stops a stated delay after it is interrupted, or never. It hears the user
by loudness alone. Whoever plants a delay here has to find that delay in the report.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fullduplex.driving.link import Closed, Happening, Position, Ready, Said, Traits
from fullduplex.driving.playout import Chunk, Flush, Samples
from fullduplex.errors import InputError
from fullduplex.model.spans import SECOND, in_seconds, ms
from fullduplex.model.spec import Spec, digest


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sound:
    """Audio with its words, ``(text, start, end)`` in microseconds from its beginning."""

    samples: Samples
    text: str = ""
    words: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Say:
    """Say ``sound`` at ``at`` on the session clock, whatever the user does."""

    sound: Sound
    at: int


@dataclass(frozen=True, slots=True)
class Answer:
    """Say ``sound`` once the user has been silent for ``delay``, but not before ``not_before``.

    Without ``not_before`` any silence as long as ``delay`` is an end of turn. With it the
    system knows better than its ears: what the user says before that moment is not all. Answers
    are given in the order of the script, one to a silence; ``again`` keeps the answer for the next one too.
    """

    sound: Sound
    delay: int
    not_before: int = 0
    again: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """What a scripted system does; times in microseconds.

    ``yields``: how long after the user's onset it stops when it is interrupted; None talks
    through. ``closes``: when it ends the talk, or None. ``rate``: of all its sounds.
    """

    lines: tuple[Say | Answer, ...] = ()
    yields: int | None = None
    closes: int | None = None
    rate: int = 24_000

    def to_json(self) -> dict[str, Any]:
        """Return what the script does, without its audio."""
        return {
            "lines": [_line_to_json(line) for line in self.lines],
            "yields": None if self.yields is None else in_seconds(self.yields),
            "closes": None if self.closes is None else in_seconds(self.closes),
            "rate": self.rate,
        }


def _line_to_json(line: Say | Answer) -> dict[str, Any]:
    sound = hashlib.sha256(np.ascontiguousarray(line.sound.samples, "<f4").tobytes()).hexdigest()
    told: dict[str, Any] = {"says": line.sound.text, "samples": len(line.sound.samples), "sha256": sound}
    if isinstance(line, Say):
        return told | {"at": in_seconds(line.at)}
    return told | {"delay": in_seconds(line.delay), "not_before": in_seconds(line.not_before), "again": line.again}


@dataclass(frozen=True, slots=True)
class Scripted:
    """A system that follows ``script``.

    ``chunk`` (20-80 ms in practice) is the length of what it sends at a time. With ``burst`` a
    whole sound is sent the moment it begins, as many servers do, and what is left of it is taken
    back by a flush; without, chunks come in real time, none ahead of it, and it stops by sending no
    more: on the wall clock a chunk that comes late then leaves a gap, as it would from any such server.
    A sample of the user louder than ``audible`` is speech; silences shorter than ``bridge``
    belong to it, and so do not make what follows an interruption.
    """

    script: Script = field(default_factory=Script)
    name: str = "scripted"
    chunk: int = ms(40)
    burst: bool = False
    rate_in: int = 16_000
    audible: float = 10 ** (-50 / 20)
    bridge: int = ms(200)

    def __post_init__(self) -> None:
        if self.chunk <= 0:
            raise InputError(self.name, "chunk", found=self.chunk, expected="a length above 0")

    @property
    def spec(self) -> Spec:
        """Return the name with the digest of the script and all options."""
        options: Mapping[str, Any] = {
            "script": digest(self.script.to_json()),
            "chunk": in_seconds(self.chunk),
            "burst": self.burst,
        }
        return Spec(self.name, options, "1")

    @property
    def traits(self) -> Traits:
        """Return that the virtual clock is safe and whether audio comes ahead of time."""
        return Traits(
            self.rate_in,
            self.script.rate,
            timing="burst" if self.burst else "paced",
            flush="all" if self.burst else "none",
            virtual=True,
            source="utterance",
        )

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[_Link]:
        """Open a talk. ``prompt`` is not read."""
        link = _Link(self)
        try:
            yield link
        finally:
            link.stop()


class _Link:
    """One talk: an ear that follows the user, and a mouth that follows the script."""

    def __init__(self, system: Scripted) -> None:
        self.system, self.script = system, system.script
        self.ready = Ready(system.spec.to_json())
        self.loop = asyncio.get_running_loop()
        # The driver's first captured sample is the moment at which the talk is open.
        self.began = self.loop.time()
        self.out: asyncio.Queue[Happening] = asyncio.Queue()
        self.answers = [line for line in self.script.lines if isinstance(line, Answer)]
        self.timers: list[asyncio.TimerHandle] = []
        self.pending: asyncio.TimerHandle | None = None
        self.speaking: asyncio.Task[None] | None = None
        self.stops_at: int | None = None
        self.samples, self.utterances = 0, 0
        self.user_until: int | None = None
        self.answered = True
        for line in self.script.lines:
            if isinstance(line, Say):
                self.at(line.at, lambda sound=line.sound: self.say(sound))
        if self.script.closes is not None:
            self.at(self.script.closes, lambda: self.out.put_nowait(Closed("as scripted")))

    def now(self) -> int:
        return round((self.loop.time() - self.began) * SECOND)

    def at(self, time: int, action: Any) -> asyncio.TimerHandle:
        handle = self.loop.call_at(self.began + time / SECOND, action)
        self.timers.append(handle)
        return handle

    def stop(self) -> None:
        for timer in self.timers:
            timer.cancel()
        if self.speaking:
            self.speaking.cancel()

    async def __aiter__(self) -> AsyncIterator[Happening]:
        while True:
            event = await self.out.get()
            yield event
            if isinstance(event, Closed):
                return

    async def send(self, frame: Samples) -> None:
        rate = self.system.rate_in
        loud = np.flatnonzero(np.abs(frame) > self.system.audible)
        if len(loud):
            first = (self.samples + int(loud[0])) * SECOND // rate
            if self.user_until is None or first - self.user_until >= self.system.bridge:
                self.interrupted(first)
            self.user_until = (self.samples + int(loud[-1]) + 1) * SECOND // rate
            self.await_silence(self.user_until)
        self.samples += len(frame)

    async def heard(self, position: Position) -> None:
        return

    async def finish(self) -> None:
        return

    def interrupted(self, onset: int) -> None:
        """Note that the user began at ``onset``, and stop in time if told to."""
        if self.script.yields is not None and self.speaking and not self.speaking.done():
            self.stops_at = onset + self.script.yields
            if self.system.burst:
                self.at(self.stops_at, self.take_back)

    def take_back(self) -> None:
        if self.speaking and not self.speaking.done():
            self.speaking.cancel()
            self.out.put_nowait(Flush())

    def await_silence(self, until: int) -> None:
        """Answer once the silence that began at ``until`` is long enough."""
        if self.pending:
            self.pending.cancel()
            self.pending = None
        if self.answers and until >= self.answers[0].not_before:
            self.pending = self.at(until + self.answers[0].delay, self.answer)

    def answer(self) -> None:
        if self.speaking and not self.speaking.done():
            return
        line = self.answers[0]
        self.answers = self.answers[1:] + ([line] if line.again else [])
        self.say(line.sound)

    def say(self, sound: Sound) -> None:
        if self.speaking and not self.speaking.done():
            return
        self.stops_at = None
        self.utterances += 1
        self.speaking = self.loop.create_task(self.emit(sound, f"u{self.utterances}", self.now()))

    async def emit(self, sound: Sound, id: str, began: int) -> None:
        rate = self.script.rate
        size = max(1, self.system.chunk * rate // SECOND)
        self.out.put_nowait(Said(sound.text, "system", id, sound.words))
        for first in range(0, len(sound.samples), size):
            source = first * SECOND // rate
            part = sound.samples[first : first + size]
            if not self.system.burst:
                await asyncio.sleep(max(0.0, self.began + (began + source) / SECOND - self.loop.time()))
                if self.stops_at is not None:
                    part = part[: max(0, (self.stops_at - began) * rate // SECOND - first)]
                    if not len(part):
                        return
            self.out.put_nowait(Chunk(part, id, self.utterances, source))
        if self.system.burst:
            # It is speaking for as long as the listener hears it.
            await asyncio.sleep(len(sound.samples) / rate)
