"""What a run's stored facts come to under other rules, thresholds, judges and clocks.

All variants read an item once, and so do all thresholds of one variant. A measure that no moved threshold reaches is
not taken again: its numbers are those of the variant as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

from fullduplex import benchmarks
from fullduplex.benchmarks.declare import Benchmark
from fullduplex.clocks import runs_under
from fullduplex.errors import InputError
from fullduplex.judging.keeping import read_verdicts
from fullduplex.measures.intervals import FEWEST_TRIMMED
from fullduplex.model.spans import in_seconds
from fullduplex.runs.amendments import Amendment, Amendments, standing
from fullduplex.runs.judges import Seated, judges_of
from fullduplex.runs.measured import Column, Measured, measure, measure_item
from fullduplex.runs.run import Run

#: What every threshold is multiplied with, one at a time; a count of words is moved by one.
FACTORS = (0.5, 0.75, 1.25, 1.5)
AS_MEASURED = "as measured"

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Condition:
    """One choice in which a scoring differs from the run's own: its kind and its name."""

    kind: str
    name: str

    def told(self) -> str:
        """Return the condition in words."""
        return self.name if self.kind == AS_MEASURED else f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Values:
    """What one run comes to under one condition, by scenario and metric: the number, and each item's."""

    numbers: Mapping[Key, float]
    items: Mapping[Key, Mapping[str, float]]

    def under(self, changed: Values, keys: frozenset[Key]) -> Values:
        """Return these values with those of ``changed`` in the place of what stood under ``keys``."""

        def put(here: Mapping[Key, Any], there: Mapping[Key, Any]) -> Mapping[Key, Any]:
            return {key: value for key, value in here.items() if key not in keys} | dict(there)

        return Values(put(self.numbers, changed.numbers), put(self.items, changed.items))


def rescored(run: Run, shown: Benchmark, left_out: list[str]) -> Iterator[tuple[Condition, Values]]:
    """Yield every condition under which the stored facts of ``run`` can be scored, the run as measured first.

    ``shown`` is the variant whose numbers are looked at. A judge none of whose answers can be used is no condition:
    why is added to ``left_out``.
    """
    shown = _banded(shown)
    others = [_banded(one) for one in benchmarks.find(f"{shown.name}@all") if one.variant != shown.variant]
    judges = judges_of(run)
    corrected = {one.what.partition("/")[2] for one in standing(run)}
    # What is corrected under one variant alone is not the same under another.
    parts = [_reached(shown, one, corrected) for one in others]
    measured = measure(run, [shown, *(part for part, _ in parts)], judges=judges)
    as_measured = values_of(measured, shown.variant)
    own = {shown.variant: as_measured}
    yield Condition(AS_MEASURED, AS_MEASURED), as_measured
    for part, keys in parts:
        own[part.variant] = as_measured.under(values_of(measured, part.variant), keys)
        yield Condition("rules", part.variant), own[part.variant]
    for benchmark in (shown, *others):
        kind = "threshold" if benchmark.variant == shown.variant else f"threshold of {benchmark.variant}"
        for name, values in _moved(run, benchmark, measured, own[benchmark.variant]):
            yield Condition(kind, name), values
    for judge in judges[1:]:
        name = _name(judge, judges)
        why = _says_nothing(run, judge)
        if why:
            left_out.append(f"{run.system}, judge {name}: {why}")
            continue
        # The one that is tried leads; the others stand in where it was not asked.
        led = (judge, *(one for one in judges if one is not judge))
        yield Condition("judge", name), values_of(measure(run, [shown], judges=led), shown.variant)
    for copy in runs_under(run):
        yield Condition("clock", copy.path.name), values_of(measure(copy, [shown]), shown.variant)


def thresholds(benchmark: Benchmark) -> Iterator[tuple[str, Benchmark]]:
    """Yield ``benchmark`` with each of its thresholds moved alone, and what was moved; nothing where it has none.

    A time is multiplied with each of :data:`FACTORS`; one of 0 cannot be moved so. A count of words is moved by one,
    not below 0.
    """
    if benchmark.limits is None or benchmark.rebuilt is None:
        return
    for one in fields(benchmark.limits):
        now = getattr(benchmark.limits, one.name)
        if "words" in one.name:
            others = {other: f"{one.name} {other} (not {now})" for other in (now - 1, now + 1) if other >= 0}
        else:
            moved = (round(now * factor) for factor in FACTORS)
            others = {
                other: f"{one.name} {in_seconds(other):g} s (not {in_seconds(now):g} s)"
                for other in moved
                if other != now
            }
        for value, told in others.items():
            yield told, benchmark.rebuilt(replace(benchmark.limits, **{one.name: value}))


def values_of(measured: Measured, variant: str) -> Values:
    """Return the numbers of ``variant``, and each item's; a metric that no item has a value of is not in it."""
    numbers: dict[Key, float] = {}
    items: dict[Key, dict[str, float]] = {}
    for column in measured.columns.values():
        if column.variant != variant or column.metric.family:
            continue
        key = (column.scenario.name, column.metric.name)
        its = {
            measured.names[item]: number
            for item, number, reason in zip(column.items, column.numbers, column.reasons, strict=True)
            if not reason
        }
        if its:
            numbers[key], items[key] = _number(column, list(its.values())), its
    return Values(numbers, items)


