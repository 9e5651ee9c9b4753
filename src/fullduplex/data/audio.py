"""Audio in and out. Samples are float32, full scale is 1; a channel is counted from 0.

libsndfile reads; what it does not know (AAC, WebM, 64-bit PCM …) goes to
FFmpeg through PyAV where that is installed. The content decides, not the name.
"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fullduplex.data.containers import check_whole
from fullduplex.data.files import replacing
from fullduplex.errors import InputError
from fullduplex.model.spans import SECOND

Samples = NDArray[np.float32]

_BLOCK = 1 << 20
#: MP3 headers count whole frames of 1,152 samples and encoder padding, so two may be off.
_MP3_SLACK = 2 * 1152
#: What libsndfile reports when a stream's header leaves its length open.
_OPEN = 1 << 60
_FORMATS = {".wav": "WAV", ".flac": "FLAC"}


@dataclass(frozen=True, slots=True)
class Probe:
    """What an audio file's header says: samples a second, channels, samples a channel, coding, container."""

    rate: int
    channels: int
    frames: int
    subtype: str
    format: str

    @property
    def duration(self) -> int:
        """Return the length in microseconds, to the nearest."""
        return (2 * self.frames * SECOND + self.rate) // (2 * self.rate)


def probe(path: Path) -> Probe:
    """Return what the header of ``path`` says, without decoding (but for files that only FFmpeg reads).

    Raises :class:`InputError`: no such file, not audio, shorter than its header
    says (WAV, AIFF, AU, SPHERE, Ogg), no samples, no rate.
    """
    import soundfile

    source = _source(path)
    try:
        with soundfile.SoundFile(source) as file:
            found = Probe(file.samplerate, file.channels, file.frames, file.subtype, file.format)
    except soundfile.SoundFileError as error:
        samples, rate, name = _through_ffmpeg(path, _libsndfile_says(error))
        return Probe(rate, samples.shape[1], len(samples), name, "FFMPEG")
    if found.rate <= 0 or found.channels <= 0:
        raise InputError(path, found=f"{found.rate} Hz, {found.channels} channels", expected="audio with a rate")
    if found.frames >= _OPEN:
        samples, _ = read_all(path)
        found = Probe(found.rate, found.channels, len(samples), found.subtype, found.format)
    if found.frames <= 0:
        raise _empty(path)
    return found


def read(path: Path, channel: int | None = None) -> tuple[Samples, int]:
    """Return one voice as float32 [frames] and its rate in Hz.

    ``channel`` counts from 0; None averages all channels. Raises :class:`InputError` as
    :func:`read_all` does, and where there is no such channel.
    """
    samples, rate = read_all(path)
    channels = samples.shape[1]
    if channel is None:
        return (samples[:, 0] if channels == 1 else samples.mean(axis=1, dtype=np.float32)), rate
    if not 0 <= channel < channels:
        raise InputError(
            path, f"channel {channel + 1}", found=f"{channels} channel{'s' * (channels > 1)}", expected="that channel"
        )
    return np.ascontiguousarray(samples[:, channel]), rate


def read_all(path: Path) -> tuple[Samples, int]:
    """Return every channel as float32 [frames, channels] and the rate in Hz.

    Raises :class:`InputError` on everything that :func:`probe` refuses, on audio that
    breaks off before the length in its header, and on samples that are NaN or infinite.
    """
    import soundfile

    source = _source(path)
    try:
        file = soundfile.SoundFile(source)
    except soundfile.SoundFileError as error:
        samples, rate, _ = _through_ffmpeg(path, _libsndfile_says(error))
    else:
        with file:
            rate, promised, form = file.samplerate, file.frames, file.format
            broken = ""
            blocks: list[Samples] = []
            try:
                blocks.extend(_blocks(file))
            except soundfile.SoundFileError as error:
                broken = _libsndfile_says(error)
            samples = np.concatenate(blocks) if blocks else np.zeros((0, file.channels), np.float32)
        if rate <= 0:
            raise InputError(path, found=f"{rate} Hz", expected="audio with a rate")
        slack = _MP3_SLACK if form in ("MP3", "MPEG") else 0
        if broken or (promised < _OPEN and len(samples) + slack < promised):
            raise InputError(
                path,
                found=f"truncated audio: {len(samples):,} samples" + (f" of {promised:,}" if promised < _OPEN else ""),
                expected="all the audio that the header promises",
                do=broken,
            )
    if not len(samples):
        raise _empty(path)
    if not np.isfinite(samples).all():
        at = int(np.flatnonzero(~np.isfinite(samples).all(axis=1))[0])
        raise InputError(path, f"sample {at}", found="NaN or infinity", expected="finite samples")
    return samples, rate


