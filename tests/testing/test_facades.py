"""Facades: how they are found, that a fault of a driver fails its case, and that a plug-in's author can use them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.clock import run_on, run_virtual
from fullduplex.driving.drive import drive
from fullduplex.driving.link import Closed, Happening, Link, Position, Ready, Traits
from fullduplex.driving.playout import Chunk, Samples
from fullduplex.errors import PluginError
from fullduplex.model.spans import ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.plugins import members
from fullduplex.systems.moshi import Moshi
from fullduplex.systems.wire import Door, Gone, Wire, connected
from fullduplex.testing.behaviour import Behaviour, Utterance
from fullduplex.testing.cases import CASES
from fullduplex.testing.conform import NEAR
from fullduplex.testing.facades import Facade, Peer, Spoken, facade_of, has_facade
from fullduplex.testing.facades.serving import FacedTwin, serve, served
from fullduplex.testing.stage import CaseResult, Stage, play
from fullduplex.testing.watermark import stretches

# A protocol of the kind that a plug-in brings: text to open, raw samples both ways.


class Plain:
    rate_in = 16_000

    def __init__(self, behaviour: Behaviour) -> None: ...

    async def open(self, peer: Peer, getting_ready: Callable[[], Awaitable[None]]) -> None:
        await getting_ready()
        await peer.send("ready " + peer.path)

    def says(self, event: Spoken | Any) -> list[str | bytes]:
        return [event.data] if isinstance(event, Spoken) else []

    def hears(self, message: str | bytes) -> list[Any]:
        assert isinstance(message, bytes)
        return [np.frombuffer(message, "<f4")]


def plain(options: Any) -> Facade:
    return Facade("plain", Plain, beside={3: "it has no flush"})


@dataclass(frozen=True)
class PlainSystem:
    url: str = ""
    ready_within: float = 5.0
    spec = Spec("plain")
    traits = Traits(16_000, 24_000, ms(20))

    def door(self, prompt: str) -> Door:
        return Door(self.url or "ws://localhost:1/talk?voice=a")

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[Link]:
        async with connected(self, prompt) as link:
            yield link

    @asynccontextmanager
    async def over(self, wire: Wire, prompt: str) -> AsyncIterator[Link]:
        told = await wire.receive()
        yield PlainLink(wire, Ready({"told": told}))


class PlainLink:
    def __init__(self, wire: Wire, ready: Ready) -> None:
        self.ready, self._wire = ready, wire

    async def send(self, frame: Samples) -> None:
        await self._wire.send(frame.astype("<f4").tobytes())

    async def heard(self, position: Position) -> None: ...

    async def finish(self) -> None: ...

    async def __aiter__(self) -> AsyncIterator[Happening]:
        while True:
            try:
                message = await self._wire.receive()
            except Gone as error:
                yield Closed(str(error))
                return
            assert isinstance(message, bytes)
            yield Chunk(np.frombuffer(message, "<i2").astype(np.float32) / np.float32(32_768), "u1")


SPEAKS = Behaviour(say=(Utterance(ms(200), ms(600), 30),))


def test_a_plug_ins_driver_meets_its_facade_in_memory() -> None:
    talk = run_virtual(drive(FacedTwin(PlainSystem(), plain({}), SPEAKS), (), length=seconds(1)))
    assert talk.ready.settings["told"] == "ready /talk?voice=a"
    (heard,) = stretches(talk.system, talk.rate)
    assert (heard.at, heard.duration) == (ms(200), ms(600))


def test_and_over_a_real_socket() -> None:
    async def talk() -> Any:
        async with serve(plain({}), SPEAKS) as port:
            return await drive(PlainSystem(f"ws://127.0.0.1:{port}/x"), (), length=seconds(1))

    held = run_on("wall", talk())
    assert held.ready.settings["told"] == "ready /x"
    assert sum(part.duration for part in stretches(held.system, held.rate)) == pytest.approx(ms(600), abs=ms(60))


def test_the_account_of_a_talk_comes_when_it_is_over() -> None:
    reports: list[Any] = []
    run_virtual(drive(FacedTwin(PlainSystem(), plain({}), SPEAKS, reports.append), (), length=seconds(1)))
    assert [(report["frames"], report["sent"]) for report in reports] == [(50, ms(600))]


def test_every_facade_is_of_a_system() -> None:
    names = {plugin.name for plugin in members("facades")}
    assert {"moshi", "personaplex", "flm-audio", "raon"} <= names <= {plugin.name for plugin in members("systems")}
    assert has_facade("moshi") and not has_facade("recorded")


def test_a_facade_that_there_is_not_is_a_sentence() -> None:
    with pytest.raises(PluginError, match="no facade is called 'nothing'"):
        facade_of("nothing")


def test_a_facade_is_served_alone_for_a_vendors_client() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "fullduplex.testing.facades", "moshi", "--behaviour", json.dumps(SPEAKS.to_json())],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        port = process.stdout.readline().strip()
        talk = run_on("wall", drive(Moshi(f"ws://127.0.0.1:{port}"), (), length=ms(1_500)))
        assert stretches(talk.system, talk.rate)
    finally:
        process.terminate()
        process.wait(5)
        process.stdout.close()


def test_a_stand_behaves_anew_at_each_port_and_ends_with_its_owner() -> None:
    with served("moshi") as stand:
        urls = [stand.behaving(Behaviour(closes=ms(200), reason=reason)) for reason in ("one", "two")]
        assert len(set(urls)) == 2
        for url, reason in zip(urls, ("one", "two"), strict=True):
            with pytest.raises(Exception, match=reason):
                run_on("wall", drive(Moshi(url), (), length=seconds(1)))
            assert stand.report(url)["frames"] >= 1
        process = stand._process
    assert process.poll() is not None


# Each fault of a client that was seen elsewhere fails its case.


@dataclass(frozen=True)
class Faulty(Moshi):
    """Moshi's driver with one fault."""

    fault: str = ""

    @asynccontextmanager
    async def over(self, wire: Wire, prompt: str) -> Any:
        if self.fault == "talks before the handshake":
            await wire.send(b"\x01")
        async with Moshi.over(self, wire, prompt) as link:
            yield _FaultyLink(link, self.fault)


