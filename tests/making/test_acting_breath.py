"""What a voice leaves silent is made short, and its words move with it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from fullduplex.making.acting.breath import in_one_breath, silences
from fullduplex.model.spans import Span, ms
from fullduplex.model.speech import Word
from fullduplex.providers.voices import Spoken

RATE = 24_000


def spoken(*lengths: int, floor: float = 0.0) -> Spoken:
    """Return sound and silence in turn (milliseconds), a word for each sound, which the silence after it belongs to."""
    random = np.random.default_rng(0)
    parts = [
        random.uniform(0.1, 0.2, length * RATE // 1000) if n % 2 == 0 else np.full(length * RATE // 1000, floor)
        for n, length in enumerate(lengths)
    ]
    ends = np.cumsum([0, *lengths]).tolist()
    words = tuple(
        Word(f"w{n}", Span(ms(ends[n]), ms(ends[min(n + 2, len(lengths))]))) for n in range(0, len(lengths), 2)
    )
    return Spoken(np.concatenate(parts).astype(np.float32), RATE, words, "synthesiser")


def test_a_long_silence_becomes_as_long_as_the_longest() -> None:
    made = in_one_breath(spoken(300, 1000, 300), ms(200))
    assert len(made.samples) == 800 * RATE // 1000
    assert silences(made.samples, RATE, longer_than=ms(199)) == [(300 * RATE // 1000, 500 * RATE // 1000)]


@pytest.mark.parametrize("silent", [0, 199, 200])
def test_a_silence_up_to_the_longest_stays(silent: int) -> None:
    said = spoken(300, silent, 300)
    assert in_one_breath(said, ms(200)) is said


def test_words_move_with_what_is_said() -> None:
    made = in_one_breath(spoken(300, 1000, 300, 700, 400), ms(200))
    assert made.words is not None
    assert [word.span for word in made.words] == [
        Span(0, ms(500)), Span(ms(500), ms(1000)), Span(ms(1000), ms(1400)),
    ]  # fmt: skip


def test_what_sounds_stays_sample_for_sample() -> None:
    said, size = spoken(300, 1000, 300), 300 * RATE // 1000
    made = in_one_breath(said, ms(200)).samples
    assert (made[:size] == said.samples[:size]).all() and (made[-size:] == said.samples[-size:]).all()


def test_a_cut_does_not_click() -> None:
    said = spoken(300, 1000, 300)
    quiet = said.samples[300 * RATE // 1000 : 1300 * RATE // 1000]
    quiet[: len(quiet) // 2], quiet[len(quiet) // 2 :] = 0.003, -0.003
    made = in_one_breath(said, ms(200)).samples[300 * RATE // 1000 : 500 * RATE // 1000]
    assert max(abs(float(b) - float(a)) for a, b in pairwise(made)) < 0.0001


def test_a_voice_in_a_room_that_sounds_is_left_as_it_is() -> None:
    said = spoken(300, 1000, 300, floor=0.004)
    assert in_one_breath(said, ms(200)) is said
