"""Intensity, as Praat's "To Intensity" defines it."""

from __future__ import annotations

import numpy as np

from fullduplex.listening.acoustics.contour import Contour, Samples, checked, positive
from fullduplex.listening.acoustics.frames import blocks, centres, sample_nearest, stretches

#: Length of the window in periods of the floor; half of that is its effective length.
_PERIODS = 6.4
#: The shape of the Kaiser window: its side lobes lie 190 dB below.
_SHAPE = 2 * np.pi**2 + 0.5
#: The square of the auditory threshold pressure, 2e-5 Pa: a sample of 1 counts as 1 Pa.
_REFERENCE = 4e-10
#: Power below which there is no level to speak of, and the level that Praat gives to it.
_LEAST_POWER, SILENT = 1e-30, -300.0


def intensity(samples: Samples, rate: int, *, step: float = 0.01, floor: float = 100.0) -> Contour:
    """Return the level of one voice in dB re 2e-5 Pa, a sample of full scale being 1 Pa.

    intensity(t) = 10 log10(Σ w (x - m)² / Σ w / 4e-10), over a Kaiser window w of 6.4 / ``floor``
    seconds around t, m being the mean of x there. The level does not ripple with the
    periods of a voice whose pitch is ``floor`` Hz or more. Frames are ``step`` seconds apart.
    Digital silence is -300 dB.

    The scale is 93.98 dB above dB of full scale, for the same RMS: a sine of full scale
    has 90.97 dB here and -3.01 dBFS.

    Empty: a sound shorter than 6.4 / ``floor`` seconds (64 ms at 100 Hz).
    Raises :class:`InputError` on NaN or infinity, several channels, and options that are out of range.
    Source: Praat's manual, "Sound: To Intensity...", the mean subtracted. Agreement
    with Praat itself: ``bench/praat_agreement.py``.
    """
    samples = checked(samples, rate)
    positive(step=step, floor=floor)
    length = _PERIODS / floor
    times = centres(len(samples), rate, window=length, step=step)
    half = int(np.floor(0.5 * length / (1 / rate)))
    reach = np.arange(-half, half + 1) / (0.5 * length * rate)
    window = np.where(np.abs(reach) < 1, np.i0(_SHAPE * np.sqrt(np.maximum(1 - reach**2, 0))), 0)
    window /= window.sum()
    power = np.zeros(len(times))
    for block in blocks(times):
        frames = stretches(samples, sample_nearest(times[block], rate) - half, len(window))
        frames -= frames.mean(axis=1, keepdims=True)
        power[block] = np.square(frames, out=frames) @ window
    power /= _REFERENCE
    sounding = power >= _LEAST_POWER
    return Contour(times, np.where(sounding, 10 * np.log10(np.where(sounding, power, 1)), SILENT))
