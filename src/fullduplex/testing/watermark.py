"""Sound that tells which sample it is: every block of 20 ms carries its own number.

The sound is that of :mod:`fullduplex.testing.tones`. Reading goes from the coarse to the exact: where windows hold
one pure tone in each band (:mod:`fullduplex.testing.windows`), which numbers follow one another, and by how
many samples the known sound is displaced.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullduplex.driving.playout import Samples
from fullduplex.model.spans import SECOND
from fullduplex.testing.tones import BANDS, BLOCK, BLOCKS, LEVEL, block_size, known, watermark
from fullduplex.testing.windows import Block, runs_in

#: The exact place is found over so many blocks at a time, within so many microseconds of the coarse one.
_TOGETHER, _REACH = 25, 3_000
#: A block fits clearly better elsewhere when it does so by this factor.
_CLEARLY = 1.5
#: It is believed to lie elsewhere where the correlation there is so high: coding alone leaves less.
_ALIKE = 0.85
#: A stretch goes on over so many blocks that could not be read, if the known sound is there at all.
_UNREAD, _SOUNDS_ON = 10, 0.3
#: Silence has less than this share of the power around it.
_SILENT = 0.05
#: Two places closer than this (microseconds) are one.
_SAME = 250
#: Sound that follows the known one within this share of its peak was not coded on the way.
_LOSSLESS = 4e-3

__all__ = ["BLOCK", "BLOCKS", "Block", "Stretch", "block_size", "heard_at", "read_watermark", "stretches", "watermark"]


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
    for rough in runs_in(samples, rate):
        for first in range(0, len(rough), _TOGETHER):
            part = rough[first : first + _TOGETHER]
            guess = part[0].sample
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
    sound = watermark(len(numbers), rate, numbers.start).astype(np.float64)
    heard = _between(samples, first, first + len(sound)).astype(np.float64)
    power = float((heard @ heard) * (sound @ sound))
    return float(heard @ sound) / power**0.5 if power else 0.0


def _pieces(
    samples: Samples, rate: int, guess: float, numbers: range, read: Container[int]
) -> list[tuple[range, float]]:
    """Return where the blocks begin: together where they lie so, else in the pieces in which they do.

    A block that was not ``read`` where it is silent did not sound.
    """
    size = block_size(rate)
    begins = _exactly(samples, rate, guess, numbers)
    apart = [_displaced(samples, rate, begins + i * size, number) for i, number in enumerate(numbers)]
    first = [round(begins) + i * size for i in range(len(numbers))]
    power = [float(np.mean(_between(samples, at, at + size).astype(np.float64) ** 2)) for at in first]
    silent = [n not in read and power[i] < _SILENT * max(power) for i, n in enumerate(numbers)]
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
    sound = watermark(len(numbers), rate, numbers.start).astype(np.float64)
    reach, centre = _REACH * rate // SECOND, round(guess)
    heard = _between(samples, centre - reach, centre + reach + len(sound)).astype(np.float64)
    return np.correlate(heard, sound, "valid"), centre - reach


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
    heard, sound = _between(samples, lo, hi).astype(np.float64), known(rate, lo - origin, hi - lo)
    if backwards:
        heard, sound = heard[::-1], sound[::-1]
    solid = slice(0, min(len(heard), block_size(rate) // 5))
    power = float(sound[solid] @ sound[solid])
    gain = float(heard[solid] @ sound[solid]) / power if power else 0.0
    rest = np.abs(heard - gain * sound)
    allowed = _LOSSLESS * abs(gain) * BANDS * LEVEL + 2 / 32_768
    if rest[solid].max(initial=0.0) <= allowed:
        off = np.flatnonzero(rest > allowed)
        reach = int(off[0]) if len(off) else len(heard)
        sounding = np.flatnonzero(heard[:reach])
        return int(sounding[-1]) + 1 if len(sounding) else 0
    # Coded sound: up to where silence explains what is heard better than the known sound does.
    better = np.concatenate([[0.0], np.cumsum(heard**2 - rest**2)])
    return int(better.argmax())


def _between(samples: Samples, start: int, end: int) -> Samples:
    """Return ``samples[start:end]``, with silence where there are none."""
    part = samples[max(0, start) : max(0, end)]
    before = min(end - start, max(0, -start))
    return np.pad(part, (before, end - start - before - len(part)))
