"""How far two corpora's times lie apart, with an interval and a level of chance by conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fullduplex.measures.clusters import Floats
from fullduplex.measures.resampling import drawn, percentile_interval
from fullduplex.model.spans import SECOND, ms

#: How many resamples, and how many shuffles: a distance costs more than a mean.
RESAMPLES = 1_000
#: The width of a bin, and where the outermost bins begin: they take everything beyond. Ours, for floor transfers.
BIN, LOWEST, HIGHEST = ms(50), ms(-2_000), ms(2_000)
#: How many counts are held at once.
_BLOCK = 1 << 21

#: Values (µs) by conversation.
Corpus = Mapping[str, Sequence[int]]
#: From how often each conversation counts in the one and in the other corpus, shapes (r, k), to distances, shape (r,).
Measure = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True, slots=True)
class Distance:
    """A distance between two corpora: 0 where they are alike.

    ``low``, ``high``: the 95 % percentile interval of resamples that draw the conversations of each corpus again; a
    distance is never below 0 and resamples add noise, so that near 0 it lies too high: read ``chance`` and ``p``
    there. ``chance``: the mean distance when conversations are shuffled between the corpora; ``p``: how often a shuffle
    is at least as far, (1 + as far) / (1 + shuffles). None where there is no value or one conversation in a corpus.
    ``n``, ``conversations``: values and conversations of each.
    """

    name: str
    unit: str
    value: float | None
    low: float | None
    high: float | None
    chance: float | None
    p: float | None
    n: tuple[int, int]
    conversations: tuple[int, int]
    method: str


def wasserstein(one: Corpus, other: Corpus, *, seed: int = 0, resamples: int = RESAMPLES) -> Distance:
    """Return the first Wasserstein distance: ∫ |F − G|, in seconds; the mean time by which values have to be moved.

    F, G: the shares of values up to a time, over all conversations pooled. Absent (None): ``no values``.
    """
    table = _Table.of(one, other)

    def measure(first: Floats, second: Floats) -> Floats:
        total = np.zeros(len(first))
        for f, g, widths in table.shares(first, second):
            total += np.abs(f - g) @ widths
        return total / SECOND

    return _distance("Wasserstein", "s", measure, table, seed, resamples)


def kolmogorov_smirnov(one: Corpus, other: Corpus, *, seed: int = 0, resamples: int = RESAMPLES) -> Distance:
    """Return the Kolmogorov-Smirnov distance: the largest |F − G|, 0 to 1. Absent (None): ``no values``.

    The p of the textbook takes values for independent; those of one conversation are not, so it is not given.
    """
    table = _Table.of(one, other)

    def measure(first: Floats, second: Floats) -> Floats:
        largest = np.zeros(len(first))
        for f, g, _ in table.shares(first, second):
            largest = np.maximum(largest, np.abs(f - g).max(axis=1))
        return largest

    return _distance("Kolmogorov-Smirnov", "share", measure, table, seed, resamples)


def jensen_shannon(
    one: Corpus,
    other: Corpus,
    *,
    unit: Literal["bits", "nats"] = "bits",
    root: bool = False,
    width: int = BIN,
    lowest: int = LOWEST,
    highest: int = HIGHEST,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Distance:
    """Return the Jensen-Shannon divergence of the values in bins, or with ``root`` its square root, the distance.

    ½ Σ p log(p/m) + ½ Σ q log(q/m), m = ½(p + q), over bins of ``width`` µs from ``lowest`` to ``highest``; one more on
    each side takes what lies beyond. At most 1 bit (ln 2 nats; the distance at most the root of that). Nothing is
    added to empty bins. A corpus without values is no distribution: absent (None), ``no values``, neither 0 nor 1. It
    grows with fewer values and narrower bins, whatever the truth is: compare with ``chance``.
    """
    if width <= 0 or highest <= lowest:
        raise ValueError("bins have a width, and the highest edge lies above the lowest")
    table = _Table.of(one, other, lambda values: np.clip((values - lowest) // width, -1, (highest - lowest) // width))

    def measure(first: Floats, second: Floats) -> Floats:
        p, q = table.parts(first), table.parts(second)
        m = (p + q) / 2
        bits = (_relative(p, m) + _relative(q, m)) / 2
        found = np.maximum(0.0, bits) * (np.log(2) if unit == "nats" else 1.0)
        return np.sqrt(found) if root else found

    name = "Jensen-Shannon distance" if root else "Jensen-Shannon divergence"
    return _distance(name, f"√{unit}" if root else unit, measure, table, seed, resamples)


@dataclass(frozen=True, slots=True)
class _Table:
    """The distinct values of two corpora, and for each value: its place, its conversation."""

    support: Floats
    place: np.ndarray[tuple[int], np.dtype[np.int64]]
    owner: np.ndarray[tuple[int], np.dtype[np.int64]]
    n: tuple[int, int]
    k: tuple[int, int]

    @classmethod
    def of(cls, one: Corpus, other: Corpus, binned: Callable[[Floats], Floats] = lambda values: values) -> _Table:
        groups = [np.asarray(values, dtype=np.float64) for corpus in (one, other) for values in corpus.values()]
        values = np.concatenate(groups) if groups else np.empty(0)
        owner = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        support, place = np.unique(binned(values), return_inverse=True)
        order = np.argsort(place, kind="stable")
        n = sum(map(len, one.values())), sum(map(len, other.values()))
        return cls(support, place[order], owner[order].astype(np.int64), n, (len(one), len(other)))

    def _counts(self, start: int, stop: int) -> Floats:
        low, high = np.searchsorted(self.place, (start, stop))
        counts = np.zeros((sum(self.k), stop - start))
        np.add.at(counts, (self.owner[low:high], self.place[low:high] - start), 1.0)
        return counts

    def _sizes(self) -> Floats:
        return np.bincount(self.owner, minlength=sum(self.k)).astype(np.float64)

    def parts(self, times: Floats) -> Floats:
        """Return the share of values at each point of the support, shape (r, m); NaN where there are none."""
        return _over(times @ self._counts(0, len(self.support)), times @ self._sizes())

    def shares(self, first: Floats, second: Floats) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Yield the shares of values up to each point, for both, and the widths to the next one, in blocks."""
        widths = np.append(np.diff(self.support), 0.0)
        totals = first @ self._sizes(), second @ self._sizes()
        upto = [np.zeros((len(first), 1)), np.zeros((len(second), 1))]
        step = max(1, _BLOCK // max(1, len(first), sum(self.k)))
        for start in range(0, len(self.support), step):
            counts = self._counts(start, min(start + step, len(self.support)))
            f, g = np.cumsum(first @ counts, axis=1) + upto[0], np.cumsum(second @ counts, axis=1) + upto[1]
            upto = [f[:, -1:], g[:, -1:]]
            yield _over(f, totals[0]), _over(g, totals[1]), widths[start : start + step]


def _over(part: Floats, whole: Floats) -> Floats:
    found: Floats = np.divide(part, whole[:, None], out=np.full(part.shape, np.nan), where=(whole > 0)[:, None])
    return found


def _relative(p: Floats, m: Floats) -> Floats:
    terms = np.zeros_like(p)
    np.log2(p / np.where(m > 0, m, 1), out=terms, where=p > 0)
    found: Floats = (p * terms).sum(axis=1)
    return found


def _distance(name: str, unit: str, measure: Measure, table: _Table, seed: int, resamples: int) -> Distance:
    k, n = table.k, table.n
    if not all(n):
        return Distance(name, unit, None, None, None, None, None, n, k, "no values")
    first = np.repeat([1.0, 0.0], k)[None]
    value = float(measure(first, 1 - first)[0])
    if min(k) == 1:
        return Distance(name, unit, value, None, None, None, None, n, k, "one conversation: no interval")
    draws = np.concatenate(
        [
            measure(np.hstack([a, np.zeros((len(a), k[1]))]), np.hstack([np.zeros((len(b), k[0])), b]))
            for a, b in zip(
                drawn(k[0], resamples=resamples, seed=seed, width=sum(k)),
                drawn(k[1], resamples=resamples, seed=seed + 1, width=sum(k)),
                strict=True,
            )
        ]
    )
    low, high, method = percentile_interval(draws, sum(k), "conversations", seed)
    random = np.random.default_rng(seed + 2)
    block = max(1, (1 << 18) // sum(k))
    far = list[float]()
    for start in range(0, resamples, block):
        shuffled = random.permuted(np.repeat(first, min(block, resamples - start), axis=0), axis=1)
        far += measure(shuffled, 1 - shuffled).tolist()
    known = np.asarray([each for each in far if np.isfinite(each)])
    chance = float(known.mean()) if len(known) else None
    p = (1 + int(np.sum(known >= value * (1 - 1e-12)))) / (1 + len(known)) if len(known) else None
    return Distance(name, unit, value, low, high, chance, p, n, k, f"{method}; {len(known)} shuffles of conversations")
