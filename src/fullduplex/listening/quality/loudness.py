"""How loud a recording is: by ear (LUFS), at its peak, on the whole, and against another."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.data.audio import resample
from fullduplex.errors import PluginError
from fullduplex.listening.quality.measured import Measured, one_voice
from fullduplex.model.spans import SECOND, ms

NAMES = ("lufs", "peak_dbfs", "rms_dbfs")
#: One gating block of BS.1770: what is shorter has no loudness.
SHORTEST = ms(400)
#: The rate that the standard gives its filters for. Filters fitted to 8 kHz are 0.14 dB off at 1 kHz.
_RATE = 48_000


def loudness(samples: NDArray[np.floating[Any]], rate: int) -> Measured:
    """Return how loud the recording is.

    ``lufs``: integrated loudness of ITU-R BS.1770-4, K-weighted and gated, in LUFS, as one
    channel; the samples are resampled to 48 kHz first, so that it does not hang on the rate.
    ``peak_dbfs``: 20 log10 of the largest sample, not of the wave between samples.
    ``rms_dbfs``: 20 log10 of the root of the mean square: 0 for a full-scale square wave, -3.01 for a sine.

    Absent: ``no samples``; ``digital silence``; ``lufs`` alone where the recording is ``shorter than 0.4 s`` or
    ``quieter than -70 LUFS throughout``, which the standard's gate leaves out.
    Raises :class:`InputError` on samples that are not one finite voice, :class:`PluginError`
    where pyloudnorm is not installed.
    """
    voice = one_voice(samples, rate)
    if not len(voice):
        return Measured.none(NAMES, "no samples")
    if not voice.any():
        return Measured.none(NAMES, "digital silence")
    values = {"peak_dbfs": _db(float(np.abs(voice).max())), "rms_dbfs": _db(_rms(voice))}
    if len(voice) * SECOND < SHORTEST * rate:
        return Measured(values, {"lufs": "shorter than 0.4 s"})
    found = float(_meter().integrated_loudness(resample(voice, rate, _RATE).astype(np.float64)))
    if not np.isfinite(found):
        return Measured(values, {"lufs": "quieter than -70 LUFS throughout"})
    return Measured({"lufs": found, **values}, {})


def level_change(after: NDArray[np.floating[Any]], before: NDArray[np.floating[Any]]) -> Measured:
    """Return ``change``: by how many dB the RMS level of ``after`` is above that of ``before``.

    20 log10(RMS after / RMS before); each over its own length. Absent: ``no samples after``,
    ``digital silence before`` and the like.
    """
    levels = []
    for name, samples in (("after", after), ("before", before)):
        voice = one_voice(samples, 1, name)
        if not voice.any():
            return Measured.none(("change",), f"{'digital silence' if len(voice) else 'no samples'} {name}")
        levels.append(_db(_rms(voice)))
    return Measured({"change": levels[0] - levels[1]}, {})


def _rms(voice: NDArray[np.float32]) -> float:
    return float(np.sqrt(np.mean(np.square(voice, dtype=np.float64))))


def _db(amplitude: float) -> float:
    return float(20 * np.log10(amplitude))


def _meter() -> Any:
    try:
        pyloudnorm = import_module("pyloudnorm")
    except ImportError as error:
        raise PluginError(f"loudness needs {error.name}, which is not installed; install pyloudnorm") from error
    return pyloudnorm.Meter(_RATE)
