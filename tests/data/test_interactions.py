"""interaction.json: what cannot be meant is refused in one sentence, and never counts as a system's failure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.data import audio
from fullduplex.data.interactions import on_the_clock, read_interaction
from fullduplex.errors import InputError

Told = dict[str, Any]


def told(**more: Any) -> Told:
    trigger = {"id": "1", "cue": "u0", "start": 0.2, "end": 0.5, "word": "goed", "action": "INTERRUPT"}
    return {
        "schema": 1,
        "scenario": "grammar",
        "target": "went",
        "expects": [trigger],
        "script": [{"who": "user", "text": "He goed.", "cue": "u0"}],
        **more,
    }


def written(folder: Path, what: Any, cues: tuple[str, ...] = ("u0", "u1")) -> Path:
    for cue in cues:
        audio.write(folder / f"{cue}.wav", np.full(16_000, 0.1, np.float32), 16_000)
    if cues:
        listed = [{"id": cue, "audio": f"{cue}.wav", "due": {"when": "at", "time": 0.5}} for cue in cues]
        (folder / "cues.json").write_text(json.dumps({"schema": 1, "cues": listed}))
    path = folder / "interaction.json"
    path.write_text(json.dumps(what))
    return path


def turn(**more: Any) -> Told:
    return {"id": "u0", "timestamp": [0.5, 1.5], "text": "He goed."} | more


def probe(**more: Any) -> Told:
    return {"id": "1", "cue": "u1", "type": "recall", "expected": "Says it."} | more


REFUSED: dict[str, tuple[Told, str]] = {
    "target": (told(target=3), "target"),
    "style": (told(style=[1]), "style"),
    "script": (told(script="hello"), "script"),
    "line": (told(script=["hello"]), "script[0]"),
    "text": (told(script=[{"who": "user", "text": 3}]), "script[0].text"),
    "no script": (told(script=None), "script"),
    "reversed": (told(turns=[turn(timestamp=[5, 1])]), "turns[0].timestamp"),
    "negative": (told(turns=[turn(timestamp=[-1, 1])]), "turns[0].timestamp"),
    "twice": (told(turns=[turn(), turn()]), "turns[1].id"),
    "premise": (told(turns=[turn(premise="talking")]), "turns[0].premise"),
    "talking": (told(turns=[turn(premise={"system_talking": "no"})]), "turns[0].premise.system_talking"),
    "since": (told(turns=[turn(premise={"since": "early"})]), "turns[0].premise.since"),
    "a word in no turn": (told(turns=[turn(id="u1")]), "expects[0].cue"),
    "rests": (told(probes=[probe(rests_on_assistant="false")]), "probes[0].rests_on_assistant"),
    "a probe twice": (told(probes=[probe(), probe()]), "probes"),
    "a probe in no cue": (told(probes=[probe(cue="u9")]), "probes[0].cue"),
    "a pause in no cue": (told(pauses=[{"cue": "u9", "start": 0.1, "end": 0.2}]), "pauses[0].cue"),
    "a pause behind its cue": (told(pauses=[{"cue": "u0", "start": 0.1, "end": 1.2}]), "pauses[0].end"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, name: str) -> None:
    what, where = REFUSED[name]
    with pytest.raises(InputError) as refused:
        read_interaction(written(tmp_path, what))
    assert f"interaction.json, {where}: found" in str(refused.value)


def test_a_trigger_word_behind_its_cue_is_no_failure_of_a_system(tmp_path: Path) -> None:
    late = told()
    late["expects"][0]["end"] = 1.002
    with pytest.raises(InputError, match=r"expects\[0\]\.end: found 1\.002, expected a time in u0\.wav, which lasts 1"):
        read_interaction(written(tmp_path, late))


@pytest.mark.parametrize("cues", [(), ("u0", "u1")])
def test_what_is_marked_to_the_last_sample_is_read(tmp_path: Path, cues: tuple[str, ...]) -> None:
    right = told(probes=[probe()], pauses=[{"cue": "u0", "start": 0.1, "end": 1.0}])
    assert read_interaction(written(tmp_path, right, cues))["pauses"][0]["end"] == 1.0


def test_a_turn_that_fell_says_what_there_is_and_not_the_cues(tmp_path: Path) -> None:
    path = written(tmp_path, told(turns=[turn(), turn(id="u9", timestamp=None)], probes=[probe(cue="u9")]))
    clocked = on_the_clock(read_interaction(path))
    assert clocked["expects"][0]["start"] == 0.7 and clocked["probes"][0]["asked"] is False


def test_cues_that_tell_nothing_are_for_others_to_refuse(tmp_path: Path) -> None:
    path = written(tmp_path, told())
    (tmp_path / "u0.wav").unlink()
    assert read_interaction(path)["target"] == "went"
    (tmp_path / "cues.json").write_text("[]")
    assert read_interaction(path)["target"] == "went"


def test_marks_are_read_and_set_on_the_clock(tmp_path: Path) -> None:
    mark = {"cue": "u0", "start": 1.0, "end": 2.5, "kind": "ignored", "text": "Could you close the door?"}
    told = {"schema": 1, "scenario": "ignore_other_directed", "marks": [mark], "setting": "meeting"}
    (tmp_path / "interaction.json").write_text(json.dumps(told))
    read = read_interaction(tmp_path / "interaction.json")
    (placed,) = on_the_clock(read, [{"id": "u0", "timestamp": [10.0, 20.0]}])["marks"]
    assert (placed["start"], placed["end"], placed["text"]) == (11.0, 12.5, mark["text"])
    (never,) = on_the_clock(read, [{"id": "u0", "timestamp": None}])["marks"]
    assert never["start"] is None


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"marks": [{"cue": "u0", "start": 1.0, "end": 2.5, "kind": "aside"}]}, "kind"),
        ({"setting": "a party"}, "setting"),
        ({"origin": "made up"}, "origin"),
        ({"instructed": "always"}, "instructed"),
    ],
)
def test_what_no_mark_or_setting_is_called_is_refused(tmp_path: Path, changed: dict[str, Any], named: str) -> None:
    (tmp_path / "interaction.json").write_text(json.dumps({"schema": 1, "scenario": "ignore_background"} | changed))
    with pytest.raises(InputError, match=named):
        read_interaction(tmp_path / "interaction.json")


def test_an_action_s_item_is_of_the_condition_that_its_set_is_called(tmp_path: Path) -> None:
    (tmp_path / "interaction.json").write_text(json.dumps({"schema": 1, "scenario": "wait_continuous"}))
    assert read_interaction(tmp_path / "interaction.json", "da_wait_continuous")["scenario"] == "wait_continuous"
    assert read_interaction(tmp_path / "interaction.json", "ib_pause")["scenario"] == "wait_continuous"
    with pytest.raises(InputError, match="scenario: found 'wait_continuous', expected wait_intra_pause"):
        read_interaction(tmp_path / "interaction.json", "da_wait_intra_pause")
