import hashlib
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

import fullduplex
from fullduplex.cli import main
from fullduplex.data import audio
from fullduplex.driving.keep import read_received
from fullduplex.driving.playout import playout

RATE = 16_000
SYSTEM = 'scripted:file="{file}"'


def tone(seconds: float, pitch: float = 220.0) -> np.ndarray[Any, np.dtype[np.float32]]:
    return (0.3 * np.sin(2 * np.pi * pitch * np.arange(round(seconds * RATE)) / RATE)).astype(np.float32)


@pytest.fixture
def items(tmp_path: Path) -> Path:
    """Two turn-taking items: the user speaks from 0.5 s to 1.5 s, then there are 3 s of silence."""
    for name in ("1", "2"):
        folder = tmp_path / "items" / "candor_turn_taking" / name
        folder.mkdir(parents=True)
        sound = np.concatenate([np.zeros(RATE // 2), tone(1.0), np.zeros(3 * RATE)]).astype(np.float32)
        audio.write(folder / "input.wav", sound, RATE)
        event = [{"text": "[TURN-TAKING]", "timestamp": [1.5, 1.5]}]
        (folder / "turn_taking.json").write_text(json.dumps(event))
    return tmp_path / "items"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """Answers 0.4 s after each silence with a second of tone."""
    audio.write(tmp_path / "answer.wav", tone(1.0, 330), RATE)
    path = tmp_path / "script.json"
    lines = [{"answer": "right", "audio": "answer.wav", "delay": 0.4}]
    path.write_text(json.dumps({"lines": lines}))
    return path


def run(*arguments: object) -> tuple[int, str]:
    found = CliRunner().invoke(main, [str(a) for a in arguments])
    return found.exit_code, found.output + (found.stderr if found.stderr_bytes else "")


def drive(items: Path, script: Path, out: Path, *more: object, rules: str = "fdb-1.0") -> tuple[int, str]:
    return run(
        "run", rules, "--system", f'scripted:file="{script}"', "--data", items, "--out", out,
        "--recogniser", "none", "--detector", "energy", "--no-page", *more,
    )  # fmt: skip


def told(run: Path, item: str, trials: str = "trials") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / trials / "candor_turn_taking" / item / "talk.json").read_text())
    return found


def test_a_run_drives_hears_and_measures(items: Path, script: Path, tmp_path: Path) -> None:
    status, text = drive(items, script, tmp_path / "run")
    assert status == 0, text
    output, rate = audio.read(tmp_path / "run" / "trials" / "candor_turn_taking" / "1" / "output.wav")
    first = int(np.flatnonzero(np.abs(output) > 0.05)[0]) / rate
    assert abs(first - 1.9) < 0.001
    assert told(tmp_path / "run", "1")["ended_by"] == "length"


def test_the_log_played_again_gives_the_same_bytes(items: Path, script: Path, tmp_path: Path) -> None:
    drive(items, script, tmp_path / "run")
    folder = tmp_path / "run" / "trials" / "candor_turn_taking" / "2"
    received, rate = read_received(folder)
    kept = audio.read(folder / "output.wav")[0]
    again = playout(received, rate, len(kept)).samples
    audio.write(tmp_path / "again.wav", again, rate)
    assert (tmp_path / "again.wav").read_bytes() == (folder / "output.wav").read_bytes()


def test_what_is_recorded_is_never_held_again(items: Path, script: Path, tmp_path: Path) -> None:
    drive(items, script, tmp_path / "run")
    path = tmp_path / "run" / "trials" / "candor_turn_taking" / "1" / "received.jsonl"
    before = path.stat().st_mtime_ns
    status, text = drive(items, script, tmp_path / "run")
    assert status == 0, text
    assert path.stat().st_mtime_ns == before


def test_a_talk_without_its_record_is_held_again(items: Path, script: Path, tmp_path: Path) -> None:
    drive(items, script, tmp_path / "run")
    path = tmp_path / "run" / "trials" / "candor_turn_taking" / "1" / "talk.json"
    path.unlink()
    status, _ = drive(items, script, tmp_path / "run")
    assert status == 0 and path.is_file()


def test_another_system_needs_another_run(items: Path, script: Path, tmp_path: Path) -> None:
    drive(items, script, tmp_path / "run")
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"lines": []}))
    status, text = drive(items, other, tmp_path / "run")
    assert status == 1 and "another driven" in text


