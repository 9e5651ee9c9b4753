"""Two sides of a conversation as inter-pausal units: the ground on which everything else is counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fullduplex.model.spans import Span, Timeline, ms

#: A silence longer than this ends a unit. Source: dGSLM (Nguyen et al. 2023), over 0.2 s.
UNIT_ENDS_AFTER = ms(200)


@dataclass(frozen=True, slots=True)
class Sides:
    """The inter-pausal units of two speakers in ``window``, the time that was recorded."""

    first: Timeline
    second: Timeline
    window: Span

    @property
    def both(self) -> tuple[Timeline, Timeline]:
        """Return the units of each side, in order of the sides."""
        return self.first, self.second

    @property
    def spoken(self) -> Timeline:
        """Return when anybody speaks."""
        return self.first | self.second

    @property
    def overlap(self) -> Timeline:
        """Return when both speak."""
        return self.first & self.second


def inter_pausal_units(
    first: Iterable[Span], second: Iterable[Span], window: Span, *, longer_than: int = UNIT_ENDS_AFTER
) -> Sides:
    """Return the inter-pausal units of two sides' speech in ``window``.

    ``first``, ``second``: when each side speaks, as a detector heard it or as its words lie, in any order.
    A unit is speech of one side with no silence longer than ``longer_than`` (µs) in it; silences up to that length
    belong to the unit, so that a unit's duration is at least the speech in it. Speech outside the window is left out,
    and a unit that its edge cuts is counted as far as it lies inside.
    Source: dGSLM (speech of one speaker bounded by silence over 0.2 s on both sides).
    """
    one, other = (Timeline(speech).bridge(longer_than).within(window) for speech in (first, second))
    return Sides(one, other, window)


def without_units(sides: Sides, left_out: tuple[Timeline, Timeline]) -> Sides:
    """Return ``sides`` without the units that lie in ``left_out`` (per side): backchannels, for example.

    A unit is left out where all of it lies inside; one that goes on beyond is kept whole. O(n log n).
    """
    first, second = (units - Timeline(_inside(units, out)) for units, out in zip(sides.both, left_out, strict=True))
    return Sides(first, second, sides.window)


def _inside(units: Timeline, out: Timeline) -> list[Span]:
    """Return the units all of whose time lies in ``out``: both are sorted, so one pass finds them."""
    found, covers = list[Span](), iter(out)
    cover = next(covers, None)
    for unit in units:
        while cover is not None and cover.end <= unit.start:
            cover = next(covers, None)
        if cover is not None and cover.start <= unit.start and unit.end <= cover.end:
            found.append(unit)
    return found
