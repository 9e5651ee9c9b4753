"""What a case is, where it is played, and how what was heard is judged."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from fullduplex.driving.clock import Clock
from fullduplex.driving.drive import Talk, Turn, drive
from fullduplex.driving.link import System, Traits
from fullduplex.driving.observe import frame_lags
from fullduplex.driving.playout import Samples
from fullduplex.errors import printable
from fullduplex.model.spans import in_seconds, ms
from fullduplex.systems.loopback import HEADER, SYSTEM_AUDIO
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.busy import Lateness
from fullduplex.testing.watermark import BLOCK, Stretch, stretches

Measured = Mapping[str, float | int | str]
_TIMING = {"paced": "paced", "burst": "burst", "sync": "sync", "per-input": "paced", "echo": "sync"}


class Failed(Exception):
    """What was expected and what was found."""


def expect(holds: bool, otherwise: str) -> None:
    """Raise :class:`Failed` with ``otherwise`` unless ``holds``."""
    if not holds:
        raise Failed(otherwise)


class Resting:
    """Lets talks go on together, and keeps what computes from what keeps time.

    Reading a watermark takes a second now and then, and so does making what a server will say; on the wall clock
    every talk of the machine would wait for it. So whoever comes out of a talk waits until all have ended, and no talk
    begins while a case computes.
    """

    def __init__(self) -> None:
        self._talks = 0
        self._computing: set[object] = set()
        self._rest, self._quiet = asyncio.Event(), asyncio.Event()
        self._rest.set()
        self._quiet.set()

    async def compute(self, case: object) -> None:
        """Return when no talk goes on; from then on ``case`` computes."""
        while self._talks:
            await self._rest.wait()
        self._computing.add(case)
        self._quiet.clear()

    def done(self, case: object) -> None:
        """Say that ``case`` computes no more."""
        self._computing.discard(case)
        if not self._computing:
            self._quiet.set()

    @asynccontextmanager
    async def talk(self, case: object) -> AsyncIterator[None]:
        """Hold a talk of ``case``; come out when all talks have ended, to compute."""
        self.done(case)
        while self._computing:
            await self._quiet.wait()
        self._talks += 1
        self._rest.clear()
        try:
            yield
        finally:
            self._talks -= 1
            if not self._talks:
                self._rest.set()
            await self.compute(case)


#: What no client of the loopback protocol knows.
_ODDITIES: tuple[str | bytes, ...] = (
    '{"type": "rate_limits.updated", "limits": []}',
    '{"type": "userVad", "speaking": true, "confidence": 0.5}',
    '{"type": "user_vad", "speaking": false, "audioStartMs": 3}',
    '{"type": "said", "text": "\\u001b[31m../../x<script>", "who": "nobody"}',
    '{"type": "said", "text": 5, "source": 1e999}',
    '{"type": "note"',
    "[" * 5_000,
    "null",
    "",
    b"",
    b"\x07",
    b"\x63" + bytes(40),
)
#: Words alone ("only words"), empty audio, two flushes of nothing, in the loopback protocol.
_NOTHINGS: tuple[str | bytes, ...] = (
    '{"type": "said", "text": "only words", "id": "u7"}',
    HEADER.pack(SYSTEM_AUDIO, 0, 0, 0, 7, -1),
    '{"type": "flush", "scope": "u7"}',
    '{"type": "flush", "scope": "never"}',
)


def by_source(talk: Talk, frame: int) -> dict[int, int]:
    """Return the lag of each output frame by the place that its source gives it, see :func:`frame_lags`."""
    return frame_lags(talk.received, frame)


@dataclass(frozen=True, slots=True)
class Terms:
    """What of the cases depends on the protocol that they are played in; times in microseconds.

    The user's frames are ``frame`` long at ``rate_in``. A thing planned for a moment sounds ``lag`` later, by
    frames and codec alone, and its edges are found within ``rough``. ``settle`` is the priming under which pieces
    sent at real time join on the wall clock; where ``settles``, each talk has it, on any clock. ``lags`` gives the
    lag of each output frame, the first numbered 0. ``oddities`` are messages that each end as one note, but for
    ``vads`` of them, which are spellings of one event; ``notes`` are of each talk's own, and so are those of the
    kinds ``usual``. ``nothings`` are ``words`` alone, empty audio, and ``flushes`` flushes of nothing.
    ``done`` is the note that says that all of an utterance was sent. ``unit`` is how much of the user's sound a
    message holds, where that is more than a frame, and ``held`` how many of the last frames may be unheard when the
    user hangs up. A client tells at least ``positions`` times in two seconds what was heard: where it only does at a
    flush, once. ``ends`` are the ways in which a talk may end before its time, of ``expiry`` and ``reset``, each with
    words of its reason; where it never ``closes``, an answer fails instead. ``bed`` gives so much of the sound that
    the user makes in every talk, float32 at ``rate_in``: for a system that speaks only when it is spoken to.
    """

    frame: int = ms(20)
    rate_in: int = 16_000
    lag: int = 0
    rough: int = 0
    settle: int = ms(100)
    settles: bool = False
    lags: Callable[[Talk, int], dict[int, int]] = by_source
    oddities: tuple[str | bytes, ...] = _ODDITIES
    vads: int = 2
    notes: int = 0
    usual: tuple[str, ...] = ()
    nothings: tuple[str | bytes, ...] = _NOTHINGS
    words: tuple[str, ...] = ("only words",)
    flushes: int = 2
    done: str = "response.done"
    unit: int = 0
    positions: int = 21
    held: int = 0
    ends: Mapping[str, str] = field(default_factory=lambda: {"expiry": "session expired", "reset": "reset"})
    closes: bool = True
    bed: Callable[[int], Samples] | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """Where cases are played: ``make`` gives the system for a behaviour, ``near`` is how near planned times must be.

    ``resting`` keeps what computes from what keeps time. ``terms`` are the protocol's; ``beside`` says for the number
    of a case why it does not apply to it. ``late`` takes how late the machine was in the talks of a case.
    """

    clock: Clock
    make: Callable[..., System]
    near: int
    resting: Resting = field(default_factory=lambda: Resting())
    terms: Terms = field(default_factory=Terms)
    beside: Mapping[int, str] = field(default_factory=dict)
    case: int = 0
    late: Lateness = field(default_factory=Lateness)

    @property
    def settle(self) -> int:
        """Return the priming under which pieces sent at real time join."""
        return self.terms.settle if self.clock == "wall" or self.terms.settles else 0

    def sounds(self, planned: int) -> int:
        """Return when something that was planned for a moment sounds."""
        return planned + self.terms.lag + (self.settle if self.terms.settles else 0)

    @property
    def declares(self) -> Traits:
        """Return the traits of the system that is played."""
        return self.make(Behaviour(), self.traits(), None).traits

    def lags(self, talk: Talk) -> dict[int, int]:
        """Return the lag of each output frame of a frame-for-frame system, the first numbered 0."""
        return self.terms.lags(talk, self.terms.frame)

    async def talk(
        self, behaviour: Behaviour, *turns: Turn, length: int, traits: Mapping[str, Any] | None = None, **how: Any
    ) -> tuple[Talk, Mapping[str, Any]]:
        """Return a talk with a server that behaves so, and the server's own report (empty where it gave none)."""
        reports: list[Mapping[str, Any]] = []
        given: dict[str, Any] = {"timing": _TIMING[behaviour.pace], "flush": behaviour.flush} | dict(traits or {})
        system = self.make(behaviour, self.traits(**given), reports.append)
        talk = await self.hold(system, *turns, length=length, **how)
        return talk, reports[0] if reports else {}

    def traits(self, **given: Any) -> Traits:
        """Return what the driver of the loopback protocol is told; a driver of its own knows better."""
        return Traits(self.terms.rate_in, 24_000, **({"frame": self.terms.frame} | given))

    async def hold(self, system: Any, *turns: Turn, length: int, **how: Any) -> Talk:
        """Return a talk with ``system``, once no other talk is going on: what follows may take its time."""
        async with self.holding(system):
            return await self.drive(system, *turns, length=length, **how)

    async def drive(self, system: System, *turns: Turn, length: int, **how: Any) -> Talk:
        """Return a talk on the terms of the protocol; whoever asks is :meth:`holding` the system."""
        if self.terms.settles:
            how.setdefault("priming", self.settle)
        if self.terms.bed is not None:
            how.setdefault("bed", self.terms.bed(length))
        return await drive(system, turns, length=length, **how)

    @asynccontextmanager
    async def holding(self, system: Any) -> AsyncIterator[None]:
        """Have ``system`` prepared, and time kept, for talks with it; come out when no other talk is going on."""
        if hasattr(system, "prepare"):
            preparing = object()
            await self.resting.compute(preparing)
            try:
                await system.prepare()
            finally:
                self.resting.done(preparing)
        async with self.resting.talk(self.case):
            with self.late.watched() if self.clock == "wall" else nullcontext():
                yield

    def at(self, found: int, planned: int, what: str) -> None:
        """Fail where ``found`` is not near ``planned``."""
        off = abs(found - planned)
        expect(off <= self.near, f"{what} at {in_seconds(found):.4f} s, not at {in_seconds(planned):.4f} s")


