"""What people's ratings go with: each metric of a run against naturalness, satisfaction, coherence, preference.

Metrics describe conduct; whether people like it is another question. Over the items that people rated, each metric's
values are ranked against the mean of their ratings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fullduplex.errors import InputError
from fullduplex.measures.metric import Estimate
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
