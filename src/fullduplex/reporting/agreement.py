"""Agreement, for a terminal: people among themselves, each judge against people, judge against judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fullduplex.errors import printable
from fullduplex.reporting.trust import NOT_VALIDATED

#: What is told of raters among themselves, by its name in files.
AMONG = {"percent": "percent agreement", "fleiss_kappa": "Fleiss' kappa", "alpha": "Krippendorff's alpha"}


def agreement_text(system: str, told: Mapping[str, Any]) -> str:
    """Return what ``fullduplex agree`` found of one run, as lines of text; ``told`` is what agreement.json holds."""
    lines = []
    for one in told["verdicts"]:
        lines.append(f"{printable(system)}, {one['verdict']} ({one['level']} scale)")
        lines.append(f"  people: {one['items_rated']} items rated by {one['raters']} raters")
        for name, found in one["among_people"].items():
            lines.append(f"    {AMONG[name]}: {number(found)}")
        for name, known in one["judges"].items():
            lines.append(f"  {printable(name)}: {printable(known['told'], 2_000)}")
            lines += _table(known) if known["validated"] else []
        if not one["judges"]:
            lines.append(f"  no judge has said anything: {NOT_VALIDATED}")
        for pair in one["between"]:
            names = " and ".join(map(printable, pair["judges"]))
            lines.append(f"  {names}: {number(pair['percent'])} alike, Cohen's kappa {number(pair['kappa'])}")
    lines += goes_with_lines(told.get("goes_with", ()))
    return "\n".join(lines)


def goes_with_lines(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each metric that was held against what people rated, the strongest first."""
    if not found:
        return []
    lines = ["What people's ratings go with (Spearman's rho over items):"]
    for one in sorted(found, key=lambda each: -abs(each["rho"]["value"])):
        name = f"{one['rated']}: {one['scenario']}, {one['title']}"
        lines.append(f"  {printable(name)}: {number(one['rho'])}")
    return lines


def number(found: Mapping[str, Any]) -> str:
    """Return an estimate with its interval and n; why there is none, where there is none."""
    if found["value"] is None:
        return f"none ({printable(str(found['method']))})"
    interval = "" if found["low"] is None else f" [{found['low']:.2f}, {found['high']:.2f}]"
    return f"{found['value']:.2f}{interval}, n {found['n']}"


def _table(known: Mapping[str, Any]) -> list[str]:
    labels = [_label(label) for label in known["labels"]]
    head = "people \\ judge"
    width = max(map(len, [*labels, head])) + 2
    lines = [f"    {head:<{width}}" + "".join(f"{label:>{max(width, len(label) + 2)}}" for label in labels)]
    for label, row in zip(labels, known["confusion"], strict=True):
        lines.append(f"    {label:<{width}}" + "".join(f"{count:>{width}}" for count in row))
    return lines


def _label(label: float | str) -> str:
    return printable(label, 20) if isinstance(label, str) else f"{label:g}"
