"""One stereo file an item: the user on the left, the system on the right, on one clock.

A page that is opened from disk cannot fetch and mix two files; one file with two
channels plays in step by itself, in any player.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.data import audio
from fullduplex.errors import InputError
from fullduplex.reporting.seek_points import add_seek_points, padded_length

#: A recording and its channel (None: the file's only one, or the mean of all).
Side = tuple[Path, int | None]
Samples = NDArray[np.float32]

HIGHEST_RATE = 24_000
BUCKETS = 800


def make_sound(user: Side | None, system: Side | None, offset_us: int, out: Path) -> dict[str, Any]:
    """Write both voices of an item as one stereo FLAC file at ``out``.

    Left is the user, right the system; a side that is None is silence. The clock's
    0 is the first sample of the user's recording, and the system's recording begins
    ``offset_us`` microseconds after it (before it when negative: what lies before 0
    is cut). The longer side decides the length; the rate is the larger of the two,
    at most 24 kHz; samples are 16 bit. The file has seek points and some silence at its end, or Chromium could not
    go to every moment of it (:mod:`fullduplex.reporting.seek_points`). It appears whole or not at all.

    Returns ``{"duration": seconds, "peaks": {"user": text, "system": text}}``, with
    peaks as :func:`peaks` gives them, or an empty text for a side that is None.
    Raises :class:`InputError` where there is neither side, or a file cannot be read.
    """
    if user is None and system is None:
        raise InputError(out, "sound", found="no recording of either side", expected="at least one")
    heard = [audio.read(*side) if side else None for side in (user, system)]
    rate = min(HIGHEST_RATE, max(side[1] for side in heard if side))
    left, right = (audio.resample(side[0], side[1], rate) if side else np.zeros(0, np.float32) for side in heard)
    right = _moved(right, round(offset_us * rate / 1_000_000))
    length = max(len(left), len(right), 1)
    both = np.zeros((padded_length(length), 2), np.float32)
    both[: len(left), 0] = left
    both[: len(right), 1] = right
    np.clip(both, -1.0, 1.0, out=both)
    out.parent.mkdir(parents=True, exist_ok=True)
    audio.write(out, both, rate, "PCM_16")
    add_seek_points(out)
    return {
        "duration": length / rate,
        "peaks": {
            "user": peaks(both[:length, 0]) if user else "",
            "system": peaks(both[:length, 1]) if system else "",
        },
    }


def peaks(samples: Samples, buckets: int = BUCKETS) -> str:
    """Return the outline of a mono signal, for drawing.

    The signal is cut into ``buckets`` stretches of as equal a length as can be (fewer when
    it is shorter); each gives one byte, ``round(255 * sqrt(largest |sample|))``. The
    square root keeps quiet speech visible in eight bits. Returned as base64.
    """
    if not len(samples):
        return ""
    starts = np.linspace(0, len(samples), min(buckets, len(samples)), endpoint=False).astype(np.int64)
    largest = np.maximum.reduceat(np.abs(samples), starts)
    coded = np.round(255 * np.sqrt(np.clip(largest, 0.0, 1.0))).astype(np.uint8)
    return base64.b64encode(coded.tobytes()).decode("ascii")


def _moved(samples: Samples, by: int) -> Samples:
    if by < 0:
        return samples[-by:]
    return np.concatenate([np.zeros(by, np.float32), samples])
