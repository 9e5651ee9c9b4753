"""What is said of judges, once for all their verdicts."""

from __future__ import annotations

from dataclasses import replace

from fullduplex.reporting.trust import NOT_VALIDATED, Judge, judge_lines

ONE = Judge("alpha", "model-1", "addressed", 12, 1, "addressed 1", "", NOT_VALIDATED)
WEAK = "It is weak. On 160 replies it is wrong on 20."


def test_all_verdicts_of_a_judge_are_one_sentence() -> None:
    two = replace(ONE, verdict="probe", rubric="probe 1", verdicts=30, votes=3)
    other = replace(ONE, system="beta", verdicts=5)
    (line,) = judge_lines([ONE, two, other, ONE])
    assert line == (
        "Judged by model-1: 42 verdicts on alpha, 5 on beta (rubrics addressed 1, probe 1, 3 votes); not validated: "
        "its verdicts were not compared with people's."
    )


def test_each_judge_has_its_own_sentence() -> None:
    assert len(judge_lines([ONE, replace(ONE, name="model-2")])) == 2


def test_a_worth_that_differs_by_verdict_is_told_by_verdict() -> None:
    known = replace(ONE, verdict="behaviour", rubric="behaviour 1", found="agrees with people on 90 %")
    (line,) = judge_lines([ONE, known])
    assert "addressed: not validated" in line and "behaviour: agrees with people on 90 %" in line


def test_of_a_weak_judge_a_terminal_has_the_first_sentence() -> None:
    (full,), (brief,) = (
        judge_lines([replace(ONE, weakness=WEAK)]),
        judge_lines([replace(ONE, weakness=WEAK)], brief=True),
    )
    assert "wrong on 20" in full
    assert "It is weak" in brief and "wrong on 20" not in brief


def test_nobody_judged_nothing_is_said() -> None:
    assert judge_lines([]) == []
