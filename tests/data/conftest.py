from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.data import audio

MakeItem = Callable[..., Path]


@pytest.fixture
def shared() -> Path:
    folder = Path(__file__).resolve().parents[3] / "shared"
    if not folder.is_dir():
        pytest.skip("the shared recordings are not here")
    return folder


def tone(seconds: float, rate: int = 16_000, hertz: float = 220.0, level: float = 0.1) -> audio.Samples:
    return (level * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)).astype(np.float32)


def noise(seconds: float, rate: int = 16_000, seed: int = 0, level: float = 0.1) -> audio.Samples:
    return (level * np.random.default_rng(seed).standard_normal(round(seconds * rate))).astype(np.float32)


def words(*said: tuple[str, float | None, float | None]) -> dict[str, Any]:
    return {"text": " ".join(w for w, _, _ in said), "chunks": [{"text": w, "timestamp": [a, b]} for w, a, b in said]}


@pytest.fixture
def item(tmp_path: Path) -> MakeItem:
    """Make an item folder: ``item("set/1", output=samples, pause=[...])``; keys are file stems."""

    def make(name: str, rate: int = 16_000, **files: Any) -> Path:
        folder = tmp_path / name
        folder.mkdir(parents=True, exist_ok=True)
        for stem, value in files.items():
            if isinstance(value, np.ndarray):
                audio.write(folder / f"{stem}.wav", value, rate)
            elif isinstance(value, str):
                (folder / f"{stem}.json").write_text(value)
            else:
                (folder / f"{stem}.json").write_text(json.dumps(value))
        return folder

    return make
