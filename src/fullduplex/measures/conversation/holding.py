"""Who holds the floor, and when it passes: the offset of each transfer, and overlaps with and without one."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from fullduplex.measures.conversation.sides import Sides
from fullduplex.model.spans import Span, Timeline


@dataclass(frozen=True, slots=True)
class Transfer:
    """The floor passes to ``to`` (0 the first side, 1 the second).

    ``left``: the unit in which the other side spoke alone last; ``taken``: the unit in which ``to`` speaks alone next.
    """

    to: int
    left: Span
    taken: Span

    @property
    def offset(self) -> int:
        """Return the floor-transfer offset in µs: start of ``taken`` minus end of ``left``; below 0 it overlaps."""
        return self.taken.start - self.left.end


@dataclass(frozen=True, slots=True)
class Floor:
    """How the floor was held.

    ``turns``: (side, from the start of the unit that took the floor to the end of the unit that held it last);
    ``transfers``: between them, one fewer. ``between``: overlaps in which the floor passes; ``within``: overlaps after
    which the same side goes on alone; ``edges``: overlaps before anybody, or after which nobody, spoke alone. The
    three together are all the overlap.
    """

    turns: tuple[tuple[int, Span], ...]
    transfers: tuple[Transfer, ...]
    between: tuple[Span, ...]
    within: tuple[Span, ...]
    edges: tuple[Span, ...]


def floor_of(sides: Sides, *, alone_at_least: int = 1) -> Floor:
    """Return who holds the floor, and each transfer.

    A side holds the floor from when it speaks alone until the other side speaks alone. A unit that lies wholly inside
    the other's takes nothing; neither does one that is alone for less than ``alone_at_least`` (µs). Offset of a
    transfer: the start of the unit in which the new holder is alone, minus the end of the unit in which the old one was
    alone last: a gap where it is above 0, an overlap below. Backchannels count like any unit: leave them out first
    (:func:`~fullduplex.measures.conversation.sides.without_units`), and say so. O(n log n).
    Source: the between- and within-speaker intervals of Heldner and Edlund 2010. Theirs are the silence or the overlap
    itself; where an overlap and a silence meet between two holders, ours reads the units' edges.
    """
    alone = sorted(
        (span, side)
        for side, (mine, other) in enumerate(((sides.first, sides.second), (sides.second, sides.first)))
        for span in mine - other
        if span.duration >= alone_at_least
    )
    units = [(list(each), [unit.start for unit in each]) for each in sides.both]

    def unit_at(side: int, time: int) -> Span:
        spans, starts = units[side]
        return spans[bisect_right(starts, time) - 1]

    turns, transfers = list[tuple[int, Span]](), list[Transfer]()
    began: Span | None = None
    for n, (span, side) in enumerate(alone):
        unit = unit_at(side, span.start)
        if n and alone[n - 1][1] != side:
            left = unit_at(1 - side, alone[n - 1][0].start)
            turns.append((1 - side, Span((began or left).start, left.end)))
            transfers.append(Transfer(side, left, unit))
            began = unit
        began = began or unit
    if alone and began is not None:
        span, side = alone[-1]
        turns.append((side, Span(began.start, unit_at(side, span.start).end)))
    return Floor(tuple(turns), tuple(transfers), *_overlaps(sides.overlap, alone))


def _overlaps(
    overlap: Timeline, alone: list[tuple[Span, int]]
) -> tuple[tuple[Span, ...], tuple[Span, ...], tuple[Span, ...]]:
    between, within, edges = list[Span](), list[Span](), list[Span]()
    starts = [span.start for span, _ in alone]
    for span in overlap:
        after = bisect_right(starts, span.start)
        if after in (0, len(alone)):
            edges.append(span)
        else:
            (within if alone[after - 1][1] == alone[after][1] else between).append(span)
    return tuple(between), tuple(within), tuple(edges)
