import json
import pickle
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.data import audio
from fullduplex.driving.keep import read_received
from fullduplex.driving.playout import playout
from fullduplex.making.demo_items import make_demo_items
from fullduplex.making.demo_talks import demo_systems, hold, hold_one, talk_tasks
from fullduplex.model.spans import SECOND, ms, seconds

pytest.importorskip("hibari", reason="hibari-tts is not installed")
pytest.importorskip("py_nanotts", reason="py-nanotts is not installed")


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("demo")
    make_demo_items(out / "items")
    for system in demo_systems():
        assert not any(row.late for row in hold(out / "items", system, out / system))
    return out


def folders(held: Path, system: str, dataset: str) -> list[Path]:
    return sorted((held / system).glob(f"*{dataset}/*"))


def onsets(folder: Path) -> Any:
    """Where the system begins to sound after half a second of silence, and where it stops before one."""
    samples, rate = audio.read(folder / "output.wav")
    loud = np.flatnonzero(np.abs(samples) > 10 ** (-50 / 20)) * SECOND // rate
    breaks = np.flatnonzero(np.diff(loud) > ms(1000))
    return list(zip(loud[[0, *(breaks + 1)]], loud[[*breaks, -1]], strict=True)) if len(loud) else []


def read(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text())


def said(folder: Path) -> list[tuple[str, int, int]]:
    """All words of the system, with their times."""
    words = read(folder, "words.json")["tracks"]["output"]["words"]
    return [(text, seconds(start), seconds(end)) for text, start, end, _ in words]


def times(event: Any) -> tuple[int, int]:
    return seconds(event["timestamp"][0]), seconds(event["timestamp"][1])


def test_the_good_listener_waits_in_every_pause(held: Path) -> None:
    for folder in folders(held, "good-listener", "pause_handling"):
        assert read(folder, "output.json") == {"text": "", "chunks": []}
        assert not audio.read(folder / "output.wav")[0].any()


def test_the_good_listener_answers_when_it_was_told_to(held: Path) -> None:
    for folder in folders(held, "good-listener", "turn_taking"):
        end, _ = times(read(folder, "turn_taking.json")[0])
        assert abs(onsets(folder)[0][0] - end - ms(400)) < ms(15)


def test_the_words_of_an_answer_begin_with_its_sound(held: Path) -> None:
    for folder in folders(held, "good-listener", "turn_taking"):
        _, first, _ = said(folder)[0]
        assert abs(first - onsets(folder)[0][0]) < ms(60)


def test_the_good_listener_stops_and_replies_when_it_is_interrupted(held: Path) -> None:
    for folder in folders(held, "good-listener", "interruption"):
        start, end = times(read(folder, "interrupt.json")[0])
        sounding = onsets(folder)
        assert any(a < start < b for a, b in sounding), "it was speaking when it was interrupted"
        assert start <= max(b for a, b in sounding if a < start) <= start + ms(315)
        assert abs(min(a for a, b in sounding if a > start) - end - ms(600)) < ms(15)


def test_the_good_listener_nods_and_does_no_more(held: Path) -> None:
    for folder in folders(held, "good-listener", "backchannel"):
        words = said(folder)
        ends = [times(phrase)[1] for phrase in read(folder, "script.json")["phrases"]]
        assert len(words) == 6
        for _, start, end in words:
            assert end - start < seconds(1)
            assert min(abs(start - at - ms(250)) for at in ends) < ms(30)


def test_the_interrupter_takes_every_first_pause(held: Path) -> None:
    for folder in folders(held, "interrupter", "pause_handling"):
        start, end = times(read(folder, "pause.json")[0])
        assert start < onsets(folder)[0][0] < end
        assert read(folder, "output.json")["chunks"]


def test_the_interrupter_talks_through_an_interruption(held: Path) -> None:
    for folder in folders(held, "interrupter", "interruption"):
        start, end = times(read(folder, "interrupt.json")[0])
        assert any(a < start and b > end for a, b in onsets(folder))


def test_the_mute_writes_digital_zeros_and_no_words(held: Path) -> None:
    for folder in folders(held, "mute", ""):
        assert not audio.read(folder / "output.wav")[0].any()
        assert read(folder, "output.json")["chunks"] == []


def test_of_an_interruption_only_what_follows_it_is_in_output_json(held: Path) -> None:
    for folder in folders(held, "interrupter", "interruption"):
        _, end = times(read(folder, "interrupt.json")[0])
        kept = [(word["text"], *times(word)) for word in read(folder, "output.json")["chunks"]]
        assert kept == [word for word in said(folder) if word[1] >= end]
        assert len(kept) < len(said(folder))


def test_words_say_that_they_are_the_synthesiser_s(held: Path) -> None:
    for folder in folders(held, "good-listener", ""):
        tracks = read(folder, "words.json")["tracks"]
        assert tracks["output"]["from"] == "synthesiser hibari"
        assert ("input" in tracks) == (read(folder, "script.json")["voice"]["name"] == "hibari")


def test_words_keep_to_the_layout_of_a_run(held: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(files("fullduplex.runs").joinpath("schemas", "words.json").read_text())
    for system in demo_systems():
        for folder in folders(held, system, ""):
            jsonschema.validate(read(folder, "words.json"), schema)


def test_the_output_is_as_long_as_the_input(held: Path) -> None:
    for system in demo_systems():
        for folder in folders(held, system, ""):
            lengths = [audio.probe(folder / name).duration for name in ("input.wav", "output.wav")]
            assert abs(lengths[0] - lengths[1]) <= SECOND // 16_000


def test_the_log_gives_the_output_again(held: Path) -> None:
    for folder in folders(held, "good-listener", "interruption"):
        received, rate = read_received(folder)
        output, _ = audio.read(folder / "output.wav")
        assert np.array_equal(playout(received, rate, len(output)).samples, output)


def test_a_talk_repeats_to_the_byte(held: Path, tmp_path: Path) -> None:
    for task in list(talk_tasks(held / "items", "good-listener", tmp_path))[::6]:
        hold_one(task)
        first = held / "good-listener" / task.out.relative_to(tmp_path)
        for file in sorted(task.out.iterdir()):
            assert file.read_bytes() == (first / file.name).read_bytes(), file.name


def test_a_task_is_small_and_travels_between_processes(held: Path, tmp_path: Path) -> None:
    task = next(talk_tasks(held / "items", "mute", tmp_path))
    assert len(pickle.dumps(task)) < 2000
    row = pickle.loads(pickle.dumps(hold_one))(pickle.loads(pickle.dumps(task)))
    assert pickle.loads(pickle.dumps(row)) == row
