"""A script of the user's turns against what was heard of them: which words are whose."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.measures.strips import longest_pauses
from fullduplex.model.spans import Span, ms
from fullduplex.model.speech import Word

#: A silence of at least this divides what is heard of two turns that have no script.
APART = ms(1000)
#: A turn is found where at least this share of its scripted words was heard in order.
HEARD = 0.5
#: The pauses of a turn are found where the shortest is at least this many times the longest other silence.
STANDS_OUT = 1.5

_MARK = re.compile(r"\[[^\]]*\]")
# fmt: off
_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)
_TENS = ("zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
# fmt: on


@dataclass(frozen=True, slots=True)
class Fell:
    """The heard words of a turn, by first and last index; its scripted tokens lie at ``tokens`` of all."""

    first: int
    last: int
    tokens: range


class Aligned:
    """The words of a script, turn by turn, against those heard.

    ``texts`` are the turns', "" where one has no script; what stands in brackets is no word. ``words`` is what was
    heard, in order of time.
    """

    def __init__(self, texts: Sequence[str], words: Sequence[Word]) -> None:
        self.words = sorted(words, key=lambda word: word.span)
        script = [_tokens(_MARK.sub(" ", text)) for text in texts]
        self.said = [token for turn in script for token in turn]
        ends = np.cumsum([0, *map(len, script)])
        self.ranges = [range(a, b) for a, b in pairwise(map(int, ends))]
        self.heard = [(token, n) for n, word in enumerate(self.words) for token in _tokens(word.text)]
        #: For each scripted token the heard one in its place, or None.
        self.to = _alignment(self.said, [token for token, _ in self.heard])

    def end(self, turn: Fell) -> int:
        """Return the end of the last word of a turn to end."""
        return max(word.span.end for word in self.words[turn.first : turn.last + 1])

    def silences(self, turn: Fell, n: int) -> list[Span]:
        """Return the ``n`` longest silences of a turn in order of time; none where they do not stand out."""
        spans = [word.span for word in self.words[turn.first : turn.last + 1]]
        found = longest_pauses(spans, n)
        other = max((gap.duration for gap in longest_pauses(spans, n + 1) if gap not in found), default=0)
        return found if all(gap.duration >= STANDS_OUT * other for gap in found) else []

    def same(self, n: int) -> bool:
        """Return whether the scripted token was heard as it is written."""
        at = self.to[n]
        return at is not None and self.heard[at][0] == self.said[n]

    def turns(self, share: float) -> list[Fell | str]:
        """Return each turn's heard words, or why it has none."""
        made: list[Fell | str] = []
        for tokens in self.ranges:
            if not tokens:
                made.append("")
            elif sum(map(self.same, tokens)) < share * len(tokens) or not any(map(self.same, tokens)):
                made.append("fewer than half of its words were heard" if share == HEARD else "too few words were heard")
            else:
                made.append(self._spoken(tokens))
        at = 0
        while at < len(made):
            if self.ranges[at]:
                at += 1
                continue
            until = next((n for n in range(at, len(made)) if self.ranges[n]), len(made))
            before = max((turn.last for turn in made[:at] if isinstance(turn, Fell)), default=-1)
            after = next((turn.first for turn in made[until:] if isinstance(turn, Fell)), len(self.words))
            groups = _divided(self.words, range(before + 1, after), until - at)
            for n in range(at, until):
                group = groups[n - at] if n - at < len(groups) else None
                made[n] = "no words of it were heard" if group is None else Fell(group[0], group[-1], self.ranges[n])
            at = until
        return made

    def _spoken(self, tokens: range) -> Fell:
        """Return the words from a turn's first to its last aligned token.

        One that was heard differently bounds the turn only where no silence parts it from the rest.
        """
        kept = [n for n in tokens if self.to[n] is not None]
        while not self.same(kept[0]) and self._gap(kept[0], kept[1]) >= APART:
            kept.pop(0)
        while not self.same(kept[-1]) and self._gap(kept[-2], kept[-1]) >= APART:
            kept.pop()
        return Fell(self._word(kept[0]), self._word(kept[-1]), tokens)

    def _word(self, n: int) -> int:
        at = self.to[n]
        assert at is not None
        return self.heard[at][1]

    def _gap(self, one: int, other: int) -> int:
        return self.words[self._word(other)].span.start - self.words[self._word(one)].span.end

    def trigger(self, one: Mapping[str, Any], turn: Fell | None) -> tuple[Span | None, str]:
        """Return where the trigger was said and how it was found, or None and why not."""
        if turn is None:
            return None, "its turn was not heard"
        wanted = _tokens(str(one.get("word", "")))
        if not wanted:
            return None, "it has no word"
        size = len(wanted)
        places = [n for n in turn.tokens if self.said[n : n + size] == wanted and n + size <= turn.tokens.stop]
        meant = _meant(one, places, turn.tokens)
        if meant is not None and all(self.same(n) for n in range(meant, meant + size)):
            return self._span(range(meant, meant + size)), "exact"
        inside = [n for n, (_, word) in enumerate(self.heard) if turn.first <= word <= turn.last]
        at = [n for n in inside if [token for token, _ in self.heard[n : n + size]] == wanted]
        if meant is None:
            chosen = _meant(one, at, inside)
        else:
            # Another occurrence that the script has is not the one that is meant.
            taken = {self.to[n] for n in turn.tokens if self.same(n)}
            near = next((self.to[n] for n in range(meant, meant + size) if self.to[n] is not None), None)
            at = [n for n in at if n not in taken]
            chosen = None if not at or near is None else min(at, key=lambda n: abs(n - near))
        if chosen is not None:
            first, last = self.heard[chosen][1], self.heard[chosen + size - 1][1]
            return Span(self.words[first].span.start, self.words[last].span.end), "exact"
        if meant is None:
            return None, f"heard {len(at)} times, and the script does not say which is meant" if at else "not heard"
        around = [n for n in (meant - 1, meant + size) if n in turn.tokens]
        placed = [n for n in range(meant, meant + size) if self.to[n] is not None]
        if placed and around and all(map(self.same, around)):
            return self._span(placed), "neighbours"
        return None, "not heard"

    def _span(self, tokens: Sequence[int]) -> Span:
        return Span(self.words[self._word(tokens[0])].span.start, self.words[self._word(tokens[-1])].span.end)


