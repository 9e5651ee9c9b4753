"""Pitch by autocorrelation, as Praat's "To Pitch (ac)" defines it."""

from __future__ import annotations

import numpy as np

from fullduplex.errors import InputError
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
from fullduplex.listening.acoustics.path import Path
from fullduplex.listening.acoustics.peaks import Peaks, interpolated, peaks, refined, roughly, strongest

#: Length of the window, in periods of the floor.
_PERIODS = 3.0
#: Samples on each side that the height of a peak is taken from: to choose among too many, and in the end.
_RANKING_DEPTH, _DEPTH = 30, 70
#: The step that the costs of a path are stated for.
_COSTS_STEP = 0.01
#: How much a frequency may fall when its peak is placed between the samples: the lag moves by less than one.
_MOVE = 1.0


def pitch(
    samples: Samples,
    rate: int,
    *,
    step: float = 0.01,
    floor: float = 75.0,
    ceiling: float = 600.0,
    candidates: int = 15,
    silence: float = 0.03,
    voicing: float = 0.45,
    octave_cost: float = 0.01,
    jump_cost: float = 0.35,
    switch_cost: float = 0.14,
) -> Contour:
    """Return the pitch of one voice in Hz, NaN in unvoiced frames, ``step`` seconds apart.

    Each frame of 3 / ``floor`` seconds under a Hanning window proposes the peaks of its
    autocorrelation, divided by that of the window: frequency f = 1 / lag, strength the height less
    ``octave_cost`` · log2(``ceiling`` / f), at most ``candidates`` less one of them, and of those
    only f below ``ceiling``; and "unvoiced", of strength ``voicing`` + max(0, 2 - loudness · (1 + ``voicing``) /
    ``silence``), loudness being the frame's peak over that of the whole sound. The path with the
    greatest sum of strengths wins, less ``jump_cost`` for an octave and ``switch_cost`` for a change of
    voicing between frames (for a step of 10 ms; in proportion to 0.01 / ``step`` for others).

    Whether a frame is voiced depends on the whole sound: the same stretch cut out of it
    has another peak, other neighbours, and other frame times.

    Empty: a sound shorter than 3 / ``floor`` seconds (40 ms at 75 Hz).
    Raises :class:`InputError` on NaN or infinity, several channels, and options that are out of range.
    Source: P. Boersma, "Accurate short-term analysis of the fundamental frequency and the
    harmonics-to-noise ratio of a sampled sound" (1993). Praat calls it "raw autocorrelation" since 6.4, whose
    default is another method. Agreement with Praat itself: ``bench/praat_agreement.py``.
    """
    samples = checked(samples, rate)
    checked_floor(floor, rate)
    positive(step=step, ceiling=ceiling, silence=silence)
    if ceiling <= floor:
        raise InputError("acoustics", "ceiling", found=f"{ceiling:g} Hz", expected=f"more than the floor, {floor:g} Hz")
    if not 2 <= candidates <= 100:
        raise InputError("acoustics", "candidates", found=candidates, expected="2 to 100")
    ceiling = min(ceiling, 0.5 * rate)
    times = centres(len(samples), rate, window=_PERIODS / floor, step=step)
    peak = peak_of(samples)
    if not peak or not len(times):
        return Contour(times, np.full(len(times), np.nan))
    half = int(_PERIODS / floor * rate) // 2 - 1
    width, period = 2 * half, int(rate / floor)
    longest = min(int(width / _PERIODS) + 2, width)
    slots = max(candidates, min(int(ceiling / floor), 100)) - 1
    correlate = _Autocorrelation(width)
    path = Path(jump=jump_cost * _COSTS_STEP / step, switch=switch_cost * _COSTS_STEP / step)
    for block in blocks(times):
        before = sample_before(times[block], rate)
        frames = stretches(samples, before + 1 - half, width)
        frames -= local_means(samples, before, period)
        frames *= correlate.window
        correlations = correlate(frames)
        found = peaks(correlations, above=0.5 * voicing, before=longest)
        if len(found.frame) and np.bincount(found.frame).max() > slots:
            ranked = interpolated(correlations, found, depth=_RANKING_DEPTH)
            found = strongest(found, slots, ranked.height + octave_cost * np.log2(rate / ranked.lag))
        # Those over the ceiling have taken up room, as in Praat, but are not worth placing.
        found = found.where(rate / (found.sample + _MOVE) < ceiling)
        found = refined(correlations, roughly(correlations, found), depth=_DEPTH)
        found = found.where(rate / found.lag < ceiling)
        frequencies, strengths = _table(found, len(frames), slots, rate)
        strengths -= octave_cost * np.log2(ceiling / np.where(np.isnan(frequencies), ceiling, frequencies))
        strengths[:, 0] = voicing + np.maximum(0, 2 - loudness(frames, period, peak) * (1 + voicing) / silence)
        path.extend(frequencies, strengths)
    return Contour(times, path.frequencies())


def _table(found: Peaks, frames: int, slots: int, rate: int) -> tuple[Floats, Floats]:
    """Return frequencies and heights, [frames, 1 + slots]; the first of each frame is left for "unvoiced"."""
    frequencies, heights = np.full((frames, slots + 1), np.nan), np.full((frames, slots + 1), -np.inf)
    slot = 1 + np.arange(len(found.frame)) - np.searchsorted(found.frame, found.frame)
    frequencies[found.frame, slot] = rate / found.lag
    heights[found.frame, slot] = found.height
    return frequencies, heights


class _Autocorrelation:
    """The autocorrelation of frames of ``width`` samples under a Hanning window, divided by the window's own."""

    def __init__(self, width: int) -> None:
        # Half as much again as the frame: lags up to half a frame come out right.
        self._size = 1 << (-(-3 * width // 2) - 1).bit_length()
        self._lags = width // 2 + 1
        self.window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(1, width + 1) / (width + 1))
        own = self._of(self.window[None])
        self._own = own / own[:, :1]

    def __call__(self, frames: Floats) -> Floats:
        """Return [frames, lags] of windowed frames, 1 at lag 0, and 0 throughout for a frame of nothing."""
        raw = self._of(frames)
        power = raw[:, :1]
        made: Floats = np.where(power > 0, raw, 0) / (np.where(power > 0, power, 1) * self._own)
        return made

    def _of(self, frames: Floats) -> Floats:
        spectrum = np.fft.rfft(frames, self._size)
        return np.fft.irfft(spectrum.real**2 + spectrum.imag**2, self._size)[:, : self._lags]
