"""Runs side by side, item by item.

Only what was measured alike is compared: the same benchmark, variant, listening and
items. Anything else is refused with what differs and what to do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from urllib.parse import quote

from fullduplex.errors import RunError, printable
from fullduplex.measures.permutation import Paired, holm, paired
from fullduplex.model.trials import Absent
from fullduplex.reporting.alike import (
    Key,
    Measured,
    RunValues,
    common_keys,
    from_estimates,
    items_must_agree,
    must_agree,
)
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.rows import figure, interval, label
from fullduplex.reporting.tables import markdown_text

__all__ = [
    "Change",
    "Comparison",
    "Difference",
    "Measured",
    "RunValues",
    "compare",
    "favours",
    "from_estimates",
    "markdown",
    "to_json",
]

#: How many of the largest changes of a mean are kept.
LARGEST = 10
#: An adjusted p below this is called a difference.
SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class Change:
    """An item on which two runs differ, with both values and both recordings."""

    item: str
    a: float
    b: float
    audio_a: str = ""
    audio_b: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric of one scenario in two runs.

    ``value_a`` and ``value_b`` are means over the n pairs, ``paired.effect`` is b - a, and
    ``adjusted`` its p after Holm over every line of the comparison. ``unpaired`` counts the items
    without a pair by reason, ``unpaired_items`` names them; ``changes`` are all flips of a
    rate, or the largest changes of a mean, largest first.
    """

    scenario: str
    metric: str
    a: str
    b: str
    measured: Measured
    value_a: float | None
    value_b: float | None
    paired: Paired
    adjusted: float | None
    unpaired: Mapping[str, int]
    unpaired_items: tuple[tuple[str, str], ...]
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every run against the first.

    ``left_out`` counts, by sentence, what was set aside because ``only_common`` allowed it. ``clocks``: what
    time was in each run's talks; empty where its recordings were given.
    """

    benchmark: str
    variant: str
    version: str
    runs: tuple[str, ...]
    differences: tuple[Difference, ...]
    left_out: Mapping[str, int]
    clocks: Mapping[str, str] = field(default_factory=dict)

    def remark(self, tell: Language = ENGLISH) -> str:
        """Return what a reader has to know of the clocks; empty where all runs kept one."""
        kept = {name: clock or "as recorded" for name, clock in self.clocks.items()}
        if len(set(kept.values())) < 2 and "step-algorithmic" not in kept.values():
            return ""
        if len(set(kept.values())) < 2:
            return tell("The talks' work took declared times, so latencies are simulated.")
        told = ", ".join(f"{name}{tell(': ')}{tell.kept(clock)}" for name, clock in kept.items())
        return tell(
            "Latencies of different clocks are different things, and these runs kept several ({told}).", told=told
        )


def compare(
    runs: Mapping[str, RunValues], seed: int = 0, *, only_common: bool = False, resamples: int = 10_000
) -> Comparison:
    """Return how each later run differs from the first, metric by metric.

    A pair is an item with a value in both. p is from a sign-flip permutation by group, adjusted by
    Holm over the whole table; the interval from a bootstrap of groups of pairs (see
    :func:`fullduplex.measures.permutation.paired`).

    Raises RunError when benchmark, version, variant, listening, a metric's version, an
    item's group, or the metrics or items differ. With ``only_common``, metrics and items that
    only one run has are set aside and counted, and nothing in common is refused.
    """
    if len(runs) < 2:
        raise RunError("a comparison takes at least two runs; name another")
    (first, base), *others = runs.items()
    left_out: dict[str, int] = {}
    found: list[Difference] = []
    for name, run in others:
        must_agree(first, base, name, run)
        keys = common_keys(first, base, name, run, left_out, only_common)
        if not keys:
            raise RunError(
                f"{printable(name)} and {printable(first)} have no metric in common; score both on the same data"
            )
        for key in keys:
            items_must_agree(key, first, base, name, run, left_out, only_common)
            found.append(_difference(key, first, base, name, run, seed, resamples))
    tested = [i for i, one in enumerate(found) if one.paired.p is not None]
    for i, adjusted in zip(tested, holm([found[i].paired.p or 0.0 for i in tested]), strict=True):
        found[i] = replace(found[i], adjusted=adjusted)
    clocks = {name: run.clock for name, run in runs.items()}
    return Comparison(base.benchmark, base.variant, base.version, tuple(runs), tuple(found), left_out, clocks)


def _difference(
    key: Key, first: str, base: RunValues, name: str, run: RunValues, seed: int, resamples: int
) -> Difference:
    scenario, metric = key
    measured = base.measured[key]
    mine, theirs = measured.items, run.measured[key].items
    a: dict[str, float] = {}
    b: dict[str, float] = {}
    unpaired: list[tuple[str, str]] = []
    for item in sorted(mine.keys() & theirs.keys()):
        left, right = mine[item], theirs[item]
        if isinstance(left, Absent) or isinstance(right, Absent):
            unpaired.append((item, _why_unpaired(first, left, name, right)))
        else:
            a[item], b[item] = left, right
    found = paired(a, b, base.groups.get(scenario, {}), seed, resamples)
    sound_a, sound_b = base.audio.get(scenario, {}), run.audio.get(scenario, {})
    moved = [Change(i, a[i], b[i], sound_a.get(i, ""), sound_b.get(i, "")) for i in a if a[i] != b[i]]
    if measured.kind not in ("rate", "share"):
        moved = sorted(moved, key=lambda change: (-abs(change.b - change.a), change.item))[:LARGEST]
    return Difference(
        scenario,
        metric,
        first,
        name,
        measured,
        sum(a.values()) / len(a) if a else None,
        sum(b.values()) / len(b) if b else None,
        found,
        None,
        dict(Counter(reason for _, reason in unpaired).most_common()),
        tuple(unpaired),
        tuple(moved),
    )


def _why_unpaired(first: str, left: float | Absent, name: str, right: float | Absent) -> str:
    """Return which of the two runs lacks a value, and why."""
    why = {run: value.reason for run, value in ((first, left), (name, right)) if isinstance(value, Absent)}
    if len(why) == 2 and why[first] == why[name]:
        return f"both: {why[first]}"
    return "; ".join(f"{run}: {reason}" for run, reason in why.items())


def to_json(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison as a JSON object: one entry in ``differences`` for each metric of each later run."""
    return {
        "benchmark": comparison.benchmark,
        "variant": comparison.variant,
        "version": comparison.version,
        "runs": list(comparison.runs),
        "differences": [_one_json(one) for one in comparison.differences],
        "left_out": dict(comparison.left_out),
        "clocks": dict(comparison.clocks),
    }


