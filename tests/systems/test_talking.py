"""A driver that only translates: the example of the page, as it stands there, and what its base does for it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from fullduplex.driving.link import Closed, Happening, Note
from fullduplex.driving.playout import Samples
from fullduplex.errors import ConversationError
from fullduplex.model.spec import Spec
from fullduplex.systems.build import build
from fullduplex.systems.talking import Translating, begun
from fullduplex.systems.wire import Door, Gone, address, websocket

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "drive-your-system.md"


def block(start: str, language: str = "python") -> str:
    """Return the code of the page that begins so."""
    found = re.search(rf"```{language}\n({re.escape(start)}.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the page's package is installed, by its own entry points."""
    folder = tmp_path_factory.mktemp("page")
    for name in ("parley", "parley_facade"):
        (folder / f"{name}.py").write_text(block(f"# {name}.py"))
    about = folder / "parley-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: parley\nVersion: 1.0\n")
    groups = tomllib.loads(block("[project.entry-points", "toml"))["project"]["entry-points"]
    told = "".join(f"[{group}]\n" + "".join(f"{n} = {v}\n" for n, v in one.items()) for group, one in groups.items())
    (about / "entry_points.txt").write_text(told)
    return folder


def test_the_driver_of_the_page_passes_every_case_that_its_protocol_has_a_word_for(installed: Path) -> None:
    command = [sys.executable, "-m", "fullduplex", "conform", "parley", "--clock", "virtual", "--json"]
    where = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": where}, check=False)
    assert done.stdout.startswith("{"), done.stderr
    told = json.loads(done.stdout)
    assert [case for case in told["cases"] if case["outcome"] not in ("passed", "not applicable")] == []
    promised = re.search(r"conform parley +# (\d+) cases apply", PAGE.read_text(encoding="utf-8"))
    assert promised is not None and told["counts"]["passed"] == int(promised[1])


def test_the_driver_of_the_page_is_under_150_lines() -> None:
    assert len(block("# parley.py").splitlines()) < 150


class Reading:
    """A wire from which some messages are read, and then nothing, or no more; what is sent is kept."""

    def __init__(self, *messages: str, silent: bool = False) -> None:
        self.messages, self.silent, self.sent = list(messages), silent, list[str]()
        self.read: float | None = None

    async def send(self, message: str) -> None:
        self.sent.append(message)

    async def receive(self) -> str:
        if self.messages:
            return self.messages.pop(0)
        if self.silent:
            await asyncio.Event().wait()
        raise Gone("1006")


class Words(Translating[str, str]):
    """Each message is a note of its words, but for ``go``, ``bye`` and ``error``."""

    async def get_ready(self) -> None:
        await self.until(lambda message: message if message == "go" else None)

    async def send(self, frame: Samples) -> None:
        await self.give("frame")

    async def understood(self, message: str) -> Sequence[Happening]:
        if message == "bye":
            return [Closed(message), Note("behind it")]
        self.errors += [message] if message == "error" else []
        return [Note(message)]

    async def leave(self) -> None:
        await self.give("farewell")


def held(wire: Reading, within: float = 5.0) -> list[Any]:
    async def talk() -> list[Any]:
        async with begun(Words(wire), "the parrot", within=within) as talking:
            return [event async for event in talking]

    return asyncio.run(talk())


def test_what_came_early_comes_first_and_the_end_of_the_wire_last() -> None:
    wire = Reading("early", "go", "late")
    early, late, closed = held(wire)
    assert (early, late) == (Note("early"), Note("late")) and closed == Closed("1006")


def test_the_last_error_is_told_with_the_end() -> None:
    assert held(Reading("go", "error"))[-1] == Closed("1006; its last error: error")


def test_nothing_is_sent_once_the_other_side_has_ended_the_talk() -> None:
    wire = Reading("go", "bye", "unread")
    assert held(wire)[0] == Closed("bye")
    assert wire.sent == [] and wire.messages == ["unread"]


