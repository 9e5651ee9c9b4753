"""The tables of a benchmark of actions: success at once (I), what follows (S), and time (T), in its publication's form.

By protocol a column a condition, ``I / S (n_S)``; over all conditions a column an action, ``I / S / T``; times as
``median (IQR, n_T)``. Every number has its interval and n; where there is none the cell says why.
Source: DuplexAct's Tables 4, 15 and 16 and Figures 3 to 6; the page that prints them has no intervals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from fullduplex.benchmarks.boards import Column
from fullduplex.benchmarks.duplexact.conditions import Action, Condition, actions
from fullduplex.measures.actions import NOT_ENTERED, TIMED
from fullduplex.reporting.cells import (
    BY_CONSTRUCTION,
    Cell,
    by_item,
    cell,
    cell_of,
    in_percent,
    joined,
    mark_best,
    parts_of,
)
from fullduplex.reporting.framing import Table, framed
from fullduplex.reporting.rows import figure
from fullduplex.reporting.seats import ACCESS, Ground, Seat

PROTOCOLS = ("direct", "simulator")
#: How settings and origins are called in tables, in the publication's order.
SETTINGS = {"casual": "Casual", "meeting": "Meeting", "interview": "Interview", "customer_service": "Customer service"}
ORIGINS = {"recorded": "recorded", "synthesised": "synthesised"}
_NOT_TOLD = "not told"
#: Why there is no number of what follows, where no instance succeeded at once.
NONE_ENTERED = "none entered"
IMMEDIATE, FOLLOW_THROUGH, TIMING = "immediate", "follow_through", "timing"
_POOLED = ((IMMEDIATE, "I"), (FOLLOW_THROUGH, "S"), (TIMING, "T"))


def action_tables(ground: Ground) -> list[Table]:
    """Return the tables of actions: overall, by protocol, times, and four that are drawn; of what was measured.

    Nothing for a benchmark whose board has none.
    """
    if not ground.board.actions:
        return []
    tables = [_overall(ground), *(_by_protocol(ground, one) for one in PROTOCOLS), _times(ground)]
    tables += [_failures(ground), _means(ground), _settings(ground), _composition(ground)]
    made = [table for table in tables if table is not None]
    for table in made:
        if table["key"] in ("overall", *PROTOCOLS):
            table["notes"].append(ground.board.actions["note"][1])
    return made


def action_rows(ground: Ground) -> list[dict[str, Any]]:
    """Return I, S and T of each action, pooled over its conditions, as rows of estimates; shares, not percent.

    ``scenario`` is the action's key. Nothing for a benchmark whose board has none.
    """
    table = _overall(ground) if ground.board.actions else None
    rows = []
    for row in table["rows"] if table is not None else ():
        for head, its in zip(table["columns"] if table is not None else (), row["cells"], strict=True):
            for (metric, title), part in zip(_POOLED, parts_of(its), strict=False):
                scale = 100 if part["unit"] == "%" else 1
                told = {key: None if part[key] is None else part[key] / scale for key in ("value", "low", "high")}
                rows.append(
                    {
                        "system": row["name"], "variant": ground.variant, "scenario": head["key"], "metric": metric,
                        "title": title, "rests_on": "content", "unit": "share" if scale == 100 else part["unit"],
                        "better": _better(head["key"], metric), **told, "n": part["n"],
                        "absent": dict(part["absent"]), "method": f"{part['method']}, over {head['over']}",
                        "judged_by": part["judged"],
                    }
                )  # fmt: skip
    return rows


def _overall(ground: Ground) -> Table | None:
    heads, columns = [], []
    for action in actions():
        names = tuple(one.name for one in action.conditions)
        found = [_together(ground, seat, action, names) for seat in ground.seats]
        if any(found):
            letters = "I / S / T" if action.key in TIMED else "I / S"
            over = "1 condition" if len(names) == 1 else f"{len(names)} conditions"
            heads.append(
                {"key": action.key, "title": action.title, "unit": letters, "better": "neither",
                 "whose": action.success, "over": over}
            )  # fmt: skip
            columns.append(found)
            _mark(found, action)
    return _by_system(ground, "overall", heads, columns)


def _by_protocol(ground: Ground, protocol: str) -> Table | None:
    heads, columns = [], []
    for action, condition in _conditions(protocol):
        found = [_together(ground, seat, action, (condition.name,), timed=False) for seat in ground.seats]
        if any(found):
            heads.append(_head(action, condition))
            columns.append(found)
            _mark(found, action)
    return _by_system(ground, protocol, heads, columns)


def _times(ground: Ground) -> Table | None:
    heads, columns = [], []
    for action, condition in _conditions():
        if action.key not in TIMED:
            continue
        found: list[Cell | None] = [_time(ground, seat, condition.name) for seat in ground.seats]
        if any(found):
            heads.append(_head(action, condition))
            columns.append(found)
            mark_best([part for one in found for part in parts_of(one)], _better(action.key, TIMING))
    return _by_system(ground, "timing", heads, columns)


def _failures(ground: Ground) -> Table | None:
    heads, columns = [], []
    for action, condition in _conditions():
        found = [_failure(ground, seat, condition.name) for seat in ground.seats]
        if any(found):
            heads.append(_head(action, condition))
            columns.append(found)
    return _by_system(ground, "failures", heads, columns, looks="heat")


def _means(ground: Ground) -> Table | None:
    rows = []
    for action, condition in _conditions():
        cells = [
            _mean([_share(ground, seat, metric, (condition.name,)) for seat in ground.seats])
            for metric in (IMMEDIATE, FOLLOW_THROUGH)
        ]
        if any(cells):
            rows.append({"name": f"{action.title}: {condition.title}", "marks": [], "cells": cells})
    heads = [{"title": title, "unit": "", "better": "neither"} for title in ("I", "S")]
    return _titled(ground, "means", heads, rows, head="Condition", looks="bars")


def _settings(ground: Ground) -> Table | None:
    settings = _named(SETTINGS, (met.setting for seat in ground.seats for met in seat.measured.circumstances.values()))
    if not settings:
        return None
    rows = []
    for action in actions():
        for metric, letter in ((IMMEDIATE, "I"), (FOLLOW_THROUGH, "S")):
            cells = [_in_setting(ground, action, metric, setting) for setting in settings]
            if any(one["text"] != "no items" for one in cells):
                rows.append({"name": f"{action.title}: {letter}", "marks": [], "cells": cells})
    heads = [{"title": title, "unit": "", "better": "neither"} for title in settings.values()]
    return _titled(ground, "settings", heads, rows, head="Action", looks="ranges")


def _composition(ground: Ground) -> Table | None:
    """Return how many items there are by protocol, origin and setting; each counts once, whoever was measured on it."""
    lasts: dict[tuple[str, str], int] = {}
    kinds: dict[tuple[str, str], tuple[str, str, str]] = {}
    for action, condition in _conditions():
        for seat in ground.seats:
            column = ground.column(seat, condition.name, IMMEDIATE)
            for item in column.items if column is not None else ():
                met = seat.measured.circumstances.get(item)
                key = condition.name, seat.measured.names[item]
                kinds.setdefault(key, (action.protocol, met.origin if met else "", met.setting if met else ""))
                lasts[key] = max(lasts.get(key, 0), met.lasts if met else 0)
    settings = _named(SETTINGS, (setting for _, _, setting in kinds.values()))
    rows = []
    for protocol in PROTOCOLS:
        for origin, title in _named(ORIGINS, (one for its, one, _ in kinds.values() if its == protocol)).items():
            those = [key for key, kind in kinds.items() if kind[:2] == (protocol, origin)]
            counts = Counter(kinds[key][2] for key in those)
            hours = sum(lasts[key] for key in those) / 3.6e9
            cells = [cell({"value": counts[one], "unit": "count"}, len(those)) for one in settings]
            cells.append(cell({"value": len(those), "unit": "count"}, len(those)))
            cells.append(cell({"value": hours, "unit": "h"}, len(those)))
            name = f"{ground.board.actions[protocol][0]}, {title}"
            rows.append({"name": name, "marks": [], "cells": cells})
    heads = [{"title": title, "unit": "", "better": "neither"} for title in (*settings.values(), "Items", "Hours")]
    return _titled(ground, "composition", heads, rows, head="Protocol, origin", looks="stacks")


def _together(ground: Ground, seat: Seat, action: Action, names: tuple[str, ...], *, timed: bool = True) -> Cell | None:
    """Return I, S and (of an action that is timed) T over the conditions ``names`` as one cell."""
    first, then = (_share(ground, seat, metric, names) for metric in (IMMEDIATE, FOLLOW_THROUGH))
    if first is None or then is None:
        return first
    then = _none_entered(first, then)
    parts = [first, then]
    if timed and action.key in TIMED:
        time = cell_of(ground, seat, Column("", TIMING, names, "median"), score=True)
        if time is not None:
            parts.append(_none_entered(first, _entered(time)))
    reasons = {why: None for part in parts if part["value"] is None and (why := _why(part))}
    tail = [str(then["n"])] if then["value"] is not None else []
    return joined([_na(part) for part in parts], f" ({'; '.join([*tail, *reasons])})" if tail or reasons else "")


def _share(ground: Ground, seat: Seat, metric: str, names: tuple[str, ...]) -> Cell | None:
    """Return I or S in percent, pooled over the instances of the conditions ``names``."""
    pooled = len(names) > 1
    found = cell_of(ground, seat, Column("", metric, names, "pooled" if pooled else "estimate"), score=pooled)
    if found is None:
        return None
    return in_percent(found if metric == IMMEDIATE else _entered(found))


def _entered(its: Cell) -> Cell:
    """Return a cell of what follows without what its n tells already: how many instances did not come so far."""
    absent = [(reason, number) for reason, number in its["absent"] if reason != NOT_ENTERED]
    # Success at once may be by construction; what follows is not.
    note = "" if its["note"] == BY_CONSTRUCTION else its["note"]
    return {**its, "absent": absent, "missing": sum(number for _, number in absent), "note": note}


def _none_entered(first: Cell, then: Cell) -> Cell:
    """Return what follows, marked where nothing can: no instance succeeded at once."""
    return {**then, "note": "", "empty": True} if first["value"] == 0 and then["value"] is None else then


def _why(its: Cell) -> str:
    """Return in a few words why there is no number; its footnote has it in full."""
    if its.get("empty"):
        return NONE_ENTERED
    if "judge" in its["note"]:
        return "waits for a judge"
    if its["note"]:
        return "incomplete"
    return str(its["absent"][0][0]) if its["absent"] else "no items"


def _na(its: Cell) -> Cell:
    return its if its["value"] is not None else {**its, "text": "n/a"}


def _time(ground: Ground, seat: Seat, name: str) -> Cell | None:
    found = cell_of(ground, seat, Column("", TIMING, (name,), "median"))
    column = ground.column(seat, name, TIMING)
    if found is None or column is None:
        return None
    first = _share(ground, seat, IMMEDIATE, (name,))
    made = _entered(found) if first is None else _none_entered(first, _entered(found))
    values = [value for value in by_item(column).values() if not isinstance(value, str)]
    if made["value"] is None:
        return joined([_na(made)], f" ({_why(made)})")
    lower, upper = np.quantile(values, (0.25, 0.75))
    spread = figure(float(upper - lower) if len(values) > 1 else None, "s")
    return joined([made], f" ({spread}, {made['n']})")


def _failure(ground: Ground, seat: Seat, name: str) -> Cell | None:
    first, found = (_share(ground, seat, metric, (name,)) for metric in (IMMEDIATE, FOLLOW_THROUGH))
    if first is None or found is None:
        return None
    if found["value"] is None:
        return {**found, "text": _why(_none_entered(first, found))}
    turned = {"value": 100 - found["value"], "part": None if found["part"] is None else found["n"] - found["part"]}
    if found["low"] is not None and found["high"] is not None:
        turned |= {"low": 100 - found["high"], "high": 100 - found["low"]}
    return {**found, **turned, "text": figure(turned["value"], "%")}


def _mean(found: Sequence[Cell | None]) -> Cell | None:
    there = [one["value"] for one in found if one is not None and one["value"] is not None]
    if not any(found):
        return None
    value = float(np.mean(there)) if there else None
    made = cell({"value": value, "unit": "%", "method": "over systems, no interval"}, len(there))
    return made


def _in_setting(ground: Ground, action: Action, metric: str, setting: str) -> Cell:
    """Return the median over systems of what each has in a setting, with the quartiles for bounds."""
    values, items, measured = list[float](), 0, False
    for seat in ground.seats:
        its: list[float] = []
        for condition in action.conditions:
            column = ground.column(seat, condition.name, metric)
            for item, value in by_item(column).items() if column is not None else ():
                met = seat.measured.circumstances.get(item)
                if (met.setting if met else "") == setting:
                    measured = True
                    its += [] if isinstance(value, str) else [value]
        if its:
            values.append(100 * float(np.mean(its)))
            items += len(its)
    if not values:
        return cell({"value": None, "unit": "%"}, 0) | {"text": "n/a" if measured else "no items"}
    middle = float(np.median(values))
    low, high = map(float, np.quantile(values, (0.25, 0.75))) if len(values) > 1 else (None, None)
    row = {"value": middle, "low": low, "high": high, "unit": "%", "method": "the middle half of the systems"}
    return cell(row, items) | {"things": _systems(len(values))}


def _mark(found: Sequence[Cell | None], action: Action) -> None:
    """Mark the best I, S and T of a column."""
    for place, (metric, _) in enumerate(_POOLED):
        better = _better(action.key, metric)
        mark_best([parts_of(one)[place] if len(parts_of(one)) > place else None for one in found], better)


def _better(action: str, metric: str) -> str:
    """Return which side is better: an interruption before its target point is no better than one after it."""
    if metric != TIMING:
        return "higher"
    return "neither" if action == "interrupt" else "lower"


def _head(action: Action, condition: Condition) -> dict[str, str]:
    return {
        "title": condition.title, "group": action.title, "unit": "", "better": "neither", "whose": condition.source,
    }  # fmt: skip


def _by_system(
    ground: Ground, key: str, heads: list[dict[str, str]], columns: list[list[Cell | None]], looks: str = "joined"
) -> Table | None:
    """Return a table with a row a system, those of one access together where any tells its own."""
    told = [ACCESS.get(seat.access, "Access not told") for seat in ground.seats]
    order = [title for title in (*ACCESS.values(), "Access not told") if title in told]
    rows: list[dict[str, Any]] = [
        {"name": seat.system, "marks": seat.marks, "cells": [cells[place] for cells in columns]}
        | ({"group": told[place]} if any(one.access for one in ground.seats) else {})
        for place, seat in enumerate(ground.seats)
    ]
    rows.sort(key=lambda row: order.index(row["group"]) if "group" in row else 0)
    return _titled(ground, key, heads, rows, looks=looks)


def _titled(
    ground: Ground, key: str, heads: list[dict[str, str]], rows: list[dict[str, Any]], *, head: str = "System",
    looks: str,
) -> Table | None:  # fmt: skip
    if not heads or not rows:
        return None
    title, text = ground.board.actions[key]
    return framed(ground, key, title, text, heads, rows, head=head, looks=looks)


def _conditions(protocol: str = "") -> list[tuple[Action, Condition]]:
    return [(action, one) for action in actions() if protocol in ("", action.protocol) for one in action.conditions]


def _named(titles: dict[str, str], found: Iterable[str]) -> dict[str, str]:
    """Return the names that occur with their titles, in the order of ``titles``; those that are not told last."""
    there = set(found)
    return {key: title for key, title in titles.items() if key in there} | ({"": _NOT_TOLD} if "" in there else {})


def _systems(number: int) -> str:
    return "1 system" if number == 1 else f"{number} systems"
