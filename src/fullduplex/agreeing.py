"""The agreement of people, judges and their repeated votes in a run: what every judged number is worth.

Kept in ``RUN/agreement.json``, which the report prints beside every judged number; without it such a number reads
"not validated".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from fullduplex import benchmarks
from fullduplex.benchmarks.declare import Benchmark
from fullduplex.correlations import goes_with
from fullduplex.correlations import to_json as ratings_json
from fullduplex.data.files import write_json
from fullduplex.errors import InputError
from fullduplex.judging.keeping import Kept, read_verdicts
from fullduplex.judging.rubric import Scale
from fullduplex.judging.rubric_file import load
from fullduplex.measures.agreement import (
    Level,
    Trust,
    cohens_kappa,
    confusion,
    fleiss_kappa,
    krippendorffs_alpha,
    per_class,
    percent_agreement,
    stability,
    trust,
)
from fullduplex.measures.metric import Estimate
from fullduplex.measures.overlap import plain_label
from fullduplex.model.trials import Verdict
from fullduplex.reporting.review.store import HEARD, read_kept
from fullduplex.reporting.trust import FILE
from fullduplex.runs.items import RECORDED, read_item, trial_or_failure
from fullduplex.runs.judges import Seated, judges_of, with_verdicts
from fullduplex.runs.measured import counting, scenario_of
from fullduplex.runs.run import Run

SCHEMA = 1
Value = float | str


@dataclass(slots=True)
class Said:
    """What was said of one verdict: by people, and by each judge, per item."""

    people: dict[str, dict[str, Value]] = field(default_factory=lambda: defaultdict(dict))
    judges: dict[str, dict[str, Verdict]] = field(default_factory=lambda: defaultdict(dict))
    votes: dict[str, dict[str, tuple[Value, ...]]] = field(default_factory=lambda: defaultdict(dict))


@dataclass(frozen=True, slots=True)
class Agreed:
    """The agreement on one verdict.

    ``among_people``: percent, Fleiss' kappa, Krippendorff's alpha by name. ``judges``: what is known of each.
    ``between``: two judges' names with their percent and Cohen's kappa. ``tables``: by judge, the confusion with
    people and each class's recall and precision.
    """

    verdict: str
    level: Level
    items: int
    raters: int
    among_people: Mapping[str, Estimate]
    judges: Mapping[str, Trust]
    between: Mapping[tuple[str, str], Mapping[str, Estimate]]
    tables: Mapping[str, Mapping[str, Any]]


def agree(run: Run, *, others: Sequence[Run] = (), seed: int = 0) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the agreement on every verdict of ``run`` as agreement.json keeps it, and what could not be read.

    ``others`` are the further runs of pairs that people compared.

    People's labels are those of the reviews whose question has the verdict's name; released labels count as ours
    (``C_RESUME`` is ``resume``). Intervals draw items, or groups of items where they have any.
    """
    about = run.about["benchmark"]
    chosen = [b for b in benchmarks.find(f"{about['name']}@all") if b.variant in about["variants"]]
    chosen.sort(key=lambda b: about["variants"].index(b.variant))
    rubrics = {asks.verdict: asks.rubric for b in chosen for s in b.scenarios for asks in s.asks}
    said, groups, remarks = _said(run, rubrics, chosen)
    made = []
    for verdict, name in rubrics.items():
        answer = load(name).answer
        level: Level = "ordinal" if isinstance(answer, Scale) else "nominal"
        labels = tuple(range(answer.low, answer.high + 1)) if isinstance(answer, Scale) else answer.names
        remarks += _of_one_kind(verdict, level, said[verdict])
        scale = _widened(tuple(map(_value, labels)), level, said[verdict])
        made.append(_agreed(verdict, level, scale, said[verdict], groups, seed))
    ratings = goes_with(run, rubrics, others=others, seed=seed)
    verdicts = [to_json(one) for one in made]
    _name_judges(verdicts, judges_of(run))
    told = {"schema": SCHEMA, "verdicts": verdicts, "goes_with": ratings_json(ratings)}
    write_json(run.path / FILE, told)
    return told, remarks