@pytest.mark.parametrize(
    ("name", "handshake"),
    [
        ("freeze-omni", ("0{}", "40{}", '42["stop_tts"]', '42["stop_tts"]')),
        ("vita", ("0{}", "40{}", '42["stop_tts"]')),
        ("gemini-live", ('{"setupComplete": {}}',)),
        ("minicpm-o", ('{"type": "queue_done"}', '{"type": "prepared"}')),
        ("websocket", ('{"type": "ready"}',)),
    ],
)
def test_what_comes_has_come_when_the_socket_was_read(name: str, handshake: tuple[str, ...], tmp_path: Path) -> None:
    wire = Reading(*handshake)
    wire.read = 7.5

    async def read() -> Any:
        system: Any = build(Spec(name), tmp_path)
        async with system.over(wire, "") as talking:
            return talking.read

    assert asyncio.run(read()) == 7.5


@pytest.mark.parametrize(
    ("wire", "sentence"),
    [
        (Reading("error"), "the parrot left before it was ready: 1006; its last error: error"),
        (Reading("bye", "go"), "the parrot left before it was ready: bye"),
        (
            Reading("error", silent=True),
            "the parrot took the connection and was not ready within 0.05 s: it may be busy with another talk;"
            " its last error: error",
        ),
    ],
)
def test_a_server_that_is_never_ready_is_one_sentence_and_no_leave_is_taken(wire: Reading, sentence: str) -> None:
    with pytest.raises(ConversationError) as refused:
        held(wire, within=0.05)
    assert str(refused.value) == sentence and wire.sent == []


def test_a_message_that_is_nested_without_end_is_a_note() -> None:
    class Deep(Words):
        async def understood(self, message: str) -> Sequence[Happening]:
            return await self.understood(message)

    async def talk() -> list[Any]:
        return [event async for event in Deep(Reading("deep"))]

    note, closed = asyncio.run(talk())
    assert (note.kind, closed) == ("unreadable", Closed("1006"))


def test_who_never_stops_talking_before_it_is_ready_has_left() -> None:
    with pytest.raises(ConversationError, match="left before it was ready: it said more than 100000 things"):
        held(Reading(*["early"] * 100_001))


@pytest.mark.parametrize(("elsewhere", "followed"), [(False, True), (True, False)])
def test_a_server_that_sends_us_to_another_is_not_obeyed_and_that_one_sees_no_key(
    elsewhere: bool, followed: bool
) -> None:
    async def talk() -> list[str]:
        from websockets.asyncio.server import serve
        from websockets.datastructures import Headers
        from websockets.http11 import Response

        seen: list[str] = []

        async def one(socket: Any) -> None:
            seen.append(socket.request.headers.get("api-key", ""))

        def sends_on(socket: Any, request: Any) -> Any:
            if request.path != "/old":
                return None
            to = f"ws://127.0.0.1:{port(other)}/new" if elsewhere else "/new"
            return Response(302, "Found", Headers([("Location", to), ("Content-Length", "0")]))

        def port(server: Any) -> int:
            return int(next(iter(server.sockets)).getsockname()[1])

        async with serve(one, "127.0.0.1", 0) as other, serve(one, "127.0.0.1", 0, process_request=sends_on) as asked:
            try:
                async with websocket(Door(f"ws://127.0.0.1:{port(asked)}/old", {"api-key": "secret"})) as wire:
                    with suppress(Gone):
                        await wire.receive()
            except ConversationError as error:
                assert "HTTP 302" in str(error)
        return seen

    assert asyncio.run(talk()) == (["secret"] if followed else [])


def test_a_url_is_spelled_as_urls_are() -> None:
    assert address("ws://h:1/a b/ü%20?q=é x", "/", {"p": "a b"}) == "ws://h:1/a%20b/%C3%BC%20?q=%C3%A9%20x&p=a+b"
