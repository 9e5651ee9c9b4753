"""What attempts used and cost is told in words that fit their number."""

from __future__ import annotations

from collections import Counter

import pytest

from fullduplex.reporting.language import language_named
from fullduplex.reporting.spent import Spent


def told(number: int) -> list[str]:
    tokens = Counter({"input": 90})
    counts = {"attempts": number, "counted": number, "priced": number, "unpriced": number, "refusals": number}
    return list(Spent(**counts, tokens=tokens, cost=0.5, sources={"a price list": None}, waited=3.0).sentences())


def test_one_attempt_is_told_in_the_singular() -> None:
    assert told(1) == [
        "tokens that the system counted in 1 attempt: 90 input",
        "cost: US$ 0.50 for 1 attempt (prices: a price list)",
        "of 1 attempt the cost is not known: it used what has no price or was not counted",
        "the server had no room once, and was waited for: 3 s",
    ]


def test_several_are_told_in_the_plural() -> None:
    assert all("2 attempts" in sentence or "2 times" in sentence for sentence in told(2))


@pytest.mark.parametrize("number", [1, 2])
def test_each_has_its_french_sentence(number: int) -> None:
    tell = language_named("fr")
    assert all(tell.kept(sentence) != sentence for sentence in told(number))
