"""The sound of the watermark: five tones make a number.

A block is the sum of five tones that start afresh with it. Each tone is one of twelve, 50 Hz apart,
so that all are orthogonal over a block; five digits to the base twelve make the number. The tones lie
between 300 and 3250 Hz: the code survives Opus at 24 kbit/s, μ-law at 8 kHz, any gain, and resampling.
Of 248,832 codes only one in eight or so is a number, so most misread blocks are noticed as such.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullduplex.driving.playout import Samples
from fullduplex.model.spans import ms
from fullduplex.once import once_per_process

#: The length of a block.
BLOCK = ms(20)
#: How many numbers there are: ten minutes and more.
BLOCKS = 32_768

BANDS, TONES, LOWEST, STEP = 5, 12, 300, 50
CODES = TONES**BANDS
#: The amplitude of a tone.
LEVEL = 0.09
# Coprime to the base, so that it can be undone; neighbours then differ in nearly every digit.
_SPREAD = 91_577
_GATHER = pow(_SPREAD, -1, CODES)


def block_size(rate: int) -> int:
    """Return how many samples a block has at ``rate``; raises ValueError where that is no whole number."""
    if rate < 8_000 or rate % 50:
        raise ValueError(f"a watermark needs a rate of 8000 or more that 50 divides, not {rate}")
    return rate // 50


def watermark(blocks: int, rate: int, start: int = 0) -> Samples:
    """Return ``blocks`` blocks at ``rate``, numbered from ``start``; peak below 0.45.

    Raises ValueError for numbers outside ``range(BLOCKS)`` and for a rate without whole blocks.
    """
    if blocks < 0 or start < 0 or start + blocks > BLOCKS:
        raise ValueError(f"blocks are numbered 0 to {BLOCKS - 1}, not {start} to {start + blocks - 1}")
    tones, size = _tones(rate), block_size(rate)
    made = np.zeros((blocks, size), np.float32)
    digits = _digits(np.arange(start, start + blocks))
    for band in range(BANDS):
        made += tones[band, digits[:, band]]
    return made.reshape(-1)


def known(rate: int, position: float, length: int) -> NDArray[np.float64]:
    """Return the watermark from ``position``, a fraction of a sample if need be, on; silence outside it."""
    size = block_size(rate)
    at = position + np.arange(length)
    index = np.floor(at / size + 1e-9).astype(np.int64)
    inside = (index >= 0) & (index < BLOCKS)
    time = (at - index * size) / rate
    digits = _digits(np.clip(index, 0, BLOCKS - 1))
    made = np.zeros(length)
    for band in range(BANDS):
        made += _wave(band * TONES + digits[:, band], time)
    return np.where(inside, made, 0.0)


@once_per_process
def _tones(rate: int) -> NDArray[np.float32]:
    """Return the tones [band, digit, sample] of a block."""
    time = np.arange(block_size(rate)) / rate
    number = np.arange(BANDS * TONES)
    return _wave(number[:, None], time).astype(np.float32).reshape(BANDS, TONES, -1)


def _wave(number: NDArray[np.int64], time: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the tone of each number at ``time`` seconds into its block."""
    # Phases that grow with the square of the frequency keep the peaks low.
    phase = np.pi * number**2 / (BANDS * TONES) + 0.7
    wave: NDArray[np.float64] = LEVEL * np.cos(2 * np.pi * (LOWEST + STEP * number) * time + phase)
    return wave


def _digits(index: NDArray[np.int64]) -> NDArray[np.int64]:
    code = index.astype(np.int64) * _SPREAD % CODES
    return np.stack([code // TONES**band % TONES for band in range(BANDS)], axis=1)


def number_of(digits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number that each row of digits makes; :data:`BLOCKS` and more are none."""
    code = (digits * TONES ** np.arange(BANDS)).sum(axis=1)
    number: NDArray[np.int64] = code * _GATHER % CODES
    return number
