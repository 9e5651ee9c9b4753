"""A run is judged, corrected, held against people, and tested for what its numbers rest on: end to end on disk."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from fullduplex.agreeing import agree
from fullduplex.cli import main
from fullduplex.data import audio
from fullduplex.data.files import write_json
from fullduplex.errors import FullDuplexError, InputError, RunError
from fullduplex.judged import Judging, judge_run, kinship
from fullduplex.judging.keeping import read_verdicts
from fullduplex.judging.rubric import Labels, Scale
from fullduplex.judging.rubric_file import load
from fullduplex.model.spec import Spec
from fullduplex.publish import publish
from fullduplex.reporting.review.store import Review, append
from fullduplex.reporting.sensitivity import sensitivity_markdown
from fullduplex.runs.amendments import Amendment, amend, every_amendment
from fullduplex.runs.judges import judges_of
from fullduplex.runs.run import Run
from fullduplex.sensitivity import sensitivity, thresholds, to_json
from fullduplex.stages import Asked, Scored, measure_again, score

ITEMS = 6


def words(text: str, start: float) -> dict[str, Any]:
    chunks = [
        {"text": word, "timestamp": [round(start + 0.4 * n, 3), round(start + 0.4 * n + 0.35, 3)]}
        for n, word in enumerate(text.split())
    ]
    return {"text": text, "chunks": chunks}


def interruption(folder: Path, reply: str, start: float = 8.0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    event = {"context": "Tell me about Rome.", "interrupt": "Wait, what about Paris?", "timestamp": [5.0, 7.0]}
    write_json(folder / "interrupt.json", [event])
    write_json(folder / "output.json", words(reply, start))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for n in range(ITEMS):
        interruption(tmp_path / "user_interruption" / str(n), f"Paris is the capital of France number {n}")
    interruption(tmp_path / "user_interruption" / "silent", "")
    return tmp_path / "user_interruption"


def scored(folder: Path, out: Path, benchmark: str = "fdb-1.0@released-d7336bd", system: str = "Moshi-X") -> Scored:
    (made,) = score(folder, out, Asked(benchmark, recogniser="none", system=system), cache=out.parent / "cache")
    publish([made], out, page=False)
    return made


def replies(path: Path, texts: list[str]) -> Spec:
    write_json(path, {"replies": texts * 20})
    return Spec("recorded", {"path": str(path)})


def rated(value: int) -> str:
    return json.dumps({"reason": "because", "rating": value})


def judge(run: Run, spec: Spec, cache: Path, **more: Any) -> Any:
    return judge_run(run, Judging(spec, **more), cache=cache)


def row(run: Path, metric: str = "rating") -> dict[str, Any]:
    table = json.loads((run / "estimates.json").read_text())
    return next(r for r in table["estimates"] if r["metric"] == metric and r["n"] + sum(r["absent"].values()))


def again(run: Run) -> None:
    publish(measure_again(run.path), run.path, page=False)


def test_a_judges_word_becomes_the_number_with_who_said_it_beside_it(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    assert row(run.path)["absent"]["no rating"] == ITEMS
    outcome = judge(run, replies(tmp_path / "r.json", [rated(4)]), tmp_path / "cache")
    again(run)
    found = row(run.path)
    assert (found["value"], found["n"], found["absent"]) == (4.0, ITEMS, {"no takeover": 1})
    assert "not validated" in found["judged_by"] and found["worth"] == "not validated"
    assert outcome.passed_over == {"no takeover": 1}
    assert (outcome.bill.verdicts, outcome.bill.values) == (ITEMS, ITEMS)


def test_every_request_and_raw_reply_is_kept_and_the_rubrics_words_once(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    judge(run, replies(tmp_path / "r.json", ["no idea", rated(3)]), tmp_path / "cache", concurrency=1)
    kept = [one for item in run.items() for one in read_verdicts(item)]
    assert len(kept) == ITEMS
    assert {one.fields["interruption"] for one in kept} == {"Wait, what about Paris?"}
    raw = [attempt.text for one in kept for vote in one.votes for attempt in vote.attempts]
    assert "no idea" in raw and rated(3) in raw
    assert len(list((run.path / "rubrics").iterdir())) == 1


def test_what_a_judge_does_not_give_is_counted_under_its_reason_and_is_no_grade(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    outcome = judge(run, replies(tmp_path / "r.json", ["I would say four"]), tmp_path / "cache", attempts=2)
    again(run)
    found = row(run.path)
    assert (found["value"], found["n"]) == (None, 0)
    assert found["absent"] == {"unparsable": ITEMS, "no takeover": 1}
    assert outcome.bill.requests <= 2 * ITEMS


def test_the_same_command_asks_nothing_twice(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    spec = replies(tmp_path / "r.json", [rated(4)])
    judge(run, spec, tmp_path / "cache")
    before = {item.name: (item / "judge.json").read_bytes() for item in run.items() if (item / "judge.json").is_file()}
    outcome = judge(run, spec, tmp_path / "cache")
    assert outcome.bill.requests == 0
    assert before == {i.name: (i / "judge.json").read_bytes() for i in run.items() if (i / "judge.json").is_file()}


def test_votes_that_cannot_be_read_are_kept_until_more_attempts_are_allowed(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    spec = replies(tmp_path / "r.json", ["I would say four"])
    judge(run, spec, tmp_path / "cache", attempts=2)
    kept = judge(run, spec, tmp_path / "cache", attempts=2).bill
    assert (kept.requests, kept.known, kept.unread) == (0, ITEMS, ITEMS) and "--attempts asks again" in kept.told()
    more = judge(run, spec, tmp_path / "cache", attempts=3).bill
    assert (more.requests, more.known, more.unread) == (ITEMS, 0, 0) and "--attempts" not in more.told()


def test_that_an_earlier_word_still_counts_is_said_only_where_there_is_one(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    silent, other = replies(tmp_path / "a.json", ["four"]), replies(tmp_path / "b.json", ["five"])
    for spec in (silent, silent, other):
        assert "still counts" not in " ".join(judge(run, spec, tmp_path / "cache", attempts=1).remarks)
    judge(run, replies(tmp_path / "c.json", [rated(4)]), tmp_path / "cache")
    assert "still counts" in " ".join(judge(run, silent, tmp_path / "cache", attempts=1).remarks)


def test_the_judge_does_not_read_the_systems_name(tmp_path: Path) -> None:
    interruption(tmp_path / "user_interruption" / "1", "I am Moshi X and Paris is lovely in the spring")
    run = scored(tmp_path / "user_interruption", tmp_path / "run").run
    judge(run, replies(tmp_path / "r.json", [rated(4)]), tmp_path / "cache")
    (kept,) = [one for item in run.items() for one in read_verdicts(item)]
    assert "Moshi" not in json.dumps(dict(kept.fields))
    assert kept.masked == ("Moshi-X",)


def test_the_last_judge_leads_unless_it_sits_beside(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    first, second = replies(tmp_path / "a.json", [rated(1)]), replies(tmp_path / "b.json", [rated(5)])
    judge(run, first, tmp_path / "cache")
    judge(run, second, tmp_path / "cache", leads=False)
    again(run)
    assert row(run.path)["value"] == 1.0
    judge(run, second, tmp_path / "cache")
    again(run)
    assert row(run.path)["value"] == 5.0
    assert [one.spec.options["path"] for one in judges_of(run)] == ["b.json", "a.json"]


def test_a_correction_is_signed_applied_when_measured_listed_and_taken_back(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    judge(run, replies(tmp_path / "r.json", [rated(4)]), tmp_path / "cache")
    wrong = Amendment(
        "Ann", "2026-01-01T00:00:00+00:00", "it is about Rome", "user_interruption", "0", "rating", 4.0, 1.0
    )
    amend(run, wrong)
    again(run)
    assert row(run.path)["value"] == pytest.approx((4 * (ITEMS - 1) + 1) / ITEMS)
    report = (run.path / "report.md").read_text()
    assert "Corrections by hand (1)" in report and "it is about Rome" in report and "4, now 1 (Ann" in report
    items = json.loads((run.path / "estimates.json").read_text())["items"]
    why = [one["why"] for one in items if one["item"] == "0" and one["metric"] == "rating"]
    assert why and set(why) == {"amended by Ann: it is about Rome (was 4)"}
    amend(run, Amendment("Ann", wrong.when, "no", "user_interruption", "0", "rating", 1.0, None))
    again(run)
    assert row(run.path)["value"] == 4.0


def test_a_metric_is_corrected_in_one_variant_or_in_all(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run", "fdb-1.0@all").run
    when, why = "2026-01-01T00:00:00+00:00", "the word is a cough"
    amend(run, Amendment("Ann", when, why, "user_interruption", "0", "released-3e799c4/latency", 1.0, "absent"))
    amend(run, Amendment("Ann", when, why, "user_interruption", "1", "tor", 1.0, 0.0))
    (made,) = measure_again(run.path)
    columns = made.measured.columns
    first = columns["released-3e799c4", "user_interruption", "latency"]
    assert first.absent() == {"no takeover": 1, "withdrawn": 1}
    assert columns["paper", "user_interruption", "latency"].absent() == {"no takeover": 1}
    for variant in ("paper", "anchored", "released-d7336bd"):
        assert sum(columns[variant, "user_interruption", "tor"].numbers) == ITEMS - 1


CORRECTION = Amendment("Ann", "2026-01-01T00:00:00+00:00", "no", "user_interruption", "0", "tor", 1.0, 0.0)


@pytest.mark.parametrize(
    "damaged", [b'{"schema": 1, "who":\n', b"\xff\xfe", b"[" * 100_000, b'{"schema": 1}', b"null", b"[]"]
)
def test_a_damaged_line_of_corrections_is_refused_in_a_sentence_and_kept(
    folder: Path, tmp_path: Path, damaged: bytes
) -> None:
    run = scored(folder, tmp_path / "run").run
    path = run.path / "amendments.jsonl"
    path.write_bytes(damaged)
    with pytest.raises(InputError, match=r"amendments\.jsonl, (line 1|byte 0)"):
        measure_again(run.path)
    with pytest.raises(InputError, match=r"amendments\.jsonl, (line 1|byte 0)"):
        amend(run, CORRECTION)
    assert path.read_bytes() == damaged


@pytest.mark.parametrize("value", ["1e999", "NaN", "true", "[1]"])
def test_a_correction_to_what_is_no_number_is_refused(folder: Path, tmp_path: Path, value: str) -> None:
    run = scored(folder, tmp_path / "run").run
    amend(run, CORRECTION)
    path = run.path / "amendments.jsonl"
    path.write_text(path.read_text().replace('"new": 0.0', f'"new": {value}'))
    with pytest.raises(InputError, match=r"line 1: .*mend or take out that line"):
        measure_again(run.path)


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_corrections_that_are_no_file_are_told_and_not_passed_over(
    folder: Path, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    run = scored(folder, tmp_path / "run").run
    make(run.path / "amendments.jsonl")
    for act in (lambda: measure_again(run.path), lambda: amend(run, CORRECTION)):
        with pytest.raises(InputError, match=r"amendments\.jsonl"):
            act()


def test_a_correction_after_a_line_that_was_not_ended_is_a_line_of_its_own(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    amend(run, CORRECTION)
    path = run.path / "amendments.jsonl"
    path.write_text(path.read_text().rstrip("\n"))
    amend(run, CORRECTION)
    assert every_amendment(run) == (CORRECTION, CORRECTION)


def test_a_label_in_place_of_a_rating_is_counted_as_unreadable(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    good = replace(load("interruption"), answer=Labels(("good", "bad")), name="mine")
    spec = replies(tmp_path / "r.json", ['{"reason": "fine", "rating": "good"}'])
    judge(run, spec, tmp_path / "cache", rubrics={"rating": good})
    again(run)
    assert row(run.path)["absent"] == {"no takeover": 1, "unparsable": ITEMS}


def people(run: Run, ratings: dict[str, dict[str, int]]) -> None:
    for item, given in ratings.items():
        for rater, value in given.items():
            append(
                run.path,
                Review(rater, "interruption", "1", "d", "user_interruption", item, {"rating": value}, heard=1.0),
            )


def test_agreement_with_people_stands_beside_the_number(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    judge(run, replies(tmp_path / "r.json", [rated(4), rated(4), rated(2)]), tmp_path / "cache")
    values = {f"{i.parent.name}/{i.name}": k.value for i in run.items() for k in read_verdicts(i)}
    people(
        run,
        {key.partition("/")[2]: {"Ann": int(float(v or 0)), "Ben": int(float(v or 0))} for key, v in values.items()},
    )
    people(run, {"0": {"Ann": 1, "Ben": 1}})
    told, remarks = agree(run)
    assert remarks == ()
    (found,) = told["verdicts"]
    (known,) = found["judges"].values()
    assert known["n"] == ITEMS
    assert known["accuracy"]["value"] == pytest.approx((ITEMS - 1) / ITEMS)
    assert found["among_people"]["percent"]["value"] == 1.0
    again(run)
    assert "kappa" in row(run.path)["worth"] and f"n {ITEMS}" in row(run.path)["worth"]
    assert "agrees with people on 83 %" in row(run.path)["judged_by"]


def test_two_judges_are_held_against_each_other(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    for name, value in (("a", 4), ("b", 4)):
        judge(run, replies(tmp_path / f"{name}.json", [rated(value)]), tmp_path / "cache")
    (found,) = agree(run)[0]["verdicts"]
    (both,) = found["between"]
    assert both["percent"]["value"] == 1.0
    assert both["kappa"]["value"] is None  # nothing to disagree on: no value, not 1
    assert not any(known["validated"] for known in found["judges"].values())


def test_a_ratings_file_that_came_with_the_recordings_is_validated_too(folder: Path, tmp_path: Path) -> None:
    for n in range(ITEMS):
        write_json(folder / str(n) / "rating.json", {"analysis": "fine", "rating": 3})
    run = scored(folder, tmp_path / "run").run
    assert row(run.path)["worth"] == "not validated"
    people(run, {str(n): {"Ann": 3} for n in range(ITEMS)})
    (found,) = agree(run)[0]["verdicts"]
    assert found["judges"]["recorded"]["accuracy"]["value"] == 1.0


def liked(run: Run, item: str, form: str, answers: dict[str, int | str], sides: dict[str, str] | None = None) -> None:
    append(run.path, Review("Ann", form, "1", "d", "user_interruption", item, answers, sides=sides or {}))


def test_what_people_rate_is_ranked_against_every_metric(tmp_path: Path) -> None:
    for n in range(8):
        interruption(tmp_path / "user_interruption" / str(n), "a good answer in words", 7.2 + 0.2 * n)
    run = scored(tmp_path / "user_interruption", tmp_path / "run").run
    for n in range(8):
        liked(run, str(n), "satisfaction", {"satisfaction": 5 if n < 4 else 1})
    found = {one["metric"]: one for one in agree(run)[0]["goes_with"]}
    # Later answers are liked less: a ranking with ties of four and four.
    assert found["latency"]["rated"] == "satisfaction"
    assert found["latency"]["rho"]["value"] == pytest.approx(-0.8728715609)
    assert "tor" not in found  # the same for all: nothing to rank
    again(run)
    assert "satisfaction: user_interruption, Latency: -0.87" in (run.path / "report.md").read_text()


def test_a_preference_is_ranked_against_the_difference_of_both_runs(tmp_path: Path) -> None:
    runs = []
    for system, step in (("quick", 0.0), ("slow", 0.2)):
        for n in range(8):
            interruption(tmp_path / system / "user_interruption" / str(n), "a good answer in words", 7.2 + step * n)
        runs.append(scored(tmp_path / system / "user_interruption", tmp_path / f"{system}.run", system=system).run)
    for n in range(8):
        side = {"A": "slow", "B": "quick"}
        liked(runs[0], str(n), "preference", {"preferred": "none" if n == 0 else "B" if n > 2 else "A"}, side)
    told, _ = agree(runs[0], others=runs[1:])
    found = {one["metric"]: one for one in told["goes_with"]}
    assert found["latency"]["rated"] == "preference for quick over slow"
    assert found["latency"]["rho"]["value"] < -0.5


def test_sensitivity_moves_one_choice_at_a_time_and_names_what_moves_a_number(tmp_path: Path) -> None:
    runs = []
    for system, early in (("early", 0.8), ("late", -0.5)):
        for n in range(4):
            interruption(tmp_path / system / "user_interruption" / str(n), "a good answer in words", 7.0 - early)
        runs.append(
            scored(tmp_path / system / "user_interruption", tmp_path / f"{system}.run", "fdb-1.0@all", system).run
        )
    found = sensitivity(runs, variant="anchored", cache=tmp_path / "cache")
    names = {condition.name for condition in found.conditions}
    assert {"paper", "released-3e799c4"} <= names
    assert any(name.startswith("early 0.5 s") for name in names)
    band = next(b for b in found.bands if (b.system, b.metric) == ("early", "tor") and b.value is not None)
    # An answer that begins 0.8 s early counts at a limit of 1 s and not at one of 0.5 s.
    assert (band.value, band.low, band.high) == (1.0, 0.0, 1.0)
    limits = {condition.name: condition.kind for condition in found.conditions}
    assert next(kind for name, kind in limits.items() if name.startswith("early 0.5 s")) == "threshold"
    assert band.kinds["threshold"] == (0.0, 1.0)
    order = next(s for s in found.standings if s.metric == "latency" and s.scenario == "user_interruption")
    assert order.tiers == (("early",), ("late",))
    assert order.wins["early", "late"].probability == 1.0
    # The released rule clips what is early to 0: the order stays, and the conditions without all systems are left out.
    assert all(shift.tau in (1.0, None) for shift in order.shifts)


def test_thresholds_move_alone_and_words_by_one() -> None:
    from fullduplex import benchmarks

    (anchored,) = benchmarks.find("fdb-1.0@anchored")
    moved = list(thresholds(anchored))
    assert len({name for name, _ in moved}) == len(moved)
    for _, changed in moved:
        differing = [f for f in anchored.limits.__slots__ if getattr(changed.limits, f) != getattr(anchored.limits, f)]
        assert len(differing) == 1
    assert sum(name.startswith("backchannel_words") for name, _ in moved) == 2
    (paper,) = benchmarks.find("fdb-1.0@paper")
    assert list(thresholds(paper)) == []


def test_one_variant_and_each_run_once_are_tested(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    with pytest.raises(InputError, match="--as: found all, expected one variant"):
        sensitivity([run], variant="all", cache=tmp_path / "cache")
    with pytest.raises(RunError, match="given twice"):
        sensitivity([run, Run.open(run.path)], cache=tmp_path / "cache")


def test_items_that_another_detector_cannot_hear_are_told(folder: Path, tmp_path: Path) -> None:
    for item in folder.iterdir():
        audio.write(item / "output.wav", np.zeros(16_000), 16_000)
    run = scored(folder, tmp_path / "run").run
    sound = run.path / "trials" / "user_interruption" / "0" / "output.wav"
    sound.unlink()  # it is a link to the recording itself
    sound.write_bytes(b"junk")
    found = sensitivity([run], detectors=["energy"], cache=tmp_path / "cache")
    (told,) = found.remarks
    assert "detector energy: 1 item failed and has no part in it; the first, user_interruption/0: " in told
    assert "Not tried, or not in full" in sensitivity_markdown(to_json(found))


def test_a_detector_that_is_not_there_is_told_and_the_rest_goes_on(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    found = sensitivity([run], detectors=["nonesuch"], cache=tmp_path / "cache")
    assert len(found.remarks) == 1 and "nonesuch" in found.remarks[0]
    assert len(found.conditions) > 1


def test_a_judge_of_the_systems_own_family_is_told(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run", system="gpt-realtime").run
    assert "both of OpenAI" in kinship(run, Spec("openai", {"model": "gpt-4o"}))[0]
    assert kinship(run, Spec("anthropic", {"model": "claude-opus-4"})) == ()
    assert kinship(run, Spec("embedding")) == ()


@pytest.mark.parametrize(
    ("spec", "match"),
    [
        (Spec("nonesuch"), "no judge is called 'nonesuch'"),
        (Spec("recorded", {"speed": 3}), "has no option 'speed'"),
        (Spec("recorded", {"path": "not-there.json"}), r"not-there\.json"),
    ],
)
def test_a_judge_that_cannot_be_is_refused_in_a_sentence(spec: Spec, match: str, folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    with pytest.raises(FullDuplexError, match=match):
        judge(run, spec, tmp_path / "cache")
    assert judges_of(run) == ()


def test_the_python_door_judges_too(folder: Path, tmp_path: Path) -> None:
    import fullduplex

    made = fullduplex.score(folder, out=tmp_path / "run", cache=tmp_path / "cache", recogniser="none")
    spec = replies(tmp_path / "r.json", [rated(5)])
    assert spec.name == "recorded"
    judged = made.judge(f"recorded:path={json.dumps(str(tmp_path / 'r.json'))}", cache=tmp_path / "cache")
    table = judged.to_json()
    assert isinstance(table, dict)
    (found,) = [r for r in table["estimates"] if r["metric"] == "rating"]
    assert (found["value"], found["n"]) == (5.0, ITEMS)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    monkeypatch.setenv("FULLDUPLEX_CACHE", str(tmp_path / "cache"))

    def call(*arguments: str) -> Any:
        return CliRunner().invoke(main, list(arguments))

    return call


def test_the_commands_do_it_all(folder: Path, tmp_path: Path, command: Callable[..., Any]) -> None:
    run = scored(folder, tmp_path / "run").run
    write_json(tmp_path / "r.json", {"replies": [rated(4)] * ITEMS})
    planned = command("judge", str(run.path), "--judge", f"recorded:path={tmp_path / 'r.json'}", "--dry-run")
    assert planned.exit_code == 0 and f"{ITEMS} requests" in planned.output
    judged = command("judge", str(run.path), "--judge", f"recorded:path={tmp_path / 'r.json'}")
    assert judged.exit_code == 0, judged.output
    assert "4.000" in judged.output and "not validated" in judged.output
    corrected = command("amend", str(run.path), "user_interruption/0", "rating", "1", "--who", "Ann", "--why", "no")
    assert corrected.exit_code == 0, corrected.output
    assert "4, now 1" in command("amend", str(run.path), "--list").output
    refused = command("amend", str(run.path), "user_interruption/0", "rating", "six", "--who", "Ann", "--why", "no")
    assert refused.exit_code == 1 and "expected a number" in refused.output
    unsigned = command("amend", str(run.path), "user_interruption/0", "rating", "1")
    assert unsigned.exit_code == 1 and "signed" in unsigned.output
    agreed = command("agree", str(run.path))
    assert agreed.exit_code == 0 and "not validated" in agreed.output
    tried = command("sensitivity", str(run.path), "--json")
    assert tried.exit_code == 0, tried.output
    assert json.loads(tried.stdout)["schema"] == 1
    assert (run.path / "sensitivity.md").is_file()


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("openai-compatible:model=x,price_in=1000,price_out=1000", "about US$ "),
        ("openai-compatible:model=x", "no price known"),
    ],
)
def test_a_plan_tells_the_cost_where_the_price_is_known(
    spec: str, told: str, folder: Path, tmp_path: Path, command: Callable[..., Any]
) -> None:
    run = scored(folder, tmp_path / "run").run
    planned = command("judge", str(run.path), "--judge", spec, "--dry-run")
    assert planned.exit_code == 0, planned.output
    assert f"{ITEMS} requests, about " in planned.output and told in planned.output


def test_judging_nothing_is_no_success(tmp_path: Path, command: Callable[..., Any]) -> None:
    for n in range(2):
        interruption(tmp_path / "user_interruption" / str(n), "")
    run = scored(tmp_path / "user_interruption", tmp_path / "run").run
    spec = replies(tmp_path / "r.json", [rated(4)])
    told = command("judge", str(run.path), "--judge", f"recorded:path={spec.options['path']}")
    assert told.exit_code == 1
    assert f"{run.path}: nothing could be judged: 2 × no takeover" in told.output
    assert "Traceback" not in told.output


def test_a_judged_run_scores_alike_as_a_plain_folder(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    judge(run, replies(tmp_path / "r.json", [rated(4)]), tmp_path / "cache")
    again(run)
    first = row(run.path)
    second = scored(run.path, tmp_path / "second").run
    assert {key: first[key] for key in ("value", "low", "high", "n")} == {
        key: row(second.path)[key] for key in ("value", "low", "high", "n")
    }
    assert row(second.path)["worth"] == "not validated"
    told = json.loads((run.folder("user_interruption", "0") / "rating.json").read_text())
    assert told == {"analysis": "because", "rating": 4.0}


def test_a_judge_beside_writes_nothing_that_scripts_would_read(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    judge(run, replies(tmp_path / "r.json", [rated(4)]), tmp_path / "cache", leads=False)
    assert not list(run.path.rglob("rating.json"))


def test_a_judge_that_answers_nothing_takes_nobodys_place_and_says_why(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    judge(run, replies(tmp_path / "r.json", [rated(4)]), tmp_path / "cache")
    write_json(tmp_path / "empty.json", {"replies": []})
    outcome = judge(run, Spec("recorded", {"path": str(tmp_path / "empty.json")}), tmp_path / "cache")
    again(run)
    assert row(run.path)["value"] == 4.0
    assert any("holds no further reply" in remark for remark in outcome.remarks)
    assert any("still counts" in remark for remark in outcome.remarks)


def test_votes_that_tie_count_for_stability(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    judge(run, replies(tmp_path / "r.json", [rated(1), rated(3), rated(5)]), tmp_path / "cache", votes=3, concurrency=1)
    (found,) = agree(run)[0]["verdicts"]
    (known,) = found["judges"].values()
    assert known["votes"]["agreeing"]["value"] == pytest.approx(1 / 3)
    assert known["votes"]["unanimous"]["value"] == 0.0


def test_reviews_of_clips_that_were_hardly_heard_are_told(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    append(run.path, Review("Ann", "interruption", "1", "d", "user_interruption", "0", {"rating": 3}, heard=0.1))
    _, remarks = agree(run)
    assert remarks == ("1 of 1 reviews were given before half of the clip was played; they count",)


def test_what_is_made_of_a_verdict_is_not_corrected_beside_it(
    folder: Path, tmp_path: Path, command: Callable[..., Any]
) -> None:
    run = scored(folder, tmp_path / "run").run
    judge(run, replies(tmp_path / "r.json", [rated(4)]), tmp_path / "cache")
    refused = command("amend", str(run.path), "user_interruption/0", "latncy", "1", "--who", "Ann", "--why", "no")
    assert refused.exit_code == 1 and "latency" in refused.output and "wpm" not in refused.output


def test_agreement_of_other_words_or_another_judge_stands_beside_no_number(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    spec = replies(tmp_path / "r.json", [rated(4)])
    judge(run, spec, tmp_path / "cache")
    people(run, {str(n): {"Ann": 4, "Bo": 4} for n in range(ITEMS)})
    agree(run)
    again(run)
    assert row(run.path)["worth"].startswith("kappa")
    judge(run, spec, tmp_path / "cache", rubrics={"rating": replace(load("interruption"), system="Other words.")})
    again(run)
    assert row(run.path)["worth"] == "not validated"


@pytest.mark.parametrize("judges", ["[]", '{"recorded": 7}', '{"recorded": {"validated": true}}'])
def test_an_agreement_that_was_edited_validates_nothing(folder: Path, tmp_path: Path, judges: str) -> None:
    run = scored(folder, tmp_path / "run").run
    judge(run, replies(tmp_path / "r.json", [rated(4)]), tmp_path / "cache")
    (run.path / "agreement.json").write_text(f'{{"verdicts": [{{"verdict": "rating", "judges": {judges}}}]}}')
    again(run)
    assert row(run.path)["worth"] == "not validated"


def test_what_is_not_on_the_scale_disagrees_and_what_is_no_number_is_told(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    wide = replace(load("interruption"), answer=Scale(0, 100))
    judge(run, replies(tmp_path / "r.json", [rated(70)]), tmp_path / "cache", rubrics={"rating": wide})
    people(run, {str(n): {"Ann": 4, "Bo": 4} for n in range(ITEMS)})
    people(run, {"0": {"Cy": "four"}})  # type: ignore[dict-item]
    told, remarks = agree(run)
    (its,) = told["verdicts"][0]["judges"].values()
    assert (its["accuracy"]["value"], its["n"]) == (0.0, ITEMS)
    assert "rating: 1 answers that are no numbers are left out" in remarks


def test_only_what_is_of_the_vendor_is_kin_of_its_models(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run", system="llama-talks").run
    assert kinship(run, Spec("openai-compatible", {"model": "mine"})) == ()
    (told, *_) = kinship(run, Spec("openai-compatible", {"model": "llama3.3"}))
    assert "both of Meta" in told


def test_a_judge_is_asked_one_variants_questions(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    with pytest.raises(InputError, match="--as: found all, expected one variant"):
        judge(run, replies(tmp_path / "r.json", [rated(4)]), tmp_path / "cache", variant="all")


@pytest.mark.parametrize("name", ["judges.json", "trials/user_interruption/0/judge.json"])
def test_judges_that_are_no_file_are_told_and_not_passed_over(folder: Path, tmp_path: Path, name: str) -> None:
    run = scored(folder, tmp_path / "run").run
    judge(run, replies(tmp_path / "r.json", [rated(4)]), tmp_path / "cache")
    (run.path / name).unlink()
    (run.path / name).mkdir()
    if name == "judges.json":
        with pytest.raises(InputError, match=r"judges\.json"):
            measure_again(run.path)
    else:
        (made,) = measure_again(run.path)
        assert "judge.json" in made.measured.failed["user_interruption/0"]


def test_a_correction_stays_on_the_scale_and_minds_no_other_items_damage(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    (run.path / "trials" / "user_interruption" / "1" / "item.json").write_text("{")
    signed = ("--who", "Ann", "--why", "no")
    refused = CliRunner().invoke(main, ["amend", str(run.path), "user_interruption/0", "rating", "99", *signed])
    assert refused.exit_code == 1 and "a number from 0 to 5, or absent" in refused.output
    done = CliRunner().invoke(main, ["amend", str(run.path), "user_interruption/0", "rating", "3", *signed])
    assert done.exit_code == 0
    assert every_amendment(run)[0].new == 3.0


def test_a_run_whose_source_tells_no_count_is_reported(folder: Path, tmp_path: Path) -> None:
    run = scored(folder, tmp_path / "run").run
    write_json(run.path / "run.json", {**run.about, "source": None})
    again(Run.open(run.path))
    assert "unknown items" in (run.path / "report.md").read_text()
