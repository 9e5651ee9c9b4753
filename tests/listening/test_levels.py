"""The two detectors without weights: by level, and WebRTC's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from fullduplex.errors import InputError
from fullduplex.listening.detectors import Detector
from fullduplex.listening.detectors.energy import Energy
from fullduplex.listening.detectors.frames import segments_of
from fullduplex.listening.detectors.webrtc import WebRtc


def tone(*pieces: tuple[float, float]) -> NDArray[np.float32]:
    """Return 16 kHz audio of (seconds, level in dBFS) pieces: a 200 Hz tone whose RMS has that level."""
    parts = []
    for seconds, level in pieces:
        time = np.arange(round(seconds * 16_000)) / 16_000
        parts.append(np.sqrt(2) * 10 ** (level / 20) * np.sin(2 * np.pi * 200 * time))
    return np.concatenate(parts).astype(np.float32)


def test_a_loud_stretch_is_heard_where_it_is() -> None:
    assert Energy().detect([tone((1.0, -90), (0.5, -20), (1.0, -90))]) == [((1.0, 1.5),)]


@pytest.mark.parametrize(("level", "heard"), [(-44.9, True), (-45.1, False)])
def test_the_floor_is_absolute(level: float, heard: bool) -> None:
    assert bool(Energy().detect([tone((1.0, level))])[0]) is heard


def test_a_recording_that_peaks_at_minus_48_db_is_silent() -> None:
    noise = np.random.default_rng(1).uniform(-1, 1, 160_000).astype(np.float32) * 10 ** (-48 / 20)
    assert Energy().detect([noise]) == [()]


def test_what_is_far_below_the_loudest_is_no_speech() -> None:
    assert Energy().detect([tone((0.5, -10), (0.5, -41), (0.5, -39))]) == [((0.0, 0.5), (1.0, 1.5))]


def test_a_constant_offset_is_no_speech() -> None:
    assert Energy().detect([np.full(16_000, 0.2, np.float32)]) == [()]


def test_gain_moves_no_edge_above_the_floor() -> None:
    drawn = tone((0.3, -90), (0.5, -20), (0.4, -90), (0.3, -25))
    assert Energy().detect([drawn]) == Energy().detect([drawn * 0.5])


def test_a_silence_as_long_as_the_least_parts_two_segments() -> None:
    active = np.array([1, 1, 0, 0, 1], np.bool_)
    kept = segments_of(active, 100, 500, 1000, silence_at_least=200, speech_at_least=0)
    filled = segments_of(active, 100, 500, 1000, silence_at_least=201, speech_at_least=0)
    assert (kept, filled) == (((0.0, 0.2), (0.4, 0.5)), ((0.0, 0.5),))


def test_speech_as_long_as_the_least_stays() -> None:
    active = np.array([1, 0, 1, 1], np.bool_)
    assert segments_of(active, 100, 400, 1000, silence_at_least=0, speech_at_least=200) == ((0.2, 0.4),)


def test_the_last_frame_ends_with_the_recording() -> None:
    assert segments_of(np.array([True, True]), 100, 150, 1000, silence_at_least=0, speech_at_least=0) == ((0.0, 0.15),)


def test_webrtc_hears_a_voice_like_sound_and_no_zeros() -> None:
    time = np.arange(16_000) / 16_000
    buzz = sum(np.sin(2 * np.pi * 120 * k * time) / k for k in range(1, 20)) * (1 + np.sin(2 * np.pi * 4 * time)) * 0.1
    quiet = np.zeros(16_000, np.float32)
    (segments,) = WebRtc().detect([np.concatenate([quiet, buzz.astype(np.float32), quiet])])
    assert segments
    assert 0.8 <= segments[0][0] <= 1.2
    assert WebRtc().detect([quiet]) == [()]


def test_webrtc_forgets_one_recording_before_the_next() -> None:
    loud = tone((1.0, -10))
    both = WebRtc().detect([loud, loud])
    assert both[0] == both[1]


@pytest.mark.parametrize("detector", [Energy(), WebRtc()])
def test_nothing_is_heard_in_nothing(detector: Detector) -> None:
    assert detector.detect([np.zeros(0, np.float32), np.zeros(5, np.float32)]) == [(), ()]


@pytest.mark.parametrize(
    "make", [lambda: Energy(3.0), lambda: Energy(min_speech_ms=-1), lambda: WebRtc(4), lambda: WebRtc(1, 15)]
)
def test_an_option_that_makes_no_sense_is_refused(make: type) -> None:
    with pytest.raises(InputError):
        make()
