"""Floor transfers as published collections computed them: from rows of a transcript, or from turns in order of onset.

They are kept to be compared with; :func:`~fullduplex.measures.conversation.holding.floor_of` is the one to report.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from fullduplex.measures.conversation.sides import Sides
from fullduplex.model.spans import Span, ms

#: An earlier row counts for IFADV's offsets where it began at least so long before. Found by comparison.
EARLIER_BY = ms(200)
#: How many rows back IFADV's offsets look, and its overlaps. Found by comparison.
ROWS_BACK, OVERLAP_ROWS_BACK = 3, 4


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a transcript: whose, and when, in the order of its file (by start; lines that start alike as there).

    ``start`` may equal ``end``: published tables hold such rows.
    """

    side: int
    start: int
    end: int


def from_previous_row(rows: Sequence[Row]) -> tuple[int | None, ...]:
    """Return for each row its start minus the end of the row before, in µs; None where that is the same side's.

    Source: own name for the plain rule. Of the 7,184 offsets published with IFADV for such rows it gives 6,332.
    """
    _in_order(rows)
    found: list[int | None] = [None] * len(rows)
    for n in range(1, len(rows)):
        if rows[n - 1].side != rows[n].side:
            found[n] = rows[n].start - rows[n - 1].end
    return tuple(found)


def from_earlier_row(rows: Sequence[Row], *, at_least: int = EARLIER_BY, rows_back: int = ROWS_BACK) -> tuple[int, ...]:
    """Return for each row the offset that IFADV publishes where it publishes one, in µs.

    The reference is the nearest of the ``rows_back`` rows before that is the other side's and began ``at_least`` before
    this one; where there is none, the row before if it is the other side's, else the row ``rows_back`` before, *whoever
    spoke it* (a slip of the source: it then measures from the speaker's own earlier row). Start minus the reference's
    end. A row that has none of these has 0 as its offset.
    Source: found by comparison; it gives all 7,990 published offsets. Which rows get one the source decides otherwise:
    see :func:`overlap_with_rows_before` and the page on corpus statistics.
    """
    _in_order(rows)
    found = []
    for n, row in enumerate(rows):
        back = rows[max(0, n - rows_back) : n][::-1]
        reference = next((one for one in back if one.side != row.side and row.start - one.start >= at_least), None)
        if reference is None and back and back[0].side != row.side:
            reference = back[0]
        if reference is None and len(back) == rows_back:
            reference = back[-1]
        found.append(row.start - reference.end if reference else 0)
    return tuple(found)


def overlap_with_rows_before(
    rows: Sequence[Row], *, rows_back: int = OVERLAP_ROWS_BACK
) -> tuple[Literal["", "partial", "full"], ...]:
    """Return for each row how it overlaps what the other side said before: IFADV's classes.

    ``full``: one of the ``rows_back`` rows before is the other side's, began before it and ends after it.
    ``partial``: else, the row before is the other side's, and this one begins before that one's end and ends after it.
    Source: found by comparison; it gives the published class of all 14,022 rows (2,762 partial, 1,417 full). A row that
    starts and ends with another, or ends with it, is in neither class.
    """
    _in_order(rows)
    found = list[Literal["", "partial", "full"]]()
    for n, row in enumerate(rows):
        back = [one for one in rows[max(0, n - rows_back) : n] if one.side != row.side]
        last = rows[n - 1] if n else None
        if any(one.start < row.start and row.end < one.end for one in back):
            found.append("full")
        elif last is not None and last.side != row.side and row.start < last.end < row.end:
            found.append("partial")
        else:
            found.append("")
    return tuple(found)


def turns_by_onset(sides: Sides) -> tuple[tuple[int, Span], ...]:
    """Return TurnBench's turns of Switchboard: units in order of their starts, joined while the side stays the same.

    A turn ends where the last of its units ends; the offset of a transfer is a turn's start minus the end of the turn
    before (:func:`offsets_of`). A unit inside the other's turn takes the floor here, and what goes on after it takes it
    back: the offsets come in pairs far from 0.
    Source: TurnBench's statistics of Switchboard, in which words inside backchannels of a list are left out.
    """
    joined = list[tuple[int, Span]]()
    for span, side in sorted((unit, side) for side, units in enumerate(sides.both) for unit in units):
        if joined and joined[-1][0] == side:
            last = joined[-1][1]
            joined[-1] = side, Span(last.start, max(last.end, span.end))
        else:
            joined.append((side, span))
    return tuple(joined)


def offsets_of(turns: Iterable[tuple[int, Span]]) -> tuple[int, ...]:
    """Return the start of each turn minus the end of the turn before, in µs; one fewer than turns."""
    spans = [span for _, span in turns]
    return tuple(after.start - before.end for before, after in pairwise(spans))


def _in_order(rows: Sequence[Row]) -> None:
    if any(after.start < before.start for before, after in pairwise(rows)):
        raise ValueError("rows lie in order of their starts")
