"""Heavy things are built once."""

from __future__ import annotations

import threading
import time

import pytest

from fullduplex.model.spec import Spec
from fullduplex.once import once_per_process


def test_what_is_heavy_is_built_once_for_each_spec() -> None:
    built: list[str] = []

    @once_per_process
    def session(spec: Spec) -> str:
        built.append(spec.name)
        return spec.name

    silero = Spec("silero", {"pad_ms": 0})
    assert [session(silero), session(Spec("silero", {"pad_ms": 0})), session(Spec("webrtc"))] == [
        "silero",
        "silero",
        "webrtc",
    ]
    assert built == ["silero", "webrtc"]


def test_named_arguments_count_too() -> None:
    @once_per_process
    def pair(left: int, right: int = 0) -> list[int]:
        return [left, right]

    assert pair(1, right=2) is pair(1, right=2)
    assert pair(1, right=2) is not pair(1, right=3)


def test_a_second_thread_waits_for_the_first() -> None:
    built: list[str] = []

    @once_per_process
    def slow(name: str) -> str:
        time.sleep(0.05)
        built.append(name)
        return name

    threads = [threading.Thread(target=slow, args=("x",)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built == ["x"]


def test_a_build_that_fails_is_tried_again() -> None:
    tries: list[int] = []

    @once_per_process
    def flaky(number: int) -> int:
        tries.append(number)
        if len(tries) == 1:
            raise OSError("not yet")
        return number

    with pytest.raises(OSError, match="not yet"):
        flaky(1)
    assert flaky(1) == 1
