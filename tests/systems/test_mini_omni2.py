"""Mini-Omni2: recordings are asked, answers come in parts, and the ends of utterances are the driver's."""

from __future__ import annotations

import base64
import io
import json
import os
import socket
import struct
import threading
import time
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.clock import run_on
from fullduplex.driving.cues import at
from fullduplex.driving.drive import BrokenTalk, HangUp, Talk, Turn, drive
from fullduplex.driving.link import Note, Said
from fullduplex.driving.observe import receive_factor, taken_back
from fullduplex.driving.playout import Chunk, Flush, Samples
from fullduplex.errors import ConversationError, InputError, PluginError
from fullduplex.model.spans import ms, seconds
from fullduplex.plugins import make
from fullduplex.systems.mini_omni2 import MiniOmni2
from fullduplex.systems.mini_omni2.endpointer import Endpointer
from fullduplex.systems.mini_omni2.multipart import Part, Parts
from fullduplex.testing.watermark import BLOCK, stretches, watermark

# A server that answers recordings as it is told.

RATE = 24_000


@dataclass(slots=True)
class Answers:
    """How it answers: ``length`` of watermark, in pieces of ``piece`` seconds ``speed`` times as fast as real time.

    It computes for ``computes`` seconds first. It ``fails`` with that status, or breaks off after ``breaks``
    pieces. ``heard`` gets the rate and the samples of each recording, ``closed`` counts the clients that left.
    """

    length: float = 1.0
    piece: float = 0.1
    speed: float = 4.0
    computes: float = 0.0
    fails: int = 0
    breaks: int | None = None
    heard: list[tuple[int, int]] = field(default_factory=list)
    closed: int = 0

    def pieces(self, number: int) -> list[bytes]:
        """Return the pieces of the reply of that number: its blocks follow on those before."""
        count = round(self.length * 1_000_000) // BLOCK
        pcm = np.rint(watermark(count, RATE, number * count) * 32_767).astype("<i2").tobytes()
        step = round(self.piece * RATE) * 2
        return [pcm[i : i + step] for i in range(0, len(pcm), step)]


@contextmanager
def served(answers: Answers | None = None) -> Iterator[str]:
    """Serve as long as the context is open; give the URL."""
    told = answers or Answers()
    server = HTTPServer(("127.0.0.1", 0), _handler(told))
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        serving.join(5)
        server.server_close()


def _handler(answers: Answers) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(405)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_POST(self) -> None:
            told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answers.heard.append(_heard(told))
            if answers.fails:
                self.send_response(answers.fails)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            time.sleep(answers.computes)
            self.send_response(200)
            self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
            self.end_headers()
            try:
                for number, pcm in enumerate(answers.pieces(len(answers.heard) - 1)):
                    if number == answers.breaks:
                        # With a reset: the end of the connection is otherwise the end of the reply.
                        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        self.close_connection = True
                        os.close(self.connection.detach())
                        return
                    self.wfile.write(b"\r\n--frame\r\nContent-Type: audio/wav\r\n\r\n" + pcm)
                    self.wfile.write(b"\r\n--frame\r\nContent-Type: text/plain\r\n\r\n" + f"word{number} ".encode())
                    time.sleep(answers.piece / answers.speed)
            except OSError:
                answers.closed += 1

        def log_message(self, *_: Any) -> None:
            return

    return Handler


def _heard(told: Any) -> tuple[int, int]:
    """Return the rate and the length in samples of the recording that a client sent."""
    with wave.open(io.BytesIO(base64.b64decode(told["audio"])), "rb") as reading:
        return reading.getframerate(), reading.getnframes()


def tone(length: float) -> Samples:
    return (0.5 * np.cos(2 * np.pi * 300 * np.arange(round(length * 16_000)) / 16_000)).astype(np.float32)


def talked(system: MiniOmni2, *turns: Turn, length: float = 3.0) -> Talk:
    hang_up = HangUp(quiet=seconds(length))
    return run_on("wall", drive(system, turns, length=seconds(length), hang_up=hang_up))


def notes(talk: Talk, kind: str) -> list[Any]:
    return [note for note in talk.notes if isinstance(note, Note) and note.kind == kind]


