"""The facts of a run, in columns: one for each variant, scenario and metric."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.benchmarks.declare import Benchmark, Scenario
from fullduplex.data.fdb_folder import read_tokens
from fullduplex.data.official import V15_SETS
from fullduplex.errors import InputError
from fullduplex.measures.interaction import scene
from fullduplex.measures.judged_reply import by_person
from fullduplex.measures.metric import Estimate, Metric
from fullduplex.measures.squeezed import squeezed
from fullduplex.measures.statistics import estimate
from fullduplex.model.spans import in_seconds
from fullduplex.model.trials import Absent, Fact, Trial, Verdict
from fullduplex.runs.amendments import Amendments, standing
from fullduplex.runs.first_sounds import FirstSounds
from fullduplex.runs.items import SEEN, read_item, trial_or_failure
from fullduplex.runs.judges import Seated, judges_of, with_verdicts
from fullduplex.runs.run import Run
from fullduplex.runs.unspoken import Unspoken, as_heard

#: The name of a verdict (``behaviour``, of ``behaviour:b0``), and who gave it.
Kind = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Where an interaction takes place, what its sound comes from ("" where that is not told), and how long it is.

    ``lasts``: the user's turns that fell, in microseconds.
    """

    setting: str
    origin: str
    lasts: int


@dataclass(slots=True)
class Column:
    """One metric of one scenario under one variant, over the items that have been measured.

    ``verdicts``: the judge's verdict that each value rests on, "" where a rule or a person decided.
    """

    variant: str
    scenario: Scenario
    metric: Metric
    items: array[int] = field(default_factory=lambda: array("l"))
    numbers: array[float] = field(default_factory=lambda: array("d"))
    at: array[float] = field(default_factory=lambda: array("d"))
    reasons: list[str] = field(default_factory=list)
    whys: list[str] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)

    def add(self, item: int, found: Fact | Absent) -> None:
        """Keep what was found for ``item``."""
        self.items.append(item)
        if isinstance(found, Fact):
            self.numbers.append(float(found.value))
            self.at.append(math.nan if found.at is None else in_seconds(found.at))
            self.reasons.append("")
            self.whys.append(found.why)
            self.verdicts.append(found.verdict)
        else:
            self.numbers.append(math.nan)
            self.at.append(math.nan)
            self.reasons.append(found.reason)
            self.whys.append(found.detail)
            self.verdicts.append("")

    def absent(self) -> dict[str, int]:
        """Return how many items have no value, by reason."""
        return dict(sorted(Counter(filter(None, self.reasons)).items()))


@dataclass(slots=True)
class Measured:
    """Every column of a run, with the names and groups of its items.

    ``said``: by item (its place in ``names``), how many verdicts of each kind judges gave; a person's are none.
    ``circumstances``: by item, of those that tell a setting or an origin.
    ``judges`` are those of the run, whose word counts first; ``amendments`` its corrections; ``recorded`` the names of
    verdicts that came with recordings; ``learned`` what each variant learned from all of the run. ``passed_over``
    counts items of tasks that the benchmark does not have, ``notes`` what a reader of the table has to know: events
    that a rule found, words that were recognised, recordings of zeros. ``onsets`` are those of replies by words and by
    sound, where a latency is measured; ``unspoken`` counts sound without speech.
    """

    benchmarks: Sequence[Benchmark]
    names: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    columns: dict[tuple[str, str, str], Column] = field(default_factory=dict)
    said: dict[int, Counter[Kind]] = field(default_factory=dict)
    circumstances: dict[int, Circumstances] = field(default_factory=dict)
    passed_over: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    onsets: FirstSounds = field(default_factory=FirstSounds)
    unspoken: Unspoken = field(default_factory=Unspoken)
    failed: dict[str, str] = field(default_factory=dict)
    judges: tuple[Seated, ...] = ()
    amendments: Amendments = field(default_factory=lambda: Amendments(()))
    recorded: set[str] = field(default_factory=set)
    learned: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def estimates(self, variant: str, seed: int) -> Iterator[tuple[Column, Estimate]]:
        """Yield each column of ``variant`` with its estimate, in the benchmark's order."""
        for column in self.columns.values():
            if column.variant != variant:
                continue
            numbers = np.frombuffer(column.numbers, dtype=np.float64)
            there = ~np.isnan(numbers)
            groups = [self.groups[i] for i, kept in zip(column.items, there, strict=True) if kept]
            found = estimate(numbers[there], groups, column.absent(), column.metric.kind, seed)
            yield column, found

    def rows(self, variant: str) -> Iterator[dict[str, Any]]:
        """Yield what was found for each item, in the shape of ``items`` of estimates.json."""
        for column in self.columns.values():
            if column.variant != variant:
                continue
            for i, item in enumerate(column.items):
                row: dict[str, Any] = {
                    "scenario": column.scenario.name,
                    "item": self.names[item],
                    "metric": column.metric.name,
                    "value": None if column.reasons[i] else column.numbers[i],
                }
                if column.reasons[i]:
                    row["absent"] = column.reasons[i]
                if column.whys[i]:
                    row["why"] = column.whys[i]
                if not math.isnan(column.at[i]):
                    row["at"] = column.at[i]
                if self.groups[item]:
                    row["group"] = self.groups[item]
                yield row