def _source(path: Path) -> bytes | io.BytesIO:
    """Return what libsndfile should open: the checked file, or a copy in memory with its open WAV size filled in."""
    size_at = check_whole(path)
    if size_at is None:
        return os.fsencode(path)
    data = path.read_bytes()
    unset = b"\xff\xff\xff\xff"
    return io.BytesIO(data[:4] + unset + data[8:size_at] + unset + data[size_at + 4 :])


def _blocks(file: Any) -> Iterator[Samples]:
    # Block by block: a header may promise more samples than there is memory.
    while True:
        block: Samples = file.read(_BLOCK, dtype="float32", always_2d=True)
        if not len(block):
            return
        yield block


def _through_ffmpeg(path: Path, refused: str) -> tuple[Samples, int, str]:
    refusal = InputError(path, found=refused, expected="an audio file, with its header")
    try:
        import av
    except ImportError:
        raise refusal from None
    try:
        with path.open("rb") as file, av.open(file, metadata_errors="replace") as container:
            stream = container.streams.audio[0]
            if stream.codec_context is None:
                raise refusal
            name, rate = stream.codec_context.name, int(stream.codec_context.sample_rate or 0)
            same_rate = av.AudioResampler(format="flt")
            decoded: Any = cast("Any", container).decode(stream)
            blocks = [
                made.to_ndarray().reshape(-1, len(made.layout.channels))
                for frame in decoded
                for made in same_rate.resample(frame)
            ]
    except (av.FFmpegError, IndexError, ValueError, OSError):
        raise refusal from None
    if not blocks:
        raise _empty(path)
    if rate <= 0:
        raise InputError(path, found="0 Hz", expected="audio with a rate")
    return np.concatenate(blocks).astype(np.float32, copy=False), rate, name


def _libsndfile_says(error: Exception) -> str:
    """Return libsndfile's own words, without the path that soundfile puts before them."""
    return str(getattr(error, "error_string", error)).strip().rstrip(".").lower() or "an unknown format"


def _empty(path: Path) -> InputError:
    return InputError(path, found="empty audio (no samples)", expected="at least one sample")


def resample(samples: NDArray[np.floating[Any]], from_rate: int, to_rate: int) -> Samples:
    """Return ``samples`` ([frames] or [frames, channels]) at ``to_rate``, by soxr at high quality.

    The filter is linear-phase and its delay is taken out: onsets stay where they are.
    """
    as_float = np.ascontiguousarray(samples, np.float32)
    if from_rate == to_rate or not len(as_float):
        return as_float
    import soxr

    made: Samples = soxr.resample(as_float, from_rate, to_rate, quality="HQ")
    return made


def write(path: Path, samples: NDArray[np.floating[Any]], rate: int, subtype: str = "PCM_16") -> None:
    """Write ``samples`` ([frames] or [frames, channels]) as WAV or FLAC by suffix, whole or not at all.

    Integer codings clip at full scale; what :func:`read` gave of one is written as the same integers.
    Raises :class:`InputError` on another suffix, on no samples, and on NaN or infinity.
    """
    import soundfile

    form = _FORMATS.get(path.suffix.lower())
    if form is None:
        raise InputError(path, found=f"the suffix {path.suffix!r}", expected=".wav or .flac")
    if not len(samples):
        raise _empty(path)
    if not np.isfinite(samples).all():
        raise InputError(path, found="NaN or infinity", expected="finite samples to write")
    with replacing(path) as part:
        try:
            soundfile.write(os.fsencode(part), _integers(samples, subtype), rate, subtype=subtype, format=form)
        except (soundfile.SoundFileError, ValueError) as error:
            if "system error" in str(error).lower():
                # All that libsndfile tells of a full disk.
                raise OSError(errno.EIO, "the disk is full, or does not take what is written") from error
            raise InputError(path, found=str(error), expected=f"audio that {form} can hold") from error


def _integers(samples: NDArray[np.floating[Any]], subtype: str) -> NDArray[Any]:
    """Return what an integer coding holds of ``samples``; those of another coding as they are.

    libsndfile scales by one less than it divides by when it reads, so that sound would fade with each copy.
    """
    if subtype == "PCM_16":
        return np.clip(np.rint(samples * np.float64(1 << 15)), -(1 << 15), (1 << 15) - 1).astype(np.int16)
    if subtype == "PCM_24":
        whole = np.clip(np.rint(samples * np.float64(1 << 23)), -(1 << 23), (1 << 23) - 1)
        return whole.astype(np.int32) << 8
    return samples
