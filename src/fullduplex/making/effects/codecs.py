"""Speech through a codec and back, without the codec's delay."""

from __future__ import annotations

import io
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fullduplex.data.audio import resample
from fullduplex.errors import InputError
from fullduplex.making.effects.sound import Samples, fitted

#: The rates at which Opus takes audio.
OPUS_RATES = (8_000, 12_000, 16_000, 24_000, 48_000)
#: Opus decodes at this rate, whatever went in.
_DECODED = 48_000
#: How far, in samples of the decoder, a mode of Opus may lie from where its header says: half a millisecond.
_ASTRAY = 24


def through_g711(samples: Samples, law: str) -> Samples:
    """Return ``samples`` at 8 kHz after coding by ITU-T G.711, ``law`` being ``mulaw`` or ``alaw``, and decoding."""
    import soundfile

    if not len(samples):
        return samples
    coding = {"format": "RAW", "subtype": {"mulaw": "ULAW", "alaw": "ALAW"}[law]}
    file = io.BytesIO()
    # libsndfile looks samples up in a table, without asking whether they are in it.
    soundfile.write(file, np.clip(samples, -1, 1), 8_000, **coding)
    file.seek(0)
    decoded: Samples = soundfile.read(file, samplerate=8_000, channels=1, dtype="float32", **coding)[0]
    return decoded


def through_opus(samples: Samples, rate: int, bitrate: int) -> Samples:
    """Return ``samples`` after libopus coded them, at ``bitrate`` bits a second, and decoded them.

    Frames last 20 ms, and the encoder is tuned for speech. The decoder leaves out the pre-skip of the stream's
    header. Its modes lie up to a tenth of a millisecond from there: what is left of the delay is found by
    cross-correlation, within half a millisecond, and taken out.
    Raises :class:`InputError` where FFmpeg has no libopus.
    """
    if not len(samples):
        return samples
    inside = next((known for known in OPUS_RATES if known >= rate), OPUS_RATES[-1])
    decoded = _coded_and_decoded(resample(samples, rate, inside), inside, bitrate)
    before = resample(samples, rate, _DECODED)
    late = _lateness(before, decoded)
    aligned = decoded[late:] if late >= 0 else np.pad(decoded, (-late, 0))
    return fitted(resample(fitted(aligned, len(before)), _DECODED, rate), len(samples))


def _coded_and_decoded(samples: Samples, rate: int, bitrate: int) -> Samples:
    import av

    try:
        encoder: Any = av.CodecContext.create("libopus", "w")
        decoder: Any = av.CodecContext.create("libopus", "r")
    except (ValueError, av.FFmpegError) as error:
        raise InputError(
            "telephone", "codec", found="an FFmpeg without libopus", expected="PyAV's own build"
        ) from error
    encoder.sample_rate, encoder.layout, encoder.format, encoder.bit_rate = rate, "mono", "flt", bitrate
    encoder.options = {"application": "voip", "frame_duration": "20"}
    encoder.open()
    decoder.sample_rate, decoder.layout, decoder.extradata = rate, "mono", encoder.extradata
    size = rate // 50
    # Frames after the end bring out what the codec still holds.
    padded = np.pad(np.clip(samples, -1, 1), (0, -len(samples) % size + 2 * size))
    packets: list[Any] = []
    for at in range(0, len(padded), size):
        frame = cast("Any", av.AudioFrame).from_ndarray(padded[None, at : at + size], format="flt", layout="mono")
        frame.sample_rate, frame.pts = rate, at
        packets += encoder.encode(frame)
    packets += encoder.encode(None)
    blocks = [block.to_ndarray().reshape(-1) for packet in [*packets, None] for block in decoder.decode(packet)]
    joined: NDArray[Any] = np.concatenate(blocks)
    scale = np.float32(32768 if joined.dtype == np.int16 else 1)
    return (joined / scale).astype(np.float32)


def _lateness(before: Samples, after: Samples) -> int:
    """Return by how many samples ``after`` is late, within ``_ASTRAY``; 0 where nothing tells."""
    length = min(len(before), len(after)) - 2 * _ASTRAY
    if length <= 0:
        return 0
    middle = before[_ASTRAY : _ASTRAY + length].astype(np.float64)
    lags = range(-_ASTRAY, _ASTRAY + 1)
    alike = [float(middle @ after[_ASTRAY + lag : _ASTRAY + lag + length]) for lag in lags]
    best = int(np.argmax(alike))
    return lags[best] if alike[best] > 0 else 0
