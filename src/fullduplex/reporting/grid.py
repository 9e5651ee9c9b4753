"""The standard table before it is written: systems down, metrics by scenario across."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fullduplex.errors import printable
from fullduplex.reporting.best import FEWEST, may_be_best
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.rows import (
    Row,
    absences,
    figure,
    label,
    scenario_label,
    system_label,
    waits_for_a_judge,
)

Column = tuple[str, str]
#: A table of more columns is cut by scenario.
WIDEST = 16


@dataclass(frozen=True, slots=True)
class Cell:
    """One number: its row, whether it is the best of its column, and the number of its note (0: none)."""

    row: Row
    best: bool = False
    note: int = 0


@dataclass(frozen=True, slots=True)
class Grid:
    """One table: ``heads`` holds a row for each column to take its labels from."""

    title: str
    columns: tuple[Column, ...]
    heads: Mapping[Column, Row]
    systems: tuple[str, ...]
    cells: Mapping[tuple[str, Column], Cell]
    notes: tuple[str, ...]

    def spans(self, tell: Language = ENGLISH) -> list[tuple[str, int]]:
        """Return each scenario's label with the number of its columns, in order."""
        found: list[tuple[str, int]] = []
        last = None
        for column in self.columns:
            if column[0] == last:
                found[-1] = (found[-1][0], found[-1][1] + 1)
            else:
                found.append((scenario_label(self.heads[column], tell), 1))
            last = column[0]
        return found


def grids(rows: Iterable[Row], tell: Language = ENGLISH) -> list[Grid]:
    """Return a grid for each variant among ``rows``, in the order in which they first appear, or one for each scenario.

    Numbers under different rules never share a table.
    """
    by_variant: dict[str, list[Row]] = {}
    for row in rows:
        by_variant.setdefault(printable(str(row.get("variant") or "")), []).append(row)
    made = []
    for variant, found in by_variant.items():
        grid = _grid(variant, found, tell)
        made += [grid] if len(grid.columns) <= WIDEST else _by_scenario(variant, found, tell)
    return [grid for grid in made if grid.columns]


def _by_scenario(variant: str, rows: Iterable[Row], tell: Language) -> list[Grid]:
    """Return a grid for each scenario, of a table that no page is wide enough for."""
    parts: dict[str, list[Row]] = {}
    for row in rows:
        parts.setdefault(scenario_label(row, tell), []).append(row)
    return [_grid(", ".join(filter(None, (variant, title))), found, tell) for title, found in parts.items()]


def published_grids(rows: Iterable[Row], tell: Language = ENGLISH) -> list[Grid]:
    """Return a grid for each source and variant among published rows, titled so."""
    by_source: dict[str, list[Row]] = {}
    for row in rows:
        named = ", ".join(printable(tell.kept(str(row[key]))) for key in ("source", "variant") if row.get(key))
        by_source.setdefault(tell("As published ({named})", named=named), []).append(row)
    return [_grid(title, found, tell) for title, found in by_source.items()]


def _grid(title: str, rows: Sequence[Row], tell: Language) -> Grid:
    heads: dict[Column, Row] = {}
    systems: dict[str, None] = {}
    placed: dict[tuple[str, Column], Row] = {}
    for row in rows:
        if row.get("family") or waits_for_a_judge(row):
            continue  # of the first there are tables of their own, of the others one sentence
        column, system = (str(row["scenario"]), str(row["metric"])), str(row.get("system") or "")
        if (system, column) in placed:
            raise ValueError(
                f"{system_label(row)} has two values of {column[1]} in {column[0]} under {title or 'one variant'}"
            )
        heads.setdefault(column, row)
        systems.setdefault(system)
        placed[system, column] = row
    # Scenarios in order of appearance, and a scenario's metrics side by side.
    order = list(dict.fromkeys(scenario for scenario, _ in heads))
    columns = tuple(sorted(heads, key=lambda column: order.index(column[0])))
    best = {column: _best([placed[s, column] for s in systems if (s, column) in placed]) for column in columns}
    cells: dict[tuple[str, Column], Cell] = {}
    notes: dict[str, int] = {}
    for system in systems:
        for column in columns:
            if (system, column) in placed:
                row = placed[system, column]
                text = _note(row, tell)
                number = notes.setdefault(text, len(notes) + 1) if text else 0
                cells[system, column] = Cell(
                    row, may_be_best(row) and figure(row["value"], str(row.get("unit", ""))) in best[column], number
                )
    return Grid(title, columns, heads, tuple(systems), cells, tuple(notes))


def _best(rows: Sequence[Row]) -> frozenset[str]:
    """Return the printed figures that are best in a column; none where a comparison would mislead.

    Comparable: a direction is better, at least two systems have a value, and all of these rest on equally many items
    (on the same ones, where the rows say which), on enough of them (:mod:`.best`).
    """
    there = [row for row in rows if row["value"] is not None]
    if len(there) < 2 or len({row.get("better") for row in there}) != 1:
        return frozenset()
    if there[0].get("n") is None or len({(row["n"], row.get("item_set")) for row in there}) != 1:
        return frozenset()
    choose = {"higher": max, "lower": min}.get(str(there[0].get("better")))
    if choose is None:
        return frozenset()
    top = choose(there, key=lambda row: float(row["value"]))
    return frozenset([figure(top["value"], str(top.get("unit", "")))] if there[0]["n"] >= FEWEST else ())


def _note(row: Row, tell: Language) -> str:
    """Return what a reader of the bare number has to know: a departure, or why there is none."""
    system, colon = system_label(row, tell), tell(": ")
    where = f"{system}, {scenario_label(row, tell)}, {label(row, tell).rstrip(' ↑↓')}"
    if row.get("departure"):
        return f"{where}{colon}{printable(tell.of(str(row['departure'])), 600)}"
    if row.get("judged_by") and row["value"] is not None:
        # One note for all the numbers of one judge; what else is to be said of it stands once, under the tables.
        told = "; ".join(f"judged by {one.name}, rubric {one.rubric}" for one in row.get("judges") or () if one.rubric)
        said = f"{told}; {row['worth']}" if told else str(row["judged_by"])
        return f"{system}{colon}{printable(tell.of(said), 900)}"
    if row["value"] is None:
        return f"{where}{colon}{tell('no value')} ({absences(row, tell) or tell('no items')})"
    return ""
