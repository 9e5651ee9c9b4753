"""What was measured of an item's sound, as its file keeps it, and what has to be at hand for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex import benchmarks
from fullduplex.benchmarks.declare import Parts, Stretch
from fullduplex.data import audio
from fullduplex.errors import InputError, PluginError
from fullduplex.model.items import Item
from fullduplex.model.spec import Spec
from fullduplex.model.trials import Trial
from fullduplex.runs.sounds import FILE, check_qualities, forget_acoustics, measure_sound, read_acoustics
from fullduplex.stages import Asked, settled

GOOD = {"schema": 1, "parts": {"speech": {"after": {"features": {"mean_pitch": 210.5}, "absent": {}}}}}


def test_features_have_the_name_of_their_part_and_stretch(tmp_path: Path) -> None:
    assert read_acoustics(tmp_path) == {}
    (tmp_path / FILE).write_text(json.dumps(GOOD))
    assert read_acoustics(tmp_path) == {"speech/after/mean_pitch": 210.5}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD)[:60],
        "[]",
        '{"schema": 1}',
        '{"parts": {"speech": [1]}}',
        '{"parts": {"speech": {"after": {}}}}',
        '{"parts": {"speech": {"after": {"features": {"mean_pitch": "high"}}}}}',
    ],
)
def test_a_file_that_was_cut_or_edited_is_refused_and_measured_again(text: str, tmp_path: Path) -> None:
    path = tmp_path / FILE
    path.write_text(text)
    with pytest.raises(InputError, match=r"acoustics\.json"):
        read_acoustics(tmp_path)
    forget_acoustics(tmp_path)
    assert not path.exists()


def test_what_was_measured_is_not_forgotten(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(json.dumps(GOOD))
    forget_acoustics(tmp_path)
    assert (tmp_path / FILE).exists()


class AtItsRate:
    """Hears speech wherever the sound is loud, sample by sample, at a rate of its own."""

    def __init__(self, rate: int) -> None:
        self.rate, self.spec = rate, Spec("own", {"rate": rate})

    def detect(self, batch: Any) -> list[Any]:
        loud = [np.flatnonzero(np.abs(samples) > 0.05) for samples in batch]
        return [((found[0] / self.rate, found[-1] / self.rate),) for found in loud]


def _whole(trial: Trial) -> Mapping[str, Stretch]:
    return {"whole": Stretch("system", 0.25)}


def _as_made(mark: str, make: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any], bool]:
    return make(), True


@pytest.mark.parametrize("rate", [8_000, 16_000, 48_000])
def test_a_detector_hears_at_its_own_rate(rate: int, tmp_path: Path) -> None:
    at = np.arange(2 * 24_000) / 24_000
    tone = np.where((at >= 0.5) & (at < 1.5), 0.5 * np.sin(2 * np.pi * 200 * at), 0.0)
    audio.write(tmp_path / "output.wav", tone.astype(np.float32), 24_000)
    part = Parts("speech", _whole, Spec("own"))
    measure_sound(
        tmp_path, {"system": "output.wav"}, Trial(Item("1")), [part], (),
        detector_of=lambda spec: AtItsRate(rate), content=str, kept=_as_made, cache=tmp_path,
    )  # fmt: skip
    told = json.loads((tmp_path / FILE).read_text())["parts"]["speech"]["whole"]
    assert told["speech"] == pytest.approx(1.0, abs=0.01)
    assert told["features"]["speech_seconds"] == pytest.approx(1.0, abs=0.01)
    assert told["features"]["mean_pitch"] == pytest.approx(200, abs=2)


@pytest.mark.parametrize(("quality", "model"), [("dnsmos", "dnsmos"), ("echo", "aecmos")])
def test_weights_that_lack_are_told_before_anything_is_heard(quality: str, model: str, tmp_path: Path) -> None:
    check_qualities([], tmp_path)
    with pytest.raises(PluginError, match=f"fullduplex models fetch {model}"):
        check_qualities([quality], tmp_path)


@pytest.mark.parametrize(("rules", "told"), [("released-d7336bd", True), ("paper", True), ("all", False)])
def test_a_quality_that_no_number_rests_on_is_told(
    rules: str, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fullduplex.stages.check_qualities", lambda names, cache: None)
    chosen = benchmarks.find(f"fdb-1.5@{rules}")
    plan = settled(chosen, [], Asked("fdb-1.5", recogniser="none", qualities=("dnsmos",)), tmp_path)
    assert any("no number rests on --quality" in remark for remark in plan.remarks) is told
