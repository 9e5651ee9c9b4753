"""The tables of a benchmark that reports several dimensions apart, as pure data.

What a table is stands in :mod:`.framing`; those of a benchmark of actions come from :mod:`.actions`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fullduplex.benchmarks.boards import Dimension, Failures, Related
from fullduplex.measures.ranks import spearmans_rho
from fullduplex.reporting.actions import action_tables
from fullduplex.reporting.cells import (
    FEWEST_RELATED,
    Cell,
    by_item,
    cell,
    cell_of,
    mark_best,
    ratio_of,
    unit_and_better,
)  # fmt: skip
from fullduplex.reporting.framing import Table, framed
from fullduplex.reporting.seats import Ground, Seat

#: Why a conversation has no value for a type of probe that it does not hold.
_NO_PROBE = "no such probe"


def dimensions(ground: Ground) -> list[Table]:
    """Return the tables: of actions, of each dimension, probes by type, how systems failed, two scores related.

    No number is made of two dimensions but the last, their rank correlation. What no system has is left out.
    """
    tables = [table for one in ground.board.dimensions if (table := _table(ground, one)) is not None]
    extra = (_probes(ground), _failures(ground), _related(ground, tables))
    return [*action_tables(ground), *tables, *(table for table in extra if table is not None)]


def _table(ground: Ground, dimension: Dimension) -> Table | None:
    found = []
    for column in dimension.columns:
        cells = [cell_of(ground, seat, column, score=column.title == dimension.score) for seat in ground.seats]
        if any(cells):
            found.append((column, cells))
    if not found:
        return None
    heads = []
    for column, cells in found:
        unit, better = unit_and_better(ground, column)
        heads.append({"title": column.title, "unit": unit, "better": better})
        mark_best(cells, better)
    rows: list[dict[str, Any]] = [
        {"name": seat.system, "marks": seat.marks, "cells": [cells[place] for _, cells in found]}
        for place, seat in enumerate(ground.seats)
    ]
    sorts = next((place for place, (column, _) in enumerate(found) if column.title == dimension.score), None)
    if sorts is not None:
        rows.sort(key=lambda row: _from_best(row["cells"][sorts]))
    return framed(ground, dimension.key, dimension.title, dimension.text, heads, rows)


def _probes(ground: Ground) -> Table | None:
    told = ground.board.probes
    if told is None:
        return None
    rows = []
    for kind, title in told.types.items():
        part, whole = f"{told.part}:{kind}", f"{told.whole}:{kind}"
        cells: list[Cell | None] = [ratio_of(ground, seat, told.card, part, whole) for seat in ground.seats]
        if not any(one is not None and (one["n"] or one["missing"]) for one in cells):
            continue
        for one in cells:
            if one is not None:  # that a conversation has no probe of this type is no loss
                one["absent"] = [pair for pair in one["absent"] if pair[0] != _NO_PROBE]
                one["missing"] = sum(number for _, number in one["absent"])
        there = [one for one in cells if one is not None and one["value"] is not None]
        n = sum(one["n"] for one in there)
        share = sum(one["part"] for one in there) / n if n else None
        every = {"value": share, "unit": "share", "method": "over all systems, no interval"}
        rows.append({"name": title, "marks": [], "cells": [*cells, cell(every, n, counted=True)]})
        mark_best(cells, "higher")
    heads = [{"title": seat.system, "unit": "share", "better": "higher"} for seat in ground.seats]
    if len(heads) > 1:
        heads.append({"title": "all systems", "unit": "share", "better": "neither"})
    else:
        rows = [row | {"cells": row["cells"][:1]} for row in rows]
    return framed(ground, "probes", told.title, told.text, heads, rows, head="Probe") if rows else None


def _failures(ground: Ground) -> Table | None:
    told = ground.board.failures
    if told is None:
        return None
    heads = [
        {"title": title, "unit": "count", "better": "neither"}
        for title in (
            "Task items failed", "no reply", "wrong or mistimed", "not known",
            "Probes failed", "no reply", "wrong reply", "never asked",
        )
    ]  # fmt: skip
    rows: list[dict[str, Any]] = []
    for seat in ground.seats:
        split = _split(ground, seat, told)
        probes, n = _lost(ground, seat, told)
        cells: list[Cell | None] = [_count(one, split[0]) for one in split[1:]] if split else [None] * 4
        cells.extend([_count(one, n) for one in probes] if probes else [None] * 4)
        rows.append({"name": seat.system, "marks": seat.marks, "cells": cells})
    kept = [place for place in range(len(heads)) if any(row["cells"][place] is not None for row in rows)]
    if not kept:
        return None
    rows = [row | {"cells": [row["cells"][place] for place in kept]} for row in rows]
    return framed(ground, "failures", told.title, told.text, [heads[place] for place in kept], rows)


def _lost(ground: Ground, seat: Seat, told: Failures) -> tuple[list[int], int]:
    """Return how many probes failed, then by each of ``told.counts``; and of how many. Nothing where none is known.

    Over the conversations of which all of these are known: some need no judge, and would weigh too much.
    """
    names = [ground.board.cards[told.counted].whole, *told.counts.values()]
    columns = [ground.column(seat, told.counted, name) for name in names]
    found = [by_item(column) for column in columns if column is not None]
    if len(found) < len(names):
        return [], 0
    rows = [[one.get(item, "") for one in found] for item in found[0]]
    known = [[float(value) for value in row] for row in rows if not any(isinstance(value, str) for value in row)]
    n, *counts = (round(sum(values)) for values in zip(*known, strict=True)) if known else (0,)
    return ([sum(counts), *counts] if n else []), n


def _split(ground: Ground, seat: Seat, told: Failures) -> tuple[int, int, int, int, int] | None:
    """Return the items with a verdict, and of them: failed, without a reply, with a wrong one, neither known.

    None where no item has a verdict.
    """
    n = failed = silent = wrong = 0
    for card in told.cards:
        passed = ground.column(seat, card, ground.board.cards[card].metric)
        answered = ground.column(seat, card, told.answered)
        if passed is None or answered is None:
            continue
        replied = by_item(answered)
        for item, value in by_item(passed).items():
            n += not isinstance(value, str)
            if value == 0:
                failed += 1
                silent += replied.get(item) == 0
                wrong += replied.get(item) == 1
    return (n, failed, silent, wrong, failed - silent - wrong) if n else None


def _related(ground: Ground, tables: Sequence[Table]) -> Table | None:
    told = ground.board.related
    if told is None or len(ground.seats) < 2:
        return None
    scores = [_scores(ground, tables, key) for key in (told.first, told.second)]
    if not all(scores):
        return None
    heads = [{"title": "Rank correlation", "unit": "", "better": "neither"}]
    every = [seat.system for seat in ground.seats]
    rows = [{"name": "every system", "marks": [], "cells": [_rho(scores, every)]}]
    others = [name for name in every if not _is(told, name)]
    if len(others) < len(every):
        rows.append({"name": f"without {told.without}", "marks": [], "cells": [_rho(scores, others)]})
    return framed(ground, "related", told.title, told.text, heads, rows, head="Systems")


def _scores(ground: Ground, tables: Sequence[Table], key: str) -> dict[str, float]:
    """Return each system's score in the dimension ``key``."""
    table = next((one for one in tables if one["key"] == key), None)
    score = next((one.score for one in ground.board.dimensions if one.key == key), "")
    if table is None:
        return {}
    place = next((i for i, column in enumerate(table["columns"]) if column["title"] == score), None)
    if place is None:
        return {}
    found = {row["name"]: row["cells"][place] for row in table["rows"]}
    return {name: its["value"] for name, its in found.items() if its is not None and its["value"] is not None}


def _rho(scores: Sequence[Mapping[str, float]], systems: Sequence[str]) -> Cell:
    first, second = ({name: one[name] for name in systems if name in one} for one in scores)
    both = first.keys() & second.keys()
    absent = {"without one of the two scores": len(systems) - len(both)} if len(both) < len(systems) else {}
    if len(both) < FEWEST_RELATED:
        row = {"value": None, "absent": absent}
        return cell(row, len(both), note=f"fewer than {FEWEST_RELATED} systems have both scores")
    # Resampling a handful of systems gives no interval that could be believed.
    found = spearmans_rho({one: first[one] for one in both}, {one: second[one] for one in both}, resamples=1)
    note = found.method if found.value is None else ""
    return cell({"value": found.value, "absent": absent, "method": "Spearman, no interval"}, found.n, note=note)


def _is(told: Related, name: str) -> bool:
    """Return whether a system is called ``told.without``, alone or among other words."""
    return told.without.casefold() in re.split(r"[\W_]+", name.casefold())


def _count(number: int, n: int) -> Cell:
    return cell({"value": number, "unit": "count"}, n)


def _from_best(its: Cell | None) -> tuple[bool, float]:
    return (True, 0.0) if its is None or its["value"] is None else (False, -float(its["value"]))
