"""Sensitivity as text: every fact once, and nothing where there is nothing to say."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from fullduplex.reporting.sensitivity import sensitivity_markdown

CONDITIONS = [
    {"kind": "as measured", "name": "as measured"},
    {"kind": "rules", "name": "anchored"},
    {"kind": "threshold of anchored", "name": "within 1 s (not 2 s)"},
    {"kind": "threshold of anchored", "name": "within 3 s (not 2 s)"},
    {"kind": "clock", "name": "arrival"},
]


def band(system: str = "a", **more: Any) -> dict[str, Any]:
    return {
        "system": system, "scenario": "turn", "metric": "passed", "title": "Passed", "unit": "share",
        "better": "higher", "value": 0.5, "low": 0.5, "high": 0.5, "lowest": "as measured", "highest": "as measured",
        "kinds": {"rules": [0.5, 0.5]}, "missing": [],
    } | more  # fmt: skip


def standing(*tiers: list[str], probability: float | None = 1.0, n: int = 30, method: str = "paired bootstrap",
             title: str = "Passed", changed: bool = False) -> dict[str, Any]:  # fmt: skip
    line = [system for tier in tiers for system in tier]
    shift = {"condition": "rules anchored", "same": not changed, "tau": -1.0, "leads": [line[-1]]}
    return {
        "scenario": "turn", "metric": "passed", "title": title, "order": list(tiers), "shifts": [shift],
        "wins": [{"first": a, "second": b, "probability": probability, "n": n, "method": method}
                 for a, b in pairwise(line)],
    }  # fmt: skip


def text(bands: list[Any], standings: list[Any] = [], **more: Any) -> str:  # noqa: B006 - it is only read
    told = {"conditions": CONDITIONS, "bands": bands, "standings": standings, "remarks": []}
    return sensitivity_markdown(told | more)


def test_conditions_are_counted_by_kind_and_what_differs_twice_is_told() -> None:
    (line,) = [line for line in text([band()]).splitlines() if "beside the run" in line]
    assert line == (
        "4 conditions beside the run as measured: 1 rules, 2 thresholds of anchored, 1 clock. "
        "Each differs from it in one choice, a threshold of anchored in its variant's rules too."
    )


def test_no_table_stands_empty() -> None:
    made = text([band()])
    assert "|" not in made
    assert "1 of 1 numbers are the same under every condition that has them." in made


def test_what_is_as_measured_is_not_written_again() -> None:
    moved = band(high=1.0, highest="clock arrival", kinds={"rules": [0.5, 0.5], "clock": [1.0, 1.0]})
    lines = text([moved, band()]).splitlines()
    assert "| turn | Passed ↑ | 0.500 | — | = | 1.000, clock arrival | = | — | 1.000 |" in lines
    assert "No value under" not in "\n".join(lines)


def test_the_system_is_named_where_there_are_several() -> None:
    made = text([band(high=1.0, highest="clock arrival"), band("b")])
    assert "| System | Scenario |" in made and "| a | turn |" in made


def test_no_value_under_a_condition_is_told() -> None:
    moved = band(high=1.0, highest="clock arrival", missing=["rules anchored"])
    made = text([moved, band(missing=["clock arrival"])])
    assert "| rules anchored |" in made
    assert "1 of 2 numbers are the same under every condition that has them; 1 of them without" in made


def test_why_a_share_of_resamples_is_not_known_is_said_once() -> None:
    why = "one group: every resample is the same"
    rows = [standing(["a"], ["b"], probability=None, n=1, method=why, title=f"T{n}") for n in range(12)]
    made = text([band()], rows)
    assert made.count(why) == 1
    assert made.count("| a &gt; b | — (n 1) | none of 1 |") == 12


def test_a_share_of_few_items_is_said_to_be_too_sure() -> None:
    few = standing(
        ["a"], ["b"], probability=0.875, n=3, method="paired bootstrap, 3 items (fewer than 20 items: too sure)"
    )
    made = text([band()], [few])
    assert "| 88 % (n 3) |" in made
    assert "; fewer than 20 items: too sure." in made


def test_systems_that_are_level_throughout_take_no_row() -> None:
    made = text([band()], [standing(["a", "b"], title="Overlap"), standing(["a"], ["b"])])
    assert "All systems are level, under every condition that has them all: turn: Overlap." in made
    assert len([line for line in made.splitlines() if line.startswith("| turn")]) == 1


def test_nobody_is_ahead_of_an_equal() -> None:
    made = text([band()], [standing(["a", "b"], ["c"], changed=True)])
    assert "| a = b &gt; c | 100 % (n 30) | 1 of 1: rules anchored (tau -1.00; c first) |" in made


def test_what_was_not_tried_is_told_also_where_nothing_failed() -> None:
    made = text([band()], remarks=["a, detector x: no"], left_out=["a, judge <b>: none of its 3 answers"])
    assert "- a, detector x: no\n- a, judge &lt;b&gt;: none of its 3 answers" in made


def test_a_scenario_goes_by_its_title_and_a_number_by_its_n() -> None:
    moved = band(high=1.0, highest="clock arrival") | {"n": 12, "scenario_title": "Turn taking"}
    order = standing(["a"], ["b"]) | {"scenario_title": "Turn taking"}
    made = text([moved], [order])
    assert "| Turn taking | Passed ↑ | 0.500 | 12 | = |" in made
    assert "| Turn taking | Passed | a &gt; b |" in made and "| turn |" not in made