def _said(
    run: Run, rubrics: Mapping[str, str], chosen: Sequence[Benchmark]
) -> tuple[dict[str, Said], dict[str, str], tuple[str, ...]]:
    said = {verdict: Said() for verdict in rubrics}
    groups: dict[str, str] = {}
    judges, remarks = judges_of(run), Counter[str]()
    for folder in run.items():
        try:
            item = read_item(folder)
            _of_judges(folder, f"{item['set']}/{item['id']}", judges, said, _leading(chosen[0], item, folder, judges))
        except InputError as error:
            remarks[str(error)] += 1
            continue
        if item["group"]:
            groups[f"{item['set']}/{item['id']}"] = item["group"]
    kept = read_kept(run.path)
    for review in kept.reviews:
        for question, answer in review.answers.items():
            name, _, which = question.partition(":")
            if name in said and answer is not None:
                # One rater under two wordings of a form is one rater; the later words count.
                rated = f"{review.key}:{which}" if which else review.key
                said[name].people[rated][review.rater] = _value(answer)
    unheard = sum(review.heard < HEARD for review in kept.reviews)
    told = f"{unheard} of {len(kept.reviews)} reviews were given before half of the clip was played; they count"
    return said, groups, (*kept.damaged, *remarks, *([told] if unheard else []))


def _leading(
    benchmark: Benchmark, item: Mapping[str, Any], folder: Path, judges: Sequence[Seated]
) -> Mapping[str, Sequence[frozenset[str]]]:
    """Return the names of the verdicts that go first under the leading variant, by the digest of the judge.

    First those that something measured rests on, as this judge judged; then all others that the variant asks for.
    """
    scenario = scenario_of(benchmark, item)
    if scenario is None or not scenario.asks:
        return {}
    trial = trial_or_failure(folder, benchmark.hearing.name)
    asked = frozenset(name for asks in scenario.asks for name, _ in asks.questions(trial))
    made = {}
    for judge in judges:
        one = with_verdicts(trial, folder, (judge,))
        count = (name for asks in scenario.asks for name in counting(scenario, one, asks.verdict))
        made[judge.spec.digest] = (frozenset(count), asked)
    return made


def _of_judges(
    folder: Path,
    key: str,
    judges: tuple[Seated, ...],
    said: Mapping[str, Said],
    leading: Mapping[str, Sequence[frozenset[str]]],
) -> None:
    by_digest = {judge.spec.digest: judge for judge in judges}

    def late(kept: Kept) -> tuple[list[bool], str]:
        return [kept.name not in names for names in leading.get(kept.judge.digest, ())], kept.name

    for kept in sorted(read_verdicts(folder), key=late):
        judge = by_digest.get(kept.judge.digest)
        verdict = kept.verdict
        name, _, which = kept.name.partition(":")
        if name not in said or judge is None:
            continue
        if judge.rubrics.get(name, {}).get("digest") not in (None, kept.rubric_digest):
            continue
        # One question of the item's reply, which people are asked without its name.
        item = f"{key}:{which}" if which and not which.startswith("@") else key
        if which.startswith("@") and item in said[name].votes[_named(judge, judges)]:
            continue  # another reply, or as other rules cut it; the one that the leading rules count was first
        # Votes that tie make no verdict, and are the least stable of all.
        votes = tuple(_value(vote.value) for vote in kept.votes if vote.value is not None)
        said[name].votes[_named(judge, judges)][item] = votes
        if isinstance(verdict, Verdict):
            value = _value(verdict.value)
            said[name].judges[_named(judge, judges)][item] = Verdict(value, tuple(map(_value, verdict.votes)))
    for name, given in trial_or_failure(folder).verdicts.items():
        if name in said and isinstance(given, Verdict) and given.by == RECORDED:
            said[name].judges[RECORDED][key] = Verdict(_value(given.value))


def _named(judge: Seated, judges: tuple[Seated, ...]) -> str:
    """Return a judge's name, with the beginning of its digest where two have the same."""
    alike = sum(1 for one in judges if one.name == judge.name) + (judge.name == RECORDED)
    return judge.name if alike == 1 else f"{judge.name} ({judge.spec.digest[:6]})"


def _value(value: Value) -> Value:
    return plain_label(value) if isinstance(value, str) else float(value)


