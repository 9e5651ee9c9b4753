"""Smart-turn: its features are Whisper's, and it tells a pause from an end."""

from __future__ import annotations

import os

import numpy as np
import pytest

from fullduplex.data.audio import resample
from fullduplex.errors import InputError, PluginError
from fullduplex.providers import weights
from fullduplex.providers.turn_detectors.smart_turn import LONGEST, RATE, SmartTurn, bands, features
from fullduplex.providers.voices.hibari import Hibari


@pytest.fixture(scope="module")
def detector() -> SmartTurn:
    try:
        return SmartTurn(cache=weights.default_cache(os.environ))
    except PluginError as error:
        pytest.skip(str(error))


def said(text: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    pytest.importorskip("hibari")
    spoken = Hibari().speak(text)
    return np.concatenate([resample(spoken.samples, spoken.rate, RATE), np.zeros(RATE // 5, np.float32)])


def test_its_bands_are_those_of_whisper() -> None:
    extractor = pytest.importorskip("faster_whisper.feature_extractor").FeatureExtractor
    assert np.abs(bands().T - extractor.get_mel_filters(RATE, 400, 80)).max() < 1e-7


def test_its_features_are_those_of_whisper() -> None:
    extractor = pytest.importorskip("faster_whisper.feature_extractor").FeatureExtractor(feature_size=80)
    sound = np.random.default_rng(0).standard_normal(LONGEST).astype(np.float32)
    even = ((sound - sound.mean()) / np.sqrt(sound.var() + 1e-7)).astype(np.float32)
    assert features(sound).shape == (80, 800)
    assert np.abs(features(sound) - extractor(even, padding=0)[:, :800]).max() < 1e-4


def test_loudness_changes_no_feature() -> None:
    sound = np.random.default_rng(0).standard_normal(RATE).astype(np.float32)
    assert np.abs(features(sound) - features(0.1 * sound)).max() < 1e-3


@pytest.mark.weights
def test_a_whole_question_is_finished_and_half_a_sentence_is_not(detector: SmartTurn) -> None:
    assert detector.finished(said("Could you tell me what the capital of France is?")) > 0.5
    assert detector.finished(said("I would like to go to the station, because")) < 0.5


@pytest.mark.weights
def test_it_hears_the_last_eight_seconds(detector: SmartTurn) -> None:
    long = said("I would like to go to the station, because")
    before = np.random.default_rng(0).standard_normal(LONGEST).astype(np.float32)
    end = np.concatenate([before, long])[-LONGEST:]
    assert detector.finished(np.concatenate([before, long])) == detector.finished(end)


@pytest.mark.weights
def test_silence_gives_a_probability_and_no_samples_none(detector: SmartTurn) -> None:
    assert 0 <= detector.finished(np.zeros(RATE, np.float32)) <= 1
    assert detector.finished(np.zeros(0, np.float32)) == 0.0


def test_no_thread_is_refused() -> None:
    with pytest.raises(InputError):
        SmartTurn(threads=0)
