"""What goes with what over the items of a run: ratings with metrics, and outcomes with what they may depend on.

Metrics describe conduct; whether people like it is another question. Over the items that people rated, each metric's
values are ranked against the mean of their ratings. And systems that were interrupted at different points of their
replies were not asked the same: whether the outcome depends on the point is tested.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fullduplex import benchmarks
from fullduplex.errors import InputError, printable
from fullduplex.measures.association import Association, association
from fullduplex.measures.metric import Estimate
from fullduplex.measures.permutation import holm
from fullduplex.measures.ranks import spearmans_rho
from fullduplex.reporting.review.store import Review, read_kept
from fullduplex.runs.run import Run
from fullduplex.runs.stored import estimates

#: Below this many items a rank correlation says nothing.
FEWEST = 5
NEITHER = "none"

Scores = dict[str, float]


@dataclass(frozen=True, slots=True)
class GoesWith:
    """How a metric goes with what people said: Spearman's rho over items, its interval, n, and what was rated.

    ``rated`` is the form and its question, of a preference also both systems. For a pair the metric's difference is
    ranked against the share of raters that preferred the first.
    """

    rated: str
    scenario: str
    metric: str
    title: str
    better: str
    rho: Estimate


@dataclass(frozen=True, slots=True)
class Sways:
    """Whether an outcome of a scenario depends on a metric of it, under the leading variant.

    ``found``: Spearman's rho over items and the permutation test; ``p_holm``: its p where as many outcomes (``tests``)
    are tested against the one metric, by Holm's correction; None where nothing was tested.
    """

    scenario: str
    outcome: str
    outcome_title: str
    metric: str
    metric_title: str
    found: Association
    p_holm: float | None
    tests: int

    @property
    def told(self) -> str:
        """Return it in one sentence."""
        what = f"{self.scenario}: whether {self.outcome_title!r} depends on {self.metric_title!r}"
        rho, p = self.found.rho, self.found.p
        if p is None or self.p_holm is None:
            return printable(f"{what} is not known: {self.found.method} (n {rho.n})", 600)
        interval = "" if rho.low is None else f" [{rho.low:.2f}, {rho.high:.2f}]"
        strength = "" if rho.value is None else f"Spearman's rho {rho.value:.2f}{interval}, "
        by_holm = f" ({_p(self.p_holm)} over {self.tests} outcomes, Holm)" if self.tests > 1 else ""
        return printable(f"{what}: {strength}p {_p(p)}{by_holm}, n {rho.n}; {self.found.method}", 600)


def sways(run: Run, *, seed: int = 0) -> list[Sways]:
    """Return, for each metric of ``run`` that outcomes may depend on, whether they do; of the leading variant.

    A row for every outcome that the benchmark declares, tested or not, where the metric has a value at all. Nothing
    where the run was not measured.
    Source: InteractionBench, which shows how far into the reply each interruption came; the test is ours.
    """
    try:
        table = estimates(run)
    except InputError:
        return []
    (benchmark,) = benchmarks.find(f"{table['benchmark']}@{table['variant']}")
    values = _values(table)
    groups = {(row["scenario"], row["item"]): str(row.get("group", "")) for row in table["items"]}
    made = []
    for scenario in benchmark.scenarios:
        titles = {metric.name: metric.title or metric.name for metric in scenario.metrics}
        for metric in scenario.metrics:
            if (scenario.name, metric.name) not in values:
                continue
            at = values[scenario.name, metric.name]
            of = {item: groups.get((scenario.name, item), "") for item in at}
            found = {name: association(values.get((scenario.name, name), {}), at, of, seed) for name in metric.sways}
            tested = [name for name, one in found.items() if one.p is not None]
            adjusted = dict(zip(tested, holm([found[name].p or 0.0 for name in tested]), strict=True))
            made += [
                Sways(scenario.name, name, titles[name], metric.name, titles[metric.name], one, adjusted.get(name),
                      len(tested))
                for name, one in found.items()
            ]  # fmt: skip
    return made


def goes_with(run: Run, verdicts: Iterable[str] = (), *, others: Sequence[Run] = (), seed: int = 0) -> list[GoesWith]:
    """Return how the metrics of ``run`` go with every scale that people rated, but for ``verdicts`` (judged ones).

    ``others``: further runs of pairs that people compared; their answers lie in ``run``. A metric with fewer than
    five items that people rated, or that is the same for all, is left out. Nothing where the run was not measured.
    """
    kept = read_kept(run.path).reviews
    judged = set(verdicts)
    try:
        table = estimates(run)
        told = {other.system: estimates(other) for other in others} | {run.system: table}
    except InputError:
        return []
    made = []
    for rated, people in _ratings(kept, judged).items():
        for (scenario, metric), values in _values(table).items():
            made.append(_found(rated, table, scenario, metric, values, people, seed))
    for (first, second), people in _preferences(kept, list(told)).items():
        mine, theirs = _values(told[first]), _values(told[second])
        for key in mine.keys() & theirs.keys():
            apart = {item: mine[key][item] - theirs[key][item] for item in mine[key].keys() & theirs[key].keys()}
            made.append(_found(f"preference for {first} over {second}", table, *key, apart, people, seed))
    return [one for one in made if one.rho.n >= FEWEST and one.rho.value is not None]


def to_json(found: Iterable[GoesWith]) -> list[dict[str, Any]]:
    """Return what agreement.json holds of them."""
    return [{**asdict(one), "rho": asdict(one.rho)} for one in found]


def _p(p: float) -> str:
    """Return a p value with two digits, and no more than can be told."""
    return f"{p:.2f}" if p >= 0.1 else f"{p:.3f}" if p >= 0.001 else f"{p:.1g}"


def _found(
    rated: str, table: Mapping[str, Any], scenario: str, metric: str, values: Scores, people: Scores, seed: int
) -> GoesWith:
    row = next(r for r in table["estimates"] if (r["scenario"], r["metric"]) == (scenario, metric))
    its = {f"{scenario}/{item}": value for item, value in values.items()}
    both = its.keys() & people.keys()
    rho = spearmans_rho({i: its[i] for i in sorted(both)}, {i: people[i] for i in sorted(both)}, seed=seed)
    return GoesWith(rated, scenario, metric, str(row.get("title") or metric), str(row["better"]), rho)


def _values(table: Mapping[str, Any]) -> dict[tuple[str, str], Scores]:
    own = {(row["scenario"], row["metric"]) for row in table["estimates"] if not row.get("family")}
    found: dict[tuple[str, str], Scores] = defaultdict(dict)
    for fact in table["items"]:
        key = (fact["scenario"], fact["metric"])
        if key in own and fact["value"] is not None:
            found[key][fact["item"]] = float(fact["value"])
    return found


def _ratings(kept: Sequence[Review], judged: set[str]) -> dict[str, Scores]:
    """Return the mean rating of each item by form and question, for questions whose answers are numbers."""
    given: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for review in kept:
        for question, answer in review.answers.items():
            if isinstance(answer, int) and not isinstance(answer, bool) and question not in judged and not review.sides:
                name = review.form if question == review.form else f"{review.form}, {question}"
                given[name][review.key].append(float(answer))
    return {name: {item: sum(v) / len(v) for item, v in items.items()} for name, items in given.items()}


def _preferences(kept: Sequence[Review], systems: Sequence[str]) -> dict[tuple[str, str], Scores]:
    """Return, for each pair of systems that people compared, the share of raters an item that preferred the first."""
    given: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for review in kept:
        pair = tuple(sorted(review.sides.values()))
        if len(pair) != 2 or not set(pair) <= set(systems):
            continue
        for question in review.answers:
            value = review.value(question)
            if value in (*pair, NEITHER):
                share = 0.5 if value == NEITHER else float(value == pair[0])
                given[pair[0], pair[1]][review.key].append(share)
    return {pair: {item: sum(v) / len(v) for item, v in items.items()} for pair, items in given.items()}