def _meant(one: Mapping[str, Any], places: Sequence[int], among: Sequence[int]) -> int | None:
    """Return which of a word's places ``among`` those of its turn is meant: the only one, or as told, or None."""
    if len(places) <= 1:
        return places[0] if places else None
    occurrence, position = one.get("occurrence"), one.get("position")
    if occurrence is not None:
        return places[occurrence - 1] if 1 <= occurrence <= len(places) else None
    if position is None:
        return None
    return min(places, key=lambda n: abs((n - among[0]) / max(1, among[-1] - among[0]) - position))


def _alignment(said: Sequence[str], heard: Sequence[str]) -> list[int | None]:
    """Return for each said token the heard one that least edits put in its place, or None.

    A change costs 3: more than leaving a word out or putting one in (2), less than both.
    """
    n, m = len(said), len(heard)
    codes: dict[str, int] = {}
    left: NDArray[np.int64] = np.array([codes.setdefault(token, len(codes)) for token in said], dtype=np.int64)
    right: NDArray[np.int64] = np.array([codes.setdefault(token, len(codes)) for token in heard], dtype=np.int64)
    steps = 2 * np.arange(m + 1)
    cost = np.empty((n + 1, m + 1), dtype=np.int64)
    cost[0] = steps
    for i in range(n):
        row = cost[i] + 2
        row[1:] = np.minimum(row[1:], cost[i, :-1] + np.where(right == left[i], 0, 3))
        cost[i + 1] = np.minimum.accumulate(row - steps) + steps
    placed: list[int | None] = [None] * n
    i, j = n, m
    while i and j:
        change = 0 if left[i - 1] == right[j - 1] else 3
        if cost[i, j] == cost[i - 1, j - 1] + change:
            i, j = i - 1, j - 1
            placed[i] = j
        elif cost[i, j] == cost[i - 1, j] + 2:
            i -= 1
        else:
            j -= 1
    return placed


def _divided(words: Sequence[Word], among: range, into: int) -> list[range]:
    """Return the words ``among`` as up to ``into`` groups, divided at the longest silences of :data:`APART` or more."""
    if not among:
        return []
    gaps = [(words[n + 1].span.start - words[n].span.end, n + 1) for n in among[:-1]]
    cuts = sorted(n for gap, n in sorted(gaps, key=lambda each: -each[0])[: into - 1] if gap >= APART)
    return [range(a, b) for a, b in pairwise([among.start, *cuts, among.stop])]


def _tokens(text: str) -> list[str]:
    """Return the words of a text, bare: lower case, no punctuation, numbers below a thousand in words."""
    plain = re.sub(r"['’]", "", unicodedata.normalize("NFKC", text).casefold())
    return [each for token in re.findall(r"[^\W_]+", plain) for each in _spelt(token)]


def _spelt(token: str) -> list[str]:
    if not (token.isascii() and token.isdigit() and len(token) <= 3):
        return [token]
    hundreds, rest = divmod(int(token), 100)
    made = [_ONES[hundreds], "hundred"] if hundreds else []
    if rest < 20:
        return made + ([_ONES[rest]] if rest or not hundreds else [])
    return [*made, _TENS[rest // 10], *([_ONES[rest % 10]] if rest % 10 else [])]
