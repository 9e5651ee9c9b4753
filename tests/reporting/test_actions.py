"""The tables of actions: I / S (n_S) by protocol, I / S / T over conditions, times, and what is drawn of them."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.benchmarks import duplexact
from fullduplex.benchmarks.boards import board_of
from fullduplex.benchmarks.duplexact.conditions import actions, conditions
from fullduplex.benchmarks.duplexact.published import CONDITIONS, pooled
from fullduplex.measures.statistics import estimate, wilson
from fullduplex.model.trials import Absent, Fact
from fullduplex.reporting.actions import action_rows, action_tables
from fullduplex.reporting.dimensions_latex import dimensions_latex
from fullduplex.reporting.dimensions_text import dimensions_markdown, dimensions_terminal
from fullduplex.reporting.page import write_page
from fullduplex.reporting.rows import estimate_row
from fullduplex.reporting.seats import Ground, Seat
from fullduplex.reporting.tables import csv_text
from fullduplex.runs.measured import Circumstances, Column, Measured

#: Condition -> what is known of each item: (I, S, T), a text for a reason, None for nothing of the kind.
Value = float | str | None
Answers = dict[str, list[tuple[Value, ...]]]
GOOD, HALF, BAD = (1, 1), (1, 0), (0, "not entered")
PAGE = duplexact.variants()["page"]
WAIT = tuple(one.name for one in conditions() if one.action == "wait")


def measured(answers: Answers, groups: list[str] | None = None, met: list[Circumstances] | None = None) -> Measured:
    made = Measured([PAGE])
    for scenario in PAGE.scenarios:
        rows = answers.get(scenario.card)
        if rows is None:
            continue
        first = len(made.names)
        made.names += [f"{n:02}" for n in range(len(rows))]
        made.groups += groups[: len(rows)] if groups else [""] * len(rows)
        for n in range(len(rows) if met else 0):
            made.circumstances[first + n] = (met or [])[n]
        for place, metric in enumerate(scenario.metrics):
            column = Column("page", scenario, metric)
            for n, row in enumerate(rows):
                value = row[place] if place < len(row) else "not entered"
                column.add(
                    first + n, Absent(value or "not judged") if isinstance(value, str) or value is None else Fact(value)
                )
            made.columns["page", scenario.name, metric.name] = column
    return made


def ground_of(systems: dict[str, Measured], **access: str) -> Ground:
    board = board_of("duplexact")
    assert board is not None
    rows = [
        estimate_row(column.scenario.name, column.metric, found, system=name, variant="page")
        for name, its in systems.items()
        for column, found in its.estimates("page", 0)
    ]
    seats = [Seat(name, its, access=access.get(name, "")) for name, its in systems.items()]
    return Ground(board, seats, rows, "page")


def tables(systems: dict[str, Measured], **access: str) -> dict[str, Any]:
    return {table["key"]: table for table in action_tables(ground_of(systems, **access))}


def cell_at(table: dict[str, Any], column: str, row: str = "alpha", group: str = "") -> dict[str, Any]:
    place = next(i for i, one in enumerate(table["columns"]) if (one["title"], one["group"]) == (column, group))
    found: dict[str, Any] = next(one for one in table["rows"] if one["name"] == row)["cells"][place]
    return found


def printed(answers: Answers, column: str, group: str, key: str = "direct") -> str:
    return str(cell_at(tables({"alpha": measured(answers)})[key], column, group=group)["text"])


def test_a_cell_is_i_and_s_in_percent_with_how_many_entered() -> None:
    assert printed({WAIT[0]: [GOOD, GOOD, HALF, BAD]}, "Intra-sentential pause", "Wait") == "75.0 / 66.7 (3)"


@pytest.mark.parametrize(("rows", "text"), [
    ([BAD, BAD], "0.0 / n/a (none entered)"),
    ([BAD, ("not exercised", "not exercised")], "0.0 / n/a (none entered)"),
    ([("not exercised", "not exercised")], "n/a / n/a (not exercised)"),
    ([(1, "not judged"), BAD], "50.0 / n/a (waits for a judge)"),
    ([(1, "unparsable")], "100.0 / n/a (unparsable)"),
])  # fmt: skip
def test_what_has_no_number_says_why(rows: list[Any], text: str) -> None:
    assert printed({WAIT[0]: rows}, "Intra-sentential pause", "Wait") == text


@pytest.mark.parametrize("system", CONDITIONS)
def test_an_action_pools_its_instances_as_the_publication_does(system: str) -> None:
    cells = [cell for cell in CONDITIONS[system] if cell.condition in WAIT]
    answers: Answers = {
        cell.condition: [GOOD] * cell.followed + [HALF] * (cell.n - cell.followed) + [BAD] * (cell.size - cell.n)
        for cell in cells
    }
    first, then = pooled(cells)
    entered = sum(cell.n for cell in cells)
    assert then is not None
    found = printed(answers, "Wait", "", "overall")
    assert found == f"{first:.1f} / {then:.1f} ({entered})"


def test_s_of_an_action_is_no_mean_of_its_conditions() -> None:
    answers: Answers = {WAIT[0]: [GOOD] * 9 + [BAD], WAIT[1]: [HALF] + [BAD] * 9, WAIT[2]: [BAD] * 10}
    assert printed(answers, "Wait", "", "overall") == "33.3 / 90.0 (10)"


def test_an_action_of_which_a_condition_was_not_measured_has_no_number_and_says_which() -> None:
    table = tables({"alpha": measured({WAIT[0]: [GOOD], WAIT[1]: [GOOD]})})["overall"]
    its = cell_at(table, "Wait")
    assert its["value"] is None and its["text"] == "n/a / n/a (incomplete)"
    assert "Wait: Continuous speech was not measured" in [table["footnotes"][n - 1] for n in its["refs"]]


def test_intervals_are_clustered_as_elsewhere() -> None:
    rows: list[Any] = [GOOD, GOOD, GOOD, HALF, BAD, BAD]
    groups = ["a", "a", "b", "b", "c", "c"]
    alone = cell_at(tables({"alpha": measured({WAIT[0]: rows})})["direct"], "Intra-sentential pause", group="Wait")
    low, high = wilson(4, 6)
    assert (alone["parts"][0]["low"], alone["parts"][0]["high"]) == pytest.approx((100 * low, 100 * high))
    its = cell_at(
        tables({"alpha": measured({WAIT[0]: rows}, groups)})["direct"], "Intra-sentential pause", group="Wait"
    )
    found = estimate([1, 1, 1, 1, 0, 0], groups, {}, "rate", 0)
    assert its["parts"][0]["low"] == pytest.approx(100 * (found.low or 0))
    assert its["parts"][0]["low"] != pytest.approx(100 * low)


def test_a_time_is_a_median_with_its_interquartile_range_and_n() -> None:
    times: list[Any] = [(1, 1, value) for value in (0.2, 0.4, 0.6, 1.2, 2.0)] + [(0, "not entered", "not entered")]
    found = tables({"alpha": measured({"stop_direct_interruption": times})})
    assert cell_at(found["timing"], "Direct interruption", group="Stop")["text"] == "0.600 (0.800, 5)"
    assert cell_at(found["overall"], "Stop")["text"] == "83.3 / 100.0 / 0.600 (5)"
    lower, upper = np.quantile([0.2, 0.4, 0.6, 1.2, 2.0], (0.25, 0.75))
    assert upper - lower == pytest.approx(0.8)


def test_one_time_has_no_range_and_none_has_a_reason() -> None:
    found = tables({"alpha": measured({"stop_direct_interruption": [(1, 1, 0.4)]}),
                    "beta": measured({"stop_direct_interruption": [BAD]})})["timing"]  # fmt: skip
    assert cell_at(found, "Direct interruption", group="Stop")["text"] == "0.400 (—, 1)"
    assert cell_at(found, "Direct interruption", "beta", group="Stop")["text"] == "n/a (none entered)"


def test_failure_is_one_less_s_and_grey_where_nothing_entered() -> None:
    found = tables({"alpha": measured({WAIT[0]: [GOOD, HALF, HALF, HALF]}), "beta": measured({WAIT[0]: [BAD]})})[
        "failures"
    ]
    its = cell_at(found, "Intra-sentential pause", group="Wait")
    assert (its["value"], its["part"], its["n"]) == (75, 3, 4)
    low, high = wilson(1, 4)
    assert (its["low"], its["high"]) == pytest.approx((100 - 100 * high, 100 - 100 * low))
    assert cell_at(found, "Intra-sentential pause", "beta", "Wait")["text"] == "none entered"


def test_the_mean_over_systems_leaves_out_those_without_a_value() -> None:
    found = tables({"alpha": measured({WAIT[0]: [GOOD, HALF]}), "beta": measured({WAIT[0]: [BAD, BAD]})})["means"]
    first, then = (found["rows"][0]["cells"][place] for place in (0, 1))
    assert (first["value"], first["n"]) == (50, 2)
    assert (then["value"], then["n"]) == (50, 1)


CASUAL, MEETING = Circumstances("casual", "recorded", 3_600_000_000), Circumstances("meeting", "synthesised", 0)


def test_a_setting_has_the_median_and_quartiles_of_systems_and_one_system_its_value() -> None:
    good: Answers = {WAIT[0]: [GOOD, GOOD, GOOD]}
    bad: Answers = {WAIT[0]: [BAD, BAD, GOOD]}
    made = {
        name: measured(answers, met=[CASUAL, CASUAL, MEETING])
        for name, answers in (("alpha", good), ("beta", bad), ("gamma", bad))
    }
    its = cell_at(tables(made)["settings"], "Casual", "Wait: I")
    assert (its["value"], its["low"], its["high"], its["things"], its["n"]) == (0, 0, 50, "3 systems", 6)
    one = cell_at(tables({"alpha": made["alpha"]})["settings"], "Casual", "Wait: I")
    assert (one["value"], one["low"], one["high"], one["things"]) == (100, None, None, "1 system")


def test_a_setting_without_items_says_so_and_one_without_a_value_has_none() -> None:
    its = measured({WAIT[0]: [BAD], "stop_direct_interruption": [GOOD]}, met=[CASUAL])
    its.circumstances[1] = MEETING
    found = tables({"alpha": its})["settings"]
    assert [cell["text"] for row in found["rows"] for cell in row["cells"]] == [
        "0.0", "no items", "n/a", "no items", "no items", "100.0", "no items", "100.0",
    ]  # fmt: skip


def test_the_set_is_counted_once_by_protocol_origin_and_setting_with_hours() -> None:
    one = measured({WAIT[0]: [GOOD, BAD], "interrupt_help": [GOOD]}, met=[CASUAL, MEETING])
    found = tables({"alpha": one, "beta": replace(one)})["composition"]
    told = {row["name"]: [cell["text"] for cell in row["cells"]] for row in found["rows"]}
    assert [column["title"] for column in found["columns"]] == ["Casual", "Meeting", "Items", "Hours"]
    assert told == {
        "Direct Replay, recorded": ["1", "0", "1", "1.000"],
        "Direct Replay, synthesised": ["0", "1", "1", "0.000"],
        "Simulator Replay, recorded": ["1", "0", "1", "1.000"],
    }


def test_columns_say_whose_definition_a_condition_is_and_that_thresholds_are_ours() -> None:
    found = tables({"alpha": measured({one.name: [GOOD] for one in conditions()})})
    for protocol in ("direct", "simulator"):
        told = [(one["group"], one["title"], one["whose"]) for one in found[protocol]["columns"]]
        assert told == [(action.title, one.title, one.source) for action in actions() if action.protocol == protocol
                        for one in action.conditions]  # fmt: skip
        assert any("Every threshold is ours" in note for note in found[protocol]["notes"])
    assert [one["whose"] for one in found["overall"]["columns"]] == [action.success for action in actions()]
    text = dimensions_markdown([found["simulator"]])
    assert "Recover: Resume \\[ours\\]" in text and "Every threshold is ours" in text


def test_systems_stand_by_access_where_any_tells_its_own() -> None:
    made = {name: measured({WAIT[0]: [GOOD]}) for name in ("alpha", "beta", "gamma")}
    found = tables(made, beta="open", gamma="closed")["direct"]
    assert [(row["group"], row["name"]) for row in found["rows"]] == [
        ("Open", "beta"), ("Closed", "gamma"), ("Access not told", "alpha"),
    ]  # fmt: skip
    lines = [line for line in dimensions_markdown([found]).splitlines() if line.startswith("| ")]
    assert [line.split(" |")[0] for line in lines[2:]] == [
        "| *Open*", "| beta", "| *Closed*", "| gamma", "| *Access not told*", "| alpha",
    ]  # fmt: skip
    assert {row["group"] for row in tables(made)["direct"]["rows"]} == {""}


def test_i_and_s_are_marked_apart_as_best_and_both_intervals_stand_below() -> None:
    made = {"alpha": measured({WAIT[0]: [GOOD, HALF] * 5}), "beta": measured({WAIT[0]: [GOOD, BAD] * 5})}
    found = tables(made)["direct"]
    first, second = (cell_at(found, "Intra-sentential pause", name, "Wait")["parts"] for name in made)
    assert [part["best"] for part in first] == [True, False]
    assert [part["best"] for part in second] == [False, True]
    text = dimensions_markdown([found])
    assert "| **100.0** / 50.0 (10) [72.2, 100.0] / [23.7, 76.3] n 10" in text


def test_an_interruption_that_is_early_is_not_marked_as_better() -> None:
    made = {name: measured({"interrupt_help": [(1, 1, lag)] * 5}) for name, lag in (("alpha", -0.5), ("beta", 0.5))}
    assert not any(
        part["best"] for row in tables(made)["timing"]["rows"] for cell in row["cells"] for part in cell["parts"]
    )
    quick = {name: measured({"recover_repeat": [(1, 1, lag)] * 5}) for name, lag in (("alpha", 0.4), ("beta", 0.5))}
    assert [cell["parts"][0]["best"] for row in tables(quick)["timing"]["rows"] for cell in row["cells"]] == [
        True,
        False,
    ]


def test_a_terminal_shows_the_numbers_and_leaves_out_what_is_drawn() -> None:
    from rich.console import Console

    console = Console(width=110, record=True, file=io.StringIO())
    console.print(dimensions_terminal(list(tables({"alpha": measured({WAIT[0]: [GOOD, HALF]})}).values())))
    text = console.export_text()
    assert "100.0 / 50.0 (2)" in text and "Wait: Intra-sentential pause [paper]" in text
    assert "Follow-through failure" not in text and "Composition" not in text


def test_a_terminal_has_a_line_a_condition_for_many_systems_too() -> None:
    from rich.console import Console

    made = {name: measured({one.name: [GOOD, HALF] for one in conditions()}) for name in "abcdef"}
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(dimensions_terminal([tables(made)["direct"]]))
    lines = console.export_text().splitlines()
    those = [line for line in lines if line.lstrip().startswith("Wait:")]
    assert len(those) == 3
    assert those[0].count("100.0 / 50.0") == 6


def test_a_page_colours_failures_and_greys_what_never_entered(tmp_path: Path, draw: Any, opened: Any) -> None:
    made = {
        "alpha": measured({WAIT[0]: [GOOD, HALF, HALF, HALF], WAIT[1]: [HALF]}, met=[CASUAL] * 4),
        "<b>beta": measured({WAIT[0]: [BAD] * 4, WAIT[1]: [BAD]}, met=[MEETING] * 4),
    }
    out = tmp_path / "report.html"
    data = draw.data(variants=["page"], systems=list(made), estimates=[], dimensions=action_tables(ground_of(made)))
    write_page(out, data, [draw.item()])
    seen = opened(out)
    page = seen.page
    heat = page.locator("table.heat tbody tr")
    assert [heat.nth(0).locator("td").nth(n).get_attribute("class").split()[-1] for n in (0, 1)] == ["h8", "h10"]
    assert [heat.nth(1).locator("td").nth(n).get_attribute("class").split()[-1] for n in (0, 1)] == ["grey", "grey"]
    shade = "el => getComputedStyle(el).backgroundColor"
    assert heat.nth(0).locator("td").nth(0).evaluate(shade) != heat.nth(0).locator("td").nth(1).evaluate(shade)
    assert page.locator("table.joined thead .group").all_inner_texts()[:1] == ["Wait"]
    assert "paper" in page.locator("table.joined thead").nth(1).inner_text()
    assert page.locator("table.stacks svg rect").count() > 0
    assert page.locator("b").count() == 0 and not seen.said
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_pooled_numbers_are_rows_of_estimates_in_shares() -> None:
    made = ground_of(
        {
            "alpha": measured(
                {WAIT[0]: [GOOD, HALF], WAIT[1]: [BAD], WAIT[2]: [BAD], "stop_direct_interruption": [(1, 1, 0.5)]}
            )
        }
    )
    rows = {(row["scenario"], row["metric"]): row for row in action_rows(made)}
    assert (rows["wait", "immediate"]["value"], rows["wait", "immediate"]["n"]) == (0.5, 4)
    assert (rows["wait", "follow_through"]["value"], rows["wait", "follow_through"]["n"]) == (0.5, 2)
    assert rows["wait", "immediate"]["low"] == pytest.approx(wilson(2, 4)[0])
    assert (rows["stop", "timing"]["value"], rows["stop", "timing"]["unit"]) == (0.5, "s")
    assert "over 3 conditions" in rows["wait", "immediate"]["method"]
    assert csv_text(action_rows(made)).count("\n") == 6


def test_latex_has_the_tables_cut_between_actions_and_is_safe() -> None:
    name = "a_b\\input{x}"
    made = ground_of({name: measured({one.name: [GOOD, HALF] for one in conditions()})}, **{name: "open"})
    text = dimensions_latex(action_tables(made), heading="duplexact@page")
    assert "\\input{x}" not in text and "\\textit{Open}" in text
    assert "100.0 / 50.0 (2)" in text and "{\\scriptsize {[}34.2, 100.0{]} / {[}9.5, 90.5{]} n=2}" in text
    for piece in text.split("\\begin{table*}")[1:]:
        columns = piece.split("\\begin{tabular}{l")[1].split("}")[0]
        assert all(line.count("&") == len(columns) for line in piece.splitlines() if line.endswith("\\\\[2pt]"))
        assert len(columns) <= 6
    heads = [line for line in text.splitlines() if "\\multicolumn{3}{c}{Wait}" in line]
    assert len(heads) == 1 and "Ignore" in heads[0]
    assert "Every threshold is ours" in text


def test_a_benchmark_without_actions_has_no_such_tables(ground: Any) -> None:
    bare = ground({"alpha": {"logic": {"passed": [1, 0]}}})
    assert action_tables(bare) == [] and action_rows(bare) == [] and dimensions_latex([], heading="x") == ""
