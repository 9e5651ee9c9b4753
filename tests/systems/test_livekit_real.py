"""LiveKit's own session in its own environment, which has this package too.

``FULLDUPLEX_LIVEKIT_PYTHON`` names a Python that has ``livekit-agents`` and ``fullduplex``; ``.ci/livekit`` makes one.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.data.audio import write
from fullduplex.driving.playout import Samples

AGENT = Path(__file__).parent / "livekit_real" / "agent.py"
PYTHON = os.environ.get("FULLDUPLEX_LIVEKIT_PYTHON", "")
pytestmark = pytest.mark.skipif(
    not PYTHON, reason="FULLDUPLEX_LIVEKIT_PYTHON names no Python with the packages livekit-agents and fullduplex"
)


def question() -> Samples:
    """Return a spoken question at 16 kHz."""
    said = subprocess.run(
        [PYTHON, "-c", "import sys; from py_nanotts import NanoTTS; "
         "sys.stdout.buffer.write(NanoTTS().speak(text='Hello there, how was your weekend?', voice='en-US'))"],
        capture_output=True,
        check=True,
    ).stdout  # fmt: skip
    sound = np.frombuffer(said, "<i2").astype(np.float32)
    made: Samples = (sound / np.abs(sound).max() * 0.7).astype(np.float32)
    return made


def fullduplex(*arguments: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PYTHON, "-m", "fullduplex", *map(str, arguments)], capture_output=True, text=True, timeout=280
    )


def items(folder: Path, count: int) -> Path:
    sound = question()
    for n in range(count):
        item = folder / "candor_turn_taking" / str(n)
        item.mkdir(parents=True)
        write(item / "input.wav", np.pad(sound, (8_000, 48_000)), 16_000)
        words = [{"text": "hello", "timestamp": [0.5, 0.5 + len(sound) / 16_000]}]
        (item / "transcription.json").write_text(json.dumps({"text": "hello", "chunks": words}))
        (item / "turn_taking.json").write_text(json.dumps(words))
    return folder


def test_what_can_be_judged_from_outside_passes(tmp_path: Path) -> None:
    write(tmp_path / "question.wav", question(), 16_000)
    done = fullduplex("conform", f"livekit:agent={AGENT}:agent", "--say", tmp_path / "question.wav", "--json")
    cases = {case["case"]: case for case in json.loads(done.stdout)["cases"]}
    assert [case for case in cases.values() if case["outcome"] == "failed"] == []
    assert {1, 3, 8, 15, 17, 18, 23, 25} <= {n for n, case in cases.items() if case["outcome"] == "passed"}
    # A session pushes its speech as fast as it is made, and most of it is taken back at an interruption.
    assert cases[1]["measured"]["receive_factor"] > 5 and cases[3]["measured"]["discarded_s"] > 1


def test_every_case_that_a_session_has_a_word_for_passes_on_the_facade() -> None:
    done = fullduplex("conform", "livekit:agent=fullduplex.testing.facades.livekit:agent", "--json")
    cases = {case["case"]: case for case in json.loads(done.stdout)["cases"]}
    assert [case for case in cases.values() if case["outcome"] == "failed"] == []
    played = {n for n, case in cases.items() if case["outcome"] != "not applicable"}
    assert played == {1, 2, 3, 5, 7, 8, 9, 15, 16, 18, 20, 23, 25, 26}


def test_the_facade_answers_what_it_hears_where_it_is_the_agent_of_another_command(tmp_path: Path) -> None:
    out, agent = tmp_path / "out", "livekit:agent=fullduplex.testing.facades.livekit:agent"
    arguments = ["--data", items(tmp_path / "items", 1), "--out", out, "--recogniser", "none", "--detector", "energy"]
    done = fullduplex("run", "fdb-1.0", "--system", agent, *arguments)
    assert done.returncode == 0, done.stderr[-3_000:]
    (talk,) = (json.loads(path.read_text()) for path in out.rglob("talk.json"))
    assert talk["received"]["seconds"] == 3


def test_a_run_on_a_session_has_talks_and_a_report(tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["--data", items(tmp_path / "items", 5), "--out", out, "--recogniser", "none", "--detector", "energy"]
    done = fullduplex("run", "fdb-1.0", "--system", f"livekit:agent={AGENT}:agent", *arguments)
    assert done.returncode == 0, done.stderr[-3_000:]
    talks = [json.loads(path.read_text()) for path in sorted(out.rglob("talk.json"))]
    assert len(talks) == 5 and all(talk["received"]["seconds"] > 3 for talk in talks)
    assert (out / "report.html").stat().st_size > 10_000


def test_an_agent_that_fails_is_a_kept_talk_and_a_sentence(tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["--data", items(tmp_path / "items", 1), "--out", out, "--recogniser", "none", "--detector", "energy"]
    done = fullduplex("run", "fdb-1.0", "--system", f"livekit:agent={AGENT}:fails", *arguments)
    assert done.returncode == 3
    assert "agent.py:fails failed: RuntimeError: no weights here" in done.stderr
    assert "Traceback" not in done.stderr
