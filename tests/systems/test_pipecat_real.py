"""A real pipeline of Pipecat behind each of its doors, and Pipecat's own client against the facade.

``FULLDUPLEX_PIPECAT_PYTHON`` names a Python that has ``pipecat-ai``; ``.ci/pipecat`` makes one. Run as a program, this
file writes the fixtures of ``test_pipecat.py`` and ``test_twilio.py`` anew.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soxr

from fullduplex.driving.clock import run_on
from fullduplex.driving.cues import at, into_reply
from fullduplex.driving.drive import HangUp, Talk, Turn, drive
from fullduplex.driving.link import Note, Said
from fullduplex.driving.playout import Chunk, Flush, Samples
from fullduplex.model.spans import SECOND, ms, seconds
from fullduplex.systems.pipecat import Pipecat, PipecatWebRtc
from fullduplex.systems.twilio import Twilio
from fullduplex.testing.behaviour import Behaviour, Utterance
from fullduplex.testing.facades.serving import served
from fullduplex.testing.watermark import stretches, watermark

HERE = Path(__file__).parent / "pipecat_real"
FIXTURES = Path(__file__).parent / "fixtures"
PYTHON = os.environ.get("FULLDUPLEX_PIPECAT_PYTHON", "")
pytestmark = pytest.mark.skipif(
    not PYTHON, reason="FULLDUPLEX_PIPECAT_PYTHON names no Python with the package pipecat-ai"
)


@contextmanager
def bot(folder: Path) -> Iterator[int]:
    """Serve the bot, and give its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    with (folder / "bot.log").open("w") as log:
        process = subprocess.Popen([PYTHON, str(HERE / "bot.py"), str(port)], stdout=log, stderr=subprocess.STDOUT)
        try:
            until = time.monotonic() + 90
            while "\nready\n" not in "\n" + (folder / "bot.log").read_text():
                assert process.poll() is None and time.monotonic() < until, (folder / "bot.log").read_text()[-2_000:]
                time.sleep(0.2)
            time.sleep(0.3)
            yield port
        finally:
            process.terminate()
            process.wait(10)


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with bot(tmp_path_factory.mktemp("bot")) as port:
        yield port


def question(rate: int) -> Samples:
    """Return a spoken question at ``rate``."""
    said = subprocess.run(
        [PYTHON, "-c", "import sys; from py_nanotts import NanoTTS; "
         "sys.stdout.buffer.write(NanoTTS().speak(text='Hello there, how was your weekend?', voice='en-US'))"],
        capture_output=True,
        check=True,
    ).stdout  # fmt: skip
    sound = np.frombuffer(said, "<i2").astype(np.float32) / 32_768
    sound = sound / np.abs(sound).max() * 0.7
    made: Samples = (sound if rate == 16_000 else soxr.resample(sound, 16_000, rate)).astype(np.float32)
    return made


def system(door: str, port: int) -> Any:
    url = f"ws://127.0.0.1:{port}/{door}"
    return Pipecat(url) if door == "ws" else Twilio(url)


def hold(system: Any, length: int = seconds(16)) -> Talk:
    sound = question(system.traits.rate_in)
    turns = [Turn(sound, at(ms(500))), Turn(sound, into_reply(seconds(1)))]
    return run_on("wall", drive(system, turns, length=length, hang_up=HangUp(quiet=seconds(1.5))))


@pytest.mark.parametrize("door", ["ws", "twilio"])
def test_the_bot_is_heard_at_real_time_and_takes_back_what_it_is_interrupted_in(port: int, door: str) -> None:
    talk = hold(system(door, port))
    assert talk.ended_by == "quiet"
    interrupted = talk.turns[1].span
    assert interrupted is not None
    flushes = [event.arrived for event in talk.received if isinstance(event, Flush)]
    assert any(interrupted.start < flush < interrupted.start + ms(900) for flush in flushes)
    # The last reply is the whole sentence, sent at about real time.
    last = max((c for c in talk.received if isinstance(c, Chunk)), key=lambda c: c.arrived).id
    chunks = [c for c in talk.received if isinstance(c, Chunk) and c.id == last]
    length = sum(len(c.samples) for c in chunks) * SECOND // talk.rate
    took = chunks[-1].arrived - chunks[0].arrived
    assert seconds(5) < length < seconds(9) and 0.9 < length / took < 1.15
    assert float(np.abs(talk.system).max()) > 0.05


