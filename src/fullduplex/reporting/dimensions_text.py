"""The tables of a benchmark's dimensions as text: Markdown for files, and a Rich table for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fullduplex.errors import printable
from fullduplex.reporting.cells import BY_CONSTRUCTION, Cell, parts_of
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.rows import ARROWS, interval
from fullduplex.reporting.tables import markdown_text
from fullduplex.reporting.translated import table_told

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

#: Up to so many systems stand side by side in a terminal, with their intervals; more stand below each other without.
BESIDE = 3
#: What a terminal marks the best with; it has no colours where it is read from a file.
_BEST = "★"
#: What a page draws is more than a terminal has room for; report.md has it as tables.
_DRAWN = ("heat", "bars", "ranges", "stacks")
_RAISED = str.maketrans("0123456789,", "⁰¹²³⁴⁵⁶⁷⁸⁹˒")


def dimensions_markdown(tables: Sequence[Mapping[str, Any]], level: int = 2, tell: Language = ENGLISH) -> str:
    """Return the tables as Markdown under headings of ``level``; "" where there are none.

    The best value of a column is bold; what a cell has to tell beside its number stands in numbered notes.
    """
    parts = []
    several = len({table["variant"] for table in tables}) > 1
    for table in (table_told(one, tell) for one in tables):
        variant = f" ({markdown_text(str(table['variant']))})" if several else ""
        lines = [
            [table["head"], *(markdown_text(_head(column, tell)) for column in table["columns"])],
            ["---", *("---:" for _ in table["columns"])],
        ]
        group = ""
        for row in table["rows"]:
            if row["group"] != group:
                group = row["group"]
                lines.append([f"*{markdown_text(group)}*", *("" for _ in table["columns"])])
            lines.append([markdown_text(_named(row)), *(_markdown_cell(its, tell) for its in row["cells"])])
        parts.append(f"{'#' * level} {markdown_text(str(table['title']))}{variant}\n")
        parts.append(f"{markdown_text(str(table['text']))}\n")
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n")
        if table["footnotes"]:
            told = enumerate(table["footnotes"], 1)
            parts.append("\n".join(f"{number}. {markdown_text(note, 900)}" for number, note in told) + "\n")
        parts += [f"{markdown_text(note)}\n" for note in table["notes"]]
    return "\n".join(parts)


def dimensions_terminal(
    tables: Sequence[Mapping[str, Any]], *, heading: str = "", tell: Language = ENGLISH
) -> RenderableType:
    """Return the tables for a Rich console, footnotes below each and notes below all.

    Up to :data:`BESIDE` systems stand side by side, each number with its interval; of more, a line each. Where there
    are several, the best value of a measure has a star.
    """
    from rich.console import Group
    from rich.text import Text

    tables = [table for table in tables if table["looks"] not in _DRAWN]
    made: list[RenderableType] = [Text(printable(heading), style="bold")] if heading else []
    systems = [table["head"] == "System" for table in tables]
    tables = [table_told(table, tell) for table in tables]
    for table, by_system in zip(tables, systems, strict=True):
        made.append(_rich(table, by_system, tell))
        told = [f"{str(number).translate(_RAISED)} {note}" for number, note in enumerate(table["footnotes"], 1)]
        made.append(Text("\n".join(printable(line, 900) for line in [*told, ""]), style="dim"))
    notes = dict.fromkeys(printable(note, 900) for table in tables for note in table["notes"])
    return Group(*made, *(Text(note, style="dim") for note in notes))


def _rich(table: Mapping[str, Any], systems: bool, tell: Language) -> RenderableType:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(
        title=Text(printable(str(table["title"]))), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False,
        padding=(0, 1),
    )  # fmt: skip
    rows, columns = table["rows"], table["columns"]
    wide = len(rows if systems else columns) <= BESIDE
    # What joins several numbers is too broad to stand in many columns.
    if systems and (wide or (table["looks"] == "joined" and len(rows) < len(columns))):
        # A measure a line and a system a column: as many lines as there are numbers of one system.
        made.add_column("", overflow="fold")
        for row in rows:
            made.add_column(Text(_in_group(row)), justify="right", overflow="fold")
        for place, column in enumerate(columns):
            made.add_row(Text(_head(column, tell)), *(_terminal_cell(row["cells"][place], wide, tell) for row in rows))
        return made
    made.add_column(Text(printable(str(table["head"]))), overflow="fold")
    for column in columns:
        made.add_column(Text(_head(column, tell)), justify="right", overflow="fold")
    for row in rows:
        made.add_row(Text(_in_group(row)), *(_terminal_cell(one, wide, tell) for one in row["cells"]))
    return made


def _terminal_cell(its: Cell | None, wide: bool, tell: Language) -> Text:
    from rich.text import Text

    if its is None:
        return Text("", style="dim")
    raised = ",".join(map(str, its["refs"])).translate(_RAISED)
    made = Text()
    for place, part in enumerate(parts_of(its)):
        made.append(" / " if place else "")
        made.append(part["text"] + (_BEST if part["best"] else ""), style="bold" if part["best"] else "")
    made.append(its["tail"] + raised)
    by_construction = f" {tell(BY_CONSTRUCTION)}" if _by_construction(its, tell) else ""
    bounds = _bounds(its, tell) if wide else ""
    made.append((f" {bounds}" if bounds else "") + by_construction, style="not bold dim")
    made.append(("\n" if not wide else " ") + _of(its), style="not bold dim")
    return made


def _markdown_cell(its: Cell | None, tell: Language) -> str:
    if its is None:
        return ""
    texts = [f"**{part['text']}**" if part["best"] else part["text"] for part in parts_of(its)]
    text = " / ".join(texts) + markdown_text(its["tail"])
    parts = [text, _bounds(its, tell), _of(its), tell(BY_CONSTRUCTION) if _by_construction(its, tell) else ""]
    raised = f"<sup>{', '.join(map(str, its['refs']))}</sup>" if its["refs"] else ""
    return " ".join(filter(None, parts)) + raised


def _by_construction(its: Cell, tell: Language) -> bool:
    return any(part["note"] == tell(BY_CONSTRUCTION) for part in parts_of(its))


def _bounds(its: Cell, tell: Language) -> str:
    told = [interval(part, tell) or "—" for part in parts_of(its)]
    return " / ".join(told) if any(one != "—" for one in told) else ""


def _of(its: Cell) -> str:
    """Return what a number rests on: how many of how many, else n."""
    if its["part"] is not None:
        return f"{its['part']}/{its['n']}"
    return f"{its['things']}, n {its['n']}" if its["things"] else f"n {its['n']}"


def _in_group(row: Mapping[str, Any]) -> str:
    return _named(row) + (f" ({printable(row['group']).lower()})" if row["group"] else "")


def _named(row: Mapping[str, Any]) -> str:
    marks = f" ({'; '.join(row['marks'])})" if row["marks"] else ""
    return printable(f"{row['name']}{marks}")


def _head(column: Mapping[str, str], tell: Language) -> str:
    arrow = ARROWS.get(column["better"], "")
    unit = f" ({column['unit']})" if column["unit"] not in ("", "share", "count") else ""
    group = f"{column['group']}{tell(': ')}" if column["group"] else ""
    whose = f" [{column['whose']}]" if column["whose"] else ""
    return printable(f"{group}{column['title']}{unit}{whose}") + (f" {arrow}" if arrow else "")
