"""What DuplexAct declares, what its judges are shown, and the arithmetic of the printed tables."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest
from tests.measures.test_actions import ANSWER, LONG, PERFECT, SPEAKS_UNTIL_STOPPED, acted, heard, known

from fullduplex import benchmarks
from fullduplex.benchmarks.boards import board_of
from fullduplex.benchmarks.declare import Asks, Benchmark, Scenario
from fullduplex.benchmarks.duplexact import variants
from fullduplex.benchmarks.duplexact.conditions import actions, conditions
from fullduplex.benchmarks.duplexact.published import CONDITIONS, OVERALL, OVERALL_ACTIONS, TABLE_4, YIELDS, pooled
from fullduplex.benchmarks.published import published
from fullduplex.data.official import SETS, set_named, task_named
from fullduplex.judging.rubric_file import load
from fullduplex.measures.actions import Limits
from fullduplex.measures.statistics import estimate
from fullduplex.model.spans import ms
from fullduplex.model.trials import Absent, Trial, Verdict
from fullduplex.sensitivity.rescored import thresholds

SOURCE = Path(__file__).parents[2].parent / "shared" / "sources" / "duplexact.txt"
DOCS = Path(__file__).parents[2] / "docs" / "explanation" / "duplexact.md"
NAMES = [condition.name for condition in conditions()]


def scenario(name: str, variant: str = "page") -> Scenario:
    return next(one for one in variants()[variant].scenarios if one.name == f"da_{name}")


def asks(name: str, verdict: str) -> Asks:
    return next(one for one in scenario(name).asks if one.verdict == verdict)


# --- the declaration ---


def test_page_is_the_default_and_lenient_differs_in_one_threshold() -> None:
    assert list(variants()) == ["page", "lenient"]
    assert benchmarks.find("duplexact")[0].variant == "page"
    strict, lenient = (variants()[name].limits for name in ("page", "lenient"))
    differ = [one.name for one in fields(Limits) if getattr(strict, one.name) != getattr(lenient, one.name)]
    assert differ == ["allowed_words"]


@pytest.mark.parametrize("variant", ["page", "lenient"])
def test_each_condition_is_a_scenario_of_its_action_with_i_and_s_and_t_where_it_is_timed(variant: str) -> None:
    made = variants()[variant].scenarios
    assert [one.card for one in made] == NAMES
    for one, condition in zip(made, conditions(), strict=True):
        timed = condition.action in ("stop", "interrupt", "recover")
        assert [metric.name for metric in one.metrics] == ["immediate", "follow_through", *["timing"] * timed]
        assert (one.dimension, one.official, one.task, one.dataset) == (
            condition.action, condition.official, one.name, one.name,
        )  # fmt: skip


def test_tasks_and_official_sets_are_those_of_the_table() -> None:
    assert {name: count for name, (_, count) in SETS.items() if name.startswith("da_")} == {
        f"da_{condition.name}": condition.official for condition in conditions()
    }
    for name in NAMES:
        assert (task_named(f"DA-{name}"), set_named(f"da_{name}", f"da_{name}")) == (f"da_{name}", f"da_{name}")


@pytest.mark.parametrize("variant", ["page", "lenient"])
def test_every_threshold_can_be_moved_alone_for_sensitivity(variant: str) -> None:
    made = variants()[variant]
    moved = {told.partition(" ")[0] for told, _ in thresholds(made)}
    assert moved == {one.name for one in fields(Limits)}
    for _, other in thresholds(made):
        assert isinstance(other, Benchmark)
        assert (other.variant, other.limits != made.limits) == (variant, True)


def test_a_rebuilt_variant_measures_by_its_own_limits() -> None:
    made = variants()["page"]
    assert made.rebuilt is not None
    longer = made.rebuilt(replace(made.limits, immediate_within=ms(2500)))
    trial = acted("take_turn_immediate", (8700, 10_000, LONG))
    found = [
        next(one for one in of.scenarios if one.card == "take_turn_immediate").metrics[0].measure(trial)
        for of in (made, longer)
    ]
    assert [getattr(one, "value", None) for one in found] == [0, 1]


def test_what_is_inferred_or_ours_is_a_departure() -> None:
    told = " ".join(f"{one.where} {one.ours} {one.why}" for one in variants()["page"].departures)
    for action in actions():
        if action.success == "ours":
            assert action.title.lower() in told.lower()
    for condition in conditions():
        if condition.source == "ours":
            assert condition.title.lower() in told
    assert "threshold" in told and "simulator" in told


def test_the_board_has_a_card_for_each_condition_and_a_heading_for_each_action() -> None:
    board = board_of("duplexact")
    assert board is not None
    assert list(board.cards) == NAMES
    assert all(card.metric == "immediate" for card in board.cards.values())
    assert [(one.key, one.title) for one in board.dimensions] == [(action.key, action.title) for action in actions()]
    assert {"overall", "direct", "simulator", "timing"} < set(board.actions)


# --- what judges are shown ---


@pytest.mark.parametrize("name", NAMES)
def test_every_question_has_the_fields_of_its_rubric_and_names_the_very_reply(name: str) -> None:
    later = (ANSWER,) if known(name).action == "backchannel" else ()
    trial = acted(name, *PERFECT[known(name).action], *later, verdicts={})
    for one in scenario(name).asks:
        rubric = load(one.rubric)
        assert rubric.verdict == one.verdict
        found = one.questions(trial)
        if one.verdict == "substantive":
            assert found == [("substantive", Absent("settled by rule", "length and words decide every utterance"))]
            continue
        assert len(found) == 1
        verdict, shown = found[0]
        assert re.fullmatch(rf"{one.verdict}:@\d+\.\d{{3}}-\d+\.\d{{3}}", verdict)
        assert not isinstance(shown, Absent)
        assert set(shown) == set(rubric.fields)
        assert one.verdicts(trial) == [one.verdict]


def test_a_judge_of_follow_through_sees_criterion_circumstance_target_times_and_marks() -> None:
    trial = acted("ignore_background", ANSWER)
    shown = asks("ignore_background", "follow-through").questions(trial)[0][1]
    assert not isinstance(shown, Absent)
    condition, action = known("ignore_background"), next(one for one in actions() if one.key == "ignore")
    assert shown["criterion"] == action.follow_through
    assert condition.calls_for in shown["circumstance"]
    assert shown["target"] == "says what is right"
    assert shown["conversation"] == f"[0.50-6.50] user (turn 1): what the user says\n[6.70-9.00] assistant: {LONG}"
    assert shown["marked"] == "[3.00-4.00] (not meant for the assistant)"
    assert shown["reply"] == f"[6.70-9.00] {LONG}"


def test_nothing_is_asked_of_what_did_not_succeed_or_was_not_answered() -> None:
    def reason(trial: Trial, name: str, verdict: str = "follow-through") -> str:
        found = asks(name, verdict).questions(trial)[0][1]
        assert isinstance(found, Absent)
        return found.reason

    assert reason(acted("wait_intra_pause", (2600, 3000, "mhm"), ANSWER), "wait_intra_pause") == "not entered"
    assert reason(acted("wait_intra_pause"), "wait_intra_pause") == "no reply"
    assert reason(acted("wait_intra_pause", (6700, 9000, None)), "wait_intra_pause") == "no words"
    assert reason(acted("take_turn_immediate", (5000, 9000, LONG)), "take_turn_immediate") == "not entered"
    assert reason(acted("take_turn_immediate", (8501, 9900, LONG)), "take_turn_immediate") == "not entered"
    assert reason(acted("recover_repeat"), "recover_repeat") == "not exercised"
    assert reason(acted("backchannel_affirmative"), "backchannel_affirmative", "backchannel-tone") == "not entered"
    assert reason(replace(acted("stop_direct_interruption"), failed="x"), "stop_direct_interruption") == "failed"


def test_a_token_is_heard_alone_with_a_little_around_it() -> None:
    trial = acted("backchannel_affirmative", (3500, 3900, "hm"), ANSWER)
    one = asks("backchannel_affirmative", "backchannel-tone")
    assert (one.clip, load(one.rubric).hears) == ("system", True)
    assert one.cut is not None
    stretch = one.cut(trial)
    assert stretch is not None
    assert (stretch.side, stretch.start, stretch.end) == ("system", 3.2, 4.2)
    assert one.cut(acted("backchannel_affirmative")) is None


def test_who_judges_a_tone_reads_what_the_user_had_said_by_then() -> None:
    trial = acted("backchannel_affirmative", (3500, 3900, "hm"))
    user = heard([(500, 6500, "one two three four five six")], 20_000)
    shown = asks("backchannel_affirmative", "backchannel-tone").questions(replace(trial, user=user))[0][1]
    assert shown == {"user": "one two three ...", "utterance": "hm"}


def test_a_short_answer_is_asked_about_with_all_that_the_user_said() -> None:
    trial = acted("recover_wrap_up", SPEAKS_UNTIL_STOPPED, (8300, 8700, "Okay."), verdicts={})
    found = asks("recover_wrap_up", "substantive").questions(trial)
    assert found == [
        ("substantive:@8.300-8.700", {"user": "what the user says\nwhat the user says", "utterance": "Okay."})
    ]
    # Were it one, its reply would count: both are asked in one pass.
    follow = asks("recover_wrap_up", "follow-through").questions(trial)
    assert [name for name, _ in follow] == ["follow-through:@8.300-8.700"]


def test_a_verdict_under_the_name_that_was_asked_is_the_one_that_counts() -> None:
    for name in NAMES:
        trial = acted(name, *PERFECT[known(name).action], verdicts={})
        tone = "uncertain" if name.endswith("uncertainty") else "affirmative"
        told = {"follow-through": "yes", "backchannel-tone": tone}
        verdicts = {
            verdict: Verdict(told[one.verdict])
            for one in scenario(name).asks
            for verdict, shown in one.questions(trial)
            if not isinstance(shown, Absent)
        }
        found = scenario(name).metrics[1].measure(replace(trial, verdicts=verdicts))
        assert getattr(found, "value", found) == 1, name


# --- the printed tables ---


@pytest.mark.parametrize("system", list(CONDITIONS))
@pytest.mark.parametrize("action", ["wait", "ignore"])
def test_an_actions_printed_i_and_s_pool_its_conditions_instances(system: str, action: str) -> None:
    cells = [cell for cell in CONDITIONS[system] if cell.condition.startswith(action)]
    first, then = pooled(cells)
    printed = OVERALL[system][OVERALL_ACTIONS.index(action)]
    assert then is not None and printed[1] is not None
    assert (abs(first - printed[0]) <= 0.0501, abs(then - printed[1]) <= 0.0501) == (True, True)


def test_averaging_conditions_would_not_give_the_printed_s() -> None:
    cells = [cell for cell in CONDITIONS["Mini-Omni2"] if cell.condition.startswith("wait")]
    assert sum(cell.follow_through for cell in cells) / len(cells) == pytest.approx(50.8, abs=0.05)
    assert pooled(cells)[1] == pytest.approx(32.7, abs=0.05)


def test_our_own_estimate_of_the_pooled_instances_is_the_printed_one() -> None:
    cells = [cell for cell in CONDITIONS["Freeze-Omni"] if cell.condition.startswith("wait")]
    first = [float(k < cell.n) for cell in cells for k in range(cell.size)]
    then = [float(k < cell.followed) for cell in cells for k in range(cell.n)]
    assert estimate(first, kind="rate").value == pytest.approx(0.732, abs=0.0005)
    assert estimate(then, kind="rate").value == pytest.approx(0.232, abs=0.0005)


def test_what_enters_follow_through_is_what_succeeded_at_once() -> None:
    for cells in CONDITIONS.values():
        for cell in cells:
            assert 100 * cell.n / cell.size == pytest.approx(cell.immediate, abs=0.01)
            assert 100 * cell.followed / cell.n == pytest.approx(cell.follow_through, abs=0.0501)


def test_an_action_that_nobody_entered_has_no_s() -> None:
    nobody = [replace(cell, n=0) for cell in CONDITIONS["Moshi"][:3]]
    assert pooled(nobody) == (0, None)


def test_every_printed_number_of_a_condition_is_a_metric_of_the_benchmark() -> None:
    ours = {(one.name, metric.name): (one, metric) for one in variants()["page"].scenarios for metric in one.metrics}
    for row in published("duplexact"):
        if row.source == TABLE_4:
            assert row.scenario in OVERALL_ACTIONS
            continue
        one, metric = ours[row.scenario, row.metric]
        assert (row.scenario_title, row.title, row.better, row.unit, row.rests_on) == (
            one.title, metric.title, metric.better, metric.unit, metric.rests_on,
        )  # fmt: skip


def test_the_tables_are_as_printed() -> None:
    if not SOURCE.exists():
        pytest.skip("the page's text is not beside this checkout")
    lines = SOURCE.read_text(encoding="utf-8").splitlines()

    def cells(first: str) -> list[list[str]]:
        return [line.strip().split("\t")[1:] for line in lines if line.strip().startswith(first)]

    for system, row in OVERALL.items():
        printed = [f"{i} / {'n/a' if s is None else s}" for i, s in row]
        assert printed in cells(f"{system}\t"), system
    for system, those in CONDITIONS.items():
        assert [f"{c.immediate}/{c.follow_through} ({c.n})" for c in those] in cells(f"{system}\t"), system
    for system, (median, spread, n) in YIELDS.items():
        assert [f"{median:.2f} ({spread:.2f}, {n})"] in cells(f"{system}\t"), system


# --- the page that explains it ---


def test_the_explanation_says_of_every_condition_whose_it_is() -> None:
    rows = [tuple(cell.strip() for cell in line.strip("| ").split("|"))
            for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]  # fmt: skip
    for action in actions():
        for condition in action.conditions:
            expected = (action.title, condition.title, condition.source, condition.made, action.success)
            assert expected in rows, expected


def test_the_explanation_states_every_threshold() -> None:
    text = DOCS.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\d.]+)", text, re.MULTILINE))
    expected = {
        one.name: getattr(Limits(), one.name) / (1 if one.name.endswith("words") else 1_000_000)
        for one in fields(Limits)
    }
    assert {name: float(value) for name, value in rows.items()} == expected