def measure(
    run: Run,
    benchmarks: Sequence[Benchmark],
    reference: Mapping[str, Any] | None = None,
    judges: tuple[Seated, ...] | None = None,
) -> Measured:
    """Measure every item of ``run`` under each of ``benchmarks``; reads no audio.

    ``reference`` maps item ids to reference distributions of backchannels. ``judges`` are those whose word counts,
    the first one's most; None: those of the run.
    """
    made = Measured(
        benchmarks, judges=judges_of(run) if judges is None else judges, amendments=Amendments(standing(run))
    )
    made.learned = _learned(run, benchmarks, reference)
    for folder in run.items():
        measure_item(made, folder, reference)
    order = {(b.variant, s.name, m.name): 0 for b in benchmarks for s in b.scenarios for m in s.metrics}
    made.columns = {
        key: made.columns[key]
        for key in order
        if key in made.columns and not (made.columns[key].metric.optional and all(made.columns[key].reasons))
    }
    return made


def measure_item(made: Measured, folder: Path, reference: Mapping[str, Any] | None) -> None:
    """Add what every benchmark of ``made`` finds in one item's folder."""
    try:
        item = read_item(folder)
    except InputError as error:
        made.failed[f"{folder.parent.name}/{folder.name}"] = str(error)
        return
    if item.get("faults"):
        made.failed[f"{item['set']}/{item['id']}"] = "; ".join(map(str, item["faults"]))
    if item["failed"]:
        made.failed[f"{item['set']}/{item['id']}"] = item["failed"]
    number: dict[str, int] = {}
    trials = {SEEN: _judged(made, folder, item, trial_or_failure(folder, SEEN, reference))}
    if not any(scenario_of(benchmark, item) for benchmark in made.benchmarks):
        made.passed_over[_called(item)] += 1
    made.notes.update(_notes(trials[SEEN], item["task"]))
    made.unspoken.add(trials[SEEN])
    timed = (scenario_of(benchmark, item) for benchmark in made.benchmarks)
    if any(metric.unit == "s" for scenario in timed if scenario is not None for metric in scenario.metrics):
        made.onsets.add(f"{item['set']}/{item['id']}", trials[SEEN])
    for benchmark in made.benchmarks:
        scenario = scenario_of(benchmark, item)
        if scenario is None:
            continue
        hearing = benchmark.hearing.name
        if hearing not in trials:
            trials[hearing] = _judged(made, folder, item, trial_or_failure(folder, hearing, reference))
        trial = trials[hearing]
        if trial.failed:
            made.failed.setdefault(f"{item['set']}/{item['id']}", trial.failed)
        if made.learned.get(benchmark.variant):
            known = {**trial.item.reference, **made.learned[benchmark.variant]}
            trial = replace(trial, item=replace(trial.item, reference=known))
        for name, one in ((item["id"], trial), *_further(benchmark, scenario, item, folder, trial)):
            if name not in number:
                number[name] = len(made.names)
                made.names.append(name)
                made.groups.append(item["group"])
                said = judges_said(one) if name == item["id"] else None
                if said:
                    made.said[number[name]] = said
                met = circumstances_of(one)
                if met is not None:
                    made.circumstances[number[name]] = met
            for metric in scenario.metrics:
                key = (benchmark.variant, scenario.name, metric.name)
                if key not in made.columns:
                    made.columns[key] = Column(benchmark.variant, scenario, metric)
                found = metric.measure(one)
                if name == item["id"]:
                    found = as_heard(found, trials[SEEN])
                    found = made.amendments.to_fact(found, item["set"], name, benchmark.variant, metric.name)
                made.columns[key].add(number[name], found)


def judges_said(trial: Trial) -> Counter[Kind]:
    """Return how many verdicts of each kind judges gave on the trial; what a person corrected is none of theirs."""
    return Counter(
        (name.partition(":")[0], said.by)
        for name, said in trial.verdicts.items()
        if isinstance(said, Verdict) and not by_person(said)
    )


def circumstances_of(trial: Trial) -> Circumstances | None:
    """Return where the trial's interaction takes place and what it is made from; None where neither is told."""
    found = scene(trial)
    if isinstance(found, Absent) or not (found.setting or found.origin):
        return None
    lasts = sum(turn.span.duration for turn in found.turns if turn.span is not None)
    return Circumstances(found.setting, found.origin, lasts)


