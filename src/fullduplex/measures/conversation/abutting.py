"""Turns that begin exactly where another ends: the mark of times that were not measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from fullduplex.measures.conversation.published import Row
from fullduplex.model.spans import ms

#: Offsets nearer to 0 than this are taken for an edge that two turns share: a frame of most aligners.
ABUTS_WITHIN = ms(10)
#: The share of abutting transfers from which their offsets are not to be trusted. Ours: measured, IFADV's 20
#: conversations have at most 3.0 % and Switchboard's 45 at most 5.0 % (2 of 40); 13 of 22 calls whose times come from
#: CHAT bullets have 6 to 99 %.
UNRELIABLE_FROM = 0.06


@dataclass(frozen=True, slots=True)
class Abutting:
    """How many of ``transfers`` (rows that follow another side's) begin where the row before ends.

    ``exact``: to the microsecond; ``nearly``: within ``within`` µs, the exact ones among them.
    """

    transfers: int
    exact: int
    nearly: int
    within: int

    @property
    def share(self) -> float | None:
        """Return the share of transfers that abut, nearly or exactly; None without transfers."""
        return self.nearly / self.transfers if self.transfers else None

    def unreliable(self, *, at_least: float = UNRELIABLE_FROM) -> str:
        """Return why offsets from these rows are not to be trusted, "" where nothing speaks against them.

        Transcribers who mark one bullet a line set the end of a turn and the start of the next in one place: such an
        offset is 0 because nobody measured it. The share says that it happens, not which offsets are meant.
        """
        if self.share is None or self.share < at_least:
            return ""
        return (
            f"{self.nearly} of {self.transfers} floor transfers lie within {self.within / 1000:g} ms of 0 "
            f"({self.exact} exactly): the turns were cut, not measured"
        )


def abutting(rows: Sequence[Row], *, within: int = ABUTS_WITHIN) -> Abutting:
    """Return how many rows begin where the row before, another side's, ends (``within`` µs, inclusive).

    ``rows`` in any order; there may be more than two sides. O(n log n).
    """
    ordered = sorted(rows, key=lambda row: row.start)
    offsets = [b.start - a.end for a, b in pairwise(ordered) if a.side != b.side]
    return Abutting(len(offsets), offsets.count(0), sum(abs(offset) <= within for offset in offsets), within)
