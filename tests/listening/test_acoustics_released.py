"""What the released v1.5 script computes on a stretch of speech, and its rule for a sudden cut-off."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from fullduplex.data import audio
from fullduplex.errors import InputError
from fullduplex.listening.acoustics import as_released, cutoffs, speech_of
from fullduplex.listening.detectors.silero import Silero

RATE = 16_000
CASES = "cases/full-duplex-bench"


def levels(*decibels: float, rate: int = RATE) -> NDArray[np.float32]:
    """Return frames of 30 ms with these levels in dBFS."""
    size = rate * 30 // 1000
    wave = np.where(np.arange(size) % 2, -1.0, 1.0)
    return np.concatenate([10 ** (level / 20) * wave for level in decibels]).astype(np.float32)


@pytest.mark.parametrize("item", ["701", "703", "704", "706", "707"])
def test_the_released_numbers_come_out(
    item: str, shared: Callable[[str], Path], cache_with: Callable[[str], Path]
) -> None:
    cases = shared(CASES)
    expected = json.loads((cases / "expected" / "v15_general.json").read_text(encoding="utf-8"))[item]["snap"]
    detector = Silero(min_speech_ms=60, min_silence_ms=50, pad_ms=30, cache=cache_with("silero-v6-sequence"))
    output, clean = (
        audio.resample(*audio.read(cases / "v15_audio" / item / name), RATE)
        for name in ("output.wav", "clean_output.wav")
    )
    split = round(expected["split_t"] * RATE)
    for side, sound in (("pre", output[:split]), ("post", output[split:]), ("clean", clean)):
        (segments,) = detector.detect([sound])
        found = as_released(speech_of(sound, RATE, segments), RATE)
        wanted = expected[side]
        assert found["mean_pitch"] == pytest.approx(wanted["mean_pitch"], rel=1e-3)
        assert found["std_pitch"] == pytest.approx(wanted["std_pitch"], rel=5e-3)
        assert found["mean_intensity"] == pytest.approx(wanted["mean_intensity"], abs=0.01)
        assert found["std_intensity"] == pytest.approx(wanted["std_intensity"], abs=0.01)
        assert found["cutoff_count"] == wanted["cutoff_count"]


@pytest.mark.parametrize("item", ["701", "703", "704", "706", "707"])
def test_the_released_speech_length_is_from_the_first_word_to_the_last(
    item: str, shared: Callable[[str], Path]
) -> None:
    cases = shared(CASES)
    expected = json.loads((cases / "expected" / "v15_general.json").read_text(encoding="utf-8"))[item]["snap"]
    for side, name in (("pre", "output.json"), ("post", "output.json"), ("clean", "clean_output.json")):
        words = json.loads((cases / "v15_audio" / item / name).read_text(encoding="utf-8"))["chunks"]
        times = [word["timestamp"] for word in words]
        if side != "clean":
            times = [time for time in times if (time[1] <= expected["split_t"]) == (side == "pre")]
        assert (times[-1][1] - times[0][0] if times else 0.0) == expected[side]["speech_dur_s"]


def test_digital_silence_has_the_level_of_another_scale() -> None:
    found = as_released(np.zeros(RATE, np.float32), RATE)
    assert found["mean_pitch"] == found["std_pitch"] == found["cutoff_count"] == 0
    assert found["mean_intensity"] == pytest.approx(-200, abs=1e-3)


def test_a_short_sound_has_the_level_of_another_scale_and_no_pitch() -> None:
    wave = np.where(np.arange(RATE) % 2, -0.1, 0.1).astype(np.float32)
    long, short = as_released(wave, RATE), as_released(wave[: RATE * 50 // 1000], RATE)
    assert long["mean_intensity"] == pytest.approx(20 * np.log10(0.1 / 2e-5), abs=0.01)
    assert short["mean_intensity"] == pytest.approx(-20, abs=0.01)
    assert "mean_pitch" not in short


def test_of_no_samples_nothing_is_told() -> None:
    assert as_released(np.zeros(0, np.float32), RATE) == {}


def test_speech_is_joined_from_its_segments() -> None:
    sound = np.arange(100, dtype=np.float32)
    assert speech_of(sound, 10, [(1.0, 1.5), (9.04, 12.0)]).tolist() == [*range(10, 15), *range(90, 100)]


def test_a_sound_without_speech_is_taken_whole() -> None:
    sound = np.arange(100, dtype=np.float32)
    assert speech_of(sound, 10, []) is sound


@pytest.mark.parametrize("rate", [8_000, 16_000, 48_000])
def test_a_drop_of_18_decibels_is_a_cut_off(rate: int) -> None:
    assert cutoffs(levels(-60, -60, -60, -20, -20, -38.1, rate=rate), rate) == 1
    assert cutoffs(levels(-60, -60, -60, -20, -20, -37.9, rate=rate), rate) == 0


def test_a_slow_fall_is_no_cut_off() -> None:
    assert cutoffs(levels(-60, -60, -60, -20, -20, -36, -52, -60), RATE) == 0


def test_a_drop_from_the_background_is_no_cut_off() -> None:
    assert cutoffs(levels(-20, *[-40] * 20, -60), RATE) == 1, "the first drop alone"
    assert cutoffs(levels(-20, -40, -40, -60), RATE) == 2


def test_the_first_frame_is_not_background() -> None:
    # Were it, the background of the drop would be -79.6 dB, and -60 dB well above it.
    assert cutoffs(levels(-120, *[-60] * 8, -78.5), RATE) == 0


def test_the_end_of_a_long_even_sound_is_no_cut_off() -> None:
    assert cutoffs(levels(*[-20] * 6, -60), RATE) == 1
    assert cutoffs(levels(*[-20] * 40, -60), RATE) == 0


def test_a_rest_shorter_than_a_frame_is_not_looked_at() -> None:
    sound = levels(-60, -20, -20, -60)
    assert cutoffs(sound, RATE) == 1
    assert cutoffs(sound[:-1], RATE) == 0


def test_no_frame_no_cut_off() -> None:
    assert cutoffs(np.zeros(0, np.float32), RATE) == 0
    assert cutoffs(np.ones(500, np.float32), RATE) == 0
    assert cutoffs(np.ones(5, np.float32), 20) == 0


def test_a_cut_off_of_what_is_no_number_is_refused() -> None:
    with pytest.raises(InputError, match="finite samples"):
        cutoffs(np.array([0.0, np.nan]), RATE)
