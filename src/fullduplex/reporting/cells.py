"""One number of a table of several systems, as it is shown: with its interval, its n, and what is missing and why.

A cell is ``value`` (None where there is none), ``text`` (as printed), ``low``, ``high``, ``n``, ``part`` (of ``n``,
where it is a share of counted things, else None), ``absent`` (pairs of reason and number), ``missing``, ``note``,
``method``, ``judged``, ``unit``, ``best``, ``things`` (how many of how many things its items have, ``3 of 42 turns``,
of a share that is told so; else ""), ``absent_of`` (what the numbers of ``absent`` count, where ``n`` counts something
else) and ``refs`` (the numbers of its footnotes). It is None where nothing was measured. A cell of several numbers
(:func:`joined`) has ``parts``, a cell each; its own ``text`` is all of them, and ``tail`` what stands behind them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fullduplex.benchmarks.boards import Column
from fullduplex.errors import printable
from fullduplex.measures.metric import Estimate
from fullduplex.measures.ranks import spearmans_rho
from fullduplex.measures.resampling import Sums, estimate_of, ratio, summed
from fullduplex.measures.statistics import RESAMPLES, estimate, quantile_estimate, wilson
from fullduplex.reporting.best import FEWEST
from fullduplex.reporting.rows import Row, figure
from fullduplex.reporting.seats import Ground, Seat
from fullduplex.runs.measured import Column as Found

Cell = dict[str, Any]

#: What stands beside a pass that a system could not miss.
BY_CONSTRUCTION = "by construction"
#: A number is withheld where more of its items than this share wait for a judge: those that a rule fails need none,
#: and the number would be theirs.
WAITING_AT_MOST = 0.05
#: A value that rests on less than this share of the most items in its column is not marked as best.
BEST_RESTS_ON = 0.5
#: Fewer pairs than this have no order to speak of.
FEWEST_RELATED = 3
#: How a reason counts: ``3 of 42 turns``.
_COUNTED = re.compile(r"(\d+) of (\d+) ([a-z]+)\b")
WAITING = ("not judged", "no rating")
#: What a score may be without: a system that was never met speaking has nothing to show there, nor has one that never
#: came so far.
_PLAIN = {"not exercised", "not entered"}


def cell_of(ground: Ground, seat: Seat, column: Column, *, score: bool = False) -> Cell | None:
    """Return what stands in ``column`` for a system.

    ``score``: it is withheld where one of its scenarios has no value, unless the system was never met speaking there.
    """
    its = {card: found for card in column.cards if (found := ground.column(seat, card, column.metric)) is not None}
    if not its:
        return None
    if column.statistic == "estimate":
        row = ground.row(seat, column.cards[0], column.metric)
        if row is None:
            return None
        made = cell({**row, "unit": column.unit or row["unit"]}, row["n"], counted=all(map(_counted, its.values())))
    else:
        unit, _ = unit_and_better(ground, column)
        told = _estimated(ground, seat, column, its)
        judged = [row for card in its if (row := ground.row(seat, card, column.metric)) is not None]
        made = cell(
            {
                "value": told.value, "low": told.low, "high": told.high, "absent": told.absent, "method": told.method,
                "unit": unit, "worth": "; ".join(dict.fromkeys(str(r["worth"]) for r in judged if r.get("worth"))),
                "nothing_said": bool(judged) and all(r.get("nothing_said") for r in judged),
            },
            told.n,
            counted=column.statistic == "ratio" or (column.statistic == "pooled" and all(map(_counted, its.values()))),
        )  # fmt: skip
        if score and len(column.cards) > 1:
            _without_a_scenario(ground, seat, column, its, made)
    made["things"] = _things(its.values()) if made["value"] is not None and made["part"] is None else ""
    made["absent_of"] = "conversations" if any(ground.board.cards[card].whole for card in its) else ""
    _waiting(made, of=sum(len(found.items) for found in its.values()))
    if seat.whole_turns and set(column.cards) <= set(ground.board.restraint):
        made["note"] = BY_CONSTRUCTION
    return made


def cell(row: Row, n: int, *, counted: bool = False, note: str = "") -> Cell:
    """Return a row's number as a cell; ``counted``: it is a share of ``n`` things that were counted."""
    value, unit = row["value"], str(row.get("unit", ""))
    absent = sorted((row.get("absent") or {}).items(), key=lambda pair: (-pair[1], pair[0]))
    return {
        "value": value,
        "text": figure(value, unit),
        "low": row.get("low"),
        "high": row.get("high"),
        "n": n,
        "part": round(value * n) if counted and value is not None else None,
        "absent": absent,
        "absent_of": "",
        "missing": sum(number for _, number in absent),
        "note": note,
        "method": str(row.get("method") or ""),
        "judged": str(row.get("worth") or "") if value is not None else "",
        "unit": unit,
        "best": False,
        "nothing_said": bool(row.get("nothing_said")),
        "things": "",
        "parts": [],
        "tail": "",
        "refs": [],
    }


