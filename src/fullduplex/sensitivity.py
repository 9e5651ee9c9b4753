"""How far a run's numbers rest on choices: rules, thresholds, detectors, recognisers, judges, clocks.

Facts that are stored are scored again under each choice alone, all others as they were. Another detector or
recogniser hears the recordings again, into ``RUN/heard/NAME``; nothing of the run itself changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex import benchmarks
from fullduplex.benchmarks.declare import Benchmark
from fullduplex.clocks import runs_under
from fullduplex.data.dataset import Entry, Voice
from fullduplex.data.names import as_file_name
from fullduplex.errors import FullDuplexError, InputError, RunError
from fullduplex.measures.intervals import FEWEST_TRIMMED
from fullduplex.measures.ranks import Win, kendalls_tau, order, win_probability
from fullduplex.model.items import Event
from fullduplex.model.spans import Span, in_seconds, seconds
from fullduplex.model.spec import Spec
from fullduplex.runs.items import read_item
from fullduplex.runs.judges import judges_of
from fullduplex.runs.measured import Column, Measured, measure
from fullduplex.runs.run import Run
from fullduplex.stages import Asked, Progress, about, heard_and_measured, settled

FOLDER = "heard"
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


@dataclass(frozen=True, slots=True)
class Band:
    """How far one number of one system moves: as measured, its ends, and the conditions that reach them.

    ``kinds`` tells lowest and highest by kind of condition. ``missing`` are conditions under which it has no value.
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


