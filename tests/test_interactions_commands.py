"""What is done with a run of interactions afterwards: other rules, other clocks, judges again, and what it rests on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conducts import ENDS, VARIANTS, Line, call, case, estimate, exact_chain, facts, judged, run

from fullduplex.data.files import read_json, write_json

ANSWER = "right that is what it is"


def turns(*lags: int) -> dict[str, Any]:
    """Return turn-taking items that are answered so many milliseconds after the user's end."""
    return {f"turn_taking/{n}": replace(case("turn_taking", Line(ENDS + lag, ENDS + lag + 1000, ANSWER)), quiet=3.0)
            for n, lag in enumerate(lags)}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give a folder with the runs of two systems, and one in which what was said is taken back."""
    root = tmp_path_factory.mktemp("commands")
    with exact_chain(root / "cache"):
        run(root / "a", turns(-100, -100, -100), root / "eager", "eager")
        run(root / "b", turns(250, 250, 3000), root / "patient", "patient")
        stops = case("interruption", Line(4000, 11_000, "so there was a long story " * 3), Line(6900, 8400, ANSWER))
        taken = run(root / "c", {"interruption/1": stops}, root / "taken", "taken", options=",burst=true,yields=0.4")
        judged(taken, root / "cache")
        call("measure", taken)
        voices = {
            f"whisper/{n}": case("whisper", Line(ENDS + 250, ENDS + 1500, ANSWER)) for n in range(4)
        } | {
            f"volume/{n}": case("volume", Line(ENDS + 250, ENDS + 1500, ANSWER), style="" if n == 0 else "whispered")
            for n in range(3)
        }  # fmt: skip
        run(root / "d", {name: replace(one, quiet=2.5) for name, one in voices.items()}, root / "voices", "voices")
        yield root


def shown(*words: str | Path) -> Any:
    return json.loads(call(*words, "--json").stdout)


def test_all_variants_are_shown_beside_each_other_and_nothing_is_written(folder: Path) -> None:
    before = (folder / "eager/estimates.json").read_bytes()
    found = call("measure", folder / "eager", "--as", "interactionbench@all")
    for variant in VARIANTS:
        assert f"interactionbench@{variant}" in found.output
    assert "Shown only" in found.output
    assert (folder / "eager/estimates.json").read_bytes() == before
    told = shown("measure", folder / "eager", "--as", "interactionbench@all")
    parts = {part["variant"]: part["estimates"] for part in (told, *told["variants"])}
    passed = {
        variant: next(row["value"] for row in rows if row["metric"] == "passed" and row["n"])
        for variant, rows in parts.items()
    }
    assert passed == {"page": 0, "lenient-pause": 0, "early-150": 1, "early-300": 1, "lenient": 1, "anchored": 0}


def test_the_order_of_systems_turns_round_under_another_early_start_and_is_told(folder: Path) -> None:
    out = folder / "order"
    text = call("sensitivity", folder / "eager", folder / "patient", "--out", out).output
    told = read_json(out / "sensitivity.json")
    one = next(s for s in told["standings"] if (s["scenario"], s["metric"]) == ("ib_turn_taking", "passed"))
    shifts = {shift["condition"]: shift for shift in one["shifts"]}
    assert one["order"] == [["patient"], ["eager"]]
    for variant in ("early-150", "early-300", "lenient"):
        assert shifts[f"rules {variant}"]["leads"] == ["eager"]
        assert (shifts[f"rules {variant}"]["same"], shifts[f"rules {variant}"]["tau"]) == (False, -1.0)
    for variant in ("lenient-pause", "anchored"):
        assert (shifts[f"rules {variant}"]["same"], shifts[f"rules {variant}"]["tau"]) == (True, 1.0)
    assert "The order of systems" in text
    assert "patient > eager" in text and "&gt;" not in text, "what a terminal shows is no HTML"
    assert "rules early-150" in text


def test_a_run_alone_is_told_what_its_numbers_rest_on(folder: Path) -> None:
    call("sensitivity", folder / "eager")
    told = read_json(folder / "eager/sensitivity.json")
    band = next(b for b in told["bands"] if (b["scenario"], b["metric"]) == ("ib_turn_taking", "passed"))
    assert (band["value"], band["low"], band["high"]) == (0, 0, 1)
    assert band["highest"] in ("rules early-150", "rules early-300", "rules lenient")
    assert band["kinds"]["rules"] == [0, 1]


def test_what_was_taken_back_is_heard_whole_on_the_arrival_clock(folder: Path) -> None:
    taken = folder / "taken"
    here = facts(taken)
    for variant in VARIANTS:
        assert (here[variant, "interruption/1", "yielded"], here[variant, "interruption/1", "passed"]) == (1, 1)
    found = call("measure", taken, "--clock", "arrival")
    assert "on the arrival clock" in found.output
    there = facts(taken / "clocks/arrival")
    for variant in VARIANTS:
        assert (there[variant, "interruption/1", "yielded"], there[variant, "interruption/1", "passed"]) == (0, 0)
    assert facts(taken) == here
    call("sensitivity", taken)
    told = read_json(taken / "sensitivity.json")
    band = next(b for b in told["bands"] if (b["scenario"], b["metric"]) == ("ib_interruption", "yielded"))
    assert (band["value"], band["kinds"]["clock"]) == (1, [0, 0])


def test_on_the_arrival_clock_a_paced_system_gets_the_same_verdicts(folder: Path) -> None:
    call("measure", folder / "patient", "--clock", "arrival")
    assert facts(folder / "patient/clocks/arrival") == facts(folder / "patient")


def test_replies_that_a_run_kept_judge_a_like_run_again(folder: Path) -> None:
    shutil.copytree(folder / "taken", folder / "again/run")
    for path in (folder / "again/run").rglob("judge*.json"):
        path.unlink()
    call("measure", folder / "again/run")
    assert facts(folder / "again/run")["page", "interruption/1", "passed"] == "not judged"
    call("judge", folder / "again/run", "--judge", f"recorded:path={folder / 'taken'}")
    assert facts(folder / "again/run") == facts(folder / "taken")


def test_a_persons_correction_turns_the_verdict(folder: Path) -> None:
    shutil.copytree(folder / "taken", folder / "corrected")
    call("amend", folder / "corrected", "ib_interruption/1", "addressed", "no", "--who", "Ada", "--why", "it did not")
    call("measure", folder / "corrected")
    assert facts(folder / "corrected")["page", "interruption/1", "passed"] == 0
    assert estimate(folder / "corrected", "page", "interruption")["value"] == 0


def sounds(run: Path, item: str, values: Mapping[str, float]) -> None:
    """Have the reply in ``item`` sound so, in the file in which a run keeps what it measured."""
    path = run / "trials" / f"ib_{item}" / "acoustics.json"
    told = read_json(path)
    told["parts"]["replies"]["u0"]["features"] |= values
    write_json(path, told)


def test_a_whisper_lies_under_both_bounds_and_at_neither(folder: Path) -> None:
    at = {0: (5.999, 0.399, 1), 1: (6.0, 0.399, 0), 2: (5.999, 0.4, 0), 3: (-200.0, 0.0, 1)}
    for n, (hnr, voiced, _) in at.items():
        sounds(folder / "voices", f"whisper/{n}", {"hnr": hnr, "voiced_fraction": voiced})
    call("measure", folder / "voices")
    found = facts(folder / "voices")
    for variant in VARIANTS:
        assert {n: found[variant, f"whisper/{n}", "passed"] for n in at} == {n: one[2] for n, one in at.items()}
    row = estimate(folder / "voices", "page", "whisper")
    assert (row["value"], row["n"]) == (0.5, 4)


def test_a_reply_adapts_that_is_six_decibels_under_the_systems_own_usual_level(folder: Path) -> None:
    for n, level in enumerate((-20.0, -26.0, -25.999)):
        sounds(folder / "voices", f"volume/{n}", {"loudness_lufs": level})
    call("measure", folder / "voices")
    found = facts(folder / "voices")
    for variant in VARIANTS:
        adapted = [found[variant, f"volume/{n}", "adapted"] for n in range(3)]
        assert adapted == ["not whispered", 1, 0]
