"""How a voice sounds: what is measured, what is missing and why, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from fullduplex.errors import InputError, PluginError
from fullduplex.listening import quality as door
from fullduplex.listening.quality import quality
from fullduplex.listening.quality.aecmos import NAMES as AECMOS
from fullduplex.listening.quality.aecmos import aecmos
from fullduplex.listening.quality.dnsmos import NAMES as DNSMOS
from fullduplex.listening.quality.dnsmos import WINDOW, dnsmos, filled, starts
from fullduplex.listening.quality.loudness import level_change, loudness
from fullduplex.listening.quality.mel import log_mel
from fullduplex.model.spans import ms

Cache = Callable[[str], Path]
NOWHERE = Path("nowhere")
SILENCE = np.zeros(64_000, np.float32)


def noise(duration: float, level: float = 0.1, rate: int = 16_000, seed: int = 0) -> NDArray[np.float32]:
    return (level * np.random.default_rng(seed).standard_normal(round(duration * rate))).astype(np.float32)


def sine(hertz: float, duration: float, rate: int, peak: float = 1.0) -> NDArray[np.float32]:
    return (peak * np.sin(2 * np.pi * hertz * np.arange(round(duration * rate)) / rate)).astype(np.float32)


# DNSMOS


def test_a_recording_is_doubled_until_it_fills_a_window() -> None:
    assert len(filled(np.ones(WINDOW - 1, np.float32))) == 2 * (WINDOW - 1)
    assert len(filled(np.ones(WINDOW, np.float32))) == WINDOW


@pytest.mark.parametrize(("length", "windows"), [(WINDOW, 1), (11 * 16_000 - 1, 1), (11 * 16_000, 2)])
def test_a_window_begins_every_whole_second(length: int, windows: int) -> None:
    assert starts(length) == [second * 16_000 for second in range(windows)]


def test_windows_that_the_released_program_drops_are_dropped() -> None:
    assert [start // 16_000 for start in starts(35 * 16_000)] == [0, 1, 2, 3, 4, 5, 6, 24, 25]


def test_silence_has_no_score_and_says_so() -> None:
    assert dnsmos(SILENCE, 16_000, NOWHERE) == ({}, dict.fromkeys(DNSMOS, "digital silence"))


def test_what_is_shorter_than_three_seconds_has_no_score() -> None:
    assert dnsmos(noise(2.9999), 16_000, NOWHERE) == ({}, dict.fromkeys(DNSMOS, "shorter than 3 s"))


@pytest.mark.weights
def test_what_lasts_just_as_long_as_asked_has_a_score(cache_with: Cache) -> None:
    assert set(dnsmos(noise(4.6), 16_000, cache_with("dnsmos"), at_least=ms(4600)).values) == set(DNSMOS)


@pytest.mark.weights
def test_beyond_full_scale_is_clipped_not_refused(cache_with: Cache) -> None:
    loud = noise(4.6, level=1.0)
    cache = cache_with("dnsmos")
    assert dnsmos(loud, 16_000, cache) == dnsmos(np.clip(loud, -1, 1), 16_000, cache)


def test_missing_weights_are_told_with_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="fullduplex models fetch dnsmos"):
        dnsmos(noise(3), 16_000, tmp_path)


# AECMOS


def test_a_silent_microphone_has_no_echo_score() -> None:
    found = aecmos(noise(2), SILENCE, noise(2), 16_000, NOWHERE)
    assert found == ({}, dict.fromkeys(AECMOS, "digital silence at the microphone"))


def test_the_wide_model_must_know_who_talks() -> None:
    with pytest.raises(InputError, match="48000 Hz with talk None"):
        aecmos(noise(1), noise(1), noise(1), 48_000, NOWHERE, model_rate=48_000)


def test_a_talk_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="'far end', 'near end', 'both' or None"):
        aecmos(noise(1), noise(1), noise(1), 16_000, NOWHERE, talk="st")  # type: ignore[arg-type]


@pytest.mark.weights
def test_an_echo_scores_worse_than_none(cache_with: Cache, shared: Callable[[str], Path]) -> None:
    from fullduplex.data import audio

    far = shared("data/echo_leakage/dtln_aec") / "9mkQhVtzTEy2hDk-6u2Sww_farend_singletalk"
    (played, rate), (taken, _) = (audio.read(far.with_name(f"{far.name}_{side}.flac")) for side in ("lpb", "mic"))
    faint = noise(len(taken) / rate, 1e-4)
    cache = cache_with("aecmos")
    left, gone = (aecmos(played, taken, sent, rate, cache, "far end").values["echo"] for sent in (taken, faint))
    assert left < 2 < 4 < gone


@pytest.mark.weights
def test_tracks_are_cut_to_the_shortest_and_to_twenty_seconds(cache_with: Cache) -> None:
    played, taken = noise(21, seed=1), noise(23, seed=2)
    cache = cache_with("aecmos")
    twenty = slice(0, 320_000)
    assert aecmos(played, taken, taken, 16_000, cache) == aecmos(
        played[twenty], taken[twenty], taken[twenty], 16_000, cache
    )


# Loudness


@pytest.mark.parametrize("rate", [8_000, 16_000, 24_000, 44_100, 48_000])
def test_a_full_sine_at_1_khz_has_the_loudness_of_the_standard_at_every_rate(rate: int) -> None:
    assert loudness(sine(997, 3, rate), rate).values["lufs"] == pytest.approx(-3.01, abs=0.1)


def test_half_the_amplitude_is_six_decibels_softer() -> None:
    loud, soft = (loudness(sine(997, 2, 16_000, peak), 16_000).values for peak in (0.8, 0.4))
    assert {name: loud[name] - soft[name] for name in loud} == pytest.approx(dict.fromkeys(loud, 6.0206), abs=1e-3)


def test_levels_are_relative_to_full_scale() -> None:
    square = np.tile(np.array([0.5, -0.5], np.float32), 8_000)
    assert loudness(square, 16_000).values["rms_dbfs"] == pytest.approx(-6.0206, abs=1e-4)
    assert loudness(square, 16_000).values["peak_dbfs"] == pytest.approx(-6.0206, abs=1e-4)


@pytest.mark.parametrize(("length", "there"), [(6_399, False), (6_400, True)])
def test_loudness_needs_one_gating_block(length: int, there: bool) -> None:
    found = loudness(noise(1)[:length], 16_000)
    assert ("lufs" in found.values) is there
    assert found.absent == ({} if there else {"lufs": "shorter than 0.4 s"})
    assert {"peak_dbfs", "rms_dbfs"} <= set(found.values)


def test_what_the_gate_leaves_out_has_levels_but_no_loudness() -> None:
    found = loudness(noise(1, level=1e-5), 16_000)
    assert found.absent == {"lufs": "quieter than -70 LUFS throughout"}
    assert found.values["rms_dbfs"] == pytest.approx(-100, abs=0.5)


def test_no_samples_and_silence_are_told_apart() -> None:
    assert set(loudness(SILENCE[:0], 16_000).absent.values()) == {"no samples"}
    assert set(loudness(SILENCE, 16_000).absent.values()) == {"digital silence"}


def test_a_change_of_level_is_after_against_before() -> None:
    before = noise(1)
    assert level_change(before * 2, before[:8_000] * 2).values["change"] == pytest.approx(0, abs=0.2)
    assert level_change(before * 2, before).values["change"] == pytest.approx(6.0206, abs=1e-3)


def test_no_change_of_level_is_made_of_silence() -> None:
    assert level_change(noise(1), SILENCE).absent == {"change": "digital silence before"}
    assert level_change(SILENCE[:0], noise(1)).absent == {"change": "no samples after"}


# The door


def test_names_are_flat_and_every_one_is_there_or_told_missing() -> None:
    found = quality(noise(0.3), 16_000, ["dnsmos", "loudness"], NOWHERE)
    assert set(found.values) == {"loudness_peak_dbfs", "loudness_rms_dbfs"}
    assert set(found.absent) == {*(f"dnsmos_{name}" for name in DNSMOS), "loudness_lufs"}


def test_an_unknown_name_is_refused_harmlessly() -> None:
    with pytest.raises(PluginError, match="known: dnsmos, loudness, utmos") as caught:
        quality(noise(1), 16_000, ["dnsmos\x1b[31m"], NOWHERE)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize("name", ["dnsmos", "loudness"])
@pytest.mark.parametrize(
    ("samples", "rate", "told"),
    [
        (np.zeros((4, 2), np.float32), 16_000, "one voice"),
        (np.full(64_000, np.nan, np.float32), 16_000, "NaN or infinity"),
        (np.ones(64_000, np.float32), 0, "a rate above 0"),
    ],
)
def test_samples_that_are_not_one_finite_voice_are_refused(
    name: str, samples: NDArray[np.float32], rate: int, told: str
) -> None:
    with pytest.raises(InputError, match=told):
        quality(samples, rate, [name], NOWHERE)


def test_the_spec_names_the_bytes_that_judge() -> None:
    made = door.spec(["loudness", "dnsmos", "loudness"], NOWHERE)
    assert made.options == {"names": ["dnsmos", "loudness"]}
    assert "269fbebdb513" in made.revision
    assert "BS.1770-4 by pyloudnorm" in made.revision


@pytest.mark.weights
def test_the_same_sound_gives_the_same_bits_in_another_process(cache_with: Cache) -> None:
    cache = cache_with("dnsmos")
    script = (
        "import numpy as np, sys; from pathlib import Path; from fullduplex.listening.quality import quality\n"
        "samples = (0.1 * np.random.default_rng(0).standard_normal(73600)).astype(np.float32)\n"
        f"print(sorted(quality(samples, 16000, ['dnsmos', 'loudness'], Path({str(cache)!r})).values.items()))"
    )
    environment = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "PATH": ""}
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    here = quality(noise(4.6), 16_000, ["dnsmos", "loudness"], cache)
    assert run.stdout.strip() == str(sorted(here.values.items()))


def test_importing_the_door_loads_nothing_heavy() -> None:
    script = "import fullduplex.listening.quality, sys; print(*{name.partition('.')[0] for name in sys.modules})"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not set(run.stdout.split()) & {"onnxruntime", "scipy", "pyloudnorm", "soundfile", "soxr", "torch"}


# The features


def test_a_band_of_the_spectrum_holds_its_tone() -> None:
    found = log_mel(sine(1000, 1, 16_000), 16_000, size=513, hop=256, bands=160)
    assert found.shape == (1 + 15_999 // 256, 160)
    # 1 kHz is mel 15 of 45.25 to 8 kHz, and band b is centred (b + 1) of 161 parts along.
    assert abs(int(found[20].argmax()) - (15 / 45.245640 * 161 - 1)) <= 1


def test_levels_lie_between_the_loudest_and_eighty_decibels_below() -> None:
    found = log_mel(np.concatenate([noise(0.5), SILENCE[:8_000]]), 16_000, size=321, hop=160, bands=120)
    assert (found.max(), found.min()) == (1.0, -1.0)


def test_a_silence_has_features_that_are_numbers() -> None:
    assert (log_mel(SILENCE, 16_000, size=321, hop=160, bands=120) == 1.0).all()


# Edges of time


def test_one_sample_at_a_high_rate_is_too_short_and_does_not_hang() -> None:
    assert set(dnsmos(np.ones(1, np.float32), 192_000, NOWHERE, at_least=0).absent) == set(DNSMOS)


def test_a_least_length_may_be_chosen() -> None:
    assert dnsmos(noise(0.4), 16_000, NOWHERE, at_least=ms(500)).absent["sig"] == "shorter than 0.5 s"