def test_repeats_lie_beside_each_other_and_the_item_is_the_cluster(items: Path, script: Path, tmp_path: Path) -> None:
    status, text = drive(items, script, tmp_path / "run", "--repeats", 3)
    assert status == 0, text
    names = []
    for trials in ("trials", "trials-2", "trials-3"):
        item = json.loads((tmp_path / "run" / trials / "candor_turn_taking" / "1" / "item.json").read_text())
        names.append(item["id"])
        assert item["group"] == "1"
    assert len(set(names)) == 3
    table = json.loads((tmp_path / "run" / "estimates.json").read_text())
    assert {row["n"] + sum(row["absent"].values()) for row in table["estimates"]} == {6}


def test_a_failed_talk_is_tried_again_counted_and_kept(items: Path, tmp_path: Path) -> None:
    script = tmp_path / "closes.json"
    script.write_text(json.dumps({"lines": [], "closes": 2.0}))
    status, text = drive(items, script, tmp_path / "run", "--retries", 2)
    assert status == 3 and "closed the talk" in text
    folder = tmp_path / "run" / "trials" / "candor_turn_taking" / "1"
    kept = told(tmp_path / "run", "1")
    assert [attempt["attempt"] for attempt in kept["attempts"]] == [1, 2, 3] and kept["ended_by"] == "closed"
    assert (folder / "attempts" / "2" / "talk.json").is_file()
    assert 1.9 < audio.probe(folder / "output.wav").duration / 1e6 < 2.1
    item = json.loads((folder / "item.json").read_text())
    assert "closed the talk" in item["failed"]


def test_driving_alone_keeps_the_talks_and_a_run_goes_on_from_them(items: Path, script: Path, tmp_path: Path) -> None:
    common = ("fdb-1.0", "--system", f'scripted:file="{script}"', "--data", items, "--out", tmp_path / "run")
    hear = ("--recogniser", "none", "--detector", "energy")
    status, text = run("drive", *common, *hear)
    assert status == 0 and "2 talks" in text and not (tmp_path / "run" / "estimates.json").exists()
    log = tmp_path / "run" / "trials" / "candor_turn_taking" / "1" / "received.jsonl"
    before = log.stat().st_mtime_ns
    status, text = run("run", *common, *hear, "--no-page")
    assert status == 0, text
    assert log.stat().st_mtime_ns == before and (tmp_path / "run" / "estimates.json").is_file()


def test_the_python_door_drives_too(items: Path, script: Path, tmp_path: Path) -> None:
    scores = fullduplex.run(
        "fdb-1.0", f'scripted:file="{script}"', items, out=tmp_path / "run", recogniser="none", seen="energy"
    )
    assert not scores.failed
    assert told(tmp_path / "run", "1")["clock"] == "virtual"


def test_a_dry_run_writes_nothing(items: Path, script: Path, tmp_path: Path) -> None:
    status, text = drive(items, script, tmp_path / "run", "--dry-run", "--price", 6)
    assert status == 0 and "2 talks" in text and not (tmp_path / "run").exists()
    assert "1.90" in text  # 9 s of talk, and 5 s for handshake and farewell of each


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--system", "nobody"), "no system is called 'nobody'"),
        (("--system", "scripted:volume=3"), "has no option 'volume'"),
        (("--system", "scripted:"), ""),
        (("--clock", "step-honest", "--system", "recorded:path=x.wav"), "x.wav"),
    ],
)
def test_what_cannot_be_driven_is_said_in_a_sentence(
    options: tuple[str, ...], sentence: str, items: Path, script: Path, tmp_path: Path
) -> None:
    status, text = drive(items, script, tmp_path / "run", *options)
    assert "Traceback" not in text and sentence in text
    assert (status == 1) == bool(sentence)


