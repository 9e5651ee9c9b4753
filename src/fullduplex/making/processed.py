"""Whispered and shouted speech, made from normal speech: marked *processed* wherever it is used, and no recording.

Speech is taken apart, frame by frame, into the resonances of the mouth (linear prediction) and
what excites them. A whisper gets noise for its excitation; a shout gets its own, higher. Both are as long
as what they are made from, and every word stays within 10 ms of its place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.model.spans import SECOND, ms
from fullduplex.providers.voices import PEAK

Samples = NDArray[np.float32]

_FRAME, _HOP = ms(25), ms(5)
#: A whisper is this much softer than the speech it is made from, in dB.
SOFTER = 8.0
#: A shout is this much louder, in dB, where the peak allows; its pitch is this many times as high.
LOUDER, HIGHER = 10.0, 1.35
#: How much of the fall of a voice's spectrum is taken away: a whisper has no voice that falls, a shout a tenser one.
_WHISPER_TILT, _SHOUT_TILT = 0.7, 0.8
#: Pieces of the excitation are moved this far at most, to meet in phase.
_SEARCH = ms(6)


def whispered(samples: Samples, rate: int, seed: int = 0) -> Samples:
    """Return ``samples`` as a whisper: noise through the same resonances, with the fall of the voice taken off.

    The harmonics-to-noise ratio falls below 6 dB and fewer than 0.4 of its frames are voiced. The level is
    ``SOFTER`` dB lower. ``seed`` draws the noise.
    """
    if not len(samples):
        return samples
    noise = np.random.default_rng(seed).standard_normal(len(samples))
    spectra, envelopes, slopes = _taken_apart(samples, rate)
    shaped = _spectra(noise, rate) * envelopes * _flatter(slopes, spectra.shape[1], _WHISPER_TILT)
    made = _together(_as_strong(shaped, spectra), len(samples), rate)
    return _levelled(made, samples, -SOFTER)


def shouted(samples: Samples, rate: int) -> Samples:
    """Return ``samples`` as a shout: pitch ``HIGHER`` times as high, a flatter spectrum, up to ``LOUDER`` dB louder.

    The resonances stay where they are. No sample is louder than ``PEAK``.
    """
    if not len(samples):
        return samples
    spectra, envelopes, slopes = _taken_apart(samples, rate)
    excitation = _together(spectra / envelopes, len(samples), rate)
    shaped = _spectra(_higher(excitation, rate, HIGHER), rate) * envelopes
    shaped *= _flatter(slopes, spectra.shape[1], _SHOUT_TILT)
    made = _together(_as_strong(shaped, spectra), len(samples), rate)
    return _levelled(made, samples, LOUDER)


def _sizes(rate: int) -> tuple[int, int]:
    hop = max(1, _HOP * rate // SECOND)
    return _FRAME // _HOP * hop, hop


def _frames(samples: NDArray[Any], rate: int) -> NDArray[np.float64]:
    """Return windowed frames, the first centred on the first sample."""
    size, hop = _sizes(rate)
    padded = np.pad(np.asarray(samples, np.float64), (size // 2, size))
    count = len(samples) // hop + 1
    at = np.arange(count)[:, None] * hop + np.arange(size)
    framed: NDArray[np.float64] = padded[at] * np.hanning(size + 2)[1:-1]
    return framed


def _spectra(samples: NDArray[Any], rate: int) -> Any:
    framed = _frames(samples, rate)
    return np.fft.rfft(framed, _bins(framed.shape[1]), axis=1)


def _bins(size: int) -> int:
    return int(2 ** np.ceil(np.log2(2 * size)))


def _taken_apart(samples: Samples, rate: int) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
    """Return each frame's spectrum, its envelope by linear prediction, and its slope (near 1: a voice, falling)."""
    framed = _frames(samples, rate)
    count, size = framed.shape
    order = 2 + rate // 1000
    spectra = np.fft.rfft(framed, _bins(size), axis=1)
    correlation = np.fft.irfft(np.abs(spectra) ** 2, axis=1)[:, : order + 1]
    # A floor of noise 60 dB down keeps the equations solvable, and an empty frame flat.
    correlation[:, 0] = correlation[:, 0] * (1 + 1e-6) + 1e-12
    lags = np.abs(np.arange(order)[:, None] - np.arange(order))
    predictors = np.linalg.solve(correlation[:, lags], correlation[:, 1:, None])[:, :, 0]
    inverse = np.fft.rfft(np.concatenate([np.ones((count, 1)), -predictors], axis=1), _bins(size), axis=1)
    envelopes = 1 / np.maximum(np.abs(inverse), 1e-6)
    return spectra, envelopes, np.clip(correlation[:, 1] / correlation[:, 0], 0.0, 1.0)


