"""How far each number of runs moves under the conditions tried, and whether the order of systems does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from fullduplex import benchmarks
from fullduplex.benchmarks.declare import Benchmark
from fullduplex.errors import FullDuplexError, InputError, RunError
from fullduplex.measures.ranks import Win, kendalls_tau, order, win_probability
from fullduplex.runs.measured import measure
from fullduplex.runs.run import Run
from fullduplex.sensitivity.reheard import heard_again
from fullduplex.sensitivity.rescored import AS_MEASURED, Condition, Key, Values, rescored, values_of
from fullduplex.stages import Progress


@dataclass(frozen=True, slots=True)
class Band:
    """How far one number of one system moves: as measured, its ends, and the conditions that reach them.

    ``n`` is how many items have a value as measured. ``kinds`` tells lowest and highest by kind of condition.
    ``missing`` are conditions under which it has no value.
    """

    system: str
    scenario: str
    metric: str
    title: str
    unit: str
    better: str
    value: float | None
    low: float | None
    high: float | None
    lowest: str
    highest: str
    kinds: Mapping[str, tuple[float, float]]
    missing: tuple[str, ...] = ()
    n: int = 0
    scenario_title: str = ""


@dataclass(frozen=True, slots=True)
class Shift:
    """The order of systems by one metric under one condition, against that as measured.

    ``same``: whether the systems stand alike. ``tau``: Kendall's tau-b of the two orders, None where one of them is
    all ties. ``leads``: who is first.
    """

    condition: str
    same: bool
    tau: float | None
    leads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """The order of systems by one metric: as measured, how sure it is, and what would change it.

    ``wins``: for each two neighbours of the order, the share of resamples of items in which the first stays ahead.
    """

    scenario: str
    metric: str
    title: str
    tiers: tuple[tuple[str, ...], ...]
    wins: Mapping[tuple[str, str], Win]
    shifts: tuple[Shift, ...]
    scenario_title: str = ""


@dataclass(slots=True)
class Sensitivity:
    """What :func:`sensitivity` found: the conditions tried, a band for each number, and the orders.

    ``remarks`` say what was asked for and failed, ``left_out`` which choices of the runs tell nothing.
    """

    conditions: list[Condition]
    bands: list[Band]
    standings: list[Standing] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def sensitivity(
    runs: Sequence[Run],
    *,
    detectors: Sequence[str] = (),
    recognisers: Sequence[str] = (),
    variant: str = "",
    cache: Path,
    seed: int = 0,
    engine: str = "",
    progress: Progress | None = None,
) -> Sensitivity:
    """Score ``runs`` under every choice that they allow, and return how far each number and each order moves.

    ``variant`` is whose numbers are looked at, "" for the runs' leading variant; thresholds are those of the
    variant that has any. ``detectors`` and ``recognisers`` are specs to hear the recordings with again.
    Raises :class:`RunError` for runs of different benchmarks and for a run that is given twice.
    """
    name = _same_benchmark(runs)
    if len({run.path.resolve() for run in runs}) < len(runs):
        raise RunError("a run was given twice; give each run once")
    base = variant or str(runs[0].about["benchmark"]["variants"][0])
    shown, *more = benchmarks.find(f"{name}@{base}")
    if more:
        raise InputError("--as", found=base, expected="one variant: all the others are tried beside it")
    found: dict[Condition, dict[str, Values]] = {}
    made = Sensitivity([], [])
    systems = _systems(runs)
    total = len(runs)
    for number, (system, run) in enumerate(systems.items(), 1):
        for condition, values in rescored(run, shown, made.left_out):
            found.setdefault(condition, {})[system] = values
        asked = [("detector", spec) for spec in detectors] + [("recogniser", spec) for spec in recognisers]
        for condition, values in _reheard(run, shown, asked, cache, engine, progress, made.remarks):
            found.setdefault(condition, {})[system] = values
        if progress is not None:
            progress("sensitivity", number, total)
    metrics = {(s.name, m.name): m for s in shown.scenarios for m in s.metrics if not m.family}
    titles = {s.name: s.title or s.name for s in shown.scenarios}
    made.conditions = list(found)
    made.bands = [
        band
        for system in systems
        for key, metric in metrics.items()
        if (band := _band(system, key, metric, found, titles[key[0]])) is not None
    ]
    if len(runs) > 1:
        made.standings = [
            s
            for key, metric in metrics.items()
            if (s := _standing(key, metric, found, seed, titles[key[0]])) is not None
        ]
    return made


def _same_benchmark(runs: Sequence[Run]) -> str:
    names = {str(run.about["benchmark"]["name"]) for run in runs}
    if len(names) != 1:
        raise RunError(f"{runs[0].path}: the runs are of {' and '.join(sorted(names))}; give runs of one benchmark")
    return names.pop()


def _systems(runs: Sequence[Run]) -> dict[str, Run]:
    names = [run.system for run in runs]
    return {(n if names.count(n) == 1 else str(run.path)): run for n, run in zip(names, runs, strict=True)}


def _reheard(
    run: Run,
    shown: Benchmark,
    asked: Sequence[tuple[str, str]],
    cache: Path,
    engine: str,
    progress: Progress | None,
    remarks: list[str],
) -> Iterator[tuple[Condition, Values]]:
    """Yield what ``run`` comes to under each detector and recogniser asked for; ``remarks`` take what fails."""
    had = measure(run, [shown]).failed if asked else {}
    for kind, text in asked:
        try:
            again = heard_again(run, shown, kind, text, cache=cache, engine=engine, progress=progress)
        except FullDuplexError as error:
            remarks.append(f"{run.system}, {kind} {text}: {error}")
            continue
        failed = {name: why for name, why in again.failed.items() if name not in had}
        if failed:
            first, why = next(iter(failed.items()))
            n = len(failed)
            lost = "1 item failed and has no part in it" if n == 1 else f"{n} items failed and have no part in it"
            remarks.append(f"{run.system}, {kind} {text}: {lost}; the first, {first}: {why}")
        yield Condition(kind, text), values_of(again, shown.variant)


def _band(
    system: str, key: Key, metric: Any, found: Mapping[Condition, Mapping[str, Values]], scenario: str
) -> Band | None:
    numbers = {
        condition: values[system].numbers[key]
        for condition, values in found.items()
        if system in values and key in values[system].numbers
    }
    if not numbers:
        return None
    low, high = min(numbers, key=numbers.__getitem__), max(numbers, key=numbers.__getitem__)
    kinds: dict[str, list[float]] = {}
    for condition, number in numbers.items():
        kinds.setdefault(condition.kind, []).append(number)
    base = next((number for condition, number in numbers.items() if condition.kind == AS_MEASURED), None)
    missing = [c.told() for c, values in found.items() if system in values and c not in numbers]
    return Band(
        system, key[0], key[1], metric.title or metric.name, metric.unit, metric.better, base,
        numbers[low], numbers[high], low.told(), high.told(),
        {kind: (min(given), max(given)) for kind, given in kinds.items() if kind != AS_MEASURED}, tuple(missing),
        _n(system, key, found), scenario,
    )  # fmt: skip


def _n(system: str, key: Key, found: Mapping[Condition, Mapping[str, Values]]) -> int:
    own = next((values for condition, values in found.items() if condition.kind == AS_MEASURED), {})
    return len(own[system].items.get(key, ())) if system in own else 0


def _standing(
    key: Key, metric: Any, found: Mapping[Condition, Mapping[str, Values]], seed: int, scenario: str
) -> Standing | None:
    if metric.better not in ("higher", "lower"):
        return None
    base = next(values for condition, values in found.items() if condition.kind == AS_MEASURED)
    numbers = {system: values.numbers[key] for system, values in base.items() if key in values.numbers}
    if len(numbers) < 2:
        return None
    ranked = order(numbers, metric.better)
    line = [system for tier in ranked.tiers for system in tier]
    wins = {
        (a, b): win_probability(base[a].items[key], base[b].items[key], metric.better, seed=seed)
        for a, b in pairwise(line)
    }
    shifts = []
    for condition, values in found.items():
        other = {system: given.numbers[key] for system, given in values.items() if key in given.numbers}
        if condition.kind == AS_MEASURED or set(other) != set(numbers):
            continue
        tau = kendalls_tau(numbers, other, seed=seed, resamples=100).value
        tiers = order(other, metric.better).tiers
        shifts.append(Shift(condition.told(), tiers == ranked.tiers, tau, tiers[0]))
    return Standing(key[0], key[1], metric.title or metric.name, ranked.tiers, wins, tuple(shifts), scenario)


def to_json(found: Sensitivity) -> dict[str, Any]:
    """Return what ``sensitivity.json`` holds."""
    return {
        "schema": 1,
        "conditions": [asdict(condition) for condition in found.conditions],
        "bands": [
            {**asdict(band), "kinds": {kind: list(ends) for kind, ends in band.kinds.items()}} for band in found.bands
        ],
        "standings": [
            {
                "scenario": one.scenario,
                "scenario_title": one.scenario_title,
                "metric": one.metric,
                "title": one.title,
                "order": [list(tier) for tier in one.tiers],
                "wins": [
                    {"first": a, "second": b, "probability": win.probability, "n": win.n, "method": win.method}
                    for (a, b), win in one.wins.items()
                ],
                "shifts": [
                    {"condition": s.condition, "same": s.same, "tau": s.tau, "leads": list(s.leads)} for s in one.shifts
                ],
            }
            for one in found.standings
        ],
        "remarks": list(found.remarks),
        "left_out": list(found.left_out),
    }
