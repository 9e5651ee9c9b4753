"""Verdicts tied to the event, drawn: each step is 100 ms."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fullduplex.measures.answers import (
    Limits,
    signed_latency,
    takes_floor_anywhere,
    takes_pause,
    takes_turn,
    was_speaking,
)
from fullduplex.model.sketch import sketch
from fullduplex.model.trials import Absent, Fact, Trial

LIMITS = Limits()


def value(found: Fact | Absent) -> float | str:
    return found.value if isinstance(found, Fact) else found.reason


def state(found: Fact | Absent) -> str:
    return found.why.partition(":")[0] if isinstance(found, Fact) else found.reason


def test_speaking_in_the_pause_takes_it() -> None:
    trial = sketch("""
        user    #####...........#####...................
        system  .......aaaabbbbccccdddd.................
        pause   .....^^^^^^^^^^^........................
    """)
    assert (value(takes_pause(trial, LIMITS)), state(takes_pause(trial, LIMITS))) == (1, "took the pause")


def test_speaking_after_the_pause_does_not_take_it() -> None:
    trial = sketch("""
        user    #####.....#####.........................
        system  ....................aaaabbbbccccddddeeee
        pause   .....^^^^^..............................
    """)
    assert (value(takes_pause(trial, LIMITS)), state(takes_pause(trial, LIMITS))) == (0, "spoke elsewhere")


def test_speech_that_begins_as_the_pause_ends_is_not_in_it() -> None:
    trial = sketch("""
        system  ..........aaaabbbbccccdddd..............
        pause   .....^^^^^..............................
    """)
    assert value(takes_pause(trial, LIMITS)) == 0


def test_a_backchannel_in_the_pause_leaves_the_floor() -> None:
    trial = sketch("""
        system  ......mmm...............................
        pause   .....^^^^^^^^^^.........................
    """)
    assert (value(takes_pause(trial, LIMITS)), state(takes_pause(trial, LIMITS))) == (0, "backchannel only")


@pytest.mark.parametrize(("row", "taken"), [("......mmmmmmmmm.....", 0), ("......mmmmmmmmmm....", 1)])
def test_one_word_of_a_second_is_no_backchannel(row: str, taken: int) -> None:
    trial = sketch(f"""
        system  {row}
        pause   .....^^^^^^^^^^.....
    """)
    assert value(takes_pause(trial, LIMITS)) == taken


def test_speech_through_the_whole_pause_talks_through_it() -> None:
    trial = sketch("""
        system  ..aaaabbbbccccdddd..
        pause   .....^^^^^..........
    """)
    assert state(takes_pause(trial, LIMITS)) == "talked through"


def test_speech_that_stops_in_the_pause_has_stopped() -> None:
    trial = sketch("""
        system  aaabbbcccddd........
        pause   .....^^^^^^^^^^.....
    """)
    assert value(takes_pause(trial, LIMITS)) == 0


def test_a_pause_that_the_recording_does_not_reach_is_censored() -> None:
    trial = sketch("""
        system  ....................
        pause   ..................^^^^^^
    """)
    assert value(takes_pause(trial, LIMITS)) == "censored"


TURN = "turn_end ..........^^^.............................."


def turn(row: str) -> Trial:
    return sketch(f"system {row}\n{TURN}")


def test_latency_runs_from_the_turns_end() -> None:
    trial = turn("..............aaaabbbbccccdddd.............")
    assert value(takes_turn(trial, LIMITS)) == 1
    assert value(signed_latency(trial, LIMITS)) == pytest.approx(0.4)


def test_an_early_answer_has_a_negative_latency() -> None:
    trial = turn(".......aaaabbbbccccdddd....................")
    assert value(signed_latency(trial, LIMITS)) == pytest.approx(-0.3)
    assert state(signed_latency(trial, LIMITS)) == "spoke before the end"


@pytest.mark.parametrize(
    ("row", "taken"), [("aaaabbbbccccdddd" + "." * 27, 1), ("." + "aaaabbbbccccdddd" + "." * 26, 1)]
)
def test_an_answer_may_begin_a_second_early_and_no_earlier(row: str, taken: int) -> None:
    early = replace(LIMITS, early=1_000_000 if taken else 999_999)
    assert value(takes_turn(turn(row), early)) == taken
    assert value(takes_turn(turn("aaaabbbbccccdddd" + "." * 27), replace(LIMITS, early=999_999))) == 0


def test_a_monologue_over_the_turns_end_is_no_answer() -> None:
    trial = sketch("""
        system    aaabbbcccdddeeefffggghhh................
        turn_end  ...............^^^......................
    """)
    assert (value(takes_turn(trial, LIMITS)), state(takes_turn(trial, LIMITS))) == (0, "talked through")
    assert value(signed_latency(trial, LIMITS)) == "no takeover"


def test_a_monologue_that_ends_before_the_user_is_no_answer() -> None:
    trial = turn("aaabbbccc..................................")
    assert (value(takes_turn(trial, LIMITS)), state(takes_turn(trial, LIMITS))) == (0, "backchannel only")
    trial = turn("aabbccddd..................................")
    assert state(takes_turn(trial, LIMITS)) == "spoke before the end"


def test_silence_is_no_takeover_where_an_answer_could_have_been_heard() -> None:
    assert (value(takes_turn(turn("." * 43), LIMITS)), state(takes_turn(turn("." * 43), LIMITS))) == (0, "silent")


@pytest.mark.parametrize(("length", "found"), [(30, 0), (29, "censored")])
def test_silence_is_censored_where_the_recording_ends_within_two_seconds(length: int, found: float | str) -> None:
    assert value(takes_turn(turn("." * length), LIMITS)) == found


def test_an_answer_to_an_interruption_cannot_begin_before_it() -> None:
    trial = sketch("""
        system        ..aaabbbcccdddeeefff................
        interruption  ........^^^^........................
    """)
    assert state(takes_turn(trial, LIMITS)) == "talked through"
    assert value(was_speaking(trial)) == 1


def test_stopping_and_answering_is_an_answer() -> None:
    trial = sketch("""
        system        ..aaabbbcccd..........eeefffggghhh..
        interruption  ........^^^^........................
    """)
    assert value(signed_latency(trial, LIMITS)) == pytest.approx(1.0)


def test_an_interruption_of_silence_is_not_exercised() -> None:
    trial = sketch("""
        system        ......................eeefffggghhh..
        interruption  ........^^^^........................
    """)
    assert value(was_speaking(trial)) == 0


def test_without_an_annotation_nothing_is_claimed() -> None:
    trial = sketch("system ..aaabbbcccddd..")
    assert value(takes_pause(trial, LIMITS)) == "no annotation"
    assert value(takes_turn(trial, LIMITS)) == "no annotation"
    assert value(was_speaking(trial)) == "no annotation"


def test_a_failed_item_has_no_verdict() -> None:
    trial = replace(turn("." * 43), failed="output.wav: truncated")
    for measure in (takes_pause, takes_turn, signed_latency, takes_floor_anywhere):
        assert value(measure(trial, LIMITS)) == "failed"


def test_a_pause_between_sentences_does_not_end_an_utterance() -> None:
    trial = sketch("""
        system        aaabbbccc.....dddeeefff.............
        interruption  .......^^^^.........................
    """)
    assert state(takes_turn(trial, LIMITS)) == "talked through"
    trial = sketch("""
        system        aaabbbccc......dddeeefffggg.........
        interruption  .......^^^^.........................
    """)
    assert state(takes_turn(trial, LIMITS)) == "answered"
