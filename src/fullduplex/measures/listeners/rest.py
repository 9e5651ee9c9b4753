"""Each listener left out and held against the rest, and whoever else responds held against the same rests.

A listener's responses are compared with what the *others* did, for a panel that holds the listener is nearer to it than
to anybody else. A system is compared with each of these rests in turn, so that it and the person who is left out face
the same people, in small panels too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from fullduplex.measures.clusters import Floats
from fullduplex.measures.intervals import RESAMPLES
from fullduplex.measures.listeners.distance import divergence_from, wasserstein_from
from fullduplex.measures.listeners.panel import By, Panel, by_listener
from fullduplex.measures.listeners.placement import covered, hits, support
from fullduplex.measures.metric import Estimate
from fullduplex.measures.resampling import estimate_of, ratio, summed
from fullduplex.measures.timing import WINDOW
from fullduplex.model.spans import SECOND
from fullduplex.model.trials import Absent

#: How many responders are turned to random times in all; each of a panel equally often, at least once.
DRAWN = 20_000
MOST_TURNS = 20


@dataclass(frozen=True, slots=True)
class Measured:
    """A number of one responder's responses to one stimulus: its key, title, unit, and which way is nearer people."""

    key: str
    title: str
    unit: str
    better: Literal["lower", "higher", "neither"]


MEASURES = (
    Measured("rate", "Responses a minute", "1/min", "neither"),
    Measured("divergence", "Jensen-Shannon divergence from Q", "bits", "lower"),
    Measured("wasserstein", "Wasserstein distance from Q", "s", "lower"),
    Measured("hits", "Hits: responses where others respond", "%", "higher"),
    Measured("covered", "Covered: opportunities with a response", "%", "higher"),
    Measured("support", "Support: others who respond with them", "%", "higher"),
)
#: What a measure needs that may be lacking: a response, or an opportunity.
_LACKS = {"covered": "no opportunity"}

#: Two values that differ by less are one: what is left is rounding.
_EQUAL = 1e-12

#: A part and a whole, or why there is none.
Ratio = tuple[float, float] | str


@dataclass(slots=True)
class Tally:
    """What one responder (people, a system) adds up to, measure by measure; a row for each stimulus, in order.

    ``own``: part and whole summed over the rests; ``chance``: the same with the responses turned in time; ``place``:
    over the rests, in how many the responder is nearer people than who was left out (a tie is half), and of how many.
    """

    own: list[dict[str, tuple[float, float]]] = field(default_factory=list)
    chance: list[dict[str, tuple[float, float]]] = field(default_factory=list)
    place: list[dict[str, tuple[float, float]]] = field(default_factory=list)
    absent: dict[str, dict[str, int]] = field(default_factory=dict)

    def begin(self) -> None:
        """Begin a stimulus."""
        for rows in (self.own, self.chance, self.place):
            rows.append({})

    def add(self, found: Mapping[str, Ratio]) -> None:
        """Add what the responder has against one rest."""
        for key, value in found.items():
            if not isinstance(value, str):
                _count(self.own[-1], key, value)

    def add_chance(self, found: Mapping[str, Ratio]) -> None:
        """Add what its responses have, turned to another time; how many there are is no matter of chance."""
        for key, value in found.items():
            if key != "rate" and not isinstance(value, str):
                _count(self.chance[-1], key, value)

    def add_place(self, found: Mapping[str, Ratio], of_person: Mapping[str, Ratio]) -> None:
        """Add whether the responder is nearer to the rest than the person who was left out of it."""
        for each in MEASURES:
            a, b = found[each.key], of_person[each.key]
            if isinstance(a, str) or isinstance(b, str):
                continue
            gain = (a[0] / a[1] - b[0] / b[1]) * (-1 if each.better == "lower" else 1)
            _count(self.place[-1], each.key, (0.5 if abs(gain) < _EQUAL else float(gain > 0), 1.0))

    def lacks(self, key: str, why: str, number: int = 1) -> None:
        """Count what has no value, by measure and reason."""
        of = self.absent.setdefault(key, {})
        of[why] = of.get(why, 0) + number


@dataclass(frozen=True, slots=True)
class Held:
    """What came of holding people, and others by name, against the rest; ``turns``: random placements of each."""

    people: Tally
    others: Mapping[str, Tally]
    turns: int