def test_cues_are_released_by_what_the_system_does(items: Path, script: Path, tmp_path: Path) -> None:
    folder = items / "synthetic_user_interruption" / "1"
    folder.mkdir(parents=True)
    audio.write(folder / "input.wav", tone(0.5), RATE)
    audio.write(folder / "question.wav", tone(1.0), RATE)
    audio.write(folder / "stop.wav", tone(0.6), RATE)
    cues = [
        {"audio": "question.wav", "text": "What time is it?", "due": {"when": "at", "time": 0.5}},
        {"audio": "stop.wav", "text": "Stop.", "due": {"when": "into_reply", "delay": 0.25}, "event": "interruption"},
    ]
    asked = {"cues": cues, "hang_up": {"quiet": 1.0, "patience": 5.0}, "cap": 20, "prompt": "Be brief."}
    (folder / "cues.json").write_text(json.dumps(asked))
    status, text = drive(items, script, tmp_path / "run")
    assert status == 0, text
    kept = json.loads((tmp_path / "run/trials/synthetic_user_interruption/1/talk.json").read_text())
    first, second = kept["turns"]
    assert second["timestamp"][0] == pytest.approx(0.5 + 1.0 + 0.4 + 0.25, abs=0.002)
    assert second["premise"]["system_talking"] and second["premise"]["since"] == pytest.approx(1.9, abs=0.002)
    assert not first["premise"]["system_talking"]
    assert kept["ended_by"] == "quiet" and kept["prompt"] == "Be brief." and kept["protocol"] == "simulator replay"
    item = json.loads((tmp_path / "run/trials/synthetic_user_interruption/1/item.json").read_text())
    (event,) = item["events"]
    assert event["kind"] == "interruption" and event["start"] == second["timestamp"][0]


@pytest.mark.parametrize(
    ("cues", "sentence"),
    [
        ({"cues": [{"audio": "../../../x.wav", "due": {"when": "at", "time": 0}}]}, "in the item's folder"),
        ({"cues": [{"audio": "input.wav", "due": {"when": "soon"}}]}, "after_reply"),
        ({"cues": []}, "at least one cue"),
        ({"cues": [{"audio": "input.wav", "due": {"when": "at", "time": 0}}], "cap": -1}, "above 0"),
        ([], "an object with cues"),
    ],
)
def test_bad_cues_fail_in_a_sentence(cues: Any, sentence: str, items: Path, script: Path, tmp_path: Path) -> None:
    (items / "candor_turn_taking" / "1" / "cues.json").write_text(json.dumps(cues))
    status, text = drive(items, script, tmp_path / "run")
    assert status in (1, 3) and sentence in text and "Traceback" not in text


def test_a_run_under_another_clock_changes_nothing_of_the_run(items: Path, script: Path, tmp_path: Path) -> None:
    drive(items, script, tmp_path / "run")
    folder = tmp_path / "run" / "trials" / "candor_turn_taking" / "1"
    before = (folder / "output.wav").read_bytes()
    status, text = run("measure", tmp_path / "run", "--clock", "arrival")
    assert status == 0, text
    assert (folder / "output.wav").read_bytes() == before
    assert (tmp_path / "run/clocks/arrival/trials/candor_turn_taking/1/output.wav").is_file()


