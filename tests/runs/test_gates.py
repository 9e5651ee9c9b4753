from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullduplex.errors import InputError
from fullduplex.runs.gates import GateResult, check_gates, parse_gate, percentile

GOLDEN = Path(__file__).parents[1] / "golden" / "run-schema-1"
TASKS = {"candor": "turn_taking", "icc": "backchannel", "synthetic": "pause", "natural": "pause"}


def estimate(scenario: str, metric: str, value: float | None, n: int, **more: Any) -> dict[str, Any]:
    return {
        "scenario": scenario,
        "metric": metric,
        "value": value,
        "low": None,
        "high": None,
        "n": n,
        "absent": {},
        **more,
    }


TABLE: dict[str, Any] = {
    "benchmark": "none",
    "variant": "v",
    "estimates": [
        estimate("candor", "latency", 0.5, 4, low=0.25, high=0.75, absent={"no takeover": 2, "failed": 1}),
        estimate("candor", "tor", 0.9, 7),
        estimate("synthetic", "tor", 0.2, 10),
        estimate("natural", "tor", 0.4, 10),
        estimate("icc", "jsd", None, 0, absent={"takeover": 3}),
        estimate("nobody", "tor", None, 0),
    ],
    "items": [
        *(
            {"scenario": "candor", "item": str(i), "metric": "latency", "value": v}
            for i, v in enumerate([0.1, 0.3, 0.2, 1.4])
        ),
        {"scenario": "candor", "item": "9", "metric": "latency", "value": None, "absent": "no takeover"},
    ],
}


def check(text: str, table: dict[str, Any] = TABLE) -> GateResult:
    (result,) = check_gates([parse_gate(text)], table, TASKS)
    return result


@pytest.mark.parametrize(
    ("text", "subject", "op", "number"),
    [
        ("latency.p90 > 1.2", "latency.p90", ">", 1.2),
        ("  Tor.N<100 ", "tor.n", "<", 100.0),
        ("a.b.low >= -.5e-1", "a.b.low", ">=", -0.05),
        ("absent!=0", "absent", "!=", 0.0),
    ],
)
def test_a_gate_is_read(text: str, subject: str, op: str, number: float) -> None:
    gate = parse_gate(text)
    assert (gate.subject, gate.op, gate.number) == (subject, op, number)


@pytest.mark.parametrize(
    "text",
    [
        *("", "latency", "latency > ", "> 1", "latency = 1", "latency >> 1", "a..b > 1", ".a > 1", "a. > 1"),
        *("a > nan", "a > inf", "a > 1e999", "a > 1_0", "a > ٣", "a > 0x10", "a > 1 and b > 2", "f('x') > 1 2"),
    ],
)
def test_what_is_no_gate_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InputError, match=r"--fail-if.*expected \[SCENARIO\.\]METRIC"):
        parse_gate(text)


@given(st.text())
def test_any_text_is_a_gate_or_an_input_error(text: str) -> None:
    try:
        parse_gate(text)
    except InputError:
        return


@pytest.mark.parametrize(
    ("stat", "value"),
    [
        *(("", 0.5), (".value", 0.5), (".low", 0.25), (".high", 0.75), (".n", 4), (".absent", 3), (".mean", 0.5)),
        *((".median", 0.25), (".p50", 0.25), (".min", 0.1), (".max", 1.4), (".p90", 1.07), (".p95", 1.235)),
    ],
)
def test_each_statistic_is_looked_up(stat: str, value: float) -> None:
    assert check(f"candor.latency{stat} > {value + 1e-9}").held
    assert not check(f"candor.latency{stat} > {value - 1e-9}").held


@pytest.mark.parametrize(
    ("op", "below", "equal", "above"),
    [
        ("<", True, False, False),
        ("<=", True, True, False),
        (">", False, False, True),
        (">=", False, True, True),
        ("==", False, True, False),
        ("!=", True, False, True),
    ],
)
def test_a_gate_fails_just_where_its_condition_is_true(op: str, below: bool, equal: bool, above: bool) -> None:
    assert [not check(f"latency {op} {x}").held for x in (0.6, 0.5, 0.4)] == [below, equal, above]


