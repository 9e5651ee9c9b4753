"""A line that is read on while what came is still being understood: what comes has come when it was read."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from fullduplex.driving.link import Note
from fullduplex.systems.openai.line import Event, Line
from fullduplex.systems.wire import Gone


class Ahead:
    """The events of ``line``, read on once :meth:`start` was called.

    ``read`` is when the latest that was received here was read there.
    """

    def __init__(self, line: Line) -> None:
        self.read: float | None = None
        self._line = line
        self._came: asyncio.Queue[tuple[float | None, Event | Note | Gone]] = asyncio.Queue()
        self._reading: asyncio.Task[None] | None = None

    async def send(self, message: Mapping[str, Any]) -> None:
        """Send an event; raises :class:`Gone`."""
        await self._line.send(message)

    async def receive(self) -> Event | Note:
        """Return the next event, a note of what is none; raises :class:`Gone`."""
        if self._reading is None:
            told: Event | Note | Gone = await self._line.receive()
            self.read = self._line.read
        else:
            self.read, told = await self._came.get()
        if isinstance(told, Gone):
            raise told
        return told

    def start(self) -> None:
        """Read on from here, until :meth:`stop`."""
        self._reading = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        while True:
            try:
                told: Event | Note | Gone = await self._line.receive()
            except Gone as error:
                told = error
            self._came.put_nowait((self._line.read, told))
            if isinstance(told, Gone):
                return

    async def stop(self) -> None:
        """Read no more."""
        if self._reading is not None:
            self._reading.cancel()
            with suppress(asyncio.CancelledError):
                await self._reading


__all__ = ["Ahead"]
