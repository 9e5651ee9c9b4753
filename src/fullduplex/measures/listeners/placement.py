"""Whether responses come where people's do, against chance and against people themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fullduplex.measures.clusters import Floats
from fullduplex.measures.listeners.panel import By, Panel, by_listener
from fullduplex.measures.timing import WINDOW

#: A window is an opportunity where at least so many of the listeners respond. Ours.
OPPORTUNITY_FROM = 0.15
#: How often the responses of all stimuli are rotated together for p.
ROTATIONS = 2_000

#: From windows with responses (indices) and the likelihood, a part and a whole.
Score = Callable[[np.ndarray[tuple[int], np.dtype[np.int64]], Floats], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Placement:
    """How well responses are placed over ``stimuli`` stimuli.

    ``value``: the score, part over whole summed over stimuli; ``chance``: its mean over all rotations of each stimulus'
    responses in time; ``lift``: value − chance; ``p``: how often rotations, one drawn for each stimulus, score at least
    as high, (1 + as high) / (1 + drawn). ``people``: a listener's own score against the others, on average; ``skill``:
    lift over people − chance: 0 is chance, 1 a person; more is possible (nobody is as typical as the panel).
    None where there is none. ``absent``: stimuli without a score, by reason.
    """

    value: float | None
    chance: float | None
    lift: float | None
    p: float | None
    people: float | None
    skill: float | None
    stimuli: int
    absent: Mapping[str, int]


def support(windows: np.ndarray[tuple[int], np.dtype[np.int64]], likely: Floats) -> tuple[float, float]:
    """Return how many listeners respond with the system: the likelihood at each response, summed; over the responses.

    A system that responds once, at the best place, does best: read :func:`covered` beside it.
    """
    return float(likely[windows].sum()), float(len(windows))


def opportunities(likely: Floats, *, at_least: float = OPPORTUNITY_FROM) -> list[tuple[int, int]]:
    """Return the runs of windows in which the likelihood is ``at_least`` so high, as [first, last) of windows."""
    high = np.diff(np.r_[False, likely >= at_least, False].astype(np.int8))
    return list(zip(np.flatnonzero(high == 1).tolist(), np.flatnonzero(high == -1).tolist(), strict=True))


def hits(
    windows: np.ndarray[tuple[int], np.dtype[np.int64]], likely: Floats, *, at_least: float = OPPORTUNITY_FROM
) -> tuple[float, float]:
    """Return how many responses lie in a window where ``at_least`` so many listeners respond, over the responses."""
    return float(np.sum(likely[windows] >= at_least)), float(len(windows))


def covered(
    windows: np.ndarray[tuple[int], np.dtype[np.int64]], likely: Floats, *, at_least: float = OPPORTUNITY_FROM
) -> tuple[float, float]:
    """Return how many opportunities have a response in them, over all opportunities.

    A system that responds everywhere covers all of them, and by chance too: the lift is what counts.
    """
    runs = opportunities(likely, at_least=at_least)
    edges = np.sort(windows)
    hit = sum(bool(np.searchsorted(edges, first) < np.searchsorted(edges, last)) for first, last in runs)
    return float(hit), float(len(runs))


def placement(
    onsets: Mapping[str, Sequence[int]],
    likelihoods: Mapping[str, Floats],
    score: Score = support,
    *,
    people: float | None = None,
    width: int = WINDOW,
    seed: int = 0,
    rotations: int = ROTATIONS,
) -> Placement:
    """Return how a system's ``onsets`` (µs, by stimulus) are placed where the likelihood of people's is high.

    ``likelihoods``: by stimulus, shape (windows,); ``people``: :func:`people_placed` of the same score. Chance keeps
    how often the system responds and the intervals between its responses, and loses where they are: the responses of
    a stimulus are all rotated by the same whole number of windows, around its end. A response past the last window
    counts nowhere; a stimulus that ``onsets`` does not name has none. Absent, by stimulus: ``no responses``,
    ``no opportunity`` where nothing is the score's whole.
    Source: own; rotations as in Monte Carlo tests of time series (circular shifts).
    """
    random = np.random.default_rng(seed)
    parts, wholes, absent = list[Floats](), list[float](), dict[str, int]()
    for stimulus, likely in likelihoods.items():
        n = len(likely)
        inside = [time // width for time in onsets.get(stimulus, ()) if 0 <= time < n * width]
        windows = np.unique(np.asarray(inside, dtype=np.int64))
        part, whole = score(windows, likely)
        if not whole:
            reason = "no opportunity" if len(windows) else "no responses"
            absent[reason] = absent.get(reason, 0) + 1
            continue
        parts.append(np.array([part, *(score((windows + by) % n, likely)[0] for by in range(1, n))]))
        wholes.append(whole)
    if not wholes:
        return Placement(None, None, None, None, people, None, 0, absent)
    total = sum(wholes)
    value = sum(float(each[0]) for each in parts) / total
    chance = sum(float(each.mean()) for each in parts) / total
    drawn = sum((each[random.integers(len(each), size=rotations)] for each in parts), np.zeros(rotations)) / total
    p = (1 + int(np.sum(drawn >= value - 1e-12))) / (1 + rotations)
    skill = (value - chance) / (people - chance) if people is not None and people > chance else None
    return Placement(value, chance, value - chance, p, people, skill, len(wholes), absent)


def people_placed(
    panels: Sequence[Panel], score: Score = support, *, width: int = WINDOW, by: By = "onset"
) -> float | None:
    """Return a listener's score against the likelihood of the others, part over whole summed over all listeners.

    The human baseline: each is left out of what it is compared with. None without two listeners, or a response.
    """
    part = whole = 0.0
    for panel in panels:
        rows = by_listener(panel, width=width, by=by)
        if len(rows) < 2:
            continue
        total = rows.sum(axis=0)
        for row, spans in zip(rows, panel.listeners.values(), strict=True):
            starts = np.unique(np.asarray([span.start // width for span in spans], dtype=np.int64))
            inside = starts[(starts >= 0) & (starts < rows.shape[1])]
            found = score(inside, (total - row) / (len(rows) - 1))
            part, whole = part + found[0], whole + found[1]
    return part / whole if whole else None
