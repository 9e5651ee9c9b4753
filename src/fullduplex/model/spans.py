"""Time on the session clock.

A time is a whole number of microseconds since the session began. Whole
numbers compare and add exactly, and one microsecond is fine enough that every
sample index at every audio rate survives the trip there and back.
Files and reports show seconds; :func:`seconds` and :func:`in_seconds` are the
only doors between the two.

Spans are half-open, ``[start, end)``: speech that ends at 2 s and speech that
starts at 2 s touch, and do not overlap.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import and_, or_, xor

SECOND = 1_000_000


def seconds(value: float) -> int:
    """Return ``value`` seconds as a time, to the nearest microsecond."""
    return round(value * SECOND)


def ms(value: float) -> int:
    """Return ``value`` milliseconds as a time."""
    return round(value * 1_000)


def in_seconds(time: int) -> float:
    """Return a time as seconds, for files and people."""
    return time / SECOND


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of time ``[start, end)`` that holds at least one microsecond."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if type(self.start) is not int or type(self.end) is not int:
            raise TypeError(f"times are whole microseconds, not {self.start!r}, {self.end!r}")
        if self.start >= self.end:
            raise ValueError(f"a span must end after it starts: {self}")

    def __contains__(self, time: int) -> bool:
        return self.start <= time < self.end

    def __and__(self, other: Span) -> Span | None:
        start, end = max(self.start, other.start), min(self.end, other.end)
        return Span(start, end) if start < end else None

    @property
    def duration(self) -> int:
        """Return how long the span is, in microseconds."""
        return self.end - self.start

    def shift(self, by: int) -> Span:
        """Return the span moved ``by`` later (earlier when negative)."""
        return Span(self.start + by, self.end + by)


class Timeline:
    """A set of moments, held as the fewest spans that cover it.

    ``|``, ``&``, ``-`` and ``^`` are the set operations, so the laws of sets
    hold: ``a - b == a & ~b`` within any window, ``len(a | a) == len(a)``.
    """

    __slots__ = ("_cuts",)

    def __init__(self, spans: Iterable[Span] = ()) -> None:
        cuts: list[int] = []
        for span in sorted(spans):
            if cuts and span.start <= cuts[-1]:
                cuts[-1] = max(cuts[-1], span.end)
            else:
                cuts += span.start, span.end
        self._cuts: tuple[int, ...] = tuple(cuts)

    @classmethod
    def _of(cls, cuts: list[int]) -> Timeline:
        self = cls.__new__(cls)
        self._cuts = tuple(cuts)
        return self

    def __iter__(self) -> Iterator[Span]:
        return map(Span, self._cuts[::2], self._cuts[1::2])

    def __len__(self) -> int:
        return len(self._cuts) // 2

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Timeline) and self._cuts == other._cuts

    def __hash__(self) -> int:
        return hash(self._cuts)

    def __repr__(self) -> str:
        return f"Timeline({list(self)})"

    def __contains__(self, time: int) -> bool:
        return bisect_right(self._cuts, time) % 2 == 1

    @classmethod
    def _from(cls, spans: Iterable[Span]) -> Timeline:
        return cls._of([time for span in spans for time in (span.start, span.end)])

    def _combine(self, other: Timeline, keep: Callable[[int, int], int]) -> Timeline:
        mine, theirs, cuts = self._cuts, other._cuts, list[int]()
        i = j = 0
        for time in sorted({*mine, *theirs}):
            i += i < len(mine) and mine[i] == time
            j += j < len(theirs) and theirs[j] == time
            if keep(i % 2, j % 2) != len(cuts) % 2:
                cuts.append(time)
        return Timeline._of(cuts)

    def __or__(self, other: Timeline) -> Timeline:
        return self._combine(other, or_)

    def __and__(self, other: Timeline) -> Timeline:
        return self._combine(other, and_)

    def __xor__(self, other: Timeline) -> Timeline:
        return self._combine(other, xor)

    def __sub__(self, other: Timeline) -> Timeline:
        return self._combine(other, lambda a, b: a & (1 - b))

    @property
    def duration(self) -> int:
        """Return the time covered, in microseconds."""
        return sum(self._cuts[1::2]) - sum(self._cuts[::2])

    def within(self, window: Span) -> Timeline:
        """Return the part of this timeline that lies in ``window``."""
        return self & Timeline([window])

    def gaps(self, window: Span) -> Timeline:
        """Return the silences of this timeline in ``window``."""
        return Timeline([window]) - self

    def bridge(self, at_most: int) -> Timeline:
        """Close every silence of ``at_most`` or shorter."""
        cuts: list[int] = []
        for start, end in zip(self._cuts[::2], self._cuts[1::2], strict=True):
            if cuts and start - cuts[-1] <= at_most:
                cuts[-1] = end
            else:
                cuts += start, end
        return Timeline._of(cuts)

    def without(self, *, shorter_than: int) -> Timeline:
        """Drop every span shorter than ``shorter_than``."""
        return Timeline._from(s for s in self if s.duration >= shorter_than)

    def shift(self, by: int) -> Timeline:
        """Return the timeline moved ``by`` later (earlier when negative)."""
        return Timeline._of([t + by for t in self._cuts])

    def next_start(self, time: int) -> int | None:
        """Return the first start at or after ``time``."""
        return next((s.start for s in self if s.start >= time), None)

    def end_of(self, time: int) -> int | None:
        """Return the end of the span that holds ``time``."""
        return next((s.end for s in self if time in s), None)
