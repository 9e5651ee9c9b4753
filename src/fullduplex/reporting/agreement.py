"""Agreement, for a terminal: people among themselves, each judge against people, judge against judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fullduplex.errors import printable
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.trust import NOT_VALIDATED

#: What is told of raters among themselves, by its name in files.
AMONG = {"percent": "percent agreement", "fleiss_kappa": "Fleiss' kappa", "alpha": "Krippendorff's alpha"}


def agreement_text(system: str, told: Mapping[str, Any], tell: Language = ENGLISH) -> str:
    """Return what ``fullduplex agree`` found of one run, as lines of text; ``told`` is what agreement.json holds."""
    lines, colon = [], tell(": ")
    for one in told["verdicts"]:
        scale = tell.of(f"{one['level']} scale")
        lines.append(f"{printable(system)}, {one['verdict']} ({scale})")
        items = tell.plural("{n} item", "{n} items", one["items_rated"])
        by = tell.plural("{items} rated by {n} rater", "{items} rated by {n} raters", one["raters"], items=items)
        lines.append(f"  {tell('people')}{colon}{by}")
        for name, found in one["among_people"].items():
            lines.append(f"    {tell.of(AMONG[name])}{colon}{number(found, tell)}")
        for name, known in one["judges"].items():
            lines.append(f"  {printable(name)}{colon}{printable(tell.of(known['told']), 2_000)}")
            lines += _table(known, tell) if known["validated"] else []
        if not one["judges"]:
            lines.append(f"  {tell('no judge has said anything')}{colon}{tell.of(NOT_VALIDATED)}")
        for pair in one["between"]:
            names = tell(" and ").join(map(printable, pair["judges"]))
            percent, kappa = number(pair["percent"], tell), number(pair["kappa"], tell)
            alike = tell("{percent} alike, Cohen's kappa {kappa}", percent=percent, kappa=kappa)
            lines.append(f"  {names}{colon}{alike}")
    head, *goes = goes_with_lines(told.get("goes_with", ())) or [""]
    lines += [tell.of(head), *(f"  {tell.of(line.strip())}" for line in goes)] if head else []
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


def number(found: Mapping[str, Any], tell: Language = ENGLISH) -> str:
    """Return an estimate with its interval and n; why there is none, where there is none."""
    if found["value"] is None:
        return f"{tell('none')} ({printable(tell.of(str(found['method'])))})"
    value, interval = tell.digits(f"{found['value']:.2f}"), ""
    if found["low"] is not None:
        low, high = (tell.digits(f"{found[end]:.2f}") for end in ("low", "high"))
        interval = f" {tell('[{low}, {high}]', low=low, high=high)}"
    return f"{value}{interval}{tell(', ')}n {found['n']}"


def _table(known: Mapping[str, Any], tell: Language) -> list[str]:
    labels = [_label(label, tell) for label in known["labels"]]
    head = f"{tell('people')} \\ {tell('judge')}"
    width = max(map(len, [*labels, head])) + 2
    lines = [f"    {head:<{width}}" + "".join(f"{label:>{max(width, len(label) + 2)}}" for label in labels)]
    for label, row in zip(labels, known["confusion"], strict=True):
        lines.append(f"    {label:<{width}}" + "".join(f"{count:>{width}}" for count in row))
    return lines


def _label(label: float | str, tell: Language) -> str:
    return printable(label, 20) if isinstance(label, str) else tell.digits(f"{label:g}")
