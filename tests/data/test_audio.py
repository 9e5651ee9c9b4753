from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
import soundfile

from fullduplex.data import audio
from fullduplex.errors import InputError
from fullduplex.model.spans import seconds


def tone(seconds: float, rate: int = 16_000, channels: int = 1) -> audio.Samples:
    mono = (0.3 * np.sin(np.arange(round(seconds * rate)) * 0.05)).astype(np.float32)
    return mono if channels == 1 else np.stack([mono * (i + 1) / channels for i in range(channels)], axis=1)


def wav(data: bytes, *, riff: int | None = None, size: int | None = None, rate: int = 8000) -> bytes:
    """A mono PCM-16 file whose two sizes can lie."""
    riff = 36 + len(data) if riff is None else riff
    size = len(data) if size is None else size
    header = struct.pack(
        "<4sI4s4sIHHIIHH4sI", b"RIFF", riff, b"WAVE", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16, b"data", size
    )
    return header + data


def refusal(path: Path) -> str:
    sentences = []
    for reads in (audio.probe, audio.read_all):
        with pytest.raises(InputError) as raised:
            reads(path)
        sentences.append(str(raised.value))
    assert sentences[0] == sentences[1]
    return sentences[0]


# -- writing and reading back


@pytest.mark.parametrize("name", ["a.wav", "a.flac", "A.WAV"])
@pytest.mark.parametrize("channels", [1, 2])
def test_what_is_written_is_read_back(tmp_path: Path, name: str, channels: int) -> None:
    samples = tone(0.5, channels=channels)
    audio.write(tmp_path / name, samples, 16_000)
    back, rate = audio.read_all(tmp_path / name)
    assert rate == 16_000 and back.dtype == np.float32
    np.testing.assert_allclose(back[:, 0], samples.reshape(-1, channels)[:, 0], atol=1 / 32_000)


def test_a_probe_tells_rate_channels_frames_and_length(tmp_path: Path) -> None:
    audio.write(tmp_path / "a.wav", tone(1.5, 48_000, 2), 48_000)
    found = audio.probe(tmp_path / "a.wav")
    assert (found.rate, found.channels, found.frames, found.subtype) == (48_000, 2, 72_000, "PCM_16")
    assert found.duration == seconds(1.5)


def test_no_channel_means_the_average(tmp_path: Path) -> None:
    audio.write(tmp_path / "a.wav", np.array([[0.5, -0.25]] * 10, np.float32), 8000)
    samples, _ = audio.read(tmp_path / "a.wav")
    np.testing.assert_allclose(samples, 0.125, atol=1e-4)


def test_a_channel_is_counted_from_zero_and_must_be_there(tmp_path: Path) -> None:
    audio.write(tmp_path / "a.wav", np.array([[0.5, -0.25]] * 10, np.float32), 8000)
    np.testing.assert_allclose(audio.read(tmp_path / "a.wav", 1)[0], -0.25, atol=1e-4)
    with pytest.raises(InputError, match="channel 3: found 2 channels"):
        audio.read(tmp_path / "a.wav", 2)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    audio.write(path, tone(0.1), 16_000)
    before = path.read_bytes()
    with pytest.raises(InputError):
        audio.write(path, tone(0.2), 16_000, subtype="VORBIS")
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.wav"]


@pytest.mark.parametrize("samples", [np.zeros(0, np.float32), np.array([0, np.nan], np.float32)])
def test_nothing_and_nan_are_not_written(tmp_path: Path, samples: audio.Samples) -> None:
    with pytest.raises(InputError):
        audio.write(tmp_path / "a.wav", samples, 16_000)
    assert not list(tmp_path.iterdir())


# -- resampling


@pytest.mark.parametrize("to_rate", [8_000, 24_000, 48_000])
def test_resampling_moves_no_onset(to_rate: int) -> None:
    samples = np.zeros(16_000, np.float32)
    samples[8_000:] = tone(0.5)
    samples[8_000] = 1.0
    made = audio.resample(samples, 16_000, to_rate)
    assert len(made) == to_rate
    onset = int(np.argmax(np.abs(made) > 0.4)) / to_rate
    assert abs(onset - 0.5) < 0.000_2


def test_resampling_to_the_same_rate_changes_nothing() -> None:
    samples = tone(0.1)
    assert np.array_equal(audio.resample(samples, 16_000, 16_000), samples)


# -- what is refused