@dataclass(slots=True)
class Sensitivity:
    """What :func:`sensitivity` found: the conditions tried, a band for each number, the orders, and remarks."""

    conditions: list[Condition]
    bands: list[Band]
    standings: list[Standing] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


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
    remarks: list[str] = []
    systems = _systems(runs)
    total = len(runs)
    for number, (system, run) in enumerate(systems.items(), 1):
        for condition, values in _conditions(run, shown, detectors, recognisers, cache, engine, progress, remarks):
            found.setdefault(condition, {})[system] = values
        if progress is not None:
            progress("sensitivity", number, total)
    metrics = {(s.name, m.name): m for s in shown.scenarios for m in s.metrics if not m.family}
    bands = [
        band
        for system in systems
        for key, metric in metrics.items()
        if (band := _band(system, key, metric, found)) is not None
    ]
    made = Sensitivity(list(found), bands, remarks=remarks)
    if len(runs) > 1:
        made.standings = [
            s for key, metric in metrics.items() if (s := _standing(key, metric, found, seed)) is not None
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


def _conditions(
    run: Run,
    shown: Benchmark,
    detectors: Sequence[str],
    recognisers: Sequence[str],
    cache: Path,
    engine: str,
    progress: Progress | None,
    remarks: list[str],
) -> Iterator[tuple[Condition, Values]]:
    def measured(benchmark: Benchmark) -> Values:
        return _values(measure(run, [benchmark]), benchmark.variant)

    as_it_is = measure(run, [shown])
    yield Condition(AS_MEASURED, AS_MEASURED), _values(as_it_is, shown.variant)
    every = benchmarks.find(f"{shown.name}@all")
    for benchmark in every:
        if benchmark.variant != shown.variant:
            yield Condition("rules", benchmark.variant), measured(benchmark)
    for benchmark in every:
        for name, changed in thresholds(benchmark):
            kind = "threshold" if benchmark.variant == shown.variant else f"threshold of {benchmark.variant}"
            yield Condition(kind, name), measured(changed)
    judges = judges_of(run)
    for judge in judges[1:]:
        # The one that is tried leads; the others stand in where it was not asked.
        led = (judge, *(one for one in judges if one is not judge))
        alike = sum(1 for one in judges if one.name == judge.name) > 1
        name = f"{judge.name} ({judge.spec.digest[:6]})" if alike else judge.name
        yield Condition("judge", name), _values(measure(run, [shown], judges=led), shown.variant)
    for copy in runs_under(run):
        yield Condition("clock", copy.path.name), _values(measure(copy, [shown]), shown.variant)
    for kind, specs in (("detector", detectors), ("recogniser", recognisers)):
        for text in specs:
            try:
                again = heard_again(run, shown, kind, text, cache=cache, engine=engine, progress=progress)
            except FullDuplexError as error:
                remarks.append(f"{run.system}, {kind} {text}: {error}")
                continue
            failed = {name: why for name, why in again.failed.items() if name not in as_it_is.failed}
            if failed:
                first, why = next(iter(failed.items()))
                remarks.append(
                    f"{run.system}, {kind} {text}: {len(failed)} items failed and have no part in it; "
                    f"the first, {first}: {why}"
                )
            yield Condition(kind, text), _values(again, shown.variant)


def thresholds(benchmark: Benchmark) -> Iterator[tuple[str, Benchmark]]:
    """Yield ``benchmark`` with each of its thresholds moved alone, and what was moved; nothing where it has none."""
    if benchmark.limits is None or benchmark.rebuilt is None:
        return
    for one in fields(benchmark.limits):
        now = getattr(benchmark.limits, one.name)
        if "words" in one.name:
            others = [(other, f"{one.name} {other}") for other in (now - 1, now + 1)]
        else:
            others = [(round(now * f), f"{one.name} {in_seconds(round(now * f)):g} s") for f in FACTORS]
        for value, told in others:
            yield (
                f"{told} (not {now if 'words' in one.name else in_seconds(now)})",
                benchmark.rebuilt(replace(benchmark.limits, **{one.name: value})),
            )


def heard_again(
    run: Run,
    benchmark: Benchmark,
    kind: str,
    text: str,
    *,
    cache: Path,
    engine: str = "",
    progress: Progress | None = None,
) -> Measured:
    """Hear every recording of ``run`` with another detector or recogniser, into a run of its own, and measure it.

    With a detector the words stay as they are; with a recogniser all words are recognised anew, also those that came
    with the recordings. Raises :class:`FullDuplexError` where there is no such plug-in.
    """
    entries, repeats = [], []
    for folder in run.items():
        try:
            item = read_item(folder)
        except InputError:
            continue  # it has failed, and is counted so in the run's own table
        if "system" in item["files"]:
            entries.append(_entry(folder, item, words=kind == "detector"))
            number = folder.parent.parent.name.removeprefix("trials").removeprefix("-")
            repeats.append(int(number) if number else 1)
    if not entries:
        raise RunError(f"{run.path}: has no recording to hear again")
    told = run.about.get("recogniser")
    asked = Asked(
        f"{benchmark.name}@{benchmark.variant}",
        seen=text if kind == "detector" else _text(run.about["hearings"]["silero"]["detector"]),
        recogniser=text if kind == "recogniser" else ("none" if told is None else "auto"),
        language=str(run.about.get("language", "en")),
        system=run.system,
        seed=int(run.about.get("seed", 0)),
        qualities=tuple(run.about.get("qualities", ())),
    )
    if kind == "detector" and told is not None and told["name"] not in ("auto", "reported"):
        asked = replace(asked, recogniser=_text(told))
    plan = settled([benchmark], entries, asked, cache)
    again = Run.begin(
        run.path / FOLDER / as_file_name(f"{kind} {text}"), about([benchmark], run.path, entries, asked, run.system)
    )
    return heard_and_measured(
        again, entries, plan, asked, cache=cache, engine=engine, progress=progress, repeats=repeats
    ).measured


def _entry(folder: Path, item: Mapping[str, Any], *, words: bool) -> Entry:
    """Return an item of a run as an entry: its recordings as they lie there, its words or none."""
    transcripts = {"input.json", "output.json", "clean_input.json", "clean_output.json", "words.json"}
    files = {
        name: folder / name
        for name in item["files"].values()
        if name.endswith(".json") and (words or name not in transcripts) and (folder / name).is_file()
    }
    if words and (folder / "words.json").is_file():
        files["words.json"] = folder / "words.json"
        files.setdefault("output.json", folder / "output.json")
        files = {name: path for name, path in files.items() if path.is_file()}
    voices = {role: folder / name for role, name in item["files"].items() if not name.endswith(".json")}
    files |= {f"{role.replace('user', 'input').replace('system', 'output')}.wav": path
              for role, path in voices.items() if role.startswith("clean_")}  # fmt: skip
    events = tuple(
        Event(e["kind"], Span(seconds(e["start"]), seconds(e["end"])), e["text"], e["source"]) for e in item["events"]
    )
    own = not any(name in files for name in ("interrupt.json", "pause.json", "turn_taking.json", "metadata.json"))
    return Entry(
        item["id"], item["task"], item["dataset"], group=item["group"],
        user_voice=Voice(voices["user"]) if "user" in voices else None, system_voice=Voice(voices["system"]),
        files=files, events=events if own else (),
    )  # fmt: skip


def _text(spec: Mapping[str, Any]) -> str:
    return str(Spec(spec["name"], spec["options"]))


def _values(measured: Measured, variant: str) -> Values:
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


def _number(column: Column, values: Sequence[float]) -> float:
    there = np.asarray(values, dtype=np.float64)
    if column.metric.kind == "median":
        return float(np.median(there))
    if column.metric.kind == "trimmed" and len(there) >= FEWEST_TRIMMED:
        low, high = np.percentile(there, (5, 95))
        there = there[(there >= low) & (there <= high)]
    return float(there.mean())


def _band(system: str, key: Key, metric: Any, found: Mapping[Condition, Mapping[str, Values]]) -> Band | None:
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
    )  # fmt: skip


def _standing(key: Key, metric: Any, found: Mapping[Condition, Mapping[str, Values]], seed: int) -> Standing | None:
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
    return Standing(key[0], key[1], metric.title or metric.name, ranked.tiers, wins, tuple(shifts))


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
    }
