"""Where a voice begins and ends, to a few milliseconds: a detector's edges moved to where the energy crosses.

A detector judges windows of tens of milliseconds and holds on after speech; its edges say which
stretch is speech, and not to the millisecond where it begins.

The rule, for an onset; an end is its mirror image. (1) The level of 5-ms frames is compared with a threshold, the
speech's level near the edge less ``depth`` or the noise's level and a margin, whichever is higher; the onset moves to
the beginning of the stretch above it that it lies in, else of the next one, else of the one before, within reach.
(2) Where the noise set the threshold, the onset then moves on outward to where the evidence for sound in any run of
neighbouring :data:`BANDS`, summed over 5-ms frames from the crossing on, is greatest, if it comes to ``evidence``.
(3) It never passes a neighbour's edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullduplex.listening.detectors import Detector, Samples, Segments
from fullduplex.model.spans import SECOND, in_seconds, ms, seconds
from fullduplex.model.spec import Spec

_Levels = NDArray[np.float64]
_Flags = NDArray[np.bool_]
#: Frames begin at each of these steps.
STEP = ms(1)
#: In noise a sound is looked for in each of these bands, in Hz, those that the recording has.
BANDS = ((100, 500), (500, 1000), (1000, 2000), (2000, 4000), (4000, 6000), (6000, 9000), (9000, 12_000))
#: No recording is taken to be quieter than this, in dB of full scale: it is below the last bit of 16.
_QUIETEST = -100.0
#: Fewer quiet frames than this near an edge say nothing of the noise; then the quietest tenth of all frames does.
_ENOUGH = 50
#: Frames without speech within so many steps of a detector's edge are not taken for noise.
_GUARD = 100
#: The noise in a band is the median of its means over so many frames: of single ones the median is below the mean.
_TOGETHER = 10


@dataclass(frozen=True, slots=True)
class EdgeRule:
    """The numbers of the rule; times in microseconds, levels in dB.

    ``frame``: what one level is measured over. ``outward``, ``inward``: how far an edge may move away from its speech,
    and into it. ``near``: how far from the edge the levels of noise and speech are taken; ``noise_near``: the noise's
    in bands, and where nothing nearer is quiet. ``depth``: how far below the speech (its loudest twentieth near the
    edge) sound still belongs to it. ``noise``, ``spread``: the threshold is at least this far above the noise's median,
    and at least so many times the distance from its median to its 16th percentile. ``clear``: where it is not so far
    below the speech, the edge stays. Stretches above the threshold of ``least`` or longer count, and are joined over
    gaps of up to ``join``.
    ``evidence``: log odds (nats) of sound as strong as the noise against noise alone; at 8 noise alone would pass
    for sound in any of the 28 runs of bands at one edge in a hundred, were its values independent. The defaults were
    set on synthetic speech alone.
    """

    frame: int = ms(5)
    outward: int = ms(250)
    inward: int = ms(250)
    near: int = ms(600)
    noise_near: int = ms(1_500)
    depth: float = 38.0
    noise: float = 3.0
    spread: float = 4.0
    clear: float = 3.0
    join: int = ms(50)
    least: int = ms(10)
    evidence: float = 8.0

    def to_json(self) -> dict[str, float]:
        """Return the rule, times in decimal seconds."""
        times = ("frame", "outward", "inward", "near", "noise_near", "join", "least")
        others = ("depth", "noise", "spread", "clear", "evidence")
        return {t: in_seconds(getattr(self, t)) for t in times} | {name: getattr(self, name) for name in others}


def refine(segments: Segments, samples: Samples, rate: int, rule: EdgeRule = EdgeRule()) -> Segments:
    """Return ``segments`` (decimal seconds, in order of time) with each edge where the energy crosses.

    ``samples``: one voice, shape (n,), on the segments' clock. Each segment stays one, in its place: no edge passes
    a neighbour's, none is emptied, none leaves the recording. An edge without a crossing within reach stays where
    it was.
    The same samples give the same edges. Source: own; its errors are measured by the self-test.
    """
    levels = frame_levels(samples, rate, rule.frame)
    if not len(levels):
        return segments
    search = _Search(samples, rate, levels, [(seconds(a) // STEP, seconds(b) // STEP) for a, b in segments], rule)
    found: list[tuple[float, float]] = []
    for i, (start, end) in enumerate(segments):
        onset, offset = search.edges_of(i)
        found.append((start if onset is None else in_seconds(onset), end if offset is None else in_seconds(offset)))
    return tuple(found)


class Refined:
    """A detector whose edges are refined: the same segments, each edge by ``rule``; its spec says so."""

    def __init__(self, detector: Detector, rule: EdgeRule = EdgeRule()) -> None:
        self.detector, self.rule = detector, rule

    @property
    def rate(self) -> int:
        """Return the sampling rate of the samples that it takes, in Hz."""
        return self.detector.rate

    @property
    def spec(self) -> Spec:
        """Return the detector's spec with ``edges`` and the numbers of the rule."""
        own = self.detector.spec
        return Spec(own.name, {**own.options, "edges": "refined", "edge_rule": self.rule.to_json()}, own.revision)

    def detect(self, batch: Sequence[Samples]) -> list[Segments]:
        """Return the refined segments of each recording."""
        heard = self.detector.detect(batch)
        return [refine(found, samples, self.rate, self.rule) for found, samples in zip(heard, batch, strict=True)]


