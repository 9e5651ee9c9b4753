"""The talker of the loopback server: it speaks watermark as its behaviour says, on whatever clock its loop keeps.

It knows no sockets. The server and its twin in memory give it what the client sent and carry off what it says,
so one and the same talker is driven on the wall clock and on the virtual one.
"""

from __future__ import annotations

import asyncio
import json
import struct
from array import array
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np

from fullduplex.model.spans import SECOND, in_seconds, ms, seconds
from fullduplex.once import once_per_process
from fullduplex.systems.incoming import mulaw_encoded
from fullduplex.systems.loopback import HEADER, HEARD, LAST, SYSTEM_AUDIO, USER_AUDIO
from fullduplex.testing.behaviour import Behaviour, Utterance
from fullduplex.testing.ogg import ogg_opus
from fullduplex.testing.watermark import BLOCK, watermark

#: The user is speaking where a sample is louder than this (-50 dB of full scale).
AUDIBLE = 10 ** (-50 / 20)
#: A shorter silence of the user belongs to the speech around it.
BRIDGE = ms(200)
#: How much audio a flood is: more than any driver should queue.
FLOOD = seconds(700)

Give = Callable[[str | bytes], Awaitable[None]]


class Reset(Exception):
    """The talker breaks the connection off."""


@once_per_process
def pieces(behaviour: Behaviour, block: int, length: int) -> tuple[bytes, ...]:
    """Return ``length`` of watermark from ``block`` on, cut in chunks and coded as ``behaviour`` says."""
    rate, chunk = behaviour.rate, behaviour.chunk
    samples = watermark(-(-length // BLOCK), rate, block)[: length * rate // SECOND]
    size = max(1, chunk * rate // SECOND)
    if behaviour.coding == "wav":
        return tuple(_wav(_coded("pcm16", samples[i : i + size]), rate) for i in range(0, len(samples), size))
    data = _coded(behaviour.coding, samples)
    width = len(data) // len(samples)
    step = size * width
    if behaviour.odd:
        # Every other cut falls inside a sample.
        cuts = [i * step + (i % 2) * (i * step < len(data)) for i in range(-(-len(data) // step))]
        return tuple(data[a:b] for a, b in zip(cuts, [*cuts[1:], len(data)], strict=True))
    return tuple(data[i : i + step] for i in range(0, len(data), step))


@once_per_process
def opus_stream(behaviour: Behaviour) -> list[tuple[int, bytes]]:
    """Return all that is said, with the silence between, as the messages of one Ogg-Opus stream, each with its time."""
    rate = behaviour.rate
    ends = max((said.at + said.length for said in behaviour.say), default=0) + seconds(0.5)
    sound = np.zeros(ends * rate // SECOND, np.float32)
    for said in behaviour.say:
        first = said.at * rate // SECOND
        part = watermark(-(-said.length // BLOCK), rate, said.block)[: said.length * rate // SECOND]
        sound[first : first + len(part)] = part
    return ogg_opus(sound, rate, behaviour.opus)


@once_per_process
def _sounding(rate: int, block: int, length: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    return watermark(-(-length // BLOCK), rate, block)


def prepare(behaviour: Behaviour) -> None:
    """Make the audio that will be asked for, so that nobody waits for it in a talk."""
    if behaviour.coding == "opus":
        opus_stream(behaviour)
        return
    for said in behaviour.say:
        if behaviour.pace == "sync":
            _sounding(behaviour.rate, said.block, said.length)
        else:
            pieces(_audio_of(behaviour), said.block, said.length)


def _coded(coding: str, samples: np.ndarray[Any, np.dtype[np.float32]]) -> bytes:
    if coding == "mulaw":
        return mulaw_encoded(samples)
    if coding == "f32":
        return bytes(samples.astype("<f4").tobytes())
    return bytes(np.rint(samples * 32_767).astype("<i2").tobytes())


def _wav(data: bytes, rate: int) -> bytes:
    format = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16)
    return (
        struct.pack("<4sI4s", b"RIFF", 36 + len(data), b"WAVE")
        + format
        + struct.pack("<4sI", b"data", len(data))
        + data
    )


class Talker:
    """One talk, from the moment it is started.

    ``give`` carries a message to the client, and ``raw`` one of the behaviour's ``messages``, as it stands.
    """

    def __init__(self, behaviour: Behaviour, give: Give, rate_in: int, raw: Give | None = None) -> None:
        self.behaviour, self.give, self.rate_in = behaviour, give, rate_in
        self.raw = raw or give
        self.loop = asyncio.get_running_loop()
        self.began = self.loop.time()
        self.rng = np.random.default_rng(behaviour.seed)
        self.tasks: set[asyncio.Task[None]] = set()
        self.failed: asyncio.Future[None] = self.loop.create_future()
        self.speaking: dict[int, asyncio.Task[None]] = {}
        self.utterances, self.number, self.epoch = 0, 0, 0
        self.queue: deque[tuple[int, int, bytes]] = deque()
        self.sent: dict[int, int] = {}
        # What the client did.
        self.arrivals, self.frames, self.lost_frames, self.samples = array("q"), 0, 0, 0
        self.acks, self.acks_beyond, self.pings, self.pongs = 0, 0, 0, 0
        self.finished_at: int | None = None
        self.user_until: int | None = None
        self.answering: asyncio.TimerHandle | None = None
        self.listens = behaviour.answer is not None or behaviour.yields is not None
        self.computing: asyncio.Queue[tuple[int, bytes]] = asyncio.Queue()
        #: A frame-for-frame talker says nothing more of what it began before, from then on.
        self.quiet_from: int | None = None
        #: What a frame-for-frame talker answers: it is in the frames that it gives from then on.
        self.answers: list[Utterance] = []

    def now(self) -> int:
        """Return the microseconds since it was ready."""
        return round((self.loop.time() - self.began) * SECOND)

    async def until(self, time: int) -> None:
        """Return at ``time``."""
        await asyncio.sleep(max(0.0, self.began + time / SECOND - self.loop.time()))

    def start(self) -> None:
        """Begin the talk, and everything in it that happens at its time."""
        self.began = self.loop.time()
        b = self.behaviour
        if b.coding == "opus":
            self.run(self.stream())
        elif b.pace not in ("sync", "echo"):
            for said in b.say:
                self.run(self.at(said.at, self.speak, said))
            if b.silence:
                self.run(self.silences())
        if b.pace == "sync":
            self.run(self.compute())
        for time, scope in b.flushes:
            self.run(self.at(time, self.flush, scope))
        for sent in b.messages:
            self.run(self.at(sent.at, self.raw, sent.message))
        if b.closes is not None:
            self.run(self.at(b.closes, self.close))
        if b.resets is not None:
            self.run(self.at(b.resets, self.reset))
        if b.floods is not None:
            self.run(self.at(b.floods, self.flood))
        if b.words:
            self.run(self.count())
        if b.ping:
            self.run(self.ask())

    def run(self, work: Any) -> asyncio.Task[None]:
        """Do ``work`` beside the rest; what it raises ends the talk."""
        task: asyncio.Task[None] = self.loop.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.over)
        return task

    def over(self, task: asyncio.Task[None]) -> None:
        """Let what ``task`` raised end the talk."""
        self.tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and not self.failed.done():
            self.failed.set_exception(error)

    def stop(self) -> None:
        """End everything."""
        for task in list(self.tasks):
            task.cancel()
        if self.answering:
            self.answering.cancel()
        if not self.failed.cancel() and not self.failed.cancelled():
            # What fails from now on fails because it is over.
            self.failed.exception()

    async def at(self, time: int, work: Callable[..., Awaitable[None]], *given: Any) -> None:
        """Do ``work`` at ``time``."""
        await self.until(time)
        await work(*given)

    # What it says.

    async def say(self, id: int, epoch: int, source: int, data: bytes, flags: int = 0) -> None:
        """Send a piece of audio."""
        number, self.number = self.number, self.number + 1
        if number in self.behaviour.lost:
            return
        await self.give(HEADER.pack(SYSTEM_AUDIO, flags, epoch, number, id, source) + data)

    async def speak(self, said: Utterance) -> None:
        """Begin an utterance of a new id and epoch."""
        self.utterances += 1
        self.epoch += 1
        task = self.run(self.utter(said, self.utterances, self.epoch))
        self.speaking = {self.utterances: task}

    async def utter(self, said: Utterance, id: int, epoch: int) -> None:
        """Send an utterance at the behaviour's pace."""
        b = self.behaviour
        parts = pieces(_audio_of(b), said.block, said.length)
        began, source = self.now(), said.block * BLOCK
        if b.pace == "per-input":
            self.queue.extend((id, source + i * b.chunk, part) for i, part in enumerate(parts))
            try:
                while self.queue:
                    await asyncio.sleep(b.chunk / SECOND)
                await self.until(began + said.length)
            finally:
                # Where it is interrupted, what is left is never sent.
                self.queue = deque(entry for entry in self.queue if entry[0] != id)
            return
        step = b.chunk / b.burst if b.pace == "burst" else float(b.chunk)
        due = began
        for i, part in enumerate(parts):
            late = int(self.rng.integers(0, b.jitter + 1)) if b.jitter else 0
            due = max(due, began + round(i * step) + late)
            await self.until(due)
            self.sent[id] = self.sent.get(id, 0) + min(b.chunk, said.length - i * b.chunk)
            await self.say(id, epoch, source + i * b.chunk, part, LAST if i == len(parts) - 1 else 0)
        if b.done:
            await self.give(json.dumps({"type": "note", "kind": "response.done", "data": {"id": f"u{id}"}}))
        # It is speaking for as long as the listener hears it.
        await self.until(began + said.length)

    async def silences(self) -> None:
        """Fill what no utterance fills with silence."""
        b = self.behaviour
        data = _coded(b.coding, np.zeros(b.chunk * b.rate // SECOND, np.float32))
        said = [(u.at, u.at + u.length) for u in b.say]
        for i in range(seconds(3_600) // b.chunk):
            await self.until(i * b.chunk)
            if not any(start < (i + 1) * b.chunk and i * b.chunk < end for start, end in said):
                await self.say(0, 0, -1, data)

    async def stream(self) -> None:
        """Send all that is said as one Ogg-Opus stream, silence in between."""
        for due, data in opus_stream(self.behaviour):
            await self.until(due)
            await self.say(0, 0, -1, data)

    async def flush(self, scope: str | int | None) -> None:
        """Take back what was said, but for ``late`` chunks that are under way."""
        b = self.behaviour
        speaking, self.speaking = self.speaking, {}
        for task in speaking.values():
            task.cancel()
        await self.give(json.dumps({"type": "flush", "scope": scope}))
        for id in speaking:
            for _ in range(b.late):
                await asyncio.sleep(b.chunk / SECOND)
                await self.say(id, self.epoch, 0, pieces(_audio_of(b), 0, b.chunk)[0])

    async def close(self) -> None:
        """End the talk in words."""
        await self.give(json.dumps({"type": "close", "reason": self.behaviour.reason}))

    async def reset(self) -> None:
        """Break the connection off."""
        raise Reset

    async def flood(self) -> None:
        """Send far more audio than can be heard."""
        piece = bytes(10 * self.behaviour.rate * 2)
        for _ in range(FLOOD // seconds(10)):
            await self.say(9, 0, -1, piece)

    async def count(self) -> None:
        """Say a word at a time, with the time on its own clock."""
        n = 0
        while True:
            n += 1
            time = n * self.behaviour.words
            await self.until(time)
            source = in_seconds(round(time * (1 + self.behaviour.drift)))
            await self.give(json.dumps({"type": "said", "text": f"word {n}", "source": source}))

    async def ask(self) -> None:
        """Ask whether the client lives, and close where it does not answer in time."""
        b = self.behaviour
        while True:
            await asyncio.sleep(b.ping / SECOND)
            self.pings += 1
            await self.give(json.dumps({"type": "ping", "n": self.pings}))
            await asyncio.sleep(b.pong / SECOND)
            if self.pongs < self.pings:
                await self.give(json.dumps({"type": "close", "reason": "no answer to a ping in time"}))

    # What it hears.

    async def hear(self, message: str | bytes) -> dict[str, Any] | None:
        """Take a message of the client; return the report where it takes leave."""
        if isinstance(message, bytes):
            if len(message) >= HEADER.size:
                _, _, _, number, id, source = HEADER.unpack_from(message)
                if message[0] == USER_AUDIO:
                    await self.frame(number, message)
                elif message[0] == HEARD:
                    self.acks += 1
                    self.acks_beyond += source > self.sent.get(id, 0)
            return None
        try:
            told = json.loads(message)
        except ValueError:
            told = None
        kind = told.get("type") if isinstance(told, dict) else None
        if kind == "pong":
            self.pongs = max(self.pongs, int(told.get("n") or 0))
        elif kind == "finish":
            self.finished_at = self.now()
        elif kind == "leave":
            return self.report()
        return None

    async def frame(self, number: int, message: bytes) -> None:
        """Take a frame of the user."""
        self.arrivals.append(self.now())
        self.lost_frames += number != self.frames
        self.frames = number + 1
        b = self.behaviour
        if self.listens:
            self.listen(message)
        size = (len(message) - HEADER.size) // 2
        first = self.samples
        self.samples += size
        if b.pace == "sync":
            if number not in b.drops:
                self.computing.put_nowait((first * SECOND // self.rate_in, message))
        elif b.pace == "per-input" and self.queue:
            id, source, data = self.queue.popleft()
            self.sent[id] = self.sent.get(id, 0) + b.chunk
            await self.say(id, self.epoch, source, data)
        elif b.pace == "echo":
            await self.say(1, 0, first * SECOND // self.rate_in, message[HEADER.size :])

    async def compute(self) -> None:
        """Give an output frame for each input frame, but for a first that primes, after the time that it takes."""
        b, previous = self.behaviour, -1
        while True:
            time, message = await self.computing.get()
            size = (len(message) - HEADER.size) // 2
            length = size * SECOND // self.rate_in
            if b.rtf:
                await asyncio.sleep(b.rtf * length / SECOND)
            if b.jitter:
                await asyncio.sleep(float(self.rng.integers(0, b.jitter + 1)) / SECOND)
            if previous >= 0 or not b.primes:
                source = time - length if b.primes else time
                self.sent[1] = self.sent.get(1, 0) + length
                await self.say(1, 0, source, self.continuous(source, length))
            previous = time

    def continuous(self, source: int, length: int) -> bytes:
        """Return ``length`` of output that belongs to ``source``: watermark while it says something, else silence."""
        rate = self.behaviour.rate
        sound = np.zeros(length * rate // SECOND, np.float32)
        for said in (*self.behaviour.say, *self.answers):
            first, last = max(said.at, source), min(self.ends(said), source + length)
            if first < last:
                skip = first - said.at
                whole = _sounding(rate, said.block, said.length)
                part = whole[skip * rate // SECOND :][: (last - first) * rate // SECOND]
                at = (first - source) * rate // SECOND
                sound[at : at + len(part)] = part[: len(sound) - at]
        return _coded(self.behaviour.coding, sound)

    def ends(self, said: Utterance) -> int:
        """Return when an utterance of a frame-for-frame talker ends, that may have been interrupted."""
        end, quiet = said.at + said.length, self.quiet_from
        return quiet if quiet is not None and said.at <= quiet < end else end

    def listen(self, message: bytes) -> None:
        """Follow the user by loudness: notice onsets, and the ends of what is long enough to answer."""
        heard = memoryview(message)[HEADER.size :].cast("h")
        level = int(AUDIBLE * 32_768)
        if not len(heard) or max(max(heard), -min(heard)) <= level:
            return
        loud = [i for i, value in enumerate(heard) if abs(value) > level]
        onset = (self.samples + loud[0]) * SECOND // self.rate_in
        if self.user_until is None or onset - self.user_until >= BRIDGE:
            self.interrupted(onset)
        self.user_until = (self.samples + loud[-1] + 1) * SECOND // self.rate_in
        if self.behaviour.answer is not None:
            if self.answering:
                self.answering.cancel()
            due = self.began + (self.user_until + self.behaviour.answer) / SECOND
            self.answering = self.loop.call_at(due, lambda: self.run(self.reply()))

    def interrupted(self, onset: int) -> None:
        """Stop in time where the user began at ``onset`` while it was speaking."""
        b = self.behaviour
        if b.pace == "sync" and b.yields is not None:
            if any(said.at <= onset < said.at + said.length for said in (*b.say, *self.answers)):
                self.quiet_from = onset + b.yields
            return
        if b.yields is None or not any(not task.done() for task in self.speaking.values()):
            return
        id = next(iter(self.speaking))
        scope = {"id": f"u{id}", "epoch": self.epoch}.get(b.flush)
        self.run(self.at(onset + b.yields, self.quieten, scope))

    async def quieten(self, scope: str | int | None) -> None:
        """Stop speaking, with a flush where it sends one."""
        if self.behaviour.flush != "none":
            await self.flush(scope)
            return
        for task in self.speaking.values():
            task.cancel()
        self.speaking = {}

    async def reply(self) -> None:
        """Answer, with blocks that no utterance before had."""
        b = self.behaviour
        said = sum(-(-u.length // BLOCK) for u in b.say) + self.utterances * -(-b.answer_length // BLOCK)
        answer = Utterance(self.now(), b.answer_length, said)
        if b.pace == "sync":
            self.utterances += 1
            self.answers.append(answer)
            return
        await self.speak(answer)

    def report(self) -> dict[str, Any]:
        """Return what the client did, as JSON; times in microseconds."""
        return {
            "frames": len(self.arrivals),
            "lost_frames": self.lost_frames,
            "arrivals": list(self.arrivals),
            "acks": self.acks,
            "acks_beyond": self.acks_beyond,
            "pings": self.pings,
            "pongs": self.pongs,
            "sent": sum(self.sent.values()),
            "finished_at": self.finished_at,
        }


def _audio_of(behaviour: Behaviour) -> Behaviour:
    """Return the behaviour with only what changes the audio, so that talks share what is prepared."""
    return Behaviour(rate=behaviour.rate, coding=behaviour.coding, chunk=behaviour.chunk, odd=behaviour.odd)
