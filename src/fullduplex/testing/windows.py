"""Where a watermark's blocks lie, to a millisecond, and what their numbers are.

A window of a block's length that moves in steps of a millisecond holds one pure tone in each band where it
lies on a block, and mixtures elsewhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullduplex.driving.playout import Samples
from fullduplex.testing.tones import BANDS, BLOCKS, LOWEST, STEP, TONES, number_of

#: Blocks are looked for at 8 kHz, a millisecond apart.
_RATE, _HOP = 8_000, 8
_WINDOW = _RATE // 50 // _HOP
_AT_ONCE = 8_000
#: A window is a block where five tones hold so much of its energy; a block and silence by halves hold 0.5.
_PURE = 0.6
#: Quieter than this (-74 dB of full scale) nothing is looked for.
_FAINT = 2e-4
#: Blocks follow one another where they lie so far apart, give or take this many hops.
_SLACK = 2.5


class Block(NamedTuple):
    """A block that was read: where it begins (samples, to a fraction), its number, and how surely.

    ``confidence`` is the share of the energy there that the block's five tones hold: 1 undisturbed.
    """

    sample: float
    number: int
    confidence: float


def runs_in(samples: Samples, rate: int) -> list[list[Block]]:
    """Return the blocks that follow one another together, each placed to a millisecond or two.

    A window that breaks into a run is not believed.
    """
    hop = _HOP * rate / _RATE
    found = _runs(_windows(_at_8k(samples, rate)))
    return [[block._replace(sample=block.sample * hop) for block in run] for run in found]


def _at_8k(samples: Samples, rate: int) -> Samples:
    if rate == _RATE:
        return samples
    import soxr

    made: Samples = soxr.resample(samples, rate, _RATE).astype(np.float32)
    return made


def _windows(samples: Samples) -> list[Block]:
    """Return the windows that hold a block, no two of which overlap; ``sample`` counts hops."""
    # A window of silence on either side, so that a block at the very edge is found.
    hops = np.pad(samples, (0, -len(samples) % _HOP + _WINDOW * _HOP)).reshape(-1, _HOP).astype(np.float64)
    turns = np.exp(-2j * np.pi * (LOWEST + STEP * np.arange(BANDS * TONES)) / _RATE)
    basis = turns[None, :] ** np.arange(_HOP)[:, None]
    blocks: list[Block] = []
    for first in range(0, len(hops), _AT_ONCE):
        # A window more on both sides, so that a block across the border is the best of its surroundings.
        lo = max(0, first - _WINDOW)
        part = hops[lo : first + _AT_ONCE + 2 * _WINDOW]
        if len(part) < _WINDOW or np.abs(part).max() < _FAINT:
            continue
        spectrum = (part @ basis) * (turns[None, :] ** _HOP) ** np.arange(len(part))[:, None]
        energy = np.abs(_sums(spectrum)) ** 2
        bands = energy.reshape(len(energy), BANDS, TONES)
        digits = bands.argmax(axis=2)
        total = _sums((part**2).sum(axis=1))
        pure = bands.max(axis=2).sum(axis=1) * 2 / (_WINDOW * _HOP) / np.maximum(total, _FAINT**2 * _HOP)
        index = number_of(digits)
        pure = np.where(index < BLOCKS, pure, 0.0)
        for at in _peaks(pure):
            if first <= lo + at < first + _AT_ONCE:
                blocks.append(Block(float(lo + at), int(index[at]), float(min(1.0, pure[at]))))
    return blocks


def _sums(values: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return the sum of each window of hops."""
    total = np.cumsum(np.concatenate([np.zeros_like(values[:1]), values]), axis=0)
    sums: NDArray[np.generic] = total[_WINDOW:] - total[:-_WINDOW]
    return sums


def _peaks(pure: NDArray[np.float64]) -> list[int]:
    """Return the places of the purest windows, none within a block of a purer one."""
    found: list[int] = []
    taken = np.zeros(len(pure) + 2 * _WINDOW, bool)
    for at in np.argsort(-pure, kind="stable"):
        if pure[at] < _PURE:
            break
        if not taken[at + _WINDOW]:
            found.append(int(at))
            taken[at + 2 : at + 2 * _WINDOW - 1] = True
    return sorted(found)


def _runs(blocks: list[Block]) -> list[list[Block]]:
    """Return the blocks that follow one another together; one that breaks into a run is not believed."""
    runs: list[list[Block]] = []
    for block in blocks:
        if runs and _follows(runs[-1][-1], block):
            runs[-1].append(block)
        elif len(runs) > 1 and len(runs[-1]) == 1 and _follows(runs[-2][-1], block):
            runs.pop()
            runs[-1].append(block)
        else:
            runs.append([block])
    return runs


def _follows(a: Block, b: Block) -> bool:
    steps = b.number - a.number
    return 0 < steps <= 5 and abs(b.sample - a.sample - steps * _WINDOW) <= _SLACK