def test_its_words_and_what_it_is_come_over_the_websocket(port: int) -> None:
    talk = hold(system("ws", port))
    assert talk.ready.settings["about"]["library"] == "pipecat-ai"
    assert any(isinstance(note, Said) and note.text.startswith("That sounds good") for note in talk.notes)
    assert not [note for note in talk.notes if isinstance(note, Note) and note.kind in ("unreadable", "unknown")]


def test_pipecats_client_hears_the_facade_and_is_heard(tmp_path: Path) -> None:
    says, heard = tmp_path / "says.f32", tmp_path / "heard.s16"
    watermark(100, 16_000, 500).astype("<f4").tofile(says)
    said = Utterance(seconds(1), seconds(2), 30)
    behaviour = Behaviour(say=(said,), flush="all", flushes=((ms(500), None),), answer=ms(1_700), answer_length=ms(500))
    with served("pipecat", {"rtvi": False}) as stand:
        url = stand.behaving(behaviour)
        done = subprocess.run(
            [PYTHON, str(HERE / "client.py"), url, str(says), str(heard), "8"],
            capture_output=True,
            text=True,
            timeout=90,
        )
        report = stand.report(url)
    assert heard.exists(), done.stderr[-3_000:]
    sound = (np.fromfile(heard, "<i2") / np.float32(32_768)).astype(np.float32)
    first, answer = stretches(sound, 24_000)
    assert first.source == 30 * ms(20) and first.duration == pytest.approx(seconds(2), abs=ms(5))
    # The facade heard the client's microphone: it answered when that fell silent.
    assert answer.duration == pytest.approx(ms(500), abs=ms(5))
    assert "flushes 1" in done.stdout and report["frames"] > 30


