"""One talk of the cascade: it listens all the time, and answers, is interrupted, and listens on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fullduplex.driving.clock import clock_of, took
from fullduplex.driving.link import Happening, Note, Position, Ready, Said, UserVad
from fullduplex.driving.playout import Flush, Samples, sample_at
from fullduplex.errors import ConversationError, FullDuplexError
from fullduplex.model.spans import SECOND, in_seconds, ms, seconds
from fullduplex.providers.language_models import Message
from fullduplex.providers.voices import Spoken
from fullduplex.systems.cascade.clauses import Clauses
from fullduplex.systems.cascade.ears import RATE, Talker, Windows
from fullduplex.systems.cascade.exchange import Exchange, conversation
from fullduplex.systems.cascade.mouth import Mouth
from fullduplex.systems.cascade.parts import PROMPTS, Parts
from fullduplex.systems.cascade.stages import Stages
from fullduplex.systems.cascade.writer import Writer

if TYPE_CHECKING:
    from fullduplex.systems.cascade import Cascade

#: Two silent windows end a stretch of speech.
HANG = ms(64)
#: Audio before a turn's first window goes to the recogniser too: onsets are soft.
LEAD = ms(300)
#: A turn with less speech than this is a noise and gets no answer.
LEAST = ms(96)
#: A pause in which a backchannel may come, where no turn detector is asked.
PAUSE = ms(128)
#: So many exchanges are remembered.
REMEMBERED = 8
_TIMES = {"wall": "real", "step-honest": "measured", "step-algorithmic": "declared", "virtual": "none"}


class Link:
    """An open talk: frames in, audio and notes out."""

    def __init__(self, cascade: Cascade, parts: Parts, session: Any, prompt: str) -> None:
        self.cascade, self.parts = cascade, parts
        self.loop = asyncio.get_running_loop()
        self.began = self.loop.time()
        clock = clock_of(self.loop)
        self.ready = Ready({**cascade.spec.to_json(), "fed": "streamed", "stage_times": _TIMES[clock]})
        self.instruction = prompt or PROMPTS.get(cascade.language, PROMPTS["en"])
        self.frames: asyncio.Queue[Samples] = asyncio.Queue()
        self.out: asyncio.Queue[Happening | ConversationError] = asyncio.Queue()
        self.windows, self.talker = Windows(session), Talker(HANG)
        self.tape, self.tape_from = np.zeros(0, np.float32), 0
        # The user's turn that goes on: where it began, and how much of it was speech.
        self.turn_began: int | None = None
        self.voiced = 0
        self.asked = False
        self.exchanges: list[Exchange] = []
        self.turns = 0
        self.position: Position | None = None
        self.backchannelled = 0
        self.mouth = Mouth(cascade, parts.voice, self.out.put_nowait, self.now)
        self.answering: asyncio.Task[None] | None = None
        self.tasks: set[asyncio.Task[None]] = set()
        self.start(self.listen())

    # What the driver calls.

    async def send(self, frame: Samples) -> None:
        """Take the next frame."""
        self.frames.put_nowait(frame)

    async def heard(self, position: Position) -> None:
        """Take note of what the listener has heard."""
        self.position = position

    async def finish(self) -> None:
        """Take note that no frame will come; what was said in full is still answered."""

    async def __aiter__(self) -> AsyncIterator[Happening]:
        """Yield what it says and does; raises :class:`ConversationError` where a part fails."""
        while True:
            event = await self.out.get()
            if isinstance(event, ConversationError):
                raise event
            yield event

    async def stop(self) -> None:
        """End everything that still goes on."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def now(self) -> int:
        """Return the time on the talk's clock."""
        return round((self.loop.time() - self.began) * SECOND)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Let ``work`` go on beside the talk, until it is done or the talk ends."""
        task = self.loop.create_task(self.guarded(work))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def guarded(self, work: Coroutine[Any, Any, None]) -> None:
        """Do ``work``; where it fails, so does the talk, in one sentence."""
        try:
            await work
        except FullDuplexError as error:
            self.out.put_nowait(ConversationError(str(error)))
        except Exception as error:  # noqa: BLE001  a part may raise anything, and the talk must end with it
            self.out.put_nowait(ConversationError(f"a part failed: {type(error).__name__}: {error}"))

    # Listening.

    async def listen(self) -> None:
        """Hear every frame that comes, as long as the talk lasts."""
        while True:
            frames = [await self.frames.get()]
            while not self.frames.empty():
                frames.append(self.frames.get_nowait())
            sound = np.concatenate(frames)
            self.tape = np.concatenate([self.tape, sound])
            declared = seconds(self.cascade.declared_window) * self.windows.ready(len(sound))
            heard, _ = await took(partial(self.windows.hear, sound), declared)
            for probability in heard:
                self.take(probability)
            self.forget()

    def take(self, probability: float) -> None:
        """Take one window of the user: is there something to do now?"""
        talker = self.talker
        before = talker.until
        edge = talker.hear(probability)
        if edge is not None:
            self.out.put_nowait(UserVad(edge, talker.since if edge else talker.until))
        if edge:
            self.asked = False
            if self.turn_began is None:
                self.turn_began, self.voiced = talker.since, 0
        if talker.until > before:
            self.voiced += talker.until - max(before, talker.since or 0)
        if self.active():
            self.overlap(edge)
        elif self.turn_began is not None:
            self.pause()

    def active(self) -> bool:
        """Return whether it thinks or speaks."""
        busy = self.answering is not None and not self.answering.done()
        return busy or (bool(self.exchanges) and self.now() < self.exchanges[-1].until)

    def overlap(self, edge: bool | None) -> None:
        """The user speaks while it is active: yield, or take it for nothing once it is over."""
        talker, cascade = self.talker, self.cascade
        if cascade.interruptible and talker.speaking and talker.spoken >= seconds(cascade.barge_in):
            self.yield_floor()
        elif edge is False and self.turn_began is not None:
            self.note("overlap", began=in_seconds(self.turn_began), ended=in_seconds(talker.until))
            self.turn_began = None

    def pause(self) -> None:
        """The user is silent, perhaps: is the turn over?"""
        cascade, silence = self.cascade, self.talker.silence
        if self.parts.turns is None:
            if silence >= seconds(cascade.silence):
                self.end_turn()
            elif silence >= PAUSE and not self.asked:
                self.asked = True
                self.backchannel_if_due()
        elif silence >= seconds(cascade.patience):
            self.end_turn()
        elif silence >= seconds(cascade.ask_after) and not self.asked:
            self.asked = True
            self.start(self.ask_detector())

    async def ask_detector(self) -> None:
        """Ask the turn detector whether this pause ends the turn; heed it if the pause still goes on then."""
        assert self.parts.turns is not None and self.turn_began is not None
        detector, until = self.parts.turns, self.talker.until
        sound = self.sound_of(self.turn_began)
        finished, spent = await took(lambda: detector.finished(sound), seconds(self.cascade.declared_turns))
        self.note("turn_detector", finished=round(finished, 4), took=in_seconds(spent), silent_since=in_seconds(until))
        if self.talker.until != until or self.turn_began is None or self.active():
            return
        if finished >= self.cascade.finished_at:
            self.end_turn()
        else:
            self.backchannel_if_due()

    def sound_of(self, began: int) -> Samples:
        """Return the user's audio from a little before ``began`` until now."""
        return self.tape[max(0, sample_at(max(0, began - LEAD), RATE) - self.tape_from) :]

    def forget(self) -> None:
        """Drop audio that nobody will ask for again."""
        needed = self.turn_began if self.turn_began is not None else self.talker.now
        if self.exchanges and self.exchanges[-1].first is None:
            needed = min(needed, self.exchanges[-1].began)
        drop = sample_at(max(0, needed - 2 * LEAD), RATE) - self.tape_from
        if drop > 10 * RATE or (self.turn_began is None and drop > RATE):
            self.tape, self.tape_from = self.tape[drop:], self.tape_from + drop

    # Turns.

    def end_turn(self) -> None:
        """The user's turn is over: answer it."""
        assert self.turn_began is not None
        began, self.turn_began = self.turn_began, None
        if self.voiced < LEAST:
            self.note("noise", began=in_seconds(began), ended=in_seconds(self.talker.until))
            return
        self.turns += 1
        self.backchannelled = 0
        exchange = Exchange(self.turns, began, self.talker.until)
        self.exchanges = [*self.exchanges[-REMEMBERED:], exchange]
        self.answering = self.start(self.answer(exchange, self.sound_of(began)))

    def yield_floor(self) -> None:
        """Stop: take back what has not sounded, and remember only what was heard."""
        exchange, at = self.exchanges[-1], self.now()
        if self.answering is not None:
            self.answering.cancel()
            self.answering = None
        if exchange.first is None:
            # It had thought the turn to be over, and had said nothing: what the user says belongs to that turn.
            self.exchanges.pop()
            self.turn_began, self.voiced = exchange.began, self.voiced + LEAST
            self.note("withdrawn", turn=exchange.number)
            return
        exchange.played, exchange.until = self.played(exchange, at), at
        self.out.put_nowait(Flush(exchange.id))
        self.note("interrupted", turn=exchange.number, heard=exchange.heard, played=in_seconds(exchange.played))

    def played(self, exchange: Exchange, at: int) -> int:
        """Return how much of the reply was heard: as the listener says, else by the clock."""
        if self.position is None:
            assert exchange.first is not None
            return min(exchange.length, max(0, at - exchange.first))
        return self.position.played if self.position.id == exchange.id else 0

    # Answering.

    async def answer(self, exchange: Exchange, sound: Samples) -> None:
        """Recognise, write, speak: the reply to one turn."""
        cascade, parts = self.cascade, self.parts
        stages = Stages(exchange.number, exchange.ended, self.now())
        declared = cascade.declared_recogniser + cascade.declared_recogniser_second * len(sound) / RATE
        heard, _ = await took(lambda: parts.recogniser.recognise(sound, RATE, cascade.language), seconds(declared))
        exchange.text = " ".join(token.text for token in heard.tokens)
        stages.recognised(self.now())
        if not exchange.text:
            self.exchanges.remove(exchange)
            self.note("stage", **stages.to_json(), why="no words were recognised")
            return
        self.out.put_nowait(Said(exchange.text, "user", source=exchange.began))
        pieces: asyncio.Queue[str | None] = asyncio.Queue()
        voiced: asyncio.Queue[tuple[str, Spoken] | None] = asyncio.Queue()
        # While one piece sounds, the next is spoken and the one after it is written.
        working = [
            self.loop.create_task(self.write(conversation(self.instruction, self.exchanges), pieces, stages)),
            self.loop.create_task(self.voice(pieces, voiced)),
        ]
        try:
            while (piece := await voiced.get()) is not None:
                if exchange.first is None:
                    stages.spoke(self.now())
                    self.note("stage", **stages.to_json())
                await self.mouth.utter(exchange, *piece)
            await asyncio.gather(*working)
        finally:
            for task in working:
                task.cancel()
            await asyncio.gather(*working, return_exceptions=True)
        if exchange.first is None:
            self.exchanges.remove(exchange)
            self.note("stage", **stages.to_json(), why="nothing was written that can be spoken")

    async def write(self, messages: list[Message], pieces: asyncio.Queue[str | None], stages: Stages) -> None:
        """Let the model write, and pass on each piece that can be spoken."""
        cascade, clauses = self.cascade, Clauses()
        writer = Writer(lambda: self.parts.model.reply(messages, limit=int(cascade.limit)))
        reads = sum(len(message.text) for message in messages)
        declared = seconds(cascade.declared_first_token + cascade.declared_prompt_character * reads)
        try:
            while (text := (await took(writer.next, declared))[0]) is not None:
                stages.wrote(self.now())
                declared = seconds(cascade.declared_token)
                for piece in clauses.add(text):
                    stages.cut(self.now())
                    pieces.put_nowait(piece)
            for piece in clauses.end():
                stages.cut(self.now())
                pieces.put_nowait(piece)
        finally:
            writer.stop()
            pieces.put_nowait(None)

    async def voice(self, pieces: asyncio.Queue[str | None], voiced: asyncio.Queue[tuple[str, Spoken] | None]) -> None:
        """Let the voice speak each piece, in order."""
        try:
            while (text := await pieces.get()) is not None:
                spoken = await self.mouth.speak(text)
                if spoken is not None:
                    voiced.put_nowait((text, spoken))
        finally:
            voiced.put_nowait(None)

    # Backchannels.

    def backchannel_if_due(self) -> None:
        """Say that it listens, if the user has spoken for long enough since the turn began or it last did so."""
        every = seconds(self.cascade.backchannel)
        if (
            every
            and self.turn_began is not None
            and self.talker.until - max(self.turn_began, self.backchannelled) >= every
        ):
            self.backchannelled = self.talker.until
            self.start(self.mouth.hum(self.turns))

    def note(self, kind: str, **data: Any) -> None:
        """Report something that is neither audio nor words."""
        self.out.put_nowait(Note(kind, data))
