"""A real local server that speaks what OpenAI, Anthropic and Google document, and plays what goes wrong."""

from __future__ import annotations

import gzip
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

#: What the models of this server say, unless a test gives other words.
SAID = '{"reason": "it did", "rating": 4}'
MODEL = "judge-2026-01-01"


@dataclass
class Seen:
    """One request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Answer:
    """What to send; ``play`` takes the connection instead."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    play: Callable[[BaseHTTPRequestHandler, threading.Event], None] | None = None


@dataclass
class Api:
    """The server: ``says`` is asked for each request and returns None to have the protocol answer."""

    says: Callable[[Seen], Answer | None] = lambda seen: None
    text: str | Callable[[str], str] = SAID
    seen: list[Seen] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, list[Any]] = field(default_factory=dict)
    done: bool = False
    #: Numbers of requests in batches that fail, and those that are never answered.
    fail: tuple[int, ...] = ()
    expire: tuple[int, ...] = ()
    port: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def said(self, user: str) -> str:
        return self.text if isinstance(self.text, str) else self.text(user)


@contextmanager
def serving() -> Iterator[Api]:
    """Serve until the end of the block."""
    api = Api()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        timeout = 10

        def do_POST(self) -> None:
            self._take()

        def do_GET(self) -> None:
            self._take()

        def _take(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            seen = Seen(self.command, self.path.partition("?")[0], dict(self.headers), body)
            api.seen.append(seen)
            answer = api.says(seen) or spoken(api, seen)
            if answer.play is not None:
                answer.play(self, api.over)
                self.close_connection = True
                return
            content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            self.send_response(answer.status)
            for name, value in {"content-type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            return

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, *_: Any) -> None:
            return  # A client that went away is what some tests are about.

    server = Server(("127.0.0.1", 0), Handler)
    api.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        api.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def silent(handler: BaseHTTPRequestHandler, over: threading.Event) -> None:
    """Take the request and never answer."""
    over.wait(20)


def dripping(handler: BaseHTTPRequestHandler, over: threading.Event) -> None:
    """Send a byte of the body now and then, for ever."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n")
    _drip(handler, over, b" ")


def dripping_headers(handler: BaseHTTPRequestHandler, over: threading.Event) -> None:
    """Send a byte of the headers now and then, for ever."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nx-")
    _drip(handler, over, b"a")


def _drip(handler: BaseHTTPRequestHandler, over: threading.Event, byte: bytes) -> None:
    until = time.monotonic() + 20
    while not over.wait(0.05) and time.monotonic() < until:
        try:
            handler.wfile.write(byte)
            handler.wfile.flush()
        except OSError:
            return


def truncated(handler: BaseHTTPRequestHandler, over: threading.Event) -> None:
    """Break off in the middle of the body."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n" + b'{"cho')


def hung_up(handler: BaseHTTPRequestHandler, over: threading.Event) -> None:
    """Close the connection without a word."""
    handler.connection.shutdown(socket.SHUT_RDWR)


def endless(handler: BaseHTTPRequestHandler, over: threading.Event) -> None:
    """Send a reply of 64 MB."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 67108864\r\n\r\n")
    for _ in range(64):
        try:
            handler.wfile.write(b"x" * (1 << 20))
        except OSError:
            return


def packed(size: int) -> Answer:
    """Return an answer of ``size`` spaces, small on the wire."""
    return Answer(200, gzip.compress(b" " * size), {"content-encoding": "gzip"})


def spoken(api: Api, seen: Seen) -> Answer:
    """Return what the protocol answers."""
    path = seen.path
    if path == "/v1/chat/completions":
        return Answer(200, completion(api, seen.json))
    if path == "/v1/messages":
        return Answer(200, message(api, seen.json))
    if path.endswith(":generateContent"):
        return Answer(200, generated(api, seen.json))
    return _openai_batches(api, seen) or _anthropic_batches(api, seen) or _gemini_batches(api, seen) or Answer(404, {})


def completion(api: Api, asked: Any) -> Any:
    user = asked["messages"][-1]["content"]
    user = user if isinstance(user, str) else user[0]["text"]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": MODEL,
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": api.said(user)}}],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 40},
        },
    }


def message(api: Api, asked: Any) -> Any:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": api.said(asked["messages"][-1]["content"])},
        ],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 60,
            "output_tokens": 20,
            "cache_read_input_tokens": 40,
            "cache_creation_input_tokens": 0,
        },
    }


def generated(api: Api, asked: Any) -> Any:
    user = asked["contents"][-1]["parts"][0]["text"]
    parts = [{"text": "hm", "thought": True}, {"text": api.said(user)}]
    return {
        "candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": parts}}],
        "usageMetadata": {
            "promptTokenCount": 100,
            "candidatesTokenCount": 15,
            "thoughtsTokenCount": 5,
            "cachedContentTokenCount": 40,
            "totalTokenCount": 120,
        },
        "modelVersion": MODEL,
    }


