"""What a file of a few lines needs to be a system."""

from __future__ import annotations

import numpy as np
import pytest

from fullduplex.driving.clock import run_on
from fullduplex.driving.cues import at
from fullduplex.driving.drive import Turn, drive
from fullduplex.driving.playout import Samples
from fullduplex.errors import ConversationError
from fullduplex.model.spans import ms, seconds
from fullduplex.systems.function import Function
from fullduplex.systems.recipes import TwoChannels, Units, laid_at

RATE = 16_000


def ones(length: int, value: float = 1.0) -> Samples:
    return np.full(length, value, np.float32)


def test_parts_begin_at_their_times() -> None:
    made = laid_at([(0.5, ones(4, 2.0)), (0.1, ones(2))], 20)
    assert made.tolist() == [0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2]


def test_a_part_takes_the_place_of_the_one_before_from_its_beginning_on() -> None:
    assert laid_at([(0, ones(10)), (0.2, ones(2, 2.0))], 20).tolist() == [1, 1, 1, 1, 2, 2]


def test_no_parts_are_no_sound_and_none_begins_before_0() -> None:
    assert len(laid_at([], 20)) == 0
    with pytest.raises(ValueError, match="0 or later"):
        laid_at([(-1, ones(1))], 20)


# A stand-in whose units are the loudness of 20 ms, and that says again what it heard a chunk before.


def encode(frame: Samples) -> Units:
    return [round(float(np.abs(block).max()) * 100) for block in frame.reshape(-1, RATE // 50)]


def again(user: Units, system: Units, count: int) -> tuple[Units, Units]:
    assert len(user) == len(system)
    return [99] * count, list(user)[-count:]


def decode(units: Units) -> Samples:
    return np.repeat(np.asarray(units, np.float32) / 100, RATE // 50)


class Again(TwoChannels):
    def __init__(self) -> None:
        super().__init__(encode, again, decode, silence=0)


def test_a_model_of_two_channels_hears_what_was_said_and_not_what_it_guessed() -> None:
    steps = [np.concatenate([ones(RATE // 5, level)]) for level in (0.5, 0.25, 0.0)]
    model = Again()
    assert [float(np.abs(model.step(frame)).max()) for frame in steps] == [0.5, 0.25, 0.0]


def test_what_is_said_is_as_long_as_what_was_heard_however_much_is_decoded_with_it() -> None:
    for overlap in (0, 3, 25):
        model = TwoChannels(encode, again, decode, silence=0, overlap=overlap)
        assert [len(model.step(ones(RATE // 5, 0.1))) for _ in range(4)] == [RATE // 5] * 4


def test_the_model_is_given_no_more_than_it_remembers() -> None:
    lengths: list[int] = []

    def go_on(user: Units, system: Units, count: int) -> tuple[Units, Units]:
        lengths.append(len(user))
        return again(user, system, count)

    model = TwoChannels(encode, go_on, decode, silence=0, context=25)
    for _ in range(4):
        model.step(ones(RATE // 5, 0.1))
    assert lengths == [10, 20, 25, 25]


def test_a_model_that_gives_other_than_it_was_asked_for_ends_the_talk_in_a_sentence() -> None:
    model = TwoChannels(encode, lambda user, system, count: ([], []), decode, silence=0)
    with pytest.raises(ConversationError, match="0 units, not for 10"):
        model.step(ones(RATE // 5, 0.1))
    with pytest.raises(ConversationError, match="no units of a chunk"):
        TwoChannels(lambda frame: [], again, decode, silence=0).step(ones(10))


def test_it_is_driven_a_chunk_at_a_time_and_answers_a_chunk_later() -> None:
    system = Function(call=f"{__file__}:Again", frame=0.2, rate_in=RATE, rate_out=RATE)
    turns = [Turn(ones(RATE // 5, 0.5), at(ms(400)))]
    talk = run_on("step-algorithmic", drive(system, turns, length=seconds(2)))
    loud = np.flatnonzero(np.abs(talk.system) > 0.1) / RATE
    assert (round(float(loud[0]), 3), round(float(loud[-1]), 3)) == (0.6, 0.8)
