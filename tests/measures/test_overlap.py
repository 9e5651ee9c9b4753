"""What a system does when something is said over it, drawn."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fullduplex.measures import overlap
from fullduplex.measures.overlap import Behaviour, Limits
from fullduplex.model.sketch import sketch
from fullduplex.model.spans import Span, ms, seconds
from fullduplex.model.trials import Absent, Fact, Trial, Verdict

LIMITS = Limits()
#: A recording that goes on long enough for an answer to be heard.
REST = "." * 40


def drawn(system: str, event: str, twin: str = "") -> Trial:
    trial = sketch(f"system {system}{REST}\noverlap {event}")
    return replace(trial, twin=sketch(f"system {twin}{REST}")) if twin else trial


def value(found: Fact | Absent) -> float | str:
    return found.value if isinstance(found, Fact) else found.reason


def test_a_system_that_falls_silent_has_a_stop_latency_from_the_onset() -> None:
    trial = drawn("..##########", "......^^^^^^^^....")
    assert value(overlap.stop_latency(trial, LIMITS)) == pytest.approx(0.6)
    assert value(overlap.talks_through(trial, LIMITS)) == 0
    assert value(overlap.stops(trial, LIMITS)) == 1


def test_talking_through_is_a_state_and_no_latency() -> None:
    trial = drawn("..##############################", "......^^^^^^^^....")
    assert value(overlap.stop_latency(trial, LIMITS)) == "talked through"
    assert value(overlap.talks_through(trial, LIMITS)) == 1
    assert value(overlap.response_latency(trial, LIMITS)) == "talked through"


def test_a_stop_two_seconds_after_the_onset_is_the_last_that_counts() -> None:
    event = "....^^^^"
    stopped, through = drawn("#" * 24, event), drawn("#" * 25, event)
    assert value(overlap.stop_latency(stopped, LIMITS)) == pytest.approx(2.0)
    assert value(overlap.stop_latency(through, LIMITS)) == "talked through"


def test_a_recording_that_ends_before_the_event_tells_nothing() -> None:
    trial = sketch("system ..####....\noverlap ...............^^^^")
    for measure in (overlap.stop_latency, overlap.response_latency, overlap.talks_through, overlap.exercised):
        assert value(measure(trial, LIMITS)) == "censored"
    short_twin = replace(drawn("..##########", "......^^^^^^^^"), twin=sketch("system ..##"))
    assert value(overlap.stops(short_twin, LIMITS, in_twin=True)) == "censored"
    assert value(overlap.stops(short_twin, LIMITS)) == 1


def test_a_long_event_may_be_heard_to_its_end() -> None:
    trial = drawn("#" * 34, "....^" + "^" * 29)
    assert value(overlap.stop_latency(trial, LIMITS)) == pytest.approx(3.0)


def test_a_breath_of_half_a_second_is_no_stop_and_a_longer_one_is() -> None:
    event = "......^^^^"
    assert value(overlap.talks_through(drawn("########.....####################", event), LIMITS)) == 1
    trial = drawn("########......####################", event)
    assert value(overlap.talks_through(trial, LIMITS)) == 0
    assert value(overlap.stop_latency(trial, LIMITS)) == pytest.approx(0.2)


def test_a_system_that_was_silent_was_not_exercised() -> None:
    trial = drawn("####................", ".........^^^^")
    for measure in (overlap.stop_latency, overlap.talks_through):
        assert value(measure(trial, LIMITS)) == "not exercised"
    assert value(overlap.exercised(trial, LIMITS)) == 0


def test_speech_that_the_recording_cuts_off_is_censored() -> None:
    trial = sketch("system ..##########\noverlap ........^^^.")
    assert value(overlap.stop_latency(trial, LIMITS)) == "censored"


def test_an_answer_counts_from_the_events_end_and_may_begin_early() -> None:
    assert value(overlap.response_latency(drawn("########......############", "......^^^^"), LIMITS)) == pytest.approx(
        0.4
    )
    early = drawn("######......############", "....^^^^^^^^^^")
    assert value(overlap.response_latency(early, LIMITS)) == pytest.approx(-0.2)


def test_what_began_over_a_second_early_is_no_answer() -> None:
    trial = drawn("###......############", "..^^^^^^^^^^^^^^^^^^^^")
    assert value(overlap.response_latency(trial, LIMITS)) == "no response"


def test_a_backchannel_is_no_answer() -> None:
    trial = drawn("######........mmm", "....^^^^")
    assert value(overlap.response_latency(trial, LIMITS)) == "no response"


def test_without_two_seconds_to_hear_it_no_answer_is_censored() -> None:
    heard = sketch("system ####....." + "." * 19 + "\noverlap ..^^")
    cut = sketch("system ####....." + "." * 14 + "\noverlap ..^^")
    assert value(overlap.response_latency(heard, LIMITS)) == "no response"
    assert value(overlap.response_latency(cut, LIMITS)) == "censored"


def test_the_twin_tells_how_often_it_would_have_stopped_anyway() -> None:
    event = "......^^^^"
    finished_anyway = drawn("##########", event, twin="##########")
    stopped_for_it = drawn("##########", event, twin="#" * 40)
    assert value(overlap.stops(finished_anyway, LIMITS, in_twin=True)) == 1
    assert value(overlap.stops(stopped_for_it, LIMITS, in_twin=True)) == 0
    assert value(overlap.stops(drawn("####", event), LIMITS, in_twin=True)) == "no clean twin"


@pytest.mark.parametrize(
    ("system", "event", "calls_for", "found"),
    [
        ("#" * 40, "......^^^^", "resume", "resume"),
        ("#" * 40, "......^^^^", "respond", "resume"),
        ("########", "......^^^^", "respond", "unknown"),
        ("####", "......^^^^", "respond", "unknown"),
        ("####", "......^^^^", "resume", "not exercised"),
        ("", "......^^^^", "resume", "not exercised"),
        ("########.......############", "......^^^^", "respond", "not judged"),
    ],
)
def test_speech_alone_decides_where_it_can(system: str, event: str, calls_for: Behaviour, found: str) -> None:
    told = overlap.behaviour(drawn(system, event), LIMITS, calls_for=calls_for)
    assert (told.reason if isinstance(told, Absent) else told[0]) == found


def test_what_speech_does_not_decide_is_as_judged_under_either_spelling() -> None:
    trial = drawn("########.......############", "......^^^^")
    for label, found in (("C_RESPOND", "respond"), ("uncertain", "uncertain"), ("C_UNCERTAIN_HANDLING", "uncertain")):
        judged = replace(trial, verdicts={"behaviour": Verdict(label)})
        told = overlap.behaviour(judged, LIMITS, calls_for="respond")
        assert not isinstance(told, Absent) and told[0] == found
    lost = replace(trial, verdicts={"behaviour": Absent("refused", "a policy")})
    assert overlap.behaviour(lost, LIMITS, calls_for="respond") == Absent("refused", "a policy")
    strange = replace(trial, verdicts={"behaviour": Verdict("C_IGNORE")})
    told = overlap.behaviour(strange, LIMITS, calls_for="respond")
    assert isinstance(told, Absent) and told.reason == "unparsable"


def test_a_persons_word_wins_over_the_rule() -> None:
    trial = drawn("#" * 40, "......^^^^")
    amended = replace(trial, verdicts={"behaviour": Verdict("respond", by="amended by Ann")})
    told = overlap.behaviour(amended, LIMITS, calls_for="resume")
    assert not isinstance(told, Absent) and told[0] == "respond"
    judged = replace(trial, verdicts={"behaviour": Verdict("respond", by="a judge")})
    told = overlap.behaviour(judged, LIMITS, calls_for="resume")
    assert not isinstance(told, Absent) and told[0] == "resume"


@pytest.mark.parametrize(
    ("system", "by", "rests_on"),
    [("########.......############", "a judge", "behaviour"), ("########.......############", "amended by Ann", ""),
     ("#" * 40, "a judge", "")],
)  # fmt: skip
def test_a_label_rests_on_the_judge_only_where_neither_rule_nor_person_gives_it(
    system: str, by: str, rests_on: str
) -> None:
    judged = replace(drawn(system, "......^^^^"), verdicts={"behaviour": Verdict("respond", by=by)})
    found = overlap.behaves(judged, "respond", LIMITS, "respond")
    assert isinstance(found, Fact) and found.verdict == rests_on


def test_latencies_do_not_move_with_the_clock() -> None:
    trial = drawn("########......############", "......^^^^")
    by = seconds(3)
    event = trial.events[0]
    moved = replace(
        trial,
        events=(replace(event, span=event.span.shift(by)),),
        system=replace(
            trial.system,
            speech=None if trial.system.speech is None else trial.system.speech.shift(by),
            duration=(trial.system.duration or 0) + by,
        ),
    )
    for measure in (overlap.stop_latency, overlap.response_latency):
        assert value(measure(moved, LIMITS)) == value(measure(trial, LIMITS))


def test_nothing_is_known_without_an_event_or_a_recording() -> None:
    trial = drawn("####", "..^^")
    assert value(overlap.stop_latency(replace(trial, events=()), LIMITS)) == "no annotation"
    assert value(overlap.stop_latency(replace(trial, failed="broken"), LIMITS)) == "failed"
    silent = replace(trial, system=replace(trial.system, words=None, speech=None))
    assert value(overlap.stop_latency(silent, LIMITS)) == "no output"


def test_an_interruption_of_v1_is_an_event_too() -> None:
    trial = sketch(f"system ..########{REST}\ninterruption .....^^^^")
    assert overlap.event_of(trial) == trial.events[0]
    assert value(overlap.stop_latency(trial, LIMITS)) == pytest.approx(0.5)
    assert Span(0, ms(1)).duration == 1000