def test_a_name_in_several_scenarios_has_to_hold_in_each() -> None:
    result = check("tor > 0.5")
    assert not result.held
    assert result.text == "gate 'tor > 0.5' fails in 1 of 3 estimates (it has to hold in each): candor.tor is 0.9 (n 7)"


def test_a_name_in_several_scenarios_that_holds_says_so_of_each() -> None:
    assert "holds in all of 3 estimates" in check("tor > 0.95").text


def test_a_task_names_all_its_scenarios() -> None:
    assert check("pause.tor > 0.3").text.endswith(
        "fails in 1 of 2 estimates (it has to hold in each): natural.tor is 0.4 (n 10)"
    )


def test_names_are_read_in_any_case() -> None:
    assert not check("SYNTHETIC.Tor.VALUE > 0.1").held


def test_what_the_run_does_not_have_fails() -> None:
    for text in ("wer > 1", "candor.jsd > 1", "nowhere.tor > 1", "latency.p100 > 1", "latency.p0 > 1", "jsd.tor.n > 1"):
        result = check(text)
        assert not result.held and "no such estimate" in result.text and "candor.latency" in result.text


def test_what_is_absent_fails_with_its_reasons() -> None:
    result = check("jsd > 0.5")
    assert not result.held
    assert result.text == "gate 'jsd > 0.5' fails: icc.jsd has no value (absent: takeover 3)"


def test_an_interval_that_is_not_there_fails() -> None:
    assert not check("synthetic.tor.high > 1").held


def test_a_percentile_of_no_items_fails() -> None:
    assert not check("natural.tor.p90 > 1").held


def test_a_scenario_without_items_is_passed_over() -> None:
    assert "nobody" not in check("tor < 0").text


def test_a_bare_statistic_is_of_every_estimate() -> None:
    assert not check("absent > 2").held
    assert check("absent > 3").held
    assert "of 5 estimates" in check("n < 8").text


def test_a_scenario_with_a_count_is_of_all_its_estimates() -> None:
    assert "fails in 1 of 2 estimates" in check("candor.absent > 0").text


def test_a_metric_whose_name_is_a_statistic_is_found_by_its_name() -> None:
    table = {"estimates": [estimate("s", "max", 3.0, 2)], "items": []}
    assert "s.max is 3" in check("max > 1", table).text
    assert "s.max is 3" in check("s.max > 1", table).text


def test_a_scenario_whose_name_holds_a_dot_is_found() -> None:
    table = {"estimates": [estimate("v1.5", "tor", 0.3, 2)], "items": []}
    assert not check("v1.5.tor > 0.2", table).held
    assert not check("v1.5.tor.n < 3", table).held


def test_a_hostile_metric_name_is_printed_on_one_line() -> None:
    table = {"estimates": [estimate("s\n\x1b[2J", "tor", 0.3, 2)], "items": []}
    assert check("tor > 0.1", table).text.isprintable()


def test_the_installed_benchmark_tells_which_task_a_scenario_is_of() -> None:
    table = json.loads((GOLDEN / "estimates.json").read_text())
    (result,) = check_gates([parse_gate("smooth_turn_taking.latency > 1")], table)
    assert result.held and "candor_turn_taking.latency is 0.5" in result.text


def test_a_benchmark_that_is_not_installed_leaves_its_scenarios_own_names() -> None:
    (result,) = check_gates([parse_gate("candor.tor > 0.95")], TABLE)
    assert result.held


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.integers(1, 99))
def test_a_percentile_is_numpys(values: list[float], percent: int) -> None:
    assert percentile(sorted(values), percent) == pytest.approx(float(np.percentile(values, percent)), abs=1e-6)
