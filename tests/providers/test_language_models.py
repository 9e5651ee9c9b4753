"""Language models: the embedded one, and any behind OpenAI's protocol."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from fullduplex.errors import InputError, PluginError
from fullduplex.providers import weights
from fullduplex.providers.language_models import Message
from fullduplex.providers.language_models.llamacpp import SMOLLM2, LlamaCpp, _server, smollm2
from fullduplex.providers.language_models.openai_compatible import OpenAICompatible

ASKED = [Message("system", "Be brief."), Message("user", "Could you recommend a good book?")]
KEY = "sk-very-secret-0123456789"


class Server(ThreadingHTTPServer):
    """A server of chat completions that answers as ``answer`` says, and keeps what it was asked."""

    daemon_threads = True

    def __init__(self, answer: Callable[[BaseHTTPRequestHandler], None]) -> None:
        self.answer, self.asked, self.headers = answer, list[Any](), list[Any]()
        self.broken = threading.Event()
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, json.loads(body)))
        self.server.headers.append(dict(self.headers))
        try:
            self.server.answer(self)
        except OSError:
            self.server.broken.set()

    def log_message(self, *_: object) -> None:
        return


def stream(*events: object, pause: float = 0.0, status: int = 200) -> Callable[[BaseHTTPRequestHandler], None]:
    """Return what sends ``events``: texts as they are, anything else as one piece of a reply."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        for event in events:
            text = event if isinstance(event, str) else f"data: {json.dumps(event)}\n\n"
            handler.wfile.write(text.encode())
            handler.wfile.flush()
            time.sleep(pause)

    return answer


def piece(text: str | None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None, **more}]}


DONE = "data: [DONE]\n\n"


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def started(answer: Callable[[BaseHTTPRequestHandler], None]) -> Server:
        server = Server(answer)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        servers.append(server)
        return server

    yield started
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def model() -> Iterator[Callable[..., OpenAICompatible]]:
    made: list[OpenAICompatible] = []

    def make(url: str, **options: Any) -> OpenAICompatible:
        made.append(OpenAICompatible(url, "qwen3:8b", **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_a_reply_comes_piece_by_piece(serve: Any, model: Any) -> None:
    server = serve(stream(piece(None, delta={"role": "assistant"}), piece("Try "), ": ping\n\n", piece("Emma."), DONE))
    assert list(model(server.url).reply(ASKED)) == ["Try ", "Emma."]


def test_it_asks_for_what_was_said_and_for_no_more_than_was_allowed(serve: Any, model: Any) -> None:
    server = serve(stream(piece("Hi"), DONE))
    list(model(server.url + "/", seed=3, extra='{"think": false}').reply(ASKED, limit=7))
    ((path, asked),) = server.asked
    assert path == "/v1/chat/completions"
    assert asked["messages"][1] == {"role": "user", "content": "Could you recommend a good book?"}
    wanted = {"model": "qwen3:8b", "max_tokens": 7, "seed": 3, "stream": True, "temperature": 0.0, "think": False}
    assert wanted.items() <= asked.items()


def test_the_first_piece_is_there_before_the_last_is_sent(serve: Any, model: Any) -> None:
    server = serve(stream(piece("a"), piece("b"), DONE, pause=0.3))
    began = time.monotonic()
    reply = model(server.url).reply(ASKED)
    assert next(reply) == "a" and time.monotonic() - began < 0.3
    assert list(reply) == ["b"]


def test_closing_a_reply_ends_the_request(serve: Any, model: Any) -> None:
    server = serve(stream(*[piece("word ")] * 2000, pause=0.01))
    reply = model(server.url).reply(ASKED, limit=2000)
    next(reply)
    reply.close()
    assert server.broken.wait(5)


def test_a_server_that_does_not_stop_is_not_read_for_ever(serve: Any, model: Any) -> None:
    server = serve(stream(*[piece("word ")] * 2000))
    assert len(list(model(server.url).reply(ASKED, limit=5))) == 10


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (stream("no such model\nat all", status=404), r"answered 404: no such model\\nat all"),
        (stream(f"the key {KEY} is wrong", status=401), r"answered 401: the key … is wrong"),
        (stream(piece("Try ")), "broke off in the middle of its reply"),
        (stream(piece("Try "), "data: {\n\n"), "sent what is no JSON"),
        (stream("data: [1]\n\n"), "failed"),
        (stream({"error": {"message": "out of memory"}}), "failed: out of memory"),
        (stream({"choices": "none"}), "sent what is no chat completion"),
        (stream({"choices": [{"delta": {"content": 3}}]}), "sent what is no chat completion"),
        (stream("<html>", status=200), "broke off"),
        (stream("x" * (1 << 20) + "x"), "sent a line of more than"),
    ],
)
def test_a_server_that_fails_is_a_sentence(serve: Any, model: Any, tmp_path: Path, answer: Any, sentence: str) -> None:
    (tmp_path / "key").write_text(KEY + "\n", encoding="utf-8")
    asked = model(serve(answer).url, timeout=20, key_file=str(tmp_path / "key"))
    with pytest.raises(PluginError, match=sentence) as found:
        list(asked.reply(ASKED))
    assert KEY not in str(found.value)


