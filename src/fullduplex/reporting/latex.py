"""The standard table for a paper: booktabs, and safe to compile whatever the names hold."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from fullduplex.errors import printable
from fullduplex.reporting.grid import Cell, Grid, grids, published_grids
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.rows import Row, figure, interval, label, system_label

_SPECIAL = {
    **{"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_"},
    **{"^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}"},
    **{"|": r"\textbar{}", '"': "''", "[": "{[}", "]": "{]}", "*": "{*}", "`": r"\`{}"},
    **{"\u00a0": "~", "\u202f": r"\,", "«": r"$\scriptscriptstyle\ll$", "»": r"$\scriptscriptstyle\gg$"},
    **{"—": "---", "–": "--", "×": r"$\times$", "±": r"$\pm$", "µ": r"$\mu$", "…": r"\ldots{}"},
    **{
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
        "‘": "`",
        "’": "'",
        "“": "``",
        "”": "''",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
    },
    **{"ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}", "ø": r"\o{}", "Ø": r"\O{}", "œ": r"\oe{}", "Œ": r"\OE{}"},
    **{"ł": r"\l{}", "Ł": r"\L{}", "å": r"\aa{}", "Å": r"\AA{}"},
}
#: Unicode's combining marks by LaTeX's accents.
_ACCENTS = {
    **{"\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": "."},
    **{"\u0308": '"', "\u030b": "H", "\u030c": "v", "\u0327": "c"},
}


def latex(rows: Sequence[Row], *, heading: str, published: Sequence[Row] = (), tell: Language = ENGLISH) -> str:
    """Return the standard table as LaTeX; it needs the booktabs package and no encoding.

    A system takes two lines: its values, then in small print each 95 % interval and n.
    Bold and arrows as in the Markdown. Notes follow the table; published rows are tables
    of their own.
    """
    found = grids(rows, tell)
    made = []
    for grid in found:
        titled = f"{heading}{tell(': ')}{grid.title or tell('no variant named')}"
        made.append(_table(grid, heading if len(found) == 1 else titled, tell))
    made += [_table(grid, grid.title, tell) for grid in published_grids(published, tell)]
    return "% Needs \\usepackage{booktabs}.\n" + "\n".join(made)


def latex_text(text: str) -> str:
    """Return ``text`` as LaTeX that prints it: ASCII, with every active character escaped.

    A character without an ASCII form in every engine is printed as its code point.
    """
    return "".join(map(_character, printable(text, 600)))


def _character(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    if character.isascii():
        return character
    base, *marks = tuple(unicodedata.normalize("NFD", character))
    if base.isascii() and base.isalpha() and len(marks) == 1 and marks[0] in _ACCENTS:
        return f"\\{_ACCENTS[marks[0]]}{{{base}}}"
    return f"{{[}}U+{ord(character):04X}{{]}}"


def _table(grid: Grid, caption: str, tell: Language) -> str:
    spans = grid.spans(tell)
    groups = [f"\\multicolumn{{{width}}}{{c}}{{{_stacked(name)}}}" for name, width in spans]
    rules, at = [], 2
    for _, width in spans:
        rules.append(f"\\cmidrule(lr){{{at}-{at + width - 1}}}")
        at += width
    below = (
        f" {percent_close(tell('Below each value: 95 % interval, n.'))}"
        if any(_small(c, tell) for c in grid.cells.values())
        else ""
    )
    lines = [
        "\\begin{table*}[t]",
        "\\centering\\small\\setlength{\\tabcolsep}{3pt}",
        f"\\caption{{{latex_text(caption)}.{below}}}",
        f"\\begin{{tabular}}{{l{'c' * len(grid.columns)}}}",
        "\\toprule",
        " & ".join(["", *groups]) + r" \\",
        " ".join(rules),
        " & ".join([latex_text(tell("System")), *(latex_text(label(grid.heads[c], tell)) for c in grid.columns)])
        + r" \\",
        "\\midrule",
    ]
    for system in grid.systems:
        cells = [grid.cells.get((system, column)) for column in grid.columns]
        lines.append(
            " & ".join([latex_text(system_label({"system": system}, tell)), *(_value(c, tell) for c in cells)]) + r" \\"
        )
        small = [_small(cell, tell) for cell in cells]
        if any(small):
            lines.append(" & ".join(["", *small]) + r" \\[2pt]")
    lines += ["\\bottomrule", "\\end{tabular}"]
    if grid.notes:
        notes = [f"\\textsuperscript{{{i}}} {latex_text(note)}" for i, note in enumerate(grid.notes, 1)]
        lines += ["\\par\\smallskip\\footnotesize\\raggedright", " \\\\\n".join(notes)]
    return "\n".join([*lines, "\\end{table*}", ""])


def _stacked(name: str) -> str:
    """Return a scenario's title over as many lines as it has parts, for its columns are narrow."""
    parts = [latex_text(part) for part in name.split(", ")]
    lines = r" \\ ".join(parts)
    return lines if len(parts) == 1 else f"\\shortstack{{{lines}}}"


def latex_numbers(text: str) -> str:
    """Return printed numbers with a minus sign where text has a hyphen."""
    return re.sub(r"(?<![\w-])-(?=\d)", "$-$", latex_text(text))


def percent_close(text: str) -> str:
    """Return a text with a thin space before each sign of percent."""
    return latex_text(text).replace(r" \%", r"\,\%").replace(r"~\%", r"\,\%")


def _value(cell: Cell | None, tell: Language) -> str:
    if cell is None:
        return ""
    text = latex_numbers(figure(cell.row["value"], str(cell.row.get("unit", "")), tell))
    text = f"\\textbf{{{text}}}" if cell.best else text
    return text + (f"\\textsuperscript{{{cell.note}}}" if cell.note else "")


def _small(cell: Cell | None, tell: Language) -> str:
    if cell is None or cell.row["value"] is None:
        return ""
    n = "" if cell.row.get("n") is None else f"n={cell.row['n']}"
    texts = [latex_numbers(interval(cell.row, tell)), n]
    return f"{{\\scriptsize {' '.join(filter(None, texts))}}}" if any(texts) else ""
