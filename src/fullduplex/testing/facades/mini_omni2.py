"""A server that answers recordings as Mini-Omni2's does: ``POST /chat``, speech and words in parts, one at a time.

It is no dialect of a talk (:mod:`fullduplex.testing.facades`): it hears a recording and says a second of watermark for
it. ``fullduplex conform mini-omni2:url=…`` judges the driver against it from outside.
``python -m fullduplex.testing.facades.mini_omni2 --port 60808`` serves it.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import os
import socket
import struct
import sys
import threading
import time
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import numpy as np

from fullduplex.testing.watermark import BLOCK, watermark

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
def served(answers: Answers | None = None, port: int = 0) -> Iterator[str]:
    """Serve as long as the context is open; give the URL."""
    told = answers or Answers()
    server = HTTPServer(("127.0.0.1", port), _handler(told))
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


def main() -> None:
    """Serve until ended."""
    parser = argparse.ArgumentParser(prog="python -m fullduplex.testing.facades.mini_omni2")
    parser.add_argument("--port", type=int, default=0, help="0: any that is free (default)")
    with served(port=parser.parse_args().port) as url:
        sys.stdout.write(url + "\n")
        sys.stdout.flush()
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()


__all__ = ["Answers", "served"]
