"""Freeze-Omni and VITA: drivers and facades, the library's own client and server, and what can befall a talk."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.clock import run_on, run_virtual
from fullduplex.driving.cues import at
from fullduplex.driving.drive import BrokenTalk, HangUp, Talk, Turn, drive
from fullduplex.driving.link import Note, Said
from fullduplex.driving.observe import receive_factor, taken_back
from fullduplex.driving.playout import Chunk, Flush
from fullduplex.errors import ConversationError, InputError, PluginError
from fullduplex.model.spans import ms, seconds
from fullduplex.plugins import make
from fullduplex.systems.vita import FreezeOmni, Vita
from fullduplex.systems.vita.packets import PATH, QUERY, Event, Odd, SocketIo
from fullduplex.systems.wire import Door, Gone, Socket, websocket
from fullduplex.testing.behaviour import Behaviour, Sent, Utterance
from fullduplex.testing.conform import conform
from fullduplex.testing.facades import facade_of
from fullduplex.testing.facades.serving import FacedTwin, serve
from fullduplex.testing.facades.vita import Packets, freeze_omni
from fullduplex.testing.watermark import stretches

#: Made by python-socketio 5.18.1 and Flask-SocketIO 5.7.0; names of sessions are left out.
FIXTURES = Path(__file__).parent / "fixtures" / "freeze-omni"
BOTH = pytest.mark.parametrize("system", [FreezeOmni(), Vita()], ids=["freeze-omni", "vita"])
SPEAKS = Utterance(ms(320), seconds(1), 40)
#: A second of a tone, as packets of numbers.
TONE = (0.5 * np.cos(2 * np.pi * 300 * np.arange(16_000) / 16_000)).astype(np.float32)


def twin(system: Any, behaviour: Behaviour) -> FacedTwin:
    return FacedTwin(system, facade_of(system.spec.name, system.spec.options), behaviour)


def talked(system: Any, behaviour: Behaviour, *turns: Turn, length: int = seconds(2), **more: Any) -> Talk:
    return run_virtual(drive(twin(system, behaviour), turns, length=length, **more))


def flushes(talk: Talk) -> list[Flush]:
    return [event for event in talk.received if isinstance(event, Flush)]


# Conformance.


def test_every_case_passes_or_does_not_apply() -> None:
    results = conform(FreezeOmni(), clocks=("virtual",))
    assert [(r.number, r.why) for r in results if r.outcome == "failed"] == []
    assert sum(r.outcome == "passed" for r in results) == 15
    assert all(r.why for r in results if r.outcome == "not applicable")


def test_the_cases_in_which_vita_differs_pass() -> None:
    # What they share is one codec.
    results = conform(Vita(), clocks=("virtual",), cases=(8, 9, 18, 19, 26))
    assert [(r.number, r.why) for r in results if r.outcome != "passed"] == []


def test_a_driver_passes_over_a_real_socket() -> None:
    # All cases are run so by `fullduplex conform freeze-omni`.
    found = conform(FreezeOmni(), clocks=("wall",), cases=(18,))
    assert [(r.number, r.why) for r in found if r.outcome not in ("passed", "not judged")] == []


# Packets clock the reply.


def test_a_reply_comes_as_fast_as_packets_make_it() -> None:
    # Pieces of 200 ms: 6.7 times real time for packets of 30 ms, 1.25 times for packets of 160 ms.
    behaviour = Behaviour(say=(Utterance(0, seconds(12), 3),), pace="per-input", chunk=ms(200))
    factors = [
        receive_factor(talked(FreezeOmni(packet=p), behaviour, length=seconds(4)).received, 24_000)
        for p in (0.03, 0.16)
    ]
    assert factors == [pytest.approx(200 / 30, rel=0.01), pytest.approx(1.25, rel=0.01)]


def test_a_reply_in_bursts_is_heard_as_one_piece_to_its_end() -> None:
    said = Utterance(ms(320), seconds(2), 3)
    behaviour = Behaviour(say=(said,), pace="per-input", chunk=ms(200))
    talk = talked(FreezeOmni(), behaviour, length=seconds(5), hang_up=HangUp(quiet=ms(500)))
    (heard,) = stretches(talk.system, talk.rate)
    assert (heard.duration, talk.ended_by) == (said.length, "quiet")


def test_an_interruption_takes_back_what_the_burst_brought_and_what_is_queued_never_comes() -> None:
    said = Utterance(ms(320), seconds(4), 3)
    behaviour = Behaviour(say=(said,), pace="per-input", chunk=ms(200), yields=ms(240), flush="all")
    talk = talked(FreezeOmni(packet=0.03), behaviour, Turn(TONE[:8_000], at(ms(600))), length=seconds(3))
    heard = stretches(talk.system, talk.rate)
    assert abs(heard[-1].until - ms(840)) <= ms(31)
    came = sum(len(event.samples) for event in talk.received if isinstance(event, Chunk)) / talk.rate
    # 540 ms of packets brought 18 pieces of 0.2 s.
    assert came == pytest.approx(3.6, abs=0.21)
    assert taken_back(talk.placed) / talk.rate == pytest.approx(came - 0.52, abs=0.05)


@BOTH
def test_a_stop_before_each_reply_changes_nothing_that_is_heard(system: Any) -> None:
    said = (Utterance(ms(320), ms(400), 20), Utterance(ms(1_280), ms(400), 90))
    plain, benign = (
        talked(system, Behaviour(say=said, pace="burst", flushes=told)) for told in (((seconds(9), None),), ())
    )
    assert (len(flushes(plain)), len(flushes(benign))) == (0, 2)
    assert taken_back(benign.placed) == 0
    assert np.array_equal(plain.system, benign.system)


def test_each_reply_has_a_name_of_its_own() -> None:
    said = (Utterance(ms(320), ms(200), 20), Utterance(ms(1_280), ms(200), 90))
    talk = talked(FreezeOmni(), Behaviour(say=said, pace="burst"))
    assert list(dict.fromkeys(event.id for event in talk.received if isinstance(event, Chunk))) == ["r1", "r2"]


# Opening.


def test_freeze_omni_is_given_its_prompt_before_the_recording_and_vita_says_that_it_takes_none() -> None:
    freeze, vita = (talked(system, Behaviour(), prompt="Be brief.") for system in (FreezeOmni(), Vita()))
    assert freeze.ready.settings["prompt"] == "Be brief."
    assert vita.ready.settings["prompt_taken"] is False


def test_the_order_of_the_opening_is_prompt_recording_sound() -> None:
    async def told(system: Any, prompt: str, answers: list[str]) -> list[str]:
        sent: list[str] = []

        class Answering:
            async def send(self, message: str | bytes) -> None:
                sent.append(str(message))

            async def receive(self) -> str | bytes:
                if answers:
                    return answers.pop(0)
                await asyncio.Event().wait()
                raise AssertionError

        async with system.over(Answering(), prompt) as talking:
            await talking.send(TONE[:256])
        return [message[:24] for message in sent]

    stop, begin = '42["stop_tts"]', ["0{}", "40{}"]
    freeze = [*begin, '42["prompt_success"]', stop, stop]
    assert run_virtual(told(FreezeOmni(), "Be brief.", freeze)) == [
        "40",
        '42["prompt_text","Be bri',
        '42["recording-started"]',
        '42["audio","{\\"sample_ra',
        '42["recording-stopped"]',
        "41",
    ]
    assert run_virtual(told(Vita(), "", [*begin, stop]))[1:3] == ['42["reset_state"]', '42["recording-started"]']


def test_another_version_that_stops_once_is_waited_for_no_longer_than_that() -> None:
    class Once(Packets):
        def __init__(self, behaviour: Behaviour) -> None:
            super().__init__(behaviour, prompts=True, stops=1)

    system = FacedTwin(FreezeOmni(), replace(freeze_omni({}), dialect=Once), Behaviour(say=(SPEAKS,)))
    talk = run_virtual(drive(system, (), length=seconds(2)))
    assert talk.handshake == ms(300)
    assert stretches(talk.system, talk.rate)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"packet": 0.0}, "packet"),
        ({"packet": 2.0}, "packet"),
        ({"packet": 0.01601}, "packet"),
        ({"model": "\x1b[31m"}, "model"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused_in_a_sentence(options: dict[str, Any], word: str) -> None:
    for name in ("freeze-omni", "vita"):
        with pytest.raises(PluginError, match=word):
            make("systems", name, options, Path())


def test_what_is_no_url_is_refused_in_a_sentence() -> None:
    with pytest.raises(InputError, match="ws://HOST:PORT"):
        FreezeOmni(url="https://localhost:8081").door("")


def test_packets_are_part_of_the_spec_since_they_change_how_the_server_sends() -> None:
    assert FreezeOmni(packet=0.16).spec != FreezeOmni().spec
    assert FreezeOmni(url="ws://127.0.0.1:1").spec == FreezeOmni().spec
    assert (FreezeOmni().traits.frame, FreezeOmni(packet=0.16).traits.frame) == (ms(16), ms(160))


# Faults.


@BOTH
@pytest.mark.parametrize(
    ("fault", "word"),
    [
        ({"resets": ms(800)}, "reset"),
        ({"closes": ms(800), "reason": "restarting"}, "restarting"),
        ({"messages": (Sent(ms(800), '42["out_time"]'),)}, "out_time"),
        ({"messages": (Sent(ms(800), "41"),)}, "disconnected"),
        ({"messages": (Sent(ms(800), "1"),)}, "disconnected"),
    ],
)
def test_a_fault_in_mid_word_leaves_a_kept_talk_and_a_sentence(system: Any, fault: dict[str, Any], word: str) -> None:
    with pytest.raises(BrokenTalk, match=word) as error:
        talked(system, Behaviour(say=(SPEAKS,), **fault))
    assert error.value.talk is not None
    (heard,) = stretches(error.value.talk.system, error.value.talk.rate)
    assert abs(heard.until - ms(800)) <= ms(21)


@pytest.mark.parametrize(
    ("answers", "word"),
    [
        (["0{}", "40{}", '42["too_many_users"]'], "too_many_users"),
        (["0{}", '44{"message":"not you"}'], "not you"),
        (["<html>"], "no Socket.IO server"),
        ([b"\x00"], "no Socket.IO server"),
        (["0{}", "41"], "disconnected"),
    ],
)
def test_a_server_that_does_not_open_is_told_in_a_sentence(answers: list[Any], word: str) -> None:
    async def opened() -> None:
        class Answering:
            async def send(self, message: str | bytes) -> None: ...

            async def receive(self) -> str | bytes:
                message: str | bytes = answers.pop(0)
                return message

        async with FreezeOmni().over(Answering(), ""):
            raise AssertionError

    with pytest.raises(ConversationError, match=word):
        asyncio.run(opened())


def test_an_event_without_its_attachment_costs_no_other_event() -> None:
    messages = ['451-["audio",{"_placeholder":true,"num":0}]', '42["stop_tts"]', '42["response_text",{"text":"yes"}]']

    class Giving:
        async def send(self, message: str | bytes) -> None: ...

        async def receive(self) -> str | bytes:
            return messages.pop(0)

    async def read() -> list[Any]:
        link = SocketIo(Giving())
        return [await link.receive() for _ in range(3)]

    odd, *events = asyncio.run(read())
    assert isinstance(odd, Odd)
    assert events == [Event("stop_tts"), Event("response_text", ({"text": "yes"},))]


def test_words_are_kept_with_the_reply_that_they_belong_to() -> None:
    talk = talked(Vita(), Behaviour(say=(SPEAKS,), pace="burst", words=ms(400)), length=ms(900))
    assert [(n.text, n.who, n.id) for n in talk.notes if isinstance(n, Said)] == [
        ("word 1", "system", "r1"),
        ("word 2", "system", "r1"),
    ]
    assert not [n for n in talk.notes if isinstance(n, Note)]


# The library's own server.


@contextmanager
def library_server(seen: list[Any]) -> Iterator[str]:
    """Serve a stand-in with the library that the real servers use: a piece for each packet, 2 s of them."""
    flask = pytest.importorskip("flask", reason="flask is not installed")
    flask_socketio = pytest.importorskip("flask_socketio", reason="flask-socketio is not installed")
    pytest.importorskip("simple_websocket", reason="simple-websocket is not installed")
    from werkzeug.serving import make_server

    from fullduplex.testing.watermark import watermark

    app = flask.Flask(__name__)
    server = flask_socketio.SocketIO(app, async_mode="threading")
    pcm = np.rint(watermark(100, 24_000, 500) * 32_767).astype("<i2").tobytes()
    pieces = [pcm[i : i + 9_600] for i in range(0, len(pcm), 9_600)]

    def prompted(text: str) -> None:
        seen.append(text)
        flask_socketio.emit("prompt_success")

    def started() -> None:
        flask_socketio.emit("stop_tts")
        flask_socketio.emit("stop_tts")

    def audio(text: str) -> None:
        told = json.loads(text)
        seen.append((told["sample_rate"], np.frombuffer(bytes(told["audio"]), "<i2")))
        if pieces:
            flask_socketio.emit("audio", pieces.pop(0))

    def stopped() -> None:
        seen.append("stopped")

    server.on_event("prompt_text", prompted)
    server.on_event("recording-started", started)
    server.on_event("audio", audio)
    server.on_event("recording-stopped", stopped)
    made = make_server("127.0.0.1", 0, app, threaded=True)
    serving = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    serving.start()
    try:
        yield f"ws://127.0.0.1:{made.server_port}"
    finally:
        made.shutdown()
        serving.join(5)
        made.server_close()


def test_the_driver_talks_with_the_librarys_own_server() -> None:
    seen: list[Any] = []
    with library_server(seen) as url:
        turns = [Turn(TONE, at(0))]
        talk = run_on("wall", drive(FreezeOmni(url=url, packet=0.04), turns, length=ms(2_600), prompt="Be brief."))
        until = time.monotonic() + 5
        while "stopped" not in seen and time.monotonic() < until:
            time.sleep(0.02)
    prompt, *packets, stopped = seen
    assert (prompt, stopped) == ("Be brief.", "stopped")
    assert {rate for rate, _ in packets} == {16_000} and {len(pcm) for _, pcm in packets} == {640}
    (heard,) = stretches(talk.system, talk.rate)
    assert (heard.source, heard.duration) == (500 * ms(20), seconds(2))
    factor = receive_factor(talk.received, talk.rate)
    assert factor is not None and 3 < factor < 8


# The library's own client.


def held_by_the_library(sent: list[Any], behaviour: Behaviour) -> list[Any]:
    """Return the events that the library's client was given by the facade; ``sent`` gets what it sent."""
    socketio = pytest.importorskip("socketio", reason="python-socketio is not installed")
    pytest.importorskip("websocket", reason="websocket-client is not installed")
    received: list[Any] = []

    class Recording(Packets):
        def __init__(self, behaviour: Behaviour) -> None:
            super().__init__(behaviour, prompts=True, stops=2)

        async def open(self, peer: Any, getting_ready: Any) -> None:
            usual = peer.receive

            async def receive() -> Any:
                message = await usual()
                sent.append(message)
                return message

            peer.receive = receive
            await super().open(peer, getting_ready)

    def talk(port: int) -> None:
        client = socketio.Client(reconnection=False)
        stopped = threading.Event()

        def anything(name: str, *arguments: Any) -> None:
            received.append((name, *arguments))
            if name == "stop_tts":
                stopped.set()

        client.on("*", anything)
        client.connect(f"http://127.0.0.1:{port}", transports=["websocket"])
        client.emit("prompt_text", "Be brief.")
        client.emit("recording-started")
        stopped.wait(5)
        pcm = (TONE[:256] * 32_767).astype("<i2").tobytes()
        for _ in range(40):
            client.emit("audio", json.dumps({"sample_rate": 16_000, "audio": list(pcm)}))
            time.sleep(0.016)
        client.emit("recording-stopped")
        time.sleep(0.1)
        client.disconnect()

    async def held() -> None:
        async with serve(replace(freeze_omni({}), dialect=Recording), behaviour) as port:
            await asyncio.to_thread(talk, port)

    run_on("wall", held())
    return received


