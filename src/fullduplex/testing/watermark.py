"""Sound that tells which sample it is: every block of 20 ms carries its own number.

A block is the sum of five tones that start afresh with it. Each tone is one of twelve, 50 Hz apart,
so that all are orthogonal over a block; five digits to the base twelve make the number. The tones lie
between 300 and 3250 Hz: the code survives Opus at 24 kbit/s, μ-law at 8 kHz, any gain, and resampling.
Of 248,832 codes only one in eight or so is a number, so most misread blocks are noticed as such.

Reading goes from the coarse to the exact: where do windows hold one pure tone in each band, which
numbers follow one another, and by how many samples is the known sound displaced.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullduplex.driving.playout import Samples
from fullduplex.model.spans import SECOND, ms
from fullduplex.once import once_per_process

#: The length of a block.
BLOCK = ms(20)
#: How many numbers there are: ten minutes and more.
BLOCKS = 32_768

_BANDS, _TONES, _LOWEST, _STEP = 5, 12, 300, 50
_CODES = _TONES**_BANDS
# Coprime to the base, so that it can be undone; neighbours then differ in nearly every digit.
_SPREAD = 91_577
_GATHER = pow(_SPREAD, -1, _CODES)
_LEVEL = 0.09
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
#: The exact place is found over so many blocks at a time, within so many microseconds of the coarse one.
_TOGETHER, _REACH = 25, 3_000
#: A block fits clearly better elsewhere when it does so by this factor.
_CLEARLY = 1.5
#: It is believed to lie elsewhere where the correlation there is so high: coding alone leaves less.
_ALIKE = 0.85
#: A stretch goes on over so many blocks that could not be read, if the known sound is there at all.
_UNREAD, _SOUNDS_ON = 10, 0.3
#: Two places closer than this (microseconds) are one.
_SAME = 250
#: Sound that follows the known one within this share of its peak was not coded on the way.
_LOSSLESS = 4e-3


class Block(NamedTuple):
    """A block that was read: where it begins (samples, to a fraction), its number, and how surely.

    ``confidence`` is the share of the energy there that the block's five tones hold: 1 undisturbed.
    """

    sample: float
    number: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Stretch:
    """Watermark that sounded without a break or a jump: from ``at`` until ``until`` in the recording.

    ``source`` is which moment of the watermark sounded first, counted from the beginning of block 0. In
    microseconds, and exact to a sample where the sound came through unchanged.
    """

    at: int
    until: int
    source: int

    @property
    def duration(self) -> int:
        """Return how long it sounded."""
        return self.until - self.at


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
    for band in range(_BANDS):
        made += tones[band, digits[:, band]]
    return made.reshape(-1)


@once_per_process
def _tones(rate: int) -> NDArray[np.float32]:
    """Return the tones [band, digit, sample] of a block."""
    time = np.arange(block_size(rate)) / rate
    number = np.arange(_BANDS * _TONES)
    return _wave(number[:, None], time).astype(np.float32).reshape(_BANDS, _TONES, -1)


def _wave(number: NDArray[np.int64], time: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the tone of each number at ``time`` seconds into its block."""
    # Phases that grow with the square of the frequency keep the peaks low.
    phase = np.pi * number**2 / (_BANDS * _TONES) + 0.7
    wave: NDArray[np.float64] = _LEVEL * np.cos(2 * np.pi * (_LOWEST + _STEP * number) * time + phase)
    return wave


