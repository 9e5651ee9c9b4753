"""An item without a system on one clock."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from fullduplex.driving.cues import after_reply, at, into_reply
from fullduplex.model.spans import Span, ms, seconds
from fullduplex.reporting.review.laid_out import LaidOut, laid_out
from fullduplex.runs.stimulus import Cued

FIRST = Cued(Path("u0.wav"), at(seconds(0.5)), "u0")
NINE = "one two three four five six seven eight nine"


def over(delay: float, script: list[tuple[str, str]], replies_at: dict[str, int] | None = None) -> LaidOut:
    cues = (FIRST, Cued(Path("u1.wav"), into_reply(seconds(delay)), "u1"))
    lines = [{"who": who, "text": text} for who, text in script]
    return laid_out(cues, (seconds(2), seconds(1)), lines, replies_at)


def test_what_is_said_over_an_answer_falls_where_the_script_breaks_it_off() -> None:
    laid = over(2.0, [("user", "a"), ("assistant", NINE), ("user", "b"), ("assistant", "one two three")])
    assert laid.turns == {"u0": Span(ms(500), ms(2500)), "u1": Span(ms(6000) - 3, ms(7000) - 3)}
    assert [line.span.start for line in laid.lines] == [ms(3000), ms(7500) - 3]
    assert laid.lines[0].span.end == laid.turns["u1"].start
    assert laid.duration == laid.lines[1].span.end + ms(500)


def test_a_short_line_does_not_bring_it_sooner_than_its_delay() -> None:
    laid = over(2.0, [("user", "a"), ("assistant", "one"), ("user", "b")])
    assert laid.turns["u1"].start == ms(5000)


def test_without_a_script_it_falls_after_the_delay_alone() -> None:
    assert over(2.0, []).turns["u1"].start == ms(5000)


def test_a_system_that_holds_the_floor_speaks_on_over_it() -> None:
    laid = over(1.0, [("user", "a"), ("assistant", NINE), ("user", "b"), ("assistant", NINE)], {"u1": 0})
    assert laid.lines[1].span.start == laid.lines[0].span.end == laid.turns["u1"].start


def test_a_system_that_breaks_in_speaks_before_the_turn_has_ended() -> None:
    laid = laid_out((FIRST,), (seconds(5),), [{"who": "user", "text": "a"}, {"who": "assistant", "text": "no"}],
                    {"u0": ms(1700)})  # fmt: skip
    assert laid.lines[0].span.start == ms(2200) < laid.turns["u0"].end


def test_a_cue_after_a_reply_waits_for_its_end_and_a_silence() -> None:
    cues = (FIRST, Cued(Path("u1.wav"), after_reply(seconds(1), seconds(9)), "u1"))
    script = [{"who": "user", "text": "a", "cue": "u0"}, {"who": "assistant", "text": "one two three"}]
    laid = laid_out(cues, (seconds(2), seconds(1)), script)
    assert laid.turns["u1"].start == laid.lines[0].span.end + seconds(1)


def test_the_words_of_a_line_fill_it_in_order() -> None:
    words = over(9.0, [("user", "a"), ("assistant", NINE)]).lines[0].words
    assert [word for word, _ in words] == NINE.split()
    assert all(one.end == next.start for (_, one), (_, next) in pairwise(words))


def test_an_assistant_that_speaks_first_stands_first() -> None:
    laid = laid_out((FIRST,), (seconds(2),), [{"who": "assistant", "text": "hello"}, {"who": "user", "text": "a"}])
    assert laid.lines[0].span.start == ms(500)
