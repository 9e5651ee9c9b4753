"""The part of a report that tells how the talks were held, and what each clock makes of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fullduplex.reporting.cells import WAITING
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.spent import spent
from fullduplex.reporting.tables import markdown_text
from fullduplex.runs.run import Run
from fullduplex.runs.talks import STAGES, talks

_JUDGE = re.compile(r"judged by ([^,;]+)")
#: An estimate under one clock: its value (None where absent) and its n.
Value = tuple[float | None, int]


def talks_markdown(runs: Sequence[Run], tell: Language = ENGLISH) -> str:
    """Return the sections on the talks of ``runs``; empty where none was driven."""
    parts: list[str] = []
    for run in runs:
        found = talks(run)
        if found is None:
            continue
        parts.append(f"\n## {tell('The talks of {system}', system=markdown_text(run.system))}\n")
        parts += [f"- {markdown_text(tell.of(said))}" for said in (*found.sentences(), *spent(run).sentences())]
        if found.stages:
            heads = tell("where the time goes"), tell("median, s"), tell("p90, s")
            parts.append(f"\n| {heads[0]} | n | {heads[1]} | {heads[2]} |")
            parts.append("|---|---:|---:|---:|")
            parts += [
                f"| {tell.of(s.name.replace('_', ' '))}{tell(': ')}{tell.of(STAGES[s.name])} | {s.n} | "
                f"{tell.digits(f'{s.median:.3f}')} | {tell.digits(f'{s.p90:.3f}')} |"
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


def comparable(
    rows: Sequence[Mapping[str, Any]], tell: Language = ENGLISH
) -> tuple[list[Mapping[str, Any]], list[str]]:
    """Return the rows whose clocks can be compared, and a sentence for each clock that some cannot be compared under.

    A reply that is placed anew is another reply, of which nobody may have said anything: that is no effect of a clock.
    """
    there = [row for row in rows if not row.get("unjudged")]
    left_out: dict[str, dict[str, None]] = {}
    for row in rows:
        for clock in row.get("unjudged", ()):
            left_out.setdefault(clock, {}).setdefault(str(row["title"]))
    told = [
        tell(
            "Left out, since fewer replies were judged under {clock}, or by another judge: {titles}. What is placed "
            "anew has to be judged anew.",
            clock=clock,
            titles=listed([tell.of(title) for title in titles], 8, tell),
        )
        for clock, titles in left_out.items()
    ]
    return there, told


def listed(names: Sequence[str], most: int, tell: Language = ENGLISH) -> str:
    """Return the names in a row, of more than ``most`` the first and how many follow."""
    more = f" {tell('and {n} more', n=len(names) - most)}" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _rounded(value: Value) -> tuple[float | None, int]:
    return (None if value[0] is None else round(value[0], 3), value[1])


def clocks_markdown(rows: Sequence[Mapping[str, Any]], tell: Language = ENGLISH) -> str:
    """Return the table of what each clock makes of the same talks; empty where all agree."""
    if not rows:
        return ""
    clocks = list(dict.fromkeys(clock for row in rows for clock in row["values"]))
    there, left_out = comparable(rows, tell)
    parts = [
        f"\n## {tell('Under each clock')}\n",
        tell(
            "The same logs, placed as a listener heard them (playout), by a client that plays in order of arrival and "
            "takes nothing back (arrival), or by the system's own clock (source). On the arrival clock a reply that "
            "was taken back sounds on, and can pass for an early answer to what follows. Only what differs is shown."
        )
        + "\n",
    ]
    if there:
        parts += [
            f"| {tell('system')} | {tell('scenario and metric')} | " + " | ".join(clocks) + " |",
            "|---|---|" + "---:|" * len(clocks),
        ]
    for row in there:
        cells = [_cell(row["values"].get(clock), tell) for clock in clocks]
        names = [markdown_text(str(row["system"])), markdown_text(tell.of(str(row["title"])))]
        parts.append("| " + " | ".join([*names, *cells]) + " |")
    parts += [f"\n{markdown_text(sentence)}" for sentence in left_out]
    return "\n".join(parts) + "\n"


def _cell(value: Value | None, tell: Language) -> str:
    if value is None:
        return ""
    return f"{'—' if value[0] is None else tell.digits(f'{value[0]:.3f}')} (n {value[1]})"
