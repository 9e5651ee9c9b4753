"""The review as a page on this machine: the loopback address only, and nobody without its address.

A page of another site cannot read it or write to it: the host that a request names must be ours (so that no name
can be pointed here), every write must carry the token of the address that was printed, and sounds have names that
cannot be guessed.
"""

from __future__ import annotations

import json
import re
import secrets
import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from fullduplex.errors import FullDuplexError, RunError
from fullduplex.reporting.review.desk import Desk, Wrong
from fullduplex.reporting.review.page import render
from fullduplex.reporting.review.wav import Wav

HOST = "127.0.0.1"
LONGEST_BODY = 1 << 16
_RANGE = re.compile(r"bytes=(\d{0,15})-(\d{0,15})")


class ReviewServer(ThreadingHTTPServer):
    """A desk behind a port of the loopback address. Use it as a context, then call ``serve_forever``.

    ``port`` 0 takes any free one; raises :class:`RunError` where the port is taken.
    """

    daemon_threads = True
    # On Windows the option would let two programs share a port.
    allow_reuse_address = sys.platform != "win32"

    def __init__(self, desk: Desk, port: int = 0, tell: Callable[[str], None] = lambda text: None) -> None:
        self.desk, self.tell = desk, tell
        self.token = secrets.token_urlsafe(24)
        self.page, self.policy = render(
            desk.form, self.token, of_items=desk.chosen.of_items, of_people=desk.chosen.of_people, tell=desk.language
        )
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise RunError(f"port {port}: {error.strerror or error}; give another --port, or none") from error

    @property
    def port(self) -> int:
        """Return the port that is listened at."""
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        """Return the address of the page, with its token."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that went away; tell anything else in one line."""
        error = sys.exc_info()[1]
        if not isinstance(error, ConnectionError | TimeoutError):
            self.tell(f"{type(error).__name__}: {error}")


class _Handler(BaseHTTPRequestHandler):
    server: ReviewServer
    protocol_version = "HTTP/1.1"
    # A browser keeps its connections; one that falls silent does not hold a thread for ever.
    timeout = 120

    def version_string(self) -> str:
        return "review"

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the terminal free."""

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_HEAD(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def _answer(self, act: Callable[[], None]) -> None:
        if not self._is_ours():
            self.close_connection = True  # its body was not read
            self._say(HTTPStatus.FORBIDDEN, "This page is for this machine alone.")
            return
        try:
            act()
        except Wrong as error:
            self._wrong(HTTPStatus.BAD_REQUEST, str(error))
        except FullDuplexError as error:
            # A path could name the system: the rater learns that, and whoever started the review learns why.
            self.server.tell(str(error))
            self._wrong(HTTPStatus.INTERNAL_SERVER_ERROR, "This could not be kept; tell who started it.")

    def _is_ours(self) -> bool:
        own = {f"{name}:{self.server.port}" for name in (HOST, "localhost")}
        origin = self.headers.get("Origin")
        if len(self.headers.get_all("Host") or ()) != 1 or self.headers["Host"] not in own:
            return False
        if origin is not None and origin not in {f"http://{name}" for name in own}:
            return False
        return self.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin")

    def _get(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/":
            token = parse_qs(parts.query).get("token", [""])[0]
            if not self._knows(token):
                self._say(HTTPStatus.FORBIDDEN, "Open the address that `fullduplex review` printed, all of it.")
                return
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", self.server.page)
            return
        found = re.fullmatch(r"/clip/([0-9a-f]{32})\.wav", parts.path)
        path = self.server.desk.sound(found[1]) if found else None
        if path is None:
            self._say(HTTPStatus.NOT_FOUND, "There is nothing here.")
        else:
            self._sound(path)

    def _post(self) -> None:
        body = self._body()
        if body is None:
            return
        desk = self.server.desk
        if self.path == "/join":
            self._json(HTTPStatus.OK, desk.join(body.get("rater")))
        elif self.path == "/open":
            self._json(HTTPStatus.OK, desk.open(body.get("id")))
        elif self.path == "/answer":
            self._json(HTTPStatus.OK, desk.answer(body.get("id"), body))
        else:
            self._say(HTTPStatus.NOT_FOUND, "There is nothing here.")

    def _body(self) -> dict[str, Any] | None:
        """Return the JSON object that was posted, or None where it was refused."""
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch(r"\d{1,9}", length) or int(length) > LONGEST_BODY:
            self.close_connection = True
            self._say(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "That is too long.")
            return None
        raw = self.rfile.read(int(length))
        if not self._knows(self.headers.get("X-Review-Token", "")):
            self._wrong(HTTPStatus.FORBIDDEN, "The review was started again: open the address that it printed now.")
            return None
        try:
            value = json.loads(raw)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            self._wrong(HTTPStatus.BAD_REQUEST, "What came is not understood; load the page again.")
            return None
        return value

    def _knows(self, token: str) -> bool:
        return secrets.compare_digest(token.encode("utf-8", "surrogatepass"), self.server.token.encode())

    def _sound(self, path: Path) -> None:
        """Send a sound, or the stretch of it that was asked for: a player seeks by asking for stretches."""
        wav = Wav.of(path)
        asked = self.headers.get("Range")
        span = (0, wav.size) if asked is None else _span(asked, wav.size)
        more = {"Accept-Ranges": "bytes", "Cache-Control": "private, max-age=3600"}
        if span is None:
            more = {"Content-Range": f"bytes */{wav.size}"}
            self._send(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, "text/plain", b"", more)
            return
        start, end = span
        if asked is not None:
            more["Content-Range"] = f"bytes {start}-{end - 1}/{wav.size}"
        self._head(HTTPStatus.OK if asked is None else HTTPStatus.PARTIAL_CONTENT, "audio/wav", end - start, more)
        if self.command == "HEAD":
            return
        for block in wav.stretch(start, end):
            self.wfile.write(block)

    def _wrong(self, status: HTTPStatus, text: str) -> None:
        """Answer with a sentence for the rater, in the language of the page."""
        self._json(status, {"error": self.server.desk.language.kept(text)})

    def _json(self, status: HTTPStatus, value: dict[str, Any]) -> None:
        body = json.dumps(value, ensure_ascii=True, allow_nan=False).encode()
        self._send(status, "application/json", body)

    def _say(self, status: HTTPStatus, text: str) -> None:
        self._send(status, "text/plain; charset=utf-8", text.encode())

    def _send(self, status: HTTPStatus, kind: str, body: bytes, more: dict[str, str] | None = None) -> None:
        self._head(status, kind, len(body), {"Cache-Control": "no-store", **(more or {})})
        if self.command != "HEAD":
            self.wfile.write(body)

    def _head(self, status: HTTPStatus, kind: str, length: int, more: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(length),
            "Content-Security-Policy": self.server.policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            **more,
        }.items():
            self.send_header(name, value)
        self.end_headers()


def _span(asked: str, size: int) -> tuple[int, int] | None:
    """Return the half-open stretch of a file of ``size`` bytes that a Range header asks for, None where it has none."""
    found = _RANGE.fullmatch(asked.strip())
    if found is None or found.groups() == ("", ""):
        return None
    if not found[1]:
        start, end = max(0, size - int(found[2])), size
    else:
        start, end = int(found[1]), min(int(found[2]) + 1 if found[2] else size, size)
    return (start, end) if start < end else None
