"""The level of an echo is what was planted, and what is no echo has none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from fullduplex.data import audio
from fullduplex.errors import InputError
from fullduplex.listening.quality.echo import NAMES, echo_level
from fullduplex.making.effects.room import room
from fullduplex.model.spans import ms, seconds

RATE = 16_000
Sound = NDArray[np.float32]


def babble(duration: float, seed: int) -> Sound:
    """Return noise with the spectrum and the syllables of speech: 1/f above 200 Hz, bursts of a fifth of a second."""
    random = np.random.default_rng(seed)
    count = round(duration * RATE)
    spectrum = np.fft.rfft(random.standard_normal(count))
    hertz = np.fft.rfftfreq(count, 1 / RATE)
    coloured = np.fft.irfft(spectrum / (1 + hertz / 200), count)
    bursts = np.repeat(random.random(count // 3200 + 1) ** 2, 3200)[:count]
    made = coloured * bursts
    return np.asarray(0.1 * made / made.std(), np.float32)


def echo_of(played: Sound, level: float, delay: int, impulse: Sound | None = None) -> Sound:
    late = np.concatenate([np.zeros(delay, np.float32), played])[: len(played)] * np.float32(10 ** (level / 20))
    return late if impulse is None else np.convolve(late, impulse)[: len(late)].astype(np.float32)


PLAYED = babble(8, seed=1)
HISS = (1e-5 * np.random.default_rng(9).standard_normal(len(PLAYED))).astype(np.float32)


@pytest.mark.parametrize("level", [0.0, -20.0, -50.0])
@pytest.mark.parametrize("delay", [0, 640, 24_000])
def test_a_planted_echo_is_found_at_its_level_and_delay(level: float, delay: int) -> None:
    found = echo_level(PLAYED, echo_of(PLAYED, level, delay) + HISS, RATE).values
    assert found["level_db"] == pytest.approx(level, abs=0.2)
    assert found["delay_s"] == delay / RATE
    assert found["drift_ppm"] == 0


def test_the_level_is_against_what_was_played_and_the_share_against_what_was_taken() -> None:
    echo = echo_of(PLAYED, -10, 800)
    user = np.float32(0.1) * babble(8, seed=2)  # 20 dB softer than the system: 10 dB softer than its echo
    found = echo_level(PLAYED, echo + user, RATE).values
    assert found["level_db"] == pytest.approx(-10, abs=0.3)
    assert found["share_db"] == pytest.approx(-10 * np.log10(1.1), abs=0.4)


def test_a_room_spreads_an_echo_and_costs_little_of_its_level() -> None:
    impulse = room(ms(300), 6.0, RATE, np.random.default_rng(3)).astype(np.float32)
    echo = echo_of(PLAYED, -20, 1600, impulse)
    planted = 20 * np.log10(float(echo.std()) / float(PLAYED.std()))
    found = echo_level(PLAYED, echo + HISS, RATE).values
    assert planted - 0.8 < found["level_db"] < planted + 0.1


def test_a_user_as_loud_as_the_system_does_not_move_the_level() -> None:
    found = echo_level(PLAYED, echo_of(PLAYED, -6, 1600) + babble(8, seed=2), RATE).values
    assert found["level_db"] == pytest.approx(-6, abs=1)


@pytest.mark.parametrize("seed", range(2, 8))
def test_somebody_else_is_no_echo(seed: int) -> None:
    found = echo_level(PLAYED, babble(8, seed=seed), RATE)
    assert found == ({}, dict.fromkeys(NAMES, "no echo stands out"))


def test_an_echo_too_faint_for_its_level_to_be_known_is_not_given_a_level() -> None:
    assert echo_level(PLAYED, echo_of(PLAYED, -45, 1600) + babble(8, seed=2), RATE).values == {}


@pytest.mark.parametrize("drift", [-130, 100])
def test_clocks_that_drift_apart_are_followed(drift: int) -> None:
    times = np.arange(len(PLAYED)) * (1 - drift * 1e-6)
    drifted = np.interp(times, np.arange(len(PLAYED)), echo_of(babble_low(), -12, 1600)).astype(np.float32)
    found = echo_level(babble_low(), drifted + HISS, RATE).values
    assert found["level_db"] == pytest.approx(-12, abs=0.3)
    assert found["drift_ppm"] == pytest.approx(drift, abs=10)


def babble_low() -> Sound:
    """Return babble below 2 kHz, which straight lines between samples leave as it is."""
    spectrum = np.fft.rfft(PLAYED)
    spectrum[np.fft.rfftfreq(len(PLAYED), 1 / RATE) > 2000] = 0
    return np.fft.irfft(spectrum, len(PLAYED)).astype(np.float32)


def test_an_echo_in_half_of_a_long_recording_is_averaged_over_the_whole() -> None:
    played = babble(20, seed=5)
    echo = echo_of(played, -10, 800)
    echo[10 * RATE :] = 0
    first, both = (float(np.square(part.astype(np.float64)).sum()) for part in (played[: 10 * RATE], played))
    planted = -10 + 10 * np.log10(first / both)
    found = echo_level(played, echo + np.resize(HISS, len(echo)), RATE).values
    assert found["level_db"] == pytest.approx(planted, abs=0.3)
    assert found["delay_s"] == 0.05


def test_every_rate_gives_the_same_level() -> None:
    taken = echo_of(PLAYED, -20, 1600) + HISS
    for rate in (8_000, 48_000):
        tracks = [audio.resample(track, RATE, rate) for track in (PLAYED, taken)]
        assert echo_level(tracks[0], tracks[1], rate).values["level_db"] == pytest.approx(-20, abs=0.3)


def test_a_microphone_that_is_ahead_is_found_within_the_bounds() -> None:
    ahead = np.concatenate([PLAYED[800:], np.zeros(800, np.float32)]) * np.float32(0.1)
    assert echo_level(PLAYED, ahead + HISS, RATE).values["delay_s"] == -0.05
    assert echo_level(PLAYED, ahead + HISS, RATE, earliest=0).values == {}


def test_an_echo_after_the_latest_is_none() -> None:
    taken = echo_of(PLAYED, -10, 24_000) + HISS
    assert echo_level(PLAYED, taken, RATE, latest=seconds(1)).values == {}


def test_what_cannot_hold_an_echo_says_why() -> None:
    nothing = np.zeros_like(PLAYED)
    for played, taken, why in (
        (PLAYED[: RATE - 1], PLAYED, "shorter than 1 s"),
        (nothing, PLAYED, "the system was silent"),
        (PLAYED, nothing, "digital silence at the microphone"),
    ):
        assert echo_level(played, taken, RATE) == ({}, dict.fromkeys(NAMES, why))


def test_two_channels_at_once_are_refused() -> None:
    with pytest.raises(InputError, match="loopback: found an array of 2 dimensions"):
        echo_level(np.zeros((2, RATE), np.float32), PLAYED, RATE)


@pytest.mark.parametrize(
    ("name", "level", "share", "delay"),
    [
        ("9mkQhVtzTEy2hDk-6u2Sww_farend_singletalk", 1.2, -0.1, 0.035),
        ("DMTgmZwtgUilp4omPK7-OQ_doubletalk", 0.4, -12.1, 0.116),
        ("DLhjtuwiEkS-68TsUVvW5g_nearend_singletalk", None, None, None),
    ],
)
def test_real_echoes_are_found_and_the_user_alone_is_none(
    name: str, level: float | None, share: float, delay: float, shared: Callable[[str], Path]
) -> None:
    folder = shared("data/echo_leakage/dtln_aec")
    (played, rate), (taken, _) = (audio.read(folder / f"{name}_{side}.flac") for side in ("lpb", "mic"))
    found = echo_level(played, taken, rate).values
    if level is None:
        assert found == {}
    else:
        assert found["level_db"] == pytest.approx(level, abs=0.3)
        assert found["share_db"] == pytest.approx(share, abs=0.3)
        assert found["delay_s"] == pytest.approx(delay, abs=0.001)
