"""Hold a talk: let the user speak on cue, keep everything that comes back.

t = 0 is the first captured sample, after the system said that it is ready. A frame goes
out when its last sample has been captured and not before, on an absolute deadline, and
silence goes on flowing after the user's words. What came back is placed by
:mod:`fullduplex.driving.playout`; arrivals are kept as they were.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fullduplex.driving.clock import VirtualLoop
from fullduplex.driving.cues import Due, Ear
from fullduplex.driving.link import Closed, Happening, Link, Note, Ready, Said, System, UserVad
from fullduplex.driving.playout import Chunk, Flush, Placed, Player, Samples, playout, sample_at
from fullduplex.errors import ConversationError, printable
from fullduplex.model.spans import SECOND, Span, in_seconds, ms


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Turn:
    """Something the user says: float32 samples at the system's ``rate_in``, and when."""

    samples: Samples
    due: Due


@dataclass(frozen=True, slots=True)
class Pacing:
    """How truthfully the user's frames went out; times in microseconds.

    Lateness is the moment a frame was sent less the end of its capture; ``worst`` and ``p99``
    are over ``frames`` of length ``frame``. ``slipped`` is how far the schedule was moved
    because frames are never sent in a burst to catch up. ``late``: the worst was more than
    half a frame, so the talk's times cannot be trusted.
    """

    frame: int
    frames: int
    worst: int
    p99: int
    slipped: int = 0

    @property
    def late(self) -> bool:
        """Return whether a frame was more than half its length late."""
        return 2 * self.worst > self.frame

    def to_json(self) -> dict[str, object]:
        """Return the pacing as a JSON object, times in decimal seconds."""
        return {
            "frame": in_seconds(self.frame),
            "frames": self.frames,
            "worst_lateness": in_seconds(self.worst),
            "p99_lateness": in_seconds(self.p99),
            "slipped": in_seconds(self.slipped),
            "late": self.late,
        }


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Talk:
    """What happened, on the session clock.

    ``user`` are the samples sent at ``user_rate``; ``system`` what a listener heard at
    ``rate``, placed chunk by chunk as ``placed`` says. ``received`` is the log of audio, and
    ``notes`` of everything else. ``turns`` are the spans in which the user's turns were played,
    in the order given; one that never fell due is None.
    """

    user: Samples
    user_rate: int
    received: tuple[Chunk | Flush, ...]
    system: Samples
    rate: int
    placed: tuple[Placed, ...]
    notes: tuple[Said | UserVad | Note | Closed, ...]
    turns: tuple[Span | None, ...]
    pacing: Pacing
    ready: Ready


class BrokenTalk(ConversationError):
    """A talk that ended before its time. ``talk`` is what was kept of it."""

    def __init__(self, message: str, talk: Talk | None = None) -> None:
        super().__init__(message)
        self.talk = talk

    def __reduce__(self) -> tuple[object, ...]:
        # The sentence travels between processes; the audio stays where it was recorded.
        return (BrokenTalk, (str(self),))


async def drive(
    system: System,
    turns: Sequence[Turn],
    *,
    length: int,
    prompt: str = "",
    frame: int = ms(20),
    priming: int = 0,
) -> Talk:
    """Return the talk that ``system`` holds with a user who says ``turns``, one after another.

    ``length`` and ``frame`` are in microseconds; the user's side is cut or filled with silence
    to ``length``. A turn begins at the moment it is due, or once the turn before it has ended.
    ``priming`` is the player's, see :func:`playout`. Waiting goes through the running event loop.
    Raises :class:`BrokenTalk` where the system fails or closes before ``length``.
    """
    frame = system.traits.frame or frame
    if length <= 0 or frame <= 0:
        raise ValueError(f"a talk and its frames last longer than nothing: {length}, {frame}")
    loop = asyncio.get_running_loop()
    if isinstance(loop, VirtualLoop) and not system.traits.virtual:
        raise ConversationError(f"{system.spec.name} keeps the wall clock; the virtual clock would run ahead of it")
    try:
        async with system.connect(prompt) as link:
            talk = _Talking(system, turns, length, frame, priming, loop.time())
            await talk.hold(link)
            return talk.kept(length, link.ready)
    except (ConversationError, asyncio.CancelledError):
        raise
    except Exception as error:
        raise BrokenTalk(f"{system.spec.name}: the talk could not begin or end: {_reason(error)}") from error