class _FaultyLink:
    def __init__(self, link: Any, fault: str) -> None:
        self._link, self._fault, self.ready = link, fault, link.ready
        self.heard, self.finish = link.heard, link.finish
        self._held: list[Any] = []

    async def send(self, frame: Samples) -> None:
        if self._fault == "drops a frame" and not self._held:
            self._held.append(frame)
            return
        await self._link.send(frame)

    async def __aiter__(self) -> AsyncIterator[Happening]:
        first = True
        async for event in self._link:
            if isinstance(event, Chunk) and first:
                first = False
                if self._fault == "a frame of silence in front":
                    yield Chunk(np.zeros(1_920, np.float32), source=0)
                if self._fault == "acts on the pre-skip":
                    event = Chunk(event.samples[:0], source=event.source)
            yield event


def judged(fault: str, number: int) -> CaseResult:
    facade = facade_of("moshi")

    def make(behaviour: Behaviour, traits: Traits, reported: Any, ready_within: int | None = None) -> Any:
        return FacedTwin(Faulty(fault=fault), facade, behaviour, reported)

    stage = Stage("virtual", make, NEAR["virtual"], terms=facade.terms, beside=facade.beside)
    return run_virtual(play(CASES[number], stage))


@pytest.mark.parametrize(
    ("fault", "number"),
    [
        ("a frame of silence in front", 12),
        ("acts on the pre-skip", 12),
        ("drops a frame", 8),
    ],
)
def test_a_fault_fails_its_case(fault: str, number: int) -> None:
    assert judged("", number).outcome == "passed"
    assert judged(fault, number).outcome == "failed"


def test_what_does_not_apply_says_why() -> None:
    result = judged("", 3)
    assert (result.outcome, result.why) == ("not applicable", "the protocol has no flush")


def test_personaplexs_facade_tells_a_client_that_does_not_wait() -> None:
    facade = facade_of("personaplex")

    async def talk() -> str:
        peer = _Early()
        dialect = facade.dialect(Behaviour())
        with pytest.raises(Exception, match="before the handshake"):
            await dialect.open(peer, lambda: asyncio.sleep(1))
        return "closed"

    assert run_virtual(talk()) == "closed"


class _Early:
    path = "/api/chat?voice_prompt=a&text_prompt=b"
    headers: Mapping[str, str] = {}

    async def send(self, message: str | bytes) -> None: ...

    async def receive(self) -> str | bytes:
        return b"\x01"

    async def close(self, reason: str) -> None: ...
