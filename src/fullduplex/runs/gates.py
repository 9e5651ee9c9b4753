"""Gates: conditions on a run's table under which a build fails.

A gate is written ``[SCENARIO.]METRIC[.STAT] OP NUMBER`` and names what must not
be: ``latency.p90 > 1.2``, ``pause_handling.tor > 0.3``, ``tor.n < 100``,
``absent > 0``. What cannot be looked up has not been shown to be well: a gate on
something that is not there, or has no value, fails.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from fullduplex.benchmarks import find
from fullduplex.errors import InputError, PluginError, printable

OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
#: Statistics that an estimate holds; ``pNN`` (p1 to p99) and the rest are computed from its items.
OF_ESTIMATE = ("value", "low", "high", "n", "absent")
OF_ITEMS = ("mean", "median", "max", "min")

_GATE = re.compile(
    r"\s*([^\s<>=!]+)\s*(<=|>=|==|!=|<|>)\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?)\s*", re.IGNORECASE
)
_PERCENTILE = re.compile(r"p([1-9][0-9]?)")


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition that fails a build: what is looked up, how it is compared, with which number."""

    text: str
    subject: str
    op: str
    number: float


@dataclass(frozen=True, slots=True)
class GateResult:
    """Whether a gate held (the condition that it forbids is nowhere true), and a sentence that says why."""

    gate: Gate
    held: bool
    text: str


def parse_gate(text: str) -> Gate:
    """Return the gate that ``text`` writes; raises :class:`InputError` on anything else."""
    match = _GATE.fullmatch(text)
    if match is None or not all(match[1].split(".")) or not math.isfinite(float(match[3])):
        raise InputError(
            "--fail-if",
            found=repr(text),
            expected="[SCENARIO.]METRIC[.STAT] OP NUMBER with OP one of < <= > >= == !=",
            do='for example "latency.p90 > 1.2"',
        )
    return Gate(" ".join(match.groups()), match[1].casefold(), match[2], float(match[3]))


def check_gates(
    gates: Iterable[Gate], estimates: Mapping[str, Any], tasks: Mapping[str, str] | None = None
) -> list[GateResult]:
    """Return the result of each gate on the leading variant of ``estimates`` (the object in ``estimates.json``).

    A gate that names several estimates (a metric of many scenarios, a task of many
    datasets) has to hold in each. Scenarios are named by their own name or by their
    task's, in any case; ``tasks`` maps the one to the other, and unless given it is
    what the installed benchmark declares. An estimate of nothing (n is 0 and nothing
    is absent) belongs to a scenario that the run has no items of, and is passed over.

    Statistics: ``value`` (unless told), ``low``, ``high``, ``n``; ``absent`` is the
    number of items without a value; ``mean``, ``median``, ``min``, ``max`` and ``p1``
    to ``p99`` are of the items' values. A percentile lies on the straight line between
    the two nearest values: position ``(n - 1) * p / 100`` in order, from 0.
    """
    table = _Table.of(estimates, _declared_tasks(estimates) if tasks is None else tasks)
    return [_check(gate, table) for gate in gates]


@dataclass(frozen=True, slots=True)
class _Table:
    rows: Sequence[Mapping[str, Any]]
    items: Mapping[tuple[str, str], list[float]]
    tasks: Mapping[str, str]
    variant: str = ""

    @classmethod
    def of(cls, estimates: Mapping[str, Any], tasks: Mapping[str, str]) -> _Table:
        values: dict[tuple[str, str], list[float]] = {}
        for item in estimates.get("items", ()):
            if item.get("value") is not None:
                values.setdefault((item["scenario"], item["metric"]), []).append(item["value"])
        rows = [row for row in estimates.get("estimates", ()) if row.get("n") or row.get("absent")]
        return cls(rows, values, tasks, str(estimates.get("variant", "")))

    def select(self, scenario: str, metric: str) -> list[Mapping[str, Any]]:
        """Return the estimates of ``metric`` in ``scenario``; an empty name stands for all."""
        return [
            row
            for row in self.rows
            if metric in ("", row["metric"].casefold())
            and scenario in ("", row["scenario"].casefold(), self.tasks.get(row["scenario"], "").casefold())
        ]


