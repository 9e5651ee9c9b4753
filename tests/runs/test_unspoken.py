"""Sound without speech is not silence, and words that nobody looked for are not missing output."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fullduplex.model.items import Item
from fullduplex.model.spans import SECOND, Span, Timeline
from fullduplex.model.speech import Token, Track, Word
from fullduplex.model.trials import Absent, Fact, Trial
from fullduplex.runs.unspoken import AUDIBLE, NO_SPEECH, NO_WORDS, Unspoken, as_heard

SILENT = Fact(0, why="silent")
QUIET = Trial(Item("1"), system=Track((), Timeline(), duration=SECOND, peak=0.0))


def heard(**system: Any) -> Trial:
    return replace(QUIET, system=replace(QUIET.system, **system))


def why(found: Fact | Absent) -> str:
    assert isinstance(found, Fact)
    return found.why


def test_a_loud_recording_without_speech_is_not_called_silent() -> None:
    assert why(as_heard(SILENT, heard(peak=0.2))) == NO_SPEECH
    assert as_heard(Absent("no takeover", "silent"), heard(peak=0.2)) == Absent("no takeover", NO_SPEECH)


@pytest.mark.parametrize("peak", [0.0, AUDIBLE / 2, None])
def test_silence_stays_silence(peak: float | None) -> None:
    assert as_heard(SILENT, heard(peak=peak)) == SILENT


def test_the_limit_is_sound() -> None:
    assert why(as_heard(SILENT, heard(peak=AUDIBLE))) == NO_SPEECH


def test_speech_without_words_is_not_called_silent() -> None:
    assert why(as_heard(SILENT, heard(speech=Timeline([Span(0, SECOND)]), peak=0.2))) == NO_WORDS


def test_a_system_that_spoke_elsewhere_may_be_silent_here() -> None:
    words = (Word("so", Span(0, SECOND)),)
    assert as_heard(SILENT, heard(words=words, speech=Timeline([Span(0, SECOND)]), peak=0.2)) == SILENT


def test_a_talk_whose_words_nobody_told_has_no_words_and_not_no_output() -> None:
    none = Absent("no output", "no output.json")
    found = as_heard(none, heard(words=None, tokens=None))
    assert isinstance(found, Absent) and found.reason == "no words"
    assert as_heard(none, Trial(Item("1"))) == none
    assert as_heard(none, heard(words=None, tokens=(Token("a", None, None),))) == none


def test_how_loud_what_nobody_spoke_was_is_told() -> None:
    found = Unspoken()
    for peak in (0.1, 0.2, 0.01, 0.001):
        found.add(heard(peak=peak))
    found.add(heard(peak=0.9, speech=Timeline([Span(0, SECOND)])))
    (told,) = found.sentences()
    assert told.startswith("sound in 3 items in which no speech was found") and "-20.0 dBFS" in told
    assert list(Unspoken().sentences()) == []
