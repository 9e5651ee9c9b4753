"""A loopback server: real sockets, a talker that does as it is told, every fault on demand.

``python -m fullduplex.testing.loopback --port 0`` prints the port that it got, and serves until it is ended. The
protocol is that of :mod:`fullduplex.systems.loopback`; :class:`Twin` is the same without sockets, for the virtual
clock.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fullduplex.driving.clock import VirtualLoop
from fullduplex.driving.link import Traits
from fullduplex.errors import ConversationError, InputError
from fullduplex.model.spans import SECOND, ms, seconds
from fullduplex.model.spec import Spec, digest
from fullduplex.systems.loopback import Talking, talk_over
from fullduplex.systems.wire import Gone, Memory
from fullduplex.testing.behaviour import Behaviour, behaviour_from_json
from fullduplex.testing.model import Reset, Talker, prepare

#: What a server does that nobody told what to do: it answers, and stops when it is interrupted.
USUAL = Behaviour(answer=ms(500), answer_length=seconds(3), yields=ms(200), flush="id", pace="burst")
#: A client that has not said what it wants by then is sent away.
_OPEN_WITHIN = 10
#: How many messages a stalled reader lets through before the sender has to wait.
_HELD = 64


class Served:
    """One client's talk, over whatever carries the messages."""

    def __init__(self, give: Any, take: Any, usual: Behaviour) -> None:
        self.give, self.take, self.usual = give, take, usual

    async def talk(self) -> None:
        """Hold the talk until the client leaves; raises :class:`Reset` where it is to be broken off."""
        async with asyncio.timeout(_OPEN_WITHIN):
            opening = json.loads(await self.take())
        try:
            behaviour = behaviour_from_json(opening["behaviour"]) if "behaviour" in opening else self.usual
            rate_in = int(opening["rate_in"])
        except (InputError, KeyError, TypeError, ValueError) as error:
            await self.give(json.dumps({"type": "close", "reason": f"cannot be opened: {error}"}))
            return
        if not await self.handshake(behaviour):
            return
        talker = Talker(behaviour, self.give, rate_in)
        ready = {"type": "ready", "rate_out": behaviour.rate, "coding": behaviour.coding, "voice": "watermark"}
        await self.give(json.dumps(ready))
        talker.start()
        reading = asyncio.ensure_future(self.read(talker))
        try:
            await asyncio.wait({reading, talker.failed}, return_when=asyncio.FIRST_COMPLETED)
            if talker.failed.done():
                talker.failed.result()
            reading.result()
        finally:
            talker.stop()
            reading.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await reading

    async def handshake(self, behaviour: Behaviour) -> bool:
        """Wait as long as it takes to get ready; return False where the client is sent away or left."""
        if isinstance(asyncio.get_running_loop(), VirtualLoop):
            prepare(behaviour)
        else:
            await asyncio.to_thread(prepare, behaviour)
        if behaviour.busy:
            await self.give(json.dumps({"type": "note", "kind": "busy", "data": {"queue": 1}}))
        early = asyncio.ensure_future(self.take())
        try:
            await asyncio.wait({early}, timeout=None if behaviour.busy else behaviour.handshake / SECOND)
            if early.done():
                early.result()
                await self.give(json.dumps({"type": "close", "reason": "it spoke before the server was ready"}))
                return False
        finally:
            early.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await early
        return True

    async def read(self, talker: Talker) -> None:
        """Give the talker what comes, until the client takes leave."""
        stalls = talker.behaviour.stalls
        while True:
            if stalls is not None and talker.now() >= stalls:
                await asyncio.Event().wait()
            report = await talker.hear(await self.take())
            if report is not None:
                await self.give(json.dumps({"type": "report"} | report))
                return


# Over sockets.


async def serve(port: int, usual: Behaviour, ready: Callable[[int], None]) -> None:
    """Serve on ``port`` of this machine (0: any that is free) until cancelled; ``ready`` is told which."""
    from websockets.asyncio.server import ServerConnection
    from websockets.asyncio.server import serve as listen
    from websockets.exceptions import ConnectionClosed

    async def talk(connection: ServerConnection) -> None:
        try:
            await Served(connection.send, connection.recv, usual).talk()
        except Reset:
            reset(connection)
        except (ConnectionClosed, TimeoutError, ValueError, KeyError, TypeError):
            # The client went, or never said what it wanted; there is nobody to tell.
            return

    async with listen(
        talk, "127.0.0.1", port, compression=None, max_size=None, ping_interval=None, close_timeout=1
    ) as server:
        ready(next(iter(server.sockets)).getsockname()[1])
        await server.wait_closed()