def _one_json(one: Difference) -> dict[str, Any]:
    names = ("scenario", "metric", "a", "b", "value_a", "value_b")
    return {
        **{name: getattr(one, name) for name in names},
        **{name: getattr(one.measured, name) for name in ("title", "unit", "better", "kind")},
        **{name: getattr(one.paired, name) for name in ("effect", "low", "high", "n", "p")},
        "p_holm": one.adjusted,
        "method": one.paired.method,
        "unpaired": dict(one.unpaired),
        "unpaired_items": [{"item": item, "reason": reason} for item, reason in one.unpaired_items],
        "changes": [asdict(change) for change in one.changes],
    }


def markdown(comparison: Comparison, tell: Language = ENGLISH) -> str:
    """Return the comparison as Markdown: for each later run its table, then the items behind each line."""
    first = comparison.runs[0]
    heading = markdown_text(f"{comparison.benchmark}@{comparison.variant}")
    tested = sum(one.adjusted is not None for one in comparison.differences)
    colon = tell(": ")
    parts = [f"# {heading}{colon}{tell('differences from {run}', run=markdown_text(first))}"]
    parts += [
        f"{tell('Set aside')}{colon}{markdown_text(tell.of(what))}{colon}{count}."
        for what, count in comparison.left_out.items()
    ]
    if remark := comparison.remark(tell):
        parts.append(f"**{markdown_text(remark)}**")
    parts.append(
        tell(
            "Each line pairs the items that have a value in both runs. Difference: the later run minus the first. p: "
            "sign-flip permutation, two-sided; Holm over the {n} lines that have one. A line favours a run when its "
            "adjusted p is below {limit} and a direction is better.",
            n=tested,
            limit=tell.digits(str(SIGNIFICANT)),
        )
    )
    for name in comparison.runs[1:]:
        lines = [one for one in comparison.differences if one.b == name]
        against = tell("{run} against {first}", run=markdown_text(name), first=markdown_text(first))
        parts += [f"## {against}", _table(first, name, lines, tell)]
        for one in lines:
            if one.changes:
                parts += [f"### {_title(one, tell)}{colon}{_what_moved(one, tell)}", _changes(one, tell)]
            if one.unpaired:
                parts += [f"### {_title(one, tell)}{colon}{tell('without a pair')}", _unpaired(one, tell)]
    parts.append("\n".join(f"- {line}" for line in _methods(comparison.differences, tell)))
    return "\n\n".join(parts) + "\n"


