"""Known words are found in the sound, or it is said that they are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from fullduplex.data import audio
from fullduplex.data.fdb_json import read_tokens
from fullduplex.listening.recognisers import Samples
from fullduplex.listening.recognisers.alignment import Aligner, _parts, how_placed, place
from fullduplex.listening.recognisers.chunks import Placed, in_order
from fullduplex.listening.recognisers.pronunciation import phones

EXAMPLE = "data/fdb_official/example_data/smooth_turn_taking_example/1"


class Stub(Aligner):
    """Finds a text if it is one of these, with words of 0.1 s one after another."""

    def __init__(self, *texts: str) -> None:
        super().__init__("en")
        self.texts = texts

    def align(self, samples: Samples, words: Sequence[str]) -> list[tuple[float, float] | None] | None:
        if " ".join(words) not in self.texts:
            return None
        return [(0.1 * i, 0.1 * (i + 1)) for i in range(len(words))]


def said(text: str, start: float = 10.0) -> list[Placed]:
    return [Placed(word, start + i, start + i + 0.5) for i, word in enumerate(text.split())]


SOUND = np.zeros(16_000 * 20, np.float32)


def test_words_are_found_within_a_tenth_of_a_second_of_the_reference(shared: Callable[[str], Path]) -> None:
    folder = shared(EXAMPLE)
    samples, rate = audio.read(folder / "output.wav")
    tokens = read_tokens(folder / "output.json")
    found = Aligner("en").align(audio.resample(samples, rate, 16_000), [token.text for token in tokens])
    assert found is not None
    errors = [abs(spans[0] - (token.start or 0)) for spans, token in zip(found, tokens, strict=True) if spans]
    assert float(np.median(errors)) < 0.1


def test_a_word_that_no_dictionary_has_is_still_found(shared: Callable[[str], Path]) -> None:
    folder = shared(EXAMPLE)
    samples, rate = audio.read(folder / "output.wav")
    words = [token.text.strip().lower() for token in read_tokens(folder / "output.json")]
    words[words.index("please")] = "pleeze"
    assert Aligner("en").align(audio.resample(samples, rate, 16_000), words) is not None


def test_words_that_are_not_in_the_sound_are_not_found() -> None:
    assert Aligner("en").align(np.zeros(1600, np.float32), ["one", "two", "three", "four", "five", "six"]) is None


def test_no_words_are_not_found() -> None:
    assert Aligner("en").align(SOUND, ["...", "-"]) is None


def test_french_has_its_own_aligner() -> None:
    aligner = Aligner("fr")
    assert aligner.revision.startswith("soundswallower")
    assert aligner.align(np.zeros(1600, np.float32), ["bonjour", "tout", "le", "monde", "comment"]) is None


def test_a_language_without_an_aligner_is_refused() -> None:
    with pytest.raises(KeyError):
        Aligner("ja")


@pytest.mark.parametrize(
    ("word", "language", "parts"),
    [
        (" Mm-hmm,", "en", ["mm", "hmm"]),
        (" don’t", "en", ["don't"]),
        ("'cause", "en", ["cause"]),
        ("U.S.", "en", ["u", "s"]),
        ("—", "en", []),
        ("s'il", "fr", ["s'", "il"]),
        ("aujourd'hui", "fr", ["aujourd'hui"]),
        ("l’été", "fr", ["l'", "été"]),
    ],
)
def test_a_written_word_becomes_what_a_dictionary_has(word: str, language: str, parts: list[str]) -> None:
    assert _parts(word, language) == parts


def test_a_piece_that_is_found_is_aligned_whole() -> None:
    placed = place(Stub("a b c"), SOUND, 16_000, 48_000, [said("a b"), said("c")])
    assert [word.start for word in placed] == pytest.approx([1.0, 1.1, 1.2])
    assert how_placed(placed) == ("aligned", ())


def test_where_the_piece_fails_each_sentence_is_tried() -> None:
    placed = place(Stub("a b"), SOUND, 16_000, 300_000, [said("a b"), said("x y", 15.0)])
    assert [word.aligned for word in placed] == [True, True, False, False]
    assert placed[0].start == pytest.approx(9.7)
    how, remarks = how_placed(placed)
    assert (how, remarks) == ("partly aligned", ("15.00-16.50 s: the recogniser's own times",))


def test_a_last_word_that_nobody_said_does_not_spoil_the_rest() -> None:
    placed = place(Stub("a b"), SOUND, 0, 300_000, [said("a b ghost")])
    assert [word.aligned for word in placed] == [True, True, False]


def test_without_an_aligner_words_keep_their_times() -> None:
    words = said("a b")
    assert place(None, SOUND, 0, 1000, [words]) == words
    assert how_placed(words)[0] == "recogniser"


def test_words_are_in_order_inside_and_do_not_overlap() -> None:
    found = in_order(
        [Placed(" a", -1.0, 0.5), Placed(" b", 0.4, 2.0), Placed("...", 1.0, 1.1), Placed(" c", 0.3, 9.0)], 3.0
    )
    assert [(word.text, word.start, word.end) for word in found] == [("a", 0.0, 0.4), ("b", 0.4, 0.4), ("c", 0.4, 3.0)]


@pytest.mark.parametrize(
    ("word", "expected"), [("shing", "SH IH NG"), ("pleeze", "P L IY Z"), ("x9", "K S"), ("9", "")]
)
def test_letters_are_read_longest_group_first(word: str, expected: str) -> None:
    assert phones(word, "en") == expected


@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_phone_that_is_guessed_is_one_that_the_aligner_knows(language: str) -> None:
    from fullduplex.listening.recognisers import pronunciation

    decoder = Aligner(language)._loaded()
    for number, sounds in enumerate(set(pronunciation._RULES[language].values()) - {""}):
        decoder.add_word(f"guess{number}", sounds, False)
