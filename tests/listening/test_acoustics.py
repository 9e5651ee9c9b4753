"""Pitch, intensity and harmonicity of sounds whose values are known, and the features of a voice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from fullduplex.data import audio
from fullduplex.errors import InputError
from fullduplex.listening.acoustics import Contour, frames, harmonicity, intensity, pitch, voice, whispered

Samples = NDArray[np.float32]
RATE = 16_000


def tone(
    frequency: float, seconds: float = 1.0, rate: int = RATE, harmonics: int = 8, amplitude: float = 0.1
) -> Samples:
    time = np.arange(round(seconds * rate)) / rate
    parts = [np.cos(2 * np.pi * frequency * k * time) / k for k in range(1, harmonics + 1) if frequency * k < rate / 2]
    return np.asarray(amplitude * np.sum(parts, axis=0), np.float32)


def noise(seconds: float = 1.0, rate: int = RATE, amplitude: float = 0.05, seed: int = 1) -> Samples:
    return np.asarray(amplitude * np.random.default_rng(seed).standard_normal(round(seconds * rate)), np.float32)


def same(first: Contour, second: Contour) -> bool:
    return np.array_equal(first.times, second.times) and np.allclose(
        first.values, second.values, rtol=1e-6, equal_nan=True
    )


@pytest.mark.parametrize("rate", [8_000, 16_000, 48_000])
@pytest.mark.parametrize("frequency", [80.0, 123.4, 440.0])
def test_a_tone_has_its_pitch_at_every_rate(frequency: float, rate: int) -> None:
    found = pitch(tone(frequency, 0.5, rate), rate)
    assert np.abs(found.values / frequency - 1).max() < 1e-3


def test_a_glide_is_followed() -> None:
    seconds = 2.0
    time = np.arange(round(seconds * RATE)) / RATE
    phase = 2 * np.pi * (100 * time + 25 * time**2)
    sound = np.asarray(0.1 * sum(np.cos(k * phase) / k for k in range(1, 9)), np.float32)
    found = pitch(sound, RATE)
    assert np.abs(found.values / (100 + 50 * found.times) - 1).max() < 0.01


def test_a_pitch_outside_the_limits_is_not_told() -> None:
    assert not len(pitch(tone(60, harmonics=1), RATE, floor=75).defined)
    assert pitch(tone(60, harmonics=1), RATE, floor=50).defined == pytest.approx(60, rel=1e-3)


def test_white_noise_is_not_voiced() -> None:
    found = pitch(noise(), RATE)
    assert len(found.defined) < 0.05 * len(found.values)


def test_a_quiet_stretch_of_a_loud_sound_is_not_voiced() -> None:
    loud, quiet = tone(150, 0.5), 0.01 * tone(150, 0.5)
    found = pitch(np.concatenate([loud, quiet]), RATE)
    assert np.isnan(found.values[found.times > 0.55]).all()
    assert np.isfinite(pitch(quiet, RATE).values).all()


def test_the_frames_lie_symmetrically_and_fit() -> None:
    found = intensity(np.zeros(RATE, np.float32), RATE)
    assert len(found.times) == 94
    assert found.times[0] + found.times[-1] == pytest.approx(1.0)
    assert found.times[0] >= 0.032
    assert np.diff(found.times) == pytest.approx(0.01)


def test_a_sine_has_its_level() -> None:
    found = intensity(tone(200, harmonics=1, amplitude=0.1), RATE)
    assert found.values == pytest.approx(20 * np.log10(0.1 / np.sqrt(2) / 2e-5), abs=0.02)


def test_gain_moves_the_level_and_nothing_else() -> None:
    sound = tone(150) + noise(amplitude=0.005)
    assert intensity(2 * sound, RATE).values - intensity(sound, RATE).values == pytest.approx(20 * np.log10(2))
    assert same(pitch(2 * sound, RATE), pitch(sound, RATE))
    assert same(harmonicity(2 * sound, RATE), harmonicity(sound, RATE))


def test_an_offset_moves_nothing() -> None:
    sound = (tone(150) + noise(amplitude=0.005)).astype(np.float64)
    for measure in (pitch, intensity, harmonicity):
        assert np.allclose(measure(sound + 0.25, RATE).values, measure(sound, RATE).values, rtol=1e-6, equal_nan=True)


@pytest.mark.parametrize("decibels", [0, 10, 20, 30])
def test_harmonicity_is_the_ratio_of_harmonics_to_noise(decibels: int) -> None:
    harmonics, hiss = tone(150, 2), noise(2)
    hiss *= np.sqrt(np.mean(harmonics**2) / np.mean(hiss**2)) * 10 ** (-decibels / 20)
    assert harmonicity(harmonics + hiss, RATE).defined.mean() == pytest.approx(decibels, abs=1.2)


def test_digital_silence_has_no_pitch_and_no_harmonicity() -> None:
    silence = np.zeros(RATE, np.float32)
    assert not len(pitch(silence, RATE).defined)
    assert not len(harmonicity(silence, RATE).defined)
    assert (intensity(silence, RATE).values == -300).all()
    assert voice(silence, RATE) == {"speech_seconds": 1.0, "cutoffs": 0.0, "voiced_fraction": 0.0}


def test_no_harmonics_are_heard_in_the_silence_beside_a_sound() -> None:
    # A constant is perfectly periodic, but for rounding.
    sound = np.concatenate([noise(0.5), np.zeros(RATE // 4, np.float32), noise(0.5, seed=2)])
    assert harmonicity(sound, RATE).defined.max() < 5


def test_sound_that_comes_out_of_digital_silence_is_measured() -> None:
    sound = np.concatenate([np.zeros(RATE // 4, np.float32), tone(150, 0.5), np.zeros(RATE // 4, np.float32)])
    # Without its mean, the silence is exact zeros: no stretch of it has any energy to divide by.
    found = harmonicity(sound - sound.mean(dtype=np.float64), RATE)
    steady = (found.times > 0.3) & (found.times < 0.7)
    assert found.values[steady].min() > 30
    assert np.isnan(found.values[found.times < 0.2]).all()


def test_silence_beside_speech_is_left_out_of_its_means() -> None:
    sound = np.concatenate([np.zeros(RATE, np.float32), tone(150), np.zeros(RATE, np.float32)])
    alone, beside = voice(tone(150), RATE), voice(sound, RATE)
    assert beside["mean_pitch"] == pytest.approx(alone["mean_pitch"], rel=1e-3)
    assert alone["voiced_fraction"] == 1
    assert beside["voiced_fraction"] == pytest.approx(1 / 3, abs=0.02)
    assert beside["mean_intensity"] > 0


@pytest.mark.parametrize("length", [0, 1, 320])
def test_a_sound_shorter_than_a_frame_has_empty_contours(length: int) -> None:
    sound = tone(150)[:length]
    for measure in (pitch, intensity, harmonicity):
        assert not len(measure(sound, RATE).values)
    assert voice(sound, RATE) == {"speech_seconds": length / RATE, "cutoffs": 0.0}


def test_a_single_voiced_frame_has_no_spread() -> None:
    found = voice(tone(150)[: round(0.045 * RATE)], RATE)
    assert found["mean_pitch"] == pytest.approx(150, rel=0.01)
    assert found["pitch_range"] == 0
    assert "std_pitch" not in found
    assert "mean_intensity" not in found


def test_the_range_is_in_semitones() -> None:
    sound = np.concatenate([tone(100), tone(200)])
    found = voice(sound, RATE)
    assert found["pitch_range"] == pytest.approx(12, abs=0.05)
    assert found["mean_pitch"] == pytest.approx(150, rel=0.02)
    assert found["std_pitch"] == pytest.approx(50, rel=0.02)


def test_blocks_change_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = np.concatenate([tone(110), noise(0.3), tone(210)])
    whole = [measure(sound, RATE) for measure in (pitch, intensity, harmonicity)]
    monkeypatch.setattr(frames, "_BLOCK", 7)
    assert all(map(same, whole, [measure(sound, RATE) for measure in (pitch, intensity, harmonicity)]))


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_refused(wrong: float) -> None:
    sound = tone(150)
    sound[100] = wrong
    for measure in (pitch, intensity, harmonicity, voice):
        with pytest.raises(InputError, match="sample 100: found NaN or infinity"):
            measure(sound, RATE)


def test_several_channels_and_integers_are_refused() -> None:
    with pytest.raises(InputError, match="one voice"):
        pitch(np.zeros((RATE, 2), np.float32), RATE)
    with pytest.raises(InputError, match="int16 samples"):
        intensity(np.zeros(RATE, np.int16), RATE)


def test_options_out_of_range_are_refused() -> None:
    sound = tone(150)
    with pytest.raises(InputError, match="rate"):
        pitch(sound, 0)
    with pytest.raises(InputError, match="step"):
        intensity(sound, RATE, step=0)
    with pytest.raises(InputError, match="floor"):
        pitch(sound, RATE, floor=float("nan"))
    with pytest.raises(InputError, match="at most 1000 Hz"):
        harmonicity(sound, RATE, floor=1001)
    with pytest.raises(InputError, match="more than the floor"):
        pitch(sound, RATE, floor=100, ceiling=100)
    with pytest.raises(InputError, match="candidates"):
        pitch(sound, RATE, candidates=1)
    with pytest.raises(InputError, match="periods"):
        harmonicity(sound, RATE, periods=0)


def test_a_whisper_is_under_both_limits() -> None:
    assert whispered({"hnr": 5.9, "voiced_fraction": 0.39}) is True
    assert whispered({"hnr": 6.0, "voiced_fraction": 0.39}) is False
    assert whispered({"hnr": 5.9, "voiced_fraction": 0.4}) is False


def test_a_whisper_is_not_told_from_what_is_absent() -> None:
    assert whispered({"hnr": 5.9}) is None
    assert whispered({"voiced_fraction": 0.1}) is None
    assert whispered(voice(np.zeros(RATE, np.float32), RATE)) is None


def test_three_of_four_whispers_are_heard_and_no_normal_voice(shared: Callable[[str], Path]) -> None:
    heard = {
        path.stem: whispered(voice(*audio.read(path, 0)))
        for path in shared("data/vocal_phenomena/whisper_pairs_wtimit").glob("*.flac")
    }
    assert len(heard) == 8
    assert {name for name, is_whisper in heard.items() if is_whisper} == {"s000u003w", "s002u003w", "s003u003w"}
