"""A system seen from outside: what the driver did with it, and what happens when its line is bad."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from fullduplex.driving.link import Happening, Link, Position, System, Traits
from fullduplex.driving.playout import Chunk, Samples
from fullduplex.model.spans import SECOND
from fullduplex.model.spec import Spec


@dataclass(slots=True)
class Seen:
    """What passed: when each frame was given (microseconds since it was open), positions beyond what had come, and
    how many samples came of each id. ``began`` is when it was open, in microseconds of the event loop's clock.
    """

    ready: bool = False
    began: int = 0
    frames: list[int] = field(default_factory=list)
    positions: int = 0
    beyond: int = 0
    finished: bool = False
    received: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Watched:
    """``system``, watched. The frame numbered ``stalls`` takes ``stall`` longer; at ``breaks`` the line is cut."""

    system: System
    seen: Seen = field(default_factory=Seen)
    stalls: int = -1
    stall: int = 0
    breaks: int | None = None

    @property
    def spec(self) -> Spec:
        """Return the system's own."""
        return self.system.spec

    @property
    def traits(self) -> Traits:
        """Return the system's own."""
        return self.system.traits

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[_Watching]:
        """Open a talk with the system."""
        async with self.system.connect(prompt) as link:
            self.seen.ready, self.seen.began = True, round(asyncio.get_running_loop().time() * SECOND)
            yield _Watching(link, self)


class _Watching:
    def __init__(self, link: Link, watched: Watched) -> None:
        self._link, self._watched, self._seen = link, watched, watched.seen
        self.ready = link.ready
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()

    @property
    def read(self) -> float | None:
        """Return when the link's latest message was read, where it tells."""
        read: float | None = getattr(self._link, "read", None)
        return read

    def _now(self) -> int:
        return round((self._loop.time() - self._began) * SECOND)

    async def send(self, frame: Samples) -> None:
        if len(self._seen.frames) == self._watched.stalls:
            await asyncio.sleep(self._watched.stall / SECOND)
        self._seen.frames.append(self._now())
        await self._link.send(frame)

    async def heard(self, position: Position) -> None:
        self._seen.positions += 1
        came = self._seen.received.get(position.id, 0) * SECOND // self._watched.traits.rate_out
        self._seen.beyond += position.played > came
        await self._link.heard(position)

    async def finish(self) -> None:
        self._seen.finished = True
        await self._link.finish()

    async def __aiter__(self) -> AsyncIterator[Happening]:
        events = aiter(self._link)
        breaks = self._watched.breaks
        while True:
            try:
                limit = None if breaks is None else self._began + breaks / SECOND
                async with asyncio.timeout_at(limit):
                    event = await anext(events)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise ConnectionResetError("the line was cut") from None
            if isinstance(event, Chunk):
                self._seen.received[event.id] = self._seen.received.get(event.id, 0) + len(event.samples)
            yield event
