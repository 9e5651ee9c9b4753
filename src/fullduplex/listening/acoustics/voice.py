"""The features of one stretch of speech, and the acoustic rule for a whisper."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fullduplex.listening.acoustics.contour import Floats, Samples, checked
from fullduplex.listening.acoustics.cutoffs import cutoffs
from fullduplex.listening.acoustics.harmonicity import harmonicity
from fullduplex.listening.acoustics.intensity import SILENT, intensity
from fullduplex.listening.acoustics.pitch import pitch

_WHISPER_HNR_UNDER = 6.0
_WHISPER_VOICED_UNDER = 0.4


def voice(samples: Samples, rate: int) -> dict[str, float]:
    """Return the features of one stretch of speech, at Praat's default settings, 100 frames a second.

    * ``mean_pitch``, ``std_pitch`` (of n - 1), ``median_pitch``: Hz over the voiced frames, 75 to 600 Hz
    * ``pitch_range``: semitones from the 5th to the 95th percentile of those
    * ``voiced_fraction``: voiced frames over all frames
    * ``mean_intensity``, ``std_intensity`` (of n - 1): dB re 2e-5 over the frames that are not digital silence
    * ``hnr``: dB, the mean over the frames that are not silent
    * ``cutoffs``: how often the level breaks off
    * ``speech_seconds``: the length of the stretch

    A feature that cannot be computed is left out: no pitch without a voiced frame, no spread of a single one, none but
    the length and the cut-offs of a sound under 27 ms.
    Raises :class:`InputError` on NaN or infinity, several channels, and a rate under 1200 Hz.
    Source: own. :func:`as_released` is what the script of Full-Duplex-Bench v1.5 computes.
    """
    samples = checked(samples, rate)
    found = {"speech_seconds": len(samples) / rate, "cutoffs": float(cutoffs(samples, rate))}
    contour = pitch(samples, rate)
    heard = contour.defined
    found.update(_mean_and_spread(heard, "pitch"))
    if len(contour.values):
        found["voiced_fraction"] = len(heard) / len(contour.values)
    if len(heard):
        low, median, high = np.percentile(heard, [5, 50, 95]).tolist()
        found["median_pitch"] = median
        found["pitch_range"] = float(12 * np.log2(high / low))
    levels = intensity(samples, rate).values
    found.update(_mean_and_spread(levels[levels > SILENT], "intensity"))
    ratios = harmonicity(samples, rate).defined
    if len(ratios):
        found["hnr"] = float(ratios.mean())
    return found


def whispered(features: Mapping[str, float]) -> bool | None:
    """Return whether :func:`voice`'s features are those of a whisper; None without ``hnr`` or ``voiced_fraction``.

    A whisper has a harmonics-to-noise ratio under 6 dB, and under 0.4 of its frames are voiced.
    On sentences said twice by four speakers, with and without the silence around them,
    no normal one passes and three of the four whispers do; in the fourth, half of the frames are
    heard as voiced, at 12.6 dB. Creaky voice passes and is no whisper, and so can a sibilant reply in a
    normal voice: what passes is for a person to hear.
    Source: InteractionBench, whisper on request, which names no settings; these are Praat's.
    """
    if "hnr" not in features or "voiced_fraction" not in features:
        return None
    return features["hnr"] < _WHISPER_HNR_UNDER and features["voiced_fraction"] < _WHISPER_VOICED_UNDER


def _mean_and_spread(values: Floats, of: str) -> dict[str, float]:
    found = {}
    if len(values):
        found[f"mean_{of}"] = float(values.mean())
    if len(values) > 1:
        found[f"std_{of}"] = float(values.std(ddof=1))
    return found