def reset(connection: Any) -> None:
    """Break a connection off with a TCP reset: no closing handshake, nothing more of what was under way."""
    raw = connection.transport.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.transport.abort()


@contextmanager
def served(usual: Behaviour | None = None, *, within: float = 30.0) -> Iterator[str]:
    """Run a server in a process of its own; give its URL. Raises :class:`ConversationError` where it does not start."""
    command = [sys.executable, "-m", "fullduplex.testing.loopback", "--port", "0"]
    if usual is not None:
        command += ["--behaviour", json.dumps(usual.to_json())]
    # The server must not hold our stdout open; it ends with our end of the pipe to its stdin.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = first_line(process, within)
        if not line.strip().isdecimal():
            raise ConversationError("the loopback server did not start")
        yield f"ws://127.0.0.1:{line.strip()}"
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


def first_line(process: subprocess.Popen[str], within: float) -> str:
    """Return the next line that ``process`` prints, or nothing where it prints none ``within`` so many seconds."""
    import select

    assert process.stdout is not None
    readable, _, _ = select.select([process.stdout], [], [], within)
    return process.stdout.readline() if readable else ""


# In memory.


@dataclass(frozen=True, slots=True)
class Twin:
    """The same server in memory: for the virtual clock, or for any loop."""

    behaviour: Mapping[str, Any] = field(default_factory=dict)
    traits: Traits = field(default_factory=lambda: Traits(timing="burst", flush="id", virtual=True))
    ready_within: int = seconds(30)
    reported: Callable[[Mapping[str, Any]], None] | None = field(default=None, compare=False, repr=False)

    @property
    def spec(self) -> Spec:
        """Return the name and what the talker is told to do."""
        return Spec("loopback-twin", {"behaviour": digest(dict(self.behaviour))} if self.behaviour else {}, "1")

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[Talking]:
        """Open a talk."""
        there: asyncio.Queue[str | bytes | Gone] = asyncio.Queue(_HELD)
        back: asyncio.Queue[str | bytes | Gone] = asyncio.Queue()
        serving = asyncio.ensure_future(_serve_twin(there, back))
        try:
            async with talk_over(Memory(there, back), self, prompt) as talking:
                yield talking
        finally:
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving


async def _serve_twin(there: asyncio.Queue[Any], back: asyncio.Queue[str | bytes | Gone]) -> None:
    async def give(message: str | bytes) -> None:
        back.put_nowait(message)

    try:
        await Served(give, there.get, USUAL).talk()
        back.put_nowait(Gone("1000"))
    except Reset:
        back.put_nowait(Gone("the connection broke off: reset", broke=True))


def main(arguments: list[str] | None = None) -> None:
    """Serve until ended, or until nobody holds the other end of stdin any more where that is a pipe."""
    parser = argparse.ArgumentParser(prog="python -m fullduplex.testing.loopback", description="A loopback server.")
    parser.add_argument("--port", type=int, default=0, help="0: any that is free (default)")
    parser.add_argument(
        "--behaviour", default="", help="what it does with clients that do not say: JSON, or a file of it"
    )
    given = parser.parse_args(arguments)
    usual = USUAL
    if given.behaviour:
        text = given.behaviour
        try:
            usual = behaviour_from_json(
                json.loads(text if text.lstrip().startswith("{") else Path(text).read_text("utf-8"))
            )
        except (OSError, ValueError, InputError) as error:
            parser.error(str(error))

    def ready(port: int) -> None:
        sys.stdout.write(f"{port}\n")
        sys.stdout.flush()

    async def serve_while_wanted() -> None:
        serving = asyncio.ensure_future(serve(given.port, usual, ready))
        if _is_pipe(0):
            loop = asyncio.get_running_loop()
            loop.add_reader(0, lambda: os.read(0, 1) or serving.cancel())
        with suppress(asyncio.CancelledError):
            await serving

    with suppress(KeyboardInterrupt):
        asyncio.run(serve_while_wanted())


def _is_pipe(number: int) -> bool:
    import stat

    with suppress(OSError):
        return stat.S_ISFIFO(os.fstat(number).st_mode)
    return False


if __name__ == "__main__":
    main()
