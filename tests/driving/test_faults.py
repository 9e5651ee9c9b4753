"""Systems that misbehave end their own talk, in a sentence, and what they did so far is kept."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.clock import run_on, run_virtual, took
from fullduplex.driving.cues import at, due_from_json
from fullduplex.driving.drive import BrokenTalk, Talk, Turn, drive
from fullduplex.driving.heard import words_heard
from fullduplex.driving.keep import DEEPEST, LOG, read_log, write_received
from fullduplex.driving.link import Note, Position, Ready, Said, Traits, UserVad
from fullduplex.driving.placements import placed_by
from fullduplex.driving.playout import Chunk, Placed
from fullduplex.errors import InputError
from fullduplex.model.spans import Span, ms, seconds
from fullduplex.model.spec import Spec

RATE = 16_000


class Says:
    """Gives the events one after another at once, and then nothing."""

    spec = Spec("says")
    traits = Traits(RATE, RATE, virtual=True)

    def __init__(self, *events: Any, settings: Any = None) -> None:
        self.events, self.ready = events, Ready(settings or {})

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[Any]:
        yield self

    async def send(self, frame: Any) -> None:
        frame[:] = 0

    async def heard(self, position: Position) -> None: ...
    async def finish(self) -> None: ...

    async def __aiter__(self) -> AsyncIterator[Any]:
        for event in self.events:
            yield event
        await asyncio.Event().wait()


def hold(system: Any) -> Talk:
    return run_virtual(drive(system, [Turn(np.full(RATE, 0.5, np.float32), at(0))], length=seconds(2)))


def test_a_system_that_works_in_place_does_not_change_the_record() -> None:
    assert hold(Says()).user[:RATE].min() == 0.5


def test_what_is_no_json_is_kept_as_text(tmp_path: Path) -> None:
    note = Note("odd", {"nan": float("nan"), "bytes": b"x", "half": "\ud800", "count": np.int64(3), "deep": [{1: {2}}]})
    write_received(tmp_path, hold(Says(note)))
    lines = [json.loads(line, parse_constant=pytest.fail) for line in (tmp_path / LOG).read_text().splitlines()]
    assert lines[1]["data"] == {"nan": "nan", "bytes": "b'x'", "half": "\ud800", "count": 3, "deep": [{"1": "{2}"}]}
    assert not read_log(tmp_path).received


def test_a_word_of_no_length_is_heard_where_it_is() -> None:
    said = Said("hi", "system", "u1", (("hi", ms(100), ms(100)),))
    placed = Placed(Chunk(np.ones(RATE, np.float32), "u1", source=0), RATE, RATE)
    (word,) = words_heard([placed], [said], RATE, length=seconds(9))
    assert word.span == Span(seconds(1.1), seconds(1.1) + 1)


def test_a_log_without_audio_has_a_source_clock_too() -> None:
    assert not placed_by("source", (), RATE, 10).any()


@pytest.mark.parametrize("told", [{"when": "at", "time": -1}, {"when": "into_reply", "delay": -0.5}])
def test_no_cue_lies_before_what_it_waits_for(told: Any) -> None:
    with pytest.raises(InputError, match="not below 0"):
        due_from_json(told, Path("cues.json"), "due")


@pytest.mark.parametrize("clock", ["step-honest", "step-algorithmic"])
def test_an_interrupt_does_not_wait_for_what_computes(clock: Any) -> None:
    async def talk() -> None:
        await took(lambda: time.sleep(20), 0)

    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_on(clock, talk())
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("size", [0, 1])
def test_events_without_end_are_a_flood(size: int) -> None:
    class Floods(Says):
        async def __aiter__(self) -> AsyncIterator[Any]:
            while True:
                yield Chunk(np.full(size, 0.5, np.float32))

    with pytest.raises(BrokenTalk, match="sent more than") as broken:
        hold(Floods())
    assert broken.value.talk is not None and broken.value.talk.ended_by == "flooded"


@pytest.mark.parametrize(
    "event",
    [
        Said("hi", source=10**400),
        Said("hi", words=(("hi", 0, 1 << 60),)),
        UserVad(True, source=-(10**400)),
        Chunk(np.ones(8, np.float32), source=10**400),
    ],
)
def test_a_time_that_is_none_ends_a_talk_that_can_be_kept(event: Any, tmp_path: Path) -> None:
    with pytest.raises(BrokenTalk, match="a time that is none") as broken:
        hold(Says(event))
    assert broken.value.talk is not None and broken.value.talk.ended_by == "failed"
    write_received(tmp_path, broken.value.talk)


def test_what_is_nested_without_end_is_kept_as_deep_as_anybody_reads(tmp_path: Path) -> None:
    deep: Any = 1
    for _ in range(5_000):
        deep = [deep]
    write_received(tmp_path, hold(Says(Note("deep", {"deep": deep}), settings={"deep": deep})))
    line = (tmp_path / LOG).read_text().splitlines()[1]
    assert line.count("[") == DEEPEST - 1 and "…" in line


def test_ten_minutes_in_one_piece_are_refused_before_they_are_worked_through() -> None:
    # Looked at, it would be found to hold no number.
    vast = np.full(600 * RATE + 1, np.nan, np.float32)
    with pytest.raises(BrokenTalk, match="in one piece, which is not kept") as broken:
        hold(Says(Chunk(vast)))
    assert broken.value.talk is not None and broken.value.talk.ended_by == "flooded"
    assert not broken.value.talk.received


def test_samples_beyond_all_measure_are_full_scale() -> None:
    (chunk,) = hold(Says(Chunk(np.array([1e38, -3e38, 1.0, -1.0, 0.5], np.float32)))).received
    assert isinstance(chunk, Chunk)
    top = 1 - 2**-23
    assert chunk.samples.tolist() == [top, -1.0, top, -1.0, 0.5]


def test_samples_that_are_no_array_are_a_sentence() -> None:
    with pytest.raises(BrokenTalk, match="sent a chunk that is no audio"):
        hold(Says(Chunk([[1.0], "a"])))  # type: ignore[arg-type]