def test_an_utterance_is_answered_after_its_silence_and_the_time_to_compute() -> None:
    answers = Answers(length=0.6, computes=0.3)
    with served(answers) as url:
        talk = talked(MiniOmni2(url=url, silence=0.5), Turn(tone(0.5), at(ms(300))), length=2.6)
    (heard,) = stretches(talk.system, talk.rate)
    # 0.8 s is its end, 0.5 s of silence, 0.3 s to compute; no machine is quicker, and a busy one is a little slower.
    assert ms(1_580) <= heard.at <= ms(2_000)
    assert (heard.source, heard.duration) == (0, ms(600))
    assert answers.heard[0][0] == 16_000
    # What was recorded: 0.2 s before, the utterance, its silence.
    assert answers.heard[0][1] / 16_000 == pytest.approx(1.2, abs=0.03)
    assert [said.text for said in talk.notes if isinstance(said, Said)][:2] == ["word0 ", "word1 "]
    assert (notes(talk, "asked")[0].data["imposed"], notes(talk, "answered")[0].data["sent"]) == (True, 0.6)
    assert talk.ready.settings["endpointer"] == {"rule": "loudness", "silence": 0.5, "at_least": 0.2}
    factor = receive_factor(talk.received, talk.rate)
    assert factor is not None and factor > 2


def test_what_is_said_while_a_reply_sounds_is_not_heard_unless_it_interrupts() -> None:
    turns = [Turn(tone(0.4), at(0)), Turn(tone(0.4), at(ms(1_500)))]
    deaf, keen = Answers(length=1.6), Answers(length=1.6)
    with served(deaf) as url:
        talk = talked(MiniOmni2(url=url, silence=0.4), *turns)
    assert len(deaf.heard) == 1 and len(notes(talk, "asked")) == 1
    assert not [event for event in talk.received if isinstance(event, Flush)]
    with served(keen) as url:
        talk = talked(MiniOmni2(url=url, silence=0.4, interrupts=True), *turns)
    (flush,) = (event for event in talk.received if isinstance(event, Flush))
    # 0.2 s of speech make an utterance.
    assert -ms(60) <= flush.arrived - ms(1_700) <= ms(60) + talk.pacing.worst
    assert taken_back(talk.placed) > 0 and len(keen.heard) == 2
    assert [stretch.source // ms(20) // 80 for stretch in stretches(talk.system, talk.rate)] == [0, 1]


def test_an_interrupted_request_is_closed_and_nothing_of_it_follows() -> None:
    answers = Answers(length=8, speed=2)
    turns = [Turn(tone(0.4), at(0)), Turn(tone(0.4), at(ms(1_300)))]
    with served(answers) as url:
        talk = talked(MiniOmni2(url=url, silence=0.4, interrupts=True), *turns, length=2)
    (flush,) = (event for event in talk.received if isinstance(event, Flush))
    assert not [c for c in talk.received if isinstance(c, Chunk) and c.id == "r1" and c.arrived > flush.arrived]
    assert answers.closed >= 1


@pytest.mark.parametrize(
    ("answers", "word"), [(Answers(fails=500), "answered 500"), (Answers(breaks=2), "failed in a reply")]
)
def test_a_server_that_fails_in_a_reply_leaves_a_kept_talk_and_a_sentence(answers: Answers, word: str) -> None:
    with served(answers) as url, pytest.raises(BrokenTalk, match=word) as error:
        talked(MiniOmni2(url=url, silence=0.3), Turn(tone(0.3), at(0)), length=2)
    assert error.value.talk is not None and error.value.talk.duration >= ms(580)
    assert "Traceback" not in str(error.value)


def test_nobody_at_the_url_is_told_in_a_sentence() -> None:
    with pytest.raises(ConversationError, match="is not there"):
        talked(MiniOmni2(url="http://127.0.0.1:9"))


@pytest.mark.parametrize("url", ["ws://h:1", "http://", "http://user:s3cret@h:1", "file:///x"])
def test_what_is_no_url_is_refused_and_no_name_in_it_is_taken(url: str) -> None:
    with pytest.raises(InputError, match="http://HOST:PORT"):
        _ = MiniOmni2(url=url).where


def test_an_option_that_cannot_be_meant_is_refused_in_a_sentence() -> None:
    with pytest.raises(PluginError, match="silence"):
        make("systems", "mini-omni2", {"silence": 0}, Path())


# The ends of utterances.


def ended(*parts: Samples, silence: int = ms(500), at_least: int = ms(200)) -> list[int]:
    """Return how many samples the utterances hold."""
    ends, sound = Endpointer(16_000, silence, at_least), np.concatenate(parts)
    found = [ends.hear(sound[i : i + 320]) for i in range(0, len(sound), 320)]
    return [len(utterance) for utterance in found if utterance is not None]


def hush(length: float) -> Samples:
    return np.zeros(round(length * 16_000), np.float32)


def test_an_utterance_ends_at_its_silence_to_a_frame() -> None:
    assert ended(tone(0.4), hush(0.48)) == []
    assert ended(tone(0.4), hush(0.5)) == [round(0.9 * 16_000)]


def test_a_shorter_pause_belongs_to_the_utterance() -> None:
    assert len(ended(tone(0.4), hush(0.4), tone(0.4), hush(0.6))) == 1
    assert len(ended(tone(0.4), hush(0.6), tone(0.4), hush(0.6))) == 2


def test_what_is_too_short_is_no_utterance_and_what_is_quiet_is_none() -> None:
    assert ended(tone(0.1), hush(1)) == []
    assert ended(tone(0.3), hush(1)) != []
    assert ended(tone(1) * np.float32(0.019), hush(1)) == []


def test_an_utterance_holds_what_came_just_before_it() -> None:
    assert ended(hush(1), tone(0.4), hush(0.5)) == [round((0.2 + 0.4 + 0.5) * 16_000)]


# Parts.

KIND = "multipart/x-mixed-replace; boundary=frame"
WRITTEN = (
    b"\r\n--frame\r\nContent-Type: audio/wav\r\n\r\n\x00\x01\r\n\x02"
    b"\r\n--frame\r\nContent-Type: text/plain\r\n\r\nwell"
    b"\r\n--frame\r\nContent-Type: audio/wav\r\n\r\n\x03\x04"
    b"\r\n--frame\r\nContent-Type: text/plain\r\n\r\n"
)
READ = [Part("audio/wav", b"\x00\x01\r\n\x02"), Part("text/plain", b"well"), Part("audio/wav", b"\x03\x04")]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 16, 1_000])
def test_parts_are_the_same_however_their_bytes_come(size: int) -> None:
    parts, found = Parts(KIND), list[Part]()
    for i in range(0, len(WRITTEN), size):
        found += parts.take(WRITTEN[i : i + size])
    assert [*found, *parts.end()] == [*READ, Part("text/plain", b"")]


