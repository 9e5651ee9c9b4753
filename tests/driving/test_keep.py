import json
from pathlib import Path

import numpy as np
import pytest

from fullduplex.driving.clock import run_virtual
from fullduplex.driving.cues import at
from fullduplex.driving.drive import Talk, Turn, drive
from fullduplex.driving.keep import AUDIO, LOG, read_received, write_received
from fullduplex.driving.playout import playout
from fullduplex.errors import InputError
from fullduplex.model.spans import ms, seconds
from fullduplex.systems.scripted import Say, Script, Scripted, Sound

RATE = 24_000


def talk() -> Talk:
    steps = np.random.default_rng(3).integers(-32768, 32768, 4 * RATE)
    sound = Sound((steps / 32768).astype(np.float32), "all right", (("all", 0, ms(300)),))
    system = Scripted(Script((Say(sound, ms(333)), Say(sound, seconds(7.1))), ms(150)), burst=True)
    return run_virtual(drive(system, [Turn(np.full(16_000, 0.5, np.float32), at(seconds(2)))], length=seconds(12)))


def test_the_log_read_back_plays_as_it_did(tmp_path: Path) -> None:
    held = talk()
    write_received(tmp_path, held)
    received, rate = read_received(tmp_path)
    assert rate == RATE
    assert [event.arrived for event in received] == [event.arrived for event in held.received]
    assert np.array_equal(playout(received, rate, len(held.system)).samples, held.system)


def test_what_was_taken_back_is_kept_too(tmp_path: Path) -> None:
    held = talk()
    write_received(tmp_path, held)
    received, _ = read_received(tmp_path)
    assert sum(len(getattr(event, "samples", ())) for event in received) == 8 * RATE


def test_each_chunk_says_when_it_sounded(tmp_path: Path) -> None:
    write_received(tmp_path, talk())
    lines = [json.loads(line) for line in (tmp_path / LOG).read_text().splitlines()]
    chunks = [line for line in lines if line["kind"] == "chunk"]
    assert chunks[0]["played_from"] == 0.333 and chunks[0]["played"] == chunks[0]["samples"]
    assert any(line["played"] == 0 for line in chunks)
    assert [line["scope"] for line in lines if line["kind"] == "flush"] == [None]
    assert next(line for line in lines if line["kind"] == "said")["words"] == [{"text": "all", "timestamp": [0.0, 0.3]}]


def test_a_talk_in_which_nothing_came_has_no_audio(tmp_path: Path) -> None:
    (tmp_path / AUDIO).write_bytes(b"from before")
    write_received(tmp_path, run_virtual(drive(Scripted(), [], length=seconds(1))))
    assert not (tmp_path / AUDIO).exists()
    assert read_received(tmp_path) == ((), RATE)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"kind": "talk", "rate": 24000}\n{"kind": "chunk"}',
        '{"kind": "talk"}',
        '{"kind": "talk", "rate": -1}',
        '{"kind": "talk", "rate": 24000}\n3',
        '{"kind": "talk", "rate": 24000}\n{"kind": "flush", "arrived": 1.0, "scope": []}',
        '{"kind": "talk", "rate": 24000}\n{"kind": "chunk", "samples": 0, "arrived": NaN}',
        '{"kind": "talk", "rate": 24000}\n{"kind": "flush", "arrived": "x", "scope": null}',
    ],
)
def test_a_log_that_cannot_be_read_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / LOG).write_text(text)
    with pytest.raises(InputError, match=LOG.replace(".", r"\.")):
        read_received(tmp_path)


def test_audio_of_another_length_is_refused(tmp_path: Path) -> None:
    write_received(tmp_path, talk())
    lines = (tmp_path / LOG).read_text().splitlines()
    (tmp_path / LOG).write_text("\n".join(lines[:5]))
    with pytest.raises(InputError, match="samples"):
        read_received(tmp_path)
