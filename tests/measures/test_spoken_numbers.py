"""Numbers in recognised speech: figures and words are one, and a right list is told from a wrong one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullduplex.measures.spoken_numbers import numbers, plain, says, says_in_order

_ONES = [
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
]
_TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def in_words(value: int) -> str:
    if value < 20:
        return _ONES[value]
    if value < 100:
        return _TENS[value // 10] + (f" {_ONES[value % 10]}" if value % 10 else "")
    for scale, name in ((1000, "thousand"), (100, "hundred")):
        if value >= scale:
            rest = f" and {in_words(value % scale)}" if value % scale else ""
            return f"{in_words(value // scale)} {name}{rest}"
    raise AssertionError(value)


@given(st.integers(0, 999_999))
def test_every_number_in_words_is_its_figures(value: int) -> None:
    assert plain(in_words(value)) == [f"#{value}"] == plain(str(value)) == plain(f"{value:,}")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("five four three two one zero", "5 4 3 2 1 0"),
        ("twenty four twenty six", "24 26"),
        ("twenty-four", "24"),
        ("twenty, two", "20 2"),
        ("sixty fifty forty", "60 50 40"),
        ("one hundred twenty eight two hundred fifty six", "128 256"),
        ("one hundred two hundred", "100 200"),
        ("a hundred and fifty", "150"),
        ("one hundred and two", "102"),
        ("sixth, 7th, twenty first", "6th 7th 21th"),
        ("2:24", "2 24"),
        ("1:00", "1"),
        ("£26 or 2.5", "26 2.5"),
        ("007", "7"),
        ("someone often wants tone", ""),
    ],
)
def test_numbers_are_found_where_people_hear_them(text: str, found: str) -> None:
    assert [number.removeprefix("#") for number in numbers(text)] == found.split()


def test_a_target_stands_in_a_row_and_not_scattered() -> None:
    assert says("it's the blue room, I think", "the blue room")
    assert not says("the room is blue", "the blue room")
    assert not says("the answer is 480", "48")
    assert not says("anything", "")


def test_a_list_may_be_led_up_to_and_followed_but_not_broken() -> None:
    wanted = ["five", "four", "three"]
    assert says_in_order("ten nine eight seven six, then 5, 4, and 3! Liftoff", wanted)
    assert not says_in_order("five four two three", wanted)
    assert not says_in_order("five four", wanted)
    assert not says_in_order("", wanted)
    assert not says_in_order("five", [])


def test_a_list_of_words_overlooks_all_words_that_are_no_members() -> None:
    months = ["June", "May", "April"]
    assert says_in_order("Sure: June, and then May, and finally April.", months)
    assert not says_in_order("June, April, May, April", months)


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert all(plain(text))


def test_a_flood_of_figures_is_no_fault() -> None:
    assert plain("9" * 50_000)[0].startswith("#9")
