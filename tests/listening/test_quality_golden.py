"""DNSMOS and AECMOS give the numbers of the speechmos package.

``tests/golden/quality.json`` holds what speechmos 0.0.1.1 gave, with librosa 0.11 and ONNX
Runtime 1.32, for :func:`sound` and for the first 9.5 s of recordings of the shared data.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fullduplex.data import audio
from fullduplex.listening.quality.aecmos import aecmos
from fullduplex.listening.quality.dnsmos import dnsmos

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden" / "quality.json").read_text(encoding="utf-8"))
WITHIN = 0.001
TALKS = {"st": "far end", "nst": "near end", "dt": "both", "": None}

Cache = Callable[[str], Path]


def sound(duration: float, pitch: float, noise: float, rate: int = 16_000) -> NDArray[np.float32]:
    """Return a hummed voice: harmonics under two formants, four syllables a second, and white noise."""
    t = np.arange(round(duration * rate)) / rate
    phase = 2 * np.pi * np.cumsum(pitch * (1 + 0.1 * np.sin(2 * np.pi * 0.7 * t))) / rate
    harmonics = np.arange(1, int(3500 / pitch))
    hertz = harmonics * pitch
    formants = 1 / (1 + ((hertz - 600) / 120) ** 2) + 0.5 / (1 + ((hertz - 1700) / 200) ** 2)
    voice = sum(level * np.sin(n * phase) for n, level in zip(harmonics, formants))
    syllables = np.clip(np.sin(2 * np.pi * 2 * t), 0, None)
    mixed = 0.2 * voice * syllables + noise * np.random.default_rng(7).standard_normal(len(t))
    return np.asarray(np.clip(mixed, -1, 1), np.float32)


@pytest.mark.weights
@pytest.mark.parametrize("case", GOLDEN["dnsmos"], ids=lambda case: f"{case['duration']}s-{case['noise']}")
def test_dnsmos_of_made_sounds_is_the_packages(case: dict[str, Any], cache_with: Cache) -> None:
    found = dnsmos(sound(case["duration"], case["pitch"], case["noise"]), 16_000, cache_with("dnsmos"), at_least=0)
    assert found.values == pytest.approx(case["scores"], abs=WITHIN)


@pytest.mark.weights
@pytest.mark.parametrize("case", GOLDEN["dnsmos of recordings"], ids=lambda case: str(case["file"]))
def test_dnsmos_of_recordings_at_every_rate_is_the_packages(
    case: dict[str, Any], cache_with: Cache, shared: Callable[[str], Path]
) -> None:
    samples, rate = audio.read(shared("data") / case["file"])
    assert rate == case["rate"]
    found = dnsmos(samples[: round(9.5 * rate)], rate, cache_with("dnsmos"), at_least=0)
    assert found.values == pytest.approx(case["scores"], abs=WITHIN)


@pytest.mark.weights
@pytest.mark.parametrize("case", GOLDEN["aecmos"], ids=lambda case: f"{case['rate']}-{case['talk'] or 'unknown'}")
def test_aecmos_of_made_sounds_is_the_packages(case: dict[str, Any], cache_with: Cache) -> None:
    rate = case["rate"]
    played, near = sound(6.0, 110, 0.0, rate), sound(6.0, 190, 0.001, rate)
    taken = 0.6 * near + 0.3 * np.roll(played, rate // 10)
    sent = near * np.float32(0.6) if case["cancelled"] else taken
    found = aecmos(played, taken, sent, rate, cache_with("aecmos"), TALKS[case["talk"]], rate)  # type: ignore[arg-type]
    assert found.values == pytest.approx(case["scores"], abs=WITHIN)


@pytest.mark.weights
@pytest.mark.parametrize("case", GOLDEN["aecmos of recordings"], ids=lambda case: f"{case['talk']}-{case['sent']}")
def test_aecmos_of_recordings_is_the_packages(
    case: dict[str, Any], cache_with: Cache, shared: Callable[[str], Path]
) -> None:
    folder = shared("data/echo_leakage/dtln_aec")
    played, rate = audio.read(folder / f"{case['name']}_lpb.flac")
    taken, _ = audio.read(folder / f"{case['name']}_mic.flac")
    sent = taken if case["sent"] == "all" else np.zeros_like(taken)
    found = aecmos(played, taken, sent, rate, cache_with("aecmos"), TALKS[case["talk"]])  # type: ignore[arg-type]
    assert found.values == pytest.approx(case["scores"], abs=WITHIN)
