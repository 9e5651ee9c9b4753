"""How a verdict would move: Full-Duplex-Bench's measures on planted edges, and on the edges that were heard.

``anchored`` judges by speech; the released rules judge backchannels by the detector's segments and everything
else by words. No words are given where segments are judged, so time alone decides there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fullduplex.benchmarks import find
from fullduplex.benchmarks.declare import Scenario
from fullduplex.measures.metric import Metric
from fullduplex.model.items import Event, Item
from fullduplex.model.spans import Span, Timeline, seconds
from fullduplex.model.speech import Token, Track, Word
from fullduplex.model.trials import Absent, Trial

#: The task of each kind of talk, and the metrics that edges decide.
_TASKS = {
    "backchannel": "backchannel",
    "turn": "smooth_turn_taking",
    "pause": "pause_handling",
    "interruption": "user_interruption",
}
_METRICS = ("tor", "latency", "frequency")


def moved_by_detectors(talks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return, for each metric, condition, detector and kind of edge, what its value is and was to be."""
    rows = []
    for variant, tasks in (("anchored", tuple(_TASKS.values())), ("released", ("backchannel",))):
        benchmark = find(f"fdb-1.0@{variant}")[0]
        for scenario in (s for s in benchmark.scenarios if not s.dataset and s.task in tasks):
            mine = [talk for talk in talks if _TASKS.get(talk["kind"]) == scenario.task]
            for metric in (m for m in scenario.metrics if m.name in _METRICS):
                for who, pairs in _by_hearing(mine):
                    rows.append(who | _moved(benchmark.variant, scenario, metric, pairs))
    return rows


def _by_hearing(talks: Sequence[Mapping[str, Any]]) -> Iterator[tuple[dict[str, str], list[tuple[Trial, Trial]]]]:
    groups: dict[tuple[str, str, str], list[tuple[Trial, Trial]]] = {}
    for talk in talks:
        truth = _trial(talk, [planted["truth"] for planted in talk["planted"]])
        for heard in talk["heard"]:
            key = heard["condition"], heard["detector"], heard["edges"]
            groups.setdefault(key, []).append((truth, _trial(talk, heard["segments"])))
    for (condition, detector, edges), pairs in groups.items():
        yield {"condition": condition, "detector": detector, "edges": edges}, pairs


def _trial(talk: Mapping[str, Any], segments: Sequence[Sequence[float]]) -> Trial:
    spans = [Span(seconds(start), seconds(end)) for start, end in segments]
    track = Track(
        speech=Timeline(spans),
        tokens=(),
        segments=tuple((start, end) for start, end in segments),
        duration=seconds(talk["length"]),
        speech_from="planted",
    )
    events = tuple(Event(kind, Span(seconds(start), seconds(end))) for kind, start, end in talk["events"])
    return Trial(Item(talk["talk"], events=events), system=track, events=events)


def moved_by_recognisers(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the released takeover rate and latency of planted words, and of those that each recogniser heard."""
    benchmark = find("fdb-1.0@released")[0]
    scenario = next(s for s in benchmark.scenarios if s.task == "smooth_turn_taking" and not s.dataset)
    groups: dict[tuple[str, str], list[tuple[Trial, Trial]]] = {}
    for row in rows:
        if row["turn_end"] is not None:
            pair = _spoken(row, row["planted"]), _spoken(row, row["tokens"])
            groups.setdefault((row["condition"], row["recogniser"]), []).append(pair)
    return [
        {"condition": condition, "recogniser": who} | _moved(benchmark.variant, scenario, metric, pairs)
        for (condition, who), pairs in groups.items()
        for metric in scenario.metrics
        if metric.name in _METRICS
    ]


def _spoken(row: Mapping[str, Any], words: Iterable[Sequence[Any]]) -> Trial:
    tokens = tuple(Token(*word) for word in words)
    timed = [Word(t, Span(seconds(a), seconds(b))) for t, a, b in tokens if a is not None and b is not None and b > a]
    track = Track(words=tuple(timed), tokens=tokens, words_from="planted")
    return Trial(Item(row["talk"], reference={"turn_end_seconds": row["turn_end"]}), system=track)


def _moved(variant: str, scenario: Scenario, metric: Metric, pairs: Sequence[tuple[Trial, Trial]]) -> dict[str, Any]:
    """Return the metric's mean on truth and as heard over the trials that have both, and how many verdicts differ.

    A rate's verdict differs where 0 became 1 or the reverse; a mean's where it moved by more than half a per cent.
    """
    both, lost = [], 0
    for truth, heard in pairs:
        was, became = metric.measure(truth), metric.measure(heard)
        if isinstance(was, Absent) or isinstance(became, Absent):
            lost += isinstance(was, Absent) != isinstance(became, Absent)
        else:
            both.append((was.value, became.value))
    n = len(both)
    return {
        "benchmark": f"fdb-1.0@{variant}",
        "task": scenario.task,
        "metric": metric.name,
        "unit": metric.unit,
        "n": n,
        "truth": sum(was for was, _ in both) / n if n else None,
        "heard": sum(became for _, became in both) / n if n else None,
        "changed": sum(abs(became - was) > 0.005 * max(abs(was), 0.1) for was, became in both),
        "farthest": max((abs(became - was) for was, became in both), default=None),
        "only_one": lost,
    }
