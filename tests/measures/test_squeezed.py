"""Words that nobody can have said in the time that they are given."""

from __future__ import annotations

import pytest

from fullduplex.measures.squeezed import squeezed
from fullduplex.model.spans import Span, Timeline, ms
from fullduplex.model.speech import Word


def words(*told: tuple[str, int, int]) -> tuple[Word, ...]:
    """Make words of text, start and end in µs."""
    return tuple(Word(text, Span(start, end)) for text, start, end in told)


def evenly(text: str, lasts: int) -> tuple[Word, ...]:
    """Make words that share ``lasts`` µs equally."""
    parts = text.split()
    each = lasts // len(parts)
    return words(*((part, n * each, (n + 1) * each) for n, part in enumerate(parts)))


@pytest.mark.parametrize(("lasts", "strange"), [(1, True), (9_999, True), (10_000, False)])
def test_a_word_lasts_ten_milliseconds_or_was_not_heard_there(lasts: int, strange: bool) -> None:
    found = squeezed(words(("ah", 0, 300_000), ("oui", 300_000, 300_000 + lasts)))
    assert found == (Timeline([Span(0, 300_000 + lasts)]) if strange else Timeline())


def test_words_that_end_all_at_once_are_a_stretch_of_which_nothing_is_known() -> None:
    told = (
        ("Je", 6_617_500, 7_117_501),
        *((word, 7_117_500, 7_117_501) for word in ["vous", "invite", "à", "vous", "faire"]),
    )
    later = ("merci", 8_000_000, 8_400_000)
    assert squeezed(words(*told, later)) == Timeline([Span(6_617_500, 7_117_501)])


@pytest.mark.parametrize(("milliseconds", "strange"), [(400, True), (401, False)])
def test_twenty_letters_at_fifty_a_second_are_faster_than_anyone_speaks(milliseconds: int, strange: bool) -> None:
    assert bool(squeezed(evenly("abcde abcde abcde abcde", ms(milliseconds)))) is strange


def test_fewer_letters_and_one_long_word_may_be_fast() -> None:
    assert not squeezed(evenly("il y en a un", ms(180)))
    assert not squeezed(words(("anticonstitutionnellement", 0, 300_000)))


def test_no_words_are_not_squeezed() -> None:
    assert not squeezed(())
