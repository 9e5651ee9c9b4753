import base64
from pathlib import Path

import numpy as np
import pytest
import soundfile

from fullduplex.data import audio
from fullduplex.errors import InputError
from fullduplex.reporting.sound import make_sound, peaks


def _tone(path: Path, rate: int, length: float, level: float = 0.5) -> Path:
    time = np.arange(round(rate * length)) / rate
    audio.write(path, (level * np.sin(2 * np.pi * 200 * time)).astype(np.float32), rate)
    return path


def _clicks(path: Path, rate: int, length: float, at: float) -> Path:
    samples = np.zeros(round(rate * length), np.float32)
    samples[round(rate * at) : round(rate * at) + 40] = 0.8
    audio.write(path, samples, rate)
    return path


def _onset(samples: np.ndarray, rate: int) -> float:
    return float(np.flatnonzero(np.abs(samples) > 0.3)[0] / rate)


def test_the_user_is_left_and_the_system_right(tmp_path: Path) -> None:
    out = tmp_path / "sound.flac"
    make_sound(
        (_clicks(tmp_path / "u.wav", 16000, 2, 0.5), None), (_clicks(tmp_path / "s.wav", 16000, 2, 1), 0), 0, out
    )
    both, rate = audio.read_all(out)
    assert _onset(both[:, 0], rate) == pytest.approx(0.5, abs=0.001)
    assert _onset(both[:, 1], rate) == pytest.approx(1.0, abs=0.001)


@pytest.mark.parametrize("offset", [-0.75, -0.25, 0.0, 0.5, 3.0])
def test_the_offset_moves_the_system_alone(tmp_path: Path, offset: float) -> None:
    out = tmp_path / "sound.flac"
    user, system = _clicks(tmp_path / "u.wav", 16000, 2, 0.5), _clicks(tmp_path / "s.wav", 16000, 2, 1)
    made = make_sound((user, None), (system, None), round(offset * 1_000_000), out)
    both, rate = audio.read_all(out)
    assert _onset(both[:, 0], rate) == pytest.approx(0.5, abs=0.001)
    assert _onset(both[:, 1], rate) == pytest.approx(1.0 + offset, abs=0.001)
    assert made["duration"] == pytest.approx(max(2.0, 2.0 + offset), abs=0.001)


def test_a_system_that_lies_wholly_before_the_clock_is_silence(tmp_path: Path) -> None:
    out = tmp_path / "sound.flac"
    make_sound(
        (_tone(tmp_path / "u.wav", 16000, 1), None), (_tone(tmp_path / "s.wav", 16000, 1), None), -5_000_000, out
    )
    both, _ = audio.read_all(out)
    assert not both[:, 1].any()


@pytest.mark.parametrize(
    ("user", "system", "expected"), [(8000, 16000, 16000), (24000, 16000, 24000), (48000, 16000, 24000)]
)
def test_the_rate_is_the_larger_up_to_24_khz(tmp_path: Path, user: int, system: int, expected: int) -> None:
    out = tmp_path / "sound.flac"
    make_sound((_tone(tmp_path / "u.wav", user, 1), None), (_tone(tmp_path / "s.wav", system, 2), None), 0, out)
    info = soundfile.info(out)
    assert (info.samplerate, info.channels, info.format) == (expected, 2, "FLAC")


def test_the_longer_side_decides_the_length(tmp_path: Path) -> None:
    made = make_sound(
        (_tone(tmp_path / "u.wav", 16000, 1), None),
        (_tone(tmp_path / "s.wav", 16000, 2.5), None),
        0,
        tmp_path / "o.flac",
    )
    assert made["duration"] == pytest.approx(2.5)
    # The silence at its end, for which a browser asks, is under half a second.
    assert 2.5 < soundfile.info(tmp_path / "o.flac").duration < 2.8


def test_a_missing_side_is_silence_with_no_peaks(tmp_path: Path) -> None:
    out = tmp_path / "sound.flac"
    made = make_sound(None, (_tone(tmp_path / "s.wav", 16000, 1), None), 0, out)
    both, _ = audio.read_all(out)
    assert not both[:, 0].any() and both[:, 1].any()
    assert made["peaks"]["user"] == "" and made["peaks"]["system"] != ""


def test_neither_side_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no recording of either side"):
        make_sound(None, None, 0, tmp_path / "sound.flac")


def test_a_file_that_cannot_be_read_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "broken.wav").write_bytes(b"RIFF of nothing")
    with pytest.raises(InputError, match=r"broken\.wav"):
        make_sound((tmp_path / "broken.wav", None), None, 0, tmp_path / "out" / "sound.flac")
    assert not list(tmp_path.glob("out/*"))


def test_peaks_have_the_square_root_of_the_largest_sample() -> None:
    samples = np.array([0.0, 0.25, -1.0, 0.0, 0.01, -0.01], np.float32)
    assert list(base64.b64decode(peaks(samples, 3))) == [128, 255, 26]


def test_peaks_of_a_short_signal_are_as_many_as_its_samples() -> None:
    assert len(base64.b64decode(peaks(np.ones(5, np.float32)))) == 5
    assert len(base64.b64decode(peaks(np.ones(50_001, np.float32)))) == 800
    assert peaks(np.zeros(0, np.float32)) == ""
