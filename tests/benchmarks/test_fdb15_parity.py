"""Agreement of fdb-1.5 with what the released scripts returned, case by case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fullduplex.benchmarks import fdb15_released as released
from fullduplex.data.fdb_json import read_tokens, read_vad
from fullduplex.judging.reading import read
from fullduplex.judging.released import released as released_rubric
from fullduplex.judging.rubric import Read
from fullduplex.model.items import Item
from fullduplex.model.trials import Absent, Fact, Trial, Verdict
from fullduplex.providers.weights import default_cache
from fullduplex.runs.items import trial_or_failure
from fullduplex.runs.run import Run
from fullduplex.stages import Asked, score

CASES = Path(__file__).resolve().parents[3] / "shared/cases/full-duplex-bench"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the released scripts' cases are not beside this checkout")

#: What the script cannot do, and what this variant says instead. Every other case must agree.
DEPARTURES = {"706": "a file of two channels crashes get_timing.py"}
PARTS = ("pre", "post", "clean")


def expected(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CASES / "expected" / f"{name}.json").read_text())
    return found


def folders(name: str) -> list[str]:
    return sorted(expected(name)) if CASES.is_dir() else []


@pytest.mark.parametrize("case", folders("v15_timing_replay"))
def test_the_interval_lists_of_given_segments_are_the_scripts(case: str) -> None:
    theirs = expected("v15_timing_replay")[case]["snap"]
    vad = read_vad(next((CASES / "v15_timing_replay" / case).glob("*.json")))
    stops, responses = released.latency_intervals(vad["input"], vad["output"])
    assert [list(pair) for pair in stops] == theirs["latency_stop_list"]
    assert [list(pair) for pair in responses] == theirs["latency_resp_list"]


@pytest.mark.parametrize("case", folders("v15_general"))
def test_the_split_and_the_rates_are_the_scripts_to_the_last_bit(case: str) -> None:
    theirs = expected("v15_general")[case]["snap"]
    folder = CASES / "v15_audio" / case
    tokens = read_tokens(folder / "output.json")
    at = released.split(tokens, theirs["distractor_end"])
    assert at == theirs["split_t"]
    sides = {
        "pre": [t for t in tokens if t.end is not None and t.end <= at],
        "post": [t for t in tokens if t.end is None or t.end > at],
        "clean": read_tokens(folder / "clean_output.json"),
    }
    for part in PARTS:
        rate, length = released.words_per_minute(sides[part])
        assert (rate, length) == (theirs[part]["wpm"], theirs[part]["speech_dur_s"]), part


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Every recording of the cases, heard and measured by the command's own stage."""
    out = tmp_path_factory.mktemp("v15") / "run"
    asked = Asked("fdb-1.5@released-d7336bd", task="user_interruption", recogniser="none")
    (scored,) = score(CASES / "v15_audio", out, asked, cache=default_cache({}), engine="here")
    return scored.run


def trial_of(run: Run, case: str) -> Trial:
    (folder,) = [folder for folder in run.items() if folder.name == case]
    return trial_or_failure(folder, "released-1.5")


@pytest.mark.weights
@pytest.mark.parametrize("case", folders("v15_timing_vad"))
def test_the_interval_lists_of_recordings_are_the_scripts(heard: Run, case: str) -> None:
    theirs = expected("v15_timing_vad")[case]["snap"]
    trial = trial_of(heard, case)
    if case in DEPARTURES:
        assert theirs["returncode"] == 1
        found = released.stop_latency(trial)
        assert isinstance(found, Absent) and found.reason == "no speech track"
        return
    assert trial.user.segments is not None and trial.system.segments is not None
    stops, responses = released.latency_intervals(trial.user.segments, trial.system.segments)
    assert [list(map(approx, pair)) for pair in stops] == theirs["latency_stop_list"]
    assert [list(map(approx, pair)) for pair in responses] == theirs["latency_resp_list"]


def approx(value: float) -> Any:
    # The script divides samples by 16,000; the file keeps that quotient.
    return pytest.approx(value, abs=1e-9)


@pytest.mark.weights
@pytest.mark.parametrize("case", folders("v15_general"))
def test_pitch_intensity_and_cutoffs_are_the_scripts(heard: Run, case: str) -> None:
    theirs = expected("v15_general")[case]["snap"]
    found = trial_of(heard, case).system.acoustics
    for part in PARTS:
        ours = {
            name: found[f"released-1.5/{part}/{name}"] for name in theirs[part] if name not in ("wpm", "speech_dur_s")
        }
        assert ours["mean_pitch"] == pytest.approx(theirs[part]["mean_pitch"], rel=0.01)
        assert ours["std_pitch"] == pytest.approx(theirs[part]["std_pitch"], rel=0.05)
        assert ours["mean_intensity"] == pytest.approx(theirs[part]["mean_intensity"], abs=0.5)
        assert ours["std_intensity"] == pytest.approx(theirs[part]["std_intensity"], abs=0.5)
        assert ours["cutoff_count"] == theirs[part]["cutoff_count"]


@pytest.mark.parametrize("case", folders("v15_behavior"))
def test_a_behaviour_reply_gives_the_scripts_labels_after_as_many_requests(case: str, tmp_path: Path) -> None:
    told = expected("v15_behavior")[case]
    theirs = told["official"]
    if theirs["skipped"]:
        return  # decided before anybody is asked: see the test below
    prompt = tmp_path / "behavior.txt"
    prompt.write_text("Say what the model did.")
    rubric = released_rubric(prompt, prompt.read_text(), "released-behaviour", "0" * 64)
    replies = [read(rubric, text) for text in told["replies"]]
    first = next(n for n, found in enumerate(replies) if isinstance(found, Read))
    assert first + 1 == theirs["n_judge_requests"]
    found = replies[first]
    assert isinstance(found, Read)
    assert str(found.value).split(",") == theirs["content_tag.json"]["behaviour"]
    seeds = [int(rubric.settings["seed"] + rubric.settings["seed_step"] * n) for n in range(first + 1)]
    assert seeds == [asked["seed"] for asked in theirs["judge_params"]]
    if theirs["returncode"]:
        return  # a label without its prefix crashes the script at the end: listed as a departure
    trial = Trial(Item(case), verdicts={"behaviour": Verdict(found.value)})
    shares = {label: released.behaves(trial, label) for label in (*released.LABELS, "other")}
    ours = {label: share.value for label, share in shares.items() if isinstance(share, Fact) and share.value}
    ratios = json.loads(theirs["log"].partition(": ")[2].replace("'", '"'))
    names = {official: name for name, official in released.LABELS.items()}
    assert ours == {names.get(official, "other"): share for official, share in ratios.items()}


def test_without_all_four_transcripts_the_released_prompt_is_not_asked() -> None:
    from fullduplex.benchmarks.fdb15_asks import behaviour_fields, settled_by_nothing
    from fullduplex.data.dataset import open_dataset
    from fullduplex.data.fdb_folder import load_trial

    (entry, *_) = open_dataset(CASES / "v15_audio", task="user_interruption").entries
    trial = load_trial(entry)
    fields = behaviour_fields(trial, by_rule=settled_by_nothing)
    assert not isinstance(fields, Absent)
    assert "input_clean" not in fields  # the entry's own trial has no twin: the run's has