def test_over_webrtc_the_bots_track_runs_on_and_it_goes_quiet_when_it_is_interrupted(port: int) -> None:
    pytest.importorskip("aiortc", reason="aiortc (extra webrtc) is not installed")
    talk = hold(PipecatWebRtc(f"http://127.0.0.1:{port}"), seconds(20))
    assert talk.ended_by == "quiet" and not any(isinstance(event, Flush) for event in talk.received)
    length = sum(len(event.samples) for event in talk.received if isinstance(event, Chunk)) * SECOND // talk.rate
    assert length == pytest.approx(talk.duration, abs=ms(400))
    interrupted = talk.turns[1].span
    assert interrupted is not None

    def told(kind: str, after: int) -> int:
        found = (note for note in talk.notes if isinstance(note, Note) and note.kind == kind and note.arrived > after)
        return min((note.arrived for note in found), default=talk.duration)

    # From when it was interrupted, a little behind what the channel says, until it speaks again: the question has a
    # pause, which a bot may answer.
    quiet = told("bot-interrupted", interrupted.start)
    again = told("bot-started-speaking", quiet)
    assert quiet < interrupted.start + ms(900) and again > quiet + ms(400)
    first, last = ((quiet + ms(300)) * talk.rate // SECOND, again * talk.rate // SECOND)
    assert float(np.abs(talk.system[first:last]).max()) < 0.02


@pytest.mark.parametrize("door", ["ws", "twilio", "api/offer"])
def test_a_run_on_the_bot_has_talks_and_a_report(port: int, tmp_path: Path, door: str) -> None:
    from fullduplex.data.audio import write

    sound = question(16_000)
    for n in range(5):
        item = tmp_path / "items" / "candor_turn_taking" / str(n)
        item.mkdir(parents=True)
        write(item / "input.wav", np.pad(sound, (8_000, 40_000)), 16_000)
        ends = 0.5 + len(sound) / 16_000
        words = [{"text": "hello", "timestamp": [0.5, ends]}]
        (item / "transcription.json").write_text(json.dumps({"text": "hello", "chunks": words}))
        (item / "turn_taking.json").write_text(json.dumps([{"text": "hello", "timestamp": [0.5, ends]}]))
    out = tmp_path / "out"
    name = {"ws": "pipecat", "api/offer": "pipecat-webrtc"}.get(door, door)
    if name == "pipecat-webrtc":
        pytest.importorskip("aiortc", reason="aiortc (extra webrtc) is not installed")
    spec = f"{name}:url={'http' if name == 'pipecat-webrtc' else 'ws'}://127.0.0.1:{port}/{door}"
    command = [sys.executable, "-m", "fullduplex", "run", "fdb-1.0", "--system", spec]
    command += ["--data", str(tmp_path / "items"), "--out", str(out), "--recogniser", "none", "--detector", "energy"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-3_000:]
    talks = [json.loads(path.read_text()) for path in sorted(out.rglob("talk.json"))]
    assert len(talks) == 5
    assert all(talk["received"]["seconds"] > 1 for talk in talks)
    assert (out / "report.html").stat().st_size > 10_000


# Fixtures.


@contextmanager
def tapped(url: str, log: list[tuple[str, str | bytes]]) -> Iterator[str]:
    """Give the URL of a relay to ``url`` that keeps every message and who sent it."""
    from websockets.asyncio.client import connect
    from websockets.asyncio.server import serve

    async def pump(who: str, source: Any, sink: Any) -> None:
        async for message in source:
            log.append((who, message))
            await sink.send(message)
        await sink.close()

    async def relay(connection: Any) -> None:
        async with connect(url, compression=None, max_size=None, proxy=None) as there:
            await asyncio.gather(
                pump("client", connection, there), pump("server", there, connection), return_exceptions=True
            )

    loop, ports, over = asyncio.new_event_loop(), queue.SimpleQueue[int](), asyncio.Event()

    async def main() -> None:
        async with serve(relay, "127.0.0.1", 0, compression=None) as server:
            ports.put(next(iter(server.sockets)).getsockname()[1])
            await over.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(main()), daemon=True)
    thread.start()
    yield f"ws://127.0.0.1:{ports.get(timeout=10)}"
    loop.call_soon_threadsafe(over.set)
    thread.join(10)


def write_fixtures(folder: Path) -> None:
    """Keep what Pipecat's serializers wrote in a talk, and what its client wrote to the facade: some of each kind."""
    with bot(folder) as port:
        for door, name in (("ws", "pipecat"), ("twilio", "twilio")):
            log: list[tuple[str, str | bytes]] = []
            with tapped(f"ws://127.0.0.1:{port}/{door}", log) as url:
                hold(Pipecat(url) if door == "ws" else Twilio(url))
            written(name, "server.jsonl", [message for who, message in log if who == "server"])
    says = folder / "says.f32"
    watermark(50, 16_000, 500).astype("<f4").tofile(says)
    log = []
    with served("pipecat", {"rtvi": False}) as stand, tapped(stand.behaving(Behaviour()), log) as url:
        subprocess.run([PYTHON, str(HERE / "client.py"), url, str(says), str(folder / "heard"), "3"], check=True)
    written("pipecat", "client.jsonl", [message for who, message in log if who == "client"])


def written(name: str, file: str, messages: list[str | bytes]) -> None:
    """Write the first few messages of each length: as they are, bytes in hexadecimal digits."""
    kept: list[str | bytes] = []
    for message in messages:
        if sum(len(other) == len(message) for other in kept) < 2:
            kept.append(message)
    (FIXTURES / name).mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"hex": m.hex()} if isinstance(m, bytes) else {"text": m}) for m in kept[:24]]
    (FIXTURES / name / file).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        write_fixtures(Path(made))
