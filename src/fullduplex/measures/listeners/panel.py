"""A panel of listeners on one stimulus: the share of them that responds in each window, and the distribution Q."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fullduplex.measures.clusters import Floats, Ints
from fullduplex.measures.timing import WINDOW
from fullduplex.model.spans import Span, Timeline
from fullduplex.model.trials import Absent

#: A window holds a response where it begins there, or wherever it sounds.
By = Literal["onset", "span"]
#: How far a published share may lie from a whole number of listeners, in listeners.
_NEARLY = 1e-3
#: The least count of a window that is tried as several listeners.
_TRIED = 8


@dataclass(frozen=True, slots=True)
class Panel:
    """What each of many listeners did on one stimulus: when each response sounds, on the stimulus' clock.

    ``duration``: the stimulus' length in µs. Listeners without a response belong in it: they are in every denominator.
    """

    stimulus: str
    duration: int
    listeners: Mapping[str, tuple[Span, ...]]


def marked(responses: Sequence[Span], windows: int, *, width: int = WINDOW, by: By = "onset") -> NDArray[np.bool_]:
    """Return for each of ``windows`` windows of ``width`` µs whether a response is in it.

    An onset on an edge is in the later window. What lies outside the windows is in none.
    """
    found = np.zeros(windows, dtype=bool)
    for span in Timeline(responses) if by == "span" else responses:
        first = span.start // width
        last = first if by == "onset" else (span.end - 1) // width
        found[max(0, first) : max(0, last + 1)] = True
    return found


def windows_of(panel: Panel, width: int = WINDOW) -> int:
    """Return how many windows cover the stimulus; the last may reach beyond its end."""
    return -(-panel.duration // width)


def by_listener(panel: Panel, *, width: int = WINDOW, by: By = "onset") -> NDArray[np.bool_]:
    """Return which listener responds in which window, shape (listeners, windows)."""
    windows = windows_of(panel, width)
    rows = [marked(spans, windows, width=width, by=by) for spans in panel.listeners.values()]
    return np.array(rows, dtype=bool).reshape(len(rows), windows)


def likelihood(panel: Panel, *, width: int = WINDOW, by: By = "onset") -> Floats | Absent:
    """Return the share of all listeners who respond in each window, 0 to 1, shape (windows,).

    A listener counts once a window. How often people respond at all is in it, which Q has lost.
    Absent: ``no listeners``. Source: the windows of 200 ms of Full-Duplex-Bench's reference.
    """
    if not panel.listeners:
        return Absent("no listeners")
    found: Floats = by_listener(panel, width=width, by=by).mean(axis=0)
    return found


def normalised(shares: Floats) -> Floats | Absent:
    """Return the distribution Q: each window's share over the sum of all, so that Q sums to 1.

    Nothing is added to empty windows. (Full-Duplex-Bench's file holds the same with 1e-10 in each count before it is
    divided; no divergence of it moves in the ninth decimal.) Absent: ``nobody responded``: no distribution is made up.
    """
    total = float(shares.sum())
    return shares / total if total > 0 else Absent("nobody responded")


def counts_behind(reference: Sequence[float] | Floats) -> Ints | Absent:
    """Return the whole counts that a published distribution was made from.

    A normalised reference has lost how many responded, but every share is a whole multiple of one unit. The unit is the
    smallest share above rounding, divided by the smallest number that makes all multiples whole: the counts are right
    up to a common factor, which only a reference whose every count shares one hides. Over the number of listeners
    (about 59 a stimulus in Full-Duplex-Bench's; its file does not say) they are the likelihood.
    Absent: ``nobody responded``; ``not made from counts``, where no unit fits.
    """
    shares = np.asarray(reference, dtype=np.float64)
    some = shares[shares > shares.max(initial=0.0) * 1e-6]
    if not len(some):
        return Absent("nobody responded")
    for least in range(1, _TRIED + 1):
        counts = shares / (some.min() / least)
        if np.all(np.abs(counts - np.round(counts)) < _NEARLY):
            whole: Ints = np.round(counts).astype(np.int64)
            return whole
    return Absent("not made from counts", "no unit makes every share a whole number")
