"""Words that nobody can have said in the time that they are given: squeezed to nothing, or faster than speech is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fullduplex.model.spans import SECOND, Span, Timeline, ms
from fullduplex.model.speech import Word

#: A word shorter than this was not heard where it stands. Ours: of 5,593 words that were aligned with the sound
#: (Switchboard's, Rhapsodie's) the shortest lasts 12 ms.
SHORTEST_WORD = ms(10)
#: So many letters and digits a second, over at least so many of them, nobody says. Ours: the fastest of these words'
#: 5,548 stretches of that length has 49.1 a second ("longtemps qu'elles sont"), one in a thousand more than 45.
LETTERS_A_SECOND, LETTERS = 50, 20
#: Words so far apart or nearer are one stretch: where one of them cannot be, none of its times is known.
_TOGETHER = ms(200)


def squeezed(words: Sequence[Word]) -> Timeline:
    """Return the stretches of one side's words, in order of time, in which some cannot have been said as they stand.

    A stretch is words with at most 200 ms between them. It is squeezed where a word of it is shorter than
    :data:`SHORTEST_WORD`, or words in a row that have :data:`LETTERS` letters and digits together, and no more words
    than that takes, have at least :data:`LETTERS_A_SECOND` of them a second. Recognisers give such times where they
    hear what was not said. In scripts whose characters are syllables nobody comes near that rate, and only the first
    of the two is told.
    """
    return Timeline(
        Span(run[0].span.start, max(word.span.end for word in run))
        for run in _runs(words)
        if any(word.span.duration < SHORTEST_WORD for word in run) or _too_fast(run)
    )


def _runs(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    first, end = 0, 0
    for n, word in enumerate(words):
        if n > first and word.span.start - end > _TOGETHER:
            yield words[first:n]
            first = n
        end = max(end, word.span.end)
    if words:
        yield words[first:]


def _too_fast(run: Sequence[Word]) -> bool:
    letters = [sum(c.isalnum() for c in word.text) for word in run]
    first, total = 0, 0
    for n, word in enumerate(run):
        total += letters[n]
        while total - letters[first] >= LETTERS:
            total -= letters[first]
            first += 1
        # A word alone may be an abbreviation that is said at length, or a number.
        lasts = word.span.end - run[first].span.start
        if n > first and total >= LETTERS and total * SECOND >= LETTERS_A_SECOND * lasts:
            return True
    return False
