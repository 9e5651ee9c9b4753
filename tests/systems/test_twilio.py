"""Twilio Media Streams: the driver as Twilio, against its facade and against what Pipecat's serializer wrote."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.clock import run_on, run_virtual
from fullduplex.driving.drive import BrokenTalk, Talk, drive
from fullduplex.driving.link import Note, Position
from fullduplex.driving.playout import Chunk, Flush
from fullduplex.errors import ConversationError, PluginError
from fullduplex.model.spans import ms, seconds
from fullduplex.plugins import make
from fullduplex.systems.twilio import Talking, Twilio, signature
from fullduplex.systems.wire import Gone
from fullduplex.testing.behaviour import Behaviour, Sent, Utterance
from fullduplex.testing.conform import conform
from fullduplex.testing.facades import Unheard, facade_of
from fullduplex.testing.facades.serving import FacedTwin
from fullduplex.testing.facades.twilio import Agent
from fullduplex.testing.watermark import stretches

FIXTURE = Path(__file__).parent / "fixtures" / "twilio" / "server.jsonl"
SPEAKS = Utterance(ms(300), seconds(1), 40)
SOUND = base64.b64encode(bytes([0xFF]) * 400).decode()


def talked(behaviour: Behaviour) -> Talk:
    return run_virtual(drive(FacedTwin(Twilio(), facade_of("twilio"), behaviour), (), length=seconds(2)))


class Reading:
    """A wire from which some messages are read; what is sent is kept."""

    def __init__(self, *messages: Any) -> None:
        self.messages = [m if isinstance(m, str | bytes) else json.dumps(m) for m in messages]
        self.sent: list[Any] = []

    async def send(self, message: str | bytes) -> None:
        self.sent.append(json.loads(message))

    async def receive(self) -> str | bytes:
        if not self.messages:
            raise Gone("1000")
        return self.messages.pop(0)


def media() -> dict[str, Any]:
    return {"event": "media", "streamSid": "MZ1", "media": {"payload": SOUND}}


def mark(name: Any) -> dict[str, Any]:
    return {"event": "mark", "streamSid": "MZ1", "mark": {"name": name}}


CLEAR = {"event": "clear", "streamSid": "MZ1"}


def events_and_marks(*steps: Any) -> tuple[list[Any], list[tuple[int, str]]]:
    """Return the events of a call, and after which step each mark came back: messages, or positions that are heard."""

    async def call() -> tuple[list[Any], list[tuple[int, str]]]:
        wire = Reading()
        talking = Talking(wire, {}, "AC0")
        events: list[Any] = []
        marks: list[tuple[int, str]] = []
        for n, step in enumerate(steps):
            if isinstance(step, Position):
                await talking.heard(step)
            else:
                events += await talking.understood(step if isinstance(step, str | bytes) else json.dumps(step))
            marks += [(n, sent["mark"]["name"]) for sent in wire.sent]
            wire.sent.clear()
        return events, marks

    return asyncio.run(call())


def test_every_case_passes_or_does_not_apply() -> None:
    results = conform(Twilio(), clocks=("virtual",))
    assert [(r.number, r.why) for r in results if r.outcome == "failed"] == []
    assert sum(r.outcome == "passed" for r in results) == 13
    assert all(r.why for r in results if r.outcome == "not applicable")


def test_the_driver_passes_over_real_sockets() -> None:
    found = conform(Twilio(), clocks=("wall",), cases=(15, 18, 23))
    assert [(r.number, r.why) for r in found if r.outcome not in ("passed", "not judged")] == []


def test_a_call_begins_and_ends_as_twilios_do() -> None:
    async def sent() -> list[Any]:
        wire = Reading()
        async with Twilio(parameters="language=en;tier=gold").over(wire, "Be kind.") as talking:
            for _ in range(2):
                await talking.send(np.zeros(160, np.float32))
        return wire.sent

    connected, start, first, second, stop = asyncio.run(sent())
    assert connected == {"event": "connected", "protocol": "Call", "version": "1.0.0"}
    about = start["start"]
    assert about["mediaFormat"] == {"encoding": "audio/x-mulaw", "sampleRate": 8_000, "channels": 1}
    assert about["customParameters"] == {"language": "en", "tier": "gold", "prompt": "Be kind."}
    assert start["streamSid"] == about["streamSid"] and about["tracks"] == ["inbound"]
    assert [m["sequenceNumber"] for m in (start, first, second, stop)] == ["1", "2", "3", "4"]
    assert (second["media"]["chunk"], second["media"]["timestamp"], second["media"]["track"]) == ("2", "20", "inbound")
    assert base64.b64decode(second["media"]["payload"]) == bytes([0xFF]) * 160
    assert stop["event"] == "stop" and stop["stop"]["callSid"] == about["callSid"]


def test_two_calls_are_two_streams() -> None:
    async def stream() -> str:
        wire = Reading()
        async with Twilio().over(wire, ""):
            return str(wire.sent[1]["streamSid"])

    assert asyncio.run(stream()) != asyncio.run(stream())


def test_a_mark_comes_back_once_all_before_it_has_sounded() -> None:
    _, marks = events_and_marks(
        media(), mark("a"), media(), mark("b"),
        Position(ms(20), "s0", ms(20)),
        Position(ms(40), "s0", ms(50)),
        Position(ms(60), "s0", ms(99)),
        Position(ms(80), "s0", ms(100)),
    )  # fmt: skip
    assert marks == [(5, "a"), (7, "b")]


def test_a_mark_behind_nothing_comes_back_at_once() -> None:
    assert events_and_marks(mark("a"), media(), mark("b"))[1] == [(0, "a")]


def test_clear_takes_back_everything_and_sends_all_marks_back() -> None:
    events, marks = events_and_marks(media(), mark("a"), media(), mark("b"), CLEAR, media(), mark("c"))
    assert [event for event in events if isinstance(event, Flush)] == [Flush(None)]
    assert marks == [(4, "a"), (4, "b")]
    assert [event.id for event in events if isinstance(event, Chunk)] == ["s0", "s0", "s1"]


def test_sound_after_a_pause_is_a_new_stretch_and_its_mark_waits_for_it() -> None:
    quiet = Position(ms(700), "s0", ms(50))
    steps = (media(), Position(ms(60), "s0", ms(50)), quiet, media(), mark("a"), quiet, Position(ms(720), "s1", ms(50)))
    events, marks = events_and_marks(*steps)
    assert [event.id for event in events if isinstance(event, Chunk)] == ["s0", "s1"]
    assert marks == [(6, "a")]


def test_on_the_line_a_mark_comes_back_within_a_frame_of_its_sound() -> None:
    reports: list[Any] = []
    behaviour = Behaviour(say=(SPEAKS,), pace="burst")
    twin = FacedTwin(Twilio(), facade_of("twilio"), behaviour, reports.append)
    run_virtual(drive(twin, (), length=seconds(2)))
    assert reports[0]["acks"] == 50 and reports[0]["acks_beyond"] == 0


def test_the_librarys_messages_are_understood() -> None:
    texts = [json.loads(line)["text"] for line in FIXTURE.read_text().splitlines()]
    events = events_and_marks(*texts)[0]
    assert {type(event) for event in events} == {Chunk, Flush}
    assert all(len(event.samples) > 0 for event in events if isinstance(event, Chunk))


def test_the_facade_writes_as_the_library_does() -> None:
    theirs = [json.loads(json.loads(line)["text"]) for line in FIXTURE.read_text().splitlines()]
    agent = Agent(Behaviour())
    agent._stream = "MZ1"
    mine = [json.loads(text) for text in agent.says({"type": "flush"})]
    assert set(mine[0]) == set(next(message for message in theirs if message["event"] == "clear"))


def test_the_facade_refuses_what_twilio_never_says() -> None:
    async def opened(*messages: Any) -> None:
        class Caller(Reading):
            path = "/"
            headers: Mapping[str, str] = MappingProxyType({})

            async def close(self, reason: str) -> None: ...

        await Agent(Behaviour()).open(Caller(*messages), lambda: asyncio.sleep(0))

    with pytest.raises(Unheard, match="connected"):
        asyncio.run(opened({"event": "start"}))
    with pytest.raises(Unheard, match="start"):
        asyncio.run(opened({"event": "connected", "protocol": "Call"}, media()))


@pytest.mark.parametrize("odd", ["null", "[", {"event": "media"}, mark(5), {"event": "hold"}, b"\x00"])
def test_what_is_not_understood_is_a_note(odd: Any) -> None:
    ((event,), _) = events_and_marks(odd)
    assert isinstance(event, Note) and event.kind in ("unreadable", "unknown")


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"resets": ms(600)}, "broke off"),
        ({"closes": ms(600), "reason": "hung up"}, "hung up"),
        ({"messages": tuple(Sent(ms(600), json.dumps(mark("x"))) for _ in range(10_001))}, "more than 10000 marks"),
    ],
)
def test_a_call_that_ends_in_the_middle_is_kept_and_flagged(fault: dict[str, Any], reason: str) -> None:
    with pytest.raises(BrokenTalk, match=reason) as broken:
        talked(Behaviour(say=(SPEAKS,), pace="burst", **fault))
    talk = broken.value.talk
    assert talk is not None and stretches(talk.system, talk.rate)


def test_the_signature_is_the_one_that_twilios_library_computes() -> None:
    # RequestValidator of twilio 9.13.0, for this URL and token.
    assert (
        signature("wss://agent.example.com/media?x=1", "0123456789abcdef0123456789abcdef")
        == "PGrcONoVh37rmYpnqEXzZs2/bHw="
    )


def test_a_key_signs_and_is_not_told() -> None:
    system = Twilio("wss://agent.example.com", key="secret")
    door = system.door("")
    assert door.headers == {"X-Twilio-Signature": signature("wss://agent.example.com/", "secret")}
    assert "secret" not in repr(system) + repr(door) + str(system.spec.to_json())


def test_no_agent_is_a_sentence() -> None:
    with pytest.raises(ConversationError, match=r"127\.0\.0\.1:1/media: no telephone agent answers there"):
        run_on("wall", drive(Twilio("ws://127.0.0.1:1/media"), (), length=seconds(1)))


@pytest.mark.parametrize("text", ["language", "=en", "a=\x1b[31m"])
def test_parameters_that_are_none_are_a_sentence(text: str) -> None:
    with pytest.raises(PluginError, match="NAME=VALUE"):
        make("systems", "twilio", {"parameters": text}, Path())


@pytest.mark.parametrize("mark", [{"name": "nobody's"}, {"name": ":"}, {}])
def test_a_mark_that_the_facade_never_sent_is_told(mark: Any) -> None:
    told = {"event": "mark", "streamSid": "", "sequenceNumber": "1", "mark": mark}
    with pytest.raises(Unheard, match="never sent"):
        Agent(Behaviour()).hears(json.dumps(told))
