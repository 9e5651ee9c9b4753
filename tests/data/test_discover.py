from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fullduplex.data import audio
from fullduplex.data.dataset import Dataset, Voice, open_dataset
from fullduplex.data.names import as_file_name
from fullduplex.errors import InputError

MakeItem = Callable[..., Path]
SOUND = np.full(800, 0.1, np.float32)
PAUSE = [{"text": "[PAUSE]", "timestamp": [1, 2]}]
WORDS = {"text": "", "chunks": []}


def keys(dataset: Dataset) -> list[str]:
    return [entry.key for entry in dataset.entries]


def test_one_item_folder_is_a_dataset_of_one_and_its_parents_name_tells_the_task(item: MakeItem) -> None:
    folder = item("synthetic_pause_handling/7", output=WORDS)
    dataset = open_dataset(folder)
    (entry,) = dataset.entries
    assert (entry.id, entry.task) == ("7", "pause_handling")


def test_items_are_in_natural_order(item: MakeItem, tmp_path: Path) -> None:
    for name in ("10", "2", "a10", "a9", "1"):
        item(f"my_pauses/{name}", output=WORDS)
    assert [e.id for e in open_dataset(tmp_path / "my_pauses").entries] == ["1", "2", "10", "a9", "a10"]


def test_official_sets_are_found_at_any_depth_and_case(item: MakeItem, tmp_path: Path) -> None:
    item("Data/v1_0/Candor_Pause_Handling/3", output=WORDS)
    item("Data/v1_0/icc_backchannel/0", output=WORDS)
    item("Data/v1_0/my_turn_taking/1", output=WORDS)
    found = {e.key: (e.task, e.dataset) for e in open_dataset(tmp_path).entries}
    assert found == {
        "candor_pause_handling/3": ("pause_handling", "candor_pause_handling"),
        "icc_backchannel/0": ("backchannel", "icc_backchannel"),
        "smooth_turn_taking/1": ("smooth_turn_taking", ""),
    }


@pytest.mark.parametrize(
    ("folder", "task"),
    [
        ("v1_user_interruption", "user_interruption"),
        ("user_backchannel", "user_backchannel"),
        ("v1_backchannel_vad", "backchannel"),
        ("talking-to-other", "talking_to_other"),
        ("Background Speech", "background_speech"),
        ("turntaking", "smooth_turn_taking"),
    ],
)
def test_a_folders_name_tells_the_task(item: MakeItem, tmp_path: Path, folder: str, task: str) -> None:
    item(f"{folder}/1", output=WORDS)
    assert open_dataset(tmp_path).entries[0].task == task


@pytest.mark.parametrize(
    ("stem", "task"),
    [("pause", "pause_handling"), ("turn_taking", "smooth_turn_taking"), ("interrupt", "user_interruption")],
)
def test_else_the_event_file_tells_the_task(item: MakeItem, tmp_path: Path, stem: str, task: str) -> None:
    item("mine/1", output=WORDS, **{stem: []})
    assert open_dataset(tmp_path / "mine").entries[0].task == task


def test_what_nothing_tells_is_asked_for(item: MakeItem, tmp_path: Path) -> None:
    item("mine/1", output=WORDS)
    with pytest.raises(InputError, match="--task") as raised:
        open_dataset(tmp_path / "mine")
    assert "talking_to_other" in str(raised.value)
    assert open_dataset(tmp_path / "mine", task="backchannel").entries[0].task == "backchannel"


def test_metadata_alone_fits_four_tasks_and_the_error_lists_them(item: MakeItem, tmp_path: Path) -> None:
    item("mine/1", output=WORDS, metadata={})
    with pytest.raises(InputError, match="user_interruption, user_backchannel, talking_to_other, background_speech;"):
        open_dataset(tmp_path / "mine")


