"""How far a system's response times lie from people's distribution Q."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from fullduplex.measures.clusters import Floats
from fullduplex.measures.timing import WINDOW, divergence, one_hot
from fullduplex.model.spans import SECOND
from fullduplex.model.trials import Absent

#: What the divergence of a silent system is: none; that of a uniform distribution; the largest there is.
Silence = Literal["absent", "uniform", "farthest"]


def divergence_from(
    onsets: Sequence[int],
    q: Floats,
    *,
    silence: Silence = "absent",
    unit: Literal["bits", "nats"] = "bits",
    root: bool = False,
    width: int = WINDOW,
) -> float | Absent:
    """Return the Jensen-Shannon divergence of ``onsets`` (µs) from Q, or with ``root`` the distance, its square root.

    The onsets become their counts in Q's windows, normalised; nothing is added to empty windows. Onsets past the last
    window are in none. At most 1 bit (ln 2 nats). ``silence``: what no onset in a window is: ``absent`` (``no
    responses``); ``uniform``, the divergence of a distribution that is equal everywhere (the paper of
    Full-Duplex-Bench), which few systems that respond can match; ``farthest``, the largest value.
    It falls with every further response, wherever that is: of five responses of a person and fifteen at random it calls
    the random ones nearer 98 times in 100 (``bench/listeners_discrimination.py``). Compare systems that respond equally
    often, or read :func:`~fullduplex.measures.listeners.placement.placement`.
    """
    counts = one_hot(onsets, len(q), width)
    if counts.any():
        bits = divergence(counts, q)
    elif silence == "absent":
        return Absent("no responses")
    else:
        bits = divergence(np.ones(len(q)), q) if silence == "uniform" else 1.0
    found = max(0.0, bits) * (math.log(2) if unit == "nats" else 1.0)
    return math.sqrt(found) if root else found


def wasserstein_from(onsets: Sequence[int], q: Floats, *, width: int = WINDOW) -> float | Absent:
    """Return the first Wasserstein distance of ``onsets`` (µs) from Q in seconds: ∫ |F − G|.

    F: the share of the onsets up to a time; G: of Q, whose mass lies in the middle of each window. It says how the
    responses are spread over the stimulus, not whether each fits: half a second late costs half a second, wherever.
    Absent: ``no responses`` in Q's windows.
    """
    inside = np.sort(np.asarray([time for time in onsets if 0 <= time < len(q) * width], dtype=np.float64))
    if not len(inside):
        return Absent("no responses")
    middles = (np.arange(len(q)) + 0.5) * width
    times = np.unique(np.concatenate([inside, middles]))
    f = np.searchsorted(inside, times, side="right") / len(inside)
    g = np.concatenate([[0.0], np.cumsum(q) / q.sum()])[np.searchsorted(middles, times, side="right")]
    return float(np.abs(f - g)[:-1] @ np.diff(times)) / SECOND
