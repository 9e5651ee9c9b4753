"""Sensitivity: what is shared between conditions changes no number, and what tells nothing is no condition."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.conducts import ENDS, Line, call, case, exact_chain, judged, run

from fullduplex import benchmarks
from fullduplex.data.files import read_json, write_json
from fullduplex.judged import Judging, judge_run
from fullduplex.model.spec import Spec
from fullduplex.runs import items, measured
from fullduplex.runs.amendments import Amendment, amend
from fullduplex.runs.measured import measure
from fullduplex.runs.run import Run
from fullduplex.sensitivity import AS_MEASURED, Condition, Values, sensitivity, thresholds
from fullduplex.sensitivity.rescored import rescored, same_measure, values_of

ANSWER = "right that is what it is"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give a run of four turns and an interruption, judged, and corrected under one variant alone."""
    root = tmp_path_factory.mktemp("sensitivity")
    cases = {
        f"turn_taking/{n}": replace(case("turn_taking", Line(ENDS + lag, ENDS + lag + 900, ANSWER)), quiet=2.5)
        for n, lag in enumerate((-100, 250, 1500))
    }
    story = Line(4000, 11_000, "so there was a long story " * 3)
    cases["interruption/1"] = case("interruption", story, Line(6900, 8400, ANSWER))
    with exact_chain(root / "cache"):
        made = run(root / "a", cases, root / "run", "talker", options=",burst=true,yields=0.4")
        judged(made, root / "cache")
    for what, new in (("anchored/turn_latency", 9.0), ("page/reply_lag", 7.0)):
        amend(Run.open(made), Amendment("Ada", "now", "heard it", "ib_turn_taking", "1", what, 0.25, new))
    call("measure", made)
    yield made


def one_by_one(run: Run, variant: str) -> dict[Condition, Values]:
    """Return what every variant and every moved threshold comes to, each measured by itself."""
    found = {}
    for benchmark in benchmarks.find("interactionbench@all"):
        own = benchmark.variant == variant
        told = Condition(AS_MEASURED, AS_MEASURED) if own else Condition("rules", benchmark.variant)
        found[told] = values_of(measure(run, [benchmark]), benchmark.variant)
        for name, changed in thresholds(benchmark):
            kind = "threshold" if own else f"threshold of {benchmark.variant}"
            found[Condition(kind, name)] = values_of(measure(run, [changed]), benchmark.variant)
    return found


@pytest.mark.parametrize("variant", ["page", "anchored"])
def test_what_conditions_share_is_what_each_finds_by_itself(made: Path, variant: str) -> None:
    opened = Run.open(made)
    (shown,) = benchmarks.find(f"interactionbench@{variant}")
    shared = {told: values for told, values in rescored(opened, shown, []) if told.kind != "clock"}
    alone = one_by_one(opened, variant)
    assert shared.keys() == alone.keys()
    for condition, values in alone.items():
        assert shared[condition].items == values.items, condition
        assert shared[condition].numbers == values.numbers, condition
    latencies = {condition.told(): values.items[("ib_turn_taking", "turn_latency")]["1"]
                 for condition, values in alone.items()}  # fmt: skip
    assert set(latencies.values()) >= {0.25, 9.0}, "one variant alone is corrected"


def test_an_item_is_read_a_few_times_however_many_conditions_there_are(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[Path]()

    def counted(folder: Path, *more: Any) -> Any:
        read.append(folder)
        return items.trial_or_failure(folder, *more)

    monkeypatch.setattr(measured, "trial_or_failure", counted)
    opened = Run.open(made)
    (shown,) = benchmarks.find("interactionbench@page")
    conditions = list(rescored(opened, shown, []))
    assert len(conditions) > 50
    assert len(read) <= 6 * len(list(opened.items()))


def test_measures_are_the_same_where_all_that_they_are_made_of_is() -> None:
    def measure(*trial: object, **more: object) -> None: ...

    def other(trial: object, **more: object) -> None: ...

    assert same_measure(partial(measure, limits=(1, 2)), partial(measure, limits=(1, 2)))
    assert same_measure(partial(measure, of=partial(other, at=1)), partial(measure, of=partial(other, at=1)))
    assert not same_measure(partial(measure, limits=(1, 2)), partial(measure, limits=(1, 3)))
    assert not same_measure(partial(measure, at=1), partial(measure, at=True)), "equal is not alike"
    assert not same_measure(partial(measure, at=1), partial(other, at=1))
    assert not same_measure(partial(measure, at=1), measure)
    assert not same_measure(partial(measure, 1), partial(measure, 1, 2))
    assert not same_measure(lambda trial: 0, lambda trial: 0), "what cannot be compared is taken for another one"


def test_a_threshold_of_nothing_is_not_moved_to_itself_and_no_count_below_nothing() -> None:
    (anchored,) = benchmarks.find("interactionbench@anchored")
    moved = dict(thresholds(anchored))
    assert anchored.limits.reply_over == 0 and anchored.limits.reply_words == 0
    assert [name for name in moved if name.startswith("reply_")] == [
        *(f"reply_lead {value} s (not 1 s)" for value in ("0.5", "0.75", "1.25", "1.5")),
        "reply_words 1 (not 0)",
    ]
    assert all(changed.limits != anchored.limits for changed in moved.values())


def judged_beside(run: Run, path: Path, replies: list[str]) -> None:
    write_json(path, {"replies": replies * 20})
    spec = Spec("recorded", {"path": str(path)})
    judge_run(run, Judging(spec, attempts=1, leads=False), cache=path.parent / "cache")


def test_a_judge_whose_answers_cannot_be_read_is_no_condition_and_is_told(made: Path, tmp_path: Path) -> None:
    run = Run.open(shutil.copytree(made, tmp_path / "run"))
    judged_beside(run, tmp_path / "r.json", ["I would not know"])
    found = sensitivity([run], cache=tmp_path / "cache")
    assert not [condition for condition in found.conditions if condition.kind == "judge"]
    (told,) = found.left_out
    assert told.startswith("talker, judge recorded") and "none of its " in told and "unparsable" in told
    assert not found.remarks, "nothing that was asked for has failed"
    shown = call("sensitivity", run.path)
    assert told.replace("_", "") in shown.output.replace("\\", "").replace("_", "")
    kept = read_json(run.path / "sensitivity.json")
    assert kept["left_out"] == [told]
    (lag,) = [band for band in kept["bands"] if (band["scenario"], band["metric"]) == ("ib_turn_taking", "reply_lag")]
    assert lag["n"] == 3 and lag["scenario_title"] != "ib_turn_taking"


def test_a_judge_who_was_understood_once_is_a_condition(made: Path, tmp_path: Path) -> None:
    run = Run.open(shutil.copytree(made, tmp_path / "run"))
    judged_beside(run, tmp_path / "r.json", [json.dumps({"reason": "no", "addressed": "no"})])
    found = sensitivity([run], cache=tmp_path / "cache")
    assert [condition.kind for condition in found.conditions if condition.kind == "judge"] == ["judge"]
    assert found.left_out == []
