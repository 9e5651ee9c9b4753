"""Filters that move no onset: all are symmetric in time, so they delay nothing.

A causal filter delays what it passes by an amount that depends on the frequency, and no shift makes up for that:
through a causal high-pass, speech lies milliseconds from where a correlation with the original looks for it. A
symmetric filter keeps every frequency in its place. What it costs is that it spreads as far before a sound as after
it, so each is as gentle, and thereby as short, as its purpose allows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.making.effects.sound import Samples

Taps = NDArray[np.float64]
_POINTS = 4096


def convolved(samples: Samples, kernel: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return ``samples`` through an impulse response whose sample 0 is now, at the same length."""
    from scipy.signal import oaconvolve

    if not len(samples) or not len(kernel):
        return np.zeros(len(samples))
    made: NDArray[np.float64] = oaconvolve(samples.astype(np.float64), kernel.astype(np.float64))
    # The transform leaves traces of 1e-18 where nothing has sounded yet: silence stays silence.
    made[: int(np.argmax(samples != 0)) if np.any(samples) else len(samples)] = 0.0
    return made[: len(samples)]


def centred(samples: Samples, taps: Taps) -> NDArray[np.float64]:
    """Return ``samples`` through a symmetric filter of odd length, without its delay."""
    late = len(taps) // 2
    return convolved(np.pad(samples, (0, late)), taps)[late:]


def high_shelf(level: float, above: float, rate: int) -> Taps:
    """Return a symmetric filter with ``level`` dB well above ``above`` Hz, half of it there, and 0 dB well below.

    Its magnitude is that of the Audio EQ Cookbook's high shelf (R. Bristow-Johnson) at slope 1. It spreads
    2 ms to each side. Where ``above`` is at or over half the rate, nothing is changed.
    """
    if above >= rate / 2:
        return np.ones(1)
    a, w = 10 ** (level / 40), 2 * np.pi * above / rate
    cosine, alpha = np.cos(w), np.sin(w) / 2 * np.sqrt(2)
    root = 2 * np.sqrt(a) * alpha
    b = a * np.asarray(
        [(a + 1) + (a - 1) * cosine + root, -2 * ((a - 1) + (a + 1) * cosine), (a + 1) + (a - 1) * cosine - root]
    )
    d = np.asarray(
        [(a + 1) - (a - 1) * cosine + root, 2 * ((a - 1) - (a + 1) * cosine), (a + 1) - (a - 1) * cosine - root]
    )
    z = np.exp(-1j * np.linspace(0, np.pi, _POINTS // 2 + 1))[:, None] ** np.arange(3)
    return _symmetric(np.abs(z @ b) / np.abs(z @ d), round(rate * 0.002))


def low_pass(below: float, rate: int) -> Taps:
    """Return a symmetric low-pass: 6 dB down at ``below`` Hz, flat to a quarter under it, 50 dB down a quarter above.

    It spreads 3.3 periods of ``below`` to each side. Where ``below`` is at or over half the rate, nothing is changed.
    """
    if below >= rate / 2:
        return np.ones(1)
    half = max(1, round(3.3 * rate / below))
    t = np.arange(-half, half + 1)
    taps = 2 * below / rate * np.sinc(2 * below / rate * t) * np.hamming(len(t))
    normal: Taps = taps / taps.sum()
    return normal


def without_lows(samples: Samples, above: float, rate: int) -> NDArray[np.float64]:
    """Return ``samples`` without what lies below ``above`` Hz: 6 dB down there, and 12 dB more with every octave.

    A high-pass of first order, run forwards and backwards. ``above`` is below half the rate.
    """
    from scipy.signal import butter, sosfiltfilt

    if not len(samples):
        return np.zeros(0)
    once = butter(1, above, "highpass", fs=rate, output="sos")
    made: NDArray[np.float64] = sosfiltfilt(once, samples.astype(np.float64), padtype=None)
    return made


def _symmetric(magnitude: NDArray[np.float64], half: int) -> Taps:
    response = np.roll(np.fft.irfft(magnitude), _POINTS // 2)
    middle = _POINTS // 2
    taps = response[middle - half : middle + half + 1] * np.hanning(2 * half + 3)[1:-1]
    normal: Taps = taps * (magnitude[0] / taps.sum())
    return normal
