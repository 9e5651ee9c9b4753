"""Telephones, lost frames, rooms and echoes against what they are defined by."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from fullduplex.data import audio
from fullduplex.driving.echo import EchoPath
from fullduplex.making import effects as fx
from fullduplex.making.effects.codecs import through_g711, through_opus
from fullduplex.making.effects.filters import without_lows
from fullduplex.making.effects.room import from_its_peak, room
from fullduplex.model.spans import Timeline, ms, seconds
from fullduplex.providers.voices.hibari import Hibari

Samples = NDArray[np.float32]


def spoken(rate: int) -> Samples:
    said = Hibari().speak("Please call me tomorrow, or on Sunday.")
    return np.pad(audio.resample(said.samples, said.rate, rate), rate // 2)


def no_files(name: str) -> Samples:
    raise AssertionError(f"{name} was asked for")


# G.711, by the arithmetic of the recommendation


def by_mulaw(sample: float) -> int:
    """Return what μ-law makes of a sample on the scale of 16 bits."""
    biased = min(int(abs(sample)), 32_635) + 132
    segment = biased.bit_length() - 8
    kept = ((biased >> segment + 3 & 15) << 3) + 132
    return int(np.copysign((kept << segment) - 132, sample))


def by_alaw(sample: float) -> int:
    """Return what A-law makes of a sample on the scale of 16 bits."""
    size = min(int(abs(sample)), 32_767)
    segment = max(0, size.bit_length() - 8)
    kept = (size >> max(4, segment + 3)) & 15
    return int(np.copysign(kept * 16 + 8 if not segment else (kept * 16 + 264) << segment - 1, sample))


@pytest.mark.parametrize(("law", "one"), [("mulaw", by_mulaw), ("alaw", by_alaw)])
def test_g711_gives_the_values_of_the_recommendation(law: str, one: Callable[[float], int]) -> None:
    ramp = np.linspace(-32_700, 32_700, 8_001)
    heard = through_g711((ramp / 32_768).astype(np.float32), law).astype(np.float64) * 32_768
    # The last bits of a sample are rounded on its way in, so a decision may fall one step of 13 bits away.
    low, high = ([one(float(sample + by)) for sample in ramp] for by in (-8, 8))
    assert np.all((np.asarray(low) <= heard) & (heard <= np.asarray(high)))
    assert np.mean(heard == [one(float(sample)) for sample in ramp]) > 0.95


def test_g711_clips_what_is_too_loud() -> None:
    heard = through_g711(np.asarray([4.0, -4.0], np.float32), "mulaw")
    assert heard.tolist() == pytest.approx([32124 / 32768, -32124 / 32768])


def test_a_telephone_passes_its_band_and_no_more() -> None:
    rate = 16_000
    noise = (np.random.default_rng(1).standard_normal(20 * rate) * 0.1).astype(np.float32)
    heard = fx.apply(fx.Telephone(), noise, rate, random=np.random.default_rng(0), load=no_files)
    hertz = np.fft.rfftfreq(len(noise), 1 / rate)
    gain = 10 * np.log10(np.abs(np.fft.rfft(heard)) ** 2 / np.abs(np.fft.rfft(noise)) ** 2)

    def around(centre: float) -> float:
        return float(np.median(gain[np.abs(hertz - centre) < 20]))

    assert around(1_000) == pytest.approx(-0.8, abs=0.3)
    assert around(2_000) == pytest.approx(-0.2, abs=0.3)
    assert around(300) == pytest.approx(-6, abs=0.5)
    assert around(60) < -20
    assert around(5_000) < -40


@pytest.mark.parametrize("bitrate", [12_000, 24_000, 64_000])
@pytest.mark.parametrize("rate", [8_000, 16_000, 24_000, 48_000])
def test_opus_has_no_delay(rate: int, bitrate: int) -> None:
    before = spoken(rate)
    after = through_opus(before, rate, bitrate)
    size = 1 << (2 * len(before)).bit_length()
    alike = np.fft.irfft(np.fft.rfft(after, size) * np.conj(np.fft.rfft(before, size)), size)
    late = int(np.argmax(alike))
    assert abs(late - size if late > size // 2 else late) <= 1
    assert np.corrcoef(before, after)[0, 1] > 0.8
    assert not np.array_equal(before, after)


def test_more_bits_sound_more_like_the_original() -> None:
    before = spoken(16_000)
    # Tuned for speech, it takes out what lies under a voice at any bitrate.
    few, many = (
        np.mean(without_lows(through_opus(before, 16_000, bits) - before, 300, 16_000) ** 2) for bits in (8_000, 64_000)
    )
    assert many < few / 2


# Lost frames


@pytest.mark.parametrize("effect", [fx.FrameLoss(0.02, 0.2), fx.FrameLoss(0.05, 0.5, loss_bad=0.7, loss_good=0.02)])
def test_frames_are_lost_as_often_as_the_channel_says(effect: fx.FrameLoss) -> None:
    bad = effect.p_good_to_bad / (effect.p_good_to_bad + effect.p_bad_to_good)
    expected = bad * effect.loss_bad + (1 - bad) * effect.loss_good
    shares = [effect.lost(2_000, np.random.default_rng(seed)).mean() for seed in range(40)]
    assert effect.share == pytest.approx(expected)
    assert np.mean(shares) == pytest.approx(expected, abs=4 * np.std(shares) / np.sqrt(len(shares)))
    assert np.std(shares) < 0.03


def test_losses_come_in_bursts_of_their_length() -> None:
    lost = np.concatenate([fx.FrameLoss(0.02, 0.2).lost(5_000, np.random.default_rng(seed)) for seed in range(10)])
    edges = np.flatnonzero(np.diff(lost, prepend=False, append=False))
    assert np.mean(edges[1::2] - edges[::2]) == pytest.approx(5.0, abs=0.6)  # 1 / p_bad_to_good


def test_the_first_frame_is_lost_as_often_as_any() -> None:
    first = [fx.FrameLoss(0.1, 0.3).lost(1, np.random.default_rng(seed))[0] for seed in range(1_500)]
    assert np.mean(first) == pytest.approx(0.25, abs=0.035)


@pytest.mark.parametrize("concealment", ["silence", "repeat"])
def test_a_frame_that_arrives_is_not_touched_and_the_others_are_told(concealment: str) -> None:
    rate, size = 16_000, 320
    before = (np.random.default_rng(0).standard_normal(size * 200 + 100) * 0.1).astype(np.float32)
    made = fx.affected([fx.FrameLoss(0.1, 0.3, concealment=concealment)], before, rate, seed=3, load=no_files)
    told = Timeline(event.span for event in made.events)
    changed = [
        number
        for number in range(201)
        if not np.array_equal(before[number * size :][:size], made.samples[number * size :][:size])
    ]
    lost = [number for number in range(201) if number * ms(20) in told]
    assert changed == lost and lost
    assert told.duration == pytest.approx(sum(len(before[number * size :][:size]) for number in lost) * 62.5, abs=1)
    assert {event.kind for event in made.events} == {"lost"}


def test_a_repeated_frame_fades_and_is_gone_after_60_ms() -> None:
    rate = 8_000
    tone = np.full(rate, 0.5, np.float32)
    effect = fx.FrameLoss(1.0, 0.001, loss_bad=1.0, loss_good=0.0)
    seed = next(s for s in range(10_000) if not effect.lost(1, np.random.default_rng(s))[0])
    heard = fx.apply(effect, tone, rate, random=np.random.default_rng(seed), load=no_files)
    frame = 160
    assert heard[:frame] == pytest.approx(0.5)
    late = heard[frame:]
    assert late[:80] == pytest.approx(0.5)  # 10 ms in full
    assert late[80 + 200] == pytest.approx(0.25, abs=0.01)  # half way down
    assert not late[480 : 2 * frame * 10 // 10 + 480].any()


def test_silence_conceals_by_silence() -> None:
    made = fx.affected(
        [fx.FrameLoss(1.0, 0.0, concealment="silence")], np.ones(800, np.float32), 8_000, seed=0, load=no_files
    )
    assert not made.samples.any()


# Rooms


@pytest.mark.parametrize("t60", [ms(150), ms(500), seconds(2)])
@pytest.mark.parametrize("rate", [8_000, 48_000])
def test_reverberation_lasts_as_long_as_it_says(t60: int, rate: int) -> None:
    """By Schroeder's backward integration: the slope from -5 to -35 dB, taken to 60."""
    tail = room(t60, 0.0, rate, np.random.default_rng(4))[1:]
    falling = 10 * np.log10(np.cumsum(tail[::-1] ** 2)[::-1] / np.sum(tail**2) + 1e-12)
    part = np.flatnonzero((falling <= -5) & (falling >= -35))
    slope = np.polyfit(part / rate, falling[part], 1)[0]
    assert -60 / slope == pytest.approx(t60 / 1e6, rel=0.1)


