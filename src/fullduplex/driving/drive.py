"""Hold a talk: let the user speak on cue, keep everything that comes back.

t = 0 is the first captured sample, after the system said that it is ready. A frame goes
out when its last sample has been captured and not before, on an absolute deadline, and
silence goes on flowing after the user's words. What came back is placed by
:mod:`fullduplex.driving.playout`; arrivals are kept as they were.
"""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fullduplex.driving.clock import clock_of, work_of
from fullduplex.driving.cues import AUDIBLE, Ear
from fullduplex.driving.echo import EchoPath
from fullduplex.driving.heard import WordsAsTheySound
from fullduplex.driving.link import Closed, Happening, Link, Note, Position, Said, System, UserVad
from fullduplex.driving.microphone import Microphone, joined
from fullduplex.driving.playout import Chunk, Flush, Player, Samples, laid, playout, sample_at
from fullduplex.driving.talk import BrokenTalk, EndedBy, HangUp, Pacing, Talk, TurnTaken, premise
from fullduplex.driving.user import Hush, Speak, Turn, Turns, User
from fullduplex.errors import ConversationError, FullDuplexError, InputError, PluginError, printable
from fullduplex.model.spans import SECOND, Span, in_seconds, ms, seconds

#: A handshake that lasts longer has failed.
READY_WITHIN = seconds(60)
#: A system that takes no frame for so long has stalled.
TAKES_WITHIN = seconds(10)
#: More audio than this, received and not yet sounded, is a flood.
FLOOD = seconds(600)
#: More events than this that are no audio are a flood too.
FLOOD_NOTES = 100_000
#: And more events of any kind than this, and so many more for each second of the talk: ten minutes of audio that
#: come at once in pieces of 10 ms are 60,000.
FLOOD_EVENTS, FLOOD_RATE = 100_000, 2_000
#: A source time further from zero than this (microseconds; 285 years) is no time.
_NO_TIME = 1 << 53
#: Samples are multiples of one over this.
_GRID = np.float32(1 << 23)
#: An offline system may compute for so long after the last frame.
ANSWERS_WITHIN = seconds(3_600)

__all__ = ["BrokenTalk", "HangUp", "Pacing", "Talk", "Turn", "TurnTaken", "drive"]


async def drive(
    system: System,
    user: User | Sequence[Turn],
    *,
    length: int,
    hang_up: HangUp | None = None,
    prompt: str = "",
    frame: int = ms(20),
    priming: int = 0,
    echo: EchoPath | None = None,
    bed: Samples | None = None,
) -> Talk:
    """Return the talk that ``system`` holds with ``user``, or with one who says the turns one after another.

    ``length`` and ``frame`` are in microseconds. Without ``hang_up`` the talk lasts ``length``; with it,
    ``length`` is the most it may last. A turn begins at the moment it is due, or once the turn before it
    has ended. ``priming`` is the player's, see :func:`playout`. ``echo`` puts what the user hears into what
    the user sends, and ``bed`` (float32 at ``rate_in``, from t = 0) what is around the user. Waiting goes
    through the running event loop, whose clock the talk keeps.

    Raises :class:`BrokenTalk`, with what was kept, where the system fails, stalls, floods, sends what
    is no audio, or closes before its time; :class:`InputError` where what it was made of is wrong, a URL or a key;
    :class:`PluginError` where something that it needs is not installed.
    """
    frame = system.traits.frame or frame
    if length <= 0 or frame <= 0:
        raise ValueError(f"a talk and its frames last longer than nothing: {length}, {frame}")
    loop = asyncio.get_running_loop()
    clock = clock_of(loop)
    if clock not in system.traits.clocks:
        keeps = " or ".join(system.traits.clocks)
        raise ConversationError(f"{system.spec.name} cannot be driven on the {clock} clock, only on {keeps}")
    player = user if isinstance(user, User) else Turns(user)
    asked = loop.time()
    talk: Talk | None = None
    try:
        async with asyncio.timeout(READY_WITHIN / SECOND) as limit, system.connect(prompt) as link:
            limit.reschedule(None)
            talking = _Talking(system, player, length, frame, priming, hang_up, echo, bed, prompt, asked)
            await talking.hold(link)
            # Putting a long talk together must not keep the frames of others waiting.
            talk = await asyncio.to_thread(talking.kept, link) if clock == "wall" else talking.kept(link)
            limit.reschedule(loop.time() + TAKES_WITHIN / SECOND)
    except ConversationError as error:
        if talk is None or isinstance(error, BrokenTalk):
            raise
        # It took every frame and answers no more: what it was sent, nobody may have read.
        raise BrokenTalk(f"{system.spec.name}: {error}", replace(talk, ended_by="stalled")) from error
    except (asyncio.CancelledError, InputError, PluginError):
        raise
    except TimeoutError as error:
        if talk is None and not limit.expired():
            raise BrokenTalk(f"{system.spec.name}: the talk could not begin: {_reason(error)}") from error
        if talk is None:
            raise BrokenTalk(f"{system.spec.name}: was not ready within {READY_WITHIN // SECOND} s") from None
    except Exception as error:
        if talk is None:
            raise BrokenTalk(f"{system.spec.name}: the talk could not begin: {_reason(error)}") from error
    # A link that cannot be closed has no more to say: the talk is whole.
    return talk


