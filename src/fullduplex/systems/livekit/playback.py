"""The loudspeaker that a LiveKit session is given: what came, what was taken back, what has sounded.

A session pushes frames faster than real time and ends a segment with ``flush``; ``clear_buffer`` takes back what has
not sounded; ``pause`` holds it and ``resume`` lets it go on. It wants to know when a segment begins and how much of it
had sounded when it was over: its own memory is cut by that. All of that is told by what the driver says was heard, and
nothing is decided here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from fullduplex.driving.link import Position
from fullduplex.driving.playout import Chunk, Flush, Samples
from fullduplex.model.spans import SECOND


@dataclass(slots=True, eq=False)
class Segment:
    """A segment of the session's sound, samples at one rate; ``open`` until it is flushed."""

    number: int
    parts: list[Samples] = field(default_factory=list)
    came: int = 0
    played: int = 0
    open: bool = True
    started: bool = False
    cleared: bool = False

    @property
    def id(self) -> str:
        """Return its name."""
        return f"s{self.number}"

    def rest(self) -> Samples:
        """Return what came and has not sounded."""
        return np.concatenate([np.zeros(0, np.float32), *self.parts])[self.played :]


@dataclass(frozen=True, slots=True)
class Report:
    """What the session is told: a segment began, or is over with so many seconds of it played."""

    kind: Literal["started", "finished"]
    played: float
    interrupted: bool = False


class Playback:
    """The segments that have not been accounted for, oldest first."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._segments: deque[Segment] = deque()
        self._number = 0
        self._paused = False
        #: Whether a position came after the flush of a pause, and whether to go on once it has.
        self._settled, self._resuming = True, False

    @property
    def utterance(self) -> str:
        """Return the name of the segment that is open, or of the next."""
        open = self._open()
        return open.id if open else f"s{self._number + 1}"

    def _open(self) -> Segment | None:
        return self._segments[-1] if self._segments and self._segments[-1].open else None

    def capture(self, samples: Samples) -> Iterator[Chunk]:
        """Take sound, and yield what sounds of it now: nothing while it is paused."""
        segment = self._open()
        if segment is None:
            self._number += 1
            segment = Segment(self._number)
            self._segments.append(segment)
        segment.parts.append(samples)
        segment.came += len(samples)
        if not self._paused:
            yield Chunk(samples, segment.id)

    def flush(self) -> Iterator[Report]:
        """End the open segment; yield its end where it was cleared before."""
        segment = self._open()
        if segment is not None:
            segment.open = False
        yield from self._over()

    def clear(self) -> Iterator[Flush | Report]:
        """Take back all that has not sounded."""
        yield Flush(None)
        self._paused = self._resuming = False
        for segment in self._segments:
            segment.cleared = True
        yield from self._over()

    def pause(self) -> Iterator[Flush]:
        """Hold what has not sounded."""
        if not self._paused:
            self._paused, self._settled = True, False
            yield Flush(None)

    def resume(self) -> Iterator[Chunk]:
        """Let it go on where it stopped."""
        if self._paused and not self._settled:
            # How much had sounded is known a frame later.
            self._resuming = True
        elif self._paused:
            self._paused = self._resuming = False
            for segment in self._segments:
                rest = segment.rest()
                if len(rest) and not segment.cleared:
                    yield Chunk(rest, segment.id)

    def heard(self, position: Position) -> Iterator[Report | Chunk]:
        """Take note of what has sounded; yield what the session has to know, and what goes on."""
        for segment in self._segments:
            if segment.id == position.id:
                segment.played = min(segment.came, round(position.played * self._rate / SECOND))
            elif position.id and segment.number < int(position.id[1:]) and not segment.cleared:
                segment.played = segment.came
            if segment.played and not segment.started:
                segment.started = True
                yield Report("started", segment.played / self._rate)
        self._settled = True
        yield from self._over()
        if self._resuming:
            yield from self.resume()

    def _over(self) -> Iterator[Report]:
        while self._segments:
            first = self._segments[0]
            if first.open or not (first.cleared or first.played >= first.came):
                return
            self._segments.popleft()
            yield Report("finished", first.played / self._rate, first.cleared)


__all__ = ["Playback", "Report", "Segment"]