def _flatter(slopes: NDArray[np.float64], bins: int, share: float) -> NDArray[np.float64]:
    """Return a high-pass for each frame that takes ``share`` of its slope away; a frame of noise keeps its own."""
    turn = np.exp(-1j * np.pi * np.arange(bins) / (bins - 1))
    tilted: NDArray[np.float64] = np.abs(1 - share * slopes[:, None] * turn)
    return tilted


def _as_strong(made: Any, given: Any) -> Any:
    """Return each frame of ``made`` with the power that it has in ``given``: the loudness follows the words."""
    has, wanted = ((np.abs(one) ** 2).sum(axis=1, keepdims=True) for one in (made, given))
    return made * np.sqrt(wanted / np.maximum(has, 1e-30))


def _together(spectra: Any, length: int, rate: int) -> NDArray[np.float64]:
    """Return the samples whose frames have these spectra, each at its place."""
    size, hop = _sizes(rate)
    window = np.hanning(size + 2)[1:-1]
    framed = np.fft.irfft(spectra, axis=1)[:, :size] * window
    total = np.zeros(len(framed) * hop + size)
    weight = np.zeros_like(total)
    for at, frame in enumerate(framed):
        total[at * hop : at * hop + size] += frame
        weight[at * hop : at * hop + size] += window**2
    total /= np.maximum(weight, 1e-3)
    return total[size // 2 : size // 2 + length]


def _higher(excitation: NDArray[np.float64], rate: int, factor: float) -> NDArray[np.float64]:
    """Return ``excitation`` with its pitch ``factor`` times as high, and every moment of it within 10 ms of its place.

    It is made longer by pieces that meet in phase, and played that much faster.
    """
    size, search = (time * rate // SECOND for time in (ms(20), _SEARCH))
    half = size // 2
    window = np.hanning(size + 2)[1:-1]
    length = int(np.ceil(len(excitation) * factor))
    padded = np.pad(excitation, (search + half, 2 * size + search))
    longer, weight = np.zeros(length + 2 * size), np.zeros(length + 2 * size)
    before = None
    for at in range(0, length + half, half):
        home = min(round(at / factor), len(excitation)) + search
        place = home
        if before is not None:
            # What would follow the last piece, looked for around where this one belongs.
            follows = padded[before + half : before + half + size]
            around = padded[home - search : home + search + size]
            energy = np.sqrt(np.convolve(around**2, np.ones(size), "valid")) + 1e-9
            place = home - search + int(np.argmax(np.correlate(around, follows, "valid") / energy))
        longer[at : at + size] += padded[place : place + size] * window
        weight[at : at + size] += window
        before = place
    longer = (longer / np.maximum(weight, 1e-3))[half:]
    import soxr

    faster = soxr.resample(longer, round(1000 * factor), 1000, quality="HQ")[: len(excitation)]
    made: NDArray[np.float64] = np.pad(faster, (0, len(excitation) - len(faster)))
    return made


def _levelled(made: NDArray[np.float64], given: Samples, by: float) -> Samples:
    """Return ``made`` with the level of ``given`` plus ``by`` dB, or less where ``PEAK`` is met first."""
    power, peak = float(np.mean(made**2)), float(np.abs(made).max())
    if not power:
        return made.astype(np.float32)
    gain = np.sqrt(float(np.mean(np.asarray(given, np.float64) ** 2)) / power) * 10 ** (by / 20)
    gain = min(gain, 10 ** (PEAK / 20) / peak)
    return np.asarray(np.rint(made * gain * 32768) / 32768, np.float32)
