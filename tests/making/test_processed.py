"""Whispers pass the whisper rule, shouts are higher, flatter and louder, and no word moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fullduplex.data.audio import resample
from fullduplex.making.processed import HIGHER, shouted, whispered
from fullduplex.model.spans import SECOND, ms
from fullduplex.providers.voices import PEAK

RATE = 16_000
#: The rule: a whisper has a harmonics-to-noise ratio below 6 dB, and fewer than 0.4 of its frames are voiced.
HNR, VOICED = 6.0, 0.4


def periodicity(samples: Any, rate: int = RATE) -> tuple[Any, Any]:
    """Each 40-ms frame's strength and lag of the best period from 75 to 400 Hz, silence left out.

    The normalised cross-correlation of a frame with itself one period later, as Praat's (cc) harmonicity.
    """
    size, low, high = rate // 25, rate // 400, rate // 75
    loudest = np.abs(samples).max()
    strengths, lags = [], []
    for at in range(0, len(samples) - size - high, rate // 100):
        frame = samples[at : at + size].astype(np.float64)
        if np.abs(frame).max() < 0.1 * loudest:
            continue
        later = samples[at : at + size + high].astype(np.float64)
        products = np.correlate(later, frame, "valid")[low : high + 1]
        energy = np.convolve(later**2, np.ones(size), "valid")[low : high + 1]
        r = products / np.sqrt(energy * (frame**2).sum() + 1e-20)
        strengths.append(min(max(float(r.max()), 1e-4), 1 - 1e-6))
        lags.append(low + int(r.argmax()))
    return np.asarray(strengths), np.asarray(lags)


def hnr_and_voiced(samples: Any) -> tuple[float, float]:
    r, _ = periodicity(samples)
    return float(np.mean(10 * np.log10(r / (1 - r)))), float((r > 0.7).mean())


def pitch(samples: Any) -> float:
    r, lags = periodicity(samples)
    return float(RATE / np.median(lags[r > 0.8]))


def tilt(samples: Any) -> float:
    """Energy from 1 to 4 kHz over that below 1 kHz, in dB."""
    power, at = np.abs(np.fft.rfft(samples)) ** 2, np.fft.rfftfreq(len(samples), 1 / RATE)
    return float(10 * np.log10(power[(at > 1000) & (at < 4000)].sum() / power[(at > 80) & (at < 1000)].sum()))


def level(samples: Any) -> float:
    return float(10 * np.log10(np.mean(np.asarray(samples, np.float64) ** 2)))


def envelope(samples: Any) -> Any:
    """The level of each 5 ms, over 20 ms."""
    power = np.convolve(np.asarray(samples, np.float64) ** 2, np.ones(RATE // 50), "same")[:: RATE // 200]
    return 10 * np.log10(power + 1e-7)


def moved(a: Any, b: Any) -> int:
    """How far, in microseconds, the loudness of ``b`` lies behind that of ``a``."""
    one, other = (x - x.mean() for x in (envelope(a), envelope(b)))
    lags = range(-10, 11)
    scores = [float(np.dot(one[10:-10], other[10 + lag : len(other) - 10 + lag])) for lag in lags]
    return lags[int(np.argmax(scores))] * ms(5)


@pytest.fixture(scope="module", params=["hibari", "pico"])
def normal(request: pytest.FixtureRequest) -> Any:
    text = "Could you tell me how to look after a lemon tree?"
    if request.param == "hibari":
        pytest.importorskip("hibari", reason="hibari-tts is not installed")
        from fullduplex.providers.voices.hibari import Hibari

        spoken = Hibari().speak(text)
    else:
        pytest.importorskip("py_nanotts", reason="py-nanotts is not installed")
        from fullduplex.providers.voices.pico import Pico

        spoken = Pico("en-GB").speak(text)
    return resample(spoken.samples, spoken.rate, RATE)


def test_a_whisper_passes_the_whisper_rule_and_normal_speech_does_not(normal: Any) -> None:
    hnr, voiced = hnr_and_voiced(whispered(normal, RATE))
    assert hnr < HNR and voiced < VOICED
    hnr, voiced = hnr_and_voiced(normal)
    assert not (hnr < HNR and voiced < VOICED)


def test_a_shout_is_voiced(normal: Any) -> None:
    hnr, voiced = hnr_and_voiced(shouted(normal, RATE))
    assert not (hnr < HNR and voiced < VOICED)


def test_a_shout_is_higher_flatter_and_louder(normal: Any) -> None:
    shout = shouted(normal, RATE)
    assert pitch(shout) / pitch(normal) == pytest.approx(HIGHER, rel=0.12)
    assert tilt(shout) > tilt(normal) + 1
    assert level(shout) > level(normal) + 2
    assert np.abs(shout).max() <= 10 ** (PEAK / 20) + 1e-4


def test_a_whisper_is_softer_and_flatter(normal: Any) -> None:
    whisper = whispered(normal, RATE)
    assert level(whisper) < level(normal) - 5 and tilt(whisper) > tilt(normal) + 1


@pytest.mark.parametrize("make", [whispered, shouted])
def test_the_length_stays_and_words_stay_within_10_ms(normal: Any, make: Any) -> None:
    made = make(normal, RATE)
    assert len(made) == len(normal) and made.dtype == np.float32
    third = len(normal) // 3
    for begin in (0, third, 2 * third):
        assert abs(moved(normal[begin : begin + third], made[begin : begin + third])) <= ms(10)


@pytest.mark.parametrize("make", [whispered, shouted])
def test_a_sound_begins_and_ends_where_it_did(make: Any) -> None:
    random = np.random.default_rng(0)
    samples = np.zeros(RATE, np.float32)
    samples[4000:12000] = 0.1 * np.sign(np.sin(np.arange(8000) * 0.05)) + 0.01 * random.standard_normal(8000)
    loud = np.flatnonzero(np.abs(make(samples, RATE)) > 0.01)
    assert abs(int(loud[0]) - 4000) * SECOND // RATE <= ms(10)
    assert abs(int(loud[-1]) - 12000) * SECOND // RATE <= ms(10)


def test_the_seed_draws_the_breath() -> None:
    samples = (0.1 * np.sin(np.arange(RATE) * 0.05)).astype(np.float32)
    assert np.array_equal(whispered(samples, RATE, 1), whispered(samples, RATE, 1))
    assert not np.array_equal(whispered(samples, RATE, 1), whispered(samples, RATE, 2))


@pytest.mark.parametrize("make", [whispered, shouted])
@pytest.mark.parametrize("rate", [8_000, 24_000, 48_000])
def test_silence_and_almost_nothing_stay_what_they_are(make: Any, rate: int) -> None:
    assert len(make(np.zeros(0, np.float32), rate)) == 0
    assert not make(np.zeros(rate // 10, np.float32), rate).any()
    assert len(make(np.full(3, 0.1, np.float32), rate)) == 3