def _openai_batches(api: Api, seen: Seen) -> Answer | None:
    if (seen.method, seen.path) == ("POST", "/v1/files"):
        content = {name.lower(): value for name, value in seen.headers.items()}["content-type"]
        parts = message_from_bytes(b"content-type: " + content.encode() + b"\r\n\r\n" + seen.body).get_payload()
        (held,) = (part for part in parts if not isinstance(part, str) and part.get_filename())
        api.files["file-in"] = cast(bytes, held.get_payload(decode=True))
        return Answer(200, {"id": "file-in", "object": "file", "purpose": "batch"})
    if (seen.method, seen.path) == ("POST", "/v1/batches"):
        lines = api.files[seen.json["input_file_id"]].decode().splitlines()
        api.batches["batch_1"] = [json.loads(line) for line in lines]
        return Answer(200, {"id": "batch_1", "object": "batch", "status": "validating"})
    if seen.path == "/v1/batches/batch_1" and "batch_1" in api.batches:
        if not api.done:
            return Answer(200, {"id": "batch_1", "status": "in_progress"})
        good, bad = [], []
        for line in reversed(api.batches["batch_1"]):
            number = int(line["custom_id"])
            if number in api.fail:
                error = {"message": "slow down", "type": "rate_limit_error", "code": "rate_limit_exceeded"}
                answer: Any = {"status_code": 429, "body": {"error": error}}
                bad.append({"custom_id": line["custom_id"], "response": answer, "error": None})
            elif number in api.expire:
                error = {"code": "batch_expired", "message": "it expired"}
                bad.append({"custom_id": line["custom_id"], "response": None, "error": error})
            else:
                answer = {"status_code": 200, "body": completion(api, line["body"])}
                good.append({"custom_id": line["custom_id"], "response": answer, "error": None})
        for name, records in (("file-out", good), ("file-err", bad)):
            api.files[name] = "".join(json.dumps(record) + "\n" for record in records).encode()
        told = {"output_file_id": "file-out", "error_file_id": "file-err" if bad else None}
        return Answer(200, {"id": "batch_1", "status": "expired" if api.expire else "completed", **told})
    found = re.fullmatch(r"/v1/files/([\w-]+)/content", seen.path)
    if found and found[1] in api.files:
        return Answer(200, api.files[found[1]], {"content-type": "application/octet-stream"})
    return None


def _anthropic_batches(api: Api, seen: Seen) -> Answer | None:
    if (seen.method, seen.path) == ("POST", "/v1/messages/batches"):
        api.batches["msgbatch_1"] = seen.json["requests"]
    elif not seen.path.startswith("/v1/messages/batches/msgbatch_1") or "msgbatch_1" not in api.batches:
        return None
    if not seen.path.endswith("/results"):
        return Answer(
            200,
            {
                "id": "msgbatch_1",
                "type": "message_batch",
                "processing_status": "ended" if api.done else "in_progress",
                "results_url": f"{api.url}/v1/messages/batches/msgbatch_1/results" if api.done else None,
            },
        )
    lines = []
    for request in reversed(api.batches["msgbatch_1"]):
        number = int(request["custom_id"])
        error = {"type": "error", "error": {"type": "overloaded_error", "message": "too much to do"}}
        result: Any = {"type": "succeeded", "message": message(api, request["params"])}
        if number in api.fail:
            result = {"type": "errored", "error": error}
        elif number in api.expire:
            result = {"type": "expired"}
        lines.append(json.dumps({"custom_id": request["custom_id"], "result": result}) + "\n")
    return Answer(200, "".join(lines).encode(), {"content-type": "application/x-jsonl"})


def _gemini_batches(api: Api, seen: Seen) -> Answer | None:
    if seen.path.endswith(":batchGenerateContent"):
        api.batches["batches/1"] = seen.json["batch"]["inputConfig"]["requests"]["requests"]
    elif seen.path != "/v1beta/batches/1" or "batches/1" not in api.batches:
        return None
    told: Any = {"name": "batches/1", "metadata": {"name": "batches/1", "state": "BATCH_STATE_RUNNING"}}
    if api.done:
        answers = []
        for number, held in enumerate(api.batches["batches/1"]):
            answer: Any = {"response": generated(api, held["request"])}
            if number in api.fail:
                answer = {"error": {"code": 8, "message": "quota"}}
            elif number in api.expire:
                continue
            answers.append(answer | ({"metadata": held["metadata"]} if "metadata" in held else {}))
        state = "BATCH_STATE_EXPIRED" if api.expire else "BATCH_STATE_SUCCEEDED"
        told["metadata"] |= {"state": state, "output": {"inlinedResponses": {"inlinedResponses": answers}}}
    return Answer(200, told)
