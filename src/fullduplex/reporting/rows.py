"""Estimates as rows, and how a number in one is written.

A row is a JSON object: ``scenario``, ``metric``, ``value``, ``low``, ``high``, ``n``, ``absent``
(reason: count), ``unit``, ``better``; and, where they are known, ``method``, ``system``, ``variant``,
``title`` (the metric's), ``scenario_title``, ``rests_on``, ``family`` (metrics with a table of their own),
``judged_by`` (who gave the verdicts that entered it, and what that is worth; ``worth`` in a few words; ``judges`` the
same as :class:`fullduplex.reporting.trust.Judge`), and ``item_set`` (a digest of the items that the value rests on).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fullduplex.errors import printable
from fullduplex.measures.metric import Estimate, Metric
from fullduplex.reporting.language import ENGLISH, Language

Row = Mapping[str, Any]

ARROWS = {"higher": "↑", "lower": "↓"}
#: How many decimals a unit is worth; three where nothing is said.
#: Units that a terminal's table names beside the metric.
NAMED_UNITS = ("s", "ms", "1/s", "dB", "Hz", "MOS", "LUFS", "words/min", "0-5", "0-100")
_DECIMALS = {"ms": 0, "count": 0, "Hz": 1, "dB": 1, "%": 1, "words/min": 1}


def estimate_row(
    scenario: str,
    metric: Metric,
    found: Estimate,
    *,
    system: str = "",
    variant: str = "",
    scenario_title: str = "",
    item_set: str = "",
) -> dict[str, Any]:
    """Return one metric's estimate in one scenario as a row."""
    row: dict[str, Any] = {
        "scenario": scenario,
        "metric": metric.name,
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "n": found.n,
        "absent": dict(found.absent),
        "unit": metric.unit,
        "better": metric.better,
        "method": found.method,
        "system": system,
        "variant": variant,
        "title": metric.title or metric.name,
        "scenario_title": scenario_title or scenario,
        "rests_on": metric.rests_on,
        "family": metric.family,
        "judged": metric.judged,
        "judged_by": "",
        "worth": "",
    }
    return row | ({"item_set": item_set} if item_set else {})


def figure(value: float | None, unit: str = "", tell: Language = ENGLISH) -> str:
    """Return a value as a table prints it; — when there is none.

    Three decimals unless the unit is worth fewer. A value of three that would round to 0 without
    being 0 keeps two significant digits, for "0.000" reads as never.
    """
    if value is None:
        return "—"
    decimals = _DECIMALS.get(unit, 3)
    if unit == "count" and value != round(value):
        decimals = 1
    text = f"{value:.{decimals}f}"
    if value != 0 and float(text) == 0 and unit not in _DECIMALS:
        return tell.digits(f"{value:.2g}")
    return tell.digits(text.removeprefix("-") if float(text) == 0 else text)


def interval(row: Row, tell: Language = ENGLISH) -> str:
    """Return a row's 95 % interval as ``[low, high]``; "" when it has none."""
    if row.get("low") is None or row.get("high") is None:
        return ""
    unit = str(row.get("unit", ""))
    return tell("[{low}, {high}]", low=figure(row["low"], unit, tell), high=figure(row["high"], unit, tell))


def absences(row: Row, tell: Language = ENGLISH) -> str:
    """Return what is missing and why, the most frequent reason first: ``3 × no words; 1 × failed``."""
    counts = sorted((row.get("absent") or {}).items(), key=lambda pair: (-pair[1], pair[0]))
    return tell("; ").join(f"{count} × {printable(tell.of(str(reason)))}" for reason, count in counts)


def label(row: Row, tell: Language = ENGLISH) -> str:
    """Return a metric's title with the arrow of its better direction; none where neither is better."""
    arrow = ARROWS.get(str(row.get("better", "")), "")
    title = printable(tell.of(str(row.get("title") or row["metric"])))
    return f"{title} {arrow}" if arrow else title


def waits_for_a_judge(row: Row) -> bool:
    """Return whether ``row`` has no value for no other reason than that nobody has judged yet."""
    return (
        bool(row.get("judged")) and row["value"] is None and set(row.get("absent") or ()) <= {"not judged", "no rating"}
    )


def scenario_label(row: Row, tell: Language = ENGLISH) -> str:
    """Return a scenario's title, else its name."""
    return printable(tell.of(str(row.get("scenario_title") or row["scenario"])))


def system_label(row: Row, tell: Language = ENGLISH) -> str:
    """Return a system's name, safe to print."""
    return printable(str(row.get("system") or "")) or tell("(unnamed)")