def joined(parts: Sequence[Cell], tail: str = "") -> Cell:
    """Return several numbers as one cell, ``I / S (n)``: n is the first one's, and so is the value."""
    first = parts[0]
    text = " / ".join(part["text"] for part in parts)
    own = {"text": text + tail, "parts": list(parts), "tail": tail, "best": False, "part": None, "things": ""}
    return {**first, **own}


def parts_of(its: Cell | None) -> list[Cell]:
    """Return the numbers of a cell: itself, unless several are joined in it; none where nothing was measured."""
    return [] if its is None else its["parts"] or [its]


def in_percent(its: Cell) -> Cell:
    """Return a cell of a share with its figures in percent."""
    scaled = {key: None if its[key] is None else 100 * its[key] for key in ("value", "low", "high")}
    return {**its, **scaled, "text": figure(scaled["value"], "%"), "unit": "%"}


def unit_and_better(ground: Ground, column: Column) -> tuple[str, str]:
    """Return a column's unit and the side that is better, its metric's where it says none."""
    if column.statistic == "rho":
        return column.unit, column.better or "neither"
    for card in column.cards:
        scenario = ground.scenario(card)
        for metric in scenario.metrics if scenario is not None else ():
            if metric.name == column.metric:
                return column.unit or metric.unit, column.better or metric.better
    return column.unit, column.better or "neither"


def mark_best(cells: Iterable[Cell | None], better: str) -> None:
    """Mark the best of a column's cells, all that print alike; none where a mark would mislead.

    That is: no side is better, fewer than two have a value, all have the same, the pass was by construction, or the
    value rests on fewer than half as many items as another one does or on too few (:mod:`.best`). Of a system that said
    nothing none is marked.
    """
    there = [one for one in cells if one is not None and one["value"] is not None]
    most = max((one["n"] for one in there), default=0)
    rests_on = max(FEWEST, BEST_RESTS_ON * most)
    fit = [one for one in there if one["note"] != BY_CONSTRUCTION and one["n"] >= rests_on]
    if better not in ("higher", "lower") or len(there) < 2 or len({one["text"] for one in there}) < 2 or not fit:
        return
    top = (max if better == "higher" else min)(fit, key=lambda one: float(one["value"]))
    for one in fit:
        one["best"] = one["text"] == top["text"] and not one["nothing_said"]


def ratio_of(ground: Ground, seat: Seat, card: str, part: str, whole: str) -> Cell | None:
    """Return the sum of ``part`` over that of ``whole``, over a card's items that have both; n counts the whole."""
    return cell_of(ground, seat, Column("", part, (card,), "ratio", whole, "share", "higher"))


def by_item(found: Found) -> dict[int, float | str]:
    """Return each item's value, or the reason for none."""
    told = zip(found.items, found.numbers, found.reasons, strict=True)
    return {item: reason or number for item, number, reason in told}


def _estimated(ground: Ground, seat: Seat, column: Column, its: Mapping[str, Found]) -> Estimate:
    if column.statistic in ("ratio", "rho"):
        card, first = next(iter(its.items()))
        second = ground.column(seat, card, column.whole)
        if second is None:
            return Estimate(None, None, None, 0, {f"{column.whole} not measured": len(first.items)}, "")
        made = _ratio if column.statistic == "ratio" else _rho
        return made(ground, seat, first, second)
    values: list[float] = []
    groups: list[str] = []
    absent: Counter[str] = Counter()
    for found in its.values():
        for item, value in by_item(found).items():
            if isinstance(value, str):
                absent[value] += 1
            else:
                values.append(value)
                groups.append(seat.measured.groups[item])
    if column.statistic == "median":
        return quantile_estimate(values, groups, 0.5, ground.seed, dict(absent))
    if column.statistic == "sum":
        added = sum(values) if values else None
        return Estimate(added, None, None, len(values), dict(absent), "a count")
    return estimate(values, groups, dict(absent), "share", ground.seed)