class _Talking:
    """One talk while it goes on."""

    def __init__(
        self, system: System, turns: Sequence[Turn], length: int, frame: int, priming: int, began: float
    ) -> None:
        self.system, self.length, self.frame, self.priming = system, length, frame, priming
        self.began, self.clock = began, asyncio.get_running_loop().time
        self.user = np.zeros(length * system.traits.rate_in // SECOND, np.float32)
        self.ear, self.player = Ear(), Player(system.traits.rate_out, priming)
        self.received: list[Chunk | Flush] = []
        self.notes: list[Said | UserVad | Note | Closed] = []
        self.waiting, self.spans = list(turns), [None] * len(turns)  # type: list[Turn], list[Span | None]
        self.lateness: list[int] = []
        self.slipped = 0

    def now(self) -> int:
        return round((self.clock() - self.began) * SECOND)

    async def hold(self, link: Link) -> None:
        listening = asyncio.create_task(self.listen(link))
        speaking = asyncio.create_task(self.speak(link))
        try:
            await asyncio.wait((listening, speaking), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (listening, speaking):
                task.cancel()
            ended = await asyncio.gather(listening, speaking, return_exceptions=True)
        at = self.now()
        for error in ended:
            if isinstance(error, ConversationError):
                raise self.broken(str(error), at, link) from error
            if isinstance(error, Exception):
                raise self.broken(f"failed: {_reason(error)}", at, link) from error
        if len(self.lateness) < self.frames:
            closed = next((n for n in reversed(self.notes) if isinstance(n, Closed)), None)
            why = f": {printable(closed.reason)}" if closed and closed.reason else ""
            raise self.broken(f"closed the talk{why}", at, link)

    @property
    def frames(self) -> int:
        return -(-self.length // self.frame)

    def broken(self, what: str, at: int, link: Link) -> BrokenTalk:
        at = max(0, min(at, self.length))
        how_far = f"after {in_seconds(at):.2f} s of {in_seconds(self.length):.2f} s"
        return BrokenTalk(f"{self.system.spec.name} {how_far}: {what}", self.kept(at, link.ready))

    async def listen(self, link: Link) -> None:
        aligned = self.system.traits.timing == "aligned"
        async for event in link:
            # A finished recording has no arrivals: its own clock says when it sounds.
            at = event.source if aligned and isinstance(event, Chunk) and event.source is not None else self.now()
            self.keep(replace(event, arrived=at))
            if isinstance(event, Closed):
                return

    def keep(self, event: Happening) -> None:
        if isinstance(event, Chunk | Flush):
            self.received.append(event)
            self.player.take(event)
            return
        self.notes.append(event)
        if isinstance(event, Said) and event.who == "system":
            self.ear.report("system", event.text, event.arrived)

    async def speak(self, link: Link) -> None:
        for i in range(self.frames):
            deadline = (i + 1) * self.frame
            await self.until(deadline + self.slipped)
            lateness = max(0, self.now() - deadline - self.slipped)
            self.lateness.append(lateness)
            if 2 * lateness > self.frame:
                # Sending what is overdue at once would reach the system as a burst.
                self.slipped += lateness
            self.capture(i * self.frame, min(deadline, self.length))
            rate = self.system.traits.rate_in
            await link.send(self.user[i * self.frame * rate // SECOND : deadline * rate // SECOND])
            await link.heard(min(deadline, self.length))
        await link.finish()

    async def until(self, time: int) -> None:
        await asyncio.sleep(max(0.0, self.began + time / SECOND - self.clock()))

    def capture(self, start: int, end: int) -> None:
        """Fill the user's samples of ``[start, end)``, given all that was heard before ``end``."""
        out, rate = self.system.traits.rate_out, self.system.traits.rate_in
        first = sample_at(start, out)
        self.ear.now = end
        self.ear.hear(self.player.sound(first, sample_at(end, out)), first, out)
        while self.waiting:
            due = self.waiting[0].due(self.ear)
            begin = None if due is None else max(due, start, self.ear.spoke_until)
            if begin is None or begin >= end:
                return
            samples = self.waiting.pop(0).samples
            at = sample_at(begin, rate)
            part = samples[: max(0, len(self.user) - at)]
            self.user[at : at + len(part)] = part
            until = max(begin + 1, begin + len(samples) * SECOND // rate)
            self.spans[len(self.spans) - len(self.waiting) - 1] = Span(begin, until)
            self.ear.begin(begin, until)

    def kept(self, length: int, ready: Ready) -> Talk:
        out, rate = self.system.traits.rate_out, self.system.traits.rate_in
        received = tuple(sorted(self.received, key=lambda event: event.arrived))
        played = playout(received, out, length * out // SECOND, priming=self.priming)
        late = np.sort(np.asarray(self.lateness or [0]))
        # The lateness that 99 of 100 frames do not exceed.
        p99 = int(late[-(-99 * len(late) // 100) - 1])
        pacing = Pacing(self.frame, len(self.lateness), int(late[-1]), p99, self.slipped)
        return Talk(
            self.user[: length * rate // SECOND],
            rate,
            received,
            played.samples,
            out,
            played.placed,
            tuple(self.notes),
            tuple(self.spans),
            pacing,
            ready,
        )


def _reason(error: BaseException) -> str:
    return printable(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
