"""The same log under each clock: where its audio lies depends on whose clock is asked.

==========  =========================================================================================
playout     what a listener heard: a player's queue, and flushes (:mod:`fullduplex.driving.playout`)
arrival     a client that plays in order of arrival and takes nothing back: each chunk sounds when it
            came, or when the one before it has ended; flushes are not obeyed
source      where the system's own session clock puts each chunk; only for systems that have one
==========  =========================================================================================

Source: the arrival clock is how InteractionBench's client placed audio.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from fullduplex.driving.playout import Chunk, Flush, Placed, Samples, laid, playout, sample_at
from fullduplex.model.spans import SECOND, ms

Placement = Literal["playout", "arrival", "source"]
PLACEMENTS: tuple[Placement, ...] = get_args(Placement)


def parts_by(clock: Placement, received: Sequence[Chunk | Flush], rate: int, *, priming: int = 0) -> tuple[Placed, ...]:
    """Return where each chunk lies as ``clock`` places it, in order of arrival.

    ``priming`` (microseconds) is the player's, and matters to playout alone. On the source clock a
    chunk without a source time is left out. Raises ValueError where ``received`` is not in order.
    """
    if clock == "playout":
        return playout(received, rate, 0, priming=priming).placed
    chunks = [chunk for chunk in received if isinstance(chunk, Chunk)]
    if clock == "arrival":
        return playout(chunks, rate, 0).placed
    known = [(chunk, sample_at(chunk.source, rate)) for chunk in chunks if chunk.source is not None]
    ends: list[int | None] = [start for _, start in known[1:]]
    ends += [None] * bool(known)
    return tuple(
        # What comes next is written over the rest of it.
        Placed(chunk, start, len(chunk.samples) if end is None else max(0, min(len(chunk.samples), end - start)))
        for (chunk, start), end in zip(known, ends, strict=True)
    )


def placed_by(
    clock: Placement, received: Sequence[Chunk | Flush], rate: int, length: int, *, priming: int = 0
) -> Samples:
    """Return ``length`` samples at ``rate`` of what was received, as ``clock`` places it; see :func:`parts_by`."""
    return laid(parts_by(clock, received, rate, priming=priming), 0, length)


@dataclass(frozen=True, slots=True)
class Fit:
    """The straight line from the system's clock to the session's, by least squares.

    session time = ``offset`` + ``slope`` x source time. ``offset`` in microseconds; ``slope`` 1.06 says
    that the system's clock counts 1 s while 1.06 s pass. ``residuals`` (microseconds) are what the
    line leaves of each point, in the order given.
    """

    slope: float
    offset: float
    residuals: tuple[float, ...]


def fit_source(points: Iterable[tuple[int, int]]) -> Fit | None:
    """Return the line through pairs of source and session times (microseconds); None of fewer than two moments."""
    pairs = np.asarray(list(points), np.float64).reshape(-1, 2)
    if len(np.unique(pairs[:, 0])) < 2:
        return None
    source, session = pairs[:, 0], pairs[:, 1]
    centred = source - source.mean()
    slope = float((centred * (session - session.mean())).sum() / (centred**2).sum())
    offset = float(session.mean() - slope * source.mean())
    return Fit(slope, offset, tuple(float(r) for r in session - offset - slope * source))


def seconds_apart(a: Sequence[Placed], b: Sequence[Placed], rate: int, *, more_than: int = ms(10)) -> float:
    """Return how many seconds of audio two placements of one log put elsewhere, or let one sound and the other not.

    A chunk is elsewhere if it begins ``more_than`` (microseconds) apart: a clock that trembles less moves no verdict.
    """
    near = more_than * rate // SECOND
    there = {id(part.chunk): part for part in b}
    apart = 0
    for part in a:
        other = there.pop(id(part.chunk), None)
        if other is None:
            apart += part.played
        elif part.played and other.played and abs(part.start - other.start) > near:
            apart += max(part.played, other.played)
        else:
            apart += abs(part.played - other.played)
    return (apart + sum(part.played for part in there.values())) / rate


def source_points(received: Iterable[Chunk | Flush]) -> tuple[tuple[int, int], ...]:
    """Return the source and arrival time of each chunk that has both."""
    return tuple((c.source, c.arrived) for c in received if isinstance(c, Chunk) and c.source is not None)