def test_sound_is_given_as_soon_as_the_next_part_begins() -> None:
    head = WRITTEN[: WRITTEN.index(b"Content-Type: text/plain")]
    assert Parts(KIND).take(head) == READ[:1]


def test_an_answer_that_is_not_in_parts_is_refused() -> None:
    with pytest.raises(ValueError, match="not in parts"):
        Parts("text/html")


def test_the_driver_reads_what_the_projects_own_framework_writes() -> None:
    flask = pytest.importorskip("flask", reason="flask is not installed")
    from werkzeug.serving import make_server

    app = flask.Flask(__name__)
    pcm = np.rint(watermark(30, 24_000, 900) * 32_767).astype("<i2").tobytes()

    def chat() -> Any:
        asked = flask.request.get_json()
        assert asked["stream_stride"] == 4 and asked["max_tokens"] == 2_048

        def generator() -> Any:
            for i in range(0, len(pcm), 9_600):
                yield b"\r\n--frame\r\n"
                yield b"Content-Type: audio/wav\r\n\r\n"
                yield pcm[i : i + 9_600]
                yield b"\r\n--frame\r\n"
                yield b"Content-Type: text/plain\r\n\r\n"
                yield b"so"

        kind = "multipart/x-mixed-replace; boundary=frame"
        return flask.Response(flask.stream_with_context(generator()), mimetype=kind)

    app.add_url_rule("/chat", view_func=chat, methods=["POST"])
    server = make_server("127.0.0.1", 0, app)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    serving.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        talk = talked(MiniOmni2(url=url, silence=0.3), Turn(tone(0.3), at(0)), length=1.8)
    finally:
        server.shutdown()
        serving.join(5)
        server.server_close()
    (heard,) = stretches(talk.system, talk.rate)
    assert (heard.source, heard.duration) == (900 * ms(20), ms(600))
    assert "".join(said.text for said in talk.notes if isinstance(said, Said)) == "sososo"
