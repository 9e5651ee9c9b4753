"""Word times from a synthesiser's own durations: how many 25-ms frames each of its phonemes takes.

Kokoro and hibari (which was taught by it) share an alphabet and a grid: pads included, the durations sum to the
length of the audio exactly. The sound of a phoneme comes 75 ms before its place in that sum,
measured on the onsets of utterances and against forced alignment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fullduplex.model.spans import Span, ms
from fullduplex.model.speech import Word

FRAME, EARLY = ms(25), ms(75)
#: Marks that take time in the audio and are no part of a word's sound.
MARKS = frozenset(';:,.!?—…"“”() ')

#: A word as written, and its phonemes in the model's alphabet with the marks that follow it.
Token = tuple[str, str]


def one_more_output(name: bytes) -> bytes:
    """Return a serialised ONNX model that holds nothing but one output of its graph.

    Serialised messages put end to end are one message, in which lists are joined: that is
    how the format defines it, and it spares a library for editing graphs. Field 7 of a model is its
    graph, field 12 of a graph an output, field 1 of an output its name; all lengths are below 128.
    """
    output = bytes([1 << 3 | 2, len(name)]) + name
    graph = bytes([12 << 3 | 2, len(output)]) + output
    return bytes([7 << 3 | 2, len(graph)]) + graph


def phonemes_of(tokens: Sequence[Token]) -> str:
    """Return what the model is asked to say: the phonemes of each word, one space between words."""
    return " ".join(phonemes.strip() for _, phonemes in tokens)


def placed_words(tokens: Sequence[Token], durations: Any, at: int, alphabet: Mapping[str, int]) -> Iterator[Word]:
    """Yield each word where it sounds, of a sentence whose audio begins at ``at`` microseconds.

    ``durations`` are whole frames: of the pad before, of each character of :func:`phonemes_of`
    that is in ``alphabet``, and of the pad after. A word without a sound is left out.
    """
    ends = np.cumsum(durations) * FRAME + at - EARLY
    position = 0  # the pad before the first phoneme
    for text, phonemes in tokens:
        known = [c for c in phonemes.strip() if c in alphabet]
        sounding = [i for i, c in enumerate(known) if c not in MARKS]
        if sounding:
            start = max(0, int(ends[position + sounding[0]]))
            end = int(ends[position + sounding[-1] + 1])
            if end > start:
                yield Word(text, Span(start, end))
        position += len(known) + 1  # and the space after it
