"""The cases pass for the loopback systems, and each of them can fail."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from fullduplex import cli
from fullduplex.driving.clock import run_virtual
from fullduplex.driving.link import Closed, Happening, Note, Position, Traits, UserVad
from fullduplex.driving.playout import Chunk, Flush, Samples
from fullduplex.model.spans import ms, seconds
from fullduplex.systems.loopback import Loopback
from fullduplex.systems.scripted import Answer, Script, Scripted, Sound
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.cases import CASES
from fullduplex.testing.conform import conform, failed, render, to_json, unjudged
from fullduplex.testing.loopback import Twin
from fullduplex.testing.stage import Case, CaseResult, Failed, Stage, play


@pytest.fixture(scope="module")
def virtual() -> dict[int, CaseResult]:
    return {result.number: result for result in conform(Twin(), clocks=("virtual",))}


@pytest.mark.parametrize("number", range(1, 27))
def test_the_twin_passes_on_the_virtual_clock(virtual: dict[int, CaseResult], number: int) -> None:
    assert (virtual[number].outcome, virtual[number].why) == ("passed", "")


def test_the_loopback_passes_over_real_sockets() -> None:
    # Those that lean least on how busy the machine is; all of them are run by `fullduplex conform loopback`.
    results = conform(Loopback(), clocks=("wall",), cases=(3, 4, 18, 19, 24))
    assert [(result.number, result.why) for result in results if result.outcome not in ("passed", "not judged")] == []


@dataclass(frozen=True)
class Faulty:
    """A client with one fault: what becomes of each event, of each frame, of each position."""

    system: Twin
    event: Callable[[Happening], Happening | None] = lambda event: event
    hurry: bool = False
    far: int = 0
    mute: bool = False
    deaf_to_texts: bool = False
    ready_early: bool = False

    @property
    def spec(self) -> Any:
        return self.system.spec

    @property
    def traits(self) -> Traits:
        return self.system.traits

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator["_Faulty"]:
        async with self.system.connect(prompt) as link:
            yield _Faulty(link, self)


class _Faulty:
    def __init__(self, link: Any, faults: Faulty) -> None:
        self.link, self.faults, self.ready = link, faults, link.ready
        self.sent = 0
        self.owed: list[Samples] = []

    async def send(self, frame: Samples) -> None:
        self.sent += 1
        if self.faults.mute and self.sent > 30:
            return
        self.owed.append(frame)
        if self.faults.hurry and 10 < self.sent < 20:
            return
        for owed in self.owed:
            await self.link.send(owed)
        self.owed = []

    async def heard(self, position: Position) -> None:
        await self.link.heard(replace(position, played=position.played + self.faults.far))

    async def finish(self) -> None:
        await self.link.finish()

    async def __aiter__(self) -> AsyncIterator[Happening]:
        async for event in self.link:
            kept = self.faults.event(event)
            if kept is not None:
                yield kept


def without(*kinds: type) -> Callable[[Happening], Happening | None]:
    return lambda event: None if isinstance(event, kinds) else event


def changed(kind: type, change: Callable[[Any], Happening]) -> Callable[[Happening], Happening | None]:
    return lambda event: change(event) if isinstance(event, kind) else event


def slower(chunk: Chunk) -> Chunk:
    return replace(chunk, samples=np.repeat(chunk.samples, 2))


def anonymous(chunk: Chunk) -> Chunk:
    return replace(chunk, id="u9")


def unheard(_: Any) -> Chunk:
    return Chunk(np.zeros(480, np.float32))


FAULTS: dict[str, tuple[dict[str, Any], tuple[int, ...]]] = {
    "loses flushes": ({"event": without(Flush)}, (3, 4, 5, 26)),
    "gives audio no id": ({"event": changed(Chunk, anonymous)}, (3, 4)),
    "flushes all where one id is meant": ({"event": changed(Flush, lambda f: replace(f, scope=None))}, (4,)),
    "makes up flushes": ({"event": changed(UserVad, lambda _: Flush())}, (5, 19)),
    "plays at half the speed": ({"event": changed(Chunk, slower)}, (1, 11, 12, 16, 17, 20, 24, 25)),
    "loses notes": ({"event": without(Note)}, (17, 19)),
    "loses what is not audio": ({"event": without(Note, UserVad, Flush)}, (5, 17, 19, 26)),
    "does not tell that the talk closed": ({"event": changed(Closed, lambda c: replace(c, reason=""))}, (18,)),
    "sends what it owes at once": ({"hurry": True}, (15,)),
    "sends no silence": ({"mute": True}, (16,)),
    "says that it heard more than came": ({"far": seconds(5)}, (23,)),
    "forgets where output belongs": ({"event": changed(Chunk, lambda c: replace(c, source=None))}, (14,)),
}


@pytest.mark.parametrize(
    ("fault", "number"), [(fault, number) for fault, (_, numbers) in FAULTS.items() for number in numbers]
)
def test_a_faulty_client_fails(fault: str, number: int) -> None:
    def make(behaviour: Behaviour, traits: Traits, reported: Any, **more: Any) -> Any:
        twin = Twin(behaviour.to_json(), replace(traits, virtual=True), reported=reported, **more)
        return Faulty(twin, **FAULTS[fault][0])

    async def played() -> CaseResult:
        return await play(CASES[number], Stage("virtual", make, ms(1)))

    result = run_virtual(played())
    assert result.outcome == "failed" and result.why


@pytest.mark.parametrize(
    ("number", "other"),
    [
        (1, {"burst": 4.0}),
        (2, {"jitter": 0}),
        (6, {"yields": None}),
        (7, {"lost": (20,)}),
        (8, {"handshake": 0}),
        (9, {"busy": False}),
        (10, {"rtf": 1.1}),
        (10, {"drops": (7,)}),
        (13, {"rtf": 0.9}),
        (21, {"closes": seconds(1)}),
        (22, {"drift": 0.062}),
        (25, {"say": ()}),
    ],
)
def test_a_server_that_does_otherwise_fails(number: int, other: dict[str, Any]) -> None:
    def make(behaviour: Behaviour, traits: Traits, reported: Any, **more: Any) -> Any:
        return Twin(replace(behaviour, **other).to_json(), replace(traits, virtual=True), reported=reported, **more)

    async def played() -> CaseResult:
        return await play(CASES[number], Stage("virtual", make, ms(1)))

    assert run_virtual(played()).outcome == "failed"


def answering(timing_burst: bool) -> Scripted:
    sound = Sound(np.full(48_000, 0.3, np.float32), "two seconds of it")
    return Scripted(Script((Answer(sound, ms(600), again=True),), yields=ms(250)), burst=timing_burst)


@pytest.fixture(scope="module", params=[True, False], ids=["burst", "paced"])
def outside(request: pytest.FixtureRequest) -> tuple[bool, dict[int, CaseResult]]:
    return request.param, {result.number: result for result in conform(answering(request.param))}


def test_another_system_is_judged_from_outside(outside: tuple[bool, dict[int, CaseResult]]) -> None:
    bursts, results = outside
    passed = {number for number, result in results.items() if result.outcome == "passed"}
    assert passed == ({1, 2, 3, 8, 15, 16, 17, 18, 23, 25, 28} if bursts else {1, 2, 6, 8, 15, 16, 17, 18, 23, 25, 28})


def test_what_does_not_apply_says_why(outside: tuple[bool, dict[int, CaseResult]]) -> None:
    _, results = outside
    others = [result for result in results.values() if result.outcome == "not applicable"]
    assert set(results) == {*range(1, 27), 28} and not failed(results.values())
    assert all(result.why for result in others)
    assert results[12].why == "needs a server that can be told to cut its pages"


@dataclass(frozen=True)
class Claims:
    """A system that declares what is not so."""

    system: Any
    traits: Traits

    @property
    def spec(self) -> Any:
        return self.system.spec

    def connect(self, prompt: str) -> Any:
        return self.system.connect(prompt)


def test_a_system_that_sends_faster_than_it_declares_fails() -> None:
    behaviour = Behaviour(answer=ms(500), answer_length=seconds(2), pace="burst", burst=5)
    plain = Twin(behaviour.to_json())
    (result,) = conform(Claims(plain, replace(plain.traits, timing="paced")), cases=(1,))
    assert result.outcome == "failed" and "5.00 times" in result.why


def test_a_system_that_flushes_against_its_word_fails() -> None:
    burst = answering(True)
    (result,) = conform(Claims(burst, replace(burst.traits, flush="none")), cases=(6,))
    assert (result.outcome, result.why) == ("failed", "declares no flush and sent one")


def test_a_system_that_cannot_be_opened_fails_in_a_sentence() -> None:
    class Shut:
        spec, traits = Scripted().spec, Traits(virtual=True)

        def connect(self, prompt: str) -> Any:
            raise OSError("nobody\x1b[31m is there")

    results = conform(Shut(), cases=(8, 15, 18))
    assert {result.outcome for result in results} == {"failed"}
    assert all("nobody" in result.why and "\x1b" not in result.why for result in results)


def test_results_are_json_and_a_table(virtual: dict[int, CaseResult]) -> None:
    told = to_json(Twin(), list(virtual.values()))
    assert told["counts"] == {"passed": 26, "failed": 0, "not judged": 0, "not applicable": 0}
    assert json.loads(json.dumps(told, allow_nan=False))["cases"][0]["case"] == 1
    assert render(list(virtual.values())).row_count == 26


def test_talks_are_not_held_up_by_what_is_computed() -> None:
    stage = Stage("virtual", lambda *_: answering(False), ms(1))
    order: list[str] = []

    async def one(case: int, begins: float, lasts: float) -> None:
        await asyncio.sleep(begins)
        async with stage.resting.talk(case):
            order.append(f"{case} begins")
            await asyncio.sleep(lasts)
            order.append(f"{case} over")
        order.append(f"{case} reads")
        await asyncio.sleep(1)
        order.append(f"{case} has read")
        stage.resting.done(case)

    async def three() -> None:
        await asyncio.gather(one(1, 0, 1), one(2, 0, 2), one(3, 2.5, 1))

    run_virtual(three())
    assert order[:4] == ["1 begins", "2 begins", "1 over", "2 over"]
    # Nor does one begin while another case reads.
    assert order.index("3 begins") > max(order.index("1 has read"), order.index("2 has read"))


def test_a_case_may_hold_another_talk_after_it_read_the_first() -> None:
    stage = Stage("virtual", lambda *_: answering(False), ms(1))

    async def twice(case: int) -> None:
        for _ in range(2):
            async with stage.resting.talk(case):
                await asyncio.sleep(1)
        stage.resting.done(case)

    async def both() -> None:
        async with asyncio.timeout(10):
            await asyncio.gather(twice(1), twice(2))

    run_virtual(both())


# A machine that is late.


@pytest.mark.parametrize(
    ("late", "wrong", "outcome"),
    [(61, True, "not judged"), (60, True, "failed"), (500, False, "passed"), (0, False, "passed")],
)
def test_what_fails_on_a_late_machine_is_not_judged(late: int, wrong: bool, outcome: str) -> None:
    async def run(stage: Stage) -> dict[str, float]:
        stage.late.worst = ms(late)
        if wrong:
            raise Failed("ready at 5.1840 s, not at 5.0000 s")
        return {}

    case = Case(1, "a case", "", run, "")
    (result,) = [asyncio.run(play(case, Stage("wall", lambda *_: Twin(), ms(60))))]
    assert result.outcome == outcome
    assert failed([result]) == (outcome == "failed") and unjudged([result]) == (outcome == "not judged")
    if outcome == "not judged":
        assert result.why.startswith("this machine was 61 ms late") and "--clock virtual" in result.why
        assert "ready at 5.1840 s" in result.why
    assert to_json(Twin(), [result])["counts"][outcome] == 1 and render([result]).row_count == 1


def test_a_process_that_stands_still_is_late() -> None:
    code = (
        "import time; from fullduplex.testing.busy import Lateness\n"
        "late = Lateness()\nwith late.watched():\n    print('on', flush=True); time.sleep(1)\nprint(late.worst)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "on\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGSTOP)
    time.sleep(0.4)
    process.send_signal(signal.SIGCONT)
    told, _ = process.communicate(timeout=30)
    assert int(told) >= ms(300)


def test_the_command_says_that_a_case_was_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = [CaseResult(1, "a case", "wall", "not judged", "this machine was 61 ms late")]
    monkeypatch.setattr("fullduplex.testing.conform.conform", lambda *_, **__: busy)
    done = CliRunner().invoke(cli.main, ["conform", "loopback"])
    assert done.exit_code == 3 and "1 case not judged: this machine was too busy" in done.stderr
    failing = [*busy, CaseResult(2, "another", "wall", "failed", "wrong")]
    monkeypatch.setattr("fullduplex.testing.conform.conform", lambda *_, **__: failing)
    done = CliRunner().invoke(cli.main, ["conform", "loopback"])
    assert done.exit_code == 4 and "1 case failed: 2 (wall)" in done.stderr
