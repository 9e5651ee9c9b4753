"""Edges that are moved to where the energy crosses: the rule, its limits, and what it never does."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullduplex.listening.detectors import Samples, Segments
from fullduplex.listening.detectors.energy import Energy
from fullduplex.listening.edges import EdgeRule, Refined, frame_levels, refine
from fullduplex.model.spans import ms

RATE = 16_000


def burst(*spans: tuple[float, float], length: float = 4.0, level: float = 0.2, rate: int = RATE) -> Samples:
    """Return tones of 300 and 2,500 Hz that sound in ``spans`` (seconds), in digital silence."""
    time = np.arange(round(length * rate)) / rate
    tone = np.sin(2 * np.pi * 300 * time) + 0.5 * np.sin(2 * np.pi * 2500 * time)
    on = np.zeros(len(time), np.bool_)
    for start, end in spans:
        on[round(start * rate) : round(end * rate)] = True
    return (level * tone * on).astype(np.float32)


def noisy(samples: Samples, level: float, seed: int = 1) -> Samples:
    noise = np.random.default_rng(seed).normal(0, level, len(samples))
    return (samples + noise).astype(np.float32)


def near(found: Segments, truth: Segments, within: float) -> bool:
    return all(abs(a - b) <= within for one, other in zip(found, truth, strict=True) for a, b in zip(one, other))


@pytest.mark.parametrize("shift", [(0.07, 0.09), (-0.1, -0.08), (0.2, 0.2), (-0.2, -0.2), (0.0, 0.0)])
def test_in_silence_an_edge_within_reach_is_found_to_three_milliseconds(shift: tuple[float, float]) -> None:
    found = refine(((1.0 + shift[0], 2.5 + shift[1]),), burst((1.0, 2.5)), RATE)
    assert near(found, ((1.0, 2.5),), 0.003)


@pytest.mark.parametrize("rate", [8_000, 11_025, 16_000, 24_000, 44_100, 48_000])
def test_the_rate_moves_no_edge(rate: int) -> None:
    found = refine(((1.06, 2.58),), burst((1.0, 2.5), rate=rate), rate)
    assert near(found, ((1.0, 2.5),), 0.003)


@pytest.mark.parametrize("level", [1.0, 0.1, 0.01, 0.001])
def test_the_level_moves_no_edge(level: float) -> None:
    assert refine(((1.06, 2.58),), burst((1.0, 2.5), level=level), RATE) == refine(
        ((1.06, 2.58),), burst((1.0, 2.5), level=0.2), RATE
    )


def test_in_noise_an_edge_is_found_to_ten_milliseconds() -> None:
    sound = burst((1.0, 2.5))
    assert near(refine(((1.06, 2.59),), noisy(sound, 0.05), RATE), ((1.0, 2.5),), 0.010)


def test_a_sound_below_the_noise_is_found_by_the_band_it_sounds_in() -> None:
    # 100 ms of a 2.5-kHz tone come before the rest, below the noise's full-band level but well above it in their band.
    time = np.arange(4 * RATE) / RATE
    before = (0.05 * np.sin(2 * np.pi * 2500 * time) * ((time >= 0.9) & (time < 1.0))).astype(np.float32)
    sound = noisy(burst((1.0, 2.5)) + before, 0.06)
    within_bands = refine(((1.02, 2.5),), sound, RATE)[0][0]
    level_alone = refine(((1.02, 2.5),), sound, RATE, EdgeRule(evidence=1e9))[0][0]
    assert abs(within_bands - 0.9) <= 0.015
    assert abs(level_alone - 1.0) <= 0.015


def test_a_click_before_the_speech_is_no_onset() -> None:
    sound = burst((1.0, 2.5))
    sound[round(0.9 * RATE)] = 0.5
    assert near(refine(((1.02, 2.5),), sound, RATE), ((1.0, 2.5),), 0.003)


def test_a_gap_of_forty_milliseconds_belongs_to_the_word_and_one_of_eighty_does_not() -> None:
    joined = refine(((1.1, 2.5),), burst((0.97, 1.02), (1.06, 2.5)), RATE)
    apart = refine(((1.12, 2.5),), burst((0.95, 1.0), (1.08, 2.5)), RATE)
    assert abs(joined[0][0] - 0.97) <= 0.003
    assert abs(apart[0][0] - 1.08) <= 0.003


def test_an_edge_without_a_crossing_in_reach_stays() -> None:
    # The tone sounds on for half a second on either side: there is nothing to cross.
    assert refine(((1.5, 2.0),), burst((1.0, 2.5)), RATE) == ((1.5, 2.0),)


def test_without_speech_above_the_noise_every_edge_stays() -> None:
    noise = noisy(np.zeros(4 * RATE, np.float32), 0.1)
    assert refine(((1.0, 2.0),), noise, RATE) == ((1.0, 2.0),)


def test_a_constant_offset_moves_no_edge() -> None:
    assert near(refine(((1.06, 2.58),), burst((1.0, 2.5)) + np.float32(0.1), RATE), ((1.0, 2.5),), 0.003)


def test_speech_from_the_first_sample_on_begins_there() -> None:
    found = refine(((0.1, 1.05),), burst((0.0, 1.0)), RATE)
    assert found[0][0] == 0.0
    assert abs(found[0][1] - 1.0) <= 0.003


def test_speech_to_the_last_sample_ends_there() -> None:
    assert refine(((2.1, 4.0),), burst((2.0, 4.0)), RATE)[0][1] == 4.0


def test_two_that_touch_stay_two() -> None:
    found = refine(((1.0, 1.7), (1.7, 2.5)), burst((1.0, 2.5)), RATE)
    assert near(found, ((1.0, 1.7), (1.7, 2.5)), 0.003)


def test_a_refined_detector_says_that_it_is_and_gives_refined_segments() -> None:
    plain = Energy(min_silence_ms=200)
    sound = burst((1.0, 2.5))
    refined = Refined(plain)
    assert refined.rate == plain.rate
    assert refined.detect([sound, sound[:8000]]) == [refine(plain.detect([sound])[0], sound, RATE), ()]
    assert refined.spec.name == plain.spec.name
    assert refined.spec.options["edges"] == "refined"
    assert refined.spec.digest != plain.spec.digest


def test_nothing_in_nothing_out() -> None:
    assert refine((), burst((1.0, 2.0)), RATE) == ()
    assert refine(((0.0, 0.001),), np.zeros(10, np.float32), RATE) == ((0.0, 0.001),)
    assert len(frame_levels(np.zeros(0, np.float32), RATE, ms(5))) == 0


spans = st.lists(st.integers(0, 2_000), min_size=2, max_size=12, unique=True).map(
    lambda cuts: tuple(
        (a / 1000, b / 1000) for a, b in zip(sorted(cuts)[::2], sorted(cuts)[1::2], strict=False) if b > a
    )
)


@settings(max_examples=60, deadline=None)
@given(segments=spans, seed=st.integers(0, 99), level=st.sampled_from([0.0, 0.001, 0.1]))
def test_segments_stay_in_order_apart_not_empty_and_inside(segments: Segments, seed: int, level: float) -> None:
    random = np.random.default_rng(seed)
    cuts = sorted(random.uniform(0, 2, 6).tolist())
    sound = noisy(burst(*zip(cuts[::2], cuts[1::2], strict=True), length=2.0), level, seed)
    found = refine(segments, sound, RATE)
    assert len(found) == len(segments)
    assert all(0 <= start < end <= 2.0 for start, end in found)
    assert all(before[1] <= after[0] for before, after in pairwise(found))
    assert found == refine(segments, sound, RATE)
