"""Estimates as tables: for a page, a spreadsheet, a paper, a program, a terminal.

Every form says n, the interval and what is missing; none prints a missing value as a
number. Published rows stand in tables of their own, under their source.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullduplex.data.files import replacing
from fullduplex.errors import printable
from fullduplex.reporting.best import FEWEST
from fullduplex.reporting.grid import Cell, Grid, grids, published_grids
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.latex import latex
from fullduplex.reporting.rows import (
    NAMED_UNITS,
    Row,
    absences,
    estimate_row,
    figure,
    interval,
    label,
    scenario_label,
    system_label,
    waits_for_a_judge,
)
from fullduplex.reporting.trust import judge_lines

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = [
    "csv_text",
    "estimate_row",
    "judges_of",
    "latex",
    "markdown",
    "markdown_text",
    "remarks_of",
    "terminal",
    "to_json",
    "write_parquet",
]

#: The columns of the long form: one line an estimate.
LONG = (
    *("system", "variant", "scenario", "metric", "title", "rests_on", "unit", "better"),
    *("value", "low", "high", "n", "absent", "method", "judged_by"),
)
#: What an estimate is in JSON, in this order; ``system`` joins where it is known.
JSON_KEYS = (
    *("scenario", "metric", "value", "low", "high", "n", "absent", "unit", "better"),
    *("title", "rests_on", "method"),
)
_NUMBERS = ("value", "low", "high", "n")


def markdown(rows: Sequence[Row], *, heading: str, published: Sequence[Row] = (), tell: Language = ENGLISH) -> str:
    """Return the standard table in Markdown, then each number with its method, then published ones.

    ``heading`` names benchmark@variant. In the standard table a cell reads value [95 %
    interval] n; bold is best among systems measured on equally many items, and only where a
    direction is better. The second part groups by what a metric rests on.
    """
    parts = [f"# {markdown_text(heading)}"]
    found = grids(rows, tell)
    for grid in found:
        if len(found) > 1:
            parts.append(f"## {markdown_text(grid.title or tell('no variant named'))}")
        parts += [_wide(grid, tell), *_notes(grid)]
    parts.append(
        tell(
            "Each cell: value [95 % interval] n. ↑ higher is better, ↓ lower is better, no arrow: neither. "
            "Bold: the best of systems whose values rest on equally many items, {n} or more; a system that said "
            "nothing is never best.",
            n=FEWEST,
        )
    )
    parts += [prose(sentence) for sentence in _remarks(rows, tell)]
    rows = [row for row in rows if not row.get("family") and not waits_for_a_judge(row)]
    for rests_on in dict.fromkeys(_rests_on(row) for row in rows):
        title = tell("Rests on {rests_on}", rests_on=markdown_text(tell.of(rests_on)))
        parts += [f"## {title}", _long([r for r in rows if _rests_on(r) == rests_on], tell)]
    parts += [markdown_text(sentence, 900) for sentence in judges_of(rows, tell)]
    for grid in published_grids(published, tell):
        parts += [f"## {markdown_text(grid.title)}", _wide(grid, tell), *_notes(grid)]
    return "\n\n".join(parts) + "\n"


def csv_text(rows: Iterable[Row]) -> str:
    """Return one CSV line an estimate, numbers unrounded, ``absent`` as a JSON object.

    A text that a spreadsheet would run as a formula is led by an apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(LONG)
    for row in rows:
        flat = _flat(row)
        writer.writerow([_number(flat[key]) if key in _NUMBERS else _inert(str(flat[key])) for key in LONG])
    return out.getvalue()


