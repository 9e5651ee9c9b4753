"""Run the cases and tell what came of them: a table for people, JSON for machines, an exit status."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from fullduplex.driving.clock import Clock, run_on
from fullduplex.driving.link import System, Traits
from fullduplex.driving.playout import Samples
from fullduplex.errors import InputError
from fullduplex.model.spans import ms, seconds
from fullduplex.systems.loopback import Loopback
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.cases import CASES
from fullduplex.testing.declared import DECLARED, LIMIT, SAME, why_not_same
from fullduplex.testing.loopback import Twin, served
from fullduplex.testing.probes import probe
from fullduplex.testing.stage import CaseResult, Stage, play

#: How many talks go on at once on the wall clock.
AT_ONCE = 5
#: And of those with a facade, whose codecs compute while they talk.
FACED_AT_ONCE = 3
#: How near a planned time has to be.
NEAR: dict[Clock, int] = {"virtual": ms(1), "wall": ms(60)}
_STYLES = {"passed": "green", "failed": "bold red", "not judged": "yellow", "not applicable": "dim"}


def conform(
    system: System,
    *,
    clocks: Sequence[Clock] = (),
    cases: Iterable[int] = (),
    limit: bool = False,
    say: Samples | None = None,
    told: Callable[[CaseResult], None] | None = None,
) -> list[CaseResult]:
    """Return the results of all cases, or of those numbered, on each of ``clocks`` (default: the system's first).

    The loopback systems are played every case, since their server can be told what to do; without an ``url``
    a server is started. So is a system with a facade (:mod:`fullduplex.testing.facades`) and no ``url``: its facade
    is its server. Any other system is talked with a few times, and the cases that can be judged from
    outside are: ``say`` is then what the user says, float32 at its ``rate_in`` (default: sound like speech, that
    not every system takes for it). Beyond the cases, such a system is held to what it declares
    (:mod:`fullduplex.testing.declared`): to its virtual clock, and to its longest talk where ``limit`` asks for that.
    ``told`` is called with each result as it comes. Raises :class:`PluginError` where a library is missing.
    """
    named = set(cases)
    wanted = sorted(named or CASES)
    if limit and (isinstance(system, Loopback | Twin) or _has_facade(system)):
        raise InputError("--limit", found=system.spec.name, expected="a server of yours, by its url")
    results: list[CaseResult] = []
    for clock in clocks or system.traits.clocks[:1]:
        if isinstance(system, Loopback | Twin):
            found = _played(system, clock, wanted)
        elif _has_facade(system):
            found = _faced(system, clock, wanted)
        else:
            declared = [LIMIT] * limit + [SAME] * (not named and not why_not_same(system, clock))
            found = run_on(clock, probe(system, clock, [*wanted, *declared], say))
        for result in found:
            if told is not None:
                told(result)
        results += found
    return results


def _played(system: Loopback | Twin, clock: Clock, wanted: Sequence[int]) -> list[CaseResult]:
    if clock == "virtual":
        return run_on("virtual", _all(Stage(clock, _twin, NEAR["virtual"]), wanted, 1))
    if isinstance(system, Loopback) and system.url:
        return run_on(clock, _all(Stage(clock, _over(system.url), NEAR["wall"]), wanted, AT_ONCE))
    with served() as url:
        return run_on(clock, _all(Stage(clock, _over(url), NEAR["wall"]), wanted, AT_ONCE))


def _has_facade(system: Any) -> bool:
    from fullduplex.testing.facades import facade_of, has_facade

    name = system.spec.name
    return has_facade(name) and facade_of(name, system.spec.options).serves(system)


def _faced(system: Any, clock: Clock, wanted: Sequence[int]) -> list[CaseResult]:
    """Play the cases with the facade of the system.

    It is in memory on the virtual clock, else in a process of its own, or within this one where it has to be.
    """
    from fullduplex.testing.facades import facade_of
    from fullduplex.testing.facades.serving import Faced, FacedTwin, at, served

    # What the protocol cannot tell, and the spec does not name since it changes no talk.
    options = dict(system.spec.options) | ({"exclusive": True} if system.traits.exclusive else {})
    facade = facade_of(system.spec.name, options)
    if clock != "wall" and not facade.in_memory:
        raise InputError("--clock", found=clock, expected=f"wall: the facade of {system.spec.name} is on real time")
    system = facade.played(system)

    def twin(behaviour: Behaviour, traits: Traits, reported: Any, ready_within: int | None = None) -> System:
        return FacedTwin(at(system, system.url, ready_within), facade, behaviour, reported)  # type: ignore[arg-type]

    if clock == "virtual":
        stage = Stage(clock, twin, NEAR["virtual"], terms=facade.terms, beside=facade.beside)
        return run_on(clock, _all(stage, wanted, 1))
    if facade.within is not None:
        within = facade.within

        def here(behaviour: Behaviour, traits: Traits, reported: Any, ready_within: int | None = None) -> System:
            return within(facade, system, behaviour, reported, ready_within)

        stage = Stage(clock, here, NEAR["wall"], terms=facade.terms, beside=facade.beside)
        return run_on(clock, _all(stage, wanted, FACED_AT_ONCE))
    with served(system.spec.name, options) as stand:

        def over(behaviour: Behaviour, traits: Traits, reported: Any, ready_within: int | None = None) -> System:
            return Faced(system, stand, behaviour, reported, ready_within)

        stage = Stage(clock, over, NEAR["wall"], terms=facade.terms, beside=facade.beside)
        return run_on(clock, _all(stage, wanted, FACED_AT_ONCE))


def _twin(behaviour: Behaviour, traits: Traits, reported: Any, **more: Any) -> System:
    from dataclasses import replace

    return Twin(behaviour.to_json(), replace(traits, virtual=True), reported=reported, **more)


def _over(url: str) -> Callable[..., System]:
    def make(behaviour: Behaviour, traits: Traits, reported: Any, **more: Any) -> System:
        return Loopback(url, behaviour.to_json(), traits, reported=reported, **more)

    return make


async def _all(stage: Stage, wanted: Sequence[int], together: int) -> list[CaseResult]:
    turn = asyncio.Semaphore(together)

    async def one(number: int) -> CaseResult:
        async with turn:
            return await play(CASES[number], stage)

    return list(await asyncio.gather(*map(one, wanted)))


def failed(results: Iterable[CaseResult]) -> bool:
    """Return whether a case failed."""
    return any(result.outcome == "failed" for result in results)


def unjudged(results: Iterable[CaseResult]) -> bool:
    """Return whether a case was not judged, since the machine was too late."""
    return any(result.outcome == "not judged" for result in results)


def to_json(system: System, results: Sequence[CaseResult]) -> dict[str, Any]:
    """Return the results as one JSON object, with how many have each outcome."""
    counts = {name: sum(result.outcome == name for result in results) for name in _STYLES}
    return {"system": system.spec.to_json(), "counts": counts, "cases": [result.to_json() for result in results]}


def render(results: Sequence[CaseResult]) -> Any:
    """Return the results as a table for a terminal (a :class:`rich.table.Table`)."""
    from rich.table import Table
    from rich.text import Text

    declared = sum(result.number in DECLARED for result in results)
    more = f", and {declared} beyond them of what it declares" if declared else ""
    cases = len(results) - declared
    table = Table(title=f"{cases} case{'s' * (cases != 1)}{more}")
    for name in ("", "case", "clock", "outcome", "measured, or why"):
        table.add_column(name, no_wrap=name in ("", "clock"))
    for result in results:
        told = result.why or ", ".join(f"{name} {value}" for name, value in result.measured.items())
        outcome = Text(result.outcome, _STYLES[result.outcome])
        table.add_row(str(result.number), Text(result.title), result.clock, outcome, Text(told))
    return table


__all__ = ["AT_ONCE", "NEAR", "CaseResult", "conform", "failed", "render", "seconds", "to_json", "unjudged"]
