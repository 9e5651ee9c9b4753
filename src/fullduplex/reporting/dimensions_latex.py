"""The tables of a benchmark of actions for a paper: booktabs, and safe to compile whatever the names hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from fullduplex.reporting.cells import Cell, parts_of
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.latex import latex_numbers, latex_text, percent_close
from fullduplex.reporting.rows import interval
from fullduplex.reporting.translated import table_told

#: A page is wide enough for so many columns of I / S (n); a table of more is cut between two actions.
WIDEST = 5


def dimensions_latex(tables: Sequence[Mapping[str, Any]], *, heading: str, tell: Language = ENGLISH) -> str:
    """Return the tables whose cells join several numbers as LaTeX, "" where there are none.

    A system takes two lines, as in :func:`.latex.latex`: its numbers, then in small print their 95 % intervals and n.
    """
    made = []
    for table in (table_told(one, tell) for one in tables):
        if table["looks"] == "joined":
            pieces = _pieces(table["columns"])
            for number, places in enumerate(pieces, 1):
                part = f" ({tell('{number} of {all}', number=number, all=len(pieces))})" if len(pieces) > 1 else ""
                caption = f"{heading}{tell(': ')}{table['title']}{part}. {table['text']}"
                made.append(_table(table, places, caption, tell))
    return "\n".join(made)


def _pieces(columns: Sequence[Mapping[str, str]]) -> list[list[int]]:
    """Return the places of the columns of each piece of a table: whole groups, and no more than fit beside each other.

    A group that is wider than a page has a piece of its own.
    """
    made: list[list[int]] = []
    for group, same in groupby(range(len(columns)), key=lambda place: columns[place]["group"]):
        for its in [list(same)] if group else [[place] for place in same]:
            if made and len(made[-1]) + len(its) <= WIDEST:
                made[-1] += its
            else:
                made.append(its)
    return made


def _table(table: Mapping[str, Any], places: Sequence[int], caption: str, tell: Language) -> str:
    columns = [table["columns"][place] for place in places]
    lines = [
        "\\begin{table*}[t]",
        "\\centering\\small\\setlength{\\tabcolsep}{3pt}",
        f"\\caption{{{latex_text(caption)} {percent_close(tell('Below: 95 % intervals, n.'))}}}",
        f"\\begin{{tabular}}{{l{'c' * len(columns)}}}",
        "\\toprule",
        *_grouped(columns),
        " & ".join([latex_text(tell("System")), *map(_head, columns)]) + r" \\",
        "\\midrule",
    ]
    told: dict[int, int] = {}
    group = ""
    for row in table["rows"]:
        if row["group"] != group:
            group = row["group"]
            lines.append(f"\\multicolumn{{{len(columns) + 1}}}{{l}}{{\\textit{{{latex_text(group)}}}}} \\\\")
        cells = [row["cells"][place] for place in places]
        name = row["name"] + (f" ({'; '.join(row['marks'])})" if row["marks"] else "")
        lines.append(" & ".join([latex_text(name), *(_value(one, told) for one in cells)]) + r" \\")
        lines.append(" & ".join(["", *(_small(one, tell) for one in cells)]) + r" \\[2pt]")
    lines += ["\\bottomrule", "\\end{tabular}"]
    notes = [f"\\textsuperscript{{{own}}} {latex_text(table['footnotes'][ref - 1])}" for ref, own in told.items()]
    notes += [latex_text(note) for note in table["notes"]]
    if notes:
        lines += ["\\par\\smallskip\\footnotesize\\raggedright", " \\\\\n".join(notes)]
    return "\n".join([*lines, "\\end{table*}", ""])


def _grouped(columns: Sequence[Mapping[str, str]]) -> list[str]:
    spans = [(name, len(list(same))) for name, same in groupby(columns, key=lambda one: one["group"])]
    if not any(name for name, _ in spans):
        return []
    rules, at = [], 2
    for _, width in spans:
        rules.append(f"\\cmidrule(lr){{{at}-{at + width - 1}}}")
        at += width
    heads = [f"\\multicolumn{{{width}}}{{c}}{{{latex_text(name)}}}" for name, width in spans]
    return [" & ".join(["", *heads]) + r" \\", " ".join(rules)]


def _head(column: Mapping[str, str]) -> str:
    below = [f"\\scriptsize {latex_text(text)}" for text in (column["unit"], column["whose"]) if text]
    lines = r" \\ ".join([latex_text(column["title"]), *below])
    return f"\\shortstack{{{lines}}}"


def _value(its: Cell | None, told: dict[int, int]) -> str:
    if its is None:
        return ""
    parts = [latex_numbers(part["text"]) for part in parts_of(its)]
    parts = [f"\\textbf{{{text}}}" if part["best"] else text for part, text in zip(parts_of(its), parts, strict=True)]
    # Notes are numbered anew in each piece of a table.
    refs = ",".join(str(told.setdefault(ref, len(told) + 1)) for ref in its["refs"])
    return " / ".join(parts) + latex_numbers(its["tail"]) + (f"\\textsuperscript{{{refs}}}" if refs else "")


def _small(its: Cell | None, tell: Language) -> str:
    if its is None:
        return ""
    bounds = [interval(part, tell) or "—" for part in parts_of(its)]
    text = " / ".join(bounds) if any(one != "—" for one in bounds) else ""
    told = " ".join(filter(None, (latex_numbers(text), f"n={its['n']}")))
    return f"{{\\scriptsize {told}}}"