def _learned(
    run: Run, benchmarks: Sequence[Benchmark], reference: Mapping[str, Any] | None
) -> dict[str, Mapping[str, Any]]:
    """Return what each variant learned; variants that learn alike read the run once."""
    known: dict[Any, Mapping[str, Any]] = {}
    made = {}
    for benchmark in benchmarks:
        if benchmark.learned is None:
            continue
        tasks = frozenset((scenario.task, scenario.dataset) for scenario in benchmark.scenarios)
        alike = benchmark.learned, benchmark.hearing.name, tasks
        if alike not in known:
            known[alike] = benchmark.learned(_trials(run, benchmark, reference))
        made[benchmark.variant] = known[alike]
    return made


def _trials(run: Run, benchmark: Benchmark, reference: Mapping[str, Any] | None) -> Iterator[Trial]:
    """Yield the trials that ``benchmark`` measures; what cannot be read is told when it is measured."""
    for folder in run.items():
        try:
            item = read_item(folder)
        except InputError:
            continue
        if scenario_of(benchmark, item) is not None:
            yield trial_or_failure(folder, benchmark.hearing.name, reference)


def _judged(made: Measured, folder: Path, item: Mapping[str, Any], trial: Trial) -> Trial:
    """Return ``trial`` with what judges and people said of it."""
    made.recorded.update(name for name, said in trial.verdicts.items() if isinstance(said, Verdict))
    if made.judges:
        try:
            trial = with_verdicts(trial, folder, made.judges)
        except InputError as error:
            made.failed.setdefault(f"{item['set']}/{item['id']}", str(error))
    asked = {asks.verdict for benchmark in made.benchmarks for s in benchmark.scenarios for asks in s.asks}
    return made.amendments.to_verdicts(trial, item["set"], item["id"], asked)


def _notes(trial: Trial, task: str) -> Iterator[str]:
    for event in trial.events:
        if event.source:
            yield f"{task}: no event is annotated; found on the user's channel: {event.source}"
    if trial.system.words_from not in ("", "recorded"):
        yield f"the system's words are from: {trial.system.words_from}"
    if squeezed(trial.system.words or ()):
        yield "the system's words that nobody can say in the time they are given, counted as they are"
    if trial.system.silent_recording:
        yield "system recordings that are all zeros: a silent system, or a recording that failed"
    placing = (trial.item.reference.get("interaction") or {}).get("placing", ())
    if placing:
        yield f"{task}: not every turn and trigger word was found in what was heard; those count as never asked"
    rating = trial.verdicts.get("rating")
    if isinstance(rating, Verdict) and isinstance(rating.value, int | float) and not 0 <= rating.value <= 5:
        yield "ratings outside 0-5, counted as they are"
    ends = [track.duration for track in (trial.user, trial.system) if track.duration]
    if ends and any(event.span.start > max(ends) for event in trial.events):
        yield "events after the end of both recordings, counted as they are"


def scenario_of(benchmark: Benchmark, item: Mapping[str, Any]) -> Scenario | None:
    """Return the scenario of ``benchmark`` that an item belongs to; None where there is none.

    v1.0 and v1.5 have a task of one name: an item of v1.5's has no event that v1.0 asks for.
    """
    of_task = [scenario for scenario in benchmark.scenarios if scenario.task == item["task"]]
    exact = next((scenario for scenario in of_task if scenario.dataset == item["dataset"]), None)
    if exact is None and item["dataset"] in V15_SETS:
        return None
    return exact or next((scenario for scenario in of_task if not scenario.dataset), None)


def counting(scenario: Scenario, trial: Trial, verdict: str) -> tuple[str, ...]:
    """Return which of the verdicts on single replies (``VERDICT:@ONSET-END``) a measure of ``scenario`` rests on.

    Several replies may be judged of which only one turns out to be the one that counts: without a verdict that counts,
    something else would have been measured.
    """
    given = sorted(name for name in trial.verdicts if name.startswith(f"{verdict}:@"))
    if not given:
        return ()
    found = [metric.measure(trial) for metric in scenario.metrics]
    without = {
        name: replace(trial, verdicts={key: said for key, said in trial.verdicts.items() if key != name})
        for name in given
    }
    return tuple(name for name in given if found != [metric.measure(without[name]) for metric in scenario.metrics])


def _called(item: Mapping[str, Any]) -> str:
    return f"{item['task']} of v1.5" if item["dataset"] in V15_SETS else str(item["task"])


def _further(
    benchmark: Benchmark, scenario: Scenario, item: Mapping[str, Any], folder: Path, trial: Trial
) -> Iterator[tuple[str, Trial]]:
    # The released scripts take every file whose name ends in output.json for a sample.
    if not benchmark.extra_outputs or scenario.task != "pause_handling":
        return
    for name in sorted(item["files"]):
        if name.endswith("output.json") and name != "output.json":
            try:
                tokens = read_tokens(folder / name)
            except InputError as error:
                yield f"{item['id']}:{name}", replace(trial, failed=str(error))
                continue
            yield f"{item['id']}:{name}", replace(trial, system=replace(trial.system, tokens=tokens))
