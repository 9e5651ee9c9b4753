"""Runs of hosted systems: their keys stay unheard, their cost stays within its cap, a full server is waited for."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from fullduplex.cli import main
from fullduplex.data import audio

KEY = "sk-sEcReT-0123456789/abc+def"
RATE = 16_000
#: What one reply of the server below counts; at 1 and 10 dollars for a million it costs 0.02 dollars.
USAGE = {
    "total_tokens": 11_000,
    "input_tokens": 10_000,
    "output_tokens": 1_000,
    "input_token_details": {"audio_tokens": 10_000, "text_tokens": 0, "cached_tokens": 0},
    "output_token_details": {"audio_tokens": 1_000, "text_tokens": 0},
}
PRICE = "input_audio=1,output_audio=10"


@pytest.fixture
def items(tmp_path: Path) -> Path:
    """Three turn-taking items of a second."""
    for name in ("1", "2", "3"):
        folder = tmp_path / "items" / "candor_turn_taking" / name
        folder.mkdir(parents=True)
        tone = 0.3 * np.sin(2 * np.pi * 220 * np.arange(RATE // 2) / RATE)
        audio.write(folder / "input.wav", np.concatenate([tone, np.zeros(RATE // 2)]).astype(np.float32), RATE)
        (folder / "turn_taking.json").write_text(json.dumps([{"text": "[TURN-TAKING]", "timestamp": [0.5, 0.5]}]))
    return tmp_path / "items"


Talk = Callable[[Any], Any]


@contextmanager
def server(talk: Talk, refuses: Callable[[Any, Any], Any] | None = None) -> Iterator[str]:
    """Serve the Realtime protocol in a thread: ``talk`` in a session; ``refuses`` answers a request with a status."""
    from websockets.asyncio.server import serve

    ready, stop = threading.Event(), asyncio.Event()
    found: dict[str, Any] = {}

    async def one(socket: Any) -> None:
        with suppress(Exception):
            await socket.send(json.dumps({"type": "session.created", "session": {"id": "s"}}))
            asked = json.loads(await socket.recv())
            told = {"type": "session.updated", "session": asked["session"] | {"echoed": KEY}}
            await socket.send(json.dumps(told))
            await talk(socket)

    async def run() -> None:
        async with serve(one, "127.0.0.1", 0, process_request=refuses) as listening:
            found["port"], found["loop"] = next(iter(listening.sockets)).getsockname()[1], asyncio.get_running_loop()
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    try:
        assert ready.wait(10)
        yield f"ws://127.0.0.1:{found['port']}"
    finally:
        found["loop"].call_soon_threadsafe(stop.set)
        thread.join(10)


async def replies(socket: Any) -> None:
    """Say a tenth of a second, tell the key in every way that there is, and count tokens."""
    sound = base64.b64encode((np.full(2_400, 9_000, "<i2")).tobytes()).decode()
    told = [
        {"type": "response.created", "response": {"id": f"r-{KEY}"}},
        {"type": "response.output_audio.delta", "response_id": f"r-{KEY}", "item_id": "i", "delta": sound},
        {"type": "response.output_audio_transcript.delta", "item_id": "i", "delta": f"your key is {KEY}"},
        {"type": "error", "error": {"message": f"no good: {KEY}", KEY: [KEY]}},
        {"type": "surprise", "Authorization": f"Bearer {KEY}"},
        {"type": "response.done", "response": {"id": f"r-{KEY}", "status": "completed", "usage": USAGE}},
    ]
    for event in told:
        await socket.send(json.dumps(event))
    async for _ in socket:
        pass


def run(*arguments: object, **environment: str | None) -> tuple[int, str]:
    found = CliRunner().invoke(main, [str(a) for a in arguments], env=environment)
    return found.exit_code, found.output + (found.stderr if found.stderr_bytes else "")


def drive(items: Path, url: str, out: Path, *more: object, **environment: str | None) -> tuple[int, str]:
    return run(
        "run", "fdb-1.0", "--system", f"openai-realtime:url={url}", "--data", items, "--out", out,
        "--recogniser", "none", "--detector", "energy", *more,
        **({"OPENAI_API_KEY": KEY} | environment),
    )  # fmt: skip


def holding(folder: Path, *texts: str) -> list[str]:
    """Return the files below ``folder`` that hold one of the texts."""
    found = []
    for path in folder.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        found += [str(path) for text in texts if text.encode() in data]
    return found


def told(out: Path, item: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "trials" / "candor_turn_taking" / item / "talk.json").read_text())
    return found


def test_a_key_is_in_nothing_that_a_passing_run_leaves(items: Path, tmp_path: Path) -> None:
    with server(replies) as url:
        status, text = drive(items, url, tmp_path / "run", "--price", PRICE)
    assert status == 0, text
    assert (tmp_path / "run" / "report.html").is_file()
    assert "[key]" in (tmp_path / "run" / "trials" / "candor_turn_taking" / "1" / "received.jsonl").read_text()
    assert KEY not in text and not holding(tmp_path / "run", KEY, base64.b64encode(KEY.encode()).decode())


def test_a_key_is_in_nothing_that_a_failing_run_leaves(items: Path, tmp_path: Path) -> None:
    async def breaks_off(socket: Any) -> None:
        await socket.send(json.dumps({"type": "error", "error": {"message": f"expired: {KEY}"}}))
        await socket.close(1008, f"gone {KEY}")

    with server(breaks_off) as url:
        status, text = drive(items, url, tmp_path / "run", "--retries", 0)
    assert status == 3, text
    assert "expired" in (tmp_path / "run" / "errors.jsonl").read_text()
    assert KEY not in text and not holding(tmp_path / "run", KEY)


def test_a_refused_key_ends_the_run_after_one_talk_and_is_not_told(items: Path, tmp_path: Path) -> None:
    asked = []

    def refuses(connection: Any, request: Any) -> Any:
        asked.append(request.headers["Authorization"])
        return connection.respond(401, json.dumps({"error": {"message": f"wrong key {KEY}"}}))

    with server(replies, refuses) as url:
        status, text = drive(items, url, tmp_path / "run")
    assert status == 3 and asked == [f"Bearer {KEY}"]
    lines = (tmp_path / "run" / "errors.jsonl").read_text()
    assert lines.count("not held: the server refused the talk before it for good") == 2 and "401" in lines
    assert KEY not in text and not holding(tmp_path / "run", KEY)


def test_a_server_without_room_is_waited_for_as_long_as_it_asks(items: Path, tmp_path: Path) -> None:
    asked = []

    def refuses(connection: Any, request: Any) -> Any:
        asked.append(1)
        if len(asked) > 2:
            return None
        response = connection.respond(429, "later")
        response.headers["Retry-After"] = "0.2"
        return response

    with server(replies, refuses) as url:
        status, text = drive(items, url, tmp_path / "run", "--retries", 0, "--no-page")
    assert status == 0, text
    (attempt,) = told(tmp_path / "run", "1")["attempts"]
    assert attempt["waited"]["refusals"] == 2 and attempt["waited"]["seconds"] >= 0.4
    assert "waited" not in told(tmp_path / "run", "2")["attempts"][0]


def test_usage_and_cost_are_kept_with_each_talk(items: Path, tmp_path: Path) -> None:
    with server(replies) as url:
        drive(items, url, tmp_path / "run", "--price", PRICE, "--no-page")
    found = told(tmp_path / "run", "1")
    assert found["usage"]["tokens"] == {"input_audio": 10_000, "output_audio": 1_000}
    assert found["cost"] == pytest.approx(0.02) == found["attempts"][0]["cost"]
    assert found["prices"]["million_tokens"] == {"input_audio": 1, "output_audio": 10}
    report = (tmp_path / "run" / "report.md").read_text().replace("\\", "")
    assert "US$ 0.0600 for 3 attempts" in report and "30,000 input audio, 3,000 output audio" in report


def test_a_cap_is_kept_before_it_is_passed_and_a_higher_one_goes_on(items: Path, tmp_path: Path) -> None:
    out, priced = tmp_path / "run", ("--price", PRICE, "--no-page")
    with server(replies) as url:
        status, text = drive(items, url, out, *priced, "--max-cost", 0.05)
        assert status == 3 and "cost cap" in text
        held = [item for item in "123" if (out / "trials" / "candor_turn_taking" / item / "talk.json").is_file()]
        assert held == ["1", "2"]
        status, text = drive(items, url, out, *priced, "--max-cost", 0.05)
        assert status == 3 and not (out / "trials" / "candor_turn_taking" / "3" / "talk.json").is_file()
        status, text = drive(items, url, out, *priced, "--max-cost", 0.07)
    assert status == 0, text
    assert told(out, "3")["cost"] == pytest.approx(0.02)


def test_a_price_by_the_minute_bounds_every_talk_beforehand(items: Path, tmp_path: Path) -> None:
    # A talk of 1 s costs 6 s at most, as 5 more are left to its handshake and farewell.
    with server(replies) as url:
        status, text = drive(items, url, tmp_path / "run", "--price", "60", "--max-cost", 5.9, "--no-page")
    assert status == 3 and "cost cap" in text
    assert not list((tmp_path / "run").rglob("talk.json"))


def test_a_cap_without_any_price_is_refused_before_the_first_talk(items: Path, tmp_path: Path) -> None:
    status, text = drive(items, "ws://127.0.0.1:9", tmp_path / "run", "--max-cost", 1)
    assert status == 1 and "give --price" in text and not (tmp_path / "run").exists()


def test_a_cap_stops_where_the_system_counts_nothing(items: Path, tmp_path: Path) -> None:
    async def silent(socket: Any) -> None:
        async for _ in socket:
            pass

    with server(silent) as url:
        status, text = drive(items, url, tmp_path / "run", "--price", PRICE, "--max-cost", 1, "--no-page")
    assert status == 3 and "did not count its tokens" in text
    assert len(list((tmp_path / "run").rglob("talk.json"))) == 1


def test_a_hosted_system_without_its_key_is_refused_before_anything_is_written(items: Path, tmp_path: Path) -> None:
    status, text = run(
        "run", "fdb-1.0", "--system", "openai-realtime", "--data", items, "--out", tmp_path / "run", "--recogniser",
        "none", "--detector", "energy", OPENAI_API_KEY=None,
    )  # fmt: skip
    assert status == 1 and "OPENAI_API_KEY" in text and not (tmp_path / "run").exists()


def test_a_key_may_lie_in_a_file_here_and_the_environment_comes_first(
    items: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def sees(connection: Any, request: Any) -> Any:
        asked.append(request.headers.get("Authorization"))
        return connection.respond(404, "no such model")

    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("# keys\nexport OPENAI_API_KEY='sk-from-the-file'\n")
    with server(replies, sees) as url:
        drive(items, url, tmp_path / "a", OPENAI_API_KEY=None)
        drive(items, url, tmp_path / "b")
    assert asked == ["Bearer sk-from-the-file", f"Bearer {KEY}"]


def test_a_file_of_keys_that_cannot_be_read_is_refused_without_being_told(
    items: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text(f"A=1\nOPENAI_API_KEY {KEY}\n")
    status, text = drive(items, "ws://127.0.0.1:9", tmp_path / "run", OPENAI_API_KEY=None)
    assert status == 1 and ".env, line 2" in text and KEY not in text and not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("asked", "access"),
    [((), None), (("--access", "open"), "open")],
)
def test_access_is_kept_with_the_run(items: Path, tmp_path: Path, asked: tuple[str, ...], access: str | None) -> None:
    with server(replies) as url:
        drive(items, url, tmp_path / "run", "--no-page", *asked)
        drive(items, url, tmp_path / "run", "--no-page")
    assert json.loads((tmp_path / "run" / "run.json").read_text()).get("access") == access


def test_talks_begin_no_faster_than_allowed(items: Path, tmp_path: Path) -> None:
    began = []

    async def notes(socket: Any) -> None:
        began.append(asyncio.get_running_loop().time())
        await replies(socket)

    with server(notes) as url:
        status, text = drive(items, url, tmp_path / "run", "--sessions", 3, "--per-minute", 60, "--no-page")
    assert status == 0, text
    assert len(began) == 3 and max(began) - min(began) > 0.9


def test_the_table_s_price_goes_by_the_model_that_the_system_has_where_none_is_named(
    items: Path, tmp_path: Path
) -> None:
    status, text = run(
        "run", "fdb-1.0", "--system", "openai-realtime", "--data", items, "--out", tmp_path / "run", "--recogniser",
        "none", "--detector", "energy", "--dry-run", OPENAI_API_KEY=KEY,
    )  # fmt: skip
    assert status == 0 and "by tokens" in text and "not verified on a bill" in text
