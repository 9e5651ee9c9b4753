"""What is said of several systems alike is said once."""

from __future__ import annotations

from fullduplex.reporting.remarks import folded


def test_what_is_said_of_several_systems_alike_is_one_line() -> None:
    said = ["a: words are from: x", "of all", "b: words are from: x", "b: other", "of all"]
    assert folded(said, ["a", "b"]) == ["a, b: words are from: x", "of all", "b: other"]


def test_a_name_that_begins_as_another_is_itself() -> None:
    assert folded(["a: b: silent", "a: silent"], ["a", "a: b"]) == ["a: b, a: silent"]


def test_what_is_said_of_all_is_not_taken_for_a_systems() -> None:
    assert folded(["silent", "c: silent", "a: silent"], ["a"]) == ["silent", "c: silent", "a: silent"]
