"""No pause but those that were asked for: what a voice leaves silent between its words is made short.

Voices rest for a second after a sentence. A system may rightly take that for the end of a turn, so that an item about
an aside, or about speech that goes on, would be one about a pause.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fullduplex.making.acting.markup import SHORTEST_PAUSE
from fullduplex.model.spans import SECOND, Span, ms
from fullduplex.model.speech import Word
from fullduplex.providers.voices import AUDIBLE, Spoken

#: Where a silence is shortened, its two sides fade into each other for so long.
_FADE = ms(10)


def silences(samples: NDArray[np.float32], rate: int, *, longer_than: int) -> list[tuple[int, int]]:
    """Return the stretches (first sample, first after) in which nothing is audible, longer than so many microseconds.

    Audible is a sample above -50 dB of full scale, as everywhere in the voices.
    """
    quiet = np.abs(samples) <= 10 ** (AUDIBLE / 20)
    edges = np.flatnonzero(np.diff(quiet, prepend=False, append=False))
    return [
        (int(first), int(last))
        for first, last in zip(edges[::2], edges[1::2], strict=True)
        if (last - first) * SECOND > longer_than * rate
    ]


def in_one_breath(spoken: Spoken, longest: int = SHORTEST_PAUSE) -> Spoken:
    """Return ``spoken`` without a silence longer than ``longest`` microseconds, its words moved with it.

    What is cut is the middle of each that is longer. Where a voice's silence is louder than :data:`AUDIBLE`, as in a
    recording with a room in it, none is found.
    """
    rate = spoken.rate
    keep = longest * rate // SECOND
    cuts = [
        (first + keep // 2, last - (keep - keep // 2))
        for first, last in silences(spoken.samples, rate, longer_than=longest)
    ]
    if not cuts:
        return spoken
    words = spoken.words
    if words is not None:
        words = tuple(Word(word.text, _moved(word.span, cuts, rate)) for word in words)
    return Spoken(_without(spoken.samples, cuts, rate), rate, words, spoken.words_from)


def _without(samples: NDArray[np.float32], cuts: Sequence[tuple[int, int]], rate: int) -> NDArray[np.float32]:
    size = _FADE * rate // SECOND
    ramp = np.linspace(0, 1, size + 2, dtype=np.float32)[1:-1]
    made = samples.copy()
    for begin, end in cuts:
        over = min(size, end - begin, begin)
        # What follows the cut comes in while what was before it goes out.
        made[end - over : end] = made[begin - over : begin] * ramp[::-1][:over] + made[end - over : end] * ramp[:over]
    kept, at = list[NDArray[np.float32]](), 0
    for begin, end in cuts:
        over = min(size, end - begin, begin)
        kept += [made[at : begin - over], made[end - over : end]]
        at = end
    return np.concatenate([*kept, made[at:]])


def _moved(span: Span, cuts: Sequence[tuple[int, int]], rate: int) -> Span:
    start, end = (_earlier(time, cuts, rate) for time in (span.start, span.end))
    return Span(start, max(start + 1, end))


def _earlier(time: int, cuts: Sequence[tuple[int, int]], rate: int) -> int:
    """Return where ``time`` lies once the cuts are gone; what lay inside of one is at its place."""
    gone = 0
    for begin, end in cuts:
        first, last = (-(-at * SECOND // rate) for at in (begin, end))
        gone += max(0, min(time, last) - first)
    return time - gone
