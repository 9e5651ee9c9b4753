"""Into which numbers a judge's verdict entered: a rule decides many items that a judge could have been asked about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from fullduplex.benchmarks.declare import Benchmark, Scenario
from fullduplex.errors import InputError
from fullduplex.judging.keeping import FILE
from fullduplex.model.trials import Fact, Trial, Verdict
from fullduplex.runs.items import read_item, trial_or_failure
from fullduplex.runs.judges import with_verdicts
from fullduplex.runs.measured import Measured, scenario_of
from fullduplex.runs.run import Run

#: What of an item says that verdicts came with the recordings.
_RECORDED = {"rating", "behaviour"}
#: The name of a verdict (``behaviour``, of ``behaviour:b0``), and who gave it.
Kind = tuple[str, str]


@dataclass(slots=True)
class Entered:
    """What judges decided of a variant's numbers.

    ``verdicts``: by scenario and metric, the kinds of verdict of which one at least entered a value. ``given``: how
    many verdicts of each kind there are; a person's corrections are none.
    """

    verdicts: dict[tuple[str, str], set[Kind]] = field(default_factory=dict)
    given: Counter[Kind] = field(default_factory=Counter)

    def kinds(self, scenario: str, metric: str) -> list[Kind]:
        """Return what a metric's values rest on, in the order of the names."""
        return sorted(self.verdicts.get((scenario, metric), ()))


def entered(run: Run, measured: Measured, variant: str) -> Entered:
    """Return into which numbers of ``variant`` a judge's verdict entered.

    One entered a value where the value, or the reason for it, is another one without it. Reads no audio, and only
    items of which somebody judged something.
    """
    made = Entered()
    benchmark = next((one for one in measured.benchmarks if one.variant == variant), None)
    if benchmark is None:
        return made
    for scenario, trial in _judged_trials(run, measured, benchmark):
        given = Counter(_kinds(trial).values())
        made.given.update(given)
        for metric in scenario.metrics:
            there = made.verdicts.setdefault((scenario.name, metric.name), set())
            if given.keys() <= there:
                continue
            found = metric.measure(trial)
            if not isinstance(found, Fact) or metric.measure(_without(trial, set(given))) == found:
                continue
            there |= {kind for kind in given if metric.measure(_without(trial, {kind})) != found} or set(given)
    return made


def _judged_trials(run: Run, measured: Measured, benchmark: Benchmark) -> Iterator[tuple[Scenario, Trial]]:
    known = measured.learned.get(benchmark.variant) or {}
    for folder in run.items():
        try:
            item = read_item(folder)
            scenario = scenario_of(benchmark, item)
            if scenario is None or not ((folder / FILE).is_file() or _RECORDED & set(item)):
                continue
            trial = with_verdicts(trial_or_failure(folder, benchmark.hearing.name), folder, measured.judges)
        except InputError:
            continue  # it has failed, and is counted so where it was measured
        asked = {asks.verdict for asks in scenario.asks}
        trial = measured.amendments.to_verdicts(trial, item["set"], item["id"], asked)
        if known:
            trial = replace(trial, item=replace(trial.item, reference={**trial.item.reference, **known}))
        yield scenario, trial


def _kinds(trial: Trial) -> dict[str, Kind]:
    """Return the kind of each verdict of the trial that a judge gave, by its full name."""
    return {
        name: (name.partition(":")[0], said.by)
        for name, said in trial.verdicts.items()
        if isinstance(said, Verdict) and not said.by.startswith("amended")
    }


def _without(trial: Trial, kinds: set[Kind]) -> Trial:
    of_judges = _kinds(trial)
    kept = {name: said for name, said in trial.verdicts.items() if of_judges.get(name) not in kinds}
    return replace(trial, verdicts=kept)