class _Talking:
    """One talk while it goes on."""

    def __init__(
        self,
        system: System,
        user: User,
        length: int,
        frame: int,
        priming: int,
        hang_up: HangUp | None,
        echo: EchoPath | None,
        bed: Samples | None,
        prompt: str,
        asked: float,
    ) -> None:
        self.system, self.traits, self.length, self.frame, self.priming = system, system.traits, length, frame, priming
        self.person, self.hang_up, self.echo, self.prompt = user, hang_up, echo, prompt
        self.loop = asyncio.get_running_loop()
        self.clock = self.loop.time
        self.began = self.clock()
        self.last_read = self.began
        self.handshake = round((self.began - asked) * SECOND)
        self.total = length * self.traits.rate_in // SECOND
        self.user = Microphone()
        self.sent: list[bytes] = []
        self.bed = bed
        self.plain = echo is None and bed is None
        self.player = Player(self.traits.rate_out, priming)
        self.ear = Ear(rate=self.traits.rate_out, pending=self.pending, sound=self.sound)
        self.words = WordsAsTheySound(self.ear, self.traits.rate_out)
        self.came = 0
        self.received: list[Chunk | Flush] = []
        self.notes: list[Said | UserVad | Note | Closed] = []
        self.taken: list[tuple[Turn, Span]] = []
        self.lateness = array("l")
        self.slipped = 0
        self.worked = work_of(self.loop)
        self.sending: float | None = None
        self.stalled, self.watchdog = False, None  # type: bool, asyncio.TimerHandle | None
        self.ended_at, self.ended_by = length, "cap" if hang_up else "length"  # type: int, EndedBy
        self.whole = self.traits.timing in ("aligned", "reply")

    def now(self) -> int:
        return round((self.clock() - self.began) * SECOND)

    def came_at(self, link: Link) -> int:
        """Return when the latest message was read, before it was decoded, where the link tells; else now."""
        read, last = getattr(link, "read", None), self.last_read
        now = self.clock()
        self.last_read = now if read is None else min(max(read, last, self.began), now)
        return round((self.last_read - self.began) * SECOND)

    def pending(self) -> bool:
        return self.player.pending(sample_at(self.ear.now, self.traits.rate_out), AUDIBLE)

    def sound(self, start: int, end: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        rate = self.traits.rate_out
        return self.player.sound(sample_at(max(0, start), rate), sample_at(max(0, end), rate))

    async def hold(self, link: Link) -> None:
        listening = asyncio.create_task(self.listen(link))
        speaking = asyncio.create_task(self.speak(link))
        thinking = asyncio.create_task(self.person.think(self.ear))
        tasks = (listening, speaking, thinking)
        self.watch(speaking)
        try:
            running = set(tasks)
            while listening in running and speaking in running:
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                if thinking in done and thinking.exception():
                    break
            if self.traits.offline and listening.done() and not listening.exception():
                # Its file is there; what is left of the user's side is to see it.
                await asyncio.wait({speaking}, timeout=TAKES_WITHIN / SECOND)
        finally:
            for task in tasks:
                task.cancel()
            if self.watchdog is not None:
                self.watchdog.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        if self.stalled:
            raise self.broken(f"took no audio for {TAKES_WITHIN // SECOND} s", link, "stalled")
        for error in ended[:2]:
            if isinstance(error, ConversationError):
                raise self.broken(str(error), link, getattr(error, "ended_by", "failed")) from error
            if isinstance(error, Exception):
                raise self.broken(f"failed: {_reason(error)}", link, "failed") from error
        if isinstance(ended[2], Exception):
            raise self.broken(f"the user could not go on: {_reason(ended[2])}", link, "failed") from ended[2]
        if ended[1] is None:
            return
        # The system closed. That is its right once the user has said everything and may hang up, if it chose to.
        self.ended_at = min(max(0, self.now()), self.length)
        closed = next((n for n in reversed(self.notes) if isinstance(n, Closed)), None)
        broke = closed is not None and closed.broke
        if broke or self.hang_up is None or not self.person.finished or self.ear.speaking:
            why = f": {printable(closed.reason)}" if closed and closed.reason else ""
            raise self.broken(f"closed the talk{why}", link, "closed")
        self.ended_by = "closed"

    def watch(self, speaking: asyncio.Task[None]) -> None:
        """Look once a second whether a frame waits to be taken for too long."""
        if self.sending is not None and self.clock() - self.sending >= TAKES_WITHIN / SECOND:
            self.stalled = True
            speaking.cancel()
            return
        self.watchdog = self.loop.call_later(1, self.watch, speaking)

    @property
    def frames(self) -> int:
        return -(-self.length // self.frame)

    def broken(self, what: str, link: Link, by: EndedBy) -> BrokenTalk:
        at = self.ended_at = max(0, min(self.now(), self.length))
        self.ended_by = by
        how_far = f"after {in_seconds(at):.2f} s of {in_seconds(self.length):.2f} s"
        return BrokenTalk(f"{self.system.spec.name} {how_far}: {what}", self.kept(link))

    async def listen(self, link: Link) -> None:
        aligned = self.traits.timing == "aligned"
        async for event in link:
            # A finished recording has no arrivals: its own clock says when it sounds.
            known = event.source if aligned and isinstance(event, Chunk) else None
            at = self.came_at(link) if known is None else known
            self.keep(replace(event, arrived=at))
            if isinstance(event, Closed):
                return
            self.came += 1
            if self.came > FLOOD_EVENTS + FLOOD_RATE * self.now() // SECOND:
                raise _Ended(f"sent more than {self.came - 1} events", "flooded")
            if self.came % 256 == 0:
                # A system that always has something more to say would leave no time to the user.
                await asyncio.sleep(0)

    def keep(self, event: Happening) -> None:
        if not all(-_NO_TIME < time < _NO_TIME for time in _times(event)):
            raise ConversationError(f"told a time that is none with its {type(event).__name__.lower()}")
        if isinstance(event, Chunk | Flush):
            if isinstance(event, Chunk):
                event = _sound(event, None if self.whole else FLOOD // SECOND * self.traits.rate_out)
            self.player.take(event)
            self.received.append(event)
            queued = self.player.queued() * SECOND // self.traits.rate_out - event.arrived
            if queued > FLOOD and not self.whole:
                raise _Ended("sent more than ten minutes of audio ahead of time", "flooded")
            return
        self.notes.append(event)
        if isinstance(event, Said):
            self.words.take(event, self.player.placed)
        if len(self.notes) > FLOOD_NOTES:
            raise _Ended(f"sent more than {FLOOD_NOTES} events that are no audio", "flooded")

    async def speak(self, link: Link) -> None:
        out = self.traits.rate_out
        for i in range(self.frames):
            deadline = (i + 1) * self.frame
            await asyncio.sleep(max(0.0, self.began + (deadline + self.slipped) / SECOND - self.clock()))
            lateness = max(0, self.now() - deadline - self.slipped)
            self.lateness.append(lateness)
            if lateness > self.frame:
                # Sending what is overdue at once would reach the system as a burst.
                self.slipped += lateness
            frame = self.capture(i * self.frame, deadline)
            self.sending = self.clock()
            await link.send(frame)
            id, played = self.player.latest(sample_at(min(deadline, self.length), out))
            await link.heard(Position(min(deadline, self.length), id, played * SECOND // out))
            self.sending = None
            if self.hangs_up(min(deadline, self.length)):
                break
        await link.finish()
        if self.traits.offline:
            await self.answered()

    def hangs_up(self, now: int) -> bool:
        """Return whether the user hangs up at ``now``, and keep why."""
        rule, ear = self.hang_up, self.ear
        if rule is None or now >= self.length or ear.speaking:
            return False
        quiet_since = max(ear.spoke_until, ear.system_until or 0)
        if not self.person.finished:
            # A cue that waits for the system may wait for ever; one with a time will come, and who decides decides.
            if getattr(self.person, "scheduled", True) or now - quiet_since < rule.patience or self.pending():
                return False
            self.ended_at, self.ended_by = now, "patience"
            return True
        if now - quiet_since >= rule.quiet and not self.pending():
            self.ended_at, self.ended_by = now, "quiet"
        elif now - ear.spoke_until >= rule.patience:
            self.ended_at, self.ended_by = now, "patience"
        else:
            return False
        return True

    async def answered(self) -> None:
        """Wait for the file of a system that answers when it has heard everything."""
        until = self.clock() + ANSWERS_WITHIN / SECOND
        while not any(isinstance(event, Closed) for event in self.notes):
            if self.clock() > until:
                raise _Ended(f"gave no answer within {ANSWERS_WITHIN // SECOND} s", "stalled")
            await asyncio.sleep(0.01)
        if self.traits.timing == "reply":
            # A reply that came after the input is part of the talk, whole.
            self.ended_at = max(self.ended_at, self.player.queued() * SECOND // self.traits.rate_out)

    def capture(self, start: int, deadline: int) -> Samples:
        """Return the frame that begins at ``start``, given all that was heard before its end."""
        out, rate = self.traits.rate_out, self.traits.rate_in
        end = min(deadline, self.length)
        first, last = sample_at(start, out), sample_at(end, out)
        parts = self.player.within(first, last)
        heard = laid(parts, first, last) if parts or self.echo is not None else None
        self.ear.now = end
        if heard is not None and parts:
            self.ear.hear(heard, first, out)
            self.words.sound(parts, end)
        while (act := self.person.act(self.ear)) is not None:
            if isinstance(act, Hush):
                self.hush(end)
            else:
                self.say(act, start)
        begin, stop = start * rate // SECOND, min(deadline * rate // SECOND, self.total)
        frame = self.user.capture(begin, stop)
        if self.plain:
            return frame
        if self.bed is not None:
            part = self.bed[begin:stop]
            frame[: len(part)] += part
        if self.echo is not None and heard is not None:
            self.echo.take(heard)
            frame += self.echo.between(begin, stop)
        np.clip(frame, -1, 1, out=frame)
        self.sent.append(frame.tobytes())
        return frame

    def say(self, act: Speak, start: int) -> None:
        rate = self.traits.rate_in
        begin = max(act.at, start, self.ear.spoke_until)
        at = sample_at(begin, rate)
        self.user.say(at, act.turn.samples)
        until = max(begin + 1, begin + len(act.turn.samples) * SECOND // rate)
        self.taken.append((act.turn, Span(begin, until)))
        self.ear.begin(begin, until)

    def hush(self, end: int) -> None:
        if not self.ear.speaking:
            return
        self.user.hush(sample_at(end, self.traits.rate_in))
        turn, span = self.taken[-1]
        self.taken[-1] = (turn, Span(span.start, max(span.start + 1, end)))
        self.ear.spoke_until = max(span.start + 1, end)

    def kept(self, link: Link) -> Talk:
        length = self.ended_at
        out, rate = self.traits.rate_out, self.traits.rate_in
        received = tuple(sorted(self.received, key=lambda event: event.arrived))
        played = playout(received, out, length * out // SECOND, priming=self.priming)
        unsaid = self.person.unsaid if isinstance(self.person, Turns) else ()
        turns = [
            TurnTaken(turn, span, premise(played.samples, out, span.start))
            for turn, span in self.taken
            if span.start < length
        ]
        ends = length * rate // SECOND
        user = _cut(self.user.captured(), ends)
        return Talk(
            user=user,
            sent=user if self.plain else _cut(joined(self.sent), ends),
            user_rate=rate,
            received=received,
            system=played.samples,
            rate=out,
            placed=played.placed,
            notes=tuple(self.notes),
            turns=(*turns, *(TurnTaken(turn, None, None) for turn in unsaid)),
            pacing=Pacing(self.frame, self.lateness, self.slipped),
            ready=link.ready,
            handshake=self.handshake,
            clock=clock_of(self.loop),
            ended_by=self.ended_by,
            hang_up=self.hang_up,
            cap=self.length,
            prompt=self.prompt,
            priming=self.priming,
            work=work_of(self.loop, self.worked),
        )


class _Ended(ConversationError):
    """What ends a talk before its time, and under which name it is counted."""

    def __init__(self, message: str, ended_by: EndedBy) -> None:
        super().__init__(message)
        self.ended_by = ended_by


def _cut(samples: Samples, length: int) -> Samples:
    """Return the first ``length`` samples, with silence after them where there are fewer."""
    return samples[:length] if length <= len(samples) else np.pad(samples, (0, length - len(samples)))


def _sound(chunk: Chunk, most: int | None = None) -> Chunk:
    """Return ``chunk`` as float32 samples of one channel on the grid of 24 bits, which the log holds without loss.

    Raises :class:`ConversationError` for what is not finite samples of one channel, ``most`` of them.
    """
    try:
        samples = np.ascontiguousarray(chunk.samples, np.float32)
    except (TypeError, ValueError):
        raise ConversationError("sent a chunk that is no audio") from None
    if samples.ndim != 1:
        raise ConversationError(f"sent a chunk of {samples.ndim} dimensions, not of one channel")
    if most is not None and len(samples) > most:
        raise _Ended("sent more than ten minutes of audio in one piece, which is not kept", "flooded")
    if not np.isfinite(samples).all():
        raise ConversationError("sent samples that are not numbers")
    even = np.clip(samples, -1, 1)
    even *= _GRID
    np.minimum(np.rint(even, out=even), _GRID - 1, out=even)
    even /= _GRID
    return replace(chunk, samples=even)


def _times(event: Happening) -> list[int]:
    """Return all times that ``event`` tells, on whatever clock."""
    source = getattr(event, "source", None)
    words = event.words if isinstance(event, Said) else ()
    return [*(() if source is None else (source,)), *(time for _, *times in words for time in times)]


def _reason(error: BaseException) -> str:
    """Return what went wrong: a sentence of our own as it is, another's error with its kind."""
    kind, text = type(error).__name__, str(error)
    return printable(text if isinstance(error, FullDuplexError) and text else f"{kind}: {text}" if text else kind)
