"""Pipecat over a WebSocket: the driver against its facade, frames against the library's own, what can befall a talk."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.clock import run_on, run_virtual
from fullduplex.driving.drive import BrokenTalk, Talk, drive
from fullduplex.driving.link import Closed, Note, Position, Said, UserVad
from fullduplex.driving.playout import Chunk, Flush
from fullduplex.errors import ConversationError, PluginError
from fullduplex.model.spans import ms, seconds
from fullduplex.plugins import make
from fullduplex.systems.pipecat import Pipecat
from fullduplex.systems.pipecat.protobuf import Frame, read, written
from fullduplex.systems.pipecat.websocket import Talking
from fullduplex.systems.wire import Gone
from fullduplex.testing.behaviour import Behaviour, Utterance
from fullduplex.testing.conform import conform
from fullduplex.testing.facades import facade_of
from fullduplex.testing.facades.pipecat import Bot
from fullduplex.testing.facades.serving import FacedTwin
from fullduplex.testing.watermark import stretches

FIXTURES = Path(__file__).parent / "fixtures" / "pipecat"
SPEAKS = Utterance(ms(300), seconds(1), 40)


def kept(name: str) -> list[bytes]:
    """Return what the library wrote."""
    return [bytes.fromhex(json.loads(line)["hex"]) for line in (FIXTURES / name).read_text().splitlines()]


def talked(behaviour: Behaviour, system: Pipecat | None = None) -> Talk:
    system = system or Pipecat()
    twin = FacedTwin(system, facade_of("pipecat", system.spec.options), behaviour)
    return run_virtual(drive(twin, (), length=seconds(2)))


class Reading:
    """A wire from which some messages are read; what is sent is kept."""

    def __init__(self, *messages: str | bytes) -> None:
        self.messages = list(messages)
        self.sent: list[bytes] = []

    async def send(self, message: str | bytes) -> None:
        assert isinstance(message, bytes)
        self.sent.append(message)

    async def receive(self) -> str | bytes:
        if not self.messages:
            raise Gone("1000")
        return self.messages.pop(0)


def understood(*messages: str | bytes) -> list[Any]:
    async def events() -> list[Any]:
        return [event async for event in Talking(Reading(*messages), Pipecat(), False)][:-1]

    return asyncio.run(events())


def rtvi(kind: str, **data: Any) -> bytes:
    return written(Frame("message", json.dumps({"label": "rtvi-ai", "type": kind, "data": data})))


def test_every_case_passes_or_does_not_apply() -> None:
    results = conform(Pipecat(), clocks=("virtual",))
    assert [(r.number, r.why) for r in results if r.outcome == "failed"] == []
    assert sum(r.outcome == "passed" for r in results) == 16
    assert all(r.why for r in results if r.outcome == "not applicable")


def test_the_driver_passes_over_real_sockets() -> None:
    found = conform(Pipecat(), clocks=("wall",), cases=(9, 15, 18))
    assert [(r.number, r.why) for r in found if r.outcome not in ("passed", "not judged")] == []


# What the library wrote.


def test_the_librarys_frames_are_read() -> None:
    frames = [read(message) for message in kept("server.jsonl")]
    kinds = {frame.kind for frame in frames}
    assert {"audio", "interruption", "message"} <= kinds
    audio = [frame for frame in frames if frame.kind == "audio"]
    assert {(frame.rate, frame.channels, len(frame.audio)) for frame in audio} == {(24_000, 1, 1_920)}
    ready = json.loads(next(frame.text for frame in frames if frame.kind == "message"))
    assert (ready["label"], ready["type"]) == ("rtvi-ai", "bot-ready")


def test_the_driver_understands_all_that_the_library_wrote() -> None:
    events = understood(*kept("server.jsonl"))
    assert not [event for event in events if isinstance(event, Note) and event.kind in ("unknown", "unreadable")]
    assert any(isinstance(event, Said) and event.who == "system" for event in events)
    assert any(isinstance(event, Flush) for event in events) and any(isinstance(event, Chunk) for event in events)


def test_the_facade_hears_the_librarys_client() -> None:
    bot = Bot(Behaviour(), 16_000, rtvi=False)
    heard = [samples for message in kept("client.jsonl") for samples in bot.hears(message)]
    assert len(heard) == len(kept("client.jsonl")) and all(len(samples) == 640 for samples in heard)


def test_frames_are_written_as_the_library_writes_them_but_for_its_names() -> None:
    mine = written(Frame("audio", audio=b"\x01\x02", rate=16_000, channels=1))
    assert mine == bytes.fromhex("1209" + "1a020102" + "20807d" + "2801")
    theirs = next(message for message in kept("client.jsonl") if read(message).kind == "audio")
    frame = read(theirs)
    # An id and a name come first, of which the driver has none.
    assert theirs.endswith(written(frame)[4:])


@pytest.mark.parametrize(
    "frame", [Frame("text", "a"), Frame("transcription", "ä"), Frame("message", "{}"), Frame("interruption")]
)
def test_what_is_written_is_read(frame: Frame) -> None:
    assert read(written(frame)) == frame


@pytest.mark.parametrize(
    "data", [b"", b"\x12", b"\x12\xff", b"\xff" * 12, b"\x3a\x01\x00", b"\x17", bytes([0x12, 3, 0x1A, 9, 0])]
)
def test_what_is_no_frame_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        read(data)


# What it means.


def test_the_bot_is_told_that_the_client_is_ready_and_what_the_user_sounds_like() -> None:
    async def sent() -> list[bytes]:
        wire = Reading(rtvi("bot-ready", version="2.2.0"))
        async with Pipecat().over(wire, "Be kind.") as talking:
            assert talking.ready.settings == {"version": "2.2.0", "prompt_taken": False}
            await talking.send(np.full(320, 0.5, np.float32))
            await talking.heard(Position(ms(20)))
        return wire.sent

    ready, audio = map(read, asyncio.run(sent()))
    assert json.loads(ready.text)["type"] == "client-ready"
    assert (audio.rate, audio.channels) == (16_000, 1)
    assert np.all(np.frombuffer(audio.audio, "<i2") == 16_384) and len(audio.audio) == 640


def test_words_and_the_users_speech_are_told_once() -> None:
    events = understood(
        rtvi("user-started-speaking"),
        rtvi("user-transcription", text="hi", final=False),
        rtvi("user-transcription", text="hi there", final=True),
        rtvi("bot-output", text="hello", spoken_status="new", will_be_spoken=True),
        rtvi("bot-transcription", text="hello"),
        rtvi("bot-output", text="hello", spoken_status="completed", will_be_spoken=True),
    )
    assert events == [UserVad(True), Said("hi there", "user"), Said("hello", id="s0")]


def test_an_older_bots_words_are_taken_too() -> None:
    assert understood(rtvi("bot-transcription", text="hello")) == [Said("hello", id="s0")]


def test_sound_after_an_interruption_is_a_new_utterance() -> None:
    sound = written(Frame("audio", audio=bytes(960), rate=24_000, channels=1))
    first, flush, second = understood(sound, written(Frame("interruption")), sound)
    assert (first.id, flush, second.id) == ("s0", Flush(None), "s1")


def test_another_rate_loses_no_sample_at_an_interruption() -> None:
    sound = written(Frame("audio", audio=bytes(2 * 480), rate=48_000, channels=1))
    events = understood(sound, written(Frame("interruption")))
    assert sum(len(event.samples) for event in events if isinstance(event, Chunk)) == 240


@pytest.mark.parametrize(("rate", "channels"), [(24_000, 2), (1, 1), (0, 0)])
def test_sound_that_cannot_be_heard_ends_the_talk_instead_of_being_silence(rate: int, channels: int) -> None:
    with pytest.raises(ConversationError, match=f"sound of {channels} channels at {rate} samples"):
        understood(written(Frame("audio", audio=bytes(8), rate=rate, channels=channels)))


def test_a_fatal_error_ends_the_talk() -> None:
    async def events() -> list[Any]:
        return [e async for e in Talking(Reading(rtvi("error", error="no key", fatal=True)), Pipecat(), False)]

    assert asyncio.run(events()) == [Closed("the bot failed: no key", broke=True)]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [({"resets": ms(600)}, "broke off"), ({"closes": ms(600), "reason": "out of time"}, "out of time")],
)
def test_a_talk_that_ends_in_the_middle_is_kept_and_flagged(fault: dict[str, Any], reason: str) -> None:
    with pytest.raises(BrokenTalk, match=reason) as broken:
        talked(Behaviour(say=(SPEAKS,), **fault))
    talk = broken.value.talk
    assert talk is not None and talk.ended_by == "closed" and stretches(talk.system, talk.rate)


def test_no_bot_is_a_sentence() -> None:
    with pytest.raises(ConversationError, match=r"127\.0\.0\.1:1/ws: no server answers there"):
        run_on("wall", drive(Pipecat("ws://127.0.0.1:1"), (), length=seconds(1)))


def test_a_bot_without_rtvi_is_not_waited_for() -> None:
    talk = talked(Behaviour(say=(SPEAKS,)), Pipecat(rtvi=False))
    assert talk.ready.settings == {} and stretches(talk.system, talk.rate)


def test_a_rate_that_cannot_be_is_a_sentence() -> None:
    with pytest.raises(PluginError, match="rate_in"):
        make("systems", "pipecat", {"rate_in": 11_025}, Path())
