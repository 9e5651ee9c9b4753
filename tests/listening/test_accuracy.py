"""The default detector against hand labels: the figures that the documents state."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from fullduplex.listening.detectors.silero import Silero

BENCH = Path(__file__).parents[2] / "bench" / "vad_accuracy.py"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    found = importlib.util.spec_from_file_location("vad_accuracy", BENCH)
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["vad_accuracy"] = module
    found.loader.exec_module(module)
    return module


def test_the_default_detector_is_as_right_as_documented(
    bench: ModuleType, cache_with: Callable[[str], Path], shared: Callable[[str], Path]
) -> None:
    detector = Silero(cache=cache_with("silero-v6-sequence"))
    score = bench.score(detector, bench.clips(shared("data/ten_vad_testset")))
    assert score.right >= 0.90
    assert score.right_far_from_labels >= 0.95
    assert score.median_onset_error <= 0.040


def test_a_late_detector_scores_its_delay(bench: ModuleType) -> None:
    labels = ((1.0, 2.0), (3.0, 4.0))
    late = tuple((start + 0.05, end + 0.2) for start, end in labels)
    assert bench.onset_errors(late, labels) == pytest.approx([0.05, 0.05])
    assert bench.offset_errors(late, labels) == pytest.approx([0.2, 0.2])
