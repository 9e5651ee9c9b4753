"""A Python function or class as a system."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.clock import Clock, run_on
from fullduplex.driving.cues import at
from fullduplex.driving.drive import drive
from fullduplex.driving.talk import BrokenTalk, Talk
from fullduplex.driving.user import Turn
from fullduplex.errors import InputError, PluginError
from fullduplex.model.spans import seconds
from fullduplex.systems.function import Function

RATE = 16_000
CODE = """
import os
import time

import numpy as np

def echo(samples, rate):
    return samples

def half(samples, rate):
    return samples[::2], rate // 2

def silent(samples, rate):
    raise ValueError("no such <b>model</b>\\nat all")

def quits(samples, rate):
    raise SystemExit(3)

def hangs(samples, rate):
    time.sleep(600)

def forks(samples, rate):
    os.fork()
    return samples

async def waits(samples, rate):
    return samples

def words(samples, rate):
    return "hello"

def whole_numbers(samples, rate):
    return np.zeros(10, np.int16)

def broken(samples, rate):
    return samples * np.nan

class Hangs:
    def step(self, frame):
        time.sleep(600)

class Loud:
    def __init__(self, prompt=""):
        self.frames, self.prompt = 0, prompt
    def step(self, frame):
        self.frames += 1
        if self.prompt == "fail" and self.frames == 3:
            raise RuntimeError("third frame")
        return None if self.frames > 5 else frame + np.float32(0.5)

loud = Loud()
"""


@pytest.fixture
def call(tmp_path: Path) -> Any:
    path = tmp_path / "my_system.py"
    path.write_text(CODE, encoding="utf-8")
    return lambda name: f"{path}:{name}"


def talk(system: Function, *, clock: Clock = "step-algorithmic", prompt: str = "") -> Talk:
    tone = 0.25 * np.sin(np.arange(RATE) * 0.1).astype(np.float32)
    return run_on(clock, drive(system, [Turn(tone, at(seconds(0.5)))], length=seconds(2), prompt=prompt))


def test_a_function_gets_all_and_answers_in_place(call: Any) -> None:
    found = talk(Function(call("echo"), rate_out=RATE))
    assert np.abs(found.system - found.user).max() <= 1 / 32768


def test_a_function_may_say_its_rate(call: Any) -> None:
    found = talk(Function(call("half"), rate_out=24_000))
    loud = np.flatnonzero(np.abs(found.system) > 0.01)
    assert abs(loud[0] / 24_000 - 0.5) < 0.01 and abs(loud[-1] / 24_000 - 1.5) < 0.01


def test_a_class_goes_a_frame_for_a_frame(call: Any) -> None:
    found = talk(Function(call("Loud"), rate_out=RATE, frame=0.1))
    # The frame that ends at 0.1 s is answered at 0.1 s: heard as it is said, one frame later.
    loud = np.flatnonzero(found.system)
    assert (loud[0], loud[-1]) == (0.1 * RATE, 0.6 * RATE - 1)


def test_a_step_takes_what_was_declared(call: Any) -> None:
    found = talk(Function(call("Loud"), rate_out=RATE, frame=0.1, declared=0.02))
    assert np.flatnonzero(found.system)[0] == 0.12 * RATE


def test_a_class_may_be_driven_on_the_wall_clock(call: Any) -> None:
    found = talk(Function(call("Loud"), rate_out=RATE, frame=0.1), clock="wall")
    assert 0.1 <= np.flatnonzero(found.system)[0] / RATE < 0.2


def test_each_talk_has_a_class_of_its_own(call: Any) -> None:
    system = Function(call("Loud"), rate_out=RATE)
    assert np.array_equal(talk(system).system, talk(system).system)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("silent", r"raised ValueError: no such <b>model</b>\\nat all"),
        ("quits", "raised SystemExit: 3"),
        ("words", "gave no values of <U5, not one voice"),
        ("whole_numbers", "gave 10 values of int16, not one voice"),
        ("broken", "NaN or infinite"),
    ],
)
def test_a_function_that_fails_ends_the_talk_in_a_sentence(call: Any, name: str, sentence: str) -> None:
    with pytest.raises(BrokenTalk, match=sentence):
        talk(Function(call(name)))


def test_a_step_that_fails_ends_the_talk_where_it_failed(call: Any) -> None:
    with pytest.raises(BrokenTalk, match=r"after 0\.30 s .*raised RuntimeError: third frame") as found:
        talk(Function(call("Loud"), frame=0.1), prompt="fail")
    assert found.value.talk is not None and found.value.talk.received


@pytest.mark.parametrize("name", ["absent", "echo.absent"])
def test_what_is_not_there_is_refused_when_it_is_named(call: Any, name: str) -> None:
    with pytest.raises(PluginError, match="cannot be had: AttributeError"):
        Function(call(name))


@pytest.mark.parametrize("text", ["nowhere:step", "json:dumps.x", "/nowhere.py:f"])
def test_a_module_that_is_not_there_is_refused(text: str) -> None:
    with pytest.raises(PluginError, match="cannot be had"):
        Function(text)


@pytest.mark.parametrize("text", ["json", "json:", ":dumps", "math:pi"])
def test_a_call_that_names_nothing_to_call_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        Function(text)


def test_an_object_that_steps_is_refused_for_its_class(call: Any) -> None:
    with pytest.raises(InputError, match="give the class"):
        Function(call("loud"))


def test_the_spec_tells_one_file_from_another(call: Any, tmp_path: Path) -> None:
    before = Function(call("echo")).spec
    (tmp_path / "my_system.py").write_text(CODE + "\n# changed\n", encoding="utf-8")
    assert Function(call("echo")).spec.digest != before.digest


def test_an_importable_function_is_named_by_its_module() -> None:
    with pytest.raises(BrokenTalk, match="json:dumps raised TypeError"):
        talk(Function("json:dumps"))


@pytest.mark.parametrize("name", ["hangs", "Hangs"])
@pytest.mark.parametrize("clock", ["step-honest", "wall"])
def test_what_never_comes_back_ends_its_talk_alone(call: Any, name: str, clock: Clock) -> None:
    system = Function(call(name), timeout=0.3)
    if clock in system.traits.clocks:
        with pytest.raises(BrokenTalk, match=r"did not come back within 0\.3 s"):
            talk(system, clock=clock)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_that_a_function_forked_does_not_hold_the_talk_too(call: Any, tmp_path: Path) -> None:
    system = Function(call("forks"), rate_out=RATE)
    with (tmp_path / "held").open("a") as file:
        talk(system)
        file.write(f"{os.getpid()}\n")
        file.flush()
    time.sleep(0.3)
    assert (tmp_path / "held").read_text() == f"{os.getpid()}\n"


def test_an_async_function_is_told_to_be_none(call: Any) -> None:
    with pytest.raises(BrokenTalk, match="is async"):
        talk(Function(call("waits")))
