"""One talk at a time, the longest talk, a virtual clock: what is declared is held against talks, and each can fail."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from fullduplex.cli import main
from fullduplex.driving.clock import run_on, run_virtual
from fullduplex.driving.link import Traits
from fullduplex.errors import ConversationError, InputError, PluginError
from fullduplex.model.spans import ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.systems.moshi import Moshi
from fullduplex.systems.websocket import WebSocket
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.cases import CASES
from fullduplex.testing.conform import NEAR, conform, render
from fullduplex.testing.declared import LIMIT, SAME
from fullduplex.testing.facades import facade_of
from fullduplex.testing.facades.serving import FacedTwin, serve
from fullduplex.testing.loopback import USUAL, Twin
from fullduplex.testing.probes import probe
from fullduplex.testing.stage import CaseResult, Stage, play


def judged(system: Any, number: int) -> CaseResult:
    (result,) = run_virtual(probe(system, "virtual", [number], None))
    return result


def open_protocol(*, declared: bool, held: bool, behaviour: Behaviour = USUAL, **options: Any) -> FacedTwin:
    return FacedTwin(
        WebSocket(exclusive=declared, **options), facade_of("websocket", {"exclusive": held} | options), behaviour
    )


# One talk at a time, from outside.


def test_a_server_that_lets_a_second_wait_holds_one_as_declared() -> None:
    result = judged(open_protocol(declared=True, held=True), 25)
    assert (result.outcome, result.measured["talks"]) == ("passed", 1), result.why
    assert result.measured["the second"] == "nobody was ready for it within 5 s"


@pytest.mark.parametrize("timing", ["burst", "sync"])
def test_one_that_serves_both_is_told_what_to_change(timing: Any) -> None:
    pace = USUAL if timing == "burst" else replace(USUAL, pace="sync", flush="none")
    result = judged(open_protocol(declared=True, held=False, behaviour=pace, timing=timing, source="session"), 25)
    assert result.outcome == "failed"
    assert result.why.startswith("declared one talk at a time, and it held two; declare several")


@dataclass
class Company:
    """A server that declares one talk at a time, and what it does once a second comes."""

    does: str
    traits: Traits = field(default_factory=lambda: replace(Twin().traits, exclusive=True))
    spec: Spec = field(default_factory=lambda: Spec("company"))
    crowded: asyncio.Event = field(default_factory=asyncio.Event)
    inside: int = 0

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[Any]:
        if self.inside:
            self.crowded.set()
            raise ConversationError("one at a time, please")
        self.inside += 1
        try:
            async with Twin(USUAL.to_json()).connect(prompt) as link:
                yield link if self.does == "nothing" else _Crowded(link, self)
        finally:
            self.inside -= 1


class _Crowded:
    def __init__(self, link: Any, server: Company) -> None:
        self.link, self.server, self.ready = link, server, link.ready
        self.send, self.heard, self.finish = link.send, link.heard, link.finish

    async def __aiter__(self) -> Any:
        async for event in self.link:
            if self.server.crowded.is_set():
                if self.server.does == "breaks":
                    raise ConnectionResetError("mixed up")
                continue
            yield event


def test_a_server_that_refuses_a_second_holds_one_as_declared() -> None:
    result = judged(Company("nothing"), 25)
    assert result.outcome == "passed" and "one at a time, please" in str(result.measured["the second"])


@pytest.mark.parametrize(
    ("does", "why"),
    [
        ("breaks", "a second broke the first: company after 4.00 s of 13.00 s: failed: ConnectionResetError: mixed up"),
        ("falls silent", "the first talk was not answered, while a second was tried"),
    ],
)
def test_a_second_that_disturbs_the_first_fails(does: str, why: str) -> None:
    result = judged(Company(does), 25)
    assert result.outcome == "failed" and why.split(":")[0] in result.why


def test_whether_one_that_computes_afterwards_holds_one_is_not_judged() -> None:
    result = judged(Company("nothing", traits=replace(Twin().traits, exclusive=True, offline=True)), 25)
    assert result.outcome == "not applicable" and "before the last frame" in result.why


# One talk at a time, against a facade.


def faced(system: Any, exclusive: bool) -> CaseResult:
    facade = replace(facade_of(system.spec.name), exclusive=exclusive)

    def make(behaviour: Behaviour, traits: Traits, reported: Any, ready_within: int | None = None) -> Any:
        return FacedTwin(replace(system, ready_within=(ready_within or seconds(9)) / 1e6), facade, behaviour, reported)

    stage = Stage("virtual", make, NEAR["virtual"], terms=facade.terms, beside=facade.beside)
    return run_virtual(play(CASES[25], stage))


@pytest.mark.parametrize("system", [Moshi(), WebSocket(exclusive=True)], ids=["moshi", "websocket"])
def test_a_driver_that_declares_one_at_a_time_is_played_with_a_server_that_holds_one(system: Any) -> None:
    result = faced(system, exclusive=True)
    assert result.outcome == "passed" and "not ready within 1 s" in str(result.measured["the second"])
    result = faced(system, exclusive=False)
    assert result.outcome == "failed" and "it held two" in result.why


def test_an_option_that_changes_no_talk_reaches_the_facade() -> None:
    (result,) = conform(WebSocket(exclusive=True), clocks=("virtual",), cases=(25,))
    assert (result.outcome, result.measured["talks"]) == ("passed", 1)


# The longest talk.


def limited(longest: float, closes: int | None) -> CaseResult:
    behaviour = replace(USUAL, closes=closes, reason="session expired")
    return judged(open_protocol(declared=False, held=False, behaviour=behaviour, longest=longest), LIMIT)


def test_a_server_that_ends_a_talk_at_the_limit_passes_with_when_it_did() -> None:
    result = limited(60, seconds(58))
    assert (result.outcome, result.measured) == ("passed", {"declared_s": 60.0, "ended_s": 58.0})


@pytest.mark.parametrize(
    ("closes", "why"),
    [
        (
            seconds(56),
            "it declares 60 s at most, and it ended earlier; declare that (longest): websocket after 56.00 s",
        ),
        (None, "it declares 60 s at most, and 63 s were held; declare more (longest), or no limit"),
    ],
)
def test_one_that_ends_it_earlier_or_not_at_all_fails(closes: int | None, why: str) -> None:
    result = limited(60, closes)
    assert result.outcome == "failed" and result.why.startswith(why)


def test_where_no_limit_is_declared_none_is_tried() -> None:
    assert limited(0, None).why == "it declares no longest talk"


def test_the_limit_is_tried_over_a_real_socket() -> None:
    async def served() -> list[CaseResult]:
        behaviour = Behaviour(closes=seconds(1), reason="session expired")
        async with serve(facade_of("websocket"), behaviour) as port:
            return await probe(WebSocket(url=f"ws://127.0.0.1:{port}", longest=1.0), "wall", [LIMIT], None)

    (result,) = run_on("wall", served())
    assert result.outcome == "passed" or "ended it" in result.why, result.why


def test_the_limit_is_held_only_where_it_is_asked_for_and_of_a_server_of_yours() -> None:
    system = replace(Twin(), traits=replace(Twin().traits, longest=seconds(1)))
    with pytest.raises(InputError, match="expected a server of yours, by its url"):
        conform(system, cases=(8,), limit=True)
    with pytest.raises(InputError, match="--limit: found moshi"):
        conform(Moshi(), cases=(8,), limit=True)
    found = CliRunner().invoke(main, ["conform", "scripted", "--clock", "virtual", "--case", "8", "--limit", "--json"])
    assert '"why": "it declares no longest talk"' in found.stdout and found.exit_code == 0


# The virtual clock.


@dataclass
class Moody:
    """A system that answers, and from one talk to the next a little later or in another voice."""

    later: int = 0
    louder: float = 0.0
    talks: int = 0
    traits: Traits = field(default_factory=lambda: Twin().traits)
    spec: Spec = field(default_factory=lambda: Spec("moody"))

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[Any]:
        answer, self.talks = ms(500) + self.talks * self.later, self.talks + 1
        async with Twin(replace(USUAL, answer=answer).to_json()).connect(prompt) as link:
            yield _Louder(link, 1 + self.talks * self.louder)


class _Louder:
    def __init__(self, link: Any, gain: float) -> None:
        self.link, self.gain, self.ready = link, gain, link.ready
        self.send, self.heard, self.finish = link.send, link.heard, link.finish

    async def __aiter__(self) -> Any:
        async for event in self.link:
            samples = getattr(event, "samples", None)
            yield event if samples is None else replace(event, samples=(samples * np.float32(self.gain)))


def test_a_system_that_says_the_same_twice_passes() -> None:
    result = judged(Moody(), SAME)
    assert result.outcome == "passed" and float(result.measured["events"]) > 1


@pytest.mark.parametrize(
    ("system", "why"),
    [
        (Moody(later=ms(1)), "the sound of two talks on it differ, from number 1 on: at 3.0"),
        (Moody(louder=0.01), "two talks on it sound different, though as much came"),
    ],
)
def test_one_that_does_not_must_not_declare_the_clock(system: Any, why: str) -> None:
    result = judged(system, SAME)
    assert result.outcome == "failed" and result.why.startswith(why) and "must not declare it" in result.why


def test_the_virtual_clock_is_tried_beside_the_cases_where_it_is_declared() -> None:
    results = conform(Moody(), clocks=("virtual",))
    assert [r.number for r in results if r.number > 26] == [SAME]
    assert render(results).title == "26 cases, and 1 beyond them of what it declares"
    assert [r.number for r in conform(Moody(), clocks=("virtual",), cases=(8,))] == [8]


# What is not installed.


def test_a_library_that_is_missing_stops_conform_and_is_no_failed_case(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Any:
        raise PluginError("system 'nova-sonic' needs h2, which is not installed; install fullduplex[nova]")

    monkeypatch.setattr("fullduplex.systems.nova_sonic.http2._library", missing)
    given = ["conform", "nova-sonic:url=http://127.0.0.1:9", "--json"]
    found = CliRunner().invoke(main, given)
    assert isinstance(found.exception, PluginError) or "needs h2" in found.output
    assert "failed" not in found.stdout and "PluginError" not in found.output
