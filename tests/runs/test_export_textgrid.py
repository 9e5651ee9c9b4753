"""TextGrids are read back by a small reader of the format, which is itself tried on grids that Praat users made."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullduplex.model.items import Event, Item
from fullduplex.model.sketch import sketch
from fullduplex.model.spans import Span, Timeline
from fullduplex.model.speech import Track, Word
from fullduplex.model.trials import Trial
from fullduplex.runs.labels import decimal, one_line
from fullduplex.runs.textgrid import textgrid

SHARED = Path(__file__).parents[3] / "shared"
FIRST_FIVE = ["user words", "user speech", "system words", "system speech", "events"]


class Interval(NamedTuple):
    start: Decimal
    end: Decimal
    text: str


class Grid(NamedTuple):
    start: Decimal
    end: Decimal
    tiers: list[tuple[str, list[Interval]]]

    def said(self, name: str) -> list[tuple[Decimal, Decimal, str]]:
        return [tuple(i) for i in dict(self.tiers)[name] if i.text]  # type: ignore[misc]


def read(text: str) -> Grid:
    """Read a TextGrid as Praat does: free-standing numbers, quoted strings and flags count, the rest is comment."""
    marks = re.findall(r'"((?:[^"]|"")*)"|(?<![^\s])(-?\d+(?:\.\d+)?)(?![^\s])|<(exists)>', text)
    found = iter(marks)

    def string() -> str:
        quoted, number, flag = next(found)
        assert not number and not flag
        return str(quoted.replace('""', '"'))

    def number() -> Decimal:
        value = next(found)[1]
        assert value
        return Decimal(value)

    assert (string(), string()) == ("ooTextFile", "TextGrid")
    start, end = number(), number()
    assert next(found)[2] == "exists"
    tiers = []
    for _ in range(int(number())):
        kind, name = string(), string()
        low, high = number(), number()
        assert kind == "IntervalTier" and start <= low and high <= end
        tiers.append((name, [Interval(number(), number(), string()) for _ in range(int(number()))]))
    assert next(found, None) is None
    return Grid(start, end, tiers)


def word(text: str, start: int, end: int) -> Word:
    return Word(text, Span(start, end))


def trial(words: list[Word], events: tuple[Event, ...] = ()) -> Trial:
    return Trial(Item("t"), Track(tuple(words)), Track(), events)


def assert_tiled(grid: Grid) -> None:
    for _, intervals in grid.tiers:
        assert intervals[0].start == grid.start and intervals[-1].end == grid.end
        assert all(left.end == right.start for left, right in pairwise(intervals))
        assert all(i.start < i.end for i in intervals)


def test_the_reader_of_these_tests_reads_grids_made_with_praat() -> None:
    folder = SHARED / "data" / "french" / "sppas"
    if not folder.is_dir():
        pytest.skip("no ../shared/data/french/sppas here")
    for path in sorted(folder.glob("*.TextGrid")):
        assert_tiled(read(path.read_text("utf-8-sig")))


def test_five_tiers_come_first_whatever_was_heard() -> None:
    assert [name for name, _ in read(textgrid(Trial(Item("empty")))).tiers] == FIRST_FIVE


def test_words_speech_and_events_come_back_with_their_times() -> None:
    grid = read(
        textgrid(
            sketch("""
                user      aabb....##
                system    ....ccc...
                pause     ....^^....
            """)
        )
    )
    d = Decimal
    assert grid.end == 1
    assert grid.said("user words") == [(d(0), d("0.2"), "a"), (d("0.2"), d("0.4"), "b")]
    assert grid.said("user speech") == [(d(0), d("0.4"), "speech"), (d("0.8"), d(1), "speech")]
    assert grid.said("system words") == [(d("0.4"), d("0.7"), "c")]
    assert grid.said("events") == [(d("0.4"), d("0.6"), "pause")]


def test_words_that_touch_share_a_tier() -> None:
    assert len(read(textgrid(trial([word("a", 0, 10), word("b", 10, 20)]))).tiers) == 5


def test_a_word_that_overlaps_another_goes_to_a_further_tier_with_its_times() -> None:
    grid = read(textgrid(trial([word("a", 0, 10), word("b", 9, 20), word("c", 10, 30)])))
    assert [name for name, _ in grid.tiers] == [*FIRST_FIVE, "user words 2"]
    assert [i.text for i in dict(grid.tiers)["user words"] if i.text] == ["a", "c"]
    assert grid.said("user words 2") == [(Decimal("0.000009"), Decimal("0.000020"), "b")]


def test_a_quotation_mark_is_doubled() -> None:
    assert 'text = "say ""no"""' in textgrid(trial([word('say "no"', 0, 10)]))


def test_a_line_break_in_a_word_does_not_break_the_file() -> None:
    grid = read(textgrid(trial([word("a\n\u2028b\tc", 0, 10)])))
    assert grid.said("user words")[0][2] == "a  b c"


def test_the_grid_is_as_long_as_the_longer_recording() -> None:
    made = Trial(Item("t"), Track(duration=2_000_000), Track(duration=3_000_001))
    assert read(textgrid(made)).end == Decimal("3.000001")


def test_a_word_before_the_session_moves_the_grids_start() -> None:
    grid = read(textgrid(trial([word("early", -500_000, 100_000)])))
    assert grid.start == Decimal("-0.5")
    assert_tiled(grid)


def test_a_segment_that_rounding_emptied_is_left_out() -> None:
    made = Trial(Item("t"), Track(speech=Timeline(), segments=((0.3, 0.3), (1.0, 1.2))))
    assert len(read(textgrid(made)).said("user speech")) == 1


@pytest.mark.parametrize(("time", "written"), [(0, "0.000000"), (-1, "-0.000001"), (61_000_000, "61.000000")])
def test_a_time_is_written_exactly(time: int, written: str) -> None:
    assert decimal(time) == written


times = st.integers(-2_000_000, 90_000_000)
spans = st.tuples(times, st.integers(1, 3_000_000)).map(lambda pair: Span(pair[0], pair[0] + pair[1]))
ODD = [
    *("plain", '"', '""', '"\n"', "a\r\nb", 'text = ""', "3.5", "<exists>", "! no", "\0", ""),
    *("😀", "שלום", "\u202eabc", "\ud800"),
]
odd = st.text(st.characters(codec=None)) | st.sampled_from(ODD)


@given(st.lists(st.tuples(odd, spans), max_size=12), st.lists(st.tuples(odd, spans), max_size=4))
def test_whatever_is_said_the_grid_tiles_and_every_label_comes_back(
    said: list[tuple[str, Span]], happened: list[tuple[str, Span]]
) -> None:
    made = trial([Word(text, span) for text, span in said], tuple(Event(kind, span) for kind, span in happened))
    text = textgrid(made)
    grid = read(text.encode().decode())
    assert_tiled(grid)

    def back(tier: str) -> list[tuple[Decimal, Decimal, str]]:
        lanes = (intervals for name, intervals in grid.tiers if name == tier or name.startswith(f"{tier} "))
        return sorted(tuple(i) for lane in lanes for i in lane if i.text)  # type: ignore[misc]

    def sent(pairs: list[tuple[str, Span]]) -> list[tuple[Decimal, Decimal, str]]:
        kept = ((one_line(text), span) for text, span in pairs)
        return sorted((Decimal(s.start) / 10**6, Decimal(s.end) / 10**6, text) for text, s in kept if text)

    assert back("user words") == sent(said)
    assert back("events") == sent(happened)