def _declared_tasks(estimates: Mapping[str, Any]) -> Mapping[str, str]:
    try:
        declared = find(f"{estimates.get('benchmark', '')}@{estimates.get('variant', '')}")
    except PluginError:  # the run is of a benchmark that is not installed here: its scenarios' own names still serve
        return {}
    return {scenario.name: scenario.task for benchmark in declared for scenario in benchmark.scenarios}


def _check(gate: Gate, table: _Table) -> GateResult:
    rows, stat = _lookup(gate.subject, table)
    if not rows:
        known = sorted({f"{row['scenario']}.{row['metric']}" for row in table.rows})
        have = ", ".join(known[:12]) + (" …" if len(known) > 12 else "") or "nothing"
        rules = f" under {table.variant}" if table.variant else ""
        return GateResult(
            gate, False, _sentence(gate, f"fails, for the run has no such estimate{rules}; it has {have}")
        )
    findings = [_verdict(gate, row, stat, table) for row in rows]
    bad = sum(not well for well, _ in findings)
    told = "; ".join(text for well, text in findings if not bad or not well)
    verdict = "fails" if bad else "holds"
    if len(rows) > 1:
        verdict += f" in {bad or 'all'} of {len(rows)} estimates (it has to hold in each)"
    return GateResult(gate, not bad, _sentence(gate, f"{verdict}: {told}"))


def _sentence(gate: Gate, text: str) -> str:
    return printable(f"gate {gate.text!r} {text}", limit=2_000)


def _lookup(subject: str, table: _Table) -> tuple[list[Mapping[str, Any]], str]:
    """Return the estimates that ``subject`` names and the statistic of them, by the first reading that finds any."""
    name, _, stat = subject.rpartition(".")
    readings = [(subject, "value")]
    if _is_stat(stat):
        readings.append((name, stat))
    for name, stat in readings:
        if name:
            rows = table.select("", name)
            if not rows:
                # Names may hold dots themselves, so every dot may be the one between scenario and metric.
                cuts = [i for i, mark in enumerate(name) if mark == "."]
                rows = next((found for i in cuts if (found := table.select(name[:i], name[i + 1 :]))), [])
            if not rows and stat in ("n", "absent"):
                rows = table.select(name, "")
            if rows:
                return rows, stat
    if subject in ("n", "absent"):
        return table.select("", ""), subject
    return [], "value"


def _is_stat(name: str) -> bool:
    return name in OF_ESTIMATE or name in OF_ITEMS or _PERCENTILE.fullmatch(name) is not None


def _verdict(gate: Gate, row: Mapping[str, Any], stat: str, table: _Table) -> tuple[bool, str]:
    where = f"{row['scenario']}.{row['metric']}"
    found = _statistic(row, stat, table)
    shown = where if stat == "value" else f"{where}.{stat}"
    if found is None:
        reasons = ", ".join(f"{reason} {n}" for reason, n in (row.get("absent") or {}).items())
        return False, f"{shown} has no value" + (f" (absent: {reasons})" if reasons else "")
    forbidden = OPERATORS[gate.op](found, gate.number)
    return not forbidden, f"{shown} is {found:.6g}" + ("" if stat == "n" else f" (n {row['n']})")


def _statistic(row: Mapping[str, Any], stat: str, table: _Table) -> float | None:
    if stat == "absent":
        return float(sum((row.get("absent") or {}).values()))
    if stat in OF_ESTIMATE:
        found = row.get(stat)
        return None if found is None else float(found)
    values = sorted(table.items.get((row["scenario"], row["metric"]), ()))
    if not values:
        return None
    if stat == "mean":
        return fmean(values)
    share = {"min": 0.0, "median": 50.0, "max": 100.0}.get(stat)
    return percentile(values, float(stat[1:]) if share is None else share)


def percentile(ordered: Sequence[float], percent: float) -> float:
    """Return the value below which ``percent`` of ``ordered`` (ascending, not empty) lies, interpolated linearly."""
    at = (len(ordered) - 1) * percent / 100
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)
