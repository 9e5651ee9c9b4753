"""Kyutai's own client against the facade, and our driver against Kyutai's own server.

``FULLDUPLEX_MOSHI_PYTHON`` names a Python that has the packages ``moshi`` and ``torch``; ``.ci/moshi`` makes one. Run
as a program, this file writes the fixtures of ``test_moshi_wire.py`` anew.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.clock import run_on
from fullduplex.driving.cues import at
from fullduplex.driving.drive import Talk, Turn, drive
from fullduplex.driving.link import Said
from fullduplex.driving.observe import output_lags
from fullduplex.driving.playout import Samples
from fullduplex.errors import ConversationError
from fullduplex.model.spans import SECOND, ms, seconds
from fullduplex.systems.moshi import Moshi
from fullduplex.systems.moshi.codec import FRAME, RATE
from fullduplex.testing.behaviour import Behaviour, Utterance
from fullduplex.testing.facades.serving import served
from fullduplex.testing.watermark import stretches, watermark

HERE = Path(__file__).parent / "moshi_real"
FIXTURES = Path(__file__).parent / "fixtures" / "moshi"
PYTHON = os.environ.get("FULLDUPLEX_MOSHI_PYTHON", "")
pytestmark = pytest.mark.skipif(
    not PYTHON, reason="FULLDUPLEX_MOSHI_PYTHON names no Python with the packages moshi and torch"
)
#: What the microphone of the vendor's client hears: watermark from block 500 on, after half a second.
SPOKEN = Utterance(ms(480), seconds(1), 500)


def microphone() -> Samples:
    made: Samples = np.concatenate(
        [np.zeros(SPOKEN.at * RATE // SECOND, np.float32), watermark(50, RATE, SPOKEN.block)]
    ).astype(np.float32)
    return made


@contextmanager
def tapped(url: str, log: list[tuple[str, bytes]]) -> Iterator[str]:
    """Give the URL of a relay to ``url`` that keeps every message and who sent it."""
    from websockets.asyncio.client import connect
    from websockets.asyncio.server import serve

    async def pump(who: str, source: Any, sink: Any) -> None:
        async for message in source:
            log.append((who, bytes(message)))
            await sink.send(message)
        await sink.close()

    async def relay(connection: Any) -> None:
        async with connect(url + connection.request.path, compression=None, max_size=None, proxy=None) as there:
            await asyncio.gather(
                pump("client", connection, there), pump("server", there, connection), return_exceptions=True
            )

    loop, ports = asyncio.new_event_loop(), queue.SimpleQueue[int]()

    async def main() -> None:
        async with serve(relay, "127.0.0.1", 0, compression=None) as server:
            ports.put(next(iter(server.sockets)).getsockname()[1])
            await over.wait()

    over = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(main()), daemon=True)
    thread.start()
    yield f"ws://127.0.0.1:{ports.get(timeout=10)}"
    loop.call_soon_threadsafe(over.set)
    thread.join(10)


def vendor_client(url: str, folder: Path, length: float) -> tuple[Samples, str]:
    """Return what the loudspeaker of the vendor's client played, and what it printed."""
    says, heard = folder / "says.f32", folder / "heard.f32"
    microphone().astype("<f4").tofile(says)
    done = subprocess.run(
        [PYTHON, str(HERE / "client.py"), url, str(says), str(heard), str(length)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert heard.exists(), done.stderr[-2_000:]
    return np.fromfile(heard, "<f4"), done.stdout


def test_the_vendors_client_hears_the_facade_and_is_heard(tmp_path: Path) -> None:
    said = Utterance(seconds(1), seconds(2), 30)
    behaviour = Behaviour(say=(said,), words=ms(500), handshake=ms(700))
    with served("moshi") as stand:
        url = stand.behaving(behaviour)
        heard, printed = vendor_client(url, tmp_path, 6)
        report = stand.report(url)
    found = [part for part in stretches(heard, RATE) if part.duration > ms(300)]
    assert sum(part.duration for part in found) > seconds(1.5)
    assert found[0].source - said.block * ms(20) < ms(500)
    assert "word 1word 2" in printed
    # It sends before the handshake; nothing of it is lost.
    assert report["frames"] >= 50 and report["lost_frames"] == 0


def test_what_the_vendors_client_says_is_understood(tmp_path: Path) -> None:
    # It answers what it hears, so that an answer says when it heard it.
    with served("moshi") as stand:
        url = stand.behaving(Behaviour(answer=ms(400), answer_length=seconds(1)))
        heard, _ = vendor_client(url, tmp_path, 6)
    assert sum(part.duration for part in stretches(heard, RATE)) > ms(800)


# Kyutai's server.


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with real_server(tmp_path_factory.mktemp("moshi")) as url:
        yield url


@contextmanager
def real_server(folder: Path) -> Iterator[str]:
    subprocess.run([PYTHON, str(HERE / "checkpoint.py"), str(folder)], check=True, timeout=300)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(
            [PYTHON, str(HERE / "serve.py"), str(folder), str(port)], stdout=log, stderr=subprocess.STDOUT
        )
        try:
            until = time.monotonic() + 180
            while "Running on" not in (folder / "server.log").read_text():
                assert process.poll() is None and time.monotonic() < until, (folder / "server.log").read_text()[-2_000:]
                time.sleep(0.2)
            yield f"ws://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(10)


def hold(url: str, length: int = seconds(5), **options: Any) -> Talk:
    turns = [Turn(microphone(), at(0))]
    return run_on("wall", drive(Moshi(url, **options), turns, length=length))


def test_the_vendors_server_answers_a_frame_for_each_but_the_first(server: str) -> None:
    talk = hold(server)
    lags = output_lags(talk.received, FRAME, sourced=True)
    # A short frame at the end is never answered.
    frames = seconds(5) // FRAME
    # What belongs to the last frames comes when the talk is over.
    assert frames - 4 <= len(lags) <= frames - 1
    assert min(lags) == 2 and min(lags.values()) >= 0
    assert float(np.abs(talk.system).max()) > 0.001


def test_text_comes_with_its_frame(server: str) -> None:
    talk = hold(server, seconds(3))
    said = [note for note in talk.notes if isinstance(note, Said)]
    assert said and all(note.source is not None and note.source % FRAME == 0 for note in said)
    assert max(note.source or 0 for note in said) <= len(talk.received) * FRAME + 2 * FRAME


def test_a_second_talk_waits_and_is_told_why(server: str) -> None:
    async def both() -> str:
        first = asyncio.ensure_future(drive(Moshi(server), (), length=seconds(4)))
        await asyncio.sleep(1)
        with pytest.raises(ConversationError) as refused:
            await drive(Moshi(server, ready_within=1.5), (), length=seconds(1))
        await first
        return str(refused.value)

    assert "busy with another talk" in asyncio.run(both())


def test_a_run_on_the_vendors_server_has_talks_and_a_report(server: str, tmp_path: Path) -> None:
    from fullduplex.data.audio import write

    for n in range(5):
        item = tmp_path / "items" / "candor_turn_taking" / str(n)
        item.mkdir(parents=True)
        write(item / "input.wav", np.tile(microphone()[::3], 2) * 0.5, 8_000)
        words = [{"text": "hello", "timestamp": [0.5, 1.4]}]
        (item / "transcription.json").write_text(json.dumps({"text": "hello", "chunks": words}))
        (item / "turn_taking.json").write_text(json.dumps([{"text": "hello", "timestamp": [0.5, 1.4]}]))
    out = tmp_path / "out"
    command = [sys.executable, "-m", "fullduplex", "run", "fdb-1.0", "--system", f"moshi:url={server},model=random"]
    command += ["--data", str(tmp_path / "items"), "--out", str(out), "--recogniser", "none", "--detector", "energy"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-3_000:]
    talks = [json.loads(path.read_text()) for path in sorted(out.rglob("talk.json"))]
    assert len(talks) == 5
    assert (out / "report.html").stat().st_size > 10_000
    # A talk in which this machine was late is flagged, and judges nobody.
    prompt = [talk for talk in talks if not talk["pacing"]["late"]]
    if not prompt:
        pytest.skip("this machine was late in every talk")
    assert all(talk["received"]["missing_frames"] == 0 for talk in prompt)


# Fixtures.


def written(name: str, messages: list[bytes]) -> None:
    """Write messages, each behind its length in four bytes."""
    FIXTURES.mkdir(parents=True, exist_ok=True)
    (FIXTURES / name).write_bytes(b"".join(len(m).to_bytes(4, "little") + m for m in messages))


def write_fixtures(folder: Path) -> None:
    """Keep what the vendor's client and server sent in a talk of a few seconds."""
    log: list[tuple[str, bytes]] = []
    with served("moshi") as stand, tapped(stand.behaving(Behaviour()), log) as url:
        vendor_client(url, folder, 2.5)
    written("client.bin", [message for who, message in log if who == "client"])
    log.clear()
    with real_server(folder) as real, tapped(real, log) as url:
        hold(url, seconds(2))
    written("server.bin", [message for who, message in log if who == "server"])


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as made:
        write_fixtures(Path(made))
