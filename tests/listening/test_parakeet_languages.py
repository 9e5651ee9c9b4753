"""Parakeet's two versions: the one that the French benchmark needs, and the one that must not be used for French."""

from __future__ import annotations

import importlib.machinery
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fullduplex.benchmarks.fdb_french import LANGUAGE, RECOGNISER
from fullduplex.errors import InputError
from fullduplex.listening.recognisers.parakeet import Parakeet
from fullduplex.model.spec import Spec

SAID = [(" D", 0.16), ("'", 0.24), ("accord", 0.32), (" à", 0.96), (" l", 1.12), ("'hôtel", 1.2)]


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Put a stand-in in onnx-asr's place that hears :data:`SAID`, and return what it was asked to load."""
    heard = SimpleNamespace(text="", tokens=[t for t, _ in SAID], timestamps=[s for _, s in SAID])
    adapter = SimpleNamespace(recognize=lambda _samples, sample_rate: heard)
    loaded = list[Any]()

    def load_model(name: str, *_: Any, **__: Any) -> Any:
        loaded.append(name)
        return SimpleNamespace(with_timestamps=lambda: adapter)

    module = ModuleType("onnx_asr")
    module.__spec__ = importlib.machinery.ModuleSpec("onnx_asr", None)
    module.load_model = load_model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "onnx_asr", module)
    monkeypatch.setattr("fullduplex.providers.weights.path", lambda _name, cache: cache)
    monkeypatch.setattr("fullduplex.listening.recognisers.parakeet.version", lambda _name: "0")
    monkeypatch.setattr("fullduplex.listening.recognisers.parakeet.around_speech", lambda sound: [(0, len(sound))])
    return loaded


def test_the_french_benchmarks_recogniser_hears_french(asked: list[Any]) -> None:
    spec = Spec.parse(RECOGNISER)
    recogniser = Parakeet(**spec.options, cache=Path("nowhere"))
    found = recogniser.recognise(np.zeros(32_000, np.float32), 16_000, LANGUAGE)
    assert [token.text for token in found.tokens] == ["D'accord", "à", "l'hôtel"]
    assert asked == ["nemo-parakeet-tdt-0.6b-v3"]


def test_version_2_refuses_french() -> None:
    with pytest.raises(InputError, match="fr"):
        Parakeet("v2", cache=Path("nowhere")).recognise(np.zeros(16_000, np.float32), 16_000, "fr")


def test_the_publishers_name_means_the_same_model() -> None:
    named = Parakeet("parakeet-tdt-0.6b-v3", cache=Path("nowhere"))
    assert named.spec == Parakeet("v3", cache=Path("nowhere")).spec


@pytest.mark.parametrize("version", ["v4", "parakeet-tdt-1.1b-v3", ""])
def test_a_version_that_there_is_not_is_refused(version: str) -> None:
    with pytest.raises(InputError, match="v2 or v3"):
        Parakeet(version, cache=Path("nowhere"))