def _of_one_kind(verdict: str, level: Level, said: Said) -> tuple[str, ...]:
    """Take out what is a number among labels or a label among numbers; return a sentence where there was any."""
    kind, lost = (float if level == "ordinal" else str), 0
    for given in said.people.values():
        for rater in [rater for rater, value in given.items() if not isinstance(value, kind)]:
            del given[rater]
            lost += 1
    for verdicts in said.judges.values():
        for item in [item for item, found in verdicts.items() if not isinstance(found.value, kind)]:
            del verdicts[item]
            lost += 1
    what = "numbers" if level == "ordinal" else "labels"
    return (f"{verdict}: {lost} answers that are no {what} are left out",) if lost else ()


def _widened(scale: tuple[Value, ...], level: Level, said: Said) -> tuple[Value, ...]:
    """Return the scale with what was said beside it: a released prompt's ``C_IGNORE`` or 7 is wrong, not absent."""
    seen = {value for given in said.people.values() for value in given.values()}
    seen |= {found.value for verdicts in said.judges.values() for found in verdicts.values()}
    beside = sorted(seen - set(scale), key=lambda value: (str(type(value)), value))
    return tuple(sorted((*scale, *beside), key=float)) if level == "ordinal" else (*scale, *beside)


def _name_judges(verdicts: Sequence[dict[str, Any]], judges: tuple[Seated, ...]) -> None:
    """Add which judge each figure is of, and by which words: another rubric's agreement is not this one's."""
    for one in verdicts:
        for judge in judges:
            known = one["judges"].get(_named(judge, judges))
            if known is not None:
                rubric = judge.rubrics.get(one["verdict"], {}).get("digest", "")
                known |= {"digest": judge.spec.digest, "rubric": rubric}


def _agreed(
    verdict: str, level: Level, labels: tuple[Value, ...], said: Said, groups: Mapping[str, str], seed: int
) -> Agreed:
    ratings = {item: dict(given) for item, given in said.people.items() if given}
    raters = {rater for given in ratings.values() for rater in given}
    judges = {
        name: replace(
            trust(name, said.judges.get(name, {}), ratings, level, labels, groups, seed),
            votes=stability(said.votes.get(name, {}), groups, seed),
        )
        for name in sorted({*said.judges, *said.votes})
    }
    among: dict[str, Estimate] = {}
    if len(raters) > 1:
        among = {
            "percent": percent_agreement(ratings, groups, seed),
            "fleiss_kappa": fleiss_kappa(ratings, groups=groups, seed=seed),
            "alpha": krippendorffs_alpha(ratings, level, labels, groups, seed),
        }
    between = {}
    for a, b in combinations(sorted(said.judges), 2):
        both = said.judges[a].keys() & said.judges[b].keys()
        table = {item: {a: said.judges[a][item].value, b: said.judges[b][item].value} for item in sorted(both)}
        if table:
            between[a, b] = {
                "percent": percent_agreement(table, groups, seed),
                "kappa": cohens_kappa(table, (a, b), None, labels, groups, seed),
            }
    tables = {}
    for name, verdicts in said.judges.items():
        values = {item: verdict.value for item, verdict in verdicts.items()}
        found = confusion(values, ratings, labels)
        classes = per_class(values, ratings, labels, groups, seed)
        tables[name] = {
            "labels": list(found.labels),
            "confusion": [list(row) for row in found.table],
            "classes": [asdict(one) for one in classes],
        }
    return Agreed(verdict, level, len(ratings), len(raters), among, judges, between, tables)


def to_json(one: Agreed) -> dict[str, Any]:
    """Return the agreement on one verdict as a JSON object."""
    return {
        "verdict": one.verdict,
        "level": one.level,
        "items_rated": one.items,
        "raters": one.raters,
        "among_people": {name: asdict(found) for name, found in one.among_people.items()},
        "judges": {
            name: {"validated": known.validated, "told": known.told(), **asdict(known), **one.tables.get(name, {})}
            for name, known in one.judges.items()
        },
        "between": [
            {"judges": list(pair), **{name: asdict(found) for name, found in both.items()}}
            for pair, both in one.between.items()
        ],
    }
