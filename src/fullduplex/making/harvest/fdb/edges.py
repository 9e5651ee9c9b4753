"""A range of lengths of time, which states its edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fullduplex.model.spans import in_seconds, seconds

#: No pause, gap or turn is looked for from so many seconds on: a greater number was meant as milliseconds. Ours.
LONGEST_EDGE = 100
#: Nor is anything cut out, or silence put behind it, that lasts so many seconds. Ours.
LONGEST_LENGTH = 600
_LOW, _HIGH = ("at_least", "more_than"), ("at_most", "less_than")


@dataclass(frozen=True, slots=True)
class Range:
    """Lengths from a lower edge to an upper one, in microseconds; ``at_least`` and ``at_most`` are in it themselves.

    An edge that is None is none. Raises ValueError where two lower or two upper edges are given, or nothing is inside.
    """

    at_least: int | None = None
    more_than: int | None = None
    at_most: int | None = None
    less_than: int | None = None

    def __post_init__(self) -> None:
        for pair in (_LOW, _HIGH):
            if all(getattr(self, name) is not None for name in pair):
                raise ValueError(f"one of {' and '.join(pair)}, not both")
        if any((getattr(self, name) or 0) < 0 for name in (*_LOW, *_HIGH)):
            raise ValueError("lengths that are not negative")
        if self.least > self.most:
            raise ValueError("a range with something in it")

    @property
    def least(self) -> int:
        """Return the shortest length that is in it."""
        return self.more_than + 1 if self.more_than is not None else (self.at_least or 0)

    @property
    def most(self) -> int:
        """Return the longest length that is in it; where there is no upper edge, a length that nothing has."""
        if self.less_than is not None:
            return self.less_than - 1
        return 1 << 60 if self.at_most is None else self.at_most

    @property
    def open(self) -> bool:
        """Tell whether there is no upper edge."""
        return self.at_most is None and self.less_than is None

    def __contains__(self, length: int) -> bool:
        return self.least <= length <= self.most

    def to_json(self) -> dict[str, float]:
        """Return the edges that there are, in decimal seconds."""
        return {name: in_seconds(edge) for name in (*_LOW, *_HIGH) if (edge := getattr(self, name)) is not None}

    def __str__(self) -> str:
        return (
            ", ".join(f"{name.replace('_', ' ')} {edge:g} s" for name, edge in self.to_json().items()) or "any length"
        )


def range_of(told: Mapping[str, object]) -> Range:
    """Return the range that a file tells in decimal seconds; raises ValueError where it cannot be meant."""
    edges = dict[str, int]()
    for name, value in told.items():
        if name not in (*_LOW, *_HIGH):
            raise ValueError(f"no {name}: an edge is one of {', '.join((*_LOW, *_HIGH))}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < LONGEST_EDGE:
            raise ValueError(f"edges in seconds, none negative, below {LONGEST_EDGE}: 700 ms are 0.7")
        edges[name] = seconds(value)
    return Range(**edges)


def length_of(value: float) -> int:
    """Return a length that a file tells in decimal seconds, in µs; raises ValueError where milliseconds were meant."""
    if value >= LONGEST_LENGTH:
        raise ValueError(f"seconds, below {LONGEST_LENGTH}: 700 ms are 0.7")
    return seconds(value)
