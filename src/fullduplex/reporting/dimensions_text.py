"""The tables of a benchmark's dimensions as text: Markdown for files, and a Rich table for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fullduplex.errors import printable
from fullduplex.reporting.cells import BY_CONSTRUCTION, Cell
from fullduplex.reporting.rows import ARROWS, figure
from fullduplex.reporting.tables import markdown_text

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

#: Up to so many systems stand side by side in a terminal, with their intervals; more stand below each other without.
BESIDE = 3
#: What a terminal marks the best with; it has no colours where it is read from a file.
_BEST = "★"
_RAISED = str.maketrans("0123456789,", "⁰¹²³⁴⁵⁶⁷⁸⁹˒")


def dimensions_markdown(tables: Sequence[Mapping[str, Any]], level: int = 2) -> str:
    """Return the tables as Markdown under headings of ``level``; "" where there are none.

    The best value of a column is bold; what a cell has to tell beside its number stands in numbered notes.
    """
    parts = []
    several = len({table["variant"] for table in tables}) > 1
    for table in tables:
        variant = f" ({markdown_text(str(table['variant']))})" if several else ""
        lines = [
            [table["head"], *(markdown_text(_head(column)) for column in table["columns"])],
            ["---", *("---:" for _ in table["columns"])],
        ]
        for row in table["rows"]:
            lines.append([markdown_text(_named(row)), *map(_markdown_cell, row["cells"])])
        parts.append(f"{'#' * level} {markdown_text(str(table['title']))}{variant}\n")
        parts.append(f"{markdown_text(str(table['text']))}\n")
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n")
        if table["footnotes"]:
            told = enumerate(table["footnotes"], 1)
            parts.append("\n".join(f"{number}. {markdown_text(note, 900)}" for number, note in told) + "\n")
        parts += [f"{markdown_text(note)}\n" for note in table["notes"]]
    return "\n".join(parts)


def dimensions_terminal(tables: Sequence[Mapping[str, Any]], *, heading: str = "") -> RenderableType:
    """Return the tables for a Rich console, footnotes below each and notes below all.

    Up to :data:`BESIDE` systems stand side by side, each number with its interval; of more, a line each. Where there
    are several, the best value of a measure has a star.
    """
    from rich.console import Group
    from rich.text import Text

    made: list[RenderableType] = [Text(printable(heading), style="bold")] if heading else []
    for table in tables:
        made.append(_rich(table))
        told = [f"{str(number).translate(_RAISED)} {note}" for number, note in enumerate(table["footnotes"], 1)]
        made.append(Text("\n".join(printable(line, 900) for line in [*told, ""]), style="dim"))
    notes = dict.fromkeys(printable(note, 900) for table in tables for note in table["notes"])
    return Group(*made, *(Text(note, style="dim") for note in notes))


def _rich(table: Mapping[str, Any]) -> RenderableType:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(
        title=Text(printable(str(table["title"]))), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False,
        padding=(0, 1),
    )  # fmt: skip
    rows, columns = table["rows"], table["columns"]
    systems = table["head"] == "System"
    wide = len(rows if systems else columns) <= BESIDE
    if systems and wide:
        # A measure a line and a system a column: as many lines as there are numbers of one system.
        made.add_column("", overflow="fold")
        for row in rows:
            made.add_column(Text(_named(row)), justify="right", overflow="fold")
        for place, column in enumerate(columns):
            made.add_row(Text(_head(column)), *(_terminal_cell(row["cells"][place], wide) for row in rows))
        return made
    made.add_column(Text(printable(str(table["head"]))), overflow="fold")
    for column in columns:
        made.add_column(Text(_head(column)), justify="right", overflow="fold")
    for row in rows:
        made.add_row(Text(_named(row)), *(_terminal_cell(one, wide) for one in row["cells"]))
    return made


def _terminal_cell(its: Cell | None, wide: bool) -> Text:
    from rich.text import Text

    if its is None:
        return Text("", style="dim")
    raised = ",".join(map(str, its["refs"])).translate(_RAISED)
    made = Text(its["text"] + (_BEST if its["best"] else "") + raised, style="bold" if its["best"] else "")
    by_construction = f" {BY_CONSTRUCTION}" if its["note"] == BY_CONSTRUCTION else ""
    made.append((f" {_bounds(its)}" if wide and _bounds(its) else "") + by_construction, style="not bold dim")
    made.append(("\n" if not wide else " ") + _of(its), style="not bold dim")
    return made


def _markdown_cell(its: Cell | None) -> str:
    if its is None:
        return ""
    text = f"**{its['text']}**" if its["best"] else its["text"]
    parts = [text, _bounds(its), _of(its), BY_CONSTRUCTION if its["note"] == BY_CONSTRUCTION else ""]
    raised = f"<sup>{', '.join(map(str, its['refs']))}</sup>" if its["refs"] else ""
    return " ".join(filter(None, parts)) + raised


def _bounds(its: Cell) -> str:
    if its["low"] is None or its["high"] is None or its["value"] is None:
        return ""
    return f"[{figure(its['low'], its['unit'])}, {figure(its['high'], its['unit'])}]"


def _of(its: Cell) -> str:
    """Return what a number rests on: how many of how many, else n."""
    if its["part"] is not None:
        return f"{its['part']}/{its['n']}"
    return f"{its['things']}, n {its['n']}" if its["things"] else f"n {its['n']}"


def _named(row: Mapping[str, Any]) -> str:
    marks = f" ({'; '.join(row['marks'])})" if row["marks"] else ""
    return printable(f"{row['name']}{marks}")


def _head(column: Mapping[str, str]) -> str:
    arrow = ARROWS.get(column["better"], "")
    unit = f" ({column['unit']})" if column["unit"] not in ("", "share", "count") else ""
    return printable(f"{column['title']}{unit}") + (f" {arrow}" if arrow else "")
