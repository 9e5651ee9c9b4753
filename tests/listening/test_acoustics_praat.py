"""Frame by frame against Praat itself, through parselmouth where that is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fullduplex.data import audio
from fullduplex.listening.acoustics import harmonicity, intensity, pitch

praat: Any = pytest.importorskip("parselmouth", reason="the extra `praat` is not installed")

Samples = NDArray[np.float32]
RECORDINGS = (
    "ten_vad_testset/testset-audio-07.flac",
    "fdb_official/example_data/user_interruption_example/1/output.wav",
    "fdb_official/example_data/pause_handling_example/1/input.wav",
    "vocal_phenomena/whisper_pairs_wtimit/s001u003w.flac",
    "vocal_phenomena/mfa/mfa_creaky.flac",
    "aws_lca_calls/Auto_Repairs_49_UTC_caller.flac",
)


def synthetic() -> dict[str, tuple[Samples, int]]:
    random = np.random.default_rng(3)
    made = {}
    for name, rate in (("tone at 8 kHz", 8_000), ("glide at 16 kHz", 16_000), ("tone at 48 kHz", 48_000)):
        time = np.arange(rate) / rate
        phase = 2 * np.pi * (140 * time + (40 * time**2 if "glide" in name else 0))
        made[name] = sum(np.cos(k * phase) / k for k in range(1, 8)) / 20 + random.normal(0, 0.004, rate), rate
    made["noise"] = random.normal(0, 0.05, 16_000), 16_000
    made["speech of odd length"] = (
        np.concatenate([made["glide at 16 kHz"][0], np.zeros(4_001), made["noise"][0]]),
        16_000,
    )
    made["silence"] = np.zeros(16_000), 16_000
    made["a click"] = np.eye(1, 16_000, 8_000)[0], 16_000
    return {name: (np.asarray(samples, np.float32), rate) for name, (samples, rate) in made.items()}


@pytest.fixture(params=[*synthetic(), *RECORDINGS])
def sound(request: pytest.FixtureRequest, shared: Callable[[str], Path]) -> tuple[Samples, int]:
    """Return eight seconds of a recording, or a synthetic sound."""
    if request.param in synthetic():
        return synthetic()[request.param]
    path = shared("data") / request.param
    if not path.is_file():
        pytest.skip(f"no {request.param} in the shared data beside the checkout")
    samples, rate = audio.read(path, 0)
    return samples[: 8 * rate], rate


def heard(samples: Samples, rate: int) -> Any:
    return praat.Sound(samples.astype(np.float64), rate)


@pytest.mark.parametrize("floor", [50.0, 75.0])
def test_pitch_is_praats(sound: tuple[Samples, int], floor: float) -> None:
    theirs = heard(*sound).to_pitch(0.01, floor, 600.0)
    ours = pitch(*sound, floor=floor)
    assert ours.times == pytest.approx(theirs.xs(), abs=1e-9)
    values = np.where(theirs.selected_array["frequency"] > 0, theirs.selected_array["frequency"], np.nan)
    voiced, both = ~np.isnan(values), ~np.isnan(values) & ~np.isnan(ours.values)
    assert np.mean(voiced == ~np.isnan(ours.values)) >= 0.995
    if both.any():
        apart = np.abs(ours.values[both] / values[both] - 1)
        assert np.mean(apart < 0.01) >= 0.995
        assert ours.defined.mean() == pytest.approx(values[voiced].mean(), rel=0.002)


def test_intensity_is_praats(sound: tuple[Samples, int]) -> None:
    theirs = heard(*sound).to_intensity(time_step=0.01)
    ours = intensity(*sound)
    assert ours.times == pytest.approx(theirs.xs(), abs=1e-9)
    assert ours.values == pytest.approx(theirs.values[0], abs=0.05)


def test_harmonicity_is_praats(sound: tuple[Samples, int]) -> None:
    theirs = heard(*sound).to_harmonicity_cc()
    ours = harmonicity(*sound)
    assert ours.times == pytest.approx(theirs.xs(), abs=1e-9)
    defined, both = theirs.values[0] > -200, (theirs.values[0] > -200) & ~np.isnan(ours.values)
    assert np.mean(defined == ~np.isnan(ours.values)) >= 0.995
    if both.any():
        apart = ours.values[both] - theirs.values[0][both]
        assert abs(apart.mean()) < 0.05
        assert np.mean(np.abs(apart) < 0.5) >= 0.99


def test_harmonicity_over_several_periods_is_praats() -> None:
    sound, rate = synthetic()["glide at 16 kHz"]
    theirs = heard(sound, rate).to_harmonicity_cc(periods_per_window=4.5)
    ours = harmonicity(sound, rate, periods=4.5)
    assert ours.times == pytest.approx(theirs.xs(), abs=1e-9)
    assert ours.values == pytest.approx(theirs.values[0], abs=0.2)


@pytest.mark.parametrize("samples", range(955, 965))
def test_a_frame_fits_where_it_fits_in_praat(samples: int) -> None:
    sound = synthetic()["glide at 16 kHz"][0][:samples]
    try:
        count = len(heard(sound, 16_000).to_pitch(0.01, 50.0, 600.0).xs())
    except praat.PraatError:
        count = 0
    assert len(pitch(sound, 16_000, floor=50.0).values) == count
