"""Runs that are stopped, killed, asked for twice or asked for otherwise lose nothing and mix nothing."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from fullduplex.cli import main
from fullduplex.data import audio
from fullduplex.errors import RunError
from fullduplex.runs.run import Run

RATE = 16_000


def tone(seconds: float) -> Any:
    return (0.3 * np.sin(2 * np.pi * 220 * np.arange(round(seconds * RATE)) / RATE)).astype(np.float32)


@pytest.fixture
def item(tmp_path: Path) -> Callable[..., Path]:
    """Makes a turn-taking item of which the user speaks for a second, and two are silent."""

    def make(name: str, sound: Any = None, cues: Any = None) -> Path:
        folder = tmp_path / "items" / "candor_turn_taking" / name
        folder.mkdir(parents=True)
        said = np.concatenate([tone(1.0), np.zeros(2 * RATE, np.float32)]) if sound is None else sound
        audio.write(folder / "input.wav", said, RATE)
        (folder / "turn_taking.json").write_text(json.dumps([{"text": "", "timestamp": [1.0, 1.0]}]))
        if cues is not None:
            (folder / "cues.json").write_text(json.dumps(cues))
        return folder

    return make


def drive(tmp_path: Path, system: str, *more: object, out: str = "run") -> tuple[int, str]:
    found = CliRunner().invoke(main, [
        "run", "fdb-1.0", "--system", system, "--data", str(tmp_path / "items"), "--out", str(tmp_path / out),
        "--recogniser", "none", "--detector", "energy", "--no-page", "--engine", "here", *map(str, more),
    ])  # fmt: skip
    assert "Traceback" not in found.output
    return found.exit_code, found.output + (found.stderr if found.stderr_bytes else "")


def script(tmp_path: Path, **more: Any) -> str:
    audio.write(tmp_path / "answer.wav", tone(0.5), RATE)
    lines = [{"answer": "right", "audio": "answer.wav", "delay": 0.4}]
    (tmp_path / "script.json").write_text(json.dumps({"lines": lines, **more}))
    return f'scripted:file="{tmp_path / "script.json"}"'


def told(folder: Path) -> Any:
    return json.loads((folder / "talk.json").read_text())


def test_a_difference_is_named_by_its_place(item: Any, tmp_path: Path) -> None:
    item("1")
    system = script(tmp_path)
    drive(tmp_path, system)
    _, repeats = drive(tmp_path, system, "--repeats", 2)
    _, dry = drive(tmp_path, system, "--repeats", 2, "--dry-run")
    _, chunk = drive(tmp_path, f"{system},chunk=0.08")
    assert "another driven, repeats (1, now 2)" in repeats and "another driven, repeats (1, now 2)" in dry
    assert "another driven, system, options, chunk (null, now 0.08)" in chunk


def test_a_recorded_talk_is_not_overwritten_when_its_sound_has_changed(item: Any, tmp_path: Path) -> None:
    given = item("1")
    system = script(tmp_path)
    drive(tmp_path, system)
    log = tmp_path / "run/trials/candor_turn_taking/1/received.jsonl"
    before = log.read_bytes()
    audio.write(given / "input.wav", tone(2.0), RATE)
    status, text = drive(tmp_path, system)
    assert status == 1 and "holds a talk with another stimulus" in text and log.read_bytes() == before


def test_a_recorded_talk_is_not_overwritten_when_the_script_has_changed(item: Any, tmp_path: Path) -> None:
    item("1")
    system = script(tmp_path)
    drive(tmp_path, system)
    script(tmp_path, yields=0.1)
    # In another process: this one has read the script.
    again = subprocess.run(
        [sys.executable, "-m", "fullduplex", "run", "fdb-1.0", "--system", system, "--data", str(tmp_path / "items"),
         "--out", str(tmp_path / "run"), "--recogniser", "none", "--detector", "energy", "--no-page"],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert again.returncode == 1 and "holds a talk with another system" in again.stderr


def test_one_run_is_written_by_one_process(tmp_path: Path) -> None:
    run = Run.begin(tmp_path / "run", {"benchmark": {"name": "x", "version": 1, "variants": []}})
    with run.alone(), pytest.raises(RunError, match="another fullduplex is writing"), Run(run.path, {}).alone():
        pass
    with run.alone():
        assert sorted(path.name for path in run.path.iterdir()) == ["run.json", "trials"]


def test_the_attempts_of_an_earlier_call_stay(item: Any, tmp_path: Path) -> None:
    item("1")
    system = script(tmp_path, closes=1.5)
    drive(tmp_path, system, "--retries", 1)
    folder = tmp_path / "run/trials/candor_turn_taking/1"
    drive(tmp_path, system, "--retries", 1)
    assert [attempt["attempt"] for attempt in told(folder)["attempts"]] == [1, 2, 3, 4]
    assert [len(told(folder / "attempts" / n)["attempts"]) for n in "123"] == [1, 2, 3]
    assert all((folder / "attempts" / n / "received.jsonl").is_file() for n in "123")


def test_nothing_of_an_earlier_attempt_stands_beside_one_that_never_began(item: Any, tmp_path: Path) -> None:
    item("1")
    system, mark = tmp_path / "system.py", tmp_path / "mark"
    system.write_text(
        "from pathlib import Path\n"
        "class A:\n"
        f"    def __init__(self):\n        assert not Path({str(mark)!r}).exists(), 'no model'\n"
        "    def step(self, frame):\n        raise ValueError\n"
    )
    line, more = f"python:call={system}:A", ("--clock", "step-algorithmic", "--retries", 0)
    drive(tmp_path, line, *more)
    folder = tmp_path / "run/trials/candor_turn_taking/1"
    assert (folder / "received.jsonl").is_file()
    mark.touch()
    status, text = drive(tmp_path, line, *more)
    assert status == 3 and "no model" in text and "no model" in told(folder)["failed"]
    assert not (folder / "received.jsonl").exists() and (folder / "attempts/1/received.jsonl").is_file()


@pytest.mark.parametrize("samples", [1, 3, 16_001])
def test_no_sample_of_a_replay_is_lost(samples: int, item: Any, tmp_path: Path) -> None:
    item("1", sound=np.full(samples, 0.25, np.float32))
    status, text = drive(tmp_path, script(tmp_path))
    assert status == 0, text
    assert audio.probe(tmp_path / "run/trials/candor_turn_taking/1/input.wav").frames == samples


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        ({"required": 5}, "check, required: found 5, expected a list of texts"),
        ({"onset": "soon"}, "check, onset"),
        ({"recogniser": "nobody"}, "no recogniser is called 'nobody'"),
        ({"stops": "no"}, "check, stops: found 'no', expected true or false"),
    ],
)
def test_a_check_that_cannot_be_made_is_said_before_the_talk(
    check: Any, sentence: str, item: Any, tmp_path: Path
) -> None:
    item("1", cues={"cues": [{"audio": "input.wav", "due": {"when": "at", "time": 0}}], "check": check})
    status, text = drive(tmp_path, script(tmp_path))
    assert status == 3 and sentence in text
    assert not (tmp_path / "run/trials/candor_turn_taking/1/talk.json").exists()


@pytest.mark.parametrize(
    ("cues", "sentence"),
    [
        ({"cap": 1e6}, "cap: found 1000000.0, expected a time above 0, at most a day"),
        ({"cap": 9, "hang_up": None}, 'none beside "hang_up": null'),
        ({"cap": 9_000, "effects": [{"kind": "noise", "snr": 10}]}, "at most 3600 s where effects add sound"),
        ({"simulated": {"goal": "x", "persona": {"name": "A", "patience": "x"}}}, "persona, patience: found 'x'"),
        ({"cues": [{"audio": "a" * 5000, "due": {"when": "at", "time": 0}}]}, "a file in the item's folder"),
        ({"cues": [{"audio": "a\0.wav", "due": {"when": "at", "time": 0}}]}, "a file in the item's folder"),
    ],
)
def test_what_cannot_be_held_is_said_in_a_sentence(cues: Any, sentence: str, item: Any, tmp_path: Path) -> None:
    item("1", cues={"cues": [{"audio": "input.wav", "due": {"when": "at", "time": 0}}], **cues})
    status, text = drive(tmp_path, script(tmp_path))
    assert status == 3 and sentence in text


def test_a_name_with_spaces_and_quotes_is_one_argument_of_a_program(item: Any, tmp_path: Path) -> None:
    hostile = "x' --out \"y"
    item(hostile)
    program = tmp_path / "program.py"
    program.write_text(
        "import json, pathlib, shutil, sys\n"
        f"pathlib.Path({str(tmp_path / 'seen.json')!r}).write_text(json.dumps(sys.argv[3:]))\n"
        "shutil.copy(sys.argv[1], sys.argv[2])\n"
    )
    line = f"{shlex.quote(sys.executable)} {shlex.quote(str(program))} {{input}} {{output}} id={{id}}"
    status, text = drive(tmp_path, f"command:run={line}")
    assert status == 0, text
    assert json.loads((tmp_path / "seen.json").read_text()) == [f"id={hostile}"]


def test_an_item_without_a_file_of_its_own_fails_alone(item: Any, tmp_path: Path) -> None:
    item("1")
    item("2")
    audio.write(tmp_path / "2.wav", tone(1.0), RATE)
    status, text = drive(tmp_path, f'recorded:path="{tmp_path}/{{id}}.wav"')
    assert status == 3 and "1 item failed" in text and "1.wav" in text
    assert (tmp_path / "run/trials/candor_turn_taking/2/talk.json").is_file()


def test_a_dry_run_counts_what_is_held_and_how_long_the_rest_may_take(item: Any, tmp_path: Path) -> None:
    cue = {"audio": "input.wav", "due": {"when": "at", "time": 4}}
    item("1", cues={"cues": [cue, cue], "hang_up": None})
    system = script(tmp_path, closes=1.5)
    _, first = drive(tmp_path, system, "--dry-run")
    drive(tmp_path, system, "--retries", 0)
    _, then = drive(tmp_path, system, "--dry-run")
    assert "1 talks, 0 of them held already; at most 10 s of talk" in first
    assert "1 talks, 0 of them held already" in then


@pytest.mark.parametrize("record", ["[]", "{", '{"turns": [{"event": "pause", "timestamp": ["x", 1]}]}'])
def test_a_talk_whose_record_is_damaged_is_held_again(record: str, item: Any, tmp_path: Path) -> None:
    item("1")
    system = script(tmp_path)
    drive(tmp_path, system)
    folder = tmp_path / "run/trials/candor_turn_taking/1"
    before = told(folder)
    (folder / "talk.json").write_text(record)
    status, text = drive(tmp_path, system)
    assert status == 0 and told(folder) == before, text