def test_the_librarys_client_talks_with_the_facade() -> None:
    said = Utterance(ms(100), ms(600), 7)
    received = held_by_the_library([], Behaviour(say=(said,), pace="per-input", chunk=ms(200), ping=ms(200)))
    assert [event[0] for event in received[:3]] == ["prompt_success", "stop_tts", "stop_tts"]
    pcm = b"".join(event[1] for event in received if event[0] == "audio")
    (heard,) = stretches(np.frombuffer(pcm, "<i2").astype(np.float32) / np.float32(32_768), 24_000)
    assert (heard.source, heard.duration) == (7 * ms(20), ms(600))


# Fixtures.


def kept(name: str) -> list[str | bytes]:
    lines = map(json.loads, (FIXTURES / name).read_text("utf-8").splitlines())
    return [bytes.fromhex(line["hex"]) if "hex" in line else line["text"] for line in lines]


def test_the_fixture_is_what_the_librarys_client_sends() -> None:
    sent: list[Any] = []
    held_by_the_library(sent, Behaviour())
    # Its last word is heard where the connection lives long enough.
    assert [message for message in dict.fromkeys(sent) if message != "41"] == kept("client.jsonl")


def test_the_facade_hears_what_the_librarys_client_says_as_the_driver_says_it() -> None:
    audio = next(message for message in kept("client.jsonl") if str(message).startswith('42["audio"'))
    (heard,) = Packets(Behaviour(), prompts=True, stops=2).hears(audio)
    assert isinstance(heard, np.ndarray) and len(heard) == 256
    assert np.abs(heard - TONE[:256]).max() < 1e-4


