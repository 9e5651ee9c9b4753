"""Checks that the options of several drivers share: each raises ValueError with a sentence for what does not pass."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fullduplex.errors import printable


def one_of(option: str, value: Any, known: Iterable[Any]) -> None:
    """Let ``value`` pass where it is among ``known``, of which an empty one is not told."""
    known = tuple(known)
    if value not in known:
        expected = ", ".join(str(each) for each in known if each != "")
        raise ValueError(f"{option}: found {printable(repr(value), 80)}, expected one of {expected}")


def a_name(option: str, value: str, *, needed: bool = False) -> None:
    """Let a name pass that is printable and has 200 characters at most; an empty one unless it is ``needed``."""
    if value != printable(str(value), 200) or (needed and not value):
        raise ValueError(f"{option}: expected a name")


def a_deadline(option: str, value: float) -> None:
    """Let seconds pass that are above 0."""
    if not value > 0:
        raise ValueError(f"{option}: expected seconds, above 0")


__all__ = ["a_deadline", "a_name", "one_of"]
