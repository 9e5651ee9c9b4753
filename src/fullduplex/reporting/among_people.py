"""Systems beside people on the same items: how far each is from a metric's optimum, and from people.

People do not score best: what a metric asks for and what is natural may part. So each number has two distances, and a
place among people's conversations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fullduplex.measures.conversation import standing
from fullduplex.measures.metric import Metric
from fullduplex.measures.permutation import Paired, paired
from fullduplex.model.trials import Absent
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.people_text import Figure, table
from fullduplex.reporting.rows import figure, label
from fullduplex.reporting.tables import markdown_text
from fullduplex.runs.measured import Column, Measured
from fullduplex.runs.run import Run, driven_item

#: A percentile among fewer conversations is one of a few steps, and is not given.
FEWEST = 5
Pair = tuple[Run, Measured]


def optimum(metric: Metric) -> float | None:
    """Return the best value that a metric can have; None where neither end is better, or the best end is open.

    A rate or a share: 1 or 0; a rating of 0 to 5: 5 or 0; what is better lower and cannot be below 0: 0.
    """
    if metric.better == "neither":
        return None
    if metric.better == "lower":
        return 0.0
    if metric.kind in ("rate", "share") or metric.unit == "share":
        return 1.0
    low, dash, high = metric.unit.partition("-")
    return float(high) if dash and low.isdigit() and high.isdigit() else None


def among_people(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """Return a row for each system, variant, scenario and metric that people have too; none without a run of people.

    ``value``, ``low``, ``high``, ``n``; ``people`` (theirs), ``optimum`` and ``to_optimum`` (how far from it, both as
    ``value`` less optimum), ``people_to_optimum``; ``to_people``: the mean of system − people over the ``pairs``
    items of both (of an item's repeats their mean), with ``to_people_low`` and ``to_people_high``; ``percentile``
    among people's ``conversations``, None with ``why`` where these are fewer than 5; ``nearer``: whether the value is
    nearer to the optimum than people's.
    """
    theirs = next(((run, measured) for run, measured in pairs if run.about.get("people")), None)
    if theirs is None:
        return []
    run, people = theirs
    seed = int(run.about.get("seed", 0))
    made = []
    for other, measured in pairs:
        if other.path == run.path:
            continue
        for benchmark in measured.benchmarks:
            estimates = {(c.scenario.name, c.metric.name): e for c, e in people.estimates(benchmark.variant, seed)}
            for column, found in measured.estimates(benchmark.variant, seed):
                key = benchmark.variant, column.scenario.name, column.metric.name
                own = people.columns.get(key)
                if own is None or column.metric.family:
                    continue
                best = optimum(column.metric)
                its = estimates[key[1:]]
                made.append(
                    {
                        "people_run": run.system, "system": other.system, "variant": key[0], "scenario": key[1],
                        "scenario_title": column.scenario.title or key[1], "metric": key[2],
                        "title": column.metric.title or key[2], "better": column.metric.better,
                        "unit": column.metric.unit, "value": found.value, "low": found.low, "high": found.high,
                        "n": found.n, "people": its.value, "people_n": its.n, "optimum": best,
                        "to_optimum": _less(found.value, best), "people_to_optimum": _less(its.value, best),
                        "nearer": _nearer(_less(found.value, best), _less(its.value, best)),
                        **_to_people(own, people, column, measured, seed),
                        **_placed(found.value, own, people),
                    }
                )  # fmt: skip
    return made


def _less(value: float | None, best: float | None) -> float | None:
    return None if value is None or best is None else value - best


def _nearer(own: float | None, people: float | None) -> bool:
    return own is not None and people is not None and abs(own) < abs(people)


def past_people(rows: Sequence[Mapping[str, Any]], tell: Language = ENGLISH) -> str:
    """Return a sentence that says on how many numbers people are not best; "" where they are on all."""
    with_one = [row for row in rows if row["to_optimum"] is not None and row["people_to_optimum"] is not None]
    nearer = sum(row["nearer"] for row in with_one)
    if not nearer:
        return ""
    return tell.plural(
        "{n} of {all} values with an optimum is nearer to it than people’s: there people are not best, and nearer is "
        "no more natural. What a metric asks for and what is natural may part.",
        "{n} of {all} values with an optimum are nearer to it than people’s: there people are not best, and nearer is "
        "no more natural. What a metric asks for and what is natural may part.",
        nearer,
        all=tell.digits(f"{len(with_one):,}"),
    )


def values_of(column: Column, measured: Measured) -> Iterator[tuple[str, str, float]]:
    """Yield the item, its group and its value, of each item of a column that has one."""
    for item, number, reason in zip(column.items, column.numbers, column.reasons, strict=True):
        if not reason:
            yield measured.names[item], measured.groups[item], number


def _to_people(own: Column, people: Measured, column: Column, measured: Measured, seed: int) -> dict[str, Any]:
    theirs = {name: (group, number) for name, group, number in values_of(own, people)}
    its: dict[str, list[float]] = defaultdict(list)
    for name, _, number in values_of(column, measured):
        its[name if name in theirs else driven_item(name)].append(number)
    common = sorted(theirs.keys() & its.keys())
    found: Paired = paired(
        {name: theirs[name][1] for name in common},
        {name: sum(its[name]) / len(its[name]) for name in common},
        {name: theirs[name][0] for name in common},
        seed,
    )
    return {
        "to_people": found.effect, "to_people_low": found.low, "to_people_high": found.high, "to_people_p": found.p,
        "pairs": found.n,
    }  # fmt: skip


def _placed(value: float | None, own: Column, people: Measured) -> dict[str, Any]:
    talks: dict[str, list[float]] = defaultdict(list)
    for name, group, number in values_of(own, people):
        talks[group or name].append(number)
    made: dict[str, Any] = {"percentile": None, "conversations": len(talks), "why": ""}
    if value is None:
        return made | {"why": "no value"}
    if len(talks) < FEWEST:
        return made | {"why": f"fewer than {FEWEST} conversations of people"}
    found = standing(value, [sum(numbers) / len(numbers) for numbers in talks.values()])
    return made | ({"why": found.reason} if isinstance(found, Absent) else {"percentile": found.percentile})


def among_people_markdown(pairs: Sequence[Pair], tell: Language = ENGLISH) -> str:
    """Return the rows of :func:`among_people` as Markdown, a table for each variant; "" without a run of people."""
    rows = among_people(pairs)
    if not rows:
        return ""
    parts = [f"## {tell('Beside {name}', name=markdown_text(rows[0]['people_run']))}\n"]
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    for variant in variants:
        if len(variants) > 1:
            parts.append(f"### {markdown_text(variant)}\n")
        its = [row for row in rows if row["variant"] == variant]
        parts += [_table(its, tell), ""]
        parts += [f"{past}\n"] if (past := past_people(its, tell)) else []
    said = tell(
        "Optimum: the best value that a metric can have; to it: value less optimum. To people: the mean of system less "
        "people over the items that both have, with its 95 % interval. Percentile: the value's place among people's "
        "conversations, of {n} or more. Their items were chosen for what these people did.",
        n=FEWEST,
    )
    parts.append(f"{said}\n")
    return "\n".join(parts)


def _table(rows: Sequence[Mapping[str, Any]], tell: Language) -> str:
    head = [
        "System", "Scenario", "Metric", "Value", "People", "Optimum", "To it", "People to it", "To people (pairs)",
        "Percentile (conversations)",
    ]  # fmt: skip
    return table([tell.of(name) for name in head], [_line(row, tell) for row in rows])


def _line(row: Mapping[str, Any], tell: Language) -> list[str]:
    unit = str(row["unit"])
    to_people = "—"
    if row["to_people"] is not None:
        low, high = row["to_people_low"], row["to_people_high"]
        ends = {"low": signed(low, unit, tell), "high": signed(high, unit, tell)}
        interval = "" if low is None else f" {tell('[{low}, {high}]', **ends)}"
        to_people = f"{signed(row['to_people'], unit, tell)}{interval} ({row['pairs']})"
    why = tell.of(row["why"])
    place = f"— ({why})" if row["percentile"] is None else f"{row['percentile']:.0f} ({row['conversations']})"
    return [
        row["system"], tell.of(row["scenario_title"]), label(row, tell),
        f"{figure(row['value'], unit, tell)} (n {row['n']})",
        f"{figure(row['people'], unit, tell)} (n {row['people_n']})", figure(row["optimum"], unit, tell),
        signed(row["to_optimum"], unit, tell), signed(row["people_to_optimum"], unit, tell), Figure(to_people), place,
    ]  # fmt: skip


def signed(value: float | None, unit: str, tell: Language = ENGLISH) -> str:
    """Return a difference with its sign; — where there is none."""
    text = figure(value, unit, tell)
    return f"+{text}" if value is not None and value > 0 else text
