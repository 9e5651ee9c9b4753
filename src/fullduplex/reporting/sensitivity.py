"""How far numbers rest on choices, in Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fullduplex.reporting.rows import ARROWS, figure
from fullduplex.reporting.tables import markdown_text

if TYPE_CHECKING:
    from fullduplex.sensitivity import Band, Sensitivity, Standing


def sensitivity_markdown(found: Sensitivity) -> str:
    """Return the band of each number, what moves it most, and whether the order of systems changes."""
    kinds = list(dict.fromkeys(condition.kind for condition in found.conditions))[1:]
    parts = [
        "# Sensitivity\n",
        f"{len(found.conditions) - 1} conditions beside the run as measured: "
        + (
            ", ".join(f"{sum(c.kind == kind for c in found.conditions)} {markdown_text(kind)}" for kind in kinds)
            or "none"
        )
        + ". Each differs from it in one choice alone.\n",
        "## Bands\n",
        _table(
            ["System", "Scenario", "Metric", "As measured", "Lowest", "Highest", "Lowest under", "Highest under"],
            (_band(band) for band in found.bands),
        ),
    ]
    if kinds:
        parts += ["\n## By kind of choice\n", _by_kind(found, kinds)]
    missing = [band for band in found.bands if band.missing]
    if missing:
        parts.append("\n## Without a value under some conditions\n")
        parts += [
            f"- {markdown_text(f'{b.system}, {b.scenario}, {b.title}')}: {len(b.missing)} "
            f"({markdown_text(', '.join(b.missing[:3]))}{' …' if len(b.missing) > 3 else ''})"
            for b in missing
        ]
    if found.standings:
        parts.append("\n## The order of systems\n")
        parts += [_standing(standing) for standing in found.standings]
    if found.remarks:
        parts += ["\n## Not tried\n", *(f"- {markdown_text(remark)}" for remark in found.remarks)]
    return "\n".join(parts) + "\n"


def sensitivity_json(found: Sensitivity) -> dict[str, Any]:
    """Return everything as a JSON object."""
    return {
        "schema": 1,
        "conditions": [asdict(condition) for condition in found.conditions],
        "bands": [
            {**asdict(band), "kinds": {kind: list(ends) for kind, ends in band.kinds.items()}} for band in found.bands
        ],
        "standings": [
            {
                "scenario": one.scenario,
                "metric": one.metric,
                "order": [list(tier) for tier in one.tiers],
                "wins": [{"first": a, "second": b, "probability": p} for (a, b), p in one.wins.items()],
                "shifts": [{"condition": s.condition, "tau": s.tau, "leads": list(s.leads)} for s in one.shifts],
            }
            for one in found.standings
        ],
        "remarks": list(found.remarks),
    }


def _band(band: Band) -> list[str]:
    title = f"{band.title} {ARROWS.get(band.better, '')}".strip()
    return [
        band.system, band.scenario, title, figure(band.value, band.unit), figure(band.low, band.unit),
        figure(band.high, band.unit), band.lowest, band.highest,
    ]  # fmt: skip


def _by_kind(found: Sensitivity, kinds: list[str]) -> str:
    def cells(band: Band) -> list[str]:
        ends = [band.kinds.get(kind) for kind in kinds]
        shown = ["—" if e is None else f"{figure(e[0], band.unit)} to {figure(e[1], band.unit)}" for e in ends]
        return [band.system, band.scenario, band.title, figure(band.value, band.unit), *shown]

    return _table(["System", "Scenario", "Metric", "As measured", *kinds], map(cells, found.bands))


def _standing(one: Standing) -> str:
    line = " > ".join(" = ".join(tier) for tier in one.tiers)
    wins = "; ".join(
        f"{a} ahead of {b} on {'an unknown share' if p is None else f'{100 * p:.0f} %'} of resamples"
        for (a, b), p in one.wins.items()
    )
    changed = one.changed_by
    if not one.shifts:
        told = "no other condition has all systems"
    elif not changed:
        told = f"the same order under all {len(one.shifts)} conditions"
    else:
        worst = min(changed, key=lambda shift: shift.tau if shift.tau is not None else 1.0)
        told = (
            f"another order under {len(changed)} of {len(one.shifts)} conditions, the farthest {worst.condition} "
            f"(tau {worst.tau:.2f}, {' and '.join(worst.leads)} first)"
        )
    return f"- {markdown_text(f'{one.scenario}, {one.title}: {line}. {wins}. {told}.')}"


def _table(head: list[str], lines: Iterable[list[str]]) -> str:
    rows = [head, ["---"] * len(head), *([markdown_text(cell) for cell in line] for line in lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