@dataclass(frozen=True, slots=True)
class Case:
    """One case: what happens, what is expected, and how it is played."""

    number: int
    title: str
    expects: str
    run: Callable[[Stage], Awaitable[Measured]]
    #: What a server has to be told for it, for systems that cannot be told.
    told: str


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What came of a case on a clock; ``why`` where it failed, was not judged or does not apply."""

    number: int
    title: str
    clock: Clock
    outcome: Literal["passed", "failed", "not judged", "not applicable"]
    why: str = ""
    measured: Measured = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON."""
        told = {"case": self.number, "title": self.title, "clock": self.clock, "outcome": self.outcome}
        return told | {"why": self.why, "measured": dict(self.measured)}


Played = Callable[[Stage], Awaitable[Measured]]


def case(number: int, title: str, expects: str, told: str) -> Callable[[Played], Case]:
    """Make a case of the function that plays it."""
    return lambda run: Case(number, title, expects, run, told)


def pieces_heard(talk: Talk) -> tuple[Stretch, ...]:
    """Return the watermark that was heard."""
    return stretches(talk.system, talk.rate)


def whole(talk: Talk, length: int, block: int, slack: int = ms(1), *, rough: int = 0) -> Stretch:
    """Return the one stretch that was heard; fail where it is not ``length`` of watermark from ``block`` on.

    Coding frays its edges: within ``rough``, it is the inside that counts.
    """
    slack = max(slack, rough)
    found = pieces_heard(talk)
    expect(len(found) == 1, f"heard {len(found)} pieces, not one: {told_of(found)}")
    (stretch,) = found
    expect(abs(stretch.duration - length) <= slack, f"heard {stretch.duration} µs, not {length}")
    expect(abs(stretch.source - block * BLOCK) <= slack, f"began {stretch.source - block * BLOCK} µs into it")
    return stretch


