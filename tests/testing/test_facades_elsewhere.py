"""Facades that are on no WebSocket: over HTTP, in a WebRTC call, within the driver's process."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import wave
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest

from fullduplex.driving.clock import run_on
from fullduplex.driving.drive import drive
from fullduplex.errors import InputError, PluginError
from fullduplex.model.spans import ms, seconds
from fullduplex.systems.mini_omni2 import MiniOmni2
from fullduplex.systems.mini_omni2.multipart import Part, Parts
from fullduplex.testing.behaviour import Behaviour, Utterance
from fullduplex.testing.conform import conform
from fullduplex.testing.facades import Facade, facade_of
from fullduplex.testing.facades.livekit import AGENT
from fullduplex.testing.facades.mini_omni2 import KIND, asking, part, played
from fullduplex.testing.facades.serving import serve
from fullduplex.testing.stage import Terms
from fullduplex.testing.watermark import stretches

SPEAKS = Behaviour(say=(Utterance(ms(400), ms(600), 30),), pace="burst")


def outcomes(results: Any) -> dict[int, str]:
    return {result.number: result.outcome if result.outcome != "failed" else result.why for result in results}


# Over HTTP.


def test_the_cases_that_plan_little_pass_over_http() -> None:
    found = outcomes(conform(MiniOmni2(), cases=(18, 19, 24, 26)))
    # Nobody can judge a talk while this machine is late.
    assert set(found.values()) <= {"passed", "not judged"}, found


def test_what_is_planned_sounds_at_its_moment_once_it_was_asked_for() -> None:
    async def talk() -> Any:
        reports: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
        async with serve(facade_of("mini-omni2"), SPEAKS, reported=reports.put_nowait) as port:
            system = played(MiniOmni2(f"http://127.0.0.1:{port}"))
            held = await drive(system, (), length=ms(1_600), bed=asking(ms(1_600)))
            return held, await asyncio.wait_for(reports.get(), 5)

    held, report = run_on("wall", talk())
    (heard,) = stretches(held.system, held.rate)
    # The server was ready a little before its client knew.
    assert (heard.source, heard.duration) == (600_000, ms(600)) and heard.at >= ms(360)
    assert report["sent"] == ms(600) and report["frames"] >= 2


def recording(rate: int = 16_000) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as writing:
        writing.setnchannels(1)
        writing.setsampwidth(2)
        writing.setframerate(rate)
        writing.writeframes(bytes(6_400))
    told = {"audio": base64.b64encode(file.getvalue()).decode(), "stream_stride": 4, "max_tokens": 100}
    return json.dumps(told).encode()


@asynccontextmanager
async def asked(behaviour: Behaviour) -> AsyncIterator[httpx.AsyncClient]:
    async with (
        serve(facade_of("mini-omni2"), behaviour) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=5) as client,
    ):
        assert (await client.get("/chat")).status_code == 405
        yield client


def test_a_recording_is_answered_in_parts_and_what_is_left_unsaid_is_empty() -> None:
    async def talk() -> list[list[Part]]:
        found = []
        async with asked(replace(SPEAKS, say=(Utterance(ms(50), ms(100)),))) as client:
            for _ in range(2):
                answer = await client.post("/chat", content=recording())
                assert answer.headers["content-type"] == KIND
                parts = Parts(KIND)
                found.append([*parts.take(answer.content), *parts.end()])
        return found

    first, second = run_on("wall", talk())
    assert [kept.kind for kept in first[:2]] == ["audio/wav", "text/plain"]
    assert sum(len(kept.body) for kept in first) == 2_400 * 2 and second == []


def test_one_client_after_another_has_a_talk_of_its_own_and_a_recording_may_open_it() -> None:
    async def talk() -> list[int]:
        said = replace(SPEAKS, say=(Utterance(ms(50), ms(100)),))
        async with serve(facade_of("mini-omni2"), said) as port:
            lengths = []
            for first in ("GET", "POST", "POST"):
                async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=5) as client:
                    if first == "GET":
                        await client.get("/chat")
                    lengths.append(len((await client.post("/chat", content=recording())).content))
        return lengths

    lengths = run_on("wall", talk())
    assert lengths[0] > 4_800 and len(set(lengths)) == 1


@pytest.mark.parametrize("body", [b"{}", b"nonsense", recording(8_000)])
def test_what_is_no_recording_ends_the_talk(body: bytes) -> None:
    async def talk() -> None:
        async with asked(SPEAKS) as client:
            await client.post("/chat", content=body)

    with pytest.raises(httpx.HTTPError):
        run_on("wall", talk())


def test_a_part_that_is_none_is_kept_as_of_no_type() -> None:
    parts = Parts(KIND)
    assert parts.take(b"\r\n--frame\r\nno head" + part("text/plain", b"well")) == [Part("", b"no head")]


def test_a_driver_that_interrupts_is_not_played_and_one_with_a_url_is_judged_from_outside() -> None:
    with pytest.raises(PluginError, match="interrupts=false"):
        conform(MiniOmni2(interrupts=True), cases=(1,))
    (result,) = conform(MiniOmni2(url="http://127.0.0.1:9", interrupts=True), cases=(11,))
    assert result.why == "needs a server that can be told to send Ogg-Opus"


def test_no_other_clock_than_the_wall_s_is_played_where_a_facade_needs_it() -> None:
    with pytest.raises(InputError, match="expected wall: the facade of mini-omni2 is on real time"):
        conform(MiniOmni2(), clocks=("virtual",), cases=(1,))


# In a call.


def test_the_cases_that_end_a_call_pass() -> None:
    pytest.importorskip("aiortc", reason="aiortc (extra webrtc) is not installed")
    from fullduplex.systems.pipecat import PipecatWebRtc

    found = outcomes(conform(PipecatWebRtc(), cases=(9, 18, 26)))
    assert set(found.values()) <= {"passed", "not judged"}, found


def test_a_call_without_the_library_is_a_sentence_that_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "aiortc", None)
    with pytest.raises(PluginError, match=r"install fullduplex\[webrtc\]"):
        facade_of("pipecat-webrtc")


@pytest.mark.parametrize(
    ("method", "body", "status"), [("POST", b"nonsense", 400), ("POST", b'{"sdp": 5}', 400), ("GET", b"", 405)]
)
def test_what_is_no_offer_is_refused(method: str, body: bytes, status: int) -> None:
    pytest.importorskip("aiortc", reason="aiortc (extra webrtc) is not installed")

    async def ask() -> int:
        async with serve(facade_of("pipecat-webrtc"), SPEAKS) as port, httpx.AsyncClient(trust_env=False) as client:
            answer = await client.request(method, f"http://127.0.0.1:{port}/api/offer", content=body)
            return answer.status_code

    assert run_on("wall", ask()) == status


# Within the driver's process.


class Named:
    def __init__(self, agent: str) -> None:
        self.agent = agent


def test_livekit_s_facade_is_the_server_of_its_own_agent_alone() -> None:
    facade = facade_of("livekit", {"rate_in": 24_000})
    assert facade.serves(Named(AGENT)) and not facade.serves(Named("agent.py:agent"))
    assert not facade.in_memory and facade.terms.rate_in == 24_000


def test_a_facade_is_for_a_system_without_a_url_unless_it_says_so() -> None:
    facade = Facade("x", Named, Terms())  # type: ignore[arg-type]
    assert facade.serves(MiniOmni2()) and not facade.serves(MiniOmni2(url="http://h:1"))
    assert not facade.serves(Named("a")) and facade.in_memory


def test_a_facade_that_is_no_server_is_not_served(capsys: pytest.CaptureFixture[str]) -> None:
    from fullduplex.testing.facades.__main__ import main

    with pytest.raises(SystemExit):
        main(["livekit"])
    assert "a part of the driver's process, and no server" in capsys.readouterr().err


def test_a_handshake_that_lasts_is_measured_over_http() -> None:
    async def talk() -> Any:
        async with serve(facade_of("mini-omni2"), replace(SPEAKS, handshake=ms(400))) as port:
            return await drive(MiniOmni2(f"http://127.0.0.1:{port}"), (), length=ms(100))

    assert ms(400) <= run_on("wall", talk()).handshake < seconds(2)
