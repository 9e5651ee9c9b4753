from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fullduplex.data import audio
from fullduplex.data.dataset import Voice, open_dataset
from fullduplex.errors import InputError

STEREO = np.full((800, 2), 0.1, np.float32)


def save(folder: Path, *names: str, samples: audio.Samples = STEREO) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        audio.write(folder / name, samples, 8000)


def test_the_usual_tree_is_recognised_and_said_so(tmp_path: Path) -> None:
    save(tmp_path, "turntaking/candor/moshi/s_10.flac", "turntaking/candor/moshi/s_9.flac", "backchannel/icc/x/1.wav")
    dataset = open_dataset(tmp_path)
    assert [(e.task, e.dataset, e.system, e.id) for e in dataset.entries] == [
        ("smooth_turn_taking", "candor_turn_taking", "moshi", "s_9"),
        ("smooth_turn_taking", "candor_turn_taking", "moshi", "s_10"),
        ("backchannel", "icc_backchannel", "x", "1"),
    ]
    first = dataset.entries[0]
    path = tmp_path / "turntaking/candor/moshi/s_9.flac"
    assert (first.user_voice, first.system_voice) == (Voice(path, 0), Voice(path, 1))
    assert any("two-channel files laid out {task}/{dataset}/{system}/{id}" in remark for remark in dataset.remarks)


def test_a_tree_of_mono_files_is_not_taken_for_conversations(tmp_path: Path) -> None:
    save(tmp_path, "pause/candor/moshi/1.flac", samples=STEREO[:, 0])
    with pytest.raises(InputError, match="no item"):
        open_dataset(tmp_path)


def test_a_layout_is_a_pattern_over_paths(tmp_path: Path) -> None:
    save(tmp_path, "moshi/fr-pause-ann-3.wav", "notes.flac")
    dataset = open_dataset(tmp_path, layout="{system}/fr-{task}-{group}-{id}.*", channels={"user": 1, "system": 0})
    (entry,) = dataset.entries
    assert (entry.task, entry.system, entry.group, entry.id) == ("pause_handling", "moshi", "ann", "3")
    assert entry.user_voice == Voice(tmp_path / "moshi/fr-pause-ann-3.wav", 1)
    assert any("do not fit the layout, not read: notes.flac" in remark for remark in dataset.remarks)


def test_a_dataset_without_an_official_name_goes_before_the_id(tmp_path: Path) -> None:
    save(tmp_path, "pause/lab/1.flac", "pause/field/1.flac")
    entries = open_dataset(tmp_path, layout="{task}/{dataset}/{id}.flac").entries
    assert [(e.dataset, e.id) for e in entries] == [("", "field/1"), ("", "lab/1")]


@pytest.mark.parametrize("layout", ["{task}/x.flac", "{id}/{id}.flac", "{name}/{id}", "{id", "}{id}{", ""])
def test_a_layout_that_cannot_work_is_refused(tmp_path: Path, layout: str) -> None:
    save(tmp_path, "pause/1.flac")
    with pytest.raises(InputError, match="--layout"):
        open_dataset(tmp_path, layout=layout)


def test_two_files_of_one_item_are_refused(tmp_path: Path) -> None:
    save(tmp_path, "pause/a/1.flac", "pause/b/1.flac")
    with pytest.raises(InputError, match="the same item as pause/a/1"):
        open_dataset(tmp_path, task="pause_handling", layout="pause/{group}/{id}.flac")


def test_the_demo_recordings_open_without_being_told(shared: Path) -> None:
    folder = shared / "data/fdb_site_stereo"
    if not folder.is_dir():
        pytest.skip("the demo recordings are not here")
    found = {(e.dataset, e.system) for e in open_dataset(folder).entries}
    assert ("synthetic_user_interruption", "freezeomni") in found and ("icc_backchannel", "dGSLM") in found
    assert (
        len(open_dataset(folder).entries)
        == len(open_dataset(folder, layout="{task}/{dataset}/{system}/{id}.flac").entries)
        == 27
    )
