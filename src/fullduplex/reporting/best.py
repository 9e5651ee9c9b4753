"""Which values may be marked as best: those on enough items, of systems that said something."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fullduplex.runs.measured import Column
from fullduplex.runs.unspoken import NO_SPEECH, NO_WORDS, SILENT

#: A value on fewer items is never marked as best. The limit is ours: below it the 95 % interval of any rate is wider
#: than half of the scale.
FEWEST = 5
_UNSAID = {SILENT, NO_SPEECH, NO_WORDS}


def may_be_best(row: Mapping[str, Any]) -> bool:
    """Return whether a row's or cell's value may be marked: it has one, on enough items, and something was said."""
    return row["value"] is not None and (row.get("n") or 0) >= FEWEST and not row.get("nothing_said")


def nothing_said(column: Column) -> bool:
    """Return whether every value of a column is that of a system which said nothing on its item."""
    whys = [why for why, reason in zip(column.whys, column.reasons, strict=True) if not reason]
    return bool(whys) and all(why in _UNSAID for why in whys)


def best_of(rows: Iterable[Mapping[str, Any]], better: str) -> list[Mapping[str, Any]]:
    """Return the rows whose value is best among those on enough items; of systems that said nothing none.

    Nothing where all have one value, no side is better, or only such a system has the best one: another one's is not
    best then either.
    """
    enough = [row for row in rows if row["value"] is not None and (row.get("n") or 0) >= FEWEST]
    if better not in ("higher", "lower") or len({row["value"] for row in enough}) < 2:
        return []
    top = (max if better == "higher" else min)(float(row["value"]) for row in enough)
    return [row for row in enough if row["value"] == top and may_be_best(row)]
