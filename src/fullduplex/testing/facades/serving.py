"""A facade on sockets in a process of its own, told over a pipe how to behave; and in memory, for the virtual clock.

Each behaviour gets a port: no protocol has a word for how its server shall behave.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Any

from fullduplex.driving.clock import VirtualLoop
from fullduplex.driving.link import Link, System, Traits
from fullduplex.errors import ConversationError
from fullduplex.model.spec import Spec
from fullduplex.once import once_per_process
from fullduplex.systems.ogg_opus import OggOpus
from fullduplex.systems.ogg_opus_writer import OggOpusWriter
from fullduplex.systems.wire import Gone, Memory, OverWire, Socket
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.facades import Facade, Reported, facade_of
from fullduplex.testing.facades.posted import answering
from fullduplex.testing.facades.talking import Room, hold
from fullduplex.testing.loopback import first_line, reset
from fullduplex.testing.model import Reset, prepare

#: How long a server may take to start, to open a port, to account for a talk that is over (seconds).
_STARTS, _ANSWERS, _REPORTS = 30.0, 20.0, 8.0


# On sockets.


class _Client(Socket):
    """A connection of the websockets library, at the server's end."""

    def __init__(self, connection: Any) -> None:
        super().__init__(connection)
        self._connection = connection
        self.path = str(connection.request.path)
        self.headers: Mapping[str, str] = dict(connection.request.headers.raw_items())

    async def close(self, reason: str) -> None:
        # A close frame holds 123 bytes of reason.
        await self._connection.close(1000, reason.encode()[:120].decode("utf-8", "ignore"))


@asynccontextmanager
async def serve(
    facade: Facade,
    behaviour: Behaviour,
    *,
    port: int = 0,
    ssl: Any = None,
    reported: Reported | None = None,
) -> AsyncIterator[int]:
    """Serve ``facade`` as long as the context is open; give the port. ``reported`` gets the account of each talk.

    ``ssl`` is for a WebSocket alone.
    """
    fitting = facade.fits(behaviour)
    await asyncio.to_thread(prepare, fitting)
    # The first of a process loads its codec.
    await asyncio.to_thread(facade.dialect, fitting)
    carry = partial(_over_websockets, ssl=ssl) if facade.carried is None else facade.carried
    async with carry(facade, fitting, port, reported or _untold) as got:
        yield got


def _untold(report: Mapping[str, Any]) -> None:
    """Tell nobody."""


@asynccontextmanager
async def _over_websockets(
    facade: Facade, fitting: Behaviour, port: int, reported: Reported, ssl: Any = None
) -> AsyncIterator[int]:
    from websockets.asyncio.server import serve as listen

    talks, room = 0, Room(facade)

    async def talk(connection: Any) -> None:
        nonlocal talks
        talks += 1
        try:
            await one(connection)
        finally:
            talks -= 1

    async def one(connection: Any) -> None:
        report: Mapping[str, Any] = {}
        client = _Client(connection)
        if facade.aside is not None:
            with suppress(Gone):
                if await facade.aside(client):
                    return
        try:
            report = await hold(facade, fitting, client, room)
        except Reset:
            reset(connection)
        except Gone:
            # It left before the talk began; there is nobody to tell.
            pass
        finally:
            reported(report)

    def let_in(connection: Any, request: Any) -> Any:
        refused = facade.refuses and facade.refuses(str(request.path), dict(request.headers.raw_items()))
        return connection.respond(*refused) if refused else None

    async with listen(
        talk,
        "127.0.0.1",
        port,
        ssl=ssl,
        compression=None,
        max_size=None,
        ping_interval=None,
        close_timeout=1,
        process_request=let_in,
        subprotocols=list(facade.subprotocols) or None,  # type: ignore[arg-type]
        create_connection=answering(facade.posts, lambda: talks > 0) if facade.posts else None,
    ) as server:
        yield next(iter(server.sockets)).getsockname()[1]


class Stand:
    """A process that serves a facade, seen from outside."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process, self._turn = process, Lock()

    def behaving(self, behaviour: Behaviour) -> str:
        """Return the URL of a server that behaves so."""
        return str(self._ask({"behaviour": behaviour.to_json()}))

    def report(self, url: str) -> Mapping[str, Any]:
        """Return the talker's account of the last talk at ``url``, once it is over; empty where it gives none."""
        told = self._ask({"report": url})
        return told if isinstance(told, dict) else {}

    def _ask(self, question: Mapping[str, Any]) -> Any:
        assert self._process.stdin is not None
        with self._turn:
            try:
                self._process.stdin.write(json.dumps(question) + "\n")
                self._process.stdin.flush()
                line = first_line(self._process, _ANSWERS)
                return json.loads(line)["answer"]
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise ConversationError("the facade's server does not answer") from error


