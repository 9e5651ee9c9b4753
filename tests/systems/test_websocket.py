"""The open protocol: its driver against its facade, the server of its page, and what can befall a talk."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from fullduplex.cli import main
from fullduplex.data import audio
from fullduplex.driving.clock import run_on, run_virtual
from fullduplex.driving.cues import at
from fullduplex.driving.drive import BrokenTalk, Talk, Turn, drive
from fullduplex.driving.link import Closed, Note, Position, Said
from fullduplex.driving.playout import Chunk, Flush
from fullduplex.driving.talk import HangUp
from fullduplex.errors import ConversationError, InputError, PluginError
from fullduplex.model.spans import SECOND, ms, seconds
from fullduplex.plugins import make
from fullduplex.systems.websocket import Talking, WebSocket
from fullduplex.systems.wire import Gone
from fullduplex.testing.behaviour import Behaviour, Utterance
from fullduplex.testing.conform import conform
from fullduplex.testing.facades import facade_of
from fullduplex.testing.facades.serving import FacedTwin, serve
from fullduplex.testing.watermark import stretches

PAGE = Path(__file__).parents[2] / "docs" / "systems" / "websocket.md"
SPEAKS = Utterance(ms(300), seconds(1), 40)


def talked(behaviour: Behaviour, system: WebSocket | None = None, **more: Any) -> Talk:
    system = system or WebSocket()
    twin = FacedTwin(system, facade_of("websocket", system.spec.options), behaviour)
    return run_virtual(drive(twin, (), **({"length": seconds(2)} | more)))


class Reading:
    """A wire from which some messages are read; what is sent is kept."""

    def __init__(self, *messages: Any) -> None:
        self.messages = [m if isinstance(m, str | bytes) else json.dumps(m) for m in messages]
        self.sent: list[Any] = []

    async def send(self, message: str | bytes) -> None:
        self.sent.append(json.loads(message) if isinstance(message, str) else message)

    async def receive(self) -> str | bytes:
        if not self.messages:
            raise Gone("1000")
        return self.messages.pop(0)


def understood(*messages: Any, **ready: Any) -> list[Any]:
    async def read() -> list[Any]:
        talking = Talking(Reading({"type": "ready", **ready}, *messages), WebSocket(), "")
        await talking.get_ready()
        return [event async for event in talking][:-1]

    return asyncio.run(read())


def test_what_is_played_passes_in_memory() -> None:
    results = conform(WebSocket(), clocks=("virtual",), cases=(3, 4, 5, 10, 13, 14, 19, 20, 21, 22, 23, 26))
    assert [(r.number, r.outcome) for r in results if r.outcome != "passed"] == [(21, "not applicable")]


def test_the_driver_passes_over_real_sockets() -> None:
    found = conform(WebSocket(), clocks=("wall",), cases=(9, 15, 18))
    assert [(r.number, r.why) for r in found if r.outcome not in ("passed", "not judged")] == []


def test_hello_says_what_the_user_will_sound_like() -> None:
    async def sent() -> list[Any]:
        wire = Reading({"type": "ready"})
        async with WebSocket(rate_in=8_000, frame=0.01).over(wire, "Be kind.") as talking:
            await talking.send(np.full(80, 0.5, np.float32))
            await talking.heard(Position(ms(10), "r1", ms(5)))
            await talking.finish()
        return wire.sent

    hello, frame, finish = asyncio.run(sent())
    assert hello == {
        "type": "hello",
        "protocol": "fullduplex/1",
        "prompt": "Be kind.",
        "rate_in": 8_000,
        "rate_out": 24_000,
        "frame": 0.01,
    }
    assert np.all(np.frombuffer(frame, "<i2") == 16_384) and len(frame) == 160
    assert finish == {"type": "finish"}


def test_a_server_is_told_what_was_heard_only_if_it_asks() -> None:
    async def sent(heard: bool) -> list[Any]:
        wire = Reading({"type": "ready", "heard": heard})
        async with WebSocket().over(wire, "") as talking:
            await talking.heard(Position(ms(10), "", 0))
            await talking.heard(Position(ms(20), "r1", ms(5)))
        return wire.sent[1:]

    assert asyncio.run(sent(True)) == [{"type": "heard", "id": "r1", "played": 0.005}]
    assert asyncio.run(sent(False)) == []


def test_sound_belongs_to_the_utterance_that_was_named_and_its_clock_goes_on() -> None:
    sound = bytes(480 * 2)
    first, second, after = understood({"type": "speech", "id": "r1", "at": 1.5}, sound, sound, {"type": "end"}, sound)
    assert [(c.id, c.source) for c in (first, second, after)] == [
        ("r1", seconds(1.5)),
        ("r1", seconds(1.5) + ms(20)),
        ("", None),
    ]


def test_another_rate_loses_no_sample_at_the_end_of_an_utterance() -> None:
    events = understood({"type": "speech", "id": "r1"}, bytes(2 * 480), {"type": "end"}, rate_out=48_000)
    assert sum(len(c.samples) for c in events if isinstance(c, Chunk)) == 240


def test_a_flush_takes_back_all_or_one_utterance() -> None:
    assert [e.scope for e in understood({"type": "flush"}, {"type": "flush", "id": "r3"})] == [None, "r3"]


def test_words_come_with_their_times() -> None:
    words = [{"text": "hello", "timestamp": [0.25, 0.5]}]
    (said,) = understood({"type": "said", "text": "hello", "id": "r1", "words": words})
    assert said == Said("hello", id="r1", words=(("hello", ms(250), ms(500)),))


@pytest.mark.parametrize(
    "odd",
    [
        "[1]",
        "nothing",
        {"type": "flush", "id": 3},
        {"type": "speech", "at": 1e999},
        {"type": "speech", "at": 10**400},
        {"type": "speech", "at": True},
        {"type": "said", "text": "a", "source": 10**400},
        {"type": "user_vad", "speaking": True, "source": 1e300},
        {"type": "said", "text": "a", "words": [{"text": "a", "timestamp": [0, 10**400]}]},
        {"type": "wave"},
        {"no": "type"},
    ],
)
def test_what_is_not_understood_is_a_note(odd: Any) -> None:
    (note,) = understood(odd)
    assert isinstance(note, Note) and note.kind in ("unreadable", "unknown")


def test_sound_before_ready_is_not_heard_and_told() -> None:
    async def read() -> list[Any]:
        talking = Talking(Reading(b"\x01\x00", {"type": "ready", "model": "m"}), WebSocket(), "")
        await talking.get_ready()
        assert talking.ready.settings["model"] == "m"
        return [event async for event in talking]

    note, closed = asyncio.run(read())
    assert (note.kind, note.data, type(closed)) == ("early_sound", {"bytes": 2}, Closed)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ([{"type": "ready", "coding": "mp3"}], "announces"),
        ([{"type": "ready", "rate_out": 1}], "announces"),
        ([{"type": "close", "reason": "full"}], "left before it was ready: full"),
        ([], "left before it was ready: 1000"),
    ],
)
def test_a_server_that_is_not_ready_is_a_sentence(said: list[Any], why: str) -> None:
    async def talk() -> None:
        async with WebSocket().over(Reading(*said), ""):
            raise AssertionError

    with pytest.raises(ConversationError, match=why):
        asyncio.run(talk())


@pytest.mark.parametrize(
    ("fault", "reason"),
    [({"resets": ms(600)}, "broke off"), ({"closes": ms(600), "reason": "out of time"}, "out of time")],
)
def test_a_talk_that_ends_in_the_middle_is_kept_and_flagged(fault: dict[str, Any], reason: str) -> None:
    with pytest.raises(BrokenTalk, match=reason) as broken:
        talked(Behaviour(say=(SPEAKS,), **fault))
    talk = broken.value.talk
    assert talk is not None and talk.ended_by == "closed" and stretches(talk.system, talk.rate)


def test_who_has_heard_the_user_out_may_close_and_whose_connection_breaks_is_flagged() -> None:
    hang_up = HangUp(quiet=seconds(1))
    talk = talked(Behaviour(say=(SPEAKS,), closes=ms(600), reason="bye"), hang_up=hang_up)
    assert talk.ended_by == "closed"
    with pytest.raises(BrokenTalk, match="broke off") as broken:
        talked(Behaviour(say=(SPEAKS,), resets=ms(600)), hang_up=hang_up)
    assert broken.value.talk is not None and broken.value.talk.duration == ms(600)


def test_no_server_is_a_sentence_without_the_key() -> None:
    system = WebSocket("ws://127.0.0.1:1/talk", key="secret")
    with pytest.raises(ConversationError, match=r"127\.0\.0\.1:1/talk: no server answers there") as error:
        run_on("wall", drive(system, (), length=seconds(1)))
    assert "secret" not in str(error.value) + repr(system) + str(system.spec.to_json())
    assert system.door("").headers == {"Authorization": "Bearer secret"}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"timing": "aligned"}, "timing"),
        ({"flush": "epoch"}, "flush"),
        ({"frame": 0.0201234}, "frame"),
        ({"rate_in": 10}, "rate_in"),
        ({"longest": -1}, "longest"),
    ],
)
def test_an_option_that_cannot_be_is_a_sentence(options: dict[str, Any], why: str) -> None:
    with pytest.raises(PluginError, match=why):
        make("systems", "websocket", options, Path())


def test_a_url_that_is_none_is_a_sentence() -> None:
    with pytest.raises(InputError, match="ws://HOST:PORT"):
        WebSocket("http://localhost").door("")


def test_the_facade_tells_a_client_that_does_not_wait() -> None:
    async def talk() -> str:
        from websockets.asyncio.client import connect
        from websockets.exceptions import ConnectionClosed

        async with (
            serve(facade_of("websocket"), Behaviour(handshake=seconds(1))) as port,
            connect(f"ws://127.0.0.1:{port}") as socket,
        ):
            await socket.send(json.dumps({"type": "hello", "protocol": "fullduplex/1", "rate_in": 16_000}))
            await socket.send(bytes(640))
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
            return str(closed.value)

    assert "something came before ready" in asyncio.run(talk())


# The server of the page.


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    found = re.search(r"```python\n(# server\.py.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    speaks = re.search(r"```python\n(# answer\.py.*?)```", PAGE.read_text(), re.DOTALL)
    assert speaks is not None
    file = tmp_path_factory.mktemp("page") / "server.py"
    file.write_text(found[1])
    subprocess.run([sys.executable, "-c", speaks[1]], cwd=file.parent, check=True, timeout=120)
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(file), str(port), "answer.wav"], cwd=file.parent)
    try:
        until = time.monotonic() + 30
        while time.monotonic() < until and process.poll() is None:
            with socket.socket() as trying:
                if not trying.connect_ex(("127.0.0.1", port)):
                    break
            time.sleep(0.1)
        yield f"ws://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def test_the_server_of_the_page_has_about_forty_lines(server: str) -> None:
    code = PAGE.read_text().split("```python\n")[1].split("```")[0]
    assert sum(bool(line.strip()) for line in code.splitlines()) <= 42


def test_the_server_of_the_page_answers_and_stops_when_it_is_interrupted(server: str) -> None:
    tone = (0.5 * np.sin(2 * np.pi * 300 * np.arange(8_000) / 16_000)).astype(np.float32)
    turns = [Turn(tone, at(ms(100))), Turn(tone, at(ms(1_800)))]
    talk = run_on("wall", drive(WebSocket(server), turns, length=seconds(3)))
    (flush,) = (event for event in talk.received if isinstance(event, Flush))
    assert flush.scope == "r1" and ms(1_750) <= flush.arrived <= ms(2_100)
    first = next(event for event in talk.received if isinstance(event, Chunk))
    assert ms(1_050) <= first.arrived <= ms(1_400)
    heard = np.flatnonzero(np.abs(talk.system[: 25 * talk.rate // 10]) > 0.01) * SECOND // talk.rate
    # Speech has pauses: it need not sound at the moment at which it is taken back.
    assert flush.arrived - ms(500) < int(heard[-1]) < flush.arrived + ms(10)


def test_a_run_hears_the_server_of_the_page_speak(server: str, tmp_path: Path) -> None:
    folder = tmp_path / "items" / "candor_turn_taking" / "1"
    folder.mkdir(parents=True)
    user = 0.3 * np.sin(2 * np.pi * 300 * np.arange(16_000) / 16_000)
    audio.write(folder / "input.wav", np.concatenate([user, np.zeros(4 * 16_000)]).astype(np.float32), 16_000)
    (folder / "turn_taking.json").write_text(json.dumps([{"text": "[TURN-TAKING]", "timestamp": [1.0, 1.0]}]))
    command = ["run", "fdb-1.0@anchored", "--system", f"websocket:url={server}", "--data", str(tmp_path / "items"),
               "--out", str(tmp_path / "run"), "--recogniser", "none", "--no-page", "--json"]  # fmt: skip
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    (tor,) = [row for row in json.loads(done.stdout)["items"] if row["metric"] == "tor"]
    assert tor["value"] == 1


def test_a_url_that_is_none_ends_the_talk_in_its_own_words() -> None:
    with pytest.raises(InputError, match=r"^--system, url: found ws://127.0.0.1:99999, expected ws://HOST:PORT"):
        run_on("wall", drive(WebSocket("ws://127.0.0.1:99999"), (), length=ms(100)))
