"""SmallWebRTC: the driver against a bot of aiortc on this machine: what is heard, and what can befall a call."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.clock import run_on
from fullduplex.driving.cues import at
from fullduplex.driving.drive import BrokenTalk, Talk, Turn, drive
from fullduplex.driving.link import Said
from fullduplex.driving.observe import receive_factor
from fullduplex.driving.playout import Chunk, Flush
from fullduplex.errors import ConversationError, InputError
from fullduplex.model.spans import ms, seconds
from fullduplex.systems.pipecat import PipecatWebRtc
from fullduplex.testing.watermark import stretches, watermark

aiortc = pytest.importorskip("aiortc", reason="aiortc (extra webrtc) is not installed")
RATE = 48_000


class Track(aiortc.MediaStreamTrack):  # type: ignore[misc,name-defined]
    """Half a second of silence after the client was ready, a second of watermark, silence."""

    kind = "audio"

    def __init__(self, says: Any, dries: float | None) -> None:
        super().__init__()
        self.says, self.dries, self.sent = says, dries, 0
        self.began: float | None = None
        self.loop = asyncio.get_running_loop()
        self.zero = self.loop.time()

    async def recv(self) -> Any:
        from av import AudioFrame

        await asyncio.sleep(max(0.0, self.zero + self.sent / RATE - self.loop.time()))
        now = self.sent / RATE
        if self.dries is not None and self.began is not None and now - self.began > self.dries:
            await asyncio.Event().wait()
        at = 0 if self.began is None else round((now - self.began - 0.5) * RATE)
        part = self.says[max(0, at) : max(0, at + 960)] if self.began is not None else self.says[:0]
        pcm = (np.pad(part, (0, 960 - len(part))) * 32_767).astype(np.int16)
        frame = AudioFrame.from_ndarray(pcm[None, :], format="s16", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = RATE, self.sent, Fraction(1, RATE)
        self.sent += 960
        return frame


class Bot:
    """A bot whose behaviour is one of: says, echoes, dries, leaves, closes, deaf."""

    def __init__(self, does: str) -> None:
        self.does = does
        self.loop = asyncio.new_event_loop()
        self.connections: list[Any] = []
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    async def answer(self, offer: dict[str, Any]) -> dict[str, Any]:
        connection: Any = aiortc.RTCPeerConnection(aiortc.RTCConfiguration(iceServers=[]))
        self.connections.append(connection)
        track = Track(watermark(50, RATE, 30), 1.0 if self.does == "dries" else None)

        @connection.on("track")  # type: ignore[untyped-decorator]
        def heard(theirs: Any) -> None:
            connection.addTrack(theirs if self.does == "echoes" else track)

        @connection.on("datachannel")  # type: ignore[untyped-decorator]
        def opened(channel: Any) -> None:
            @channel.on("message")  # type: ignore[untyped-decorator]
            def told(message: str) -> None:
                if json.loads(message)["type"] == "client-ready" and self.does != "deaf":
                    track.began = track.sent / RATE
                    channel.send(json.dumps({"label": "rtvi-ai", "type": "bot-ready", "data": {"version": "2.2.0"}}))
                    words = {"text": "hello", "spoken_status": "new", "will_be_spoken": True}
                    self.loop.call_later(0.5, channel.send, json.dumps({"type": "bot-output", "data": words}))
                    if self.does == "leaves":
                        left = json.dumps({"type": "signalling", "message": {"type": "peerLeft"}})
                        self.loop.call_later(1.0, channel.send, left)
                    if self.does == "closes":
                        self.loop.call_later(1.0, lambda: self.loop.create_task(connection.close()))

        await connection.setRemoteDescription(aiortc.RTCSessionDescription(offer["sdp"], offer["type"]))
        await connection.setLocalDescription(await connection.createAnswer())
        return {"sdp": connection.localDescription.sdp, "type": "answer", "pc_id": "1"}

    def end(self) -> None:
        asyncio.run_coroutine_threadsafe(self.close(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(5)
        self.loop.close()

    async def close(self) -> None:
        for connection in self.connections:
            await connection.close()
        await asyncio.sleep(0.1)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self.loop.shutdown_default_executor()


@contextmanager
def serving(does: str) -> Iterator[str]:
    bot = Bot(does)

    class Offers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            offer = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, told = 200, b""
            if does == "refuses":
                status, told = 503, b"full"
            elif does == "odd":
                told = b'{"sdp": "v=0", "type": "answer"}'
            else:
                told = json.dumps(asyncio.run_coroutine_threadsafe(bot.answer(offer), bot.loop).result(10)).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Offers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        bot.end()


def hold(url: str, *turns: Turn, length: int = ms(2_500), **options: Any) -> Talk:
    return run_on("wall", drive(PipecatWebRtc(url, **options), turns, length=length))


def test_the_bot_is_heard_in_its_place_and_nothing_is_taken_back() -> None:
    with serving("says") as url:
        talk = hold(url)
    chunks = [event for event in talk.received if isinstance(event, Chunk)]
    assert not any(isinstance(event, Flush) for event in talk.received)
    assert receive_factor(talk.received, talk.rate) == pytest.approx(1, abs=0.1)
    # The track's clock: each frame where the one before it ended.
    assert [chunk.source for chunk in chunks[:20]] == [n * ms(20) for n in range(20)]
    found = stretches(talk.system, talk.rate)
    assert sum(part.duration for part in found) == pytest.approx(seconds(1), abs=ms(80))
    # Half a second after it was ready, and the jitter buffer of four packets.
    assert ms(450) < found[0].at < ms(1_000)
    assert [(note.text, note.who) for note in talk.notes if isinstance(note, Said)] == [("hello", "system")]
    assert talk.ready.settings["version"] == "2.2.0"


def test_the_user_is_heard() -> None:
    sound = (0.5 * np.sin(2 * np.pi * 300 * np.arange(RATE) / RATE)).astype(np.float32)
    with serving("echoes") as url:
        talk = hold(url, Turn(sound, at(ms(300))), length=ms(2_200))
    loud = np.flatnonzero(np.abs(talk.system) > 0.1)
    assert ms(300) < loud[0] * 1_000_000 // RATE < ms(900)
    assert len(loud) > RATE * 0.6


@pytest.mark.parametrize(
    ("does", "reason"),
    [
        ("dries", "no sound came for 3 s: the bot is gone"),
        ("leaves", "the bot left"),
        ("closes", "the bot's track ended|the connection is closed"),
    ],
)
def test_a_bot_that_is_gone_leaves_a_kept_and_flagged_talk(does: str, reason: str) -> None:
    with serving(does) as url, pytest.raises(BrokenTalk, match=reason) as broken:
        hold(url, length=seconds(8))
    talk = broken.value.talk
    assert talk is not None and talk.ended_by == "closed" and talk.duration < seconds(7)


@pytest.mark.parametrize(
    ("does", "reason"),
    [
        ("refuses", "answered 503 and no SDP"),
        ("odd", "its answer fits no offer"),
        ("deaf", r"not ready within 2 s \(connected\)"),
    ],
)
def test_a_bot_that_is_not_ready_is_a_sentence(does: str, reason: str) -> None:
    with serving(does) as url, pytest.raises(ConversationError, match=reason):
        hold(url, ready_within=2)


def test_no_bot_is_a_sentence() -> None:
    with pytest.raises(ConversationError, match=r"127\.0\.0\.1:1/api/offer: no Pipecat bot answers there"):
        hold("http://127.0.0.1:1")


def test_a_url_of_a_websocket_is_refused() -> None:
    with pytest.raises(InputError, match="http://HOST:PORT"):
        PipecatWebRtc("ws://localhost:1").offers()
    assert PipecatWebRtc("https://bot.example.com/x/offer").offers() == "https://bot.example.com/x/offer"