@contextmanager
def served(name: str, options: Mapping[str, Any] | None = None) -> Iterator[Stand]:
    """Run the facade of the system called ``name`` in a process of its own, as long as the context is open."""
    command = [sys.executable, "-m", "fullduplex.testing.facades", name, "--told"]
    if options:
        command += ["--options", json.dumps(dict(options))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    try:
        if first_line(process, _STARTS).strip() != "ready":
            raise ConversationError(f"the facade of {name} did not start")
        yield Stand(process)
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pipe in (process.stdout, process.stdin):
            if pipe is not None:
                pipe.close()


async def serve_as_told(facade: Facade, questions: AsyncIterator[str], answer: Callable[[str], None]) -> None:
    """Open a port for each behaviour, tell its URL, and give accounts, until there are no more ``questions``."""
    from fullduplex.testing.behaviour import behaviour_from_json

    reports: dict[str, asyncio.Queue[Mapping[str, Any]]] = {}
    async with AsyncExitStack() as ports:
        async for line in questions:
            question = json.loads(line)
            told: Any = None
            if "behaviour" in question:
                queue: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
                behaviour = behaviour_from_json(question["behaviour"])
                port = await ports.enter_async_context(serve(facade, behaviour, reported=queue.put_nowait))
                told = f"{facade.scheme}://127.0.0.1:{port}"
                reports[told] = queue
            elif question.get("report") in reports:
                with suppress(TimeoutError):
                    async with asyncio.timeout(_REPORTS):
                        told = await reports[question["report"]].get()
            answer(json.dumps({"answer": told}))


# What is driven.


@dataclass(slots=True)
class Faced:
    """``system``, driven against its facade at ``stand``, that behaves so; ``reported`` gets the talker's account."""

    system: Any
    stand: Stand
    behaviour: Behaviour
    reported: Reported | None = None
    ready_within: int | None = None
    url: str = ""

    @property
    def spec(self) -> Spec:
        """Return the system's own."""
        spec: Spec = self.system.spec
        return spec

    @property
    def traits(self) -> Traits:
        """Return the system's own."""
        traits: Traits = self.system.traits
        return traits

    async def prepare(self) -> None:
        """Open the port, so that the time that it takes is none of the talk's."""
        if not self.url:
            await asyncio.to_thread(_load)
            self.url = await asyncio.to_thread(self.stand.behaving, self.behaviour)

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[Link]:
        """Open a talk."""
        await self.prepare()
        try:
            async with at(self.system, self.url, self.ready_within).connect(prompt) as link:
                yield link
        finally:
            if self.reported is not None:
                self.reported(await asyncio.to_thread(self.stand.report, self.url))


@once_per_process
def _load() -> None:
    """Load what drivers load late."""
    import websockets.asyncio.client  # noqa: F401

    OggOpus()
    OggOpusWriter()
    asyncio.run(_ask_nobody())


async def _ask_nobody() -> None:
    """Ask over HTTP where nobody listens: the client loads much of itself with its first request."""
    import socket

    import httpx

    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        async with httpx.AsyncClient(verify=False, trust_env=False) as client:
            with suppress(httpx.HTTPError):
                await client.get(f"http://127.0.0.1:{unheard.getsockname()[1]}")


def at(system: Any, url: str, ready_within: int | None = None) -> System:
    """Return ``system`` at another ``url``, with so many microseconds for the handshake."""
    changes: dict[str, Any] = {"url": url}
    if ready_within is not None:
        changes["ready_within"] = ready_within / 1_000_000
    made: System = replace(system, **changes)
    return made


@dataclass(frozen=True, slots=True)
class FacedTwin:
    """``system``, driven against its facade in memory: for the virtual clock, or for any loop."""

    system: OverWire
    facade: Facade
    behaviour: Behaviour
    reported: Reported | None = field(default=None, compare=False, repr=False)
    #: That of its server, for all talks that are held with this object.
    room: Room | None = field(default=None, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "room", Room(self.facade))

    @property
    def spec(self) -> Spec:
        """Return the system's own."""
        return self.system.spec

    @property
    def traits(self) -> Traits:
        """Return the system's own; without sockets any clock is safe."""
        return replace(self.system.traits, virtual=True)

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[Link]:
        """Open a talk."""
        fitting = self.facade.fits(self.behaviour)
        if isinstance(asyncio.get_running_loop(), VirtualLoop):
            prepare(fitting)
        else:
            await asyncio.to_thread(prepare, fitting)
        door = self.system.door(prompt)
        there: asyncio.Queue[str | bytes | Gone] = asyncio.Queue()
        back: asyncio.Queue[str | bytes | Gone] = asyncio.Queue()
        reports: list[Mapping[str, Any]] = []
        client = _InMemory(back, there, "/" + door.url.split("/", 3)[-1], door.headers)
        serving = asyncio.ensure_future(_serve_twin(self.facade, fitting, client, back, reports.append, self.room))
        opened = False
        try:
            async with self.system.over(Memory(there, back), prompt) as link:
                opened = True
                yield link
        finally:
            there.put_nowait(Gone("1000"))
            if not opened:
                serving.cancel()
            with suppress(TimeoutError, asyncio.CancelledError):
                await asyncio.wait_for(serving, _REPORTS)
            if self.reported is not None and reports:
                self.reported(reports[0])


class _InMemory(Memory):
    """A client in memory, at the server's end."""

    def __init__(self, there: Any, back: Any, path: str, headers: Mapping[str, str]) -> None:
        super().__init__(there, back)
        self.path, self.headers = path, headers
        self._to = there

    async def close(self, reason: str) -> None:
        self._to.put_nowait(Gone(f"1000 {reason}".strip()))


async def _serve_twin(
    facade: Facade,
    behaviour: Behaviour,
    client: _InMemory,
    back: asyncio.Queue[str | bytes | Gone],
    reported: Callable[[Mapping[str, Any]], None],
    room: Room | None,
) -> None:
    try:
        reported(await hold(facade, behaviour, client, room))
    except Reset:
        back.put_nowait(Gone("the connection broke off: reset", broke=True))
    except Gone:
        return


__all__ = ["Faced", "FacedTwin", "Stand", "at", "facade_of", "serve", "serve_as_told", "served"]
