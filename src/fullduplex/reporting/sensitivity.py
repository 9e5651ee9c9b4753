"""How far numbers rest on choices, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fullduplex.reporting.rows import ARROWS, figure
from fullduplex.reporting.tables import markdown_text

Told = Mapping[str, Any]


def sensitivity_markdown(told: Told) -> str:
    """Return the band of each number, what moves it most, and whether the order of systems changes.

    ``told`` is what ``sensitivity.json`` holds.
    """
    conditions, bands = told["conditions"], told["bands"]
    kinds = list(dict.fromkeys(condition["kind"] for condition in conditions))[1:]
    counts = [f"{sum(c['kind'] == kind for c in conditions)} {markdown_text(kind)}" for kind in kinds]
    # The widest band in its own size first: it is what a reader has to know.
    moving = sorted((band for band in bands if band["low"] != band["high"]), key=_width, reverse=True)
    parts = [
        "# Sensitivity\n",
        f"{len(conditions) - 1} conditions beside the run as measured: {', '.join(counts) or 'none'}. "
        "Each differs from it in one choice alone.\n",
        "## What moves\n",
        _table(
            [
                *("System", "Scenario", "Metric", "As measured", "Lowest", "Highest"),
                *("Lowest under", "Highest under", "No value under"),
            ],
            (_band(band) for band in moving),
        ),
        f"\n{len(bands) - len(moving)} of {len(bands)} numbers are the same under every condition that has them.",
    ]
    if kinds:
        parts += ["\n## By kind of choice\n", _by_kind(moving, kinds)]
    if told["standings"]:
        parts.append("\n## The order of systems\n")
        parts += [_standing(standing) for standing in told["standings"]]
    if told["remarks"]:
        parts += ["\n## Not tried, or not in full\n", *(f"- {markdown_text(remark)}" for remark in told["remarks"])]
    return "\n".join(parts) + "\n"


def _width(band: Told) -> float:
    size = max(abs(band["low"]), abs(band["high"]))
    return float((band["high"] - band["low"]) / size) if size else 0.0


def _band(band: Told) -> list[str]:
    unit = str(band["unit"])
    title = f"{band['title']} {ARROWS.get(band['better'], '')}".strip()
    same = band["low"] == band["high"]
    return [
        band["system"], band["scenario"], title, figure(band["value"], unit), figure(band["low"], unit),
        figure(band["high"], unit), "—" if same else band["lowest"], "—" if same else band["highest"],
        _missing(band["missing"]),
    ]  # fmt: skip


def _missing(conditions: Sequence[str]) -> str:
    if len(conditions) < 3:
        return ", ".join(conditions)
    return f"{len(conditions)} conditions, {conditions[0]} first"


def _by_kind(bands: Sequence[Told], kinds: Sequence[str]) -> str:
    def cells(band: Told) -> list[str]:
        unit = str(band["unit"])
        ends = [band["kinds"].get(kind) for kind in kinds]
        shown = ["—" if e is None else f"{figure(e[0], unit)} to {figure(e[1], unit)}" for e in ends]
        return [band["system"], band["scenario"], band["title"], figure(band["value"], unit), *shown]

    return _table(["System", "Scenario", "Metric", "As measured", *kinds], map(cells, bands))


def _standing(one: Told) -> str:
    line = " > ".join(" = ".join(tier) for tier in one["order"])
    wins = "; ".join(f"{win['first']} ahead of {win['second']} on {_percent(win)}" for win in one["wins"])
    shifts = one["shifts"]
    changed = [shift for shift in shifts if not shift["same"]]
    if not shifts:
        told = "no other condition has all systems"
    elif not changed:
        told = f"the same order under all {len(shifts)} conditions"
    else:
        worst = min(changed, key=lambda shift: 1.0 if shift["tau"] is None else float(shift["tau"]))
        tau = "tau not defined: ties" if worst["tau"] is None else f"tau {worst['tau']:.2f}"
        told = (
            f"another order under {len(changed)} of {len(shifts)} conditions, the farthest {worst['condition']} "
            f"({tau}, {' and '.join(worst['leads'])} first)"
        )
    text = f"{one['scenario']}, {one['title']}: {line}. {wins}. {told}."
    return f"- {markdown_text(text)}"


def _percent(win: Told) -> str:
    share = win["probability"]
    if share is None:
        return f"an unknown share of resamples ({win['method']})"
    return f"{100 * share:.0f} % of resamples"


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [list(head), ["---"] * len(head), *([markdown_text(str(cell)) for cell in line] for line in lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
