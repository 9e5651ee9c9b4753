"""How far listeners agree on when to respond: the ceiling for anything that is compared with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from fullduplex.measures.agreement.chance import alpha_of_counts
from fullduplex.measures.clusters import Floats
from fullduplex.measures.intervals import RESAMPLES, estimate
from fullduplex.measures.listeners.panel import By, Panel, by_listener
from fullduplex.measures.metric import Estimate
from fullduplex.measures.timing import WINDOW


def agreement_with_the_others(
    panels: Iterable[Panel], *, width: int = WINDOW, by: By = "onset", seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    """Return how a listener goes with the others: the mean correlation of one with the share of the rest.

    For each listener of each stimulus: Pearson's r, over windows, of responding (0 or 1) with the share of the *other*
    listeners who do; the mean over all. Interval: by stimulus. It grows with the size of the panel, as the share of the
    others loses noise. Absent, by listener: ``one listener``, ``never responded``, ``always responded``,
    ``others alike throughout``.
    Source: leave-one-out correlation, as inter-subject correlation has it (Nastase et al. 2019).
    """
    values, groups, absent = list[float](), list[str](), dict[str, int]()
    for n, panel in enumerate(panels):
        rows = by_listener(panel, width=width, by=by).astype(np.float64)
        total = rows.sum(axis=0)
        for row in rows:
            others = (total - row) / max(1, len(rows) - 1)
            why = _cannot(row, others, len(rows))
            if why:
                absent[why] = absent.get(why, 0) + 1
            else:
                values.append(float(np.corrcoef(row, others)[0, 1]))
                groups.append(str(n))
    return estimate(values, groups, absent, "mean", seed, resamples)


def _cannot(row: np.ndarray[tuple[int], np.dtype[np.float64]], others: object, listeners: int) -> str:
    if listeners < 2:
        return "one listener"
    if np.all(row == row[:1]):
        return "always responded" if len(row) and row[0] else "never responded"
    return "others alike throughout" if np.ptp(np.asarray(others)) == 0 else ""


def agreement_beyond_chance(
    panels: Iterable[Panel], *, width: int = WINDOW, by: By = "onset", seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    """Return Krippendorff's alpha of responding or not, each window of each stimulus a unit, each listener a rater.

    1 agrees, 0 is chance. Nominal; interval by stimulus. It is low where responses are rare and optional, however well
    people agree on where they may come: read it beside :func:`agreement_with_the_others`. n: windows.
    Absent: ``fewer than two ratings``, the windows of a stimulus with one listener.
    Source: Krippendorff 2011.
    """
    alone = {"fewer than two ratings": 0}

    def counted() -> Iterator[Floats]:
        for panel in panels:
            rows = by_listener(panel, width=width, by=by)
            if len(rows) < 2:
                alone["fewer than two ratings"] += rows.shape[1]
                continue
            said = rows.sum(axis=0, dtype=np.float64)
            yield np.column_stack([len(rows) - said, said])

    return alpha_of_counts(counted(), alone, seed, resamples)