def test_a_server_that_falls_silent_is_a_sentence(serve: Any, model: Any) -> None:
    with pytest.raises(PluginError, match=r"was silent for 0\.2 s"):
        list(model(serve(stream(piece("Try "), pause=2.0)).url, timeout=0.2).reply(ASKED))


def test_a_server_that_is_not_there_is_a_sentence(model: Any) -> None:
    with pytest.raises(PluginError, match=r"http://127\.0\.0\.1:9/v1 could not be talked with"):
        list(model("http://127.0.0.1:9/v1").reply(ASKED))


def test_the_key_is_sent_and_is_no_part_of_the_spec(serve: Any, model: Any, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(KEY + "\n", encoding="utf-8")
    server = serve(stream(piece("Hi"), DONE))
    made = model(server.url, key_file=str(tmp_path / "key"))
    list(made.reply(ASKED))
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    told = json.dumps(made.spec.to_json())
    assert not any(secret in told for secret in (KEY, str(tmp_path)))


@pytest.mark.parametrize(
    "options",
    [
        {"url": "localhost:11434", "model": "m"},
        {"url": "https://me:word@example.org/v1", "model": "m"},
        {"url": "https://example.org/v1?key=1", "model": "m"},
        {"model": ""},
        {"model": "m", "timeout": 0},
        {"model": "m", "extra": "[1]"},
        {"model": "m", "extra": "{"},
        {"model": "m", "key_file": "/nowhere/key"},
    ],
)
def test_options_that_cannot_be_meant_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        OpenAICompatible(**options)


@pytest.fixture(scope="module")
def small() -> LlamaCpp:
    pytest.importorskip("xllamacpp")
    cache = weights.default_cache(os.environ)
    try:
        weights.path(SMOLLM2, cache)
    except PluginError as error:
        pytest.skip(str(error))
    return smollm2(cache=cache)


@pytest.mark.weights
def test_the_embedded_model_writes_sentences_about_what_was_asked(small: LlamaCpp) -> None:
    reply = "".join(small.reply(ASKED))
    assert "book" in reply.lower() and len(reply.split()) > 8


@pytest.mark.weights
def test_the_embedded_model_writes_the_same_each_time_whatever_came_between(small: LlamaCpp) -> None:
    first = list(small.reply(ASKED, limit=20))
    list(small.reply([*ASKED, Message("assistant", "No."), Message("user", "Why not?")], limit=5))
    assert list(small.reply(ASKED, limit=20)) == first and len(first) <= 20


@pytest.mark.weights
def test_a_real_server_of_llama_cpp_says_what_the_model_says_in_process(small: LlamaCpp, model: Any) -> None:
    list(small.reply(ASKED, limit=1))
    address = _server(str(small._file), small.context, small.threads).listening_address
    behind = model(f"{address}/v1", extra={"repeat_penalty": small.repeat, "cache_prompt": False})
    assert "".join(behind.reply(ASKED, limit=20)) == "".join(small.reply(ASKED, limit=20))


@pytest.mark.weights
def test_a_reply_that_is_closed_stops_at_once(small: LlamaCpp) -> None:
    reply = small.reply(ASKED, limit=1000)
    next(reply)
    began = time.monotonic()
    reply.close()
    assert time.monotonic() - began < 1.0
    assert len(list(small.reply(ASKED, limit=3))) > 0


@pytest.mark.weights
def test_a_conversation_longer_than_the_context_loses_its_beginning(small: LlamaCpp) -> None:
    tiny = smollm2(context=256, cache=small._file.parents[2])
    before = [Message("user", "word " * 300), Message("assistant", "Yes.")]
    assert list(tiny.reply([ASKED[0], *before, ASKED[1]], limit=5)) == list(
        tiny.reply([ASKED[0], before[1], ASKED[1]], limit=5)
    )
    with pytest.raises(PluginError, match="longer than its context of 256 tokens"):
        list(tiny.reply([Message("user", "word " * 400)], limit=5))


def test_a_file_that_is_no_model_is_a_sentence(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    (tmp_path / "bad.gguf").write_bytes(b"GGUF" + b"\0" * 100)
    with pytest.raises(PluginError, match="cannot be loaded"):
        list(LlamaCpp(str(tmp_path / "bad.gguf")).reply(ASKED))
    with pytest.raises(PluginError, match="there is no file"):
        LlamaCpp(str(tmp_path / "none.gguf"))


def test_an_address_that_is_none_is_a_sentence() -> None:
    from fullduplex.providers.language_models.openai_compatible import OpenAICompatible

    with pytest.raises(PluginError, match="could not be talked with"):
        list(OpenAICompatible("http://[::1", "m").reply([Message("user", "hello")]))
