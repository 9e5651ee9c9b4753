"""What the released script of Full-Duplex-Bench v1.5 computes on one stretch of speech."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fullduplex.listening.acoustics.contour import Floats, Samples, checked
from fullduplex.listening.acoustics.cutoffs import cutoffs
from fullduplex.listening.acoustics.intensity import intensity
from fullduplex.listening.acoustics.pitch import pitch

#: Levels at or below this are silence to the script, which leaves them out.
_SILENCE_DB = -200.0
_FLOOR, _CEILING, _INTENSITY_FLOOR = 50.0, 600.0, 100.0
_STEP = 0.01
_LEAST_RMS = 1e-10


def speech_of(samples: Samples, rate: int, segments: Sequence[tuple[float, float]]) -> Samples:
    """Return the ``segments`` (seconds) of ``samples`` one after another; all of ``samples`` where there is none.

    Edges are rounded to the nearest sample and held within the sound.
    Source: Full-Duplex-Bench v1.5, which judges a side without any speech by the whole of it.
    """
    if not segments:
        return samples
    edges = [(max(0, round(start * rate)), max(0, round(end * rate))) for start, end in segments]
    return np.concatenate([samples[start:end] for start, end in edges])


def as_released(samples: Samples, rate: int) -> dict[str, float]:
    """Return what the v1.5 script computes on one stretch of speech, with its rules for nothing to compute.

    * ``mean_pitch``, ``std_pitch`` (of n - 1): Hz over voiced frames, 50 to 600 Hz; 0.0 without one
    * ``mean_intensity``, ``std_intensity`` (of n - 1): dB re 2e-5 over the frames above -200 dB, floor 100 Hz
    * ``cutoff_count``: as :func:`cutoffs`

    Frames are 10 ms apart. The script takes one voice at 16 kHz, cut to its speech by Silero (60 ms of
    speech, 50 ms of silence, 30 ms of padding), the parts joined as by :func:`speech_of`.

    A trap: where Praat gives no level at all (digital silence, a sound under 64 ms), and wherever
    Praat is not installed, the script falls back to the RMS of 10-ms frames in dB of *full scale*, which is 94 dB
    lower for the same sound and says so nowhere. Digital silence is -200.0 there, and the same is told here; a
    mean over items that mixes the two scales means nothing, so leave those out.
    For pitch the script falls back to other methods on a sound under 60 ms. Those are not
    repeated here: the pitch is absent, as is a level for a sound under 10 ms, and everything for no samples.

    Raises :class:`InputError` on NaN or infinity, several channels, and a rate under 800 Hz.
    Source: Full-Duplex-Bench v1.5, `eval_general_before_after.py`, with Praat at hand.
    """
    samples = checked(samples, rate)
    found: dict[str, float] = {}
    if not len(samples):
        return found
    contour = pitch(samples, rate, step=_STEP, floor=_FLOOR, ceiling=_CEILING)
    if len(contour.values):
        found["mean_pitch"], found["std_pitch"] = _mean_and_spread(contour.defined)
    levels = intensity(samples, rate, step=_STEP, floor=_INTENSITY_FLOOR).values
    levels = levels[levels > _SILENCE_DB]
    if not len(levels):
        levels = _dbfs(samples, rate)
    if len(levels):
        found["mean_intensity"], found["std_intensity"] = _mean_and_spread(levels)
    found["cutoff_count"] = float(cutoffs(samples, rate))
    return found


def _mean_and_spread(values: Floats) -> tuple[float, float]:
    # In float32, as the script has it: the mean of many times -200 is not quite -200.
    single = values.astype(np.float32)
    if not len(single):
        return 0.0, 0.0
    return float(np.mean(single)), float(np.std(single, ddof=1)) if len(single) > 1 else 0.0


def _dbfs(samples: Samples, rate: int) -> Floats:
    """Return the level of each 10 ms in dB of full scale, at least -200; a rest is left out."""
    hop = max(1, round(rate * _STEP))
    count = len(samples) // hop
    frames = np.asarray(samples[: count * hop], np.float64).reshape(count, hop)
    made: Floats = 20 * np.log10(np.maximum(np.sqrt(np.mean(frames**2, axis=1)), _LEAST_RMS))
    return made
