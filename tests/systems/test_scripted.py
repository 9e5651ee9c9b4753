import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.clock import run_virtual
from fullduplex.driving.cues import at
from fullduplex.driving.drive import Talk, Turn, drive
from fullduplex.driving.heard import words_heard
from fullduplex.driving.playout import Chunk, Flush
from fullduplex.errors import FullDuplexError, InputError
from fullduplex.model.spans import SECOND, ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.systems.build import build
from fullduplex.systems.scripted import Answer, Say, Script, Scripted, Sound

RATE = 16_000


def tone(length: int) -> Any:
    return np.full(length * RATE // SECOND, 0.5, np.float32)


def sound(length: int, *words: str) -> Sound:
    step = length // max(1, len(words))
    return Sound(tone(length), " ".join(words), tuple((w, i * step, (i + 1) * step) for i, w in enumerate(words)))


def hold(script: Script, *spoken: tuple[int, int], length: int = seconds(10), **options: Any) -> Talk:
    """The user speaks from the first to the second time of each pair."""
    turns = [Turn(tone(b - a), at(a)) for a, b in spoken]
    return run_virtual(drive(Scripted(script, **options), turns, length=length))


def heard(talk: Talk) -> list[tuple[float, float]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], talk.system != 0, [0]]).astype(int)))
    return [(round(a / RATE, 3), round(b / RATE, 3)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def test_named_sounds_come_at_named_times() -> None:
    script = Script((Say(sound(ms(300)), seconds(2)), Say(sound(ms(200)), ms(500))), rate=RATE)
    assert heard(hold(script)) == [(0.5, 0.7), (2.0, 2.3)]


def test_a_system_that_knows_better_waits_through_a_pause() -> None:
    script = Script((Answer(sound(seconds(1)), ms(400), not_before=seconds(3)),), rate=RATE)
    assert heard(hold(script, (0, seconds(1)), (seconds(2.5), seconds(4)))) == [(4.4, 5.4)]


def test_a_system_that_does_not_know_takes_the_pause() -> None:
    script = Script((Answer(sound(seconds(1)), ms(400)),), rate=RATE)
    assert heard(hold(script, (0, seconds(1)), (seconds(2.5), seconds(4)))) == [(1.4, 2.4)]


def test_a_pause_as_short_as_the_delay_is_waited_through() -> None:
    script = Script((Answer(sound(seconds(1)), ms(400)),), rate=RATE)
    assert heard(hold(script, (0, seconds(1)), (seconds(1.3), seconds(2)))) == [(2.4, 3.4)]


def test_an_answer_is_given_once_unless_it_is_to_be_given_again() -> None:
    spoken = ((0, seconds(1)), (seconds(3), seconds(4)))
    once = Script((Answer(sound(ms(500)), ms(400)),), rate=RATE)
    again = Script((Answer(sound(ms(500)), ms(400), again=True),), rate=RATE)
    assert len(heard(hold(once, *spoken))) == 1
    assert heard(hold(again, *spoken)) == [(1.4, 1.9), (4.4, 4.9)]


def test_answers_come_in_the_order_of_the_script() -> None:
    lines = (Answer(sound(ms(500), "first"), ms(400)), Answer(sound(ms(500), "second"), ms(600)))
    talk = hold(Script(lines, rate=RATE), (0, seconds(1)), (seconds(3), seconds(4)))
    assert heard(talk) == [(1.4, 1.9), (4.6, 5.1)]


@pytest.mark.parametrize("burst", [False, True])
def test_an_interrupted_answer_stops_and_the_reply_follows(burst: bool) -> None:
    lines = (Answer(sound(seconds(8)), ms(400)), Answer(sound(seconds(1)), ms(600)))
    talk = hold(Script(lines, ms(300), rate=RATE), (0, seconds(1)), (seconds(4), seconds(6)), burst=burst)
    assert heard(talk) == [(1.4, 4.3), (6.6, 7.6)]


def test_gaps_between_words_do_not_interrupt() -> None:
    script = Script((Say(sound(seconds(3)), seconds(1)),), ms(300), rate=RATE)
    talk = hold(script, (0, seconds(0.95)), (seconds(1.1), seconds(1.6)))
    assert heard(talk) == [(1.0, 4.0)]


def test_real_time_chunks_come_one_by_one_and_are_never_taken_back() -> None:
    script = Script((Say(sound(seconds(1)), seconds(1)),), ms(100), rate=RATE)
    talk = hold(script, (seconds(1.5), seconds(2)), chunk=ms(80))
    arrivals = [event.arrived for event in talk.received]
    assert np.diff(arrivals).tolist() == [ms(80)] * (len(arrivals) - 1)
    assert not any(isinstance(event, Flush) for event in talk.received)


def test_a_burst_is_cut_by_a_flush() -> None:
    script = Script((Say(sound(seconds(3)), seconds(1)),), ms(100), rate=RATE)
    talk = hold(script, (seconds(2), seconds(3)), burst=True)
    assert [event.arrived for event in talk.received if isinstance(event, Flush)] == [seconds(2.1)]
    assert sum(len(e.samples) for e in talk.received if isinstance(e, Chunk)) == 3 * RATE


def test_words_are_heard_where_their_audio_sounds() -> None:
    talk = hold(Script((Say(sound(seconds(2), "one", "two", "three", "four"), seconds(1)),), rate=RATE), burst=True)
    words = words_heard(talk.placed, talk.notes, talk.rate, length=seconds(10))
    assert [(w.text, w.span.start, w.span.end) for w in words] == [
        ("one", seconds(1), seconds(1.5)),
        ("two", seconds(1.5), seconds(2)),
        ("three", seconds(2), seconds(2.5)),
        ("four", seconds(2.5), seconds(3)),
    ]


@pytest.mark.parametrize("burst", [False, True])
@pytest.mark.parametrize(("stop", "kept"), [(ms(749), 1), (ms(751), 2)])
def test_a_word_is_heard_when_half_of_it_sounded(stop: int, kept: int, burst: bool) -> None:
    script = Script((Say(sound(seconds(2), "one", "two", "three", "four"), seconds(1)),), stop - ms(500), rate=RATE)
    talk = hold(script, (seconds(1.5), seconds(3)), burst=burst)
    words = words_heard(talk.placed, talk.notes, talk.rate, length=seconds(10))
    assert [w.text for w in words] == ["one", "two"][:kept]
    assert abs(words[-1].span.end - (seconds(1.5) if kept == 1 else seconds(1) + stop)) <= SECOND // RATE + 1


def test_words_after_the_end_of_the_talk_were_not_heard() -> None:
    script = Script((Say(sound(seconds(2), "one", "two", "three", "four"), seconds(1)),), rate=RATE)
    talk = hold(script, length=seconds(2), burst=True)
    words = words_heard(talk.placed, talk.notes, talk.rate, length=seconds(2))
    assert [w.text for w in words] == ["one", "two"]


def test_the_spec_tells_one_script_from_another() -> None:
    def spec(delay: int, level: float = 0.5) -> Any:
        return Scripted(Script((Answer(Sound(np.full(10, level, np.float32)), delay),), rate=RATE)).spec

    assert spec(ms(400)) == spec(ms(400))
    assert spec(ms(400)) != spec(ms(401))
    assert spec(ms(400)) != spec(ms(400), level=0.4)


def test_chunks_of_no_length_are_refused() -> None:
    with pytest.raises(InputError, match="chunk"):
        Scripted(chunk=0)


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("delay=nan", "delay: found 'nan', expected a number"),
        ("delay=Infinity", "delay: found inf, expected a number"),
        ("delay=-1", "delay: found -1, expected seconds, not below 0"),
        ("yields=soon", "yields: found 'soon', expected a number"),
        ("burst=maybe", "burst: found 'maybe', expected true or false"),
    ],
)
def test_an_option_of_another_kind_is_refused_in_a_sentence(option: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(FullDuplexError, match=re.escape(sentence)):
        build(Spec.parse(f"scripted:{option}"), tmp_path)