def favours(one: Difference) -> str:
    """Return the run that is better on this line beyond chance (adjusted p below 0.05); "" for neither."""
    effect = one.paired.effect
    if one.adjusted is None or one.adjusted >= SIGNIFICANT or not effect or one.measured.better == "neither":
        return ""
    return one.b if (effect > 0) == (one.measured.better == "higher") else one.a


def _table(first: str, name: str, differences: Sequence[Difference], tell: Language) -> str:
    texts = ["Difference", "95 % interval", "n pairs", "p", "p (Holm)", "Favours", "Without a pair"]
    heads = [tell("Scenario"), tell("Metric"), first, name, *(tell.of(text) for text in texts)]
    lines = [heads, ["---", "---", *["---:"] * 3, "---", *["---:"] * 3, "---", "---"]]
    for one in differences:
        unit, found = one.measured.unit, one.paired
        cells = [tell.of(one.measured.scenario_title or one.scenario), _metric(one, tell)]
        cells += [figure(one.value_a, unit, tell), figure(one.value_b, unit, tell), _signed(found.effect, unit, tell)]
        cells += [interval({"low": found.low, "high": found.high, "unit": unit}, tell) or "—", str(found.n)]
        cells += [_p(found.p, tell), _p(one.adjusted, tell), favours(one)]
        cells.append(tell("; ").join(f"{count} × {tell.of(reason)}" for reason, count in one.unpaired.items()))
        lines.append(cells)
    return "\n".join(f"| {' | '.join(line if i == 1 else map(markdown_text, line))} |" for i, line in enumerate(lines))


def _methods(differences: Sequence[Difference], tell: Language) -> list[str]:
    """Return each method with the lines that it served."""
    served: dict[str, list[str]] = {}
    for one in differences:
        served.setdefault(one.paired.method, []).append(_title(one, tell))
    return [
        f"{markdown_text(tell.of(method))}{tell(': ')}{tell('; ').join(titles)}" for method, titles in served.items()
    ]


def _metric(one: Difference, tell: Language) -> str:
    return label({"metric": one.metric, "title": one.measured.title, "better": one.measured.better}, tell)


def _title(one: Difference, tell: Language) -> str:
    scenario, metric = one.measured.scenario_title or one.scenario, one.measured.title or one.metric
    return markdown_text(f"{tell.of(scenario)}, {tell.of(metric)}")


def _what_moved(one: Difference, tell: Language) -> str:
    if one.measured.kind in ("rate", "share"):
        up = sum(change.b > change.a for change in one.changes)
        few, many = (
            "{n} flip ({up} from 0 to 1, {down} from 1 to 0)",
            "{n} flips ({up} from 0 to 1, {down} from 1 to 0)",
        )
        return tell.plural(few, many, len(one.changes), up=up, down=len(one.changes) - up)
    return tell.plural("the largest change", "the {n} largest changes", len(one.changes))


def _changes(one: Difference, tell: Language) -> str:
    unit = one.measured.unit if one.measured.kind not in ("rate", "share") else "count"
    heads = [tell("Item"), one.a, one.b, tell("Difference"), tell("Listen")]
    lines = [" | ".join(map(markdown_text, heads)), "--- | ---: | ---: | ---: | ---"]
    for change in one.changes:
        sounds = [_link(name, audio) for name, audio in ((one.a, change.audio_a), (one.b, change.audio_b)) if audio]
        cells = [markdown_text(change.item), figure(change.a, unit, tell), figure(change.b, unit, tell)]
        lines.append(" | ".join([*cells, _signed(change.b - change.a, unit, tell), " · ".join(sounds)]))
    return "\n".join(f"| {line} |" for line in lines)


def _unpaired(one: Difference, tell: Language) -> str:
    by_reason: dict[str, list[str]] = {}
    for item, reason in one.unpaired_items:
        by_reason.setdefault(reason, []).append(markdown_text(item))
    return "\n".join(
        f"- {markdown_text(tell.of(reason))}{tell(': ')}{', '.join(items)}" for reason, items in by_reason.items()
    )


def _link(name: str, audio: str) -> str:
    # Quoted whole, a path cannot leave the brackets or become a scheme of its own.
    return f"[{markdown_text(name)}](<{quote(audio, safe='/#')}>)"


def _signed(value: float | None, unit: str, tell: Language) -> str:
    text = figure(value, unit, tell)
    return f"+{text}" if value is not None and value > 0 else text


def _p(p: float | None, tell: Language) -> str:
    if p is None:
        return "—"
    return f"< {tell.digits('0.001')}" if p < 0.001 else tell.digits(f"{p:.3f}")
