"""How far numbers rest on choices, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fullduplex.reporting.rows import ARROWS, figure
from fullduplex.reporting.tables import markdown_text

Told = Mapping[str, Any]
_MOVED = "threshold of "
_AS_MEASURED = "as measured"


def sensitivity_markdown(told: Told) -> str:
    """Return the band of each number that moves, what moves it, and whether the order of systems changes.

    ``told`` is what ``sensitivity.json`` holds.
    """
    conditions, bands = told["conditions"], told["bands"]
    kinds = list(dict.fromkeys(condition["kind"] for condition in conditions))[1:]
    # The widest band in its own size first: it is what a reader has to know.
    moving = sorted((band for band in bands if band["low"] != band["high"]), key=_width, reverse=True)
    several = len({band["system"] for band in bands}) > 1
    parts = ["# Sensitivity\n", _tried(conditions, kinds), "\n## What moves\n"]
    if moving:
        parts += [_moving(moving, kinds, several), "\n= is as measured; n: items with a value as measured.\n"]
    parts.append(_unmoved(bands, moving))
    if told["standings"]:
        parts += ["\n## The order of systems\n", *_orders(told["standings"])]
    short = [*told["remarks"], *told.get("left_out", ())]
    if short:
        parts += ["\n## Not tried, or not in full\n", *(f"- {markdown_text(remark)}" for remark in short)]
    return "\n".join(parts) + "\n"


def _tried(conditions: Sequence[Told], kinds: Sequence[str]) -> str:
    counts = [_counted(sum(c["kind"] == kind for c in conditions), kind) for kind in kinds]
    others = [kind.removeprefix(_MOVED) for kind in kinds if kind.startswith(_MOVED)]
    # Rules without thresholds are shown beside those of another variant, which differ from them twice.
    twice = f", a threshold of {markdown_text(' or '.join(others))} in its variant's rules too" if others else ""
    return (
        f"{len(conditions) - 1} conditions beside the run as measured: {', '.join(counts) or 'none'}. "
        f"Each differs from it in one choice{twice}."
    )


def _counted(n: int, kind: str) -> str:
    what, of, variant = kind.partition(" ")
    many = "" if n == 1 or what.endswith("s") else "s"
    return f"{n} {markdown_text(what + many + of + variant)}"


def _width(band: Told) -> float:
    size = max(abs(band["low"]), abs(band["high"]))
    return float((band["high"] - band["low"]) / size) if size else 0.0


def _moving(bands: Sequence[Told], kinds: Sequence[str], several: bool) -> str:
    lacking = any(band["missing"] for band in bands)
    head = ["System"] * several + ["Scenario", "Metric", "As measured", "n", "Lowest", "Highest", *kinds]
    rows = []
    for band in bands:
        title = f"{band['title']} {ARROWS.get(band['better'], '')}".strip()
        ends = [_end(band, "low", "lowest"), _end(band, "high", "highest")]
        row = [band["system"]] * several + [_scenario(band), title, figure(band["value"], str(band["unit"]))]
        row += [str(band.get("n") or "—"), *ends]
        row += [_between(band, kind) for kind in kinds]
        rows.append(row + ([_missing(band["missing"])] if lacking else []))
    return _table([*head, "No value under"] if lacking else head, rows)


def _scenario(one: Told) -> str:
    """Return a scenario's title, else its name: files that were written before titles have none."""
    return str(one.get("scenario_title") or one["scenario"])


def _end(band: Told, end: str, under: str) -> str:
    """Return one end of a band with the condition that reaches it."""
    if band[under] == _AS_MEASURED:
        return "="
    return f"{figure(band[end], str(band['unit']))}, {band[under]}"


def _between(band: Told, kind: str) -> str:
    """Return the ends of a band under one kind of condition."""
    ends, unit = band["kinds"].get(kind), str(band["unit"])
    if ends is None:
        return "—"
    if ends[0] == ends[1]:
        return "=" if ends[0] == band["value"] else figure(ends[0], unit)
    return " to ".join("=" if end == band["value"] else figure(end, unit) for end in ends)


def _missing(conditions: Sequence[str]) -> str:
    if len(conditions) < 3:
        return ", ".join(conditions)
    return f"{len(conditions)} conditions, {conditions[0]} first"


def _unmoved(bands: Sequence[Told], moving: Sequence[Told]) -> str:
    alike = [band for band in bands if band["low"] == band["high"]]
    told = f"{len(alike)} of {len(bands)} numbers are the same under every condition that has them"
    lacking = sum(1 for band in alike if band["missing"])
    return f"{told}; {lacking} of them without a value under some." if lacking else f"{told}."


def _orders(standings: Sequence[Told]) -> list[str]:
    """Return the orders of systems as a table; those that put all systems level throughout in one sentence."""
    level = [one for one in standings if len(one["order"]) == 1 and all(shift["same"] for shift in one["shifts"])]
    rest = [one for one in standings if one not in level]
    made = []
    if rest:
        head = ["Scenario", "Metric", "Order", "Ahead on other items, at each >", "Another order under"]
        rows = ([_scenario(one), one["title"], _line(one), _wins(one), _shifts(one)] for one in rest)
        made.append(_table(head, rows))
        notes = dict.fromkeys(note for one in rest for win in _apart(one) if (note := _note(win)))
        made.append(f"\nAhead: the share of resamples of the n items in which the order of two neighbours holds"
                    f"{''.join(f'; {note}' for note in notes)}.")  # fmt: skip
    if level:
        by_scenario: dict[str, list[str]] = {}
        for one in level:
            by_scenario.setdefault(_scenario(one), []).append(one["title"])
        names = "; ".join(f"{scenario}: {', '.join(titles)}" for scenario, titles in by_scenario.items())
        made.append(f"\nAll systems are level, under every condition that has them all: {markdown_text(names)}.")
    return made


def _line(one: Told) -> str:
    return " > ".join(" = ".join(tier) for tier in one["order"])


def _apart(one: Told) -> list[Told]:
    """Return the neighbours of which one is ahead: of equals nobody is."""
    tier = {system: n for n, tier in enumerate(one["order"]) for system in tier}
    return [win for win in one["wins"] if tier[win["first"]] != tier[win["second"]]]


def _wins(one: Told) -> str:
    def told(win: Told) -> str:
        share = "—" if win["probability"] is None else f"{100 * win['probability']:.0f} %"
        return f"{share} (n {win['n']})"

    return ", ".join(map(told, _apart(one))) or "—"


def _note(win: Told) -> str:
    """Return what has to be said of a share of resamples: why there is none, or that it is too sure."""
    method = str(win["method"])
    return markdown_text(f"—: {method}" if win["probability"] is None else method.partition(" (")[2].rstrip(")"))


def _shifts(one: Told) -> str:
    shifts = one["shifts"]
    changed = [shift for shift in shifts if not shift["same"]]
    if not shifts:
        return "no other condition has all systems"
    if not changed:
        return f"none of {len(shifts)}"
    worst = min(changed, key=lambda shift: 1.0 if shift["tau"] is None else float(shift["tau"]))
    tau = "tau not defined: ties" if worst["tau"] is None else f"tau {worst['tau']:.2f}"
    farthest = ", the farthest" if len(changed) > 1 else ""
    return (
        f"{len(changed)} of {len(shifts)}{farthest}: {worst['condition']} ({tau}; {' = '.join(worst['leads'])} first)"
    )


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    cells = [[markdown_text(str(cell)) for cell in line] for line in (head, *lines)]
    rows = [cells[0], ["---"] * len(head), *cells[1:]]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
