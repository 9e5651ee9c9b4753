"""The seek points of the page's sound: none missing, each at its frame, no sample changed."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from fullduplex.data import audio
from fullduplex.reporting.seek_points import FRAME, add_seek_points, padded_length

HEAD = 4 + 4 + 34  # the mark, a block's head, the stream's own block


def _points(path: Path) -> list[tuple[int, int, int]]:
    data = path.read_bytes()
    assert data[HEAD] & 0x7F == 3
    length = int.from_bytes(data[HEAD + 1 : HEAD + 4], "big")
    table = data[HEAD + 4 : HEAD + 4 + length]
    return list(struct.iter_unpack(">QQH", table))


def _frames_from(path: Path) -> int:
    data, at, last = path.read_bytes(), 4, False
    while not last:
        last, at = bool(data[at] & 0x80), at + 4 + int.from_bytes(data[at + 1 : at + 4], "big")
    return at


def _sound(kind: str, length: int) -> Any:
    made = np.zeros((length, 2), np.float32)
    if kind == "noise":
        made[:] = np.random.default_rng(4).normal(0, 0.3, made.shape)
    if kind == "tone":
        made[:, 0] = 0.4 * np.sin(np.arange(length) / 17)
    return made


@pytest.mark.parametrize("kind", ["silence", "tone", "noise"])
@pytest.mark.parametrize("length", [1, FRAME - 1, FRAME, FRAME + 1, 700 * FRAME + 5])
def test_every_frame_has_its_point_and_every_sample_stays(kind: str, length: int, tmp_path: Path) -> None:
    path = tmp_path / "sound.flac"
    audio.write(path, _sound(kind, length), 16_000)
    before = soundfile.read(path, dtype="int16")[0]
    add_seek_points(path)
    assert np.array_equal(soundfile.read(path, dtype="int16")[0], before)
    points, first, data = _points(path), _frames_from(path), path.read_bytes()
    assert [point[0] for point in points] == list(range(0, length, FRAME))
    assert sum(point[2] for point in points) == length
    assert all(data[first + point[1] : first + point[1] + 2] == b"\xff\xf8" for point in points)


def test_points_are_not_added_twice(tmp_path: Path) -> None:
    path = tmp_path / "sound.flac"
    audio.write(path, _sound("noise", 9000), 16_000)
    add_seek_points(path)
    once = path.read_bytes()
    add_seek_points(path)
    assert path.read_bytes() == once


@pytest.mark.parametrize("length", [1, FRAME - 1, FRAME, FRAME + 1])
def test_the_end_of_the_sound_lies_before_the_last_frame(length: int) -> None:
    padded = padded_length(length)
    assert length < padded <= length + FRAME + 1
    assert (padded - 1) // FRAME * FRAME > length - 1
    assert (padded - 1) // FRAME * FRAME >= length
