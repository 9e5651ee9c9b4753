"""Conversations made by hand with every kind of silence and overlap, and laws that hold for any."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullduplex.measures.conversation import (
    Row,
    Sides,
    abutting,
    conversation_statistics,
    floor_of,
    from_earlier_row,
    from_previous_row,
    inter_pausal_units,
    overlap_share,
    overlap_with_rows_before,
    per_minute,
    quantile,
    seconds_per_minute,
    silences,
    turns_by_onset,
    without_units,
)
from fullduplex.measures.conversation.published import offsets_of
from fullduplex.model.spans import Span, Timeline, ms, seconds
from fullduplex.model.trials import Absent, Ratio

STEP = ms(100)
NOBODY = Timeline()


def drawn(strip: str) -> list[Span]:
    return [Span(n * STEP, (n + 1) * STEP) for n, mark in enumerate(strip) if mark == "#"]


def talk(first: str, second: str, longer_than: int = ms(200)) -> Sides:
    window = Span(0, max(len(first), len(second)) * STEP)
    return inter_pausal_units(drawn(first), drawn(second), window, longer_than=longer_than)


def at(start: int, end: int) -> Span:
    return Span(start * STEP, end * STEP)


def test_a_silence_of_exactly_200_ms_is_inside_a_unit_and_one_longer_ends_it() -> None:
    found = inter_pausal_units(
        [Span(0, ms(100)), Span(ms(300), ms(400)), Span(ms(600) + 1, ms(700))], [], Span(0, seconds(1))
    )
    assert list(found.first) == [Span(0, ms(400)), Span(ms(600) + 1, ms(700))]


def test_units_outside_the_window_are_left_out_and_cut_at_its_edge() -> None:
    found = inter_pausal_units([at(0, 2), at(8, 12)], [at(20, 22)], at(1, 10))
    assert (list(found.first), list(found.second)) == ([at(1, 2), at(8, 10)], [])


def test_a_silence_is_a_pause_where_the_same_side_goes_on_and_a_gap_where_the_other_begins() -> None:
    found = silences(talk(
        "..###...##....",
        "..........####",
    ))  # fmt: skip
    assert found.pauses == (at(5, 8),)
    assert found.gaps == ()
    found = silences(talk(
        "..###.........",
        "........####..",
    ))  # fmt: skip
    assert (found.pauses, found.gaps, found.edges) == ((), (at(5, 8),), (at(0, 2), at(12, 14)))


def test_a_silence_of_one_side_while_the_other_speaks_is_no_pause() -> None:
    found = silences(talk(
        "###.....###",
        "..#######..",
    ))  # fmt: skip
    assert (found.pauses, found.gaps) == ((), ())


def test_where_both_end_together_whoever_goes_on_makes_it_a_pause() -> None:
    assert silences(talk("####....##", "..##......")).pauses == (at(4, 8),)


def test_the_window_of_nobody_is_one_edge() -> None:
    assert silences(talk("....", "....")).edges == (at(0, 4),)


@pytest.mark.parametrize(
    ("first", "second", "offset"),
    [
        ("####......", "......####", 2),
        ("#####.....", "...#######", -2),
        ("####......", "....######", 0),
    ],
    ids=["gap", "overlap", "neither"],
)
def test_the_offset_of_a_transfer_is_onset_minus_end_below_0_in_overlap(first: str, second: str, offset: int) -> None:
    floor = floor_of(talk(first, second))
    assert [transfer.offset for transfer in floor.transfers] == [offset * STEP]
    assert floor.transfers[0].to == 1


def test_what_lies_wholly_inside_the_other_s_unit_takes_no_floor() -> None:
    floor = floor_of(talk(
        "#########.",
        "...##.....",
    ))  # fmt: skip
    assert floor.transfers == ()
    assert floor.turns == ((0, at(0, 9)),)
    assert (floor.within, floor.between) == ((at(3, 5),), ())


def test_a_unit_between_two_of_the_other_s_takes_the_floor_and_loses_it() -> None:
    floor = floor_of(talk(
        "####........###",
        "......##.......",
    ))  # fmt: skip
    assert [(transfer.to, transfer.offset) for transfer in floor.transfers] == [(1, 2 * STEP), (0, 4 * STEP)]


def test_a_backchannel_that_is_left_out_takes_none() -> None:
    sides = talk(
        "####........###",
        "......##.......",
    )  # fmt: skip
    held = without_units(sides, (NOBODY, Timeline([at(5, 9)])))
    assert floor_of(held).transfers == ()
    stats = conversation_statistics(sides, backchannels=(NOBODY, Timeline([at(5, 9)])))
    assert (stats.left_out, stats.values["transfer"], len(stats.values["gap"])) == (1, (), 2)


def test_a_unit_that_goes_on_beyond_a_backchannel_is_kept() -> None:
    sides = talk("..####....", "..........")
    assert list(without_units(sides, (Timeline([at(2, 5)]), NOBODY)).first) == [at(2, 6)]


def test_where_overlap_and_silence_meet_the_offset_is_read_from_the_units_in_which_each_was_alone() -> None:
    floor = floor_of(talk(
        "####...##.....",
        ".......#######",
    ))  # fmt: skip
    assert [transfer.offset for transfer in floor.transfers] == [3 * STEP]
    assert floor.between == (at(7, 9),)


def test_an_overlap_before_anybody_spoke_alone_is_neither_between_nor_within() -> None:
    floor = floor_of(talk("####..", "####.."))
    assert (floor.turns, floor.transfers, floor.edges) == ((), (), (at(0, 4),))


def test_a_side_alone_for_too_short_a_time_takes_no_floor() -> None:
    sides = talk(
        "########.....######",
        "......######.......",
    )  # fmt: skip
    assert len(floor_of(sides, alone_at_least=4 * STEP).transfers) == 2
    assert floor_of(sides, alone_at_least=4 * STEP + 1).transfers == ()


def test_turns_by_onset_take_the_floor_from_inside_and_give_offsets_in_pairs() -> None:
    turns = turns_by_onset(talk(
        "#########......",
        "...##......####",
    ))  # fmt: skip
    assert turns == ((0, at(0, 9)), (1, at(3, 15)))
    assert offsets_of(turns) == (-6 * STEP,)


def test_the_row_before_of_the_other_side_gives_an_offset_and_the_own_one_none() -> None:
    rows = [Row(0, 0, 10), Row(1, 8, 20), Row(1, 25, 30)]
    assert from_previous_row(rows) == (None, -2, None)


def test_rows_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="in order"):
        from_previous_row([Row(0, 5, 10), Row(1, 4, 8)])


@pytest.mark.parametrize(("lag", "offset"), [(ms(200), ms(-800)), (ms(200) - 1, ms(700) - 1)], ids=["200", "sooner"])
def test_an_earlier_row_counts_where_it_began_at_least_200_ms_before(lag: int, offset: int) -> None:
    rows = [Row(1, 0, ms(500)), Row(1, ms(1_000), ms(2_000)), Row(0, ms(1_000) + lag, ms(3_000))]
    assert from_earlier_row(rows)[2] == offset


def test_a_row_inside_another_is_full_and_one_that_ends_with_it_is_not() -> None:
    whole = Row(0, 0, 100)
    assert overlap_with_rows_before([whole, Row(1, 50, 99)]) == ("", "full")
    assert overlap_with_rows_before([whole, Row(1, 50, 100)]) == ("", "")
    assert overlap_with_rows_before([whole, Row(1, 50, 101)]) == ("", "partial")
    assert overlap_with_rows_before([whole, Row(1, 100, 120)]) == ("", "")


def test_turns_that_abut_are_counted_exactly_and_nearly() -> None:
    rows = [Row(0, 0, ms(100)), Row(1, ms(100), ms(200)), Row(0, ms(210), ms(300)), Row(1, ms(311), ms(400))]
    found = abutting(rows)
    assert (found.transfers, found.exact, found.nearly) == (3, 1, 2)
    assert "2 of 3" in found.unreliable()
    assert found.unreliable(at_least=0.7) == ""
    assert abutting(rows[:1]).unreliable() == ""


def test_shares_of_overlap_have_different_denominators() -> None:
    found = conversation_statistics(talk(
        "#####......",
        "...#####...",
    ))  # fmt: skip
    assert found.overlap_share("speech") == Ratio(0.2, 0.8)
    assert found.overlap_share("time") == Ratio(0.2, 1.1)
    assert found.overlap_share("transfers") == Ratio(1, 1)


def test_a_share_of_nothing_is_absent_with_its_reason() -> None:
    assert conversation_statistics(talk("...", "...")).overlap_share("speech") == Absent("nobody speaks")
    assert conversation_statistics(talk("###", "...")).overlap_share("transfers") == Absent("no floor transfers")


def test_numbers_and_seconds_per_minute_are_pooled_over_all_minutes() -> None:
    one = conversation_statistics(inter_pausal_units([Span(0, seconds(30))], [], Span(0, seconds(60))))
    two = conversation_statistics(inter_pausal_units([at(0, 10), at(20, 30)], [], Span(0, seconds(180))))
    assert per_minute([one, two], "unit").value == pytest.approx(3 / 4)
    assert seconds_per_minute([one, two], "unit").value == pytest.approx(32 / 4)
    assert one.number_per_minute("unit") == pytest.approx(1)
    assert one.seconds_per_minute("unit") == pytest.approx(30)
    assert quantile([one, two], "unit").value == pytest.approx(1.0)


def test_intervals_draw_conversations() -> None:
    talks = [
        conversation_statistics(inter_pausal_units([at(k, k + n) for k in range(0, 90, 9)], [], at(0, 100)))
        for n in range(1, 6)
    ]
    found = seconds_per_minute(talks, "unit")
    assert found.n == 5
    assert found.low is not None and found.high is not None and found.low < 18 < found.high
    assert "5 items" in found.method


def test_offsets_are_not_added_up() -> None:
    with pytest.raises(ValueError, match="signs"):
        seconds_per_minute([conversation_statistics(talk("##", ".."))], "transfer")


def test_the_share_of_an_empty_corpus_has_no_value() -> None:
    assert overlap_share([], "speech").value is None


# Laws ----------------------------------------------------------------------------------------------------------------

WINDOW = Span(0, seconds(20))
SPANS = st.lists(
    st.tuples(st.integers(0, 19_000), st.integers(1, 2_500)).map(lambda p: Span(ms(p[0]), ms(p[0] + p[1]))), max_size=12
)


@settings(max_examples=40)
@given(SPANS, SPANS)
def test_time_is_conserved(first: list[Span], second: list[Span]) -> None:
    sides = inter_pausal_units(first, second, WINDOW)
    stats, quiet = conversation_statistics(sides), silences(sides)
    unit, overlap, pause, gap = (sum(stats.values[kind]) for kind in ("unit", "overlap", "pause", "gap"))
    assert unit - overlap == stats.spoken
    assert unit - overlap + pause + gap + sum(span.duration for span in quiet.edges) == WINDOW.duration


@settings(max_examples=40)
@given(SPANS, SPANS)
def test_every_overlap_is_between_within_or_at_an_edge(first: list[Span], second: list[Span]) -> None:
    sides = inter_pausal_units(first, second, WINDOW)
    floor = floor_of(sides)
    assert sorted([*floor.between, *floor.within, *floor.edges]) == list(sides.overlap)


@settings(max_examples=40)
@given(SPANS, SPANS)
def test_transfers_alternate_and_lie_between_the_turns(first: list[Span], second: list[Span]) -> None:
    floor = floor_of(inter_pausal_units(first, second, WINDOW))
    holders = [side for side, _ in floor.turns]
    assert all(a != b for a, b in pairwise(holders))
    assert len(floor.transfers) == max(0, len(floor.turns) - 1)
    for n, transfer in enumerate(floor.transfers):
        assert transfer.to == floor.turns[n + 1][0]
        assert transfer.offset == floor.turns[n + 1][1].start - floor.turns[n][1].end


@settings(max_examples=40)
@given(SPANS, SPANS)
def test_a_transfer_s_gap_begins_with_a_silence_of_both(first: list[Span], second: list[Span]) -> None:
    sides = inter_pausal_units(first, second, WINDOW)
    quiet = silences(sides)
    begins = {span.start for span in (*quiet.pauses, *quiet.gaps)}
    assert all(each.left.end in begins for each in floor_of(sides).transfers if each.offset > 0)


@settings(max_examples=40)
@given(SPANS, SPANS)
def test_whose_channel_is_first_changes_no_number(first: list[Span], second: list[Span]) -> None:
    one = conversation_statistics(inter_pausal_units(first, second, WINDOW)).values
    other = conversation_statistics(inter_pausal_units(second, first, WINDOW)).values
    assert {kind: sorted(values) for kind, values in one.items()} == {k: sorted(v) for k, v in other.items()}


@settings(max_examples=40)
@given(SPANS, SPANS, st.integers(1, 10_000_000))
def test_a_shifted_clock_changes_no_number(first: list[Span], second: list[Span], by: int) -> None:
    one = conversation_statistics(inter_pausal_units(first, second, WINDOW))
    moved = inter_pausal_units([s.shift(by) for s in first], [s.shift(by) for s in second], WINDOW.shift(by))
    assert conversation_statistics(moved) == one