def same_measure(one: Any, other: Any) -> bool:
    """Return whether two measures find the same in every trial, as far as can be seen from what they are made of."""
    if isinstance(one, partial) and isinstance(other, partial):
        return (
            same_measure(one.func, other.func)
            and len(one.args) == len(other.args)
            and all(map(same_measure, one.args, other.args))
            and one.keywords.keys() == other.keywords.keys()
            and all(same_measure(value, other.keywords[name]) for name, value in one.keywords.items())
        )
    return one is other or (type(one) is type(other) and bool(one == other))


def _banded(benchmark: Benchmark) -> Benchmark:
    """Return ``benchmark`` without its families of metrics, which have tables of their own and no band."""
    scenarios = (replace(s, metrics=tuple(m for m in s.metrics if not m.family)) for s in benchmark.scenarios)
    return replace(benchmark, scenarios=tuple(scenarios))


def _moved(run: Run, benchmark: Benchmark, measured: Measured, own: Values) -> Iterator[tuple[str, Values]]:
    """Yield what was moved of ``benchmark`` and what the run then comes to; ``own``: as it is."""
    reached: dict[str, tuple[Benchmark, frozenset[Key]]] = {}
    for name, changed in thresholds(benchmark):
        if changed.learned != benchmark.learned:
            yield name, values_of(measure(run, [changed], judges=measured.judges), changed.variant)
        else:
            reached[name] = _reached(benchmark, _banded(changed), ())
    # They are measured side by side, so each needs a name of its own.
    many = [replace(changed, variant=f"{benchmark.variant}, {name}") for name, (changed, _) in reached.items()]
    made = Measured(
        many,
        judges=measured.judges,
        amendments=Amendments(_of_each(standing(run), benchmark.variant, [one.variant for one in many])),
        learned=dict.fromkeys((one.variant for one in many), measured.learned.get(benchmark.variant, {})),
    )
    if many:
        for folder in run.items():
            measure_item(made, folder, None)
    for one, (name, (_, keys)) in zip(many, reached.items(), strict=True):
        yield name, own.under(values_of(made, one.variant), keys)


def _reached(known: Benchmark, changed: Benchmark, apart: Collection[str]) -> tuple[Benchmark, frozenset[Key]]:
    """Return ``changed`` with those of its metrics alone that are not as ``known`` has them, and the keys of these.

    Metrics that are named in ``apart`` are never taken to be. A key of ``known`` that ``changed`` lacks is among them.
    """
    alike = (known.learned, known.hearing, known.parts) == (changed.learned, changed.hearing, changed.parts)
    there = {(s.name, m.name): (s.task, s.dataset, m) for s in known.scenarios for m in s.metrics}
    scenarios, same = [], set[Key]()
    for scenario in changed.scenarios:
        kept = []
        for metric in scenario.metrics:
            key = (scenario.name, metric.name)
            task, dataset, other = there.get(key, ("", "", None))
            if (
                alike
                and metric.name not in apart
                and other is not None
                and (task, dataset) == (scenario.task, scenario.dataset)
                and (other.kind, other.optional) == (metric.kind, metric.optional)
                and same_measure(other.measure, metric.measure)
            ):
                same.add(key)
            else:
                kept.append(metric)
        scenarios.append(replace(scenario, metrics=tuple(kept)))
    every = there.keys() | {(s.name, m.name) for s in changed.scenarios for m in s.metrics}
    return replace(changed, scenarios=tuple(scenarios)), frozenset(every - same)


def _of_each(made: Iterable[Amendment], variant: str, names: Sequence[str]) -> Iterator[Amendment]:
    """Yield the corrections; what corrects ``variant`` corrects it under each of ``names``."""
    for one in made:
        at, slash, metric = one.what.partition("/")
        if slash and at == variant:
            yield from (replace(one, what=f"{name}/{metric}") for name in names)
        else:
            yield one


def _name(judge: Seated, judges: Sequence[Seated]) -> str:
    alike = sum(1 for one in judges if one.name == judge.name) > 1
    return f"{judge.name} ({judge.spec.digest[:6]})" if alike else judge.name


def _says_nothing(run: Run, judge: Seated) -> str:
    """Return why nothing that ``judge`` said of the run's items can be used, "" where anything can."""
    reasons: dict[str, int] = {}
    for folder in run.items():
        try:
            kept = read_verdicts(folder)
        except InputError:
            continue  # it is told where the run is measured
        for one in kept:
            if one.judge.digest == judge.spec.digest:
                if one.value is not None:
                    return ""
                reasons[one.absent] = reasons.get(one.absent, 0) + 1
    if not reasons:
        return "it has answered nothing"
    counts = ", ".join(f"{n} {reason}" for reason, n in sorted(reasons.items()))
    return f"none of its {sum(reasons.values())} answers can be used ({counts})"


def _number(column: Column, values: Sequence[float]) -> float:
    there = np.asarray(values, dtype=np.float64)
    if column.metric.kind == "median":
        return float(np.median(there))
    if column.metric.kind == "trimmed" and len(there) >= FEWEST_TRIMMED:
        low, high = np.percentile(there, (5, 95))
        there = there[(there >= low) & (there <= high)]
    return float(there.mean())
