"""Scoring end to end: a folder goes in, numbers come out, through the command a person types."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from fullduplex import cli
from fullduplex.data import audio
from fullduplex.errors import PluginError
from fullduplex.providers import weights

SHARED = Path(__file__).resolve().parents[2] / "shared"
CASES = SHARED / "cases/full-duplex-bench"
cases = pytest.mark.skipif(not CASES.is_dir(), reason="the released scripts' cases are not beside this checkout")
recordings = pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="the recordings are not beside this checkout")
COMMITS = {"new": "released-3e799c4", "snap": "released-d7336bd", "old": "released-4efb765"}


def needs(*models: str) -> None:
    for name in models:
        try:
            weights.path(name, weights.default_cache(os.environ))
        except PluginError as error:
            pytest.skip(str(error))


def run(*words: object) -> tuple[int, str, str]:
    found = CliRunner().invoke(cli.main, [str(word) for word in words])
    return found.exit_code, found.stdout, found.stderr


def scored(*words: object) -> dict[str, Any]:
    status, out, err = run("score", *words, "--json", "--no-page")
    assert status in (0, 3), err
    found: dict[str, Any] = json.loads(out)
    return found


def means(name: str, commit: str, key: str) -> tuple[float, int]:
    """Return the mean and number of what the script of ``commit`` returned for each case by itself."""
    table = json.loads((CASES / "expected" / f"{name}.json").read_text())
    values = [by[commit][key] for by in table.values() if by.get(commit, {}).get(key) is not None]
    return sum(values) / len(values), len(values)


@cases
@pytest.mark.parametrize("commit", ["new", "snap", "old"])
@pytest.mark.parametrize(("metric", "key"), [("tor", "tor"), ("frequency", "freq"), ("jsd", "jsd_mean")])
def test_backchannels_heard_by_the_detector_score_as_the_script_scores_them(
    commit: str, metric: str, key: str, tmp_path: Path
) -> None:
    needs("silero-v6-sequence")
    table = scored(
        CASES / "v1_backchannel_vad", "--as", f"fdb-1.0@{COMMITS[commit]}", "--out", tmp_path / "run",
        "--reference", CASES / "v1_backchannel_reference.json", "--engine", "here",
    )  # fmt: skip
    found = next(e for e in table["estimates"] if e["metric"] == metric)
    value, n = means("v1_backchannel_vad", commit, key)
    assert found["n"] == n
    assert found["value"] == pytest.approx(value, abs=6e-5)
    assert found["absent"] == {"failed": 1, "no words": 1}


@cases
@pytest.mark.parametrize(
    ("name", "metric", "n"),
    [("v1_pause_handling", "tor", 14), ("v1_turn_taking", "tor", 7), ("v1_turn_taking", "latency", 7)],
)
def test_a_folder_of_cases_scores_as_the_scripts_do(name: str, metric: str, n: int, tmp_path: Path) -> None:
    table = scored(CASES / name, "--out", tmp_path / "run", "--engine", "here")
    found = next(e for e in table["estimates"] if e["metric"] == metric)
    value, of = means(name, "new", metric)
    assert (found["n"], of) == (n, n)
    assert found["value"] == pytest.approx(value, abs=1e-9)


@recordings
def test_the_official_examples_give_the_known_numbers(tmp_path: Path) -> None:
    table = scored(SHARED / "data/fdb_official/example_data", "--out", tmp_path / "run", "--engine", "here")
    found = {(row["scenario"], row["metric"]): row["value"] for row in table["items"]}
    assert found["pause_handling", "tor"] == 1
    assert found["smooth_turn_taking", "tor"] == 1
    assert found["smooth_turn_taking", "latency"] == pytest.approx(1.35)
    assert found["user_interruption", "tor"] == 1
    assert found["user_interruption", "latency"] == pytest.approx(4.08)
    assert found["user_interruption", "rating"] == 4


@recordings
def test_scoring_a_runs_trials_as_a_plain_folder_gives_the_same_table(tmp_path: Path) -> None:
    first = scored(
        SHARED / "data/fdb_official/example_data", "--as", "fdb-1.0@all", "--out", tmp_path / "a", "--engine", "here"
    )
    again = scored(tmp_path / "a/trials", "--as", "fdb-1.0@all", "--out", tmp_path / "b", "--engine", "here")
    for table in (first, again):
        for part in (table, *table["variants"]):
            part.pop("system")
            for row in part["estimates"]:
                row.pop("system")
    assert again == first


@recordings
def test_an_all_zero_system_channel_is_silent_and_not_failed(tmp_path: Path) -> None:
    needs("silero-v6-sequence", "whisper-base")
    status, out, err = run(
        "score", SHARED / "data/fdb_site_stereo/turntaking", "--layout", "{dataset}/{system}/{id}.flac",
        "--task", "smooth_turn_taking", "--as", "fdb-1.0@anchored", "--out", tmp_path / "run", "--json", "--no-page",
    )  # fmt: skip
    assert status == 0, err
    tables = {table["system"]: table for table in json.loads(out)}
    assert set(tables) == {"dGSLM", "freezeomni", "moshi"}
    turns = [row for row in tables["freezeomni"]["items"] if row["metric"] == "tor"]
    assert len(turns) == 2
    assert {row["value"] for row in turns} == {0.0}
    assert {row["why"] for row in turns} == {"silent"}


@recordings
def test_two_mono_files_are_one_conversation(tmp_path: Path) -> None:
    needs("silero-v6-sequence")
    calls = SHARED / "data/aws_lca_calls"
    (tmp_path / "calls.csv").write_text(
        "id,user,system,task\n"
        f"repairs,{calls}/Auto_Repairs_49_UTC_caller.flac,{calls}/Auto_Repairs_49_UTC_agent.flac,smooth_turn_taking\n"
    )
    scored(tmp_path / "calls.csv", "--as", "fdb-1.0@anchored", "--recogniser", "none", "--out", tmp_path / "run")
    item = json.loads((tmp_path / "run/trials/smooth_turn_taking/repairs/item.json").read_text())
    assert item["duration"] == {"user": pytest.approx(237.56, abs=0.01), "system": pytest.approx(237.56, abs=0.01)}


def item(folder: Path, *, words: object = None, pause: object = None, seconds: float = 2.0) -> Path:
    folder.mkdir(parents=True)
    audio.write(folder / "input.wav", np.zeros(int(16_000 * seconds), np.float32), 16_000)
    if words is not None:
        (folder / "output.json").write_text(words if isinstance(words, str) else json.dumps(words))
    if pause is not None:
        (folder / "pause.json").write_text(json.dumps(pause))
    return folder


def said(*words: tuple[str, float | None, float | None]) -> dict[str, Any]:
    return {"text": "", "chunks": [{"text": text, "timestamp": [start, end]} for text, start, end in words]}


GOOD = said(("a", 0.1, 0.5), ("b", 0.6, 1.4))


def pauses(root: Path, **others: Any) -> Path:
    item(root / "candor_pause_handling/1", words=GOOD, pause=[{"text": "[PAUSE]", "timestamp": [0.5, 1.0]}])
    item(root / "candor_pause_handling/2", **others)
    return root


@pytest.mark.parametrize(
    ("others", "reason", "sentence"),
    [
        ({"words": "{"}, "failed", "expected JSON"),
        ({"words": {"text": ""}}, "failed", "'chunks'"),
        ({"words": said(("a", "x", 1.0))}, "failed", "a time in seconds"),  # type: ignore[arg-type]
        ({}, "no output", ""),
    ],
)
def test_one_bad_item_is_a_counted_reason_and_the_others_are_scored(
    others: dict[str, Any], reason: str, sentence: str, tmp_path: Path
) -> None:
    status, out, err = run(
        "score", pauses(tmp_path / "data", **others), "--out", tmp_path / "run", "--json", "--no-page"
    )
    table = json.loads(out)
    assert table["estimates"][0]["n"] == 1
    assert table["estimates"][0]["absent"] == {reason: 1}
    assert status == (3 if reason == "failed" else 0)
    assert sentence in err
    assert "Traceback" not in err


def test_a_bad_event_file_does_not_touch_a_number_that_never_reads_it(tmp_path: Path) -> None:
    data = pauses(tmp_path / "data", words=GOOD, pause=[{"timestamp": [3, 1]}])
    table = scored(data, "--as", "fdb-1.0@released", "--out", tmp_path / "run")
    assert table["estimates"][0]["n"] == 2


@pytest.mark.parametrize("name", ["x%2F..%2F..%2Fy", "<script>alert(1)<%2Fscript>", "a\nb", "-rf", "ünï"])
def test_a_hostile_name_stays_inside_the_run(name: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    item(data / "candor_pause_handling" / name, words=GOOD)
    table = scored(data, "--out", tmp_path / "run")
    assert [row["item"] for row in table["items"]] == [name]
    kept = list((tmp_path / "run/trials").rglob("item.json"))
    assert len(kept) == 1
    assert {p.name for p in tmp_path.iterdir()} == {"data", "run"}


def test_a_manifest_whose_id_climbs_stays_inside_the_run(tmp_path: Path) -> None:
    item(tmp_path / "data", words=GOOD)
    (tmp_path / "m.jsonl").write_text(
        json.dumps({"id": "../../x", "user": "data/input.wav", "words": "data/output.json", "task": "pause_handling"})
        + "\n"
    )
    table = scored(tmp_path / "m.jsonl", "--out", tmp_path / "run")
    assert table["items"][0]["item"] == "../../x"
    assert not (tmp_path.parent / "x").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nowhere",), "expected a folder or a manifest"),
        ((".", "--as", "fdb-9"), "no benchmark is called 'fdb-9'"),
        ((".", "--as", "fdb-1.0@mine"), "has no variant 'mine'"),
    ],
)
def test_what_cannot_start_says_why_in_a_sentence(
    words: tuple[str, ...], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, _, err = run("score", *words, "--out", tmp_path.parent / "out.run")
    assert status == 1
    assert sentence in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("spec", ["silero:x=1", "silero:threshold", ":a=1"])
def test_a_detector_that_cannot_be_made_is_a_sentence(spec: str, tmp_path: Path) -> None:
    needs("silero-v6-sequence")
    data = tmp_path / "data"
    audio.write(item(data / "icc_backchannel/0", words=GOOD) / "output.wav", np.zeros(16_000, np.float32), 16_000)
    status, _, err = run("score", data, "--out", tmp_path / "run", "--detector", spec, "--no-page")
    assert status == 1
    assert err.startswith("fullduplex: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "words", [("--offset", "nan"), ("--offset", "1e300"), ("--channels", "user=²"), ("--channels", "user=1,system=1"),
              ("--channels", "user=1,user=2"), ("--single-file", "-3")],
)  # fmt: skip
def test_an_option_that_cannot_be_meant_is_a_usage_error(words: tuple[str, str], tmp_path: Path) -> None:
    status, _, err = run("score", tmp_path, *words)
    assert status == 2
    assert "Traceback" not in err


def test_a_detector_that_nobody_knows_is_refused_also_where_no_number_needs_one(tmp_path: Path) -> None:
    data = pauses(tmp_path / "data", words=GOOD)
    status, _, err = run("score", data, "--out", tmp_path / "run", "--detector", "zzz", "--no-page")
    assert (status, "no detector is called 'zzz'" in err) == (1, True)


def test_a_run_that_is_only_partly_heard_says_so(tmp_path: Path) -> None:
    scored(pauses(tmp_path / "data", words=GOOD), "--out", tmp_path / "run")
    (tmp_path / "run/trials/candor_pause_handling/2/item.json").unlink()
    status, _, err = run("measure", tmp_path / "run")
    assert status == 3
    assert "1 of 2 items were heard" in err


def test_a_folder_of_other_files_is_refused_for_several_systems_too(tmp_path: Path) -> None:
    item(tmp_path / "data", words=GOOD)
    rows = [{"id": "1", "user": "data/input.wav", "words": "data/output.json", "task": "pause_handling"}]
    (tmp_path / "m.jsonl").write_text("".join(json.dumps({**rows[0], "system_name": name}) + "\n" for name in "AB"))
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "report.md").write_text("precious")
    status, _, err = run("score", tmp_path / "m.jsonl", "--out", mine, "--no-page")
    assert (status, "holds files" in err) == (1, True)
    assert (mine / "report.md").read_text() == "precious"
    status, _, err = run("score", tmp_path / "m.jsonl", "--out", tmp_path / "new", "--no-page")
    assert status == 0, err
    status, _, err = run("score", tmp_path / "m.jsonl", "--out", tmp_path / "new", "--no-page")
    assert status == 0, err


def test_a_file_that_cannot_be_read_is_told_though_the_numbers_stand(tmp_path: Path) -> None:
    data = pauses(tmp_path / "data", words=GOOD, pause=[{"timestamp": [3, 1]}])
    status, out, err = run("score", data, "--out", tmp_path / "run", "--json", "--no-page")
    assert status == 3
    assert json.loads(out)["estimates"][0]["n"] == 2
    assert "pause.json" in err


def test_missing_weights_leave_no_run_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FULLDUPLEX_CACHE", str(tmp_path / "empty"))
    data = tmp_path / "data"
    audio.write(item(data / "icc_backchannel/0", words=GOOD) / "output.wav", np.zeros(16_000, np.float32), 16_000)
    status, _, err = run("score", data, "--out", tmp_path / "run", "--no-page")
    assert (status, "fullduplex models fetch" in err) == (1, True)
    assert not (tmp_path / "run").exists()


def test_an_id_that_utf8_cannot_hold_loses_no_table(tmp_path: Path) -> None:
    item(tmp_path / "data", words=GOOD)
    row = {"id": "\ud800", "user": "data/input.wav", "words": "data/output.json", "task": "pause_handling"}
    (tmp_path / "m.jsonl").write_text(json.dumps(row) + "\n")
    status, _, err = run("score", tmp_path / "m.jsonl", "--out", tmp_path / "run", "--no-page")
    assert "Traceback" not in err
    assert status == 1 or (tmp_path / "run/report.md").is_file()


@pytest.mark.parametrize("about", ['{"schema": 1}', '{"schema": 1, "benchmark": []}', "[]"])
@pytest.mark.parametrize("command", ["measure", "report"])
def test_a_broken_run_json_is_a_sentence_and_costs_nothing(command: str, about: str, tmp_path: Path) -> None:
    scored(pauses(tmp_path / "data", words=GOOD), "--out", tmp_path / "run")
    before = (tmp_path / "run/estimates.json").read_bytes()
    (tmp_path / "run/run.json").write_text(about)
    status, _, err = run(command, tmp_path / "run")
    assert status == 1
    assert err.count("\n") == 1
    assert (tmp_path / "run/estimates.json").read_bytes() == before


@pytest.mark.parametrize("name", ["item.json", "words.json"])
def test_the_page_is_written_around_a_broken_item(name: str, tmp_path: Path) -> None:
    scored(pauses(tmp_path / "data", words=GOOD), "--out", tmp_path / "run")
    (tmp_path / "run/trials/candor_pause_handling/1" / name).write_text("null")
    status, _, err = run("report", tmp_path / "run")
    assert (status, "Traceback" in err) == (3, False)
    assert (tmp_path / "run/report.html").is_file()


def test_a_folder_by_another_path_is_the_same_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = pauses(tmp_path / "data", words=GOOD)
    scored(data, "--out", tmp_path / "run", "--system", "it")
    monkeypatch.chdir(tmp_path)
    scored("data", "--out", "run", "--system", "it")


def test_junit_has_a_file_for_each_system(tmp_path: Path) -> None:
    item(tmp_path / "data", words=GOOD)
    (tmp_path / "data/broken.json").write_text("{")
    row = {"id": "1", "user": "data/input.wav", "task": "pause_handling"}
    rows = [
        {**row, "words": "data/output.json", "system_name": "A"},
        {**row, "words": "data/broken.json", "system_name": "B"},
    ]
    (tmp_path / "m.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    status, _, err = run(
        "score", tmp_path / "m.jsonl", "--out", tmp_path / "run", "--no-page", "--junit", tmp_path / "j.xml"
    )
    assert status == 3, err
    assert 'errors="0"' in (tmp_path / "j-A.xml").read_text()
    assert 'errors="1"' in (tmp_path / "j-B.xml").read_text()


def test_the_same_item_failing_in_two_systems_is_two_failures(tmp_path: Path) -> None:
    item(tmp_path / "data", words="{")
    row = {"id": "1", "user": "data/input.wav", "words": "data/output.json", "task": "pause_handling"}
    (tmp_path / "m.jsonl").write_text("".join(json.dumps({**row, "system_name": name}) + "\n" for name in "AB"))
    status, _, err = run("score", tmp_path / "m.jsonl", "--out", tmp_path / "run", "--no-page")
    assert status == 3
    assert "2 items failed" in err


def test_a_run_is_not_compared_with_itself(tmp_path: Path) -> None:
    scored(pauses(tmp_path / "data", words=GOOD), "--out", tmp_path / "run")
    status, _, err = run("compare", tmp_path / "run", tmp_path / "run")
    assert (status, "the same run twice" in err) == (1, True)


def test_other_rules_are_shown_and_the_run_keeps_its_own(tmp_path: Path) -> None:
    scored(pauses(tmp_path / "data", words=GOOD), "--out", tmp_path / "run")
    before = {p: p.read_bytes() for p in (tmp_path / "run").iterdir() if p.is_file()}
    status, out, err = run("measure", tmp_path / "run", "--as", "fdb-1.0@paper", "--json")
    assert status == 0, err
    assert json.loads(out)["variant"] == "paper"
    assert {p: p.read_bytes() for p in (tmp_path / "run").iterdir() if p.is_file()} == before


def test_measuring_again_leaves_no_old_page_beside_new_tables(tmp_path: Path) -> None:
    data = pauses(tmp_path / "data", words=GOOD)
    assert run("score", data, "--out", tmp_path / "run")[0] == 0
    page = tmp_path / "run/report.html"
    page.write_text("old")
    assert run("measure", tmp_path / "run")[0] == 0
    assert "fdb-1.0" in page.read_text()


def test_zeros_guessed_events_and_recognised_words_are_told_with_the_table(tmp_path: Path) -> None:
    needs("silero-v6-sequence", "whisper-base")
    example = SHARED / "data/fdb_official/example_data/smooth_turn_taking_example/1/input.wav"
    if not example.is_file():
        pytest.skip("the recordings are not beside this checkout")
    samples, rate = audio.read(example)
    folder = tmp_path / "data/candor_turn_taking/1"
    folder.mkdir(parents=True)
    audio.write(folder / "input.wav", samples, rate)
    audio.write(folder / "output.wav", np.zeros(len(samples), np.float32), rate)
    status, out, err = run("score", tmp_path / "data", "--out", tmp_path / "run", "--no-page")
    assert status == 0, err
    for text in ("all zeros", "no event is annotated", "words are from: whisper"):
        assert text in out
        assert text in (tmp_path / "run/report.md").read_text()


def test_the_python_door_works_in_a_plain_script(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    data = tmp_path / "data"
    for i in range(12):
        item(data / "candor_pause_handling" / str(i), words=GOOD)
    (tmp_path / "script.py").write_text(
        "import fullduplex\n"
        "scores = fullduplex.score('data', 'fdb-1.0')\n"
        "print(scores.to_pandas()[['system', 'variant', 'metric', 'value', 'n']].to_csv(index=False))\n"
        "print(scores)\n"
    )
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "data,released-3e799c4,tor,1.0,12" in done.stdout
    assert "Scores('data.run', systems: data, failed items: 0)" in done.stdout
    assert done.stdout.count("Scores(") == 1


def test_what_cannot_be_is_told_with_the_table(tmp_path: Path) -> None:
    data = tmp_path / "data"
    folder = item(
        data / "synthetic_user_interruption/1", words=said(*((w, 6 + k / 2, 6.4 + k / 2) for k, w in enumerate("abcd")))
    )
    event = {"context": "", "interrupt": "", "timestamp": [50.0, 51.0]}
    (folder / "interrupt.json").write_text(json.dumps([event]))
    (folder / "rating.json").write_text(json.dumps({"analysis": "", "rating": 99}))
    status, out, err = run("score", data, "--out", tmp_path / "run", "--no-page")
    assert status == 0, err
    assert "ratings outside 0-5" in out
    assert "events after the end of both recordings" in out


def test_the_run_is_refused_inside_the_folder_that_is_scored(tmp_path: Path) -> None:
    data = pauses(tmp_path / "data", words=GOOD)
    status, _, err = run("score", data, "--out", data / "run")
    assert (status, "outside" in err) == (1, True)


def test_other_questions_are_refused_in_a_run_that_is_there(tmp_path: Path) -> None:
    data = pauses(tmp_path / "data", words=GOOD)
    scored(data, "--out", tmp_path / "run")
    status, _, err = run("score", data, "--out", tmp_path / "run", "--as", "fdb-1.0@paper", "--no-page")
    assert status == 1
    assert "was scored as fdb-1.0@released-3e799c4" in err


def test_a_gate_that_holds_is_exit_4(tmp_path: Path) -> None:
    data = pauses(tmp_path / "data", words=GOOD)
    status, _, err = run("score", data, "--out", tmp_path / "run", "--no-page", "--fail-if", "tor > 0.5")
    assert status == 4
    assert "tor" in err
    status, _, _ = run("score", data, "--out", tmp_path / "run", "--no-page", "--fail-if", "tor > 1.5")
    assert status == 0


def test_the_same_question_again_gives_the_same_estimates(tmp_path: Path) -> None:
    data = pauses(tmp_path / "data", words=GOOD)
    first = scored(data, "--as", "fdb-1.0@all", "--out", tmp_path / "run")
    assert scored(data, "--as", "fdb-1.0@all", "--out", tmp_path / "run") == first


def test_measuring_again_needs_no_source(tmp_path: Path) -> None:
    data = pauses(tmp_path / "data", words=GOOD)
    first = scored(data, "--as", "fdb-1.0@all", "--out", tmp_path / "run")
    data.rename(tmp_path / "gone")
    status, out, err = run("measure", tmp_path / "run", "--json")
    assert status == 0, err
    assert json.loads(out) == first


@pytest.mark.parametrize("name", ["item.json", "words.json"])
@pytest.mark.parametrize("broken", ["", '{"schema": 1', "[]", "{}", "null"])
def test_a_broken_file_of_a_run_fails_its_item_alone(name: str, broken: str, tmp_path: Path) -> None:
    scored(pauses(tmp_path / "data", words=GOOD), "--out", tmp_path / "run")
    (tmp_path / "run/trials/candor_pause_handling/1" / name).write_text(broken)
    status, out, err = run("measure", tmp_path / "run", "--json")
    assert "Traceback" not in err
    (tor,) = json.loads(out)["estimates"]
    whole = name == "words.json" and broken == "{}"  # no words there: a counted reason, not a failure
    assert (status, tor["n"]) == ((0, 1) if whole else (3, 1))


def test_comparing_refuses_runs_over_other_items(tmp_path: Path) -> None:
    scored(pauses(tmp_path / "a", words=GOOD), "--out", tmp_path / "a.run")
    b = pauses(tmp_path / "b", words=GOOD)
    item(b / "candor_pause_handling/3", words=GOOD)
    scored(b, "--out", tmp_path / "b.run")
    status, _, err = run("compare", tmp_path / "a.run", tmp_path / "b.run")
    assert status == 1
    assert "Traceback" not in err
    status, out, _ = run("compare", tmp_path / "a.run", tmp_path / "b.run", "--only-common", "--json")
    assert status == 0
    assert json.loads(out)["differences"][0]["n"] == 2


def test_an_interrupted_run_goes_on_and_ends_like_an_undisturbed_one(tmp_path: Path) -> None:
    needs("silero-v6-sequence")
    data = tmp_path / "data"
    rng = np.random.default_rng(0)
    for i in range(60):
        folder = item(data / "icc_backchannel" / str(i), words=GOOD)
        audio.write(folder / "output.wav", rng.normal(0, 0.1, 320_000).astype(np.float32), 16_000)
    command = [sys.executable, "-m", "fullduplex", "score", str(data), "--out", str(tmp_path / "a"), "--no-page"]
    environment = {**os.environ, "FULLDUPLEX_CACHE": str(_cache_with_weights(tmp_path / "cache"))}
    talk = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    deadline = time.monotonic() + 60
    while not list((tmp_path / "a/trials").glob("*/*/speech.json")) and time.monotonic() < deadline:
        time.sleep(0.02)
    talk.send_signal(signal.SIGINT)
    _, err = talk.communicate(timeout=60)
    assert "Traceback" not in err
    first = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "Traceback" not in first.stderr
    command[command.index(str(tmp_path / "a"))] = str(tmp_path / "b")
    subprocess.run(command, env=environment, capture_output=True, check=True)
    assert _tree(tmp_path / "a") == _tree(tmp_path / "b")


def _cache_with_weights(cache: Path) -> Path:
    own = weights.default_cache(os.environ)
    cache.mkdir()
    for child in own.iterdir():
        if child.name != "heard":
            (cache / child.name).symlink_to(child)
    return cache


def _tree(run: Path) -> dict[str, bytes]:
    return {str(p.relative_to(run)): p.read_bytes() for p in sorted(run.rglob("*.json")) if p.name != "run.json"}
