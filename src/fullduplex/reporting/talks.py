"""The part of a report that tells how the talks were held, and what each clock makes of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fullduplex.reporting.cells import WAITING
from fullduplex.reporting.spent import spent
from fullduplex.reporting.tables import markdown_text
from fullduplex.runs.run import Run
from fullduplex.runs.talks import STAGES, talks

_JUDGE = re.compile(r"judged by ([^,;]+)")
#: An estimate under one clock: its value (None where absent) and its n.
Value = tuple[float | None, int]


def talks_markdown(runs: Sequence[Run]) -> str:
    """Return the sections on the talks of ``runs``; empty where none was driven."""
    parts: list[str] = []
    for run in runs:
        found = talks(run)
        if found is None:
            continue
        parts.append(f"\n## The talks of {markdown_text(run.system)}\n")
        parts += [f"- {markdown_text(sentence)}" for sentence in (*found.sentences(), *spent(run).sentences())]
        if found.stages:
            parts.append("\n| where the time goes | n | median, s | p90, s |")
            parts.append("|---|---:|---:|---:|")
            parts += [
                f"| {s.name.replace('_', ' ')}: {STAGES[s.name]} | {s.n} | {s.median:.3f} | {s.p90:.3f} |"
                for s in found.stages
            ]
    return "\n".join(parts) + "\n" if parts else ""


def clock_rows(system: str, own: Mapping[str, Any], others: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the estimates of the leading variant that are not the same under every clock.

    ``own`` is the run's estimates.json, on the playout clock; ``others`` those under other clocks, by name. A row
    has ``system``, ``scenario``, ``metric``, ``title`` and ``values``: for each clock, the value or None, and n.
    ``unjudged``: the clocks under which more items wait for a judge than elsewhere, or another judge gave the verdicts;
    such a row tells nothing of clocks (see :func:`comparable`).
    """
    tables = {"playout": own, **others}
    found: dict[tuple[str, str], dict[str, Value]] = {}
    waiting: dict[tuple[str, str], dict[str, int]] = {}
    judges: dict[tuple[str, str], dict[str, set[str]]] = {}
    titles: dict[tuple[str, str], str] = {}
    for clock, table in tables.items():
        for row in table["estimates"]:
            key = (row["scenario"], row["metric"])
            found.setdefault(key, {})[clock] = (row["value"], row["n"])
            waits = sum((row.get("absent") or {}).get(reason, 0) for reason in WAITING)
            waiting.setdefault(key, {})[clock] = waits
            judges.setdefault(key, {})[clock] = set(_JUDGE.findall(str(row.get("judged_by") or "")))
            titles[key] = f"{row.get('scenario_title') or row['scenario']}: {row.get('title') or row['metric']}"
    return [
        {
            "system": system,
            "scenario": scenario,
            "metric": metric,
            "title": titles[scenario, metric],
            "values": values,
            "unjudged": _unjudged(waiting[scenario, metric], judges[scenario, metric]),
        }
        for (scenario, metric), values in found.items()
        if len({_rounded(value) for value in values.values()}) > 1
    ]


def _unjudged(waiting: Mapping[str, int], judges: Mapping[str, set[str]]) -> list[str]:
    own = judges.get("playout", set())
    return [
        clock
        for clock, waits in waiting.items()
        if waits > min(waiting.values()) or (judges[clock] and own and judges[clock] != own)
    ]


def comparable(rows: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], list[str]]:
    """Return the rows whose clocks can be compared, and a sentence for each clock that some cannot be compared under.

    A reply that is placed anew is another reply, of which nobody may have said anything: that is no effect of a clock.
    """
    there = [row for row in rows if not row.get("unjudged")]
    left_out: dict[str, dict[str, None]] = {}
    for row in rows:
        for clock in row.get("unjudged", ()):
            left_out.setdefault(clock, {}).setdefault(str(row["title"]))
    told = [
        f"Left out, since fewer replies were judged under {clock}, or by another judge: "
        f"{listed(list(titles), 8)}. What is placed anew has to be judged anew."
        for clock, titles in left_out.items()
    ]
    return there, told


def listed(names: Sequence[str], most: int) -> str:
    """Return the names in a row, of more than ``most`` the first and how many follow."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _rounded(value: Value) -> tuple[float | None, int]:
    return (None if value[0] is None else round(value[0], 3), value[1])


def clocks_markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of what each clock makes of the same talks; empty where all agree."""
    if not rows:
        return ""
    clocks = list(dict.fromkeys(clock for row in rows for clock in row["values"]))
    there, left_out = comparable(rows)
    parts = [
        "\n## Under each clock\n",
        "The same logs, placed as a listener heard them (playout), by a client that plays in order of arrival and "
        "takes nothing back (arrival), or by the system's own clock (source). On the arrival clock a reply that was "
        "taken back sounds on, and can pass for an early answer to what follows. Only what differs is shown.\n",
    ]
    if there:
        parts += ["| system | scenario and metric | " + " | ".join(clocks) + " |", "|---|---|" + "---:|" * len(clocks)]
    for row in there:
        cells = [_cell(row["values"].get(clock)) for clock in clocks]
        names = [markdown_text(str(row[key])) for key in ("system", "title")]
        parts.append("| " + " | ".join([*names, *cells]) + " |")
    parts += [f"\n{markdown_text(sentence)}" for sentence in left_out]
    return "\n".join(parts) + "\n"


def _cell(value: Value | None) -> str:
    if value is None:
        return ""
    return f"{'—' if value[0] is None else f'{value[0]:.3f}'} (n {value[1]})"
