"""How speech changes over an event: each feature before, after and in the clean twin, with paired tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fullduplex.measures.permutation import holm
from fullduplex.measures.significance import FeatureTest, PairedTest, paired_tests, released_tests
from fullduplex.model.trials import Absent
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.rows import figure, interval
from fullduplex.runs.measured import Column, Measured

FAMILY = "speech features"
#: From what to what, in the words of the tables, and in those of the released script.
COMPARISONS = (("before", "after", "pre_vs_post"), ("clean", "after", "clean_vs_post"))
_SILENT = -190.0
#: Below this many pairs a spread of changes says nothing, and no d_z is shown.
FEWEST = 5
_OFFICIAL = {"before": "pre", "after": "post", "clean": "clean"}

Values = dict[str, float | Absent | None]


def speech_rows(measured: Measured, variant: str, seed: int) -> list[dict[str, Any]]:
    """Return a row for each scenario, comparison and feature of ``variant``; none where it measures no speech.

    ``scenario``, ``comparison`` (``before to after``, ``clean to after``), ``feature``, ``title``, ``unit``, ``n``,
    ``before``, ``after``, ``change``, ``low``, ``high``, ``p``, ``p_holm``, ``d_z``, ``absent``, ``method``. Holm's
    correction is over the features of one scenario and comparison. Under ``released`` rules a row has ``released``
    too: the script's own t test over the samples that responded, trimmed by MAD.
    """
    made: list[dict[str, Any]] = []
    by_scenario: dict[str, list[Column]] = {}
    for column in measured.columns.values():
        if column.variant == variant and column.metric.family == FAMILY:
            by_scenario.setdefault(column.scenario.name, []).append(column)
    for scenario, columns in by_scenario.items():
        values = {column.metric.name: _values(measured, column) for column in columns}
        named = {column.metric.name: column for column in columns}
        features = list(dict.fromkeys(name.rpartition("_")[0] for name in values))
        theirs = _released(measured, variant, scenario, values, features)
        groups = dict(zip(measured.names, measured.groups, strict=True))
        for first, second, official in COMPARISONS:
            tests = paired_tests(
                # An optional feature that was measured nowhere on one side has no column there.
                {feature: values.get(f"{feature}_{first}", {}) for feature in features},
                {feature: values.get(f"{feature}_{second}", {}) for feature in features},
                groups if any(groups.values()) else None,
                seed,
            )
            for feature, test in zip(features, tests, strict=True):
                column = next(c for name, c in named.items() if name.rpartition("_")[0] == feature)
                row = _row(column, f"{first} to {second}", feature, test)
                released = theirs.get(f"{official}:{feature}")
                made.append(row | ({"released": released} if released is not None else {}))
    return made


def speech_markdown(rows: Mapping[str, Sequence[Mapping[str, Any]]], tell: Language = ENGLISH) -> str:
    """Return the tables of speech before and after by variant in Markdown; "" where there are none."""
    parts = []
    for variant, found in rows.items():
        if not any(row["n"] for row in found):
            continue
        several = len({row.get("system") for row in found}) > 1
        head = ["System"] if several else []
        head += ["Scenario", "Feature", "From, to", "From", "To", "Change", "95 % interval"]
        head += ["n", "p", "p, corrected", "d_z"]
        lines = [[tell.of(name) for name in head], ["---"] * len(head)]
        for row in (row for row in found if row["n"]):
            lines.append([*([str(row.get("system", ""))] if several else []), *_cells(row, tell)])
        theirs = [row for row in found if row.get("released") and row["released"]["p"] is not None]
        parts.append(f"## {tell('Speech before and after, {variant}', variant=variant)}\n")
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
        said = tell(
            "Change: to less from, paired over the items that have both. p: permutation of signs; corrected by "
            "Holm's method over the features of a scenario and comparison. d_z: the change over the spread of the "
            "changes, from five pairs on. Intervals of fewer than 20 are too narrow."
        )
        parts.append(f"\n{said}\n")
        if theirs:
            head_line = tell(
                "As the released script tests it (samples judged C_RESPOND, outliers trimmed by MAD, paired t):"
            )
            parts.append(f"{head_line}\n")
            parts += [f"- {_released_text(row, tell)}" for row in theirs]
            parts.append("")
    return "\n".join(parts)


def _cells(row: Mapping[str, Any], tell: Language) -> list[str]:
    unit = str(row["unit"])
    size = "—" if row["d_z"] is None or row["n"] < FEWEST else tell.digits(f"{row['d_z']:.2f}")
    return [
        tell.of(str(row["scenario_title"])), f"{tell.of(str(row['title']))} ({tell.kept(unit)})",
        tell.of(str(row["comparison"])),
        figure(row["before"], unit, tell), figure(row["after"], unit, tell), figure(row["change"], unit, tell),
        interval(row, tell) or "—", str(row["n"]), figure(row["p"], "", tell), figure(row["p_holm"], "", tell), size,
    ]  # fmt: skip


def _released_text(row: Mapping[str, Any], tell: Language) -> str:
    its = row["released"]
    where = ", ".join(tell.of(str(row[key])) for key in ("scenario_title", "title", "comparison"))
    numbers = {key: tell.digits(f"{its[key]:.2f}") for key in ("before", "after", "t", "d_z")}
    numbers |= {key: tell.digits(f"{its[key]:.3f}") for key in ("p", "p_holm")}
    counts = {key: its[key] for key in ("df", "n", "n_removed")}
    text = "{before} to {after}, t({df}) = {t}, p = {p}, Holm {p_holm}, d_z = {d_z}, n = {n}, {n_removed} trimmed"
    return f"{where}{tell(': ')}{tell(text, **numbers, **counts)}"


def _values(measured: Measured, column: Column) -> Values:
    return {
        measured.names[item]: Absent(reason) if reason else _plain(column, number)
        for item, number, reason in zip(column.items, column.numbers, column.reasons, strict=True)
    }


def _plain(column: Column, number: float) -> float | Absent:
    """Return ``number``, Absent where it is what the released script writes for nothing: 0, or -200 dB."""
    if not column.variant.startswith("released"):
        return number
    if number == 0 or (column.metric.name.startswith("mean_intensity") and number <= _SILENT):
        return Absent("nothing measured")
    return number


def _row(column: Column, comparison: str, feature: str, test: FeatureTest) -> dict[str, Any]:
    return {
        "scenario": column.scenario.name,
        "scenario_title": column.scenario.title,
        "comparison": comparison,
        "feature": feature,
        "title": column.metric.title.rpartition(",")[0],
        "unit": column.metric.unit,
        "n": test.n,
        "before": test.mean_before,
        "after": test.mean_after,
        "change": test.effect,
        "low": test.low,
        "high": test.high,
        "p": test.p,
        "p_holm": test.p_holm,
        "d_z": test.d_z,
        "absent": dict(test.absent),
        "method": test.method,
    }


def _released(
    measured: Measured, variant: str, scenario: str, values: Mapping[str, Values], features: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return the released script's tests by its own names; nothing for other rules."""
    responds = measured.columns.get((variant, scenario, "respond"))
    if not variant.startswith("released") or responds is None:
        return {}
    rows: list[dict[str, dict[str, float]]] = []
    for item, share in _values(measured, responds).items():
        if not isinstance(share, float) or share <= 0:
            continue
        row: dict[str, dict[str, float]] = {}
        for feature in features:
            for part, official in _OFFICIAL.items():
                value = values.get(f"{feature}_{part}", {}).get(item)
                if isinstance(value, float):
                    row.setdefault(official, {})[feature] = value
        rows.append(row)
    tests = released_tests(rows)
    adjusted = iter(holm([test.p for test in tests if test.p is not None]))
    return {test.name: _released_row(test, None if test.p is None else next(adjusted)) for test in tests}


def _released_row(test: PairedTest, p_holm: float | None) -> dict[str, Any]:
    return {
        "n": test.n, "n_removed": test.n_removed, "before": test.mean_before, "after": test.mean_after,
        "change": test.delta, "low": test.low, "high": test.high, "t": test.t, "df": test.df, "p": test.p,
        "d_z": test.d_z, "why": test.why, "absent": dict(test.absent), "p_holm": p_holm,
    }  # fmt: skip
