"""Lines that people wrote down are found in the sound, and those that are not are marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fullduplex.data import audio
from fullduplex.data.corpora.conversation import Conversation, Loose, Recording, Side, Utterance
from fullduplex.data.corpora.textgrid import tiers_of
from fullduplex.listening.recognisers.alignment import Aligner
from fullduplex.listening.transcribed import aligned
from fullduplex.model.spans import Span, Timeline, ms, seconds

RATE = 16_000


class Evenly:
    """Places each word after the other, a tenth of a second long; finds no line that says what is lost."""

    revision = "evenly"

    def align(self, samples: np.ndarray, words: Sequence[str]) -> list[tuple[float, float] | None] | None:
        if "lost" in words:
            return None
        length = 9.0 if "endless" in words else 0.1
        return [None if word == "7" else (0.1 * n, 0.1 * n + length) for n, word in enumerate(words)]


def conversation(folder: Path, *lines: Utterance, **options: object) -> Conversation:
    audio.write(folder / "a.wav", np.full(20 * RATE, 0.01, np.float32), RATE)
    side = Side("A", Recording(folder / "a.wav"), utterances=lines, **options)  # type: ignore[arg-type]
    return Conversation("talk", (side, Side("B", words=())))


def line(text: str, start: float, end: float, *, unclear: bool = False) -> Utterance:
    return Utterance(text, Span(seconds(start), seconds(end)), unclear)


def test_a_line_s_words_are_where_the_aligner_finds_them(tmp_path: Path) -> None:
    side = aligned(conversation(tmp_path, line("well th- yes.", 2, 3)), Evenly()).sides[0]
    assert [(word.text, word.span.start) for word in side.words or ()] == [
        ("well", ms(1850)), ("th-", ms(1950)), ("yes.", ms(2050))
    ]  # fmt: skip
    assert side.cut_off == {1} and side.words_from == "aligned by evenly"


@pytest.mark.parametrize("text", ["lost here", "endless word", "7 times"])
def test_a_line_that_is_not_found_is_marked_as_a_sound_and_told(tmp_path: Path, text: str) -> None:
    found = aligned(conversation(tmp_path, line("well yes", 2, 3), line(text, 5, 6)), Evenly())
    assert [word.text for word in found.sides[0].words or ()] == ["well", "yes"]
    assert list(found.sides[0].sounds) == [Span(seconds(5), seconds(6))]
    assert "1 of 2 lines could not be found in the sound; they are marked" in found.remarks[0]


def test_a_side_of_which_most_is_not_found_keeps_its_lines_alone(tmp_path: Path) -> None:
    given = conversation(tmp_path, line("lost", 2, 3), line("lost too", 5, 6), line("yes", 7, 8))
    found = aligned(given, Evenly())
    assert found.sides == given.sides and "2 of 3 lines could not be found" in found.remarks[0]


def test_a_line_longer_than_a_minute_is_not_tried(tmp_path: Path) -> None:
    audio_long = np.full(70 * RATE, 0.01, np.float32)
    given = conversation(tmp_path, line("yes", 0, 1), line("no no", 2, 69))
    audio.write(tmp_path / "a.wav", audio_long, RATE)
    assert [word.text for word in aligned(given, Evenly()).sides[0].words or ()] == ["yes"]


def test_lines_without_times_are_looked_for_between_their_neighbours(tmp_path: Path) -> None:
    within = Span(seconds(4), seconds(6))
    given = conversation(tmp_path, line("yes", 2, 3), loose=(Loose("and then", within),), sounds=Timeline([within]))
    side = aligned(given, Evenly()).sides[0]
    assert [(word.text, word.span.start) for word in side.words or ()][1:] == [("and", seconds(4)), ("then", ms(4100))]
    assert list(side.sounds) == []


def test_what_is_unclear_in_a_line_is_a_sound_where_no_word_is(tmp_path: Path) -> None:
    side = aligned(conversation(tmp_path, line("yes", 2, 3, unclear=True)), Evenly()).sides[0]
    # The word is before the line's own start: the aligner was given a little more.
    assert list(side.sounds) == [Span(seconds(2), seconds(3))]


def test_a_side_with_words_or_without_a_recording_stays_as_it_is(tmp_path: Path) -> None:
    given = conversation(tmp_path, line("yes", 2, 3))
    with_words = replace(given, sides=(replace(given.sides[0], words=()), given.sides[1]))
    silent = replace(given, sides=(replace(given.sides[0], recording=None), given.sides[1]))
    assert aligned(with_words, Evenly()) == with_words and aligned(silent, Evenly()) == silent


def test_french_lines_that_people_wrote_down_are_found_in_their_sound(tmp_path: Path) -> None:
    folder = Path(__file__).resolve().parents[3] / "shared" / "data" / "french" / "sppas"
    if not folder.is_dir():
        pytest.skip("the French recordings are not in the shared data beside the checkout")
    sound = folder / "AC_track_0379.wav"
    ((_, labels),) = tiers_of(sound.with_suffix(".TextGrid"))
    lines = [Utterance(text, Span(start, end)) for start, end, text in labels]
    given = Conversation("ac", (Side("A", Recording(sound), utterances=tuple(lines)), Side("B", words=())), "fr")
    words = aligned(given, Aligner("fr")).sides[0].words or ()
    assert [word.text for word in words] == lines[0].text.split()
    # Heard: "entière" goes from about half a second to about nine tenths.
    assert abs(words[2].span.start - ms(480)) < ms(120) and abs(words[2].span.end - ms(920)) < ms(120)