def frame_levels(samples: Samples, rate: int, frame: int) -> _Levels:
    """Return the level in dB of full scale of frames of ``frame`` microseconds, one from each :data:`STEP` on.

    Frame i lies in [i, i + frame) and within the recording; a constant offset is taken out. Empty where not one fits.
    """
    size = max(1, frame * rate // SECOND)
    if len(samples) < size:
        return np.zeros(0)
    centred = samples.astype(np.float64) - float(np.median(samples))
    energy = np.concatenate([[0.0], np.cumsum(centred**2)])
    first = _starts(len(samples), rate, size)
    power = np.maximum((energy[first + size] - energy[first]) / size, 10 ** (_QUIETEST / 10))
    levels: _Levels = 10 * np.log10(power)
    return levels


def _starts(length: int, rate: int, size: int) -> NDArray[np.int64]:
    """Return the first sample of each frame."""
    count = (length - size) * SECOND // (rate * STEP) + 1
    return np.arange(count) * (STEP * rate) // SECOND


class _Search:
    """The search for one recording's edges; every index counts frames from its beginning."""

    def __init__(
        self, samples: Samples, rate: int, levels: _Levels, spans: list[tuple[int, int]], rule: EdgeRule
    ) -> None:
        self.samples, self.rate, self.levels, self.spans, self.rule = samples, rate, levels, spans, rule
        self.size, self.half = rule.frame // STEP, rule.frame // STEP // 2
        self.quiet, self.silent = (np.ones(len(levels), np.bool_) for _ in range(2))
        for start, end in spans:
            self.quiet[max(0, start) : max(0, end)] = False
            self.silent[max(0, start - _GUARD) : max(0, end + _GUARD)] = False
        #: Where the edge before the one in hand has come to lie.
        self.before = 0

    def edges_of(self, i: int) -> tuple[int | None, int | None]:
        """Return the onset and the end of segment ``i`` in microseconds, None for one that stays."""
        out, into = self.rule.outward // STEP, self.rule.inward // STEP
        start, end = self.spans[i]
        following = self.spans[i + 1][0] if i + 1 < len(self.spans) else len(self.levels) + self.size
        low, high = max(self.before, start - out), min(start + into, end - self.size)
        onset = self._edge(start, low, high, -1)
        begins = start if onset is None else onset // STEP
        low, high = max(begins + self.size, end - into), min(following, end + out)
        offset = self._edge(end, low, high, 1)
        self.before = end if offset is None else -(-offset // STEP)
        return onset, offset

    def _edge(self, at: int, low: int, high: int, outward: int) -> int | None:
        """Return where the edge at ``at`` lies in [low, high], in microseconds; None where it stays."""
        # A frame stands for its middle, so it is looked for half a frame earlier.
        first, last = max(0, low - self.half), min(len(self.levels), high - self.half)
        speech, quiet = self._levels_near(at, outward)
        if last <= first or speech is None:
            return None
        threshold = max(speech - self.rule.depth, quiet)
        if threshold > speech - self.rule.clear:
            return None
        flags = self.levels[first:last] > threshold
        found = _begins(flags, at - self.half - first, self.rule) if outward < 0 else None
        if outward > 0:
            found = _begins(flags[::-1], last - 1 - (at - self.half), self.rule)
        if found == 0:
            # It sounds as far as one may look: only the recording's own beginning is then an edge.
            return 0 if outward < 0 and first == 0 else None
        if found is None:
            return None
        frame = first + found if outward < 0 else last - 1 - found
        if quiet > speech - self.rule.depth:
            frame += outward * self._further(frame, first if outward < 0 else last, at, outward, speech)
        return frame * STEP + self.rule.frame // 2

    def _levels_near(self, at: int, outward: int) -> tuple[float | None, float]:
        """Return the speech's level near the edge (None without any), and the least level that is more than noise."""
        near, far = self.rule.near // STEP, self.rule.noise_near // STEP
        inside = slice(max(0, at), at + near) if outward < 0 else slice(max(0, at - near), max(0, at))
        spoken = self.levels[inside][~self.quiet[inside]]
        if not len(spoken):
            return None, 0.0
        around, wide = slice(max(0, at - near), at + near), slice(max(0, at - far), at + far)
        # A late onset leaves speech outside the segment, so what is close to an edge is the second choice.
        for part, still in ((around, self.silent), (wide, self.silent), (around, self.quiet)):
            outside = self.levels[part][still[part]]
            if len(outside) >= _ENOUGH:
                break
        else:
            outside = np.sort(self.levels[around])[: len(self.levels[around]) // 10 + 1]
        low, middle = (float(level) for level in np.percentile(outside, (16, 50)))
        noise = middle + max(self.rule.noise, self.rule.spread * (middle - low))
        return float(np.percentile(spoken, 95)), noise

    def _further(self, frame: int, limit: int, at: int, outward: int, speech: float) -> int:
        """Return by how many frames the edge at ``frame`` moves on, towards ``limit``, for what sounds in bands.

        A frame of t seconds has as many independent values of power in a band as t times the band's width; the log odds
        of sound as strong as the noise against noise alone are x/2 - ln 2 for each, x being power over the noise's.
        """
        near = self.rule.noise_near // STEP
        begin = max(0, at - near)
        still = begin + np.flatnonzero(self.silent[begin : at + near])[:: self.size]
        frames = np.arange(frame - 1, limit - 1, -1) if outward < 0 else np.arange(frame + 1, limit)
        if len(still) < 2 * _TOGETHER or not len(frames):
            return 0
        power, width = band_powers(self.samples, self.rate, np.concatenate([still, frames]), self.rule.frame)
        sums = np.cumsum(power[: len(still)], axis=0)
        noise = np.median((sums[_TOGETHER:] - sums[:-_TOGETHER]) / _TOGETHER, axis=0)
        # What is too far below the speech is not its, whatever noise there is.
        noise = np.maximum(noise, 10 ** ((speech - self.rule.depth) / 10))
        odds = width * (STEP / SECOND) * (power[len(still) :] / noise / 2 - np.log(2))
        evidence = np.cumsum(np.pad(np.cumsum(odds, axis=1), ((0, 0), (1, 0))), axis=0)
        runs = [
            evidence[:, high] - evidence[:, low] for low in range(len(width)) for high in range(low + 1, len(width) + 1)
        ]
        return max((int(run.argmax()) + 1 for run in runs if run.max() >= self.rule.evidence), default=0)


def band_powers(samples: Samples, rate: int, frames: NDArray[np.int64], frame: int) -> tuple[_Levels, _Levels]:
    """Return the power of each of ``frames`` in each band, [frames, bands], and each band's width in Hz.

    ``frames`` count :data:`STEP` from the beginning; each lasts ``frame`` microseconds. Only bands below half
    the rate are there. White noise has its full-band power in every band.
    """
    size = max(1, frame * rate // SECOND)
    starts = np.minimum(frames * (STEP * rate) // SECOND, len(samples) - size)
    window = np.hanning(size + 2)[1:-1]
    cut = samples[starts[:, None] + np.arange(size)[None]].astype(np.float64)
    spectrum = np.abs(np.fft.rfft(cut * window, axis=1)) ** 2 / float((window**2).sum())
    frequency = np.fft.rfftfreq(size, 1 / rate)
    bands = [(low, high) for low, high in BANDS if high <= rate / 2]
    parts = [spectrum[:, (frequency >= low) & (frequency < high)].mean(axis=1) for low, high in bands]
    return np.stack(parts, axis=1), np.array([float(high - low) for low, high in bands])


def _begins(flags: _Flags, at: int, rule: EdgeRule) -> int | None:
    """Return where the stretch begins that holds ``at``, else the next, else the one before; None without any."""
    cuts = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    starts, ends = cuts[::2], cuts[1::2]
    long = ends - starts >= rule.least // STEP
    starts, ends = starts[long], ends[long]
    if not len(starts):
        return None
    apart = starts[1:] - ends[:-1] > rule.join // STEP
    starts, ends = starts[np.concatenate([[True], apart])], ends[np.concatenate([apart, [True]])]
    return int(starts[min(int(np.searchsorted(ends, at, side="right")), len(starts) - 1)])
