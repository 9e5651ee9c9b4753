"""The statistics of conversations: how many, how long, how often, with every value kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fullduplex.measures.clusters import Floats
from fullduplex.measures.conversation.holding import floor_of
from fullduplex.measures.conversation.sides import Sides, without_units
from fullduplex.measures.conversation.silences import silences
from fullduplex.measures.intervals import RESAMPLES, quantile_estimate
from fullduplex.measures.metric import Estimate
from fullduplex.measures.resampling import estimate_of, ratio, summed
from fullduplex.model.spans import SECOND, Timeline, in_seconds
from fullduplex.model.trials import Absent, Ratio

#: What is counted. Durations in µs, but ``transfer``: the offset, below 0 where it overlaps.
KINDS = ("unit", "pause", "gap", "overlap", "turn", "transfer", "overlap_between", "overlap_within")
Kind = Literal["unit", "pause", "gap", "overlap", "turn", "transfer", "overlap_between", "overlap_within"]
#: What a share of overlap is a share of.
Whole = Literal["speech", "time", "transfers"]


@dataclass(frozen=True, slots=True)
class Conversation:
    """What one conversation is made of.

    ``values``: for each of :data:`KINDS` its durations (offsets for ``transfer``) in µs, in order of time;
    ``duration``: the window; ``spoken``: the time in which anybody speaks, silences inside units included; both in µs.
    ``left_out``: how many units of backchannels the floor (``turn``, ``transfer``, ``overlap_between``,
    ``overlap_within``) was computed without; None where none was asked to be left out.
    """

    name: str
    duration: int
    spoken: int
    values: Mapping[Kind, tuple[int, ...]]
    left_out: int | None = None

    def number_per_minute(self, kind: Kind) -> float:
        """Return how many of ``kind`` there are in a minute of the conversation."""
        return len(self.values[kind]) / (self.duration / (60 * SECOND))

    def seconds_per_minute(self, kind: Kind) -> float:
        """Return the seconds of ``kind`` in a minute, added up; offsets of transfers are no durations: ValueError."""
        return _total(self, kind) / SECOND / (self.duration / (60 * SECOND))

    def overlap_share(self, of: Whole) -> Ratio | Absent:
        """Return the share of overlap: see :func:`overlap_share`."""
        part, whole = _share(self, of)
        return Ratio(part, whole) if whole else Absent(_NONE[of])


def conversation_statistics(
    sides: Sides, name: str = "", *, backchannels: tuple[Timeline, Timeline] | None = None
) -> Conversation:
    """Return everything that is counted of one conversation.

    ``unit``: inter-pausal units of both sides; ``pause``, ``gap``: silences
    (:func:`~fullduplex.measures.conversation.silences.silences`); ``overlap``: stretches in which both speak. These
    four are dGSLM's, with backchannels in. ``turn``, ``transfer``, ``overlap_between``, ``overlap_within``: of the
    floor (:func:`~fullduplex.measures.conversation.holding.floor_of`), without the units of each side that lie in
    ``backchannels`` where they are given. dGSLM's seconds are conserved: units − overlap + pauses + gaps + the silence
    at the window's edges is the window. O(n log n).
    """
    quiet = silences(sides)
    held = without_units(sides, backchannels) if backchannels else sides
    floor = floor_of(held)
    values: dict[Kind, tuple[int, ...]] = {
        "unit": tuple(span.duration for span in sorted([*sides.first, *sides.second])),
        "pause": tuple(span.duration for span in quiet.pauses),
        "gap": tuple(span.duration for span in quiet.gaps),
        "overlap": tuple(span.duration for span in sides.overlap),
        "turn": tuple(span.duration for _, span in floor.turns),
        "transfer": tuple(transfer.offset for transfer in floor.transfers),
        "overlap_between": tuple(span.duration for span in floor.between),
        "overlap_within": tuple(span.duration for span in floor.within),
    }
    left_out = sum(map(len, sides.both)) - sum(map(len, held.both)) if backchannels else None
    return Conversation(name, sides.window.duration, sides.spoken.duration, values, left_out)


def per_minute(corpus: Sequence[Conversation], kind: Kind, *, seed: int = 0, resamples: int = RESAMPLES) -> Estimate:
    """Return how many of ``kind`` a minute holds: all of them over all minutes. Interval: by conversation."""
    return _rate([(len(one.values[kind]), one.duration / (60 * SECOND)) for one in corpus], corpus, seed, resamples)


def seconds_per_minute(
    corpus: Sequence[Conversation], kind: Kind, *, seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    """Return the seconds of ``kind`` in a minute, added up: all of them over all minutes. Interval: by conversation."""
    rows = [(in_seconds(_total(one, kind)), one.duration / (60 * SECOND)) for one in corpus]
    return _rate(rows, corpus, seed, resamples)


def overlap_share(corpus: Sequence[Conversation], of: Whole, *, seed: int = 0, resamples: int = RESAMPLES) -> Estimate:
    """Return the share of overlap, with its denominator named. Interval: by conversation.

    ``speech``: time in which both speak over time in which anybody does; ``time``: the same over the whole window;
    ``transfers``: floor transfers with an offset below 0 over all of them (a count over a count).
    Absent: ``nobody speaks``, ``no time``, ``no floor transfers``.
    """
    return _rate([_share(one, of) for one in corpus], corpus, seed, resamples, _NONE[of])


def quantile(
    corpus: Sequence[Conversation], kind: Kind, q: float = 0.5, *, seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    """Return the ``q``-quantile of all values of ``kind``, in decimal seconds. Interval: by conversation."""
    values = [in_seconds(value) for one in corpus for value in one.values[kind]]
    groups = [str(n) for n, one in enumerate(corpus) for _ in one.values[kind]]
    return quantile_estimate(values, groups, q, seed, None, resamples)


_NONE: Mapping[Whole, str] = {"speech": "nobody speaks", "time": "no time", "transfers": "no floor transfers"}


def _share(one: Conversation, of: Whole) -> tuple[float, float]:
    if of == "transfers":
        offsets = one.values["transfer"]
        return sum(offset < 0 for offset in offsets), len(offsets)
    return in_seconds(sum(one.values["overlap"])), in_seconds(one.spoken if of == "speech" else one.duration)


def _total(one: Conversation, kind: Kind) -> int:
    if kind == "transfer":
        raise ValueError("offsets of floor transfers have signs: they are not added up")
    return sum(one.values[kind])


def _rate(
    rows: Sequence[tuple[float, float]],
    corpus: Sequence[Conversation],
    seed: int,
    resamples: int,
    undefined: str = "no time",
) -> Estimate:
    def formula(sums: Floats) -> Floats:
        return ratio(sums[:, 0], sums[:, 1])

    table = summed(np.asarray(rows, dtype=np.float64).reshape(-1, 2), [str(n) for n in range(len(corpus))])
    return estimate_of(table, formula, undefined=undefined, seed=seed, resamples=resamples)
