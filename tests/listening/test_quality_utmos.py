"""What UTMOS is given and what is missing; the network itself is an extra, and a stand-in takes its place here."""

from __future__ import annotations

import hashlib
import sys
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fullduplex.errors import PluginError
from fullduplex.listening.quality import quality, utmos
from fullduplex.listening.quality.utmos import utmos as score

VOICE = np.full(24_000, 1.5, np.float32)


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """Put stand-ins for torch and utmos-pytorch in place, with weights in ``tmp_path``; return what they are given."""
    seen: dict[str, Any] = {"missing": [], "threads": None}

    def scored(wave: Any) -> list[float]:
        seen["wave"] = wave
        return [3.25]

    torch: Any = ModuleType("torch")
    torch.no_grad, torch.from_numpy = nullcontext, lambda array: array
    torch.set_num_threads = lambda count: seen.update(threads=count)
    torch.load = lambda path, **_: Path(path).read_bytes()
    network: Any = ModuleType("utmos_pytorch.utmos_torch")
    network.UTMOSModel = lambda: SimpleNamespace(
        load_state_dict=lambda _state, strict: SimpleNamespace(missing_keys=seen["missing"])
    )
    network.UTMOSScoreTorch = lambda **_: SimpleNamespace(score=scored)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "utmos_pytorch", ModuleType("utmos_pytorch"))
    monkeypatch.setitem(sys.modules, "utmos_pytorch.utmos_torch", network)
    folder = tmp_path / "models" / "utmos"
    folder.mkdir(parents=True)
    (folder / "utmos_state_dict.pt").write_bytes(b"weights")
    return seen


def test_one_clipped_voice_at_16_khz_is_judged_on_one_thread(package: dict[str, Any], tmp_path: Path) -> None:
    assert quality(VOICE, 24_000, ["utmos"], tmp_path) == ({"utmos_mos": 3.25}, {})
    assert package["wave"].shape == (1, 1, 16_000)
    assert package["wave"].max() == 1.0
    assert package["threads"] == 1


def test_weights_that_leave_a_part_of_the_network_undefined_are_refused(
    package: dict[str, Any], tmp_path: Path
) -> None:
    package["missing"] = ["output_layers.0.judge_embedding.weight"]
    with pytest.raises(PluginError, match=r"it has no output_layers\.0\.judge_embedding"):
        score(VOICE, 24_000, tmp_path)


@pytest.mark.usefixtures("package")
def test_missing_weights_are_told_with_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="hf download Blinorot/UTMOS-PyTorch"):
        score(VOICE, 24_000, tmp_path / "elsewhere")


@pytest.mark.usefixtures("package")
def test_the_revision_is_the_bytes_of_the_weights(tmp_path: Path) -> None:
    assert utmos.revision(tmp_path) == f"utmos {hashlib.sha256(b'weights').hexdigest()[:12]}"


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed")
def test_without_the_extra_it_is_named(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"utmos needs torch, .* install fullduplex\[utmos\]"):
        score(VOICE, 24_000, tmp_path)


def test_silence_and_a_breath_have_no_score(tmp_path: Path) -> None:
    assert score(VOICE * 0, 24_000, tmp_path).absent == {"mos": "digital silence"}
    assert score(VOICE[:5_999], 24_000, tmp_path).absent == {"mos": "shorter than 0.25 s"}