@pytest.mark.parametrize("ratio", [-10.0, 0.0, 12.0])
def test_the_direct_sound_stands_to_the_rest_as_it_says(ratio: float) -> None:
    kernel = room(ms(400), ratio, 16_000, np.random.default_rng(4))
    assert kernel[0] == 1 and not kernel[1:16].any()
    assert 10 * np.log10(kernel[0] ** 2 / np.sum(kernel[1:] ** 2)) == pytest.approx(ratio, abs=1e-6)


def test_at_the_critical_distance_the_room_is_as_loud_as_the_voice() -> None:
    critical = 0.057 * (60 / 0.5) ** 0.5
    assert fx.FarField(critical).direct_to_reverberant == pytest.approx(0.0)
    assert fx.FarField(2 * critical).direct_to_reverberant == pytest.approx(-6.02, abs=0.01)


def test_a_recorded_room_begins_with_its_peak() -> None:
    response = np.asarray([0.01, 0.02, -0.5, 0.25, 0.1], np.float32)
    assert from_its_peak(response, "r").tolist() == pytest.approx([-1, 0.5, 0.2])


def test_a_voice_in_a_recorded_room_is_where_it_was() -> None:
    rate = 16_000
    response = np.zeros(4_000, np.float32)
    response[800], response[2_400] = 0.7, 0.35
    before = spoken(rate) * np.float32(0.3)
    heard = fx.apply(
        fx.Reverb(response="r.wav"), before, rate, random=np.random.default_rng(0), load=lambda _: response
    )
    expected = before.copy()
    expected[1_600:] += 0.5 * before[:-1_600]
    assert heard == pytest.approx(expected, abs=1e-6)


