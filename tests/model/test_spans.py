from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullduplex.model.sketch import draw, sketch
from fullduplex.model.spans import Span, Timeline, in_seconds, ms, seconds

times = st.integers(0, 200)
spans = st.tuples(times, times).filter(lambda pair: pair[0] < pair[1]).map(lambda pair: Span(*pair))
timelines = st.lists(spans, max_size=8).map(Timeline)


def moments(timeline: Timeline) -> set[int]:
    return {t for t in range(201) if t in timeline}


@given(timelines, timelines)
def test_operations_are_those_of_sets(a: Timeline, b: Timeline) -> None:
    assert moments(a | b) == moments(a) | moments(b)
    assert moments(a & b) == moments(a) & moments(b)
    assert moments(a - b) == moments(a) - moments(b)
    assert moments(a ^ b) == moments(a) ^ moments(b)


@given(timelines)
def test_the_form_is_canonical(a: Timeline) -> None:
    cuts = [t for span in a for t in (span.start, span.end)]
    assert cuts == sorted(set(cuts))
    assert (a | a) == a
    assert a.duration == len(moments(a))


@given(timelines, st.integers(0, 60))
def test_bridging_closes_gaps_up_to_the_limit_and_no_longer(a: Timeline, gap: int) -> None:
    found = list(a.bridge(gap))
    assert all(right.start - left.end > gap for left, right in pairwise(found))
    assert moments(a) <= moments(a.bridge(gap))


@given(st.integers(0, 192_000 * 600))
def test_a_sample_index_survives_the_trip_through_seconds(index: int) -> None:
    time = seconds(index / 192_000)
    assert round(in_seconds(time) * 192_000) == index


@pytest.mark.parametrize(("start", "end"), [(1, 1), (2, 1)])
def test_a_span_is_never_empty(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="end after it starts"):
        Span(start, end)


def test_a_time_is_whole_microseconds() -> None:
    with pytest.raises(TypeError):
        Span(0.5, 1)  # type: ignore[arg-type]


def test_touching_spans_do_not_overlap() -> None:
    assert Span(0, ms(1)) & Span(ms(1), ms(2)) is None


def test_a_drawing_reads_back_as_itself() -> None:
    text = "\n".join(["user    ..#####..aa.b.", "system  ......c#####..", "pause   ...^^^........"])
    assert draw(sketch(text)) == text


@pytest.mark.parametrize("text", ["user", "user ab cd", "pause ..#.."])
def test_a_drawing_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="row"):
        sketch(text)
