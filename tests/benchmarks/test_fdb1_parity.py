"""Agreement with what the released scripts returned, case by case."""

from __future__ import annotations

import json
import wave
from pathlib import Path
from typing import Any

import pytest

from fullduplex.benchmarks import find
from fullduplex.benchmarks.declare import Benchmark
from fullduplex.data.fdb_folder import read_rating, read_tokens
from fullduplex.errors import InputError
from fullduplex.model.items import Item
from fullduplex.model.spans import seconds
from fullduplex.model.speech import Track
from fullduplex.model.trials import Absent, Fact, Trial

CASES = Path(__file__).resolve().parents[3] / "shared/cases/full-duplex-bench"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the released scripts' cases are not beside this checkout")

COMMITS = {"new": "released-3e799c4", "snap": "released-d7336bd", "old": "released-4efb765"}

#: What the scripts cannot do, and what this variant says instead. Every other case must agree.
DEPARTURES = {
    ("v1_pause_handling", "118", "tor"): "failed",
    ("v1_pause_handling", "122", "tor"): "no output",
    ("v1_turn_taking", "211", "tor"): "failed",
    ("v1_turn_taking", "212", "tor"): "no annotation",
    ("v1_turn_taking", "215", "tor"): "no annotation",
    ("v1_turn_taking", "211", "latency"): "failed",
    ("v1_turn_taking", "212", "latency"): "no annotation",
    ("v1_turn_taking", "215", "latency"): "no annotation",
    ("v1_user_interruption", "301", "tor"): 0.0,
    ("v1_user_interruption", "305", "tor"): 0.0,
    ("v1_user_interruption", "301", "latency"): "no takeover",
    ("v1_user_interruption", "305", "latency"): "no takeover",
    ("v1_user_interruption", "301", "rating"): "no takeover",
    ("v1_user_interruption", "305", "rating"): "no takeover",
    ("v1_user_interruption", "314", "tor"): "no annotation",
    ("v1_user_interruption", "314", "latency"): "no annotation",
    ("v1_user_interruption", "314", "rating"): "no annotation",
    ("v1_backchannel_replay", "521", "jsd"): "undefined",
}
TASKS = {
    "v1_pause_handling": ("pause_handling", ("tor",)),
    "v1_turn_taking": ("smooth_turn_taking", ("tor", "latency")),
    "v1_user_interruption": ("user_interruption", ("tor", "latency", "rating")),
    "v1_backchannel_replay": ("backchannel", ("tor", "freq", "jsd_mean")),
}
NAMES = {"freq": "frequency", "jsd_mean": "jsd"}


def expected(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CASES / "expected" / f"{name}.json").read_text())
    return found


def case_ids(name: str) -> list[tuple[str, str, str]]:
    if not CASES.is_dir():
        return []
    return [(name, case, commit) for case, by in sorted(expected(name).items()) for commit in sorted(by)]


def measured(benchmark: Benchmark, task: str, trial: Trial, metric: str) -> Fact | Absent:
    scenario = next(s for s in benchmark.scenarios if s.task == task and not s.dataset)
    return next(m for m in scenario.metrics if m.name == metric).measure(trial)


def trial_of(folder: Path, recorded_rating: Any, tmp_path: Path) -> Trial:
    reference: dict[str, Any] = {"task": TASKS[folder.parent.name][0]}
    for name, key, end in (("turn_taking", "turn_end_seconds", 0), ("interrupt", "interruption_end_seconds", 1)):
        path = folder / f"{name}.json"
        if path.exists() and (entries := json.loads(path.read_text())):
            reference[key] = entries[0]["timestamp"][end]
    distribution = json.loads((CASES / "v1_backchannel_reference.json").read_text()).get(folder.name)
    if distribution is not None:
        reference["distribution"] = distribution
    try:
        tokens = read_tokens(folder / "output.json") if (folder / "output.json").exists() else None
        failed = ""
    except InputError as error:
        tokens, failed = None, str(error)
    segments = None
    if (folder / "vad.json").exists():
        segments = tuple((s, e) for s, e in json.loads((folder / "vad.json").read_text())["output"])
    verdicts = {}
    if recorded_rating:
        (tmp_path / "rating.json").write_text(json.dumps(recorded_rating))
        verdicts["rating"] = read_rating(tmp_path / "rating.json")
    duration = None
    if (folder / "output.wav").exists():
        with wave.open(str(folder / "output.wav")) as sound:
            duration = seconds(sound.getnframes() / sound.getframerate())
    track = Track(tokens=tokens, segments=segments, duration=duration, words_from="recorded")
    return Trial(Item(folder.name, reference=reference), system=track, verdicts=verdicts, failed=failed)


@pytest.mark.parametrize(("name", "case", "commit"), [row for name in TASKS for row in case_ids(name)])
def test_agrees_with_the_released_script(name: str, case: str, commit: str, tmp_path: Path) -> None:
    theirs = expected(name)[case][commit]
    rating = (theirs.get("rating_json") or {}).get(case)
    trial = trial_of(CASES / name / case, rating, tmp_path)
    task, keys = TASKS[name]
    (benchmark,) = find(f"fdb-1.0@{COMMITS[commit]}")
    for key in keys:
        ours = measured(benchmark, task, trial, NAMES.get(key, key))
        departure = DEPARTURES.get((name, case, NAMES.get(key, key)))
        value = theirs[key]
        if departure is not None:
            assert value is None or value != value, f"{key}: listed as a departure, yet the script returned {value}"
            assert (
                ours == departure
                if isinstance(ours, float)
                else departure in (getattr(ours, "reason", None), getattr(ours, "value", None))
            )
            continue
        if value is None:
            assert isinstance(ours, Absent), (key, ours)
            continue
        assert isinstance(ours, Fact), (key, ours)
        if key == "jsd_mean":
            assert ours.value == pytest.approx(theirs["jsd_lines"][0], abs=1e-12) if theirs["jsd_lines"] else True
        assert ours.value == pytest.approx(value, abs=6e-5 if key in ("freq", "jsd_mean") else 1e-9), key


def test_every_listed_departure_is_a_case_that_exists() -> None:
    for name, case, _ in DEPARTURES:
        assert case in expected(name)


@pytest.mark.parametrize(("first", "second"), [("409", "413"), ("404", "413")])
def test_a_sample_without_words_does_not_inherit_the_verdict_before_it(first: str, second: str) -> None:
    theirs = expected("v1_backchannel_stale")[f"{first} then a copy of {second}"]
    (benchmark,) = find("fdb-1.0@released-d7336bd")
    trial = Trial(Item(second), system=Track(segments=((1.0, 2.0),), duration=seconds(10)))
    ours = measured(benchmark, "backchannel", trial, "tor")
    assert theirs["tor"] in (0.0, 1.0)
    assert isinstance(ours, Absent)
    assert ours.reason == "no output"
