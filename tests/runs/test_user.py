import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from fullduplex.cli import main
from fullduplex.data import audio
from fullduplex.errors import InputError
from fullduplex.runs.stimulus import read_cues

RATE = 16_000


def tone(seconds: float, pitch: float = 220.0) -> np.ndarray[Any, np.dtype[np.float32]]:
    return (0.3 * np.sin(2 * np.pi * pitch * np.arange(round(seconds * RATE)) / RATE)).astype(np.float32)


def held(folder: Path, cues: dict[str, Any], lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Drive a scripted system that answers with a second of tone, and return the talk's record with its folder."""
    item = folder / "items" / "synthetic_user_interruption" / "1"
    item.mkdir(parents=True)
    for name, sound in (("input", tone(0.2)), ("question", tone(1.0)), ("stop", tone(0.5)), ("go", tone(0.4))):
        audio.write(item / f"{name}.wav", sound, RATE)
    audio.write(folder / "answer.wav", tone(1.0, 330), RATE)
    (item / "cues.json").write_text(json.dumps(cues))
    branches = {
        "nodes": [
            {"id": "question", "audio": "question.wav", "due": {"when": "at", "time": 0.5},
             "then": [{"if": {"when": "replied"}, "go": "stop"}], "else": "go"},
            {"id": "stop", "audio": "stop.wav"},
            {"id": "go", "audio": "go.wav"},
        ]
    }  # fmt: skip
    (item / "branches.json").write_text(json.dumps(branches))
    (folder / "script.json").write_text(json.dumps({"lines": lines}))
    found = CliRunner().invoke(
        main,
        ["run", "fdb-1.0", "--system", f'scripted:file="{folder / "script.json"}"', "--data", str(folder / "items"),
         "--out", str(folder / "run"), "--recogniser", "none", "--detector", "energy", "--no-page"],
    )  # fmt: skip
    assert found.exit_code == 0, found.output + found.stderr
    kept = folder / "run" / "trials" / "synthetic_user_interruption" / "1"
    told: dict[str, Any] = json.loads((kept / "talk.json").read_text())
    return told | {"folder": kept}


ANSWER = [{"answer": "right", "audio": "answer.wav", "delay": 0.3}]
QUESTION = {"audio": "question.wav", "due": {"when": "at", "time": 0.5}}


def sent(told: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.float32]]:
    return audio.read(told["folder"] / "sent.flac")[0]


def test_branches_go_where_the_system_leads(tmp_path: Path) -> None:
    cues = {"branches": "branches.json", "hang_up": {"quiet": 1.0, "patience": 3.0}}
    told = held(tmp_path, cues, ANSWER)
    assert [step["node"] for step in told["user"]["decided"]["path"]] == ["question", "stop"]
    assert told["protocol"] == "simulator replay" and told["valid_user"]


def test_branches_go_elsewhere_when_it_stays_silent(tmp_path: Path) -> None:
    told = held(tmp_path, {"branches": "branches.json", "hang_up": {"quiet": 1.0, "patience": 3.0}}, [])
    assert [step["node"] for step in told["user"]["decided"]["path"]] == ["question", "go"]


def test_noise_lies_under_the_silence_too_and_not_on_the_user_s_own_channel(tmp_path: Path) -> None:
    cues = {"cues": [QUESTION], "effects": [{"kind": "noise", "snr": 10}], "hang_up": {"quiet": 1.0, "patience": 2.0}}
    told = held(tmp_path, cues, [])
    noisy, clean = sent(told), audio.read(told["folder"] / "input.wav")[0]
    speech = clean[RATE : RATE + RATE // 4]
    noise = noisy[2 * RATE :][: RATE // 2]
    assert 20 * np.log10(np.std(speech) / np.std(noise)) == pytest.approx(10, abs=0.5)
    assert not clean[2 * RATE :].any()


def test_the_system_s_voice_echoes_in_what_the_user_sends(tmp_path: Path) -> None:
    cues = {
        "cues": [QUESTION],
        "effects": [{"kind": "echo", "delay": 0.1, "gain": -20}],
        "hang_up": {"quiet": 1.0, "patience": 3.0},
    }
    told = held(tmp_path, cues, ANSWER)
    echoed, (output, rate) = sent(told), audio.read(told["folder"] / "output.wav")
    said = np.flatnonzero(np.abs(output) > 0.1)[0] / rate
    user = audio.read(told["folder"] / "input.wav")[0]
    echo = echoed - user
    came = np.flatnonzero(np.abs(echo) > 0.01)[0] / RATE
    assert came - said == pytest.approx(0.1, abs=0.002)
    assert np.abs(echo).max() == pytest.approx(0.03, rel=0.1)


def test_an_effect_on_a_cue_says_what_it_did(tmp_path: Path) -> None:
    loss = {"kind": "frame_loss", "p_good_to_bad": 0.5, "p_bad_to_good": 0.5, "seed": 3}
    told = held(tmp_path, {"cues": [QUESTION | {"effects": [loss]}], "hang_up": {"quiet": 1.0}}, [])
    assert {entry["event"] for entry in told["user"]["effects"]} == {"lost"}


def test_a_replay_without_a_rule_for_hanging_up_lasts_as_long_as_its_audio(tmp_path: Path) -> None:
    told = held(tmp_path, {"cues": [QUESTION], "hang_up": None}, [])
    assert told["ended_by"] == "length" and told["duration"] == pytest.approx(1.5, abs=0.001)


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({"cues": [], "branches": "nowhere.json"}, "not there"),
        ({"cues": [{"audio": "a.wav", "due": {"when": "into_reply", "delay": 1}}], "hang_up": None}, "a rule"),
        ({"cues": [{"audio": "a.wav", "due": {"when": "at", "time": 0}, "volume": 3}]}, "volume: found an unknown key"),
        ({"simulated": 3}, "an object"),
        ({"cues": [{"audio": "a.wav", "due": {"when": "at", "time": 0}}], "hang_up": {"quiet": 0}}, "above 0"),
        ({"cues": [{"audio": "a.wav", "due": {"when": "at", "time": 0}, "event": "sneeze"}]}, "interruption"),
    ],
)
def test_what_cues_cannot_say_is_refused_in_a_sentence(told: Any, sentence: str, tmp_path: Path) -> None:
    audio.write(tmp_path / "a.wav", tone(0.1), RATE)
    (tmp_path / "cues.json").write_text(json.dumps(told))
    with pytest.raises(InputError, match=sentence):
        read_cues(tmp_path / "cues.json")