def to_json(
    rows: Iterable[Row], *, benchmark: str, variant: str, version: str, items: Iterable[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """Return the one shape of ``estimates.json`` and ``score --json``.

    ``{"benchmark", "variant", "version", "estimates": [...], "items": [...]}``; an estimate has
    the keys of ``JSON_KEYS``, ``system`` where a row names one, ``judged_by`` and ``worth`` where somebody judged.
    Raises ValueError on NaN.
    """
    estimates = []
    for row in rows:
        one = {key: row.get(key, {} if key == "absent" else "") for key in JSON_KEYS}
        one["absent"] = dict(one["absent"])
        estimates.append(one | {key: row[key] for key in ("system", "judged_by", "worth") if row.get(key)})
    made = {
        "benchmark": benchmark,
        "variant": variant,
        "version": version,
        "estimates": estimates,
        "items": [dict(item) for item in items],
    }
    json.dumps(made, allow_nan=False)
    return made


def write_parquet(path: str | os.PathLike[str], rows: Iterable[Row]) -> None:
    """Write one Parquet row an estimate; columns as in the CSV, missing numbers as nulls."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    flat = [_flat(row) for row in rows]
    kinds = {"value": pa.float64(), "low": pa.float64(), "high": pa.float64(), "n": pa.int64()}
    schema = pa.schema([(key, kinds.get(key, pa.string())) for key in LONG])
    table = pa.Table.from_pylist(flat, schema=schema)
    # A file of ours: by a path with a colon in it Arrow would look for a file system of that name.
    with replacing(Path(path)) as part, part.open("wb") as file:
        pq.write_table(table, file)


def terminal(rows: Sequence[Row], *, heading: str = "", tell: Language = ENGLISH) -> RenderableType:
    """Return the rows for a Rich console: a table for each thing that metrics rest on, one line an estimate."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    systems = len({row.get("system") for row in rows}) > 1
    made: list[RenderableType] = [Text(printable(heading), style="bold")] if heading else []
    for rests_on in dict.fromkeys(_rests_on(row) for row in rows):
        title = Text(tell("rests on {rests_on}", rests_on=printable(tell.of(rests_on))))
        table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
        for name in ([tell("system")] if systems else []) + [tell("scenario")]:
            table.add_column(name, min_width=12, overflow="fold")
        for name in ("metric", "value", "95 %", "n"):
            table.add_column(tell.of(name), justify="left" if name == "metric" else "right", no_wrap=True)
        table.add_column(tell("absent"), overflow="fold")
        for row in rows:
            if _rests_on(row) == rests_on and not row.get("family") and not waits_for_a_judge(row):
                cells = [system_label(row, tell)] if systems else []
                unit = str(row.get("unit", ""))
                metric = label(row, tell)
                named = f"{metric} ({unit})" if unit in NAMED_UNITS else metric
                cells += [scenario_label(row, tell), named, figure(row["value"], unit, tell)]
                cells += [interval(row, tell) or "—", _count(row)]
                cells.append(tell("; ").join(filter(None, (absences(row, tell), _judged(row, tell)))))
                # Text, not markup: a name in brackets would be read as a style.
                table.add_row(*map(Text, cells))
        if table.row_count:
            made.append(table)
    made += [Text(f"{sentence}\n") for sentence in _remarks(rows, tell)]
    made += [Text(f"{printable(sentence, 900)}\n", style="dim") for sentence in judges_of(rows, tell, brief=True)]
    return Group(*made)


def markdown_text(text: str, limit: int = 600) -> str:
    """Return ``text`` as Markdown that shows it and does nothing else."""
    safe = printable(text, limit).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    safe = re.sub(r"([\\`*\[\]|~#!$])", r"\\\1", safe)
    # Inside a word an underscore is itself.
    return re.sub(r"(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])", r"\\_", safe)


def prose(text: str, limit: int = 600) -> str:
    """Return a sentence of our own as Markdown: as :func:`markdown_text`, with `code` in it shown as code.

    What stands between two backticks stays so where it is plain letters and signs; nothing else is left to do.
    """
    return re.sub(r"\\`([\w .,:/=-]+?)\\`", r"`\1`", markdown_text(text, limit))


def _wide(grid: Grid, tell: Language) -> str:
    heads = [f"{scenario_label(grid.heads[c], tell)}{tell(': ')}{label(grid.heads[c], tell)}" for c in grid.columns]
    lines = [[tell("System"), *map(markdown_text, heads)], ["---", *("---:" for _ in heads)]]
    for system in grid.systems:
        cells = [grid.cells.get((system, column)) for column in grid.columns]
        lines.append([markdown_text(system_label({"system": system}, tell)), *(_cell(cell, tell) for cell in cells)])
    return _table(lines)


def _cell(cell: Cell | None, tell: Language) -> str:
    if cell is None:
        return ""
    text = figure(cell.row["value"], str(cell.row.get("unit", "")), tell)
    text = f"**{text}**" if cell.best else text
    note = f"<sup>{cell.note}</sup>" if cell.note else ""
    if cell.row["value"] is None:
        return text + note
    return " ".join(filter(None, [text + note, interval(cell.row, tell), _count(cell.row)]))


def _notes(grid: Grid) -> list[str]:
    return ["\n".join(f"{i}. {markdown_text(note, 900)}" for i, note in enumerate(grid.notes, 1))] if grid.notes else []


def _long(rows: Sequence[Row], tell: Language) -> str:
    variants = len({row.get("variant") for row in rows}) > 1
    heads = ["System", *(["Variant"] if variants else []), "Scenario", "Metric", "Value", "95 % interval", "n"]
    heads += ["Absent", "Method"]
    lines = [[tell.of(name) for name in heads], [("---:" if name in ("Value", "n") else "---") for name in heads]]
    for row in rows:
        unit = str(row.get("unit", ""))
        shown = figure(row["value"], unit, tell) + (
            f" {unit}" if unit in ("s", "ms", "1/s") and row["value"] is not None else ""
        )
        texts = [system_label(row, tell), *([str(row.get("variant") or "")] if variants else [])]
        texts += [scenario_label(row, tell), label(row, tell), shown, interval(row, tell) or "—", _count(row)]
        texts.append(absences(row, tell))
        texts.append(tell("; ").join(filter(None, (tell.of(str(row.get("method") or "")), _judged(row, tell)))))
        lines.append([markdown_text(text) for text in texts])
    return _table(lines)


def _table(lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _count(row: Row) -> str:
    return "" if row.get("n") is None else str(row["n"])


def _judged(row: Row, tell: Language) -> str:
    return tell("judged: {worth}", worth=tell.of(row["worth"])) if row.get("worth") and row["value"] is not None else ""


def _remarks(rows: Sequence[Row], tell: Language) -> list[str]:
    """Return what has to be said of a table as a whole: what waits for a judge, which intervals are too narrow."""
    told = []
    waiting = sum(map(waits_for_a_judge, rows))
    if waiting:
        one = "{n} number waits for a judge: `fullduplex judge RUN --judge SPEC`."
        many = "{n} numbers wait for a judge: `fullduplex judge RUN --judge SPEC`."
        told.append(tell.ngettext(one, many, waiting).format(n=waiting))
    narrow = sum("too narrow" in str(row.get("method") or "") for row in rows if not row.get("family"))
    if narrow:
        one = "{n} interval rests on fewer than 20 items or groups and is too narrow."
        many = "{n} intervals rest on fewer than 20 items or groups and are too narrow."
        told.append(tell.plural(one, many, narrow))
    return told


def remarks_of(rows: Sequence[Row], tell: Language = ENGLISH) -> list[str]:
    """Return what a terminal says below the tables of ``rows``: of intervals, of what waits, and of judges."""
    return [*_remarks(rows, tell), *(printable(sentence, 900) for sentence in judges_of(rows, tell, brief=True))]


def judges_of(rows: Iterable[Row], tell: Language = ENGLISH, *, brief: bool = False) -> list[str]:
    """Return a sentence for each judge on whose word some of ``rows`` rest; see :func:`.trust.judge_lines`."""
    those = [row for row in rows if row.get("worth") and row["value"] is not None and row.get("judged_by")]
    told = judge_lines((judge for row in those for judge in row.get("judges") or ()), tell, brief=brief)
    # A table that was read from a file has the sentence alone.
    bare = (
        f"{system_label(row, tell)}{tell(': ')}{tell.of(row['judged_by'])}." for row in those if not row.get("judges")
    )
    return list(dict.fromkeys([*told, *bare]))


def _rests_on(row: Row) -> str:
    return str(row.get("rests_on") or "what is not said")


def _flat(row: Row) -> dict[str, Any]:
    flat = {key: row.get(key) if key in _NUMBERS else str(row.get(key) or "") for key in LONG}
    return flat | {"absent": json.dumps(dict(row.get("absent") or {}), sort_keys=True, ensure_ascii=False)}


def _number(value: float | int | None) -> str:
    return "" if value is None else repr(value)


def _inert(text: str) -> str:
    text = printable(text, 10_000)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text
