"""Harmonics-to-noise ratio by cross-correlation, as Praat's "To Harmonicity (cc)" defines it."""

from __future__ import annotations

import numpy as np

from fullduplex.listening.acoustics.contour import Contour, Floats, Samples, checked, checked_floor, positive
from fullduplex.listening.acoustics.frames import (
    blocks,
    centres,
    local_means,
    loudness,
    peak_of,
    sample_before,
    stretches,
)
from fullduplex.listening.acoustics.peaks import peaks, refined, roughly, strongest

#: Samples on each side that the height of a peak is taken from, where there are so many.
_DEPTH = 700
#: Peaks of a frame, the highest by a rough look, among which the highest is looked for.
_CONTENDERS = 2
#: How near to 0 or 1 a correlation may come before its ratio is no longer told: 150 dB.
_LEAST = 1e-15
#: Share of a frame's energy under which a stretch of it is rounding, and correlates with nothing.
_NOTHING = 1e-14


def harmonicity(
    samples: Samples,
    rate: int,
    *,
    step: float = 0.01,
    floor: float = 75.0,
    silence: float = 0.1,
    periods: float = 1.0,
) -> Contour:
    """Return the harmonics-to-noise ratio of one voice in dB, NaN in silent frames, ``step`` seconds apart.

    10 log10(r / (1 - r)), r being the highest peak of the correlation of ``periods`` /
    ``floor`` seconds of sound with what follows, at lags from 2 samples to those ``periods``. 0 dB is as much
    noise as harmonics; 20 dB is 1 % noise. A frame is silent where r is not over max(0, 2 - loudness / ``silence``),
    loudness being the frame's peak over that of the whole sound. Praat says -200 dB
    for those; here they have no value, so that a mean cannot take them in.

    It needs no pitch and says nothing of voicing: a frame of noise has a value too, around -6 dB
    where the noise is white, and higher the narrower its band.

    Empty: a sound shorter than (1 + ``periods``) / ``floor`` seconds (27 ms).
    Raises :class:`InputError` on NaN or infinity, several channels, and options that are out of range.
    Source: as :func:`pitch`, and Praat's manual, "Sound: To Harmonicity (cc)...". Agreement
    with Praat itself: ``bench/praat_agreement.py``.
    """
    samples = checked(samples, rate)
    checked_floor(floor, rate)
    positive(step=step, silence=silence, periods=periods)
    window = periods / floor
    span = 1 / floor + window
    times = centres(len(samples), rate, window=span, step=step)
    values = np.full(len(times), np.nan)
    peak = peak_of(samples)
    half = int(window * rate) // 2 - 1
    width, period = 2 * half, int(rate / floor)
    longest = min(int(width / periods) + 2, width)
    if not peak or width < 4:
        return Contour(times, values)
    for block in blocks(times):
        before = sample_before(times[block], rate)
        means = local_means(samples, before, period)
        centred = stretches(samples, before + 1 - half, width) - means
        starts = np.maximum(sample_before(times[block] - 0.5 * span, rate), 0)
        correlations = _correlations(stretches(samples, starts, width + longest) - means, width)
        # With several periods, lags up to the window's length count as known, and as 0, to the interpolation.
        correlations = np.pad(correlations, ((0, 0), (0, width - longest)))
        found = roughly(correlations, peaks(correlations, above=0.0, before=longest))
        found = refined(correlations, strongest(found, _CONTENDERS, found.height), depth=_DEPTH)
        found = found.where(found.lag > 2)
        best = np.full(len(before), -np.inf)
        np.maximum.at(best, found.frame, found.height)
        sounding = best > np.maximum(0, 2 - loudness(centred, period, peak) / silence)
        r = np.clip(best, _LEAST, 1 - _LEAST)
        values[block] = np.where(sounding, 10 * np.log10(r / (1 - r)), np.nan)
    return Contour(times, values)


def _correlations(frames: Floats, width: int) -> Floats:
    """Return [frames, lags]: of the first ``width`` samples of each frame with as many, each lag later.

    Each is divided by the root of both energies; 0 where either is nothing. At most ``width`` lags.
    """
    last = frames.shape[1] - width
    size = 1 << (frames.shape[1] - 1).bit_length()
    spectrum = np.conj(np.fft.rfft(frames[:, :width], size))
    spectrum *= np.fft.rfft(frames, size)
    product = np.fft.irfft(spectrum, size)[:, : last + 1]
    power = frames**2
    # The energy of a later stretch is what is left of the first one and what has come in: two sums
    # of squares, where a difference of sums would be nothing but rounding in the silence after a sound.
    left = np.cumsum(power[:, width - 1 :: -1], axis=1)[:, ::-1]
    come = np.cumsum(power[:, width:], axis=1)
    energy = np.pad(left, ((0, 0), (0, 1)))[:, : last + 1] + np.pad(come, ((0, 0), (1, 0)))
    told = energy > _NOTHING * power.sum(axis=1, keepdims=True)
    told &= told[:, :1]
    energy *= energy[:, :1]
    made: Floats = np.where(told, product, 0) / np.sqrt(np.where(told, energy, 1))
    return made
