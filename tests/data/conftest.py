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