@dataclass(frozen=True, slots=True)
class _Rest:
    """The others of a panel on one stimulus: the likelihood of their responses, and the stimulus' length in µs."""

    likely: Floats
    duration: int
    width: int

    def measured(self, onsets: Sequence[int]) -> dict[str, Ratio]:
        """Return each of :data:`MEASURES` of ``onsets`` (µs) against the rest, as part over whole or why there is none.

        A distance is a part over 1. Absent: ``no responses`` in the windows, ``no opportunity`` for *covered*,
        ``nobody else responded`` where the rest has no Q.
        """
        around = len(self.likely) * self.width
        windows = np.unique(np.asarray([t // self.width for t in onsets if 0 <= t < around], dtype=np.int64))
        found: dict[str, Ratio] = {"rate": (len(onsets) * 60.0, self.duration / SECOND)}
        for key, score in (("hits", hits), ("covered", covered), ("support", support)):
            part, whole = score(windows, self.likely)
            found[key] = (part, whole) if whole else _LACKS.get(key, "no responses")
        for key, distance in (("divergence", divergence_from), ("wasserstein", wasserstein_from)):
            if not self.likely.any():
                found[key] = "nobody else responded" if len(windows) else "no responses"
                continue
            value = distance(onsets, self.likely, width=self.width)
            found[key] = value.reason if isinstance(value, Absent) else (value, 1.0)
        return found

    def turned(self, onsets: Sequence[int], by: int) -> list[int]:
        """Return ``onsets`` turned around the end by so many windows: their number and their spacing stay."""
        around = len(self.likely) * self.width
        return [(time + by * self.width) % around for time in onsets if 0 <= time < around]


def _lacks_of(found: Mapping[str, Ratio]) -> dict[str, str]:
    return {key: value for key, value in found.items() if isinstance(value, str)}


def held_against_the_rest(
    panels: Iterable[Panel],
    others: Mapping[str, Mapping[str, Sequence[Sequence[int]]]],
    *,
    pairs: int,
    width: int = WINDOW,
    by: By = "onset",
    seed: int = 0,
) -> Held:
    """Return what comes of holding each listener, and each of ``others``, against the rest of each panel.

    ``others``: by name and stimulus the onsets (µs) of each time the stimulus was played to it; a stimulus that is
    not there is none of its. ``pairs``: listeners summed over stimuli, which says how often each is turned in time.
    One panel is held at a time. A panel of one listener has no rest: ``one listener``.
    """
    turns = max(1, min(MOST_TURNS, DRAWN // max(1, pairs)))
    people, rest_of = Tally(), {name: Tally() for name in others}
    # Each responder has a stream of its own, so that a further system changes nobody's chance.
    streams = {name: np.random.default_rng([seed, 1]) for name in others}
    stream = np.random.default_rng([seed, 0])
    for panel in panels:
        rows = by_listener(panel, width=width, by=by).astype(np.float64)
        talks = [(name, said) for name, heard in others.items() for said in heard.get(panel.stimulus, ())]
        whose = dict.fromkeys(name for name, _ in talks)
        if len(rows) < 2:
            for tally in (people, *(rest_of[name] for name in whose)):
                for each in MEASURES:
                    tally.lacks(each.key, "one listener")
            continue
        for tally in (people, *(rest_of[name] for name in whose)):
            tally.begin()
        total, n = rows.sum(axis=0), rows.shape[1]
        lacking: list[dict[str, str]] = [{each.key: "" for each in MEASURES} for _ in talks]
        for row, spans in zip(rows, panel.listeners.values(), strict=True):
            rest = _Rest((total - row) / (len(rows) - 1), panel.duration, width)
            own = rest.measured([span.start for span in spans])
            people.add(own)
            for key, why in _lacks_of(own).items():
                people.lacks(key, why)
            for turn in stream.integers(n, size=turns):
                people.add_chance(rest.measured(rest.turned([span.start for span in spans], int(turn))))
            for (name, said), lacks in zip(talks, lacking, strict=True):
                theirs = rest.measured(said)
                rest_of[name].add(theirs)
                rest_of[name].add_place(theirs, own)
                still = _lacks_of(theirs)
                for key in list(lacks):
                    # A talk lacks what it has against none of the rests.
                    if key in still:
                        lacks[key] = still[key]
                    else:
                        del lacks[key]
                for turn in streams[name].integers(n, size=turns):
                    rest_of[name].add_chance(rest.measured(rest.turned(said, int(turn))))
        for (name, _), lacks in zip(talks, lacking, strict=True):
            for key, why_not in lacks.items():
                rest_of[name].lacks(key, why_not)
    return Held(people, rest_of, turns)


def _count(row: dict[str, tuple[float, float]], key: str, value: tuple[float, float]) -> None:
    part, whole = row.get(key, (0.0, 0.0))
    row[key] = (part + value[0], whole + value[1])


def pooled(
    rows: Sequence[Mapping[str, tuple[float, float]]],
    key: str,
    absent: Mapping[str, int] | None = None,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Return Σ part / Σ whole over stimuli, with the interval that drawing stimuli again gives. n: stimuli."""
    table = np.array([row[key] for row in rows if row.get(key, (0, 0))[1]], dtype=np.float64).reshape(-1, 2)
    return estimate_of(
        summed(table, [""] * len(table)), lambda sums: ratio(sums[:, 0], sums[:, 1]),
        undefined="no values", seed=seed, resamples=resamples, absent=absent,
    )  # fmt: skip