# The echo of the system


@pytest.mark.parametrize("rate", [8_000, 24_000, 44_100])
def test_an_echo_comes_after_its_delay_and_as_softly_as_it_says(rate: int) -> None:
    kernel = fx.Echo(ms(200), -20.0).kernel(rate)
    assert len(kernel) == rate // 5 + 1
    assert np.flatnonzero(kernel).tolist() == [rate // 5]
    assert kernel[-1] == pytest.approx(0.1)


@pytest.mark.parametrize("t60", [None, ms(150)])
def test_a_talk_applies_the_kernel(t60: int | None) -> None:
    rate, echo = 16_000, fx.Echo(ms(60), -12.0, t60=t60)
    said = spoken(rate)
    path = EchoPath(echo.impulse(rate), echo.delay, rate, rate)
    heard = []
    for at in range(0, len(said) - 320, 320):
        path.take(said[at : at + 320])
        heard.append(path.between(at, at + 320))
    expected = np.convolve(said, echo.kernel(rate))
    live = np.concatenate(heard)
    assert np.abs(live).max() > 0.01
    assert live == pytest.approx(expected[: len(live)], abs=1e-5)


def test_an_echo_in_a_room_is_the_same_each_time_and_begins_with_the_direct_sound() -> None:
    echo = fx.Echo(ms(200), -20.0, t60=ms(200), seed=3)
    assert echo.kernel(16_000).tobytes() == echo.kernel(16_000).tobytes()
    impulse = echo.impulse(16_000)
    assert np.argmax(np.abs(impulse)) == 0 and impulse[0] == pytest.approx(0.1)
    assert 10 * np.log10(impulse[0] ** 2 / np.sum(impulse[1:] ** 2)) == pytest.approx(6.0, abs=0.01)
    assert np.array_equal(echo.kernel(16_000)[3_200:], impulse)
    assert fx.Echo(ms(200), -20.0, t60=ms(200), seed=4).kernel(16_000).tobytes() != echo.kernel(16_000).tobytes()
