"""Items that a report lists one by one with their reasons: those of metrics with a heading (``Metric.listed``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.tables import markdown_text
from fullduplex.reporting.translated import listing_told
from fullduplex.runs.measured import Column, Measured
from fullduplex.runs.run import Run

#: So many items of one list are written out; more are counted.
MOST = 200

Listing = dict[str, Any]


def listings(pairs: Iterable[tuple[Run, Measured]]) -> list[Listing]:
    """Return the lists: for each system and heading the items whose value is not 0, variants that list alike in one.

    A list is ``system``, ``heading``, ``variants`` (whose it is), ``several`` (whether the variants differ), ``n`` and
    ``rows``, :data:`MOST` at most: ``scenario``, ``item``, ``why``. Nothing of a metric that lists no item.
    """
    made: list[Listing] = []
    for run, measured in pairs:
        found: dict[tuple[str, str, str], list[Column]] = {}
        for (_, scenario, metric), column in measured.columns.items():
            if column.metric.listed:
                found.setdefault((column.metric.listed, scenario, metric), []).append(column)
        by_heading: dict[str, dict[str, list[dict[str, str]]]] = {}
        for (heading, _, _), columns in found.items():
            for column in columns:
                by_heading.setdefault(heading, {}).setdefault(column.variant, []).extend(_rows(column, measured))
        for heading, by_variant in by_heading.items():
            made += _lists(run.system, heading, by_variant)
    return made


def listings_markdown(lists: Sequence[Mapping[str, Any]], tell: Language = ENGLISH) -> str:
    """Return the lists as Markdown, "" where there are none."""
    parts = []
    colon = tell(": ")
    for one in (listing_told(one, tell) for one in lists):
        under = f", {', '.join(one['variants'])}" if one["several"] else ""
        parts.append(f"## {markdown_text(one['system'] + under)}{colon}{markdown_text(one['heading'])} ({one['n']})\n")
        for row in one["rows"]:
            parts.append(
                f"- {markdown_text(row['scenario'])}/{markdown_text(row['item'])}{colon}{markdown_text(row['why'])}"
            )
        if one["n"] > len(one["rows"]):
            parts.append(f"- {tell('and {n} more', n=one['n'] - len(one['rows']))}")
        parts.append("")
    return "\n".join(parts)


def _rows(column: Column, measured: Measured) -> list[dict[str, str]]:
    told = zip(column.items, column.numbers, column.reasons, column.whys, strict=True)
    return [
        {"scenario": column.scenario.name, "item": measured.names[item], "why": why}
        for item, value, reason, why in told
        if not reason and value
    ]


def _lists(system: str, heading: str, by_variant: Mapping[str, list[dict[str, str]]]) -> list[Listing]:
    alike: list[tuple[list[str], list[dict[str, str]]]] = []
    for variant, rows in by_variant.items():
        same = next((variants for variants, those in alike if those == rows), None)
        if same is None:
            alike.append(([variant], rows))
        else:
            same.append(variant)
    return [
        {"system": system, "heading": heading, "variants": variants, "several": len(alike) > 1, "n": len(rows),
         "rows": rows[:MOST]}
        for variants, rows in alike
        if rows
    ]  # fmt: skip
