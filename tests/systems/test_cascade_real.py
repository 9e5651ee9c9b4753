"""The built-in cascade with its own parts: a real talk, and its answer understood by another recogniser."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.data.audio import resample
from fullduplex.driving.clock import Clock, run_on
from fullduplex.driving.cues import at
from fullduplex.driving.drive import drive
from fullduplex.driving.heard import words_heard
from fullduplex.driving.link import Note, Said
from fullduplex.driving.playout import Flush
from fullduplex.driving.talk import Talk
from fullduplex.driving.user import Turn
from fullduplex.errors import PluginError
from fullduplex.model.spans import in_seconds, ms, seconds
from fullduplex.providers import weights
from fullduplex.providers.voices.hibari import Hibari
from fullduplex.systems.cascade import Cascade

pytestmark = pytest.mark.weights
SPOKEN: dict[str, Any] = {}


@pytest.fixture(scope="module")
def cache() -> Path:
    for library in ("xllamacpp", "moonshine_voice", "hibari", "py_nanotts"):
        pytest.importorskip(library)
    found = weights.default_cache(os.environ)
    try:
        for name in ("silero-v6", "smart-turn-v3.2", "smollm2-135m", "whisper-base", "whisper-tiny.en"):
            weights.path(name, found)
    except PluginError as error:
        pytest.skip(str(error))
    return found


def asks(text: str, when: float) -> Turn:
    if text not in SPOKEN:
        spoken = Hibari(pitch=0.9).speak(text)
        SPOKEN[text] = resample(spoken.samples, spoken.rate, 16_000)
    return Turn(SPOKEN[text], at(seconds(when)), text=text)


def hold(system: Cascade, *turns: Turn, length: float, clock: Clock = "step-algorithmic") -> Talk:
    return run_on(clock, drive(system, turns, length=seconds(length)))


def written(talk: Talk, who: str) -> str:
    return " ".join(note.text for note in talk.notes if isinstance(note, Said) and note.who == who)


QUESTION = "Could you recommend a good book?"


def test_a_question_is_understood_and_the_answer_is_intelligible(cache: Path) -> None:
    from fullduplex.listening.recognisers.whisper import Whisper

    talk = hold(Cascade(turns="smart-turn", limit=20, cache=cache), asks(QUESTION, 0.5), length=9)
    assert "recommend a good book" in written(talk, "user").lower()
    reply = [word.strip(".,!?'").lower() for word in written(talk, "system").split()]
    heard = Whisper("tiny.en", align=False, cache=cache).recognise(talk.system, talk.rate)
    found = {token.text.strip(".,!?'").lower() for token in heard.tokens}
    assert len(reply) > 8 and sum(word in found for word in reply) >= 0.7 * len(reply)
    (stage,) = [note.data for note in talk.notes if isinstance(note, Note) and note.kind == "stage"]
    # 0.2 s of silence, the detector's answer, the recogniser, the first clause, the voice.
    assert 0.5 < stage["total"] < 1.5
    words = words_heard(talk.placed, talk.notes, talk.rate, length=talk.duration)
    assert abs(in_seconds(words[0].span.start) - stage["at"]["first_audio"]) < 0.1


def test_with_its_own_parts_a_talk_repeats_to_the_byte_whatever_is_talked_of_in_between(cache: Path) -> None:
    turns = asks(QUESTION, 0.5), asks("Wait, I meant a film.", 4.5)
    cascade = Cascade(cache=cache, limit=30)
    one = hold(cascade, *turns, length=10)
    # It ends while the answer is still being written.
    hold(cascade, asks("A lemon tree likes a sunny place. How often do I water it?", 0.3), length=5)
    other = hold(cascade, *turns, length=10)
    assert np.array_equal(one.system, other.system) and one.notes == other.notes
    (flush,) = [event for event in one.received if isinstance(event, Flush)]
    assert flush.scope == "r1" and ms(4700) <= flush.arrived < ms(5200)
