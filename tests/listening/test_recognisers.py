"""Recognisers on real outputs and on silence, and what they say when they cannot."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from fullduplex.data import audio
from fullduplex.errors import InputError, PluginError
from fullduplex.listening.recognisers import Heard, Recogniser
from fullduplex.listening.recognisers.moonshine import Moonshine
from fullduplex.listening.recognisers.parakeet import Parakeet, words_of_tokens
from fullduplex.listening.recognisers.whisper import Whisper, _words

EXAMPLES = "data/fdb_official/example_data"


@pytest.fixture(scope="module")
def whisper(cache_with: Callable[[str], Path]) -> Whisper:
    return Whisper("tiny.en", cache=cache_with("whisper-tiny.en"))


@pytest.fixture(scope="module")
def moonshine(cache_with: Callable[[str], Path], cache: Path) -> Moonshine:
    pytest.importorskip("moonshine_voice", reason="moonshine-voice is not installed")
    return Moonshine(cache=cache)


@pytest.fixture(scope="module", params=["whisper", "moonshine"])
def recogniser(request: pytest.FixtureRequest) -> Recogniser:
    found: Recogniser = request.getfixturevalue(request.param)
    return found


def text(heard: Heard) -> str:
    return " ".join(token.text for token in heard.tokens).lower()


def check_times(heard: Heard, duration: float) -> None:
    starts = [token.start for token in heard.tokens if token.start is not None]
    assert len(starts) == len(heard.tokens)
    assert starts == sorted(starts)
    for token in heard.tokens:
        assert token.start is not None
        assert token.end is not None
        assert 0 <= token.start <= token.end <= duration


@pytest.mark.weights
def test_the_words_of_an_official_output_are_heard_where_they_are(
    recogniser: Recogniser, shared: Callable[[str], Path]
) -> None:
    samples, rate = audio.read(shared(EXAMPLES) / "smooth_turn_taking_example" / "1" / "output.wav")
    heard = recogniser.recognise(samples, rate)
    check_times(heard, len(samples) / rate)
    assert "first time doing this" in text(heard)
    first = heard.tokens[0].start
    assert first is not None
    assert abs(first - 3.36) < 0.15  # the official transcript's first word
    assert heard.placed in ("aligned", "partly aligned")


@pytest.mark.weights
def test_the_system_side_of_a_two_channel_recording_is_heard(whisper: Whisper, shared: Callable[[str], Path]) -> None:
    path = shared("data/fdb_site_stereo") / "interruption" / "synthetic" / "freezeomni" / "sample_1.flac"
    samples, rate = audio.read(path, channel=1)
    heard = whisper.recognise(samples, rate)
    check_times(heard, len(samples) / rate)
    assert len(heard.tokens) > 5
    assert heard.confidences is not None
    assert len(heard.confidences) == len(heard.tokens)


@pytest.mark.weights
@pytest.mark.parametrize("level", [0.0, 1e-3])
def test_no_words_are_invented_where_nobody_speaks(recogniser: Recogniser, level: float) -> None:
    noise = (np.random.default_rng(3).normal(0, 1, 80_000) * level).astype(np.float32)
    assert recogniser.recognise(noise, 16_000).tokens == ()


@pytest.mark.weights
def test_no_samples_have_no_words(recogniser: Recogniser) -> None:
    assert recogniser.recognise(np.zeros(0, np.float32), 24_000).tokens == ()


@pytest.mark.weights
def test_a_language_that_is_not_known_is_refused(recogniser: Recogniser) -> None:
    with pytest.raises(InputError, match="language"):
        recogniser.recognise(np.zeros(16_000, np.float32), 16_000, "fr")


@pytest.mark.weights
def test_two_channels_are_refused(recogniser: Recogniser) -> None:
    with pytest.raises(InputError, match="one voice"):
        recogniser.recognise(np.zeros((16_000, 2), np.float32), 16_000)


@pytest.mark.weights
def test_the_same_sound_has_the_same_words_again(whisper: Whisper, shared: Callable[[str], Path]) -> None:
    samples, rate = audio.read(shared(EXAMPLES) / "pause_handling_example" / "1" / "output.wav")
    assert whisper.recognise(samples, rate) == whisper.recognise(samples, rate)


@pytest.mark.weights
def test_a_spec_names_the_weights_and_the_aligners(whisper: Whisper) -> None:
    assert "1a5afae06a4d" in whisper.spec.revision
    assert "pocketsphinx" in whisper.spec.revision


def test_pieces_without_a_space_between_are_one_word() -> None:
    pieces = [
        SimpleNamespace(word=word, start=i, end=i + 1, probability=0.9 - i / 10)
        for i, word in enumerate([" U", ".S", ".", " is"])
    ]
    assert [(w.text, w.start, w.end, w.confidence) for w in _words(pieces, 1.0, spaced=True)] == [
        (" U.S.", 1.0, 4.0, 0.7),
        (" is", 4.0, 5.0, 0.6),
    ]


def test_missing_weights_say_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="run: fullduplex models fetch whisper-base"):
        Whisper(cache=tmp_path)


def test_an_unknown_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"base or tiny\.en"):
        Whisper("huge", cache=tmp_path)


def test_parakeet_without_its_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "onnx_asr" else find(name))
    with pytest.raises(PluginError, match=r"install fullduplex\[parakeet\]"):
        Parakeet(cache=tmp_path)


def test_parakeet_without_weights_says_what_to_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_in(monkeypatch, [])
    with pytest.raises(PluginError, match="run: fullduplex models fetch parakeet-v3"):
        Parakeet("v3", cache=tmp_path)


def test_parakeet_reads_its_library_s_tokens(monkeypatch: pytest.MonkeyPatch, shared: Callable[[str], Path]) -> None:
    monkeypatch.setattr("fullduplex.providers.weights.path", lambda _name, cache: cache)
    stand_in(monkeypatch, [(" Y", 0.16), ("es", 0.24), (" it", 1.2)])
    monkeypatch.setattr("fullduplex.listening.recognisers.parakeet.version", lambda _name: "0")
    samples, rate = audio.read(shared(EXAMPLES) / "smooth_turn_taking_example" / "1" / "output.wav")
    heard = Parakeet(cache=Path("nowhere")).recognise(samples, rate)
    check_times(heard, len(samples) / rate)
    assert heard.tokens[0].text == "Yes"
    assert heard.placed == "recogniser"


def test_a_token_word_lasts_to_a_frame_after_its_last_token_or_to_the_next_word() -> None:
    words = words_of_tokens(["▁a", "b", "▁c", "▁d"], [0.0, 0.4, 0.44, 0.9], 10.0, 10.92)
    assert [(w.text, round(w.start, 3), round(w.end, 3)) for w in words] == [
        ("ab", 10.0, 10.44),
        ("c", 10.44, 10.52),
        ("d", 10.9, 10.92),
    ]


def stand_in(monkeypatch: pytest.MonkeyPatch, tokens: list[tuple[str, float]]) -> None:
    """Put a module in onnx-asr's place that hears these tokens in every piece."""
    result = SimpleNamespace(text="", tokens=[t for t, _ in tokens], timestamps=[s for _, s in tokens])
    adapter = SimpleNamespace(recognize=lambda _samples, sample_rate: result)
    module = ModuleType("onnx_asr")
    module.__spec__ = importlib.machinery.ModuleSpec("onnx_asr", None)
    module.load_model = lambda *_a, **_k: SimpleNamespace(with_timestamps=lambda: adapter)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "onnx_asr", module)