def test_an_unknown_task_is_refused_with_those_that_are_known(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--task: found pauses, expected one of pause_handling"):
        open_dataset(tmp_path, task="pauses")


def test_among_told_sets_an_untold_item_is_a_remark(item: MakeItem, tmp_path: Path) -> None:
    item("pauses/1", output=WORDS)
    item("odds/1", output=WORDS)
    dataset = open_dataset(tmp_path)
    assert keys(dataset) == ["pause_handling/1"]
    assert any("left out" in remark and "odds/1" in remark for remark in dataset.remarks)


def test_the_user_interruption_set_of_v15_is_told_from_the_task_of_v10_by_its_files(
    item: MakeItem, tmp_path: Path
) -> None:
    item("a/user_interruption/1", output=WORDS, interrupt=[])
    item("b/user_interruption/1", output=WORDS, metadata={})
    assert [e.dataset for e in open_dataset(tmp_path / "a").entries] == [""]
    assert [e.dataset for e in open_dataset(tmp_path / "b").entries] == ["user_interruption"]


def test_interruptions_of_both_releases_in_one_folder_are_two_sets(item: MakeItem, tmp_path: Path) -> None:
    item("user_interruption/1", output=WORDS, interrupt=[])
    item("user_interruption/2", output=WORDS, metadata={})
    item("user_interruption/3", output=WORDS)
    found = {entry.id: entry.dataset for entry in open_dataset(tmp_path).entries}
    assert found == {"1": "", "2": "user_interruption", "3": ""}


def test_interruptions_of_both_releases_never_share_a_folder_of_the_run(item: MakeItem, tmp_path: Path) -> None:
    item("v1_0/user_interruption/1", output=WORDS, interrupt=[])
    item("v1_5/user_interruption/1", output=WORDS, metadata={})
    found = keys(open_dataset(tmp_path))
    assert found == ["user_interruption/v1_5/user_interruption/1", "user_interruption/v1_0/user_interruption/1"]


def test_sibling_sets_of_one_task_keep_their_ids_apart(item: MakeItem, tmp_path: Path) -> None:
    item("pauses_en/1", output=WORDS)
    item("pauses_fr/1", output=WORDS)
    assert [e.id for e in open_dataset(tmp_path).entries] == ["pauses_en/1", "pauses_fr/1"]


def test_sets_that_share_no_id_need_no_name_before_it(item: MakeItem, tmp_path: Path) -> None:
    item("pauses_en/1", output=WORDS)
    item("pauses_fr/2", output=WORDS)
    assert [e.id for e in open_dataset(tmp_path).entries] == ["1", "2"]


def test_an_official_id_with_a_speaker_gives_the_group(item: MakeItem, tmp_path: Path) -> None:
    item("pauses/travel_10_0123456789abcdef01234567", output=WORDS)
    item("pauses/12", output=WORDS)
    assert [e.group for e in open_dataset(tmp_path).entries] == ["", "0123456789abcdef01234567"]


# -- files


def test_flac_plays_the_part_of_wav(item: MakeItem, tmp_path: Path) -> None:
    folder = item("pauses/1", output=WORDS)
    for name in ("input.flac", "output.flac"):
        audio.write(folder / name, SOUND, 8000)
    (entry,) = open_dataset(tmp_path).entries
    assert entry.user_voice == Voice(folder / "input.flac") and entry.files["output.wav"] == folder / "output.flac"
    assert entry.missing == ("pause.json",)


def test_every_other_output_json_is_kept_under_its_own_name(item: MakeItem, tmp_path: Path) -> None:
    folder = item("pauses/1", output=WORDS, clean_output=WORDS, my_output=WORDS, notes={})
    dataset = open_dataset(tmp_path)
    files = dataset.entries[0].files
    assert files["my_output.json"] == folder / "my_output.json" and "clean_output.json" in files
    assert "notes.json" not in files and any("notes.json in item folders" in r for r in dataset.remarks)


def test_one_two_channel_file_is_both_voices(item: MakeItem, tmp_path: Path) -> None:
    folder = item("pauses/1", pause=PAUSE)
    audio.write(folder / "stereo.wav", np.zeros((800, 2), np.float32) + 0.1, 8000)
    (entry,) = open_dataset(tmp_path).entries
    assert entry.user_voice == Voice(folder / "stereo.wav", 0) and entry.system_voice == Voice(folder / "stereo.wav", 1)
    (other,) = open_dataset(tmp_path, channels={"user": 1, "system": 0}).entries
    assert other.user_voice == Voice(folder / "stereo.wav", 1)


def test_a_two_channel_output_beside_an_input_stays_one_voice(item: MakeItem, tmp_path: Path) -> None:
    item("pauses/1", input=SOUND, output=np.zeros((800, 2), np.float32) + 0.1)
    assert open_dataset(tmp_path).entries[0].system_voice == Voice(tmp_path / "pauses/1/output.wav")


def test_missing_names_what_the_task_expects(item: MakeItem, tmp_path: Path) -> None:
    item("candor_turn_taking/1", output=SOUND)
    item("background_speech/1", input=SOUND, metadata={})
    found = {e.key: e.missing for e in open_dataset(tmp_path).entries}
    assert found["candor_turn_taking/1"] == ("input.wav", "turn_taking.json", "output.json")
    assert found["background_speech/1"] == (
        "output.wav", "input.json", "output.json",
        "clean_input.wav", "clean_output.wav", "clean_input.json", "clean_output.json",
    )  # fmt: skip


# -- what lies about


def test_strays_empty_folders_and_broken_links_are_remarks(item: MakeItem, tmp_path: Path) -> None:
    item("pauses/1", output=WORDS)
    (tmp_path / "pauses/2").mkdir()
    (tmp_path / "README\x1b.txt").touch()
    (tmp_path / "pauses/link").symlink_to(tmp_path / "nowhere")
    remarks = "\n".join(open_dataset(tmp_path).remarks)
    assert "empty folders: pauses/2" in remarks
    assert "README\\x1b.txt" in remarks and "\x1b" not in remarks
    assert "broken links, not read: pauses/link" in remarks


def test_a_loop_of_links_ends(item: MakeItem, tmp_path: Path) -> None:
    item("pauses/1", output=WORDS)
    (tmp_path / "pauses/again").symlink_to(tmp_path)
    dataset = open_dataset(tmp_path)
    assert keys(dataset) == ["pause_handling/1"]
    assert any("read already" in remark for remark in dataset.remarks)


def test_a_linked_item_is_read(item: MakeItem, tmp_path: Path) -> None:
    item("store/x", output=WORDS)
    (tmp_path / "pauses").mkdir()
    (tmp_path / "pauses/1").symlink_to(tmp_path / "store/x")
    assert keys(open_dataset(tmp_path / "pauses")) == ["pause_handling/1"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_folder_is_a_remark(item: MakeItem, tmp_path: Path) -> None:
    item("pauses/1", output=WORDS)
    item("pauses/2", output=WORDS).chmod(0)
    try:
        assert any("cannot be read" in r for r in open_dataset(tmp_path).remarks)
    finally:
        (tmp_path / "pauses/2").chmod(0o700)


def test_a_pipe_in_an_item_is_passed_over(item: MakeItem, tmp_path: Path) -> None:
    folder = item("pauses/1", output=WORDS)
    os.mkfifo(folder / "output.wav")
    dataset = open_dataset(tmp_path)
    assert dataset.entries[0].system_voice is None
    assert any("special files" in remark for remark in dataset.remarks)


def test_a_name_that_is_no_text_becomes_text(item: MakeItem, tmp_path: Path) -> None:
    try:
        item(os.fsdecode(b"pauses_\xff/\xfe"), output=WORDS)
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    (entry,) = open_dataset(tmp_path).entries
    assert entry.id == "\\xfe"


@pytest.mark.parametrize("name", ["nothing", "a\0b"])
def test_nothing_to_open_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="found nothing"):
        open_dataset(tmp_path / name)


def test_a_folder_without_items_is_refused_with_what_makes_one(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    with pytest.raises(InputError, match=r"no folder holds input\.wav"):
        open_dataset(tmp_path)


# -- runs


def test_a_run_and_its_trials_give_the_ids_that_it_was_given(item: MakeItem, tmp_path: Path) -> None:
    ids = ["../../x", "1", "a b/ü", "<script>"]
    for id in ids:
        item(f"RUN/trials/candor_pause_handling/{as_file_name(id)}", output=WORDS, pause=PAUSE)
    item("RUN/trials-2/candor_pause_handling/1", output=WORDS, pause=PAUSE)
    (tmp_path / "RUN/run.json").write_text("{}")
    for path in (tmp_path / "RUN", tmp_path / "RUN/trials"):
        assert sorted(e.id for e in open_dataset(path).entries) == sorted(ids)


def test_outside_a_run_a_percent_sign_is_a_percent_sign(item: MakeItem, tmp_path: Path) -> None:
    item("pauses/a%2Fb", output=WORDS)
    assert open_dataset(tmp_path).entries[0].id == "a%2Fb"


# -- real folders


def test_the_released_cases_open_with_every_item_of_a_told_task(shared: Path) -> None:
    dataset = open_dataset(shared / "cases/full-duplex-bench")
    counts: dict[str, int] = {}
    for entry in dataset.entries:
        counts[entry.task] = counts.get(entry.task, 0) + 1
    assert counts == {"pause_handling": 16, "smooth_turn_taking": 10, "backchannel": 32, "user_interruption": 12}


def test_the_v15_cases_open_when_told(shared: Path) -> None:
    dataset = open_dataset(shared / "cases/full-duplex-bench/v15_audio", task="user_interruption")
    assert [e.id for e in dataset.entries] == ["701", "703", "704", "706", "707"]
    assert all(e.missing == () for e in dataset.entries)


def test_a_whole_benchmark_opens_at_once(tmp_path: Path) -> None:
    for i in range(727):
        folder = tmp_path / "candor_pause_handling" / str(i)
        folder.mkdir(parents=True)
        for name in ("input.wav", "output.wav", "output.json", "pause.json"):
            (folder / name).touch()
    begin = time.perf_counter()
    assert len(open_dataset(tmp_path).entries) == 727
    assert time.perf_counter() - begin < 3  # a tenth of a second on an idle machine
