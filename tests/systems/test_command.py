"""A program as a system, and what a broken program comes to."""

from __future__ import annotations

import os
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.clock import Clock, run_on
from fullduplex.driving.cues import at
from fullduplex.driving.drive import drive
from fullduplex.driving.heard import words_heard
from fullduplex.driving.link import Note
from fullduplex.driving.talk import BrokenTalk, Talk
from fullduplex.driving.user import Turn
from fullduplex.errors import InputError
from fullduplex.model.spans import Span, ms, seconds
from fullduplex.systems.command import Command

RATE = 16_000
ECHO = """
import sys, wave
with wave.open(sys.argv[1]) as given:
    frames = given.readframes(given.getnframes())
with wave.open(sys.argv[2], "wb") as left:
    left.setnchannels(1); left.setsampwidth(2); left.setframerate(16000)
    left.writeframes(frames)
"""


def program(folder: Path, text: str, arguments: str = "{input} {output}") -> str:
    path = folder / "a program.py"
    path.write_text(text, encoding="utf-8")
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))} {arguments}"


def talk(system: Command, *, clock: Clock = "step-algorithmic", length: int = seconds(3), prompt: str = "") -> Talk:
    tone = 0.25 * np.sin(np.arange(RATE) * 0.1).astype(np.float32)
    return run_on(clock, drive(system, [Turn(tone, at(seconds(0.5)))], length=length, prompt=prompt))


def sounding(found: Talk) -> tuple[float, float]:
    loud = np.flatnonzero(np.abs(found.system) > 0.01)
    return round(float(loud[0]) / found.rate, 2), round(float(loud[-1]) / found.rate, 2)


def answer(found: Talk) -> Any:
    return next(note.data for note in found.notes if isinstance(note, Note) and note.kind == "answer")


def test_sample_n_of_the_output_is_sample_n_of_the_talk(tmp_path: Path) -> None:
    found = talk(Command(program(tmp_path, ECHO), rate_out=RATE))
    assert np.abs(found.system - found.user).max() <= 1 / 32768
    assert not answer(found)["imposed"] and answer(found)["fed"] == "whole"


def test_a_reply_comes_after_the_input_and_the_time_that_it_took(tmp_path: Path) -> None:
    found = talk(Command(program(tmp_path, ECHO), placement="reply", rate_out=RATE, declared=0.5))
    assert sounding(found) == (4.0, 5.0)
    assert answer(found)["imposed"] and answer(found)["took"] == 0.5


def test_a_reply_may_be_placed_after_the_users_last_sound(tmp_path: Path) -> None:
    text = ECHO.replace("writeframes(frames)", "writeframes(frames[16000:48000])")
    told = '\nopen(sys.argv[2] + ".json", "w").write(\'[{"start": 0.2, "text": "hello", "end": 0.5}]\')'
    found = talk(Command(program(tmp_path, text + told), placement="speech", rate_out=RATE, declared=0.5))
    assert sounding(found) == (2.0, 3.0)
    assert answer(found)["imposed"] and answer(found)["at"] == pytest.approx(2.0, abs=0.01)
    (word,) = words_heard(found.placed, found.notes, found.rate, length=found.duration)
    assert word.span.start == pytest.approx(seconds(2.2), abs=ms(10))


def test_on_the_honest_clock_a_reply_takes_as_long_as_the_program(tmp_path: Path) -> None:
    run = program(tmp_path, "import time\ntime.sleep(0.3)\n" + ECHO)
    found = talk(Command(run, placement="reply", rate_out=RATE), clock="step-honest")
    assert 3.8 < sounding(found)[0] < 5.5
    assert answer(found)["took"] >= answer(found)["wall"] >= 0.3


def test_another_rate_than_the_systems_is_resampled(tmp_path: Path) -> None:
    found = talk(Command(program(tmp_path, ECHO), rate_out=24_000))
    assert sounding(found) == (0.5, 1.5) and found.rate == 24_000


def leaving(told: str) -> str:
    return f'{ECHO}\nopen(sys.argv[2] + ".json", "w").write({told!r})\n'


def test_words_beside_the_output_are_heard_where_they_say(tmp_path: Path) -> None:
    told = '[{"start": 0.5, "text": "hello"}, {"start": 1, "text": "there", "end": 1.4}]'
    found = talk(Command(program(tmp_path, leaving(told))))
    words = words_heard(found.placed, found.notes, found.rate, length=found.duration)
    assert [(word.text, word.span) for word in words] == [
        ("hello", Span(ms(500), ms(1000))),
        ("there", Span(ms(1000), ms(1400))),
    ]


def test_blocks_say_which_part_sounds_when(tmp_path: Path) -> None:
    told = '[{"at": 2, "start": 0.5, "end": 1}, {"start": 0.6, "end": 0.8, "text": "late"}]'
    found = talk(Command(program(tmp_path, leaving(told))))
    assert sounding(found) == (2.0, 2.5)
    (word,) = words_heard(found.placed, found.notes, found.rate, length=found.duration)
    assert word.span == Span(ms(2100), ms(2300))


def test_the_prompt_is_a_file(tmp_path: Path) -> None:
    checks = '\nassert open(sys.argv[3], encoding="utf-8").read() == "Sois bref\\u00a0; $(rm -r x)"'
    talk(Command(program(tmp_path, ECHO + checks, "{input} {output} {prompt}")), prompt="Sois bref\u00a0; $(rm -r x)")


def test_no_shell_reads_the_command_line(tmp_path: Path) -> None:
    marker = tmp_path / "written"
    talk(Command(program(tmp_path, ECHO, f"{{input}} {{output}} ; touch {marker}")))
    assert not marker.exists()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("import sys; sys.exit('no model here')", r"ended with code 1: no model here"),
        ("import os; os.abort()", r"was ended by signal 6"),
        ("", r"ended well but left no audio"),
        ("import sys; open(sys.argv[2], 'w').write('hello')", r"left an \{output\} that cannot be read"),
        (ECHO.replace("writeframes(frames)", "writeframes(b'')"), r"left an \{output\} that cannot be read"),
        (leaving('[{"start": -1}]'), r"\{output\}\.json, entry 0: neither"),
        (leaving("{"), r"\{output\}\.json cannot be read"),
    ],
)
def test_a_program_that_fails_ends_the_talk_in_a_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(BrokenTalk, match=sentence):
        talk(Command(program(tmp_path, text)))


def test_a_program_that_is_not_there_ends_the_talk_in_a_sentence() -> None:
    with pytest.raises(BrokenTalk, match="could not be started: No such file"):
        talk(Command("./nowhere {input} {output}"))


def test_a_program_that_hangs_is_killed_with_what_it_started(tmp_path: Path) -> None:
    left = tmp_path / "child"
    text = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open({str(left)!r}, "w").write(str(child.pid))
time.sleep(60)
"""
    began = time.monotonic()
    with pytest.raises(BrokenTalk, match="did not end within 1 s and was killed"):
        talk(Command(program(tmp_path, text), timeout=1.0))
    assert time.monotonic() - began < 20
    assert _gone(int(left.read_text()))


def _gone(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize(
    "options",
    [
        {"run": "prog {input}"},
        {"run": "prog {input} {output} {elsewhere}"},
        {"run": "prog '{input} {output}"},
        {"run": "prog {input} {output}", "timeout": 0},
        {"run": "prog {input} {output}", "timeout": float("nan")},
        {"run": "prog {input} {output}", "declared": -1},
        {"run": "prog {input} {output}", "placement": "somewhere"},
    ],
)
def test_options_that_cannot_be_meant_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Command(**options)
