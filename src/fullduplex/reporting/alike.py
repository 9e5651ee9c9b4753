"""What a run holds that a comparison needs, and whether two runs were measured alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from fullduplex.errors import RunError, printable
from fullduplex.measures.metric import Better
from fullduplex.model.trials import Absent

#: A scenario and a metric.
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Measured:
    """One metric in one scenario of a run: what each item gave, and how to read it."""

    items: Mapping[str, float | Absent]
    kind: Literal["rate", "mean"] = "mean"
    better: Better = "neither"
    unit: str = ""
    title: str = ""
    scenario_title: str = ""
    version: str = "1"


@dataclass(frozen=True, slots=True)
class RunValues:
    """What a run holds that a comparison needs.

    ``measured`` is by (scenario, metric). ``groups`` (speaker or conversation) and ``audio`` (where
    to listen: a path or an address relative to the report) are by scenario, then item.
    ``hearing`` stands for how the recordings were heard. ``clock`` is what time was in its talks; empty
    where recordings were given.
    """

    benchmark: str
    variant: str
    version: str
    measured: Mapping[Key, Measured]
    hearing: str = ""
    clock: str = ""
    groups: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    audio: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def from_estimates(
    table: Mapping[str, Any],
    *,
    hearing: str = "",
    clock: str = "",
    audio: Mapping[str, Mapping[str, str]] | None = None,
) -> RunValues:
    """Return the values of one variant's table, in the shape of ``estimates.json``.

    A metric is a rate when it is estimated as one, its unit is ``share`` and every value is 0 or 1. Metrics with a
    table of their own have tests of their own there, and are left out.
    """
    estimates = [estimate for estimate in table["estimates"] if not estimate.get("family")]
    items: dict[Key, dict[str, float | Absent]] = {(e["scenario"], e["metric"]): {} for e in estimates}
    groups: dict[str, dict[str, str]] = {}
    for fact in table["items"]:
        scenario, item, value = fact["scenario"], fact["item"], fact["value"]
        if (scenario, fact["metric"]) not in items:
            continue
        found = Absent(fact.get("absent", "no reason given")) if value is None else float(value)
        items[scenario, fact["metric"]][item] = found
        groups.setdefault(scenario, {})[item] = fact.get("group", "")
    measured: dict[Key, Measured] = {}
    for estimate in estimates:
        key = (estimate["scenario"], estimate["metric"])
        # A mean of shares may happen to be of noughts and ones: that makes it no rate.
        of_share = estimate["unit"] == "share" and estimate.get("kind", "rate") == "rate"
        rate = of_share and all(isinstance(v, Absent) or v in (0, 1) for v in items[key].values())
        measured[key] = Measured(
            items[key],
            "rate" if rate else "mean",
            estimate["better"],
            estimate["unit"],
            estimate.get("title", ""),
            estimate.get("scenario_title", ""),
        )
    return RunValues(
        table["benchmark"], table["variant"], table["version"], measured, hearing, clock, groups, audio or {}
    )


def must_agree(first: str, base: RunValues, name: str, run: RunValues) -> None:
    """Refuse runs of different benchmarks, versions, variants or listening."""
    a, b = printable(first), printable(name)
    for what, mine, theirs, do in (
        ("benchmark", base.benchmark, run.benchmark, "score both under one benchmark"),
        ("version", base.version, run.version, "score the older again"),
        ("variant", base.variant, run.variant, "score both under one variant"),
        ("listening", base.hearing, run.hearing, "listen to both alike"),
    ):
        if mine != theirs:
            raise RunError(
                f"{b} has {what} {printable(theirs) or 'not said'} where {a} has {printable(mine) or 'not said'}; {do}"
            )


def common_keys(
    first: str, base: RunValues, name: str, run: RunValues, left_out: dict[str, int], only_common: bool
) -> list[Key]:
    """Return the metrics that both runs have, in the first's order; refuse what only one has."""
    for owner, lacking, only in (
        (first, name, [key for key in base.measured if key not in run.measured]),
        (name, first, [key for key in run.measured if key not in base.measured]),
    ):
        if only:
            shown = ", ".join(f"{printable(metric)} in {printable(scenario)}" for scenario, metric in only[:3])
            sentence = f"{printable(owner)} has metrics that {printable(lacking)} lacks"
            if not only_common:
                more = f" and {len(only) - 3} more" if len(only) > 3 else ""
                raise RunError(
                    f"{sentence} ({shown}{more}); score both on the same data, or compare only what is common"
                )
            left_out[sentence] = len(only)
    keys = [key for key in base.measured if key in run.measured]
    for key in keys:
        mine, theirs = base.measured[key], run.measured[key]
        if (mine.version, mine.kind, mine.unit) != (theirs.version, theirs.kind, theirs.unit):
            of, where = printable(key[1]), printable(key[0])
            raise RunError(
                f"{of} in {where} is version {printable(theirs.version)} ({theirs.kind}, {printable(theirs.unit)}) in "
                f"{printable(name)} and version {printable(mine.version)} ({mine.kind}, {printable(mine.unit)}) in "
                f"{printable(first)}; measure the older again"
            )
    return keys


def items_must_agree(
    key: Key, first: str, base: RunValues, name: str, run: RunValues, left_out: dict[str, int], only_common: bool
) -> None:
    """Refuse items that only one run has, unless only common ones are asked for, and groups that differ."""
    mine, theirs = base.measured[key].items, run.measured[key].items
    only_mine, only_theirs = sorted(mine.keys() - theirs.keys()), sorted(theirs.keys() - mine.keys())
    if only_mine or only_theirs:
        if not only_common:
            raise RunError(
                f"{printable(key[0])}: {_some(only_mine)} only in {printable(first)}, {_some(only_theirs)} only in "
                f"{printable(name)}; score the same items, or compare with --only-common"
            )
        for owner, only in ((first, only_mine), (name, only_theirs)):
            if only:
                other = name if owner == first else first
                left_out[f"items of {printable(key[0])} in {printable(owner)}, not in {printable(other)}"] = len(only)
    groups, others = base.groups.get(key[0], {}), run.groups.get(key[0], {})
    for item in sorted(mine.keys() & theirs.keys()):
        mine_in, theirs_in = groups.get(item, ""), others.get(item, "")
        if mine_in != theirs_in:
            raise RunError(
                f"item {printable(item)} of {printable(key[0])} is in group {printable(theirs_in) or 'none'} in "
                f"{printable(name)} and in {printable(mine_in) or 'none'} in {printable(first)}; "
                f"score both from the same manifest"
            )


def _some(items: Sequence[str]) -> str:
    if not items:
        return "no item"
    shown = ", ".join(printable(item, 60) for item in items[:3]) + (", …" if len(items) > 3 else "")
    return f"{len(items)} item{'s' if len(items) > 1 else ''} ({shown})"
