"""Silero's rules, window by window, and against what the released scripts heard."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from fullduplex.data import audio
from fullduplex.errors import InputError, PluginError
from fullduplex.listening.detectors.silero import Silero, padded, speech, windows

CASES = "cases/full-duplex-bench"
TEN_VAD = "data/ten_vad_testset"


def heard(drawing: str, min_speech_ms: int = 0, min_silence_ms: int = 64) -> list[tuple[int, int]]:
    """Return the stretches, in windows, of probabilities: ``#`` speech, ``-`` between, ``.`` silence."""
    probabilities = np.array([{"#": 0.5, "-": 0.4, ".": 0.1}[mark] for mark in drawing], np.float32)
    found = speech(
        probabilities,
        512 * len(drawing),
        threshold=0.5,
        min_speech=16 * min_speech_ms,
        min_silence=16 * min_silence_ms,
    )
    return [(start // 512, end // 512) for start, end in found]


def test_speech_ends_at_the_first_silent_window() -> None:
    assert heard("..####....") == [(2, 6)]


def test_a_silence_shorter_than_the_least_is_speech() -> None:
    assert heard("##..##....") == [(0, 6)]


def test_a_silence_as_long_as_the_least_ends_speech() -> None:
    # Three windows: the third starts 64 ms after the first.
    assert heard("##...##...") == [(0, 2), (5, 7)]


def test_a_window_between_the_thresholds_neither_starts_nor_ends_speech() -> None:
    assert heard("--##--##---") == [(2, 11)]


def test_a_window_between_the_thresholds_does_not_undo_a_silence() -> None:
    assert heard("##.-.....") == [(0, 2)]


def test_a_stretch_of_just_the_least_length_is_dropped() -> None:
    assert heard(".#.....", min_speech_ms=32) == []
    assert heard(".##....", min_speech_ms=32) == [(1, 3)]


def test_speech_that_is_open_at_the_end_lasts_to_the_end() -> None:
    assert heard("...###") == [(3, 6)]


def test_padding_shares_a_short_silence_and_stays_inside() -> None:
    assert padded([(100, 1000), (1600, 3000)], 3200, 480) == [(0, 1300), (1300, 3200)]


def test_padding_leaves_a_long_silence_its_middle() -> None:
    assert padded([(1000, 2000), (4000, 5000)], 9000, 480) == [(520, 2480), (3520, 5480)]


def test_a_window_sees_the_64_samples_before_it() -> None:
    frames = windows(np.arange(1, 1025, dtype=np.float32))
    assert frames.shape == (2, 576)
    assert not frames[0, :64].any()
    assert (frames[1, :64] == frames[0, -64:]).all()


def test_missing_weights_say_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="run: fullduplex models fetch silero-v6-sequence"):
        Silero(cache=tmp_path)


@pytest.mark.parametrize("options", [{"threshold": 1.0}, {"min_speech_ms": -1}, {"network": "both"}])
def test_an_option_that_makes_no_sense_is_refused(options: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(InputError):
        Silero(**options, cache=tmp_path)  # type: ignore[arg-type]


def test_nothing_is_heard_in_zeros_in_a_few_samples_and_in_none(cache_with: Callable[[str], Path]) -> None:
    detector = Silero(cache=cache_with("silero-v6-sequence"))
    assert detector.detect([np.zeros(32_000, np.float32), np.ones(3, np.float32), np.zeros(0, np.float32)]) == [
        (),
        (),
        (),
    ]


def test_a_spec_names_every_option_and_the_weights(cache_with: Callable[[str], Path]) -> None:
    spec = Silero(cache=cache_with("silero-v6-sequence")).spec
    assert set(spec.options) == {"threshold", "min_speech_ms", "min_silence_ms", "pad_ms", "round_to", "network"}
    assert "9ccdacc4719d" in spec.revision


def released(cache: Path) -> Silero:
    return Silero(min_silence_ms=100, pad_ms=30, round_to=1, cache=cache)


@pytest.mark.parametrize("commit", ["new", "snap", "old"])
def test_the_released_scripts_heard_the_same_segments(
    commit: str, cache_with: Callable[[str], Path], shared: Callable[[str], Path]
) -> None:
    cases = shared(CASES)
    detector = released(cache_with("silero-v6-sequence"))
    expected = json.loads((cases / "expected" / "v1_backchannel_vad.json").read_text())
    compared = 0
    for item, commits in expected.items():
        folder = cases / "v1_backchannel_vad" / item
        if not (folder / "output.json").is_file() or audio.probe(folder / "output.wav").channels > 1:
            continue  # the scripts stop before they listen: no transcript, or two channels
        samples, rate = audio.read(folder / "output.wav")
        if commit == "new":
            samples = audio.resample(samples, rate, 16_000)
        (segments,) = detector.detect([samples])
        counted = [tuple(s) for part in commits[commit]["counted_segments"] for s in part]
        assert [end - start for start, end in segments] == commits[commit]["segment_durations"], item
        assert set(counted) <= set(segments), item
        compared += 1
    assert compared >= 14


def test_the_variants_that_repeat_the_scripts_end_speech_as_the_scripts_do(cache_with: Callable[[str], Path]) -> None:
    from fullduplex.benchmarks import fdb1
    from fullduplex.benchmarks.declare import Hearing

    cache = cache_with("silero-v6-sequence")
    hearings = [value for value in vars(fdb1).values() if isinstance(value, Hearing) and "released" in value.name]
    assert hearings
    for hearing in hearings:
        effective = Silero(**hearing.detector.options, cache=cache).spec
        assert effective == released(cache).spec, "the released hearing has to ask for min_silence_ms=100"


def test_both_networks_give_the_same_probabilities(
    cache_with: Callable[[str], Path], shared: Callable[[str], Path]
) -> None:
    samples, _ = audio.read(shared(TEN_VAD) / "testset-audio-01.flac")
    cache_with("silero-v6-sequence")
    at_once = Silero(cache=cache_with("silero-v6-sequence")).probabilities(samples)
    one_by_one = Silero(network="windows", cache=cache_with("silero-v6")).probabilities(samples)
    assert float(np.abs(at_once - one_by_one).max()) < 1e-5


def test_a_recording_longer_than_one_call_is_heard_as_one(
    cache_with: Callable[[str], Path], shared: Callable[[str], Path]
) -> None:
    samples, _ = audio.read(shared(TEN_VAD) / "testset-audio-01.flac")
    long = np.tile(samples, 7)  # 2,520 windows: more than one call takes
    at_once = Silero(cache=cache_with("silero-v6-sequence")).probabilities(long)
    one_by_one = Silero(network="windows", cache=cache_with("silero-v6")).probabilities(long)
    assert float(np.abs(at_once - one_by_one).max()) < 1e-5


def test_segments_are_in_order_and_inside(cache_with: Callable[[str], Path], shared: Callable[[str], Path]) -> None:
    detector = Silero(cache=cache_with("silero-v6-sequence"))
    for path in sorted(shared(TEN_VAD).glob("*.flac")):
        samples, rate = audio.read(path)
        (segments,) = detector.detect([samples])
        assert all(0 <= start < end <= len(samples) / rate for start, end in segments)
        assert all(before[1] <= after[0] for before, after in pairwise(segments))
