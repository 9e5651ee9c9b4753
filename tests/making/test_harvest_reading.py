"""A conversation's lines are placed in the sound before anybody is asked to hear it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from fullduplex.data.corpora.conversation import Conversation, Recording, Side, Utterance
from fullduplex.making.doubts import told_once
from fullduplex.making.harvest import reading
from fullduplex.making.harvest.reading import read_placed
from fullduplex.model.spans import Span, seconds


def talk(language: str) -> Conversation:
    line = Utterance("well hello", Span(0, seconds(1)))
    sides = tuple(Side(name, Recording(Path(f"{name}.wav")), utterances=(line,)) for name in ("A", "B"))
    return Conversation("one", (sides[0], sides[1]), language)


@dataclass
class OneTalk:
    """A corpus of one conversation."""

    talk: Conversation

    def read(self, name: str) -> Conversation:
        return self.talk


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    languages: list[str] = []
    monkeypatch.setattr(reading, "_aligner", lambda language: language)

    def placed(conversation: Conversation, aligner: str) -> Conversation:
        languages.append(aligner)
        return replace(conversation, remarks=("placed",))

    monkeypatch.setattr(reading, "aligned", placed)
    return languages


def test_lines_without_times_of_words_are_aligned_in_a_language_that_can_be(asked: list[str]) -> None:
    assert read_placed(OneTalk(talk("fr")), "one").remarks == ("placed",)  # type: ignore[arg-type]
    assert read_placed(OneTalk(talk("nl")), "one").remarks == ()  # type: ignore[arg-type]
    assert asked == ["fr"]


def test_words_that_have_times_are_left_alone(asked: list[str]) -> None:
    known = talk("en")
    sides = tuple(replace(side, words=()) for side in known.sides)
    read_placed(OneTalk(replace(known, sides=(sides[0], sides[1]))), "one")  # type: ignore[arg-type]
    assert asked == []


def test_a_doubt_about_many_conversations_is_told_once() -> None:
    told = told_once([("a", "turns touch"), ("b", "turns touch"), ("b", "two lines lost")])
    assert told == ["a and 1 more: turns touch", "b: two lines lost"]
