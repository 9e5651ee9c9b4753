"""The page's own arithmetic, each edge beside it."""

from __future__ import annotations

import pytest

from fullduplex.measures.strips import (
    latency,
    latency_of,
    longest_pause,
    longest_pauses,
    overlap_printed,
    overlaps,
    prompt,
    spoke_in_pause,
)
from fullduplex.model.spans import Span, Timeline, ms, seconds
from fullduplex.model.speech import Word
from fullduplex.model.trials import Absent, Fact


def speech(*spans: tuple[float, float]) -> Timeline:
    return Timeline(Span(seconds(start), seconds(end)) for start, end in spans)


def test_an_overlap_of_a_tenth_of_a_second_is_none() -> None:
    assert list(overlaps(speech((0, 1)), speech((0.9, 2)))) == []


def test_an_overlap_of_one_microsecond_more_is_one() -> None:
    assert list(overlaps(speech((0, 1.000001)), speech((0.9, 2)))) == [Span(seconds(0.9), seconds(1.000001))]


def test_printed_overlap_is_rounded_as_floats_are() -> None:
    assert overlap_printed([(3.35, 3.8)]) == 0.4
    assert overlap_printed([(7.95, 8.4)]) == 0.5


def test_latency_is_to_the_first_word_at_the_users_end_or_later() -> None:
    assert latency_of(seconds(2), [seconds(2)]) == Fact(0.0, seconds(2), "first word 0.000 s after the user's last")
    found = latency_of(seconds(2), [seconds(2) - 1, seconds(3)])
    assert isinstance(found, Fact)
    assert found.value == 1.0


def test_latency_tells_of_speech_that_it_passed_over() -> None:
    found = latency_of(seconds(1.92), [seconds(1.14), seconds(1.94)])
    assert isinstance(found, Fact)
    assert found.value == 0.02
    assert "had spoken since 1.14 s" in found.why


def test_without_a_later_word_there_is_no_reply() -> None:
    found = latency_of(seconds(2), [seconds(1)])
    assert isinstance(found, Absent)
    assert found.reason == "no reply"


def test_latency_of_a_silent_user_is_absent() -> None:
    word = Word("hi", Span(0, 1))
    assert latency((), (word,)) == Absent("user was silent", "no word of the user's")


def test_the_users_end_is_the_latest_end_of_a_word() -> None:
    user = (Word("a", Span(0, seconds(2))), Word("b", Span(seconds(1), seconds(1.5))))
    found = latency(user, (Word("c", Span(seconds(1.8), seconds(2))), Word("d", Span(seconds(2.5), seconds(3)))))
    assert isinstance(found, Fact)
    assert found.value == 0.5


@pytest.mark.parametrize(("late", "right"), [(ms(-51), False), (ms(-50), True), (ms(2500), True), (ms(2501), False)])
def test_a_reply_is_prompt_from_50_ms_early_to_2500_ms_late(late: int, right: bool) -> None:
    assert prompt(Fact(late / 1e6)) is right


def test_no_reply_is_not_prompt() -> None:
    assert not prompt(Absent("no reply"))


def test_the_longest_silence_is_the_pause() -> None:
    spans = [Span(0, ms(500)), Span(ms(600), ms(900)), Span(ms(2400), ms(3000)), Span(ms(3200), ms(3300))]
    assert longest_pause(spans) == Span(ms(900), ms(2400))
    assert longest_pause(spans[:1]) is None
    assert longest_pause([Span(0, ms(500)), Span(ms(400), ms(900))]) is None


def test_of_equal_silences_the_earlier_is_the_longer() -> None:
    spans = [Span(0, ms(1)), Span(ms(2), ms(3)), Span(ms(4), ms(5)), Span(ms(7), ms(8))]
    assert longest_pauses(spans, 2) == [Span(ms(1), ms(2)), Span(ms(5), ms(7))]
    assert longest_pauses(spans, 9) == [Span(ms(1), ms(2)), Span(ms(3), ms(4)), Span(ms(5), ms(7))]


@pytest.mark.parametrize(
    ("sound", "counts"),
    [
        (Span(ms(800), ms(900)), 0),
        (Span(ms(800), ms(901)), 1),
        (Span(ms(1999), ms(2500)), 1),
        (Span(ms(2000), ms(2500)), 0),
    ],
)
def test_a_pause_counts_from_100_ms_before_it_to_its_end(sound: Span, counts: int) -> None:
    assert spoke_in_pause(Span(ms(1000), ms(2000)), [sound]).value == counts
