"""What is put before raters: sets, verdicts, queues and pairs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fullduplex.errors import InputError, RunError
from fullduplex.judging.keeping import write_verdict
from fullduplex.judging.rubric_file import load as load_rubric
from fullduplex.judging.verdicts import Judged
from fullduplex.judging.votes import Vote
from fullduplex.model.spec import Spec
from fullduplex.reporting.review.claims import Claim, Wanted, wanted
from fullduplex.reporting.review.forms import load
from fullduplex.reporting.review.store import Review, append
from fullduplex.reporting.review.subjects import choose
from fullduplex.runs.judges import Seated, seat
from fullduplex.runs.run import Run


def keys(*runs: Run, form: str = "naturalness", **options: object) -> list[str]:
    return [subject.key for subject in choose(runs, load(form), **options).subjects]  # type: ignore[arg-type]


def test_a_form_is_about_its_tasks_and_tells_what_it_leaves_out(run: Run) -> None:
    chosen = choose([run], load("interruption"))
    assert {subject.task for subject in chosen.subjects} == {"user_interruption"}
    assert chosen.remarks == ("2 items are of a task that interruption does not ask about",)


def test_only_a_set_that_was_named(run: Run) -> None:
    assert keys(run, only=["pause_handling"]) == ["pause_handling/1", "pause_handling/2"]
    with pytest.raises(InputError, match=r"--only.*expected one of pause_handling, user_interruption"):
        keys(run, only=["nothing"])


def test_a_class_of_verdicts_is_queued_for_a_person(run: Run) -> None:
    found = keys(run, verdicts=[wanted("rating=0")])
    assert found == ["user_interruption/1", "user_interruption/7"]
    assert len(keys(run, verdicts=[wanted("rating>2"), wanted("rating<4")])) == 2
    assert len(keys(run, verdicts=[wanted("rating~reason-77")])) == 10


def test_a_verdict_that_nobody_gave_is_refused_with_those_there_are(run: Run) -> None:
    with pytest.raises(InputError, match=r"--verdict.*expected one of .*rating"):
        keys(run, verdicts=[wanted("ratings=0")])


def test_filters_that_nothing_answers_say_so(run: Run) -> None:
    with pytest.raises(RunError, match="nothing to review with naturalness"):
        keys(run, verdicts=[wanted("rating=77")])


@pytest.mark.parametrize("text", ["rating", "=0", "rating=", "rating<low", "rating>inf", ""])
def test_a_condition_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="NAME=VALUE"):
        wanted(text)


@pytest.mark.parametrize(
    ("text", "claim", "holds"),
    [
        ("rating=4", Claim("rating", 4.0), True),
        ("rating=4.0", Claim("rating", 4), True),
        ("rating=4", Claim("other", 4.0), False),
        ("latency<0", Claim("latency", 0.0), False),
        ("latency<0", Claim("latency", -0.001), True),
        ("latency=no turn taken", Claim("latency", None, "no turn taken"), True),
        ("latency<1", Claim("latency", None, "no turn taken"), False),
        ("behaviour=RESPOND", Claim("behaviour", "respond"), True),
        ("behaviour~Off Topic", Claim("behaviour", "respond", "it is off topic"), True),
    ],
)
def test_a_condition_holds_of_what_it_says(text: str, claim: Claim, holds: bool) -> None:
    assert wanted(text).holds(claim) is holds


def test_a_condition_may_have_blanks_around_its_sign() -> None:
    assert wanted(" rating = 0 ") == Wanted("rating", "=", "0")


def test_a_list_of_items_is_a_queue(run: Run, tmp_path: Path) -> None:
    queue = tmp_path / "queue.txt"
    queue.write_text('user_interruption/3\n\n{"set": "pause_handling", "item": "1", "why": "x"}\n')
    assert keys(run, queue=str(queue)) == ["pause_handling/1", "user_interruption/3"]


@pytest.mark.parametrize(("line", "where"), [("pause_handling/99", "line 2"), ("{}", "line 2"), ('{"set":', "line 2")])
def test_a_line_that_names_no_item_is_refused(run: Run, tmp_path: Path, line: str, where: str) -> None:
    queue = tmp_path / "queue.txt"
    queue.write_text(f"user_interruption/3\n{line}\n")
    with pytest.raises(InputError, match=where):
        keys(run, queue=str(queue))


def test_what_raters_split_over_is_unsure(run: Run) -> None:
    table = run.path / "estimates.json"
    table.write_text(json.dumps(json.loads(table.read_text()) | {"variants": []}))
    form = load("accept")
    one = Review("Ann", form.name, form.version, form.digest, "pause_handling", "2", {"accept": "accept"})
    append(run.path, one)
    with pytest.raises(RunError, match="nothing to review"):
        keys(run, form="accept", queue="unsure")
    append(run.path, replace(one, rater="Bo", answers={"accept": "reject"}))
    assert keys(run, form="accept", queue="unsure") == ["pause_handling/2"]


def test_what_the_variants_of_the_rules_dispute_is_unsure(run: Run) -> None:
    table = json.loads((run.path / "estimates.json").read_text())
    values: dict[tuple[str, str], set[float | None]] = {}
    for variant in (table, *table["variants"]):
        for row in variant["items"]:
            if row["metric"] == "tor":
                values.setdefault((row["scenario"], row["item"]), set()).add(row["value"])
    disputed = {f"{scenario}/{item}" for (scenario, item), found in values.items() if len(found) > 1}
    assert disputed and disputed == set(keys(run, queue="unsure"))


def test_what_the_runs_judge_said_is_a_verdict_and_votes_that_differ_are_unsure(run: Run) -> None:
    judge, rubric = Spec("recorded", {"path": "r.json"}), load_rubric("interruption")
    seat(run, Seated(judge, "", 2, {"rating": {"name": rubric.name, "digest": rubric.digest}}), leads=True)
    before = keys(run, queue="unsure")
    for number, values in (("3", (1.0, 1.0)), ("4", (1.0, 5.0))):
        votes = tuple(Vote(value, "told") for value in values)
        said = Judged(number, judge, rubric, "asked", {}, votes, 1.0, "", "told", "prompt")
        write_verdict(run.path / "trials" / "user_interruption" / number, said)
    assert keys(run, verdicts=[wanted("rating~told")]) == ["user_interruption/3", "user_interruption/4"]
    assert set(keys(run, queue="unsure")) - set(before) <= {"user_interruption/4"}
    assert "user_interruption/4" in keys(run, queue="unsure")


def test_the_verdict_form_asks_about_one_verdict(run: Run) -> None:
    chosen = choose([run], load("verdict"))
    claims = {subject.key: subject.claim for subject in chosen.subjects}
    rating = claims["user_interruption/2"]
    assert rating is not None and (rating.name, rating.value) == ("rating", 1.0)
    pause = claims["pause_handling/1"]
    assert pause is not None and pause.name == "tor"


def test_pairs_are_the_items_of_both(run: Run, other: Run) -> None:
    (other.path / "trials/pause_handling/2/item.json").unlink()
    chosen = choose([run, other], load("preference"))
    assert len(chosen.subjects) == 11
    assert chosen.remarks == ("1 item is in one of the two runs only",)
    assert [clip.system for clip in chosen.subjects[0].clips] == [run.system, other.system]


def test_a_comparison_needs_two_runs(run: Run) -> None:
    with pytest.raises(RunError, match="give two runs"):
        choose([run], load("preference"))
    with pytest.raises(RunError, match="twice"):
        choose([run, run], load("preference"))


def test_an_item_that_failed_is_left_out_and_counted(run: Run) -> None:
    path = run.path / "trials/pause_handling/1/item.json"
    path.write_text(path.read_text().replace('"failed": ""', '"failed": "no sound"'))
    chosen = choose([run], load("naturalness"))
    assert (len(chosen.subjects), chosen.remarks) == (11, ("1 item failed and has nothing to hear",))
