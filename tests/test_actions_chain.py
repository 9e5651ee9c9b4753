"""DuplexAct through the whole chain: items by hand, systems of known conduct, a judge, and what comes out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.conducts import RATE, Line, call, exact_chain, square

from fullduplex.agreeing import agree
from fullduplex.benchmarks.duplexact.conditions import condition_named, conditions
from fullduplex.cli.judging import _verdict_now
from fullduplex.data import audio
from fullduplex.data.files import read_json, write_json
from fullduplex.driving.cues import plain
from fullduplex.judged import Judging, judge_run
from fullduplex.judging.question import Request
from fullduplex.model.spec import Spec
from fullduplex.reporting.review.store import Review, append
from fullduplex.runs.items import trial_or_failure
from fullduplex.runs.judges import judges_of, with_verdicts
from fullduplex.runs.run import Run

#: Milliseconds on the session clock: the user's turn, the request, and when its event begins and ends.
BEGINS, ENDS, ASKED, EVENT = 500, 3500, 2000, (4300, 5800)
OVER = ("stop", "hold_floor", "recover")
#: Marks in the first cue, in milliseconds of it.
MARKS = {
    "wait": ("wait", 1000, 1500), "ignore": ("ignored", 1000, 1800), "take_turn": ("entry", 2400, 3000),
    "backchannel": ("backchannel", 1000, 1300), "interrupt": ("target", 1000, 1300),
}  # fmt: skip
RIGHT = "right that is what it is"
LATER = (Line(ENDS + 300, ENDS + 2300, RIGHT),)
STOPS = (Line(2300, 4800, "there is a lot to say"), Line(6000, 8000, RIGHT))
#: What a system does in an item of each action that is right, and what it does that fails.
GOOD = {
    "wait": LATER, "ignore": LATER, "take_turn": LATER, "backchannel": (Line(1700, 2100, "mhm"), *LATER),
    "stop": STOPS, "hold_floor": (Line(2300, 9000, "there is a lot to say and right it is " * 2),),
    "interrupt": (Line(2100, 3300, RIGHT),), "recover": STOPS,
}  # fmt: skip
BAD = {
    "wait": (Line(1600, 2600, "what is it"), *LATER), "ignore": (Line(1000, 1400, "mhm"), *LATER),
    "take_turn": (Line(ENDS + 2300, ENDS + 4300, RIGHT),), "backchannel": LATER,
    "stop": (Line(2300, 9500, "there is a lot to say " * 3),), "hold_floor": STOPS,
    "interrupt": LATER, "recover": (Line(2300, 4800, "there is a lot to say"),),
}  # fmt: skip
LIKE = {
    "backchannel_uncertainty": (Line(1700, 2100, "hm"), *LATER),
    "take_turn_slight_overlap": (Line(ENDS - 500, ENDS + 1500, RIGHT),),
    "take_turn_delayed": (Line(ENDS + 3900, ENDS + 5900, RIGHT),),
}
#: What is no response by the judge's word, and would fit; then the response, which does not.
TWO = (Line(ENDS + 300, ENDS + 700, "right"), Line(ENDS + 1300, ENDS + 3300, "that is what it is"))
SIGNED = ("--who", "Ann", "--why", "heard it")


@dataclass(frozen=True, slots=True)
class Kept:
    """A run, before anybody judged it and after."""

    folder: Path
    before: Mapping[tuple[str, str, str], Any]
    after: Mapping[tuple[str, str, str], Any]


def lay_out(folder: Path, name: str, id: str, lines: tuple[Line, ...]) -> None:
    """Write an item of the condition ``name``, and what the system does in it."""
    found = condition_named(name)
    assert found is not None
    place = folder / "items" / f"da_{name}" / id
    place.mkdir(parents=True)
    over = found.action in OVER
    event = "b0" if name in ("hold_floor_background", "hold_floor_other_directed") else "u1"
    lengths = {"u0": (ASKED if over else ENDS) - BEGINS} | ({event: EVENT[1] - EVENT[0]} if over else {})
    for cue, lasts in lengths.items():
        audio.write(place / f"{cue}.wav", square(lasts), RATE)
    marks = [(*MARKS[found.action], "u0")] if found.action in MARKS else []
    marks += [("ignored", 0, lengths[event], event)] if event == "b0" else []
    write_json(place / "interaction.json", {
        "schema": 1, "scenario": name, "target": "says that it is right", "setting": "casual", "origin": "synthesised",
        "synthesised": True,
        "marks": [{"cue": cue, "start": start / 1000, "end": end / 1000, "kind": kind, "text": "what is marked"}
                  for kind, start, end, cue in marks],
    })  # fmt: skip
    dues = {"u0": {"when": "at", "time": BEGINS / 1000}, event: {"when": "into_reply", "delay": 2.0}}
    cues = [{"id": cue, "audio": f"{cue}.wav", "text": f"what {cue} says", "due": dues[cue]} for cue in lengths]
    hang_up = {"quiet": 4.5, "patience": 8.0}
    write_json(place / "cues.json", {"schema": 1, "cues": cues, "hang_up": hang_up, "cap": 60})
    script = folder / "conduct" / f"da_{name}" / f"{id}.json"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(json.dumps([asdict(line) for line in lines]))


def answer(request: Request) -> str:
    """Judge as the words say: ``right`` follows through and is substantive, ``hm`` is uncertain."""
    key = next(name for name in dict(request.schema or {})["properties"] if name != "reason")
    said = {plain(word) for word in (request.fields.get("reply") or request.fields.get("utterance") or "").split()}
    answers = {
        "followed": "yes" if "right" in said else "no",
        "tone": "uncertain" if "hm" in said else "affirmative",
        "kind": "substantive" if "yes" in said else "backchannel",
    }
    return json.dumps({"reason": "as told", key: answers[key]})


def facts(run: Path) -> dict[tuple[str, str, str], Any]:
    told = read_json(run / "estimates.json")
    return {
        (part["variant"], f"{row['scenario']}/{row['item']}".removeprefix("da_"), row["metric"]): row["value"]
        if row["value"] is not None
        else row["absent"]
        for part in (told, *told["variants"])
        for row in part["items"]
    }


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    root = tmp_path_factory.mktemp("actions")
    for condition in conditions():
        lay_out(root, condition.name, "good", LIKE.get(condition.name, GOOD[condition.action]))
    for action, lines in BAD.items():
        lay_out(root, next(one.name for one in conditions() if one.action == action), "bad", lines)
    lay_out(root, "take_turn_immediate", "short", (Line(ENDS + 300, ENDS + 700, "yes"),))
    lay_out(root, "take_turn_immediate", "two", TWO)
    lay_out(root, "recover_repeat", "unmet", ())
    with exact_chain(root / "cache"):
        system = f"acting:file={root}/conduct/{{set}}/{{id}}.json"
        call("run", "duplexact@all", "--data", root / "items", "--system", system, "--recogniser", "reported",
             "--engine", "here", "--no-page", "--name", "acting", "--out", root / "run")  # fmt: skip
        before = facts(root / "run")
        judge_run(Run.open(root / "run"), Judging(Spec("recorded", {"answer": answer})), cache=root / "cache")
        call("measure", root / "run")
        yield Kept(root / "run", before, facts(root / "run"))


@pytest.mark.parametrize("variant", ["page", "lenient"])
def test_every_condition_of_a_good_system_succeeds_and_is_followed_through(kept: Kept, variant: str) -> None:
    for condition in conditions():
        item = f"{condition.name}/good"
        found = (kept.after[variant, item, "immediate"], kept.after[variant, item, "follow_through"])
        assert found == (1, 1), item


def test_what_fails_at_once_is_not_followed_through(kept: Kept) -> None:
    bad = [key for key in kept.after if key[0] == "page" and key[1].endswith("/bad")]
    assert len({item for _, item, _ in bad}) == 8
    for key in bad:
        assert kept.after[key] == (0 if key[2] == "immediate" else "not entered"), key


def test_a_brief_token_passes_under_the_lenient_rules_alone(kept: Kept) -> None:
    name = "ignore_other_directed/bad"
    assert [kept.after[variant, name, "immediate"] for variant in ("page", "lenient")] == [0, 1]
    assert kept.after["lenient", name, "follow_through"] == 1
    assert kept.after["lenient", "wait_intra_pause/bad", "immediate"] == 0


def test_times_are_those_that_the_system_was_told(kept: Kept) -> None:
    found = {item: value for (variant, item, metric), value in kept.after.items()
             if (variant, metric) == ("page", "timing") and item.endswith("good")}  # fmt: skip
    assert len(found) == 9
    for item, value in found.items():
        expected = {"stop": 0.5, "interrupt": 0.3}.get(item.partition("_")[0], 0.2)
        assert value == pytest.approx(expected, abs=0.002), item


def test_without_a_judge_nothing_is_followed_through_and_every_action_is_measured(kept: Kept) -> None:
    for (variant, item, metric), value in kept.before.items():
        if item.endswith("/good"):
            assert value == "not judged" if metric == "follow_through" else value != "not judged", (variant, item)


def test_meaning_is_judged_and_its_follow_through_in_the_same_pass(kept: Kept) -> None:
    name = "take_turn_immediate/short"
    assert (kept.before["page", name, "immediate"], kept.after["page", name, "immediate"]) == (0, 1)
    assert (kept.before["page", name, "follow_through"], kept.after["page", name, "follow_through"]) == (
        "not entered", 0,
    )  # fmt: skip


def test_a_system_that_was_silent_when_it_should_have_been_interrupted_was_not_exercised(kept: Kept) -> None:
    for metric in ("immediate", "follow_through", "timing"):
        assert kept.after["page", "recover_repeat/unmet", metric] == "not exercised"


def test_estimates_have_n_and_the_reasons_for_what_is_missing(kept: Kept) -> None:
    rows = {(row["scenario"], row["metric"]): row for row in read_json(kept.folder / "estimates.json")["estimates"]}
    then = rows["da_take_turn_immediate", "follow_through"]
    assert (then["n"], then["absent"]) == (3, {"not entered": 1})
    timed = rows["da_recover_repeat", "timing"]
    assert (timed["n"], timed["absent"], timed["unit"]) == (1, {"not exercised": 1}, "s")


def test_check_knows_the_items_and_report_shows_them(kept: Kept) -> None:
    told = json.loads(call("check", kept.folder.parent / "items", "--json").stdout)
    assert {row["dataset"] for row in told["counts"]} == {f"da_{condition.name}" for condition in conditions()}
    assert {row["metric"] for row in told["scorable"]} == {"immediate"}
    text = (kept.folder / "report.md").read_text(encoding="utf-8")
    assert "## Direct Replay" in text and "Take turn: Slight overlap" in text
    assert "DuplexAct page, Table 4" in text and "interquartile range 1.97 s" in text


def test_a_correction_tells_the_verdict_that_counted_of_several_and_takes_the_metrics_name(kept: Kept) -> None:
    item = "da_take_turn_immediate/two"
    assert kept.after["page", "take_turn_immediate/two", "follow_through"] == 0
    for what in ("follow-through", "follow_through", "Follow through"):
        made = json.loads(call("amend", kept.folder, item, what, "yes", *SIGNED, "--json").stdout)
        assert (made["what"], made["old"], made["new"]) == ("follow-through", "no", "yes")


def test_where_none_of_several_verdicts_counts_all_are_told(kept: Kept) -> None:
    run = Run.open(kept.folder)
    (folder,) = (one for one in run.items() if one.parts[-2:] == ("da_take_turn_immediate", "two"))
    trial = with_verdicts(trial_or_failure(folder), folder, judges_of(run))
    told = _verdict_now(trial, "follow-through", ())
    assert isinstance(told, str) and re.fullmatch(r"yes \([\d.]+-[\d.]+\), no \([\d.]+-[\d.]+\)", told)


def test_what_cannot_be_corrected_is_told_what_can(kept: Kept) -> None:
    refused = call("amend", kept.folder, "da_take_turn_immediate/two", "folow", "yes", *SIGNED, code=1).output
    told = " ".join(refused.split())
    assert "expected a verdict (substantive, follow-through); made of a verdict: " in told
    assert "follow_through of follow-through" in told
    waits = " ".join(call("amend", kept.folder, "da_wait_intra_pause/good", "x", "1", *SIGNED, code=1).output.split())
    assert "expected a verdict (follow-through) or one of immediate; made of" in waits


def test_agreement_is_with_the_verdict_that_counted(kept: Kept) -> None:
    run = Run.open(kept.folder)
    said = {"follow-through": "no"}
    append(run.path, Review("Ann", "actions", "1", "d", "da_take_turn_immediate", "two", said, heard=1.0))
    found = next(one for one in agree(run)[0]["verdicts"] if one["verdict"] == "follow-through")
    (judge,) = found["judges"].values()
    assert (judge["n"], judge["accuracy"]["value"]) == (1, 1.0)