def _digits(index: NDArray[np.int64]) -> NDArray[np.int64]:
    code = index.astype(np.int64) * _SPREAD % _CODES
    return np.stack([code // _TONES**band % _TONES for band in range(_BANDS)], axis=1)


def read_watermark(samples: Samples, rate: int) -> list[Block]:
    """Return the blocks that sound in full, or nearly so, in ``samples``, in order of time.

    A block is placed by where its neighbours are, to a fraction of a sample. One that cannot be read
    between two that follow one another is still read: its confidence is what it is.
    """
    return [block for run in _placed(samples, rate) for block in run]


def heard_at(samples: Samples, rate: int) -> list[tuple[int, int]]:
    """Return each block's number and the moment at which it sounded, in microseconds."""
    return [(block.number, round(block.sample * SECOND / rate)) for block in read_watermark(samples, rate)]


def stretches(samples: Samples, rate: int) -> tuple[Stretch, ...]:
    """Return what sounded when: the edges too are found, in the middle of a block if need be."""
    runs = _placed(samples, rate)
    found: list[Stretch] = []
    free = 0
    for n, run in enumerate(runs):
        after = round(runs[n + 1][0].sample) + block_size(rate) if n + 1 < len(runs) else len(samples)
        first, end = _edges(samples, rate, run, free, min(after, len(samples)))
        origin = run[0].sample - run[0].number * block_size(rate)
        free = end
        at, until = (first * SECOND) // rate, (end * SECOND) // rate
        found.append(Stretch(at, until, round((first - origin) * SECOND / rate)))
    return tuple(found)


def _placed(samples: Samples, rate: int) -> list[list[Block]]:
    """Return the blocks by stretch, each at its exact place."""
    size = block_size(rate)
    runs: list[list[Block]] = []
    for rough in _runs(_windows(_at_8k(samples, rate))):
        for first in range(0, len(rough), _TOGETHER):
            part = rough[first : first + _TOGETHER]
            guess = part[0].sample * _HOP * rate / _RATE
            sure = {block.number: block.confidence for block in part}
            for piece, begins in _pieces(samples, rate, guess, range(part[0].number, part[-1].number + 1), sure):
                run = [Block(begins + i * size, number, sure.get(number, 0.0)) for i, number in enumerate(piece)]
                _join(runs, run, samples, rate)
    return runs


def _join(runs: list[list[Block]], run: list[Block], samples: Samples, rate: int) -> None:
    """Add ``run``: to the stretch that goes on in it, over blocks that could not be read, else as one of its own."""
    size = block_size(rate)
    for n in range(len(runs) - 1, max(-1, len(runs) - 4), -1):
        last = runs[n][-1]
        between = range(last.number + 1, run[0].number)
        begins = last.sample + size
        moved = abs(run[0].sample - begins - len(between) * size) * SECOND
        if run[0].number <= last.number or len(between) > _UNREAD or moved > _SAME * rate:
            continue
        if between and _likeness(samples, rate, round(begins), between) < _SOUNDS_ON:
            continue
        if all(len(other) < 3 for other in runs[n + 1 :]):
            runs[n + 1 :] = []
            runs[n] += [Block(begins + i * size, number, 0.0) for i, number in enumerate(between)] + run
            return
    runs.append(run)


def _likeness(samples: Samples, rate: int, first: int, numbers: range) -> float:
    """Return the correlation of what sounds from ``first`` on with the known sound of the blocks, -1 to 1."""
    known = watermark(len(numbers), rate, numbers.start).astype(np.float64)
    heard = _between(samples, first, first + len(known)).astype(np.float64)
    power = float((heard @ heard) * (known @ known))
    return float(heard @ known) / power**0.5 if power else 0.0


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
    turns = np.exp(-2j * np.pi * (_LOWEST + _STEP * np.arange(_BANDS * _TONES)) / _RATE)
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
        bands = energy.reshape(len(energy), _BANDS, _TONES)
        digits = bands.argmax(axis=2)
        total = _sums((part**2).sum(axis=1))
        pure = bands.max(axis=2).sum(axis=1) * 2 / (_WINDOW * _HOP) / np.maximum(total, _FAINT**2 * _HOP)
        code = (digits * _TONES ** np.arange(_BANDS)).sum(axis=1)
        index = code * _GATHER % _CODES
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


def _pieces(
    samples: Samples, rate: int, guess: float, numbers: range, read: Container[int]
) -> list[tuple[range, float]]:
    """Return where the blocks begin: together where they lie so, else in the pieces in which they do.

    A block that was not ``read`` and whose sound is not there at all did not sound.
    """
    size = block_size(rate)
    begins = _exactly(samples, rate, guess, numbers)
    apart = [_displaced(samples, rate, begins + i * size, number) for i, number in enumerate(numbers)]
    silent = [
        number not in read
        and _likeness(samples, rate, round(begins) + i * size, range(number, number + 1)) < _SOUNDS_ON
        for i, number in enumerate(numbers)
    ]
    cuts = [
        i
        for i in range(1, len(numbers))
        if silent[i] != silent[i - 1] or abs(apart[i] - apart[i - 1]) * SECOND > _SAME * rate
    ]
    if not cuts:
        return [(numbers, begins)]
    return [
        (numbers[a:b], _exactly(samples, rate, begins + a * size + apart[a], numbers[a:b]))
        for a, b in zip([0, *cuts], [*cuts, len(numbers)], strict=True)
        if not silent[a]
    ]


def _exactly(samples: Samples, rate: int, guess: float, numbers: range) -> float:
    """Return where the blocks begin: where the known sound fits best, to a fraction of a sample."""
    fits, first = _fits(samples, rate, guess, numbers)
    best = int(fits.argmax())
    shift = 0.0
    if 0 < best < len(fits) - 1:
        before, at, after = (float(fit) for fit in fits[best - 1 : best + 2])
        bend = before - 2 * at + after
        shift = 0.5 * (before - after) / bend if bend else 0.0
    # Sound that came through unchanged lies on a whole sample.
    return first + best + (shift if abs(shift) > 0.1 else 0.0)


def _displaced(samples: Samples, rate: int, begins: float, index: int) -> int:
    """Return by how many samples one block fits clearly better elsewhere than where it is thought to begin."""
    fits, first = _fits(samples, rate, begins, range(index, index + 1))
    best, here = int(fits.argmax()), round(begins) - first
    if fits[best] <= _CLEARLY * max(fits[here], 0.0):
        return 0
    alike = _likeness(samples, rate, first + best, range(index, index + 1))
    return first + best - round(begins) if alike >= _ALIKE else 0


def _fits(samples: Samples, rate: int, guess: float, numbers: range) -> tuple[NDArray[np.float64], int]:
    """Return how well the known sound fits at each sample around ``guess``, and the first of these samples."""
    known = watermark(len(numbers), rate, numbers.start).astype(np.float64)
    reach, centre = _REACH * rate // SECOND, round(guess)
    heard = _between(samples, centre - reach, centre + reach + len(known)).astype(np.float64)
    return np.correlate(heard, known, "valid"), centre - reach


def _edges(samples: Samples, rate: int, run: list[Block], free: int, end: int) -> tuple[int, int]:
    """Return the first sample of a stretch and the one after its last, within ``[free, end)``."""
    size = block_size(rate)
    origin = run[0].sample - run[0].number * size
    inner = round(run[0].sample), round(run[-1].sample) + size
    lo = max(free, inner[0] - size)
    hi = max(lo, min(end, inner[1] + size))
    # A block that was read sounds between two and three fifths of it, wherever it is cut.
    head, tail = max(lo, min(hi, inner[0] + 3 * size // 5)), min(hi, max(lo, inner[1] - 3 * size // 5))
    first = head - _reaches(samples, rate, origin, lo, head, backwards=True)
    return first, tail + _reaches(samples, rate, origin, tail, hi, backwards=False)


def _reaches(samples: Samples, rate: int, origin: float, lo: int, hi: int, *, backwards: bool) -> int:
    """Return how far the known sound reaches from one end of ``[lo, hi)`` towards the other, in samples."""
    heard, known = _between(samples, lo, hi).astype(np.float64), _known(rate, lo - origin, hi - lo)
    if backwards:
        heard, known = heard[::-1], known[::-1]
    solid = slice(0, min(len(heard), block_size(rate) // 5))
    power = float(known[solid] @ known[solid])
    gain = float(heard[solid] @ known[solid]) / power if power else 0.0
    rest = np.abs(heard - gain * known)
    allowed = _LOSSLESS * abs(gain) * _BANDS * _LEVEL + 2 / 32_768
    if rest[solid].max(initial=0.0) <= allowed:
        off = np.flatnonzero(rest > allowed)
        reach = int(off[0]) if len(off) else len(heard)
        sounding = np.flatnonzero(heard[:reach])
        return int(sounding[-1]) + 1 if len(sounding) else 0
    # Coded sound: up to where silence explains what is heard better than the known sound does.
    better = np.concatenate([[0.0], np.cumsum(heard**2 - rest**2)])
    return int(better.argmax())


def _known(rate: int, position: float, length: int) -> NDArray[np.float64]:
    """Return the watermark from ``position``, a fraction of a sample if need be, on; silence outside it."""
    size = block_size(rate)
    at = position + np.arange(length)
    index = np.floor(at / size + 1e-9).astype(np.int64)
    inside = (index >= 0) & (index < BLOCKS)
    time = (at - index * size) / rate
    digits = _digits(np.clip(index, 0, BLOCKS - 1))
    made = np.zeros(length)
    for band in range(_BANDS):
        made += _wave(band * _TONES + digits[:, band], time)
    return np.where(inside, made, 0.0)


def _between(samples: Samples, start: int, end: int) -> Samples:
    """Return ``samples[start:end]``, with silence where there are none."""
    part = samples[max(0, start) : max(0, end)]
    before = min(end - start, max(0, -start))
    return np.pad(part, (before, end - start - before - len(part)))
