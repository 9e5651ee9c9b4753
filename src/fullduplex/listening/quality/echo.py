"""How much of what the system played is found in the user's channel, and how late."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.data.audio import resample
from fullduplex.listening.quality.measured import Measured, Samples, one_voice
from fullduplex.model.spans import SECOND, ms, seconds

NAMES = ("level_db", "share_db", "delay_s", "drift_ppm")
#: What is shorter holds too few frames to tell an echo from chance.
SHORTEST = seconds(1)
#: An echo comes after the sound; but the two channels' zeros may disagree by a little.
EARLIEST, LATEST = -ms(100), seconds(2)

_RATE = 16_000
#: Two sound cards' clocks drift apart, so a delay holds for some seconds only.
_BLOCK_SECONDS = 10
_DRIFTS = np.arange(-300, 301, 5)
#: Drift is looked for below 2 kHz, where a step of it turns the phase by less than a tenth of a cycle.
_DRIFT_BINS = slice(1, 257)
#: How far the best lag must stand above the spread of those around it, of which the nearest belong to its peak.
#: In 84 blocks of unrelated recordings the most was 9.9, in 78 of talks without echo 11.1; a real echo had 25.
_STANDS_OUT = 12.0
_AROUND, _PEAK = 4000, 160
#: An echo counts from this many times what chance gives on: then its level is right to about 1 dB.
_ABOVE_CHANCE, _TURNS = 5.0, 8
#: Whitened by this power, the correlation has a narrow peak and still trusts the loud bands most. By 1, what
#: codecs leave in silent bands correlates between recordings that have nothing to do with each other.
_WHITENING = 0.7
#: 128 ms: holds the direct sound and most of a room's answer, and leaves enough frames to compare.
_FRAME = 2048
_HOP = _FRAME // 2
_FEWEST_FRAMES = 4
#: Frames of the played sound that are fainter than this below its loudest carry no echo worth the name.
_ACTIVE_DB = 40.0


def echo_level(
    loopback: NDArray[np.floating[Any]],
    microphone: NDArray[np.floating[Any]],
    rate: int,
    earliest: int = EARLIEST,
    latest: int = LATEST,
) -> Measured:
    """Return how loud the system's sound is in the user's channel, as far as it is coherent with what was played.

    ``level_db``: 10 log10 of the energy of the echo over that of the played sound. The echo is
    what a filter of up to 128 ms makes of the played sound and is found in the microphone:
    the sum over frequencies of the squared gain times the energy played.
    ``share_db``: the same energy over all of the microphone's, at most 0. Both over the frames in
    which the system sounds (within 40 dB of its loudest).
    ``delay_s``: by how many seconds the microphone lags, within [``earliest``, ``latest``]
    (microseconds): where the cross-correlation, whitened by the power 0.7 of its spectrum, is largest.
    ``drift_ppm``: by how many microseconds that lag grows in a second, as the two channels' clocks
    drift apart, within 300.

    The recording is measured in blocks of about 10 s, each with its own delay and drift; those
    returned are of the block with the most echo. A block has no echo where no lag stands out (12 times the
    spread of those within 250 ms) or the echo has less than 5 times the energy that frames of
    other times give by chance. What loudspeakers distort and rooms
    spread beyond the filter is not coherent and not counted: the level is a lower bound.

    Absent: ``shorter than 1 s``; ``the system was silent``; ``digital silence at the microphone``;
    ``no echo stands out``. Raises :class:`InputError` on samples that are not one finite voice.
    Source: own, from generalised cross-correlation (Knapp and Carter 1976) and the H1 estimate of
    a gain, freed of its bias.
    """
    played, taken = one_voice(loopback, rate, "loopback"), one_voice(microphone, rate, "microphone")
    length = min(len(played), len(taken))
    if length * SECOND < SHORTEST * rate:
        return Measured.none(NAMES, "shorter than 1 s")
    played, taken = (resample(samples[:length], rate, _RATE) for samples in (played, taken))
    if not played.any():
        return Measured.none(NAMES, "the system was silent")
    if not taken.any():
        return Measured.none(NAMES, "digital silence at the microphone")
    lags = range(earliest * _RATE // SECOND, latest * _RATE // SECOND + 1)
    blocks = [_measure(played, taken, start, end, lags) for start, end in _blocks(len(played))]
    echo = sum(block.echo for block in blocks)
    if echo <= 0:
        return Measured.none(NAMES, "no echo stands out")
    most = max(blocks, key=lambda block: block.echo)
    values = {
        "level_db": _db(echo / sum(block.played for block in blocks)),
        "share_db": _db(min(1.0, echo / sum(block.taken for block in blocks))),
        "delay_s": most.lag / _RATE,
        "drift_ppm": float(most.drift),
    }
    return Measured(values, {})


@dataclass(frozen=True, slots=True)
class _Block:
    """Energies over the frames in which the system sounds, and the echo's lag (samples) and drift (ppm)."""

    played: float = 0.0
    taken: float = 0.0
    echo: float = 0.0
    lag: int = 0
    drift: int = 0


def _blocks(length: int) -> Iterator[tuple[int, int]]:
    count = max(1, round(length / (_BLOCK_SECONDS * _RATE)))
    for block in range(count):
        yield block * length // count, (block + 1) * length // count


