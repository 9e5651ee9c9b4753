"""Systems that are judged from outside: a good one that goes frame for frame passes, and each fault fails its case."""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from fullduplex.cli import main
from fullduplex.data import audio
from fullduplex.driving.clock import run_on
from fullduplex.driving.link import Traits
from fullduplex.errors import ConversationError
from fullduplex.model.spans import seconds
from fullduplex.systems.function import Function
from fullduplex.systems.minicpm_o import MiniCPMo
from fullduplex.systems.scripted import Scripted
from fullduplex.testing import probes
from fullduplex.testing.behaviour import Behaviour, Utterance
from fullduplex.testing.conform import conform
from fullduplex.testing.facades import facade_of
from fullduplex.testing.facades.serving import FacedTwin
from fullduplex.testing.loopback import USUAL, Twin
from fullduplex.testing.stage import CaseResult

_STEPS = """
import numpy as np

class Steps:
    def __init__(self):
        self.heard = 0

    def step(self, frame):
        self.heard += 1
        return self.answer(self.heard, np.full(480, 0.1, np.float32))

class Always(Steps):
    def answer(self, n, sound):
        return sound

class Sometimes(Steps):
    def answer(self, n, sound):
        return sound if n % 100 > 40 else None

class Drops(Steps):
    def answer(self, n, sound):
        return None if n == 60 else sound

class Ahead(Steps):
    def answer(self, n, sound):
        return np.tile(sound, 3)

class Mute(Steps):
    def answer(self, n, sound):
        return None
"""


def judged(folder: Path, name: str, **options: Any) -> dict[int, CaseResult]:
    file = folder / "steps.py"
    file.write_text(_STEPS)
    system = Function(f"{file}:{name}", frame=0.02, **options)
    return {one.number: one for one in conform(system, clocks=["step-algorithmic"], cases=(10, 13, 14))}


@pytest.mark.parametrize("name", ["Always", "Sometimes"])
def test_a_system_that_answers_frame_for_frame_or_with_nothing_passes(tmp_path: Path, name: str) -> None:
    found = judged(tmp_path, name, declared=0.005)
    assert {one.outcome for one in found.values()} == {"passed"}
    assert found[10].measured["median_lag_ms"] == 5.0
    assert bool(found[14].measured["silent_frames"]) == (name == "Sometimes")


def test_a_dropped_frame_is_no_silence(tmp_path: Path) -> None:
    found = judged(tmp_path, "Drops")
    assert found[14].outcome == "failed" and "1 input frames were dropped" in found[14].why


def test_output_before_its_input_fails(tmp_path: Path) -> None:
    found = judged(tmp_path, "Ahead")
    assert found[10].outcome == "failed" and "before its input was whole" in found[10].why


def test_a_step_that_takes_longer_than_its_frame_falls_behind(tmp_path: Path) -> None:
    found = judged(tmp_path, "Always", declared=0.03)
    assert found[13].outcome == "failed" and "falls behind by 0.5" in found[13].why


@pytest.mark.parametrize(("rtf", "outcome"), [(1.3, "failed"), (0.6, "passed")])
def test_a_gateway_that_answers_seconds_is_judged_by_when_it_answers_them(rtf: float, outcome: str) -> None:
    behaviour = Behaviour(pace="sync", rtf=rtf, say=(Utterance(seconds(1), seconds(6)),))
    system = FacedTwin(MiniCPMo(), facade_of("minicpm-o"), behaviour)
    (found,) = conform(system, clocks=["virtual"], cases=(13,))
    assert found.outcome == outcome
    assert "falls behind by 0.300 s" in found.why if rtf > 1 else found.measured["median_lag_ms"] == 600.0


def test_frames_of_a_system_that_said_nothing_are_not_judged(tmp_path: Path) -> None:
    found = judged(tmp_path, "Mute")
    assert {one.outcome for one in found.values()} == {"not applicable"}


def test_after_a_talk_that_broke_late_no_other_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []

    class Late:
        spec, traits = Scripted().spec, Traits(virtual=True)

        @asynccontextmanager
        async def connect(self, prompt: str) -> Any:
            opened.append(prompt)
            raise ConversationError("nobody there")
            yield

    monkeypatch.setattr(probes, "GIVEN_UP_AFTER", -1.0)
    found = {one.number: one for one in conform(Late(), cases=(8, 15, 18, 25))}
    assert len(opened) == 1 and {one.outcome for one in found.values()} == {"failed"}
    assert "nobody there" in found[8].why and found[15].why.startswith("not held")
    assert found[25].why.startswith("not held")


@pytest.mark.parametrize("seconds_of_speech", [2, 15])
def test_silence_behind_a_question_keeps_nobody_from_interrupting_the_reply(seconds_of_speech: int) -> None:
    system = Twin(USUAL.to_json())
    rate = system.traits.rate_in
    said = np.concatenate([probes.like_speech(rate, seconds(seconds_of_speech)), np.zeros(7 * rate, np.float32)])
    (result,) = run_on("virtual", probes.probe(system, "virtual", [3], said))
    assert result.outcome == "passed", result.why


def test_what_is_said_ends_with_its_last_sound() -> None:
    sound = np.array([0, 0.5, -0.2, 0.005, 0, 0], np.float32)
    assert probes.said_of(sound).tolist() == sound[:3].tolist()
    assert len(probes.said_of(np.zeros(9, np.float32))) == 9 and len(probes.said_of(sound[:0])) == 0


def test_that_silence_is_left_out_is_said(tmp_path: Path) -> None:
    audio.write(tmp_path / "question.wav", np.r_[np.full(1_600, 0.3), np.zeros(16_000)].astype(np.float32), 16_000)
    given = ["conform", "scripted", "--case", "3", "--clock", "virtual", "--say", str(tmp_path / "question.wav")]
    found = CliRunner().invoke(main, given)
    assert "note: question.wav ends in 1.0 s of silence, which is left out" in found.stderr


def test_a_server_that_is_not_there_is_told_with_its_page() -> None:
    found = CliRunner().invoke(main, ["conform", "moshi:url=ws://127.0.0.1:9", "--case", "8", "--json"])
    assert found.exit_code == 4 and "docs/systems/moshi.md says how" in found.stdout
