from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.data import audio
from fullduplex.driving.clock import run_virtual
from fullduplex.driving.cues import at
from fullduplex.driving.drive import Turn, drive
from fullduplex.errors import InputError
from fullduplex.model.spans import seconds
from fullduplex.systems.recorded import Recorded


def noise(seed: int, length: int) -> Any:
    steps = np.random.default_rng(seed).integers(-9000, 9000, length)
    return (steps / 32768).astype(np.float32)


def test_sample_n_of_the_file_is_sample_n_of_the_talk(tmp_path: Path) -> None:
    said = noise(1, 24_000)
    audio.write(tmp_path / "output.wav", said, 24_000)
    turns = [Turn(np.full(8000, 0.5, np.float32), at(0))]
    talk = run_virtual(drive(Recorded(tmp_path / "output.wav"), turns, length=seconds(2)))
    assert talk.rate == 24_000
    assert np.array_equal(talk.system[:24_000], said)
    assert not talk.system[24_000:].any()


def test_one_channel_of_a_stereo_file(tmp_path: Path) -> None:
    both = np.stack([noise(1, 16_000), noise(2, 16_000)], axis=1)
    audio.write(tmp_path / "both.wav", both, 16_000)
    talk = run_virtual(drive(Recorded(tmp_path / "both.wav", channel=1), [], length=seconds(1)))
    assert np.array_equal(talk.system, both[:, 1])


def test_a_longer_file_is_cut_at_the_end_of_the_talk(tmp_path: Path) -> None:
    audio.write(tmp_path / "output.wav", noise(1, 32_000), 16_000)
    assert len(run_virtual(drive(Recorded(tmp_path / "output.wav"), [], length=seconds(1))).system) == 16_000


def test_a_missing_file_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"output\.wav"):
        run_virtual(drive(Recorded(tmp_path / "output.wav"), [], length=seconds(1)))


def test_the_spec_names_the_file_and_not_its_folder(tmp_path: Path) -> None:
    assert str(tmp_path) not in str(Recorded(tmp_path / "output.wav").spec)
