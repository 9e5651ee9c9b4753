"""What a case is, where it is played, and how what was heard is judged."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from fullduplex.driving.clock import Clock
from fullduplex.driving.drive import Talk, Turn, drive
from fullduplex.driving.link import System, Traits
from fullduplex.errors import printable
from fullduplex.model.spans import in_seconds, ms
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.watermark import BLOCK, Stretch, stretches

Measured = Mapping[str, float | int | str]
#: The length of the user's frames, and their rate.
FRAME, RATE_IN = ms(20), 16_000
_TIMING = {"paced": "paced", "burst": "burst", "sync": "sync", "per-input": "paced", "echo": "sync"}


class Failed(Exception):
    """What was expected and what was found."""


def expect(holds: bool, otherwise: str) -> None:
    """Raise :class:`Failed` with ``otherwise`` unless ``holds``."""
    if not holds:
        raise Failed(otherwise)


class Resting:
    """Lets talks go on together, and whoever comes out of one wait until all have ended.

    Reading a watermark takes a second now and then, and on the wall clock every talk of the loop would wait for it.
    """

    def __init__(self) -> None:
        self._talks = 0
        self._rest = asyncio.Event()

    async def __aenter__(self) -> None:
        self._talks += 1
        self._rest.clear()

    async def __aexit__(self, *_: object) -> None:
        self._talks -= 1
        if not self._talks:
            self._rest.set()
        await self._rest.wait()


@dataclass(frozen=True, slots=True)
class Stage:
    """Where cases are played: ``make`` gives the system for a behaviour, ``near`` is how near planned times must be.

    ``resting`` keeps what computes from what keeps time.
    """

    clock: Clock
    make: Callable[..., System]
    near: int
    resting: Resting = field(default_factory=lambda: Resting())

    async def talk(
        self, behaviour: Behaviour, *turns: Turn, length: int, traits: Mapping[str, Any] | None = None, **how: Any
    ) -> tuple[Talk, Mapping[str, Any]]:
        """Return a talk with a server that behaves so, and the server's own report (empty where it gave none)."""
        reports: list[Mapping[str, Any]] = []
        given: dict[str, Any] = {"timing": _TIMING[behaviour.pace], "flush": behaviour.flush, "frame": FRAME} | dict(
            traits or {}
        )
        system = self.make(behaviour, Traits(RATE_IN, 24_000, **given), reports.append)
        talk = await self.hold(system, *turns, length=length, **how)
        return talk, reports[0] if reports else {}

    async def hold(self, system: System, *turns: Turn, length: int, **how: Any) -> Talk:
        """Return a talk with ``system``, once no other talk is going on: what follows may take its time."""
        async with self.resting:
            return await drive(system, turns, length=length, **how)

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
    """What came of a case on a clock; ``why`` where it failed or does not apply."""

    number: int
    title: str
    clock: Clock
    outcome: Literal["passed", "failed", "not applicable"]
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


def whole(talk: Talk, length: int, block: int, slack: int = ms(1)) -> Stretch:
    """Return the one stretch that was heard; fail where it is not ``length`` of watermark from ``block`` on."""
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
    """Return what came of a case; what goes wrong in any way is its failure, in a sentence."""
    result = CaseResult(one.number, one.title, stage.clock, "passed")
    try:
        return replace(result, measured=await one.run(stage))
    except Failed as failed:
        return replace(result, outcome="failed", why=printable(str(failed)))
    except asyncio.CancelledError:
        raise
    except Exception as error:  # noqa: BLE001
        return replace(result, outcome="failed", why=printable(f"{type(error).__name__}: {error}"))