def _ratio(ground: Ground, seat: Seat, parts: Found, wholes: Found) -> Estimate:
    of, rows, groups = by_item(wholes), list[tuple[float, float]](), list[str]()
    absent: Counter[str] = Counter()
    for item, part in by_item(parts).items():
        whole = of.get(item, "not measured")
        if isinstance(part, str) or isinstance(whole, str):
            absent[part if isinstance(part, str) else str(whole)] += 1
        else:
            rows.append((part, whole))
            groups.append(seat.measured.groups[item])
    sums: Sums = summed(np.array(rows, dtype=np.float64).reshape(-1, 2), groups)
    found = estimate_of(
        sums, lambda drawn: ratio(drawn[:, 0], drawn[:, 1]), undefined="nothing was counted", seed=ground.seed,
        resamples=RESAMPLES, absent=dict(absent),
    )  # fmt: skip
    n, k = round(sum(whole for _, whole in rows)), len(sums.rows)
    if found.value in (0, 1) and k > 1:
        # No resample can differ: as for a rate in groups, the widest that dependence inside them can justify.
        low, high = wilson(k if found.value else 0, k)
        return Estimate(found.value, low, high, n, found.absent, f"Wilson 95 % on {k} {sums.unit}, all alike")
    return Estimate(found.value, found.low, found.high, n, found.absent, found.method)


def _rho(ground: Ground, seat: Seat, first: Found, second: Found) -> Estimate:
    a, b = (
        {str(item): value for item, value in by_item(found).items() if not isinstance(value, str)}
        for found in (first, second)
    )
    both = a.keys() & b.keys()
    lacking = len(set(first.items) | set(second.items)) - len(both)
    missing = {"without one of the two": lacking} if lacking else {}
    if len(both) < FEWEST_RELATED:
        return Estimate(None, None, None, len(both), missing, f"fewer than {FEWEST_RELATED} items")
    groups = {item: seat.measured.groups[int(item)] for item in both}
    found = spearmans_rho({i: a[i] for i in both}, {i: b[i] for i in both}, groups, ground.seed)
    return Estimate(found.value, found.low, found.high, found.n, missing, found.method)


def _things(its: Iterable[Found]) -> str:
    """Return how many of how many things items have, ``3 of 42 turns``; "" unless every item's reason counts its share.

    A share of a talk's turns is one number an item; what it is a share of stands in its reason alone.
    """
    part = whole = 0
    noun = ""
    for found in its:
        for value, reason, why in zip(found.numbers, found.reasons, found.whys, strict=True):
            if reason:
                continue
            told = _COUNTED.match(why)
            if told is None or found.metric.unit != "share" or not int(told[2]):
                return ""
            if abs(int(told[1]) / int(told[2]) - value) > 1e-6:
                return ""
            part, whole, noun = part + int(told[1]), whole + int(told[2]), told[3]
    return f"{part} of {whole} {noun}" if whole else ""


def _without_a_scenario(ground: Ground, seat: Seat, column: Column, its: Mapping[str, Found], made: Cell) -> None:
    lacking = []
    for card in column.cards:
        title = ground.board.cards[card].title
        if card not in its:
            lacking.append(f"{title} was not measured")
            continue
        absent = its[card].absent()
        n = len(its[card].items)
        if sum(absent.values()) == n and not (absent and set(absent) <= _PLAIN):
            told = "; ".join(f"{number} × {printable(reason)}" for reason, number in absent.items())
            lacking.append(f"{title} has no value ({told})" if told else f"{title} has no items")
        elif sum(absent.get(one, 0) for one in WAITING) > WAITING_AT_MOST * n:
            waiting = sum(absent.get(one, 0) for one in WAITING)
            lacking.append(f"{title}: {waiting} of {n} items wait for a judge")
    if lacking:
        _withhold(made, "; ".join(lacking))


def _waiting(made: Cell, of: int) -> None:
    """Withhold a number of whose ``of`` items too many wait for a judge."""
    waiting = sum(number for reason, number in made["absent"] if reason in WAITING)
    if waiting > WAITING_AT_MOST * of and not made["note"]:
        _withhold(made, " ".join(filter(None, (f"{waiting} of {of}", made["absent_of"], "wait for a judge"))))


def _withhold(made: Cell, note: str) -> None:
    made.update(value=None, text="—", low=None, high=None, part=None, note=note, judged="")


def _counted(found: Found | None) -> bool:
    """Return whether every value is 0 or 1, so that their mean is a share of items."""
    if found is None or found.metric.kind not in ("rate", "share"):
        return False
    return all(reason or value in (0, 1) for value, reason in zip(found.numbers, found.reasons, strict=True))
