"""The watermark tells which block sounded when, whatever was done to it."""

import numpy as np
import pytest
import soxr

from fullduplex.driving.playout import Samples
from fullduplex.model.spans import SECOND, ms
from fullduplex.systems.incoming import mulaw_decoded, mulaw_encoded
from fullduplex.systems.ogg_opus import LOOKAHEAD, OggOpus
from fullduplex.testing.ogg import OpusStyle, ogg_opus
from fullduplex.testing.watermark import BLOCK, BLOCKS, block_size, heard_at, read_watermark, stretches, watermark

RATES = (8_000, 16_000, 24_000, 48_000)


def within_silence(samples: Samples, before: int, after: int = 3_000) -> Samples:
    return np.pad(samples, (before, after)).astype(np.float32)


def through_opus(samples: Samples, rate: int, style: OpusStyle) -> Samples:
    decoder = OggOpus()
    return np.concatenate([decoder.take(data) for _, data in ogg_opus(samples, rate, style)])


def test_the_numbers_reach_beyond_ten_minutes() -> None:
    assert BLOCKS * BLOCK >= 600 * SECOND
    last = watermark(2, 8_000, BLOCKS - 2)
    assert [block.number for block in read_watermark(within_silence(last, 500), 8_000)] == [BLOCKS - 2, BLOCKS - 1]


def test_every_number_has_a_sound_of_its_own() -> None:
    sounds = watermark(BLOCKS, 8_000).reshape(BLOCKS, -1)
    assert len(np.unique(sounds, axis=0)) == BLOCKS


@pytest.mark.parametrize(
    ("blocks", "start", "rate"), [(1, -1, 8_000), (2, BLOCKS - 1, 8_000), (1, 0, 11_025), (1, 0, 4_000)]
)
def test_what_cannot_be_made_is_refused(blocks: int, start: int, rate: int) -> None:
    with pytest.raises(ValueError, match=r"watermark needs|numbered"):
        watermark(blocks, rate, start)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("seed", range(2))
def test_a_cut_in_mid_block_is_found_to_the_sample(rate: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    whole = watermark(30, rate, int(rng.integers(0, BLOCKS - 30)))
    size = block_size(rate)
    first, last = int(rng.integers(0, size)), len(whole) - int(rng.integers(0, size))
    before, gain = int(rng.integers(0, rate)), rng.uniform(0.1, 1)
    (found,) = stretches(within_silence(gain * whole[first:last], before), rate)
    assert -(-found.at * rate // SECOND) == before
    assert -(-found.until * rate // SECOND) == before + last - first


@pytest.mark.parametrize("rate", RATES)
def test_each_block_is_heard_when_it_sounds(rate: int) -> None:
    heard = heard_at(within_silence(0.3 * watermark(50, rate, 12_345), 777), rate)
    assert [number for number, _ in heard] == list(range(12_345, 12_395))
    worst = max(abs(time - 777 * SECOND / rate - n * BLOCK) for n, (_, time) in enumerate(heard))
    assert worst < ms(0.01)


def test_a_gap_of_a_millisecond_makes_two_stretches() -> None:
    gap = np.zeros(24, np.float32)
    found = stretches(
        within_silence(np.concatenate([watermark(10, 24_000), gap, watermark(10, 24_000, 10)]), 0), 24_000
    )
    assert [(s.at, s.until) for s in found] == [(0, ms(200)), (ms(201), ms(401))]


def test_a_silence_as_long_as_a_block_makes_two_stretches() -> None:
    sound = watermark(20, 24_000)
    sound[5 * 480 : 6 * 480] = 0
    found = stretches(within_silence(sound, 0), 24_000)
    assert [(s.at, s.until) for s in found] == [(0, ms(100)), (ms(120), ms(400))]


def test_a_jump_in_the_numbers_makes_two_stretches() -> None:
    sound = np.concatenate([watermark(10, 24_000)[:4_567], watermark(10, 24_000, 900)])
    found = stretches(within_silence(sound, 100), 24_000)
    assert [(-(-s.at * 3 // 125), s.source) for s in found] == [(100, 0), (4_667, 900 * BLOCK)]


def test_silence_and_noise_hold_no_blocks() -> None:
    noise = np.random.default_rng(0).standard_normal(48_000).astype(np.float32)
    assert read_watermark(np.zeros(48_000, np.float32), 24_000) == []
    assert read_watermark(0.1 * noise, 24_000) == []
    assert read_watermark(np.zeros(0, np.float32), 24_000) == []


@pytest.mark.parametrize("use", ["voip", "audio"])
def test_opus_at_24_kbit_leaves_the_onset_within_a_millisecond_and_one_block_in_a_hundred_unread(use: str) -> None:
    before = 5_003
    sound = within_silence(watermark(400, 24_000, 1_000), before)
    heard = through_opus(sound, 24_000, OpusStyle())
    blocks = [block for block in read_watermark(heard, 48_000) if 1_000 <= block.number < 1_400]
    # A block that could not be read by itself has no confidence of its own.
    assert len({block.number for block in blocks if block.confidence > 0}) >= 396
    off = [
        block.sample / 48_000 - before / 24_000 - LOOKAHEAD / SECOND - (block.number - 1_000) * 0.02 for block in blocks
    ]
    assert max(map(abs, off)) < 0.001


@pytest.mark.parametrize("seed", range(3))
def test_a_stretch_cut_anywhere_survives_opus(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, before = int(rng.integers(0, 480)), int(rng.integers(2_000, 20_000))
    start = int(rng.integers(0, 30_000))
    sound = watermark(40, 24_000, start)[first : -int(rng.integers(1, 480))]
    (found,) = stretches(through_opus(within_silence(rng.uniform(0.1, 1) * sound, before), 24_000, OpusStyle()), 48_000)
    # Where the first sample sounded, whatever of it could be told from silence.
    onset = found.at - found.source + start * BLOCK + first * SECOND // 24_000
    assert abs(onset - before * SECOND // 24_000 - LOOKAHEAD) < ms(1)
    assert abs(found.duration - len(sound) * SECOND // 24_000) < ms(4)


def test_mu_law_at_8_khz_leaves_every_block() -> None:
    sound = within_silence(0.2 * watermark(200, 8_000, 20_000), 1_234)
    (found,) = stretches(mulaw_decoded(mulaw_encoded(sound)), 8_000)
    assert abs(found.at - 1_234 * 125) < ms(1)
    assert found.source // ms(1) in (399_999, 400_000)
    assert abs(found.duration - 200 * BLOCK) < ms(1)


def test_resampling_moves_no_block() -> None:
    sound = within_silence(0.5 * watermark(100, 24_000, 5_000), 4_321)
    there = soxr.resample(soxr.resample(sound, 24_000, 8_000), 8_000, 16_000).astype(np.float32)
    heard = heard_at(there, 16_000)
    assert [number for number, _ in heard] == list(range(5_000, 5_100))
    worst = max(abs(time - 4_321 * SECOND / 24_000 - n * BLOCK) for n, (_, time) in enumerate(heard))
    assert worst < ms(0.1)
