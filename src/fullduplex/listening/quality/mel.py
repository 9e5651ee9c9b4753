"""Log-mel spectra as the networks of perceived quality were trained on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.once import once_per_process

Spectrum = NDArray[np.float32]

#: Slaney's mel scale: linear up to 1 kHz (15 mels), then logarithmic, 27 mels to a factor of 6.4.
_LINEAR_HZ = 200 / 3
_BREAK_HZ = 1000.0
_BREAK_MEL = _BREAK_HZ / _LINEAR_HZ
_STEP = np.log(6.4) / 27
_FAINTEST = 1e-10
_RANGE_DB = 80.0


def log_mel(samples: NDArray[np.floating[Any]], rate: int, *, size: int, hop: int, bands: int) -> Spectrum:
    """Return [1 + (n - 1) // hop, bands]: the level of each mel band in each frame, scaled to about [-1, 1].

    A frame is ``size`` samples (odd) under a periodic Hann window, centred every ``hop``
    samples from the first on, with zeros beyond both ends. Its power goes through triangular
    bands on Slaney's mel scale from 0 to half the rate, each of area 1. In dB below the
    loudest value, at least -80, then ``(dB + 40) / 40``.

    Source: ``librosa.feature.melspectrogram`` and ``power_to_db`` as the speechmos package
    calls them. Here in float64 and without BLAS, so that threads change no bit.
    """
    power = _power(np.asarray(samples, np.float64), size, hop)
    mel = np.zeros((len(power), bands))
    for band, (first, weights) in enumerate(_filters(rate, size, bands)):
        mel[:, band] = (power[:, first : first + len(weights)] * weights).sum(axis=1)
    level = 10 * np.log10(np.maximum(_FAINTEST, mel))
    level -= 10 * np.log10(max(_FAINTEST, mel.max()))
    level = np.maximum(level, level.max() - _RANGE_DB)
    scaled: Spectrum = ((level + 40) / 40).astype(np.float32)
    return scaled


def _power(samples: NDArray[np.float64], size: int, hop: int) -> NDArray[np.float64]:
    frames = np.lib.stride_tricks.sliding_window_view(np.pad(samples, size // 2), size)[::hop]
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
    spectrum = np.fft.rfft(frames * window)
    return np.square(spectrum.real) + np.square(spectrum.imag)


@once_per_process
def _filters(rate: int, size: int, bands: int) -> tuple[tuple[int, NDArray[np.float64]], ...]:
    """Return each band's first bin of the spectrum and its weights from there on."""
    bins = np.fft.rfftfreq(size, 1 / rate)
    edges = _hertz(np.linspace(0, _mels(rate / 2), bands + 2))
    made = []
    for low, middle, high in zip(edges, edges[1:], edges[2:]):
        weights = np.minimum((bins - low) / (middle - low), (high - bins) / (high - middle))
        inside = np.flatnonzero(weights > 0)
        first, last = (inside[0], inside[-1] + 1) if len(inside) else (0, 0)
        made.append((int(first), weights[first:last] * 2 / (high - low)))
    return tuple(made)


def _mels(hertz: float) -> float:
    if hertz < _BREAK_HZ:
        return hertz / _LINEAR_HZ
    return float(_BREAK_MEL + np.log(hertz / _BREAK_HZ) / _STEP)


def _hertz(mels: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(mels < _BREAK_MEL, mels * _LINEAR_HZ, _BREAK_HZ * np.exp(_STEP * (mels - _BREAK_MEL)))
