"""Corpora side by side: their statistics, where a system lies among people, and how far its times are from theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from fullduplex import __version__
from fullduplex.baselines.sources import Counted
from fullduplex.measures.conversation import (
    KINDS,
    UNIT_ENDS_AFTER,
    Conversation,
    Distance,
    Standing,
    jensen_shannon,
    kolmogorov_smirnov,
    overlap_share,
    per_minute,
    quantile,
    seconds_per_minute,
    standing,
    wasserstein,
)
from fullduplex.measures.conversation.statistics import Kind, Whole
from fullduplex.measures.metric import Estimate
from fullduplex.model.spans import SECOND, in_seconds
from fullduplex.model.trials import Absent, Ratio

SCHEMA = 1
#: Intervals of corpora rest on so many resamples: quantiles of many thousand values cost more than means.
RESAMPLES = 2_000
#: Below this many conversations a resample says nothing, and a percentile is one of a few steps: neither is given.
FEWEST = 5
#: Distributions in the file: bins of 50 ms, one more at each end takes what lies beyond.
BIN, LOWEST, HIGHEST = 50_000, -2 * SECOND, 4 * SECOND
#: Of which values distances are given, and the distributions are drawn.
DRAWN: tuple[Kind, ...] = ("transfer", "pause", "gap", "overlap", "unit")
Measure = Callable[..., Estimate]


@dataclass(frozen=True, slots=True)
class Statistic:
    """One number of a corpus: its key, what it is, of what it is a part, and how one conversation has it.

    ``edges``: it rests on where one side's turn ends and the other's begins, which means nothing where a transcript's
    turns were cut.
    """

    key: str
    title: str
    unit: str
    of: str
    measure: Measure
    of_one: Callable[[Conversation], float | None]
    edges: bool = False


_TITLES: dict[Kind, str] = {
    "unit": "Units", "pause": "Pauses", "gap": "Gaps", "overlap": "Overlaps", "transfer": "Floor transfers",
}  # fmt: skip
#: What lies between the turns of two sides.
_AT_EDGES = ("gap", "overlap", "transfer")
_WHOLES: tuple[tuple[Whole, str], ...] = (
    ("speech", "of the time in which anybody speaks"),
    ("time", "of all time"),
    ("transfers", "of the floor transfers"),
)


def _shared(one: Conversation, of: Whole) -> float | None:
    found = one.overlap_share(of)
    return found.part / found.whole if isinstance(found, Ratio) else None


def _middle(one: Conversation, kind: Kind) -> float | None:
    values = one.values[kind]
    return float(np.median(values)) / SECOND if values else None


def _all() -> tuple[Statistic, ...]:
    made = [
        Statistic(f"overlap_of_{of}", "Overlap", "%", text, partial(overlap_share, of=of), partial(_shared, of=of),
                  edges=True)
        for of, text in _WHOLES
    ]  # fmt: skip
    made.append(
        Statistic(
            "median_transfer",
            "Median offset of floor transfers",
            "s",
            "below 0 they overlap",
            partial(quantile, kind="transfer"),
            partial(_middle, kind="transfer"),
            edges=True,
        )
    )
    kinds: tuple[Kind, ...] = ("unit", "pause", "gap", "overlap")
    counted: tuple[Kind, ...] = ("transfer", *kinds)
    for kind in counted:
        made.append(
            Statistic(
                f"{kind}s_a_minute",
                _TITLES[kind],
                "1/min",
                "in a minute of the conversation",
                partial(per_minute, kind=kind),
                partial(Conversation.number_per_minute, kind=kind),
                edges=kind in _AT_EDGES,
            )
        )
    for kind in kinds:
        made.append(
            Statistic(
                f"{kind}_seconds_a_minute",
                f"{_TITLES[kind]}, added up",
                "s/min",
                "in a minute of the conversation",
                partial(seconds_per_minute, kind=kind),
                partial(Conversation.seconds_per_minute, kind=kind),
                edges=kind in _AT_EDGES,
            )
        )
    for kind in kinds:
        made.append(
            Statistic(
                f"median_{kind}",
                f"Median length of {_TITLES[kind].lower()}",
                "s",
                "of all of them",
                partial(quantile, kind=kind),
                partial(_middle, kind=kind),
                edges=kind in _AT_EDGES,
            )
        )
    return tuple(made)


STATISTICS = _all()


def statistics_of(corpora: Sequence[Counted], *, seed: int = 0, resamples: int = RESAMPLES) -> dict[str, Any]:
    """Return the statistics of ``corpora`` as one JSON object; the first is the people that others are held against.

    ``corpora``: of each its name, where it comes from, how many conversations by what tells their times, its estimates
    (value, 95 % interval by conversation, what it is a part of), its distributions (counts in bins of 50 ms), what was
    cut and not measured. ``standings``: of each other corpus each number's percentile among the first one's
    conversations. ``distances``: how far the values of each kind lie from the first one's.
    """
    people, *others = corpora
    return {
        "schema": SCHEMA,
        "fullduplex": __version__,
        "seed": seed,
        "resamples": resamples,
        "unit_ends_after": in_seconds(UNIT_ENDS_AFTER),
        "held_against": people.name,
        "corpora": [_told(one, seed, resamples) for one in corpora],
        "standings": [row for one in others for row in _standings(one, people)],
        "distances": [row for one in others for row in _distances(one, people, seed)],
    }


def drawn_as(counted: Counted) -> list[Conversation]:
    """Return what an interval draws: items that were cut out of one recording as one conversation, in their order."""
    joined: dict[str, list[Conversation]] = {}
    for n, (one, group) in enumerate(zip(counted.conversations, counted.groups, strict=True)):
        joined.setdefault((group and f"={group}") or f"#{n}", []).append(one)
    return [parts[0] if len(parts) == 1 else _joined(parts) for parts in joined.values()]


def _joined(parts: Sequence[Conversation]) -> Conversation:
    values: dict[Kind, tuple[int, ...]] = {kind: tuple(v for one in parts for v in one.values[kind]) for kind in _KINDS}
    return Conversation(
        parts[0].name, sum(one.duration for one in parts), sum(one.spoken for one in parts), values
    )  # fmt: skip


_KINDS: tuple[Kind, ...] = (
    "unit", "pause", "gap", "overlap", "turn", "transfer", "overlap_between", "overlap_within",
)  # fmt: skip
assert set(_KINDS) == set(KINDS)


def _told(counted: Counted, seed: int, resamples: int) -> dict[str, Any]:
    corpus = drawn_as(counted)
    edges = counted.abutting
    return {
        "name": counted.name,
        "people": counted.people,
        "source": counted.source,
        "conversations": len(counted.conversations),
        "drawn": len(corpus),
        "minutes": round(counted.minutes, 3),
        "told_by": dict(counted.told_by),
        "abutting": None if edges is None else {"transfers": edges.transfers, "nearly": edges.nearly,
                                                "exactly": edges.exact, "within": in_seconds(edges.within)},
        "unreliable_offsets": counted.unreliable,
        "estimates": [
            {
                "statistic": one.key, "title": one.title, "of": one.of, "unit": one.unit,
                **_estimate(one.measure(corpus, seed=seed, resamples=resamples), one.unit, len(corpus)),
                "unreliable": counted.unreliable if one.edges else "",
            }
            for one in STATISTICS
        ],
        "distributions": {kind: _binned(corpus, kind) for kind in DRAWN},
        "remarks": list(dict.fromkeys(counted.remarks)),
        "failed": [{"conversation": name, "error": error} for name, error in counted.failed],
    }  # fmt: skip


def _estimate(found: Estimate, unit: str, drawn: int) -> dict[str, Any]:
    if found.low is not None and drawn < FEWEST:
        found = replace(found, low=None, high=None, method=f"{drawn} conversations: no interval")
    low, value, high = (_in_unit(one, unit) for one in (found.low, found.value, found.high))
    return {"value": value, "low": low, "high": high, "n": found.n, "method": found.method}


def _in_unit(value: float | None, unit: str) -> float | None:
    """Return a share in percent, anything else as it is."""
    return 100 * value if value is not None and unit == "%" else value


def _binned(corpus: Sequence[Conversation], kind: Kind) -> dict[str, Any]:
    values = np.array([value for one in corpus for value in one.values[kind]], dtype=np.int64)
    bins = (HIGHEST - LOWEST) // BIN
    places = np.clip((values - LOWEST) // BIN, -1, bins) + 1
    return {
        "n": len(values), "bin": in_seconds(BIN), "lowest": in_seconds(LOWEST), "highest": in_seconds(HIGHEST),
        "counts": np.bincount(places, minlength=bins + 2).tolist(),
    }  # fmt: skip


def _standings(system: Counted, people: Counted) -> list[dict[str, Any]]:
    """Return where each pooled number of ``system`` lies among people's conversations, one number each."""
    pooled, each = _joined(system.conversations), drawn_as(people)
    made = []
    for one in STATISTICS:
        value = one.of_one(pooled)
        theirs = [its for talk in each if (its := one.of_one(talk)) is not None]
        row: dict[str, Any] = {
            "system": system.name, "statistic": one.key, "title": one.title, "of": one.of, "unit": one.unit,
            "value": None, "percentile": None, "low": None, "median": None, "high": None, "n": len(theirs),
            "absent": "", "unreliable": (system.unreliable or people.unreliable) if one.edges else "",
        }  # fmt: skip
        found: Standing | Absent
        if value is None:
            found = Absent("the system has none")
        elif len(theirs) < FEWEST:
            found = Absent(f"fewer than {FEWEST} conversations of people")
        else:
            found = standing(value, theirs)
        if isinstance(found, Absent):
            made.append(row | {"absent": found.reason, "value": _in_unit(value, one.unit)})
            continue
        numbers = {key: _in_unit(getattr(found, key), one.unit) for key in ("value", "low", "median", "high")}
        made.append(row | numbers | {"percentile": found.percentile})
    return made


_Distances = tuple[Callable[..., Distance], ...]
_MEASURES: _Distances = (wasserstein, kolmogorov_smirnov, jensen_shannon)


def _distances(system: Counted, people: Counted, seed: int) -> list[dict[str, Any]]:
    def values(counted: Counted, kind: Kind) -> dict[str, Sequence[int]]:
        return {str(n): one.values[kind] for n, one in enumerate(drawn_as(counted))}

    return [
        {
            "system": system.name, "kind": kind, "title": _TITLES[kind],
            **_as_row(measure(values(people, kind), values(system, kind), seed=seed)),
            "unreliable": (system.unreliable or people.unreliable) if kind in _AT_EDGES else "",
        }
        for kind in DRAWN
        for measure in _MEASURES
    ]  # fmt: skip


def _as_row(found: Distance) -> dict[str, Any]:
    if found.low is not None and min(found.conversations) < FEWEST:
        found = replace(found, low=None, high=None, method=f"fewer than {FEWEST} conversations: no interval")
    made = asdict(found)
    return made | {"n": list(found.n), "conversations": list(found.conversations)}
