import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.data import audio
from fullduplex.data.discover import open_dataset
from fullduplex.data.fdb_folder import load_trial
from fullduplex.making.demo_items import REFERENCE, DemoItem, make_demo_items
from fullduplex.making.demo_scripts import scripts
from fullduplex.model.spans import SECOND, ms, seconds

pytest.importorskip("hibari", reason="hibari-tts is not installed")
pytest.importorskip("py_nanotts", reason="py-nanotts is not installed")

DATASETS = {
    "synthetic_pause_handling",
    "candor_pause_handling",
    "icc_backchannel",
    "candor_turn_taking",
    "synthetic_user_interruption",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[DemoItem]]:
    out = tmp_path_factory.mktemp("demo")
    return out, make_demo_items(out)


def sounding(item: DemoItem) -> Any:
    """Where the user is louder than the room, as times."""
    samples, rate = audio.read(item.folder / "input.wav")
    return np.flatnonzero(np.abs(samples) > 10 ** (-50 / 20)) * SECOND // rate


def test_all_five_datasets_have_items(made: tuple[Path, list[DemoItem]]) -> None:
    assert {item.dataset for item in made[1]} == DATASETS
    assert len(made[1]) == len(scripts()) == 24


def test_the_demo_is_about_five_minutes(made: tuple[Path, list[DemoItem]]) -> None:
    assert seconds(240) < sum(item.duration for item in made[1]) < seconds(360)


def test_the_tree_reads_as_full_duplex_bench(made: tuple[Path, list[DemoItem]]) -> None:
    dataset = open_dataset(made[0])
    assert {entry.dataset for entry in dataset.entries} == DATASETS
    trials = [load_trial(entry) for entry in dataset.entries]
    assert not [trial.failed for trial in trials if trial.failed]
    kinds = {event.kind for trial in trials for event in trial.events}
    assert {"pause", "turn_end", "interruption"} <= kinds


def test_nothing_sounds_in_a_marked_pause_and_speech_touches_both_its_edges(made: tuple[Path, list[DemoItem]]) -> None:
    for item in made[1]:
        if not item.dataset.endswith("pause_handling"):
            continue
        heard = sounding(item)
        for pause in json.loads((item.folder / "pause.json").read_text()):
            start, end = (seconds(t) for t in pause["timestamp"])
            assert not ((heard > start + ms(5)) & (heard < end - ms(5))).any()
            assert ((heard >= start - ms(15)) & (heard <= start)).any()
            assert ((heard >= end) & (heard <= end + ms(15))).any()


def test_a_turn_ends_with_the_last_sound_and_five_seconds_follow(made: tuple[Path, list[DemoItem]]) -> None:
    for item in made[1]:
        if item.dataset == "candor_turn_taking":
            end = seconds(json.loads((item.folder / "turn_taking.json").read_text())[0]["timestamp"][0])
            assert abs(int(sounding(item)[-1]) - end) < ms(15)
            assert abs(item.duration - end - seconds(5)) < ms(1)


def test_an_interruption_comes_seven_seconds_after_its_context(made: tuple[Path, list[DemoItem]]) -> None:
    for item in made[1]:
        if item.dataset == "synthetic_user_interruption":
            (event,) = json.loads((item.folder / "interrupt.json").read_text())
            context, interrupt = (audio.probe(item.folder / f"{name}.wav") for name in ("context", "interrupt"))
            start, end = (seconds(t) for t in event["timestamp"])
            assert abs(start - context.duration - seconds(7)) < ms(1)
            assert abs(end - start - interrupt.duration) < ms(1)
            assert event["context"] and event["interrupt"]


def test_stories_last_about_twenty_seconds(made: tuple[Path, list[DemoItem]]) -> None:
    stories = [item for item in made[1] if item.dataset == "icc_backchannel"]
    assert all(seconds(18) < item.duration < seconds(25) for item in stories)


def test_words_are_written_where_the_voice_places_them_and_only_there(made: tuple[Path, list[DemoItem]]) -> None:
    for item in made[1]:
        about = json.loads((item.folder / "script.json").read_text())
        assert (item.folder / "input.json").exists() == (about["voice"]["name"] == "hibari")
        assert about["made_for"] == "demo"


def test_the_distribution_has_the_shape_of_the_official_one_and_says_that_it_is_ours(
    made: tuple[Path, list[DemoItem]],
) -> None:
    reference = json.loads((made[0] / REFERENCE).read_text())
    assert REFERENCE.startswith("demo_") and "not from people" in (made[0] / "README.txt").read_text()
    for item in made[1]:
        if item.dataset == "icc_backchannel":
            bins = reference[item.id]
            assert len(bins) == item.duration // ms(200)
            assert sum(bins) == pytest.approx(1) and min(bins) > 0


def test_the_same_seed_writes_the_same_bytes(made: tuple[Path, list[DemoItem]], tmp_path: Path) -> None:
    make_demo_items(tmp_path)
    files = sorted(path.relative_to(made[0]) for path in made[0].rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    assert all((made[0] / file).read_bytes() == (tmp_path / file).read_bytes() for file in files)


def test_another_seed_is_another_room(made: tuple[Path, list[DemoItem]], tmp_path: Path) -> None:
    make_demo_items(tmp_path, seed=1)
    place = Path("icc_backchannel", "0", "input.wav")
    assert (made[0] / place).read_bytes() != (tmp_path / place).read_bytes()