def test_the_report_shows_the_numbers_under_each_clock_where_they_differ(
    items: Path, script: Path, tmp_path: Path
) -> None:
    folder = items / "icc_backchannel" / "1"
    folder.mkdir(parents=True)
    # The system answers the first silence at length; the user goes on and it stops, on the playout clock alone.
    still = np.zeros(RATE // 2, np.float32)
    audio.write(folder / "input.wav", np.concatenate([still, tone(1.0), still, still, tone(3.0), still]), RATE)
    audio.write(tmp_path / "answer.wav", tone(3.0, 330), RATE)
    script.write_text(
        json.dumps({"burst": True, "yields": 0.2, "lines": [{"answer": "", "audio": "answer.wav", "delay": 0.4}]})
    )
    status, text = drive(items, script, tmp_path / "run", rules="fdb-1.0@anchored")
    assert status == 0, text
    report = (tmp_path / "run" / "report.md").read_text()
    assert "## Under each clock" in report and "Backchannel, ICC: TOR" in report
    run("report", tmp_path / "run")
    page = (tmp_path / "run" / "report.html").read_text()
    assert "Under each clock" in page
    # Under playout the answer is cut 0.2 s into the user's words: 1.9 s to 2.7 s.
    output, rate = audio.read(tmp_path / "run/trials/icc_backchannel/1/output.wav")
    loud = np.flatnonzero(np.abs(output) > 0.05) / rate
    assert (loud[0], loud[-1]) == (pytest.approx(1.9, abs=0.002), pytest.approx(2.7, abs=0.005))


def test_a_late_talk_is_named_in_the_report(items: Path, script: Path, tmp_path: Path) -> None:
    drive(items, script, tmp_path / "run")
    path = tmp_path / "run" / "trials" / "candor_turn_taking" / "2" / "talk.json"
    told = json.loads(path.read_text())
    told["pacing"] |= {"late": True, "worst_lateness": 0.8}
    path.write_text(json.dumps(told))
    status, text = run("report", tmp_path / "run", "--no-page")
    assert status == 0, text
    report = (tmp_path / "run" / "report.md").read_text()
    assert "later than its own length" in report and "candor_turn_taking/2" in report


def test_priming_moves_every_onset(items: Path, script: Path, tmp_path: Path) -> None:
    drive(items, script, tmp_path / "run")
    status, text = run("measure", tmp_path / "run", "--clock", "playout", "--priming", 0.25)
    assert status == 0, text
    place = "clocks/playout-primed-250ms/trials/candor_turn_taking/1/output.wav"
    output, rate = audio.read(tmp_path / "run" / place)
    assert abs(int(np.flatnonzero(np.abs(output) > 0.05)[0]) / rate - 2.15) < 0.001


def test_no_source_clock_where_the_system_tells_none(items: Path, script: Path, tmp_path: Path) -> None:
    drive(items, script, tmp_path / "run")
    status, text = run("measure", tmp_path / "run", "--clock", "source")
    assert status == 1 and "no session time" in text


def test_recordings_cannot_be_placed_anew(items: Path, script: Path, tmp_path: Path) -> None:
    drive(items, script, tmp_path / "run")
    run("score", tmp_path / "run" / "trials", "--out", tmp_path / "scored", "--recogniser", "none",
        "--detector", "energy", "--no-page")  # fmt: skip
    status, text = run("measure", tmp_path / "scored", "--clock", "arrival")
    assert status == 1 and "fullduplex run" in text


def test_an_interrupted_run_goes_on_and_loses_nothing(items: Path, script: Path, tmp_path: Path) -> None:
    command = [
        sys.executable, "-m", "fullduplex", "run", "fdb-1.0", "--system", f'scripted:file="{script}"',
        "--data", str(items), "--out", str(tmp_path / "run"), "--recogniser", "none", "--detector", "energy",
        "--clock", "wall", "--no-page",
    ]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    first = tmp_path / "run" / "trials" / "candor_turn_taking" / "1" / "talk.json"
    deadline = time.monotonic() + 60
    while not first.is_file() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130 and "goes on from there" in said, said
    kept = (first.parent / "received.jsonl").read_bytes()
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert (first.parent / "received.jsonl").read_bytes() == kept
    assert told(tmp_path / "run", "2")["clock"] == "wall"


def test_sessions_go_on_side_by_side(items: Path, script: Path, tmp_path: Path) -> None:
    began = time.monotonic()
    status, text = drive(items, script, tmp_path / "run", "--clock", "wall", "--sessions", 2)
    assert status == 0, text
    # One after another the two talks of 4.5 s would last 9 s at least.
    assert time.monotonic() - began < 8.9
    assert all(told(tmp_path / "run", item)["pacing"]["frames"] == 225 for item in "12")


def test_a_run_that_was_not_heard_says_which_command_hears_it(items: Path, script: Path, tmp_path: Path) -> None:
    status, text = run("drive", "fdb-1.0", "--system", f'scripted:file="{script}"', "--data", items, "--out",
                       tmp_path / "run", "--recogniser", "none", "--detector", "energy")  # fmt: skip
    assert status == 0 and text.startswith("2 talks: ")
    status, text = run("measure", tmp_path / "run")
    assert status == 3 and "0 of 2 items were heard; give `fullduplex run` the same --out again" in text


def test_a_run_keeps_which_file_left_items_out(items: Path, script: Path, tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("candor_turn_taking/2\n")
    status, text = drive(items, script, tmp_path / "run", "--exclude", tmp_path / "out.txt")
    assert status == 0, text
    source = json.loads((tmp_path / "run" / "run.json").read_text())["source"]
    digest = hashlib.sha256(b"candor_turn_taking/2\n").hexdigest()
    assert (source["items"], source["excluded_by"]) == (1, {"path": str(tmp_path / "out.txt"), "sha256": digest})
