"""Which values are marked as best."""

from __future__ import annotations

from typing import Any

import pytest

from fullduplex.reporting.best import best_of


def row(system: str, value: float | None, n: int = 5, **given: Any) -> dict[str, Any]:
    return {"system": system, "value": value, "n": n} | given


def best(*rows: dict[str, Any], better: str = "lower") -> list[str]:
    return [str(one["system"]) for one in best_of(rows, better)]


def test_the_best_is_marked_on_the_side_that_is_better() -> None:
    rows = row("a", 0.1), row("b", 0.4), row("c", None, 0)
    assert (best(*rows), best(*rows, better="higher"), best(*rows, better="neither")) == (["a"], ["b"], [])


@pytest.mark.parametrize(("n", "marked"), [(4, []), (5, ["a"])])
def test_a_value_on_fewer_than_five_items_is_never_best(n: int, marked: list[str]) -> None:
    assert best(row("a", 0.1, n), row("b", 0.4)) == marked


def test_a_system_that_said_nothing_is_never_best_and_nor_is_one_behind_it() -> None:
    assert best(row("mute", 0.0, nothing_said=True), row("b", 0.4), row("c", 1.0)) == []
    assert best(row("mute", 0.0, nothing_said=True), row("b", 0.0), row("c", 1.0)) == ["b"]


def test_where_all_are_alike_nothing_is_marked() -> None:
    assert best(row("a", 0.4), row("b", 0.4)) == []