def test_a_missing_file_a_folder_and_an_empty_file_are_refused(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "none.wav")
    assert "no regular file" in refusal(tmp_path)
    (tmp_path / "empty.wav").touch()
    assert "an empty file" in refusal(tmp_path / "empty.wav")


def test_a_wav_without_samples_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(wav(b""))
    assert "empty audio" in refusal(tmp_path / "a.wav")


def test_text_named_wav_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_text("not audio at all " * 20)
    assert "format not recognised" in refusal(tmp_path / "a.wav")


@pytest.mark.parametrize("name", ["a.wav", "a.flac"])
def test_cut_audio_is_refused_although_a_decoder_accepts_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    audio.write(path, np.random.default_rng(0).normal(0, 0.1, 32_000).astype(np.float32), 16_000)
    path.write_bytes(path.read_bytes()[:-9_000])
    with pytest.raises(InputError, match="truncated audio"):
        audio.read_all(path)


def test_a_wav_that_lacks_two_bytes_is_refused_by_a_probe(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(wav(bytes(2000))[:-2])
    assert "truncated audio: 1,998 bytes of 2,000" in refusal(tmp_path / "a.wav")


@pytest.mark.parametrize("cut", [100, 3000])
def test_a_cut_ogg_is_refused(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.ogg"
    soundfile.write(path, tone(3.0), 16_000, format="OGG", subtype="VORBIS")
    audio.read_all(path)
    path.write_bytes(path.read_bytes()[:-cut])
    assert "truncated audio" in refusal(path)


@pytest.mark.parametrize("unset", [0, 0xFFFF_FFFF, 0x7FFF_F000])
def test_a_header_as_pipes_leave_it_is_read_to_the_end(tmp_path: Path, unset: int) -> None:
    (tmp_path / "a.wav").write_bytes(wav(bytes(2000), riff=unset, size=unset))
    assert audio.probe(tmp_path / "a.wav").frames == 1000
    assert len(audio.read_all(tmp_path / "a.wav")[0]) == 1000


def test_a_header_of_a_writer_that_was_stopped_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(wav(bytes(2000), riff=36, size=0))
    assert "says 0 bytes" in refusal(tmp_path / "a.wav")


def test_a_data_size_left_open_in_a_closed_file_is_truncated(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(wav(bytes(2000), riff=2036, size=0xFFFF_FFFF))
    assert "truncated" in refusal(tmp_path / "a.wav")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_samples_that_are_no_numbers_are_refused_with_their_place(tmp_path: Path, value: float) -> None:
    samples = tone(0.1)
    samples[7] = value
    soundfile.write(tmp_path / "a.wav", samples, 16_000, subtype="FLOAT")
    with pytest.raises(InputError, match="sample 7: found NaN or infinity"):
        audio.read(tmp_path / "a.wav")


def test_a_rate_of_zero_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(wav(bytes(2000), rate=0))
    refusal(tmp_path / "a.wav")


def test_the_content_decides_and_not_the_name(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", tone(1.0), 16_000, format="FLAC")
    assert audio.probe(tmp_path / "a.wav").format == "FLAC"
    assert len(audio.read(tmp_path / "a.wav")[0]) == 16_000


def test_a_float_file_above_full_scale_keeps_its_peaks(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.full(100, 1.02, np.float32), 16_000, subtype="FLOAT")
    assert audio.read(tmp_path / "a.wav")[0].max() == np.float32(1.02)


def test_a_hostile_name_is_printed_harmlessly(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[2J\n<script>.wav"
    path.write_bytes(b"")
    sentence = refusal(path)
    assert "\x1b" not in sentence and "\n" not in sentence


def test_aac_goes_through_ffmpeg(tmp_path: Path) -> None:
    av = pytest.importorskip("av")
    path = tmp_path / "a.m4a"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=16_000, layout="mono")
        frame = av.AudioFrame.from_ndarray(tone(1.0).reshape(1, -1), format="fltp", layout="mono")
        frame.sample_rate = 16_000
        for packet in [*stream.encode(frame), *stream.encode(None)]:
            container.mux(packet)
    samples, rate = audio.read(path)
    assert rate == 16_000 and abs(len(samples) - 16_000) <= 2048
    assert audio.probe(path).format == "FFMPEG"


def test_a_disk_that_takes_no_more_is_said_to(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
    try:
        with pytest.raises(InputError, match="found the disk is full, or does not take what is written"):
            audio.write(tmp_path / "a.wav", np.zeros(16_000, np.float32), 16_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not list(tmp_path.iterdir())
