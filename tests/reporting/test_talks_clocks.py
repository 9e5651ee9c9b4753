"""What stands in the table of clocks, and what is left out of it."""

from __future__ import annotations

from typing import Any

from fullduplex.reporting.talks import clock_rows, clocks_markdown, comparable


def table(value: float | None, n: int, absent: dict[str, int] | None = None, by: str = "") -> dict[str, Any]:
    row = {"scenario": "ib_logic", "metric": "passed", "scenario_title": "Logic", "title": "Passed", "value": value,
           "n": n, "absent": absent or {}, "judged_by": by}  # fmt: skip
    return {"estimates": [row]}


def test_a_number_that_differs_by_its_clock_stays() -> None:
    rows = clock_rows("alpha", table(1.0, 2), {"arrival": table(0.5, 2)})
    assert comparable(rows) == (rows, [])
    assert "| alpha | Logic: Passed | 1.000 (n 2) | 0.500 (n 2) |" in clocks_markdown(rows)


def test_a_number_that_only_waits_for_a_judge_is_left_out_and_named() -> None:
    rows = clock_rows("alpha", table(1.0, 2), {"arrival": table(None, 0, {"not judged": 2})})
    there, told = comparable(rows)
    assert there == [] and len(told) == 1
    assert told[0].startswith("Left out, since fewer replies were judged under arrival") and "Logic: Passed" in told[0]
    text = clocks_markdown(rows)
    assert "| alpha" not in text and "Logic: Passed" in text


def test_a_number_is_left_out_where_some_of_its_items_wait() -> None:
    rows = clock_rows("alpha", table(0.5, 4), {"arrival": table(0.0, 3, {"not judged": 1})})
    assert comparable(rows)[0] == []


def test_what_waits_under_every_clock_alike_stays() -> None:
    waits = {"not judged": 1}
    rows = clock_rows("alpha", table(0.5, 4, waits), {"arrival": table(0.0, 4, waits)})
    assert comparable(rows)[1] == []


def test_another_judges_word_is_no_effect_of_a_clock() -> None:
    one, two = "judged by model-1, rubric a 1; not validated", "judged by model-2, rubric a 1; not validated"
    assert comparable(clock_rows("alpha", table(1.0, 2, by=one), {"arrival": table(0.0, 2, by=two)}))[0] == []
    assert comparable(clock_rows("alpha", table(1.0, 2, by=one), {"arrival": table(0.0, 2)}))[1] == []
