"""How loud what is added is, and how it is coloured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fullduplex.data import audio
from fullduplex.errors import InputError
from fullduplex.making import effects as fx
from fullduplex.making.effects.filters import centred, high_shelf, low_pass, without_lows
from fullduplex.making.effects.noise import coloured
from fullduplex.making.effects.sound import audible, speech_level
from fullduplex.model.spans import ms, seconds
from fullduplex.providers.voices.hibari import Hibari

Samples = NDArray[np.float32]
RATE = 16_000


def user() -> Samples:
    said = Hibari().speak("The quick brown fox jumps over the lazy dog.")
    return np.pad(audio.resample(said.samples, said.rate, RATE), RATE)


def other(_: str) -> Samples:
    said = Hibari(pitch=0.85).speak("I would like to know whether the train to the coast still runs.")
    return audio.resample(said.samples, said.rate, RATE)


def added(effect: Any, samples: Samples) -> NDArray[np.float64]:
    made = effect.make(samples, RATE, random=np.random.default_rng(3), load=other).samples
    return np.asarray(made, np.float64)


def decibels(ratio: float) -> float:
    return float(20 * np.log10(ratio))


def rms(samples: NDArray[Any]) -> float:
    return float(np.sqrt(np.mean(samples.astype(np.float64) ** 2)))


def gain_at(taps: NDArray[np.float64], frequency: float) -> float:
    turns = np.exp(-2j * np.pi * frequency / RATE * np.arange(len(taps)))
    return decibels(float(np.abs(taps @ turns)))


@pytest.mark.parametrize("lead", [0, 10])
@pytest.mark.parametrize("effect", [*(fx.Noise(10.0, c) for c in ("white", "pink", "speech")), fx.Babble(10.0)])
def test_ten_decibels_measure_ten_decibels_whatever_the_silence_around(effect: Any, lead: int) -> None:
    samples = np.pad(user(), (lead * RATE, 0))
    # The reference is by hand: the frames of 10 ms within 30 dB of the loudest.
    frames = np.mean(samples[: len(samples) // 160 * 160].reshape(-1, 160).astype(np.float64) ** 2, axis=1)
    level = np.sqrt(frames[frames >= frames.max() / 1000].mean())
    assert decibels(level / rms(added(effect, samples))) == pytest.approx(10.0, abs=0.05)


def test_silences_do_not_make_speech_softer() -> None:
    speech = user()[RATE:-RATE]
    assert speech_level(np.pad(speech, 20 * RATE), RATE) == pytest.approx(speech_level(speech, RATE), rel=0.01)


def test_a_frame_30_db_below_the_loudest_is_audible_and_one_below_that_is_not() -> None:
    loud, edge, under = (np.full(160, level, np.float32) for level in (0.5, 0.5 * 10**-1.499, 0.5 * 10**-1.501))
    assert audible(np.concatenate([loud, edge, under]), RATE).tolist() == [True, True, False]


def test_who_keeps_silent_gets_the_noise_of_a_voice_of_usual_level() -> None:
    assert decibels(rms(added(fx.Noise(10.0), np.zeros(RATE, np.float32)))) == pytest.approx(-33.0, abs=0.01)


def test_drift_stays_within_its_bounds_and_moves() -> None:
    samples = np.pad(user(), (0, 60 * RATE))
    noise = added(fx.Noise(15.0, drift=3.0), samples)
    seconds_ = noise[: len(noise) // RATE * RATE].reshape(-1, RATE)
    snr = [decibels(speech_level(samples, RATE) / rms(second)) for second in seconds_]
    assert min(snr) > 11.8 and max(snr) < 18.2
    assert max(snr) - min(snr) > 2


@pytest.mark.parametrize(("colour", "octave"), [("white", 0.0), ("pink", -3.01), ("speech", -9.0)])
def test_noise_falls_by_its_decibels_an_octave(colour: str, octave: float) -> None:
    noise = coloured(60 * RATE, RATE, colour, np.random.default_rng(2))
    power = np.abs(np.fft.rfft(noise)) ** 2
    hertz = np.fft.rfftfreq(len(noise), 1 / RATE)
    low, high = (power[(hertz > centre * 0.9) & (hertz < centre * 1.1)].mean() for centre in (1_000, 4_000))
    assert 10 * np.log10(high / low) / 2 == pytest.approx(octave, abs=0.15)


def test_babble_is_speech_without_a_word_of_the_user() -> None:
    noise = added(fx.Babble(0.0, voices=2), np.pad(user(), (0, 5 * RATE)))
    crest = np.abs(noise).max() / rms(noise)
    assert crest > 4  # steady Gaussian noise of one voice's bandwidth stays about there; speech exceeds it
    assert audible(noise.astype(np.float32), RATE).mean() > 0.8


def test_the_shelf_has_its_decibels_above_and_none_below() -> None:
    taps = high_shelf(-5.0, 4_000, RATE)
    assert gain_at(taps, 500) == pytest.approx(0, abs=0.1)
    assert gain_at(taps, 4_000) == pytest.approx(-2.5, abs=0.2)
    assert gain_at(taps, 7_500) == pytest.approx(-5, abs=0.3)


def test_a_low_pass_has_half_its_height_at_its_corner() -> None:
    taps = low_pass(3_000, RATE)
    assert gain_at(taps, 2_250) == pytest.approx(0, abs=0.1)
    assert gain_at(taps, 3_000) == pytest.approx(-6, abs=0.2)
    assert gain_at(taps, 3_760) < -50


def test_lows_go_by_twelve_decibels_an_octave() -> None:
    click = np.zeros(RATE, np.float32)
    click[RATE // 2] = 1
    heard = without_lows(click, 300, RATE)
    # Around the click, to keep the sum of a long run of phases exact.
    assert gain_at(heard, 300) == pytest.approx(-6, abs=0.1)
    assert gain_at(heard, 75) - gain_at(heard, 37.5) == pytest.approx(12, abs=0.7)


@pytest.mark.parametrize("filtered", ["shelf", "low_pass", "lows"])
def test_a_filter_moves_no_impulse(filtered: str) -> None:
    click = np.zeros(RATE, np.float32)
    click[RATE // 2] = 1
    made = {
        "shelf": lambda: centred(click, high_shelf(-5, 4_000, RATE)),
        "low_pass": lambda: centred(click, low_pass(3_000, RATE)),
        "lows": lambda: without_lows(click, 300, RATE),
    }[filtered]()
    assert int(np.argmax(np.abs(made))) == RATE // 2
    around = made[RATE // 2 - 500 : RATE // 2 + 501]
    assert around == pytest.approx(around[::-1], abs=1e-9)
    assert np.flatnonzero(np.abs(made) >= np.abs(made).max() / 100)[0] > RATE // 2 - RATE // 1000 - 1


def test_side_talk_lies_where_full_duplex_bench_puts_it() -> None:
    """-8 dB, 5 dB less above 4 kHz, reflections after 45 ms at -6 dB and after 120 ms at -12 dB."""
    samples = np.pad(user(), (0, 8 * RATE))
    click = np.zeros(RATE, np.float32)
    click[0] = 1.0

    def load(_: str) -> Samples:
        return click

    effect = fx.OtherDirected("click", at=seconds(4), shelf=0.0)
    heard = np.asarray(effect.make(samples, RATE, random=np.random.default_rng(0), load=load).samples, np.float64)
    at = np.flatnonzero(np.abs(heard) > np.abs(heard).max() / 100)
    assert ((at - 4 * RATE) / RATE).tolist() == pytest.approx([0, 0.045, 0.12])
    assert [decibels(h / heard[at[0]]) for h in heard[at]] == pytest.approx([0, -6, -12], abs=0.01)
    dry = fx.OtherDirected("voice", at=seconds(4), shelf=0.0, reflections=())
    level = speech_level(added(dry, samples).astype(np.float32), RATE)
    assert decibels(level / speech_level(samples, RATE)) == pytest.approx(-8, abs=0.1)


def test_background_speech_lies_where_full_duplex_bench_puts_it() -> None:
    """-15 dB, nothing above 3 kHz, a reflection after 100 ms at -10 dB."""
    samples = np.pad(user(), (0, 8 * RATE))
    dry = fx.Background("voice", at=seconds(4), low_pass=None, reflections=())
    level = speech_level(added(dry, samples).astype(np.float32), RATE)
    assert decibels(level / speech_level(samples, RATE)) == pytest.approx(-15, abs=0.1)
    wet = added(fx.Background("voice", at=seconds(4)), samples)
    power = np.abs(np.fft.rfft(wet)) ** 2
    hertz = np.fft.rfftfreq(len(wet), 1 / RATE)
    assert 10 * np.log10(power[hertz > 4_000].sum() / power.sum()) < -50
    assert fx.Background("voice").reflections == ((ms(100), -10.0),)


def test_added_speech_begins_at_its_time() -> None:
    samples = np.pad(user(), (0, 8 * RATE))
    for effect in (fx.Background("v", at=seconds(4)), fx.OtherDirected("v", at=seconds(4))):
        made = effect.make(samples, RATE, random=np.random.default_rng(0), load=other)
        loud = np.abs(made.samples)
        voice = np.abs(other("v"))
        first = np.flatnonzero(loud >= loud.max() / 100)[0] - 4 * RATE
        assert abs(first - np.flatnonzero(voice >= voice.max() / 100)[0]) < RATE / 1000
        assert made.events[0].span.start == seconds(4)
        assert made.events[0].span.duration == pytest.approx(len(other("v")) * 1e6 / RATE, abs=1)


def test_speech_that_outlasts_the_audio_is_cut_and_that_is_said() -> None:
    made = fx.affected([fx.Background("v", at=seconds(2))], user(), RATE, seed=0, load=other)
    assert made.notes == ("background: cut off where the audio ends",)
    assert made.events[0].span.end == len(user()) * 1_000_000 // RATE


def test_what_is_too_loud_for_any_number_is_refused() -> None:
    louder = fx.effects_from_json([{"kind": "gain", "level": 60}] * 20, Path("item.json"))
    with pytest.raises(InputError, match="samples beyond all numbers"):
        fx.affected(louder, user(), RATE, seed=0, load=other)