def test_the_driver_reads_what_the_librarys_server_sends() -> None:
    messages = kept("server.jsonl")

    class Giving:
        async def send(self, message: str | bytes) -> None: ...

        async def receive(self) -> str | bytes:
            if not messages:
                raise Gone("1000")
            return messages.pop(0)

    async def read() -> list[Any]:
        link = SocketIo(Giving())
        events: list[Any] = [await link.open()]
        try:
            while True:
                events.append(await link.receive())
        except Gone:
            return events

    assert asyncio.run(read()) == [
        "SID",
        Event("prompt_success"),
        Event("stop_tts"),
        Event("stop_tts"),
        Event("audio", (bytes(range(8)),)),
        Event("response_text", ({"text": "hello"},)),
    ]


def from_the_library_server() -> list[str | bytes]:
    """Return what the library's server sends for each event that the facade sends, without names of sessions."""
    flask = pytest.importorskip("flask", reason="flask is not installed")
    flask_socketio = pytest.importorskip("flask_socketio", reason="flask-socketio is not installed")
    pytest.importorskip("simple_websocket", reason="simple-websocket is not installed")
    from werkzeug.serving import make_server

    app = flask.Flask(__name__)
    server = flask_socketio.SocketIO(app, async_mode="threading")

    def go() -> None:
        flask_socketio.emit("prompt_success")
        flask_socketio.emit("stop_tts")
        flask_socketio.emit("stop_tts")
        flask_socketio.emit("audio", bytes(range(8)))
        flask_socketio.emit("response_text", {"text": "hello"})

    server.on_event("go", go)
    made = make_server("127.0.0.1", 0, app, threaded=True)
    serving = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    serving.start()

    async def read() -> list[str | bytes]:
        query = "&".join(f"{name}={value}" for name, value in QUERY.items())
        async with websocket(Door(f"ws://127.0.0.1:{made.server_port}{PATH}?{query}")) as wire:
            assert isinstance(wire, Socket)
            first = await wire.receive()
            await wire.send("40")
            second = await wire.receive()
            await wire.send('42["go"]')
            found = [first, second, *[await wire.receive() for _ in range(6)]]
            await wire.send("41")
            return found

    try:
        found = run_on("wall", read())
    finally:
        made.shutdown()
        serving.join(5)
        made.server_close()
    told = json.loads(str(found[0])[1:])
    return ["0" + json.dumps(told | {"sid": "SID"}), '40{"sid":"SID"}', *found[2:]]


def test_the_fixture_is_what_the_librarys_server_sends() -> None:
    assert from_the_library_server() == kept("server.jsonl")


def test_the_facade_writes_what_the_librarys_server_writes() -> None:
    from fullduplex.testing.facades import Spoken

    dialect = Packets(Behaviour(flushes=((0, None),)), prompts=True, stops=2)
    written = [
        *dialect.says({"type": "flush", "scope": None}),
        *dialect.says(Spoken(bytes(range(8)), 1, 1, 0, True)),
        *dialect.says({"type": "said", "text": "hello"}),
    ]
    told = kept("server.jsonl")[4:]
    assert [_plain(message) for message in written] == [_plain(message) for message in told]


def _plain(message: str | bytes) -> Any:
    if isinstance(message, bytes):
        return message
    kind, _, rest = message.partition("[")
    return kind, json.loads("[" + rest)
