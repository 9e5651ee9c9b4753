"""The second look at a Live session: when, on the session's clock, each piece of its sound begins.

The primary connection carries the sound without times. A sideband reflects it, as mono pcm16 at 24 kHz, with
``start_ms`` and ``end_ms``; frames that were dropped leave gaps. A piece is found in the reflection by its place in
the order and, where the primary carries pcm16 at 24 kHz too, by its bytes: what does not match gets no time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass

from fullduplex.driving.link import Note
from fullduplex.model.spans import SECOND, in_seconds
from fullduplex.systems.openai.line import Event, Line, error_text, milliseconds
from fullduplex.systems.openai.sound import bytes_of
from fullduplex.systems.wire import Gone

RATE = 24_000
_WIDTH = 2
#: How many reflected pieces may lie in front of the one that matches.
_AHEAD = 50


@dataclass(slots=True)
class _Piece:
    start: int
    data: bytes


@dataclass(slots=True)
class _Owed:
    """Sound whose reflection has not come; ``number`` None where the beginning of its piece has its time."""

    number: int | None
    data: bytes
    size: int


class Sideband:
    """What a sideband has told so far. ``checked``: the primary's bytes are the same, so that they are compared."""

    def __init__(self, line: Line, checked: bool) -> None:
        self._line, self._checked = line, checked
        self._pieces: deque[_Piece] = deque()
        self._owed: deque[_Owed] = deque()
        self._more = asyncio.Event()
        self.found, self.missed = 0, 0
        self.notes: list[Note] = []
        self.gone = False

    async def run(self) -> None:
        """Take what comes until it is gone."""
        while True:
            try:
                told = await self._line.receive()
            except Gone as error:
                self.gone = True
                self.notes.append(Note("sideband_gone", {"reason": str(error)}))
                self._more.set()
                return
            if isinstance(told, Note):
                self.notes.append(Note("sideband_unreadable", told.data))
            else:
                self._take(told)

    def _take(self, told: Event) -> None:
        if told["type"] == "error":
            self.notes.append(Note("sideband_error", {"message": self._line.plain(error_text(told))}))
        if told["type"] != "session.output_audio.delta":
            return
        start, end = milliseconds(told.get("start_ms")), milliseconds(told.get("end_ms"))
        try:
            data = bytes_of(told.get("delta"))
        except ValueError:
            data = b""
        if start is None or end is None or not data:
            self.notes.append(Note("sideband_unreadable", {"start_ms": told.get("start_ms"), "bytes": len(data)}))
            return
        self._pieces.append(_Piece(start, data))
        self._pay(start, end)
        self._more.set()

    def _pay(self, start: int, end: int) -> None:
        """Let go of what belongs to pieces that were heard before their time was told, and tell it."""
        while self._owed and self._pieces:
            reflected = self._pieces[0].data
            found = next((n for n, owed in enumerate(self._owed) if self._same(owed.data, reflected)), None)
            if found is None:
                # It is the reflection of a piece that is still to come.
                return
            for _ in range(found):
                self._owed.popleft()
            owed = self._owed.popleft()
            gone = self._let_go(owed.size)
            if gone < owed.size:
                self._owed.appendleft(_Owed(None, owed.data[gone:], owed.size - gone))
            if owed.number is not None:
                times = {"start": in_seconds(start), "end": in_seconds(end)}
                self.notes.append(Note("output_time", {"chunk": owed.number, **times}))

    def _same(self, data: bytes, reflected: bytes) -> bool:
        both = min(len(data), len(reflected))
        return not self._checked or data[:both] == reflected[:both]

    async def time_of(self, number: int, data: bytes, size: int, until: float) -> int | None:
        """Return where on the session's clock (microseconds) the ``number``-th piece begins, if it is told in time.

        ``data`` are its bytes, ``size`` how many they are in the reflection. Waits no longer than ``until``, on the
        event loop's clock; a time that comes later is told in a note.
        """
        loop = asyncio.get_running_loop()
        while not self._pieces and not self.gone and loop.time() < until:
            self._more.clear()
            try:
                async with asyncio.timeout_at(until):
                    await self._more.wait()
            except TimeoutError:
                break
        if not self._pieces:
            self.missed += 1
            if not self.gone:
                self._owed.append(_Owed(number, data, size))
            return None
        if self._checked and not self._seek(data):
            self.missed += 1
            return None
        start = self._pieces[0].start
        gone = self._let_go(size)
        if gone < size:
            self._owed.append(_Owed(None, data[gone:], size - gone))
        self.found += 1
        return start

    def _seek(self, data: bytes) -> bool:
        """Return whether ``data`` is reflected, and let go of what lies in front of it."""
        for n, piece in enumerate(self._pieces):
            if n > _AHEAD:
                break
            if self._same(data, piece.data):
                for _ in range(n):
                    self._pieces.popleft()
                return True
        return False

    def _let_go(self, size: int) -> int:
        """Let go of ``size`` bytes of the reflection; return how many there were."""
        gone = 0
        while gone < size and self._pieces:
            head = self._pieces[0]
            part = min(size - gone, len(head.data))
            gone += part
            if part == len(head.data):
                self._pieces.popleft()
            else:
                self._pieces[0] = _Piece(head.start + part // _WIDTH * SECOND // RATE, head.data[part:])
        return gone
