from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fullduplex.data import audio
from fullduplex.data.soundness import all_zero, clipped, likeness, offset_from_zero, swapped
from fullduplex.model.spans import Span, Timeline, ms, seconds

RATE = 8000


def noise(seed: int, length: float = 3.0) -> audio.Samples:
    return (0.1 * np.random.default_rng(seed).standard_normal(round(length * RATE))).astype(np.float32)


def spoken(*spans: tuple[float, float], seed: int = 0, length: float = 4.0) -> audio.Samples:
    samples = np.zeros(round(length * RATE), np.float32)
    for start, end in spans:
        samples[round(start * RATE) : round(end * RATE)] = noise(seed, end - start)
    return samples


def test_one_unit_of_noise_is_not_digital_silence() -> None:
    samples = np.zeros(100, np.float32)
    assert all_zero(samples)
    samples[50] = 1 / 32768
    assert not all_zero(samples)


def test_two_samples_at_full_scale_are_a_peak_and_three_are_clipped() -> None:
    assert clipped(np.array([0, 1, 1, 0, -1, -1, 1], np.float32)) == 0
    assert clipped(np.array([1, 1, 1, 0, -1, -1, -1, -1], np.float32)) == 7


def test_the_offset_is_the_mean() -> None:
    assert offset_from_zero(np.array([0.25, 0.75], np.float32)) == 0.5


def test_two_voices_are_unlike_and_a_voice_is_like_itself() -> None:
    assert likeness(noise(1), noise(2), RATE) < 0.1
    assert likeness(noise(1), noise(1), RATE) == pytest.approx(1.0)


@pytest.mark.parametrize("length", [0.5, 3.0, 40.0])
def test_likeness_is_unmoved_by_gain_sign_delay_and_offset(length: float) -> None:
    one = noise(1, length)
    other = -0.2 * np.roll(one, round(0.1 * RATE)) + np.float32(0.3)
    assert likeness(one, other, RATE) > (0.75 if length < 1 else 0.95)


def test_a_copy_later_than_the_window_is_not_found() -> None:
    assert likeness(noise(1, 6), np.roll(noise(1, 6), 2 * RATE), RATE) < 0.2


@pytest.mark.parametrize("other", [np.zeros(RATE, np.float32), np.full(RATE, 0.5, np.float32), np.zeros(0, np.float32)])
def test_silence_is_like_nothing(other: audio.Samples) -> None:
    assert likeness(noise(1), other, RATE) == 0.0


def test_likeness_over_blocks_is_likeness_at_once() -> None:
    one = noise(1, 40)
    other = 0.5 * one + noise(2, 40)
    whole = float(one.astype(float) @ other) / float(np.linalg.norm(one) * np.linalg.norm(other))
    assert likeness(one, other, RATE) == pytest.approx(whole, abs=1e-3)


SAID, QUIET = Timeline([Span(0, seconds(2))]), Timeline([Span(seconds(2), seconds(4))])


def test_channels_are_swapped_where_the_users_speech_is_in_the_systems() -> None:
    user, system = spoken((0, 2)), spoken((2.5, 4), seed=1)
    assert swapped(system, user, RATE, SAID, QUIET)
    assert not swapped(user, system, RATE, SAID, QUIET)


def test_a_system_that_talks_over_the_user_is_not_swapped() -> None:
    user, system = spoken((0, 2)), 3 * spoken((0, 4), seed=1)
    assert not swapped(user, system, RATE, SAID, QUIET)


def test_a_swap_shows_also_where_the_system_talks_over_the_user() -> None:
    user, system = spoken((0, 2)), spoken((0, 4), seed=1)
    assert swapped(system, user, RATE, SAID, QUIET)


def test_a_system_that_only_talks_over_the_user_is_not_swapped() -> None:
    user, system = spoken((0, 2)), 10 * spoken((0.2, 1.8), seed=1)
    assert not swapped(user, system, RATE, SAID, QUIET)


def test_nothing_is_claimed_without_half_a_second_of_evidence() -> None:
    user, system = spoken((0, 2)), spoken((2.5, 4), seed=1)
    assert not swapped(system, user, RATE, Timeline([Span(0, ms(499))]), QUIET)
    assert swapped(system, user, RATE, Timeline([Span(0, ms(500))]), QUIET)


def test_real_pairs_are_told_apart(shared: Path) -> None:
    def alike(first: audio.Samples, second: audio.Samples, rate: int) -> float:
        return likeness(audio.resample(first, rate, RATE), audio.resample(second, rate, RATE), RATE)

    data = shared / "data"
    same, rate = audio.read_all(data / "io_edge_cases/lhotse_stereo.wav")
    assert alike(same[:, 0], same[:, 1], rate) > 0.99
    agent, rate = audio.read(data / "aws_lca_calls/Auto_Repairs_49_UTC_agent.flac")
    caller, _ = audio.read(data / "aws_lca_calls/Auto_Repairs_49_UTC_caller.flac")
    assert alike(agent, caller, rate) < 0.05
    echoes = data / "echo_leakage/dtln_aec"
    loop, rate = audio.read(echoes / "9mkQhVtzTEy2hDk-6u2Sww_farend_singletalk_lpb.flac")
    heard, _ = audio.read(echoes / "9mkQhVtzTEy2hDk-6u2Sww_farend_singletalk_mic.flac")
    assert 0.1 < alike(loop, heard, rate) < 0.4
