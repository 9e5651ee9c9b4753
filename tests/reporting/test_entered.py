"""A number is marked as judged where a judge's verdict entered it, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.conducts import ENDS, Line, call, case, estimate, exact_chain, judged, run
from tests.test_actions_chain import GOOD, LIKE, answer, lay_out

from fullduplex.benchmarks.duplexact.conditions import Condition, conditions
from fullduplex.judged import Judging, judge_run
from fullduplex.model.spec import Spec
from fullduplex.runs.run import Run

TALE = "so there was a long story " * 3
ANSWER = "right that is what it is"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give two judged runs: ``judged``, whose talks need a judge, and ``ruled``, in which rules decide all but one."""
    root = tmp_path_factory.mktemp("entered")
    with exact_chain(root / "cache"):
        goes_on = {f"interruption/{n}": case("interruption", Line(4000, 12_000, TALE)) for n in (1, 2)}
        stops = {
            "interruption/1": case("interruption", Line(4000, 11_000, TALE), Line(6900, 8400, ANSWER)),
            "logic/1": case("logic", Line(ENDS + 300, ENDS + 1500, ANSWER)),
            "groundedness/1": case("groundedness", Line(2000, 3000, ANSWER), Line(6000, 7000, ANSWER)),
        }
        for name, cases, options in (("ruled", goes_on, ""), ("judged", stops, ",burst=true,yields=0.4")):
            out = run(root / f"{name}-items", cases, root / name, name, options=options)
            judged(out, root / "cache")
            call("measure", out)
        yield root


def worth(path: Path, scenario: str, metric: str = "passed") -> Mapping[str, Any]:
    return estimate(path, "page", scenario, metric)


def test_a_verdict_that_decides_an_item_marks_its_row(runs: Path) -> None:
    for scenario, metric, verdict in (("interruption", "passed", "addressed"), ("logic", "passed", "target-said"),
                                      ("interruption", "addressed", "addressed")):  # fmt: skip
        row = worth(runs / "judged", scenario, metric)
        assert row["value"] == 1
        assert row["worth"] == "not validated" and f"rubric {verdict}" in row["judged_by"]


def test_what_a_rule_decides_is_not_marked_though_a_judge_was_asked(runs: Path) -> None:
    row = worth(runs / "ruled", "interruption")
    assert row["value"] == 0 and "worth" not in row and "judged_by" not in row


def test_a_count_that_needs_no_judge_is_not_marked_beside_one_that_does(runs: Path) -> None:
    assert worth(runs / "judged", "groundedness", "grounded")["worth"] == "not validated"
    for metric in ("probes_counted", "probes_no_reply", "probes_never_asked"):
        assert "worth" not in worth(runs / "judged", "groundedness", metric), metric


def test_a_report_says_whether_an_outcome_depends_on_the_point_of_the_interruption(runs: Path) -> None:
    call("report", runs / "ruled")
    told = "ruled: ib_interruption: whether 'Passed' depends on 'Into the reply' is not known: fewer than 5 items"
    assert f"- {told}" in (runs / "ruled/report.md").read_text()
    assert told.replace("'", "&#39;") in (runs / "ruled/report.html").read_text()
    call("report", runs / "judged", runs / "ruled", "--out", runs / "joint", "--no-page")
    remarks = (runs / "joint/report.md").read_text().partition("## Remarks")[2]
    assert remarks.count("whether 'Passed' depends on") == 2


def test_a_dimension_marks_only_what_was_judged(runs: Path) -> None:
    text = call("measure", runs / "judged", "--as", "interactionbench@page").output
    line = {name: next(one for one in text.splitlines() if name in one) for name in ("Yield & answer", "Logic")}
    assert all("¹" in one for one in line.values())
    text = call("measure", runs / "ruled", "--as", "interactionbench@page").output
    assert "¹" not in next(one for one in text.splitlines() if "Yield & answer" in one)


def test_a_terminal_shows_dimensions_and_one_line_of_judges(runs: Path) -> None:
    found = call("report", runs / "judged", "--no-page").output
    for title in ("Conversational timing", "Spoken tasks", "Groundedness in long conversations", "Probes by type"):
        assert title in found
    assert "rests on" not in found
    assert found.count("Judged by recorded: ") == 1 and "not validated" in found


def test_a_joint_report_shows_both_and_calls_none_best_on_so_few_items(runs: Path) -> None:
    found = call("report", runs / "judged", runs / "ruled", "--out", runs / "both", "--no-page").output
    line = next(one for one in found.splitlines() if one.strip().startswith("Yield & answer"))
    assert "★" not in line and "1/1" in line and "0/2" in line
    told = (runs / "both/report.md").read_text()
    assert "- ruled: fullduplex" in told and "- judged: fullduplex" in told


def told(path: Path, condition: Condition, metric: str) -> Mapping[str, Any]:
    key = (f"da_{condition.name}", metric)
    rows = json.loads((path / "estimates.json").read_text())["estimates"]
    return next(row for row in rows if (row["scenario"], row["metric"]) == key)


@pytest.fixture(scope="module")
def acted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a judged run of actions: of each a good item, and one whose response only its meaning tells."""
    root = tmp_path_factory.mktemp("acted")
    short = {"take_turn_immediate": (Line(ENDS + 300, ENDS + 700, "yes"), Line(ENDS + 1500, ENDS + 3500, ANSWER))}
    for condition in conditions():
        lay_out(root, condition.name, "good", (short | LIKE).get(condition.name, GOOD[condition.action]))
    with exact_chain(root / "cache"):
        system = f"acting:file={root}/conduct/{{set}}/{{id}}.json"
        call("run", "duplexact@all", "--data", root / "items", "--system", system, "--recogniser", "reported",
             "--engine", "here", "--no-page", "--name", "acting", "--out", root / "run")  # fmt: skip
        judge_run(Run.open(root / "run"), Judging(Spec("recorded", {"answer": answer})), cache=root / "cache")
        call("measure", root / "run")
    return root / "run"


@pytest.mark.parametrize("condition", conditions(), ids=lambda one: one.name)
def test_what_follows_an_action_is_marked_with_every_verdict_it_rests_on(acted: Path, condition: Condition) -> None:
    row = told(acted, condition, "follow_through")
    assert row["value"] is not None and row["worth"] == "not validated"
    assert "rubric follow-through" in row["judged_by"]
    assert ("rubric backchannel-tone" in row["judged_by"]) == (condition.action == "backchannel")
    # Which utterance is the response was a verdict too.
    assert ("rubric substantive" in row["judged_by"]) == (condition.name == "take_turn_immediate")


@pytest.mark.parametrize("condition", conditions(), ids=lambda one: one.name)
def test_success_at_once_is_marked_only_where_meaning_decided_it(acted: Path, condition: Condition) -> None:
    row = told(acted, condition, "immediate")
    assert row["value"] == 1
    assert ("rubric substantive" in row.get("judged_by", "")) == (condition.name == "take_turn_immediate")
