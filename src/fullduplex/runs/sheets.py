"""A run's table as CSV, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TextIO

ESTIMATES = (
    "benchmark",
    "version",
    "variant",
    "scenario",
    "metric",
    "title",
    "value",
    "low",
    "high",
    "n",
    "absent",
    "absent_reasons",
    "unit",
    "better",
    "rests_on",
    "method",
)
ITEMS = ("variant", "scenario", "item", "metric", "value", "absent", "why", "at")

# A spreadsheet runs a cell that begins so as a formula.
_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def estimate_rows(table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a row for each estimate of each variant, the leading variant first.

    ``absent`` is how many items have no value, ``absent_reasons`` a JSON object that
    counts them by reason. A value that is absent is an empty cell.
    """
    for variant in variants(table):
        for row in variant.get("estimates", ()):
            absent = row.get("absent") or {}
            reasons = json.dumps(absent, ensure_ascii=False, sort_keys=True)
            yield {
                **{name: table.get(name) for name in ("benchmark", "version")},
                **row,
                "variant": variant.get("variant"),
                "absent": sum(absent.values()),
                "absent_reasons": reasons if absent else "",
            }


def item_rows(table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a row for each fact of each item under each variant, the leading variant first."""
    for variant in variants(table):
        for row in variant.get("items", ()):
            yield {**row, "variant": variant.get("variant")}


def variants(table: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the table of each variant in ``estimates.json``, the leading one first, each once."""
    yield table
    for variant in table.get("variants") or ():
        if variant.get("variant") != table.get("variant"):
            yield variant


def write_csv(file: TextIO, columns: tuple[str, ...], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write ``rows`` under a header of ``columns``; a field that a row lacks is an empty cell."""
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([cell(row.get(name)) for name in columns])


def cell(value: object) -> object:
    """Return ``value`` as it stands in a cell.

    A text that a spreadsheet would run (it begins with ``=``, ``+``, ``-``, ``@``, a tab
    or a carriage return, and is no plain number) gets an apostrophe before it.
    Half a surrogate pair becomes ``U+FFFD``.
    """
    if not isinstance(value, str):
        return value
    value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")
    return "'" + value if _FORMULA.match(value) and not _NUMBER.fullmatch(value) else value
