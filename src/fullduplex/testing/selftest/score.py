"""What was heard against what was planted: each edge's error, and the distribution of many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.listening.detectors import Segments
from fullduplex.model.spans import SECOND, Span, in_seconds, ms, seconds
from fullduplex.testing.selftest.clips import truth


@dataclass(frozen=True, slots=True)
class EdgeError:
    """An edge's time as heard less as planted, in microseconds (late is positive); None and ``why`` without one."""

    error: int | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """What became of one planted sound: its onset, its end, and into how many segments it was cut beyond one."""

    onset: EdgeError
    offset: EdgeError
    cuts: int


def matched(truth: Sequence[Span], segments: Segments) -> tuple[list[Match], int]:
    """Return a match for each planted span (in order of time), and how many segments touch none of them.

    A span's onset is the start of the first segment that sounds within it, its end the end of the last. ``missed``:
    there is none. ``merged``: that segment sounds on from the span before, or on into the next, so that there is
    no edge in between.
    """
    heard = [(seconds(start), seconds(end)) for start, end in segments]
    found, touched = [], set[int]()
    for i, span in enumerate(truth):
        mine = [k for k, (start, end) in enumerate(heard) if start < span.end and end > span.start]
        touched.update(mine)
        if not mine:
            found.append(Match(EdgeError(None, "missed"), EdgeError(None, "missed"), 0))
            continue
        start, end = heard[mine[0]][0], heard[mine[-1]][1]
        before = i > 0 and start < truth[i - 1].end
        after = i + 1 < len(truth) and end > truth[i + 1].start
        onset = EdgeError(None, "merged") if before else EdgeError(start - span.start)
        offset = EdgeError(None, "merged") if after else EdgeError(end - span.end)
        found.append(Match(onset, offset, len(mine) - 1))
    return found, len(heard) - len(touched)


@dataclass(frozen=True, slots=True)
class Errors:
    """A distribution of errors in microseconds: those that are known (signed, in order), and why the others are not."""

    known: tuple[int, ...]
    absent: dict[str, int]

    @classmethod
    def of(cls, errors: Iterable[tuple[int | None, str]]) -> Errors:
        """Return the distribution of ``(error, why there is none)``."""
        known, absent = [], dict[str, int]()
        for error, why in errors:
            if error is None:
                absent[why] = absent.get(why, 0) + 1
            else:
                known.append(error)
        return cls(tuple(sorted(known)), absent)

    @property
    def n(self) -> int:
        """Return how many are known."""
        return len(self.known)

    def size_at(self, share: float) -> int | None:
        """Return the size of error that ``share`` of the known ones do not exceed; None with none known.

        The smallest size that at least so many have: no value in between is made up.
        """
        sizes = sorted(abs(error) for error in self.known)
        return sizes[max(0, -(-round(share * 1e6) * len(sizes) // 1_000_000) - 1)] if sizes else None

    @property
    def bias(self) -> float | None:
        """Return the median of the signed errors."""
        return float(np.median(self.known)) if self.known else None

    def within(self, at_most: int) -> float | None:
        """Return the share of the known errors whose size is ``at_most`` or less."""
        return sum(abs(e) <= at_most for e in self.known) / self.n if self.known else None

    def to_json(self) -> dict[str, Any]:
        """Return the distribution's figures in decimal seconds, with the counts of what is absent."""
        figures: dict[str, float | int | None] = {
            "median": self.size_at(0.5),
            "p95": self.size_at(0.95),
            "max": self.size_at(1.0),
            "bias": None if self.bias is None else round(self.bias),
        }
        told: dict[str, Any] = {
            name: None if value is None else in_seconds(round(value)) for name, value in figures.items()
        }
        return {"n": self.n, **told, "absent": self.absent, "within_20_ms": self.within(ms(20))}


def sounding(samples: NDArray[np.float32], rate: int, peak: float, low: int, high: int) -> Span | None:
    """Return where a recording is within 40 dB of ``peak`` between ``low`` and ``high`` (microseconds), first to last.

    None where nothing is. On the system's own recording, before any condition, it finds what the driver played.
    """
    first = max(0, low) * rate // SECOND
    found = truth(samples[first : high * rate // SECOND], peak)
    return None if found is None else Span(*((first + sample) * SECOND // rate for sample in found))