def told_of(found: tuple[Stretch, ...]) -> str:
    """Return when the first few pieces sounded, for people."""
    return "; ".join(f"{in_seconds(s.at):.4f}-{in_seconds(s.until):.4f} s" for s in found[:6]) or "nothing"


async def play(one: Case, stage: Stage) -> CaseResult:
    """Return what came of a case; what goes wrong in any way is its failure, in a sentence.

    What fails while the machine itself is later than planned times may be off is not judged.
    """
    result = CaseResult(one.number, one.title, stage.clock, "passed")
    if one.number in stage.beside:
        return replace(result, outcome="not applicable", why=stage.beside[one.number])
    await stage.resting.compute(one.number)
    stage = replace(stage, case=one.number, late=Lateness())
    try:
        return replace(result, measured=await one.run(stage))
    except Failed as failed:
        why = str(failed)
    except asyncio.CancelledError:
        raise
    except Exception as error:  # noqa: BLE001
        why = f"{type(error).__name__}: {error}"
    finally:
        stage.resting.done(one.number)
    return _not_passed(result, why, stage.late.worst, stage.near)


def _not_passed(result: CaseResult, why: str, late: int, near: int) -> CaseResult:
    """Return ``result`` as failed by ``why``, or as not judged where the machine was ``late`` by more than ``near``."""
    if late <= near:
        return replace(result, outcome="failed", why=printable(why))
    busy = f"this machine was {round(late / 1_000)} ms late; try it on a quiet one, or with --clock virtual ({why})"
    return replace(result, outcome="not judged", why=printable(busy), measured={"machine_late_ms": late / 1_000})
