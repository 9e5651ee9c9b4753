"""Where a reply that is being written is cut, and what was heard of one that was cut short."""

from __future__ import annotations

import pytest

from fullduplex.systems.cascade.clauses import MOST, Clauses, Piece, heard_of


def pieces(*written: str) -> list[str]:
    clauses = Clauses()
    return [piece for text in written for piece in clauses.add(text)] + clauses.end()


def test_a_sentence_is_a_piece_once_more_follows() -> None:
    clauses = Clauses()
    assert clauses.add("It is ten.") == []
    assert clauses.add(" Good") == ["It is ten."]
    assert clauses.end() == ["Good"]


def test_the_first_piece_may_end_at_a_comma_and_later_ones_do_not() -> None:
    text = "I am so very sorry, but I cannot. If you like, ask again later, please."
    assert pieces(text) == ["I am so very sorry,", "but I cannot.", "If you like, ask again later, please."]


def test_a_comma_after_three_words_is_no_end() -> None:
    assert pieces("Yes of course, I can do that. ") == ["Yes of course, I can do that."]


@pytest.mark.parametrize(
    "text", ["Ask Dr. Smith today.", "Mr. J. Doe is in.", "Take e.g. a train.", "It costs 3.50 now."]
)
def test_a_dot_inside_a_sentence_ends_none(text: str) -> None:
    assert pieces(text + " ") == [text]


def test_a_number_of_a_list_goes_with_what_follows() -> None:
    assert pieces("There are two: 1. Tea is good. 2. Coffee. ") == ["There are two: 1. Tea is good.", "2. Coffee."]


def test_marks_of_writing_are_not_spoken() -> None:
    assert pieces("**Sure!** <b>*** \n# Here\n") == ["Sure!", "b", "Here"]


def test_what_has_no_letter_is_no_piece() -> None:
    assert pieces("... !!! 🙂 \n - ") == []


def test_words_without_a_mark_are_not_waited_for_for_ever() -> None:
    assert [len(piece.split()) for piece in pieces("word " * (MOST + 3))] == [MOST, 3]


def test_how_the_text_is_cut_into_tokens_changes_no_piece() -> None:
    text = "Well, that is a hard question, I think. Perhaps not! Who knows?"
    assert pieces(*text) == pieces(text)


def test_a_word_was_heard_if_half_of_it_sounded() -> None:
    said = [Piece("one two", 0, 1000, (("one", 0, 400), ("two", 400, 1000))), Piece("three", 1200, 1600)]
    assert [heard_of(said, played) for played in (0, 199, 200, 699, 700, 1399, 1400)] == [
        "",
        "",
        "one",
        "one",
        "one two",
        "one two",
        "one two three",
    ]


def test_without_word_times_each_word_has_its_share_by_letters() -> None:
    said = [Piece("a bcd", 1000, 1400)]
    assert [heard_of(said, played) for played in (1049, 1050, 1249, 1250)] == ["", "a", "a", "a bcd"]
