"""When something came is when it was read, not when it had been decoded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np

from fullduplex.driving.clock import run_virtual
from fullduplex.driving.drive import drive
from fullduplex.driving.link import Happening, Position, Ready, Traits
from fullduplex.driving.playout import Chunk, Samples
from fullduplex.model.spans import ms, seconds
from fullduplex.model.spec import Spec


class Slow:
    """Reads a message every 100 ms and takes 30 ms to decode it; tells when it read, or does not."""

    spec = Spec("slow")
    traits = Traits(virtual=True)

    def __init__(self, *, shift: float | None) -> None:
        self._shift = shift
        self.ready = Ready()
        self.read: float | None = None

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[Slow]:
        yield self

    async def send(self, frame: Samples) -> None: ...

    async def heard(self, position: Position) -> None: ...

    async def finish(self) -> None: ...

    async def __aiter__(self) -> AsyncIterator[Happening]:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(0.1)
            self.read = None if self._shift is None else loop.time() + self._shift
            await asyncio.sleep(0.03)
            yield Chunk(np.zeros(240, np.float32))


def arrivals(system: Any) -> list[int]:
    talk = run_virtual(drive(system, (), length=seconds(0.5)))
    return [event.arrived for event in talk.received]


def test_a_link_that_tells_when_it_read_is_believed() -> None:
    assert arrivals(Slow(shift=0.0)) == [ms(100), ms(230), ms(360)]


def test_a_link_that_does_not_tell_is_taken_at_its_yield() -> None:
    assert arrivals(Slow(shift=None)) == [ms(130), ms(260), ms(390)]


def test_nothing_came_before_what_came_before_it_nor_after_it_was_given() -> None:
    assert arrivals(Slow(shift=-9.0)) == [0, 0, 0]
    assert arrivals(Slow(shift=9.0)) == [ms(130), ms(260), ms(390)]
