"""What was measured of an item's sound, as its file keeps it, and what has to be at hand for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fullduplex import benchmarks
from fullduplex.errors import InputError, PluginError
from fullduplex.runs.sounds import FILE, check_qualities, forget_acoustics, read_acoustics
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
