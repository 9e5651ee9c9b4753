"""Where the user's own words sound in a cue, and the stretches that places between them mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullduplex.errors import InputError
from fullduplex.making.acting.markup import Place, words_of
from fullduplex.making.interaction_item import word_span
from fullduplex.making.joining import Phrase as Placed
from fullduplex.model.spans import SECOND, Span, ms
from fullduplex.providers.voices import AUDIBLE

#: A place between two words that touch is marked from the end of the one for so long.
TOUCH = ms(10)


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of a cue that an action is judged by, as interaction.json has them."""

    kind: str
    span: Span
    text: str = ""


class _Token(NamedTuple):
    """A word: the phrase that it is of, its number among the phrase's tokens, whether it is an edge, and itself."""

    phrase: int
    number: int
    first: bool
    last: bool
    text: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Words:
    """The user's own words in the cue ``id``: phrases where they sound, in ``samples`` in which nobody else speaks.

    A voice gives the silence at a comma to the word before it: what counts here is what is audible of a word.
    """

    id: str
    phrases: Sequence[Placed]
    samples: NDArray[np.float32]
    rate: int

    def mark(self, place: Place) -> Mark:
        """Return what a place marks; raises :class:`InputError` where nothing tells when the words around it sound."""
        end, tokens = self.end(place.after - 1), self._tokens()
        if place.kind == "target":
            return Mark("target", Span(self.start(place.after - 1), end), tokens[place.after - 1].text.strip(".,;:!?…"))
        if place.kind == "entry":
            rest = " ".join(token.text for token in tokens[place.after :])
            return Mark("entry", Span(end, self.phrases[-1].span.end), rest)
        return Mark("backchannel", Span(end, max(self.start(place.after), end + TOUCH)))

    def gaps(self) -> list[Span]:
        """Return the silences between the phrases."""
        return [Span(one.span.end, other.span.start) for one, other in pairwise(self.phrases)]

    def start(self, number: int) -> int:
        """Return where the word ``number`` (from 0) is first audible."""
        token = self._tokens()[number]
        return self.phrases[token.phrase].span.start if token.first else self._span(token).start

    def end(self, number: int) -> int:
        """Return where the word ``number`` (from 0) is last audible; the beginning of the cue for -1."""
        if number < 0:
            return 0
        token = self._tokens()[number]
        return self.phrases[token.phrase].span.end if token.last else self._span(token).end

    def _span(self, token: _Token) -> Span:
        phrase = self.phrases[token.phrase]
        span = None if phrase.words is None else word_span(phrase.words, phrase.text, token.number)
        if span is None:
            raise InputError(
                f"{self.id}, {token.text}", found="a word that nothing places", expected="its time",
                do="choose a voice that tells its words, or a --recogniser",
            )  # fmt: skip
        first, last = span.start * self.rate // SECOND, span.end * self.rate // SECOND
        loud = np.flatnonzero(np.abs(self.samples[first:last]) > 10 ** (AUDIBLE / 20))
        if not len(loud):
            return span
        start, end = ((first + int(at)) * SECOND // self.rate for at in (loud[0], loud[-1] + 1))
        return Span(max(start, span.start), max(min(end, span.end), max(start, span.start) + 1))

    def _tokens(self) -> list[_Token]:
        found = list[_Token]()
        for phrase, placed in enumerate(self.phrases):
            own = [(n, token) for n, token in enumerate(placed.text.split()) if words_of(token)]
            found += [_Token(phrase, n, at == 0, at == len(own) - 1, text) for at, (n, text) in enumerate(own)]
        return found
