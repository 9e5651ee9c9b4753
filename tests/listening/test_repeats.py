"""The same sound gives the same words, whatever was heard before it and however many threads there are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from fullduplex.data import audio
from fullduplex.data.fdb_folder import read_tokens
from fullduplex.listening.recognisers.alignment import Aligner
from fullduplex.listening.recognisers.moonshine import Moonshine
from fullduplex.listening.recognisers.whisper import Whisper


@pytest.fixture(scope="module")
def spoken(shared: Callable[[str], Path]) -> tuple[np.ndarray, int]:
    folder = shared("data/fdb_site_stereo")
    return audio.read(folder / "backchannel/icc/dGSLM/sample_2.flac", 1)


def test_an_alignment_does_not_depend_on_the_utterances_before(shared: Callable[[str], Path]) -> None:
    utterances = []
    for name in ("smooth_turn_taking_example", "user_interruption_example"):
        folder = shared("data/fdb_official") / "example_data" / name / "1"
        sound = audio.resample(*audio.read(folder / "output.wav"), 16_000)
        tokens = read_tokens(folder / "output.json")
        for i in range(0, len(tokens) - 4, 5):
            start, end = tokens[i].start or 0.0, tokens[i + 4].end or 0.0
            cut = sound[int((start - 0.1) * 16_000) : int((end + 0.1) * 16_000)]
            utterances.append((cut, [token.text for token in tokens[i : i + 5]]))
    alone = [Aligner("en").align(*utterance) for utterance in utterances]
    one = Aligner("en")
    assert [one.align(*utterance) for utterance in utterances] == alone
    assert [one.align(*utterance) for utterance in reversed(utterances)] == alone[::-1]
    assert sum(found is not None for found in alone) >= 8


def said(text: str) -> np.ndarray:
    from fullduplex.providers.voices.hibari import Hibari

    spoken = Hibari().speak(text)
    return np.pad(audio.resample(spoken.samples, spoken.rate, 16_000), 8_000)


def test_moonshine_s_words_do_not_depend_on_what_was_heard_before(cache: Path) -> None:
    pytest.importorskip("moonshine_voice", reason="moonshine-voice is not installed")
    pytest.importorskip("hibari", reason="hibari-tts is not installed")
    day = (
        "At half-past eight, you have breakfast with the team. At ten, there is a call about the new office, and after "
        "that you wanted to write to the landlord, pick up the parcel, and have lunch with your cousin."
    )
    sounds = [said(day), said("Thank you, that is all for today."), said("Could you recommend a good book?")]
    one = Moonshine(align=False, cache=cache)
    heard = [one.recognise(sound, 16_000) for sound in sounds]
    assert [one.recognise(sound, 16_000) for sound in reversed(sounds)] == heard[::-1]
    # Nor on what another one in the process heard.
    assert Moonshine(align=False, cache=cache).recognise(sounds[0], 16_000) == heard[0]
    assert all(found.tokens for found in heard)


def test_words_do_not_depend_on_the_number_of_threads(
    spoken: tuple[np.ndarray, int], cache_with: Callable[[str], Path]
) -> None:
    cache = cache_with("whisper-base")
    cache_with("silero-v6-sequence")
    found = []
    for threads in (1, 2):
        with threadpool_limits(limits=threads, user_api="blas"):
            found.append(Whisper(cache=cache).recognise(*spoken, "en").tokens)
    assert found[0] == found[1]
