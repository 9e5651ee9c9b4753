"""What a listener would have heard: received audio placed on the session clock.

Systems send audio in real time, ahead of it, or in bursts, and take some of it back.
Neither the moment of arrival nor the order alone says when a sample sounds. The rule is a
player's: a chunk sounds when it arrives, or when the queue before it has sounded; a flush
silences what has not sounded yet. It is a function of the log alone, so another placement
is a recomputation and not another recording.

Inside, a position is a whole number of samples; no rounding can lose or double one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fullduplex.model.spans import SECOND

Samples = NDArray[np.float32]
_EMPTY = -1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chunk:
    """Audio as it came: float32 samples of one channel at the system's rate.

    ``arrived`` is on the session clock in microseconds; the driver writes it on receipt.
    ``id`` names the utterance or response that the chunk belongs to and ``epoch`` numbers
    the system's turns, where the protocol has either. ``source`` is where the chunk begins
    on the system's own clock (an utterance's, a file's), in microseconds, or None.
    """

    samples: Samples
    id: str = ""
    epoch: int = 0
    source: int | None = None
    arrived: int = 0


@dataclass(frozen=True, slots=True)
class Flush:
    """The system took back audio that it had sent and that had not sounded.

    ``scope`` None takes back all that has come so far; a text, the chunks of that id; a
    number, the chunks of that epoch and earlier ones. A text or a number also
    drops such chunks that come later; None leaves later ones alone.
    """

    scope: str | int | None = None
    arrived: int = 0

    def covers(self, chunk: Chunk) -> bool:
        """Return whether ``chunk`` is among what this flush takes back."""
        if self.scope is None:
            return True
        return chunk.id == self.scope if isinstance(self.scope, str) else chunk.epoch <= self.scope


@dataclass(frozen=True, slots=True)
class Placed:
    """What became of one chunk.

    ``start`` is the sample at which it began to sound, ``played`` how many of its ``size``
    samples sounded (0: none); the rest was taken back. ``late``: it came after its id or
    epoch had been flushed.
    """

    chunk: Chunk
    start: int
    played: int
    late: bool = False

    @property
    def size(self) -> int:
        """Return how many samples the chunk has."""
        return len(self.chunk.samples)

    @property
    def end(self) -> int:
        """Return the sample after its last that sounded."""
        return self.start + self.played


def sample_at(time: int, rate: int) -> int:
    """Return the first sample that does not sound before ``time`` (microseconds)."""
    return -(-time * rate // SECOND)


class Player:
    """The queue of a player, fed with a log one event at a time.

    ``priming`` (microseconds) is how long it holds the first audio after the queue ran
    empty, as players do against jitter; 0 plays at once.
    """

    def __init__(self, rate: int, priming: int = 0) -> None:
        self.rate, self._priming = rate, sample_at(priming, rate)
        self.placed: list[Placed] = []
        # Ids that came; what was taken back by name: ids, and the latest epoch.
        self._came_ids: set[str] = set()
        self._gone_ids: set[str] = set()
        self._gone_until: int | None = None
        self._clock = 0
        self._free = _EMPTY
        # Placements before this index end at or before this sample; the past is final.
        self._settled, self._settled_until = 0, 0
        # No flush can change placements before this index.
        self._final = 0
        # The next placement to tell of, and the utterance that sounded last with its samples so far.
        self._told, self._sounding, self._sounded = 0, "", 0

    def take(self, event: Chunk | Flush) -> None:
        """Place ``event``; raises ValueError where it arrived before the one before it."""
        if event.arrived < self._clock:
            raise ValueError(f"events are out of order: {event.arrived} µs after {self._clock} µs")
        self._clock = event.arrived
        if isinstance(event, Chunk):
            self._queue(event)
        else:
            self._flush(event)

    def _queue(self, chunk: Chunk) -> None:
        now = sample_at(chunk.arrived, self.rate)
        late = chunk.id in self._gone_ids or (self._gone_until is not None and chunk.epoch <= self._gone_until)
        self._came_ids.add(chunk.id)
        start = self._free if self._free >= now else now + self._priming
        self.placed.append(Placed(chunk, start, 0 if late else len(chunk.samples), late))
        if not late:
            self._free = self.placed[-1].end

    def _flush(self, flush: Flush) -> None:
        now = sample_at(flush.arrived, self.rate)
        nothing = self._names_nothing(flush.scope)
        if flush.scope is None:
            floor, self._final = self._final, len(self.placed)
        else:
            floor = self._final
        # A server may say so at every frame.
        if nothing or self._free <= now:
            return
        first, floor = len(self.placed), max(floor, self._settled)
        while first > floor and (self.placed[first - 1].end > now or not self.placed[first - 1].played):
            first -= 1
        removed, end = 0, _EMPTY
        for i in range(first, len(self.placed)):
            part = self.placed[i]
            if part.played and flush.covers(part.chunk):
                kept = max(0, min(part.played, now - part.start))
                removed += part.played - kept
                part = replace(part, played=kept)
            elif removed:
                # What it waited for was taken back, so it sounds that much sooner.
                part = replace(part, start=part.start - removed)
            if part.played and part.end > now:
                end = part.end
            self.placed[i] = part
        if removed:
            self._free = end

    def _names_nothing(self, scope: str | int | None) -> bool:
        """Return whether all of ``scope`` was taken back before, or never came; keep that it is gone now."""
        if isinstance(scope, str):
            nothing = scope in self._gone_ids or scope not in self._came_ids
            self._gone_ids.add(scope)
            return nothing
        if scope is None:
            return False
        nothing = self._gone_until is not None and scope <= self._gone_until
        self._gone_until = scope if self._gone_until is None else max(scope, self._gone_until)
        return nothing

    def pending(self, now: int, louder_than: float) -> bool:
        """Return whether a sample louder than ``louder_than`` is queued to sound at sample ``now`` or later."""
        for part in reversed(self.placed):
            if part.played and part.end <= now:
                return False
            left = part.chunk.samples[max(0, now - part.start) : part.played]
            if len(left) and float(np.abs(left).max()) > louder_than:
                return True
        return False

    def queued(self) -> int:
        """Return the sample after the last that is queued; 0 before the first."""
        return max(0, self._free)

    def latest(self, now: int) -> tuple[str, int]:
        """Return the id of the utterance that sounded last before sample ``now``, and how many of its samples have.

        Asked with moments in order, none before an event that was taken.
        """
        placed, at = self.placed, self._told
        # What ended before now is final: it is counted once.
        while at < len(placed) and placed[at].end <= now:
            self._count(placed[at])
            at += 1
        self._told = at
        if at < len(placed) and placed[at].played and placed[at].start < now:
            part = placed[at]
            before = self._sounded if part.chunk.id == self._sounding else 0
            return part.chunk.id, before + now - part.start
        return self._sounding, self._sounded

    def _count(self, part: Placed) -> None:
        if not part.played:
            return
        if part.chunk.id != self._sounding:
            self._sounding, self._sounded = part.chunk.id, 0
        self._sounded += part.played

    def within(self, start: int, end: int) -> list[Placed]:
        """Return the placements that sound in ``[start, end)``, by the events taken so far."""
        found = []
        for i in range(self._first(start), len(self.placed)):
            part = self.placed[i]
            if part.played:
                if part.start >= end:
                    break
                if part.end > start:
                    found.append(part)
        return found

    def sound(self, start: int, end: int) -> Samples:
        """Return the samples ``[start, end)`` as they sound by the events taken so far."""
        return laid(self.within(start, end), start, end)

    def _first(self, start: int) -> int:
        """Return the first placement that may sound at ``start`` or later."""
        at = self._settled if start >= self._settled_until else 0
        while at < len(self.placed) and self.placed[at].end <= start:
            at += 1
        if start >= self._settled_until and sample_at(self._clock, self.rate) >= start:
            self._settled, self._settled_until = at, start
        return at


def laid(parts: Iterable[Placed], start: int, end: int) -> Samples:
    """Return the samples ``[start, end)`` of what ``parts`` let sound; silence where none does."""
    heard = np.zeros(max(0, end - start), np.float32)
    for part in parts:
        lo, hi = max(part.start, start), min(part.end, end)
        if lo < hi:
            heard[lo - start : hi - start] = part.chunk.samples[lo - part.start : hi - part.start]
    return heard


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Played:
    """What was heard (float32, from the session's start), and each chunk's placement in order of arrival."""

    samples: Samples
    placed: tuple[Placed, ...]


def playout(received: Iterable[Chunk | Flush], rate: int, length: int, *, priming: int = 0) -> Played:
    """Return ``length`` samples at ``rate`` as a player with an unbounded queue would sound them.

    A chunk sounds from the first sample that is not before its arrival, or as soon as what
    was queued before it has sounded. A flush cuts what it covers from the first sample that is
    not before it, in the middle of a chunk if need be; with nothing queued it changes nothing.
    Raises ValueError where ``received`` is not in order of arrival.
    """
    player = Player(rate, priming)
    for event in received:
        player.take(event)
    return Played(player.sound(0, length), tuple(player.placed))