def _measure(played: Samples, taken: Samples, start: int, end: int, lags: range) -> _Block:
    """Return what the block [start, end) of the played sound has in common with the microphone."""
    first, last = max(0, start + min(lags[0], 0)), min(len(taken), end + max(lags[-1], 0))
    lag = _lag(played[start:end], taken[first:last], range(start - first + lags[0], start - first + lags[-1] + 1))
    late = 0 if lag is None else lag + first - start
    start = max(start, -late)
    end = max(start, min(end, len(taken) - late))
    x, y = _spectra(played[start:end]), _spectra(taken[start + late : end + late])
    power = np.square(np.abs(x))
    active = power.sum(axis=1) > power.sum(axis=1).max(initial=0) * 10 ** (-_ACTIVE_DB / 10)
    source, whole = power[active].sum(axis=0), float(np.square(np.abs(y[active])).sum())
    if lag is None or np.count_nonzero(active) < _FEWEST_FRAMES:
        return _Block(float(source.sum()), whole)
    # Frames in which the system is silent stay as zeros, so that the others keep their times.
    cross, power = np.where(active[:, None], np.conj(x) * y, 0), np.where(active[:, None], power, 0)
    drift = _drift(cross[:, _DRIFT_BINS], power[:, _DRIFT_BINS])
    gain = _gain(_turned(cross, np.arange(_HOP + 1), drift), power)
    echo = float((gain * source).sum())
    # The best of all drifts at an end of their range is none.
    sure = _DRIFTS[0] < drift < _DRIFTS[-1] and echo >= _ABOVE_CHANCE * _by_chance(x, y, active)
    return _Block(float(source.sum()), whole, echo if sure else 0.0, late, drift)


def _lag(played: Samples, taken: Samples, lags: range) -> int | None:
    """Return by how many samples ``taken`` lags; None where no lag stands out."""
    wide = np.arange(lags[0] - _AROUND, lags[-1] + _AROUND + 1)
    size = 1 << (max(len(played), len(taken)) + int(np.abs(wide).max())).bit_length()
    cross = np.conj(np.fft.rfft(played.astype(np.float64), size)) * np.fft.rfft(taken.astype(np.float64), size)
    magnitude = np.abs(cross)
    if not magnitude.any():
        return None
    cross /= np.maximum(magnitude, magnitude.max() * 1e-12) ** _WHITENING
    energy = np.square(np.fft.irfft(cross, size)[wide % size])
    best = int(energy[_AROUND:-_AROUND].argmax()) + _AROUND
    around = np.r_[best - _AROUND : best - _PEAK, best + _PEAK + 1 : best + _AROUND + 1]
    return int(wide[best]) if energy[best] >= _STANDS_OUT**2 * energy[around].mean() else None


def _drift(cross: NDArray[np.complex128], power: NDArray[np.float64]) -> int:
    """Return the drift, in ppm, under which most of the microphone is an echo."""
    bins = np.arange(_DRIFT_BINS.start, _DRIFT_BINS.stop)
    source = power.sum(axis=0)
    turned = _turned(cross, bins, int(_DRIFTS[0]))
    step = _turned(np.ones_like(cross), bins, int(_DRIFTS[1] - _DRIFTS[0]))
    found = []
    for _ in _DRIFTS:
        found.append(float((_gain(turned, power) * source).sum()))
        turned *= step
    return int(_DRIFTS[int(np.argmax(found))])


def _by_chance(x: NDArray[np.complex128], y: NDArray[np.complex128], active: NDArray[np.bool_]) -> float:
    """Return how much echo is found by chance: the root mean square of what frames give that do not belong together.

    The played frames against the microphone's, turned round by an eighth of the block and more.
    """
    power = np.where(active[:, None], np.square(np.abs(x)), 0)
    source, count = power.sum(axis=0), len(x)
    found = []
    for turn in range(1, _TURNS):
        cross = np.where(active[:, None], np.conj(x) * np.roll(y, turn * count // _TURNS, axis=0), 0)
        found.append(float((_gain(cross, power) * source).sum()))
    return float(np.sqrt(np.mean(np.square(found))))


def _turned(cross: NDArray[np.complex128], bins: NDArray[np.int64], drift: int) -> NDArray[np.complex128]:
    """Return the cross-spectra with the phase taken out that a drift puts in from frame to frame."""
    times = np.arange(len(cross)) * _HOP
    turned: NDArray[np.complex128] = cross * np.exp(2j * np.pi * drift * 1e-6 / _FRAME * np.outer(times, bins))
    return turned


def _gain(cross: NDArray[np.complex128], power: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squared gain from the played sound to the microphone, for each frequency, without bias.

    The mean of ``c_i conj(c_j)`` over pairs of different frames, over that of ``p_i p_j``: c is
    the cross-spectrum of a frame, p the power played. A frame paired with itself would make an echo
    of anything, and so would frames that overlap: even and odd ones are paired apart.
    """
    above = below = np.zeros(cross.shape[1])
    for half in (slice(0, None, 2), slice(1, None, 2)):
        c, p = cross[half], power[half]
        above = above + np.square(np.abs(c.sum(axis=0))) - np.square(np.abs(c)).sum(axis=0)
        below = below + np.square(p.sum(axis=0)) - np.square(p).sum(axis=0)
    made: NDArray[np.float64] = above / np.maximum(below, below.max() * 1e-12 or 1.0)
    return made


def _spectra(samples: Samples) -> NDArray[np.complex128]:
    if len(samples) < _FRAME:
        return np.zeros((0, _HOP + 1), np.complex128)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_FRAME) / _FRAME)
    frames = np.lib.stride_tricks.sliding_window_view(samples.astype(np.float64), _FRAME)[::_HOP]
    return np.fft.rfft(frames * window)


def _db(ratio: float) -> float:
    return float(10 * np.log10(ratio))
