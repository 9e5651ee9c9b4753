"""Which voice of a pool is nearest to a speaker who was recorded: by pitch, the least that has to fit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fullduplex.making.effects.sound import audible
from fullduplex.making.make_item import voice_of
from fullduplex.model.spans import SECOND, ms
from fullduplex.model.spec import Spec
from fullduplex.once import once_per_process

#: Pitches that a voice can have, in Hz.
LOWEST, HIGHEST = 65.0, 450.0
#: A frame is voiced where its best period explains more than this share of its energy.
VOICED = 0.5
#: What a period has to explain more than half of it does: two periods are a period too.
OCTAVE = 0.03
_FRAME, _HOP = ms(40), ms(10)
_SENTENCE = {
    "en": "We were away for nearly a year in our small home by the river.",
    "fr": "Nous avons dormi longtemps dans une maison au bord de la rivière.",
}


def pitch_of(samples: NDArray[np.float32], rate: int) -> float | None:
    """Return the median pitch of a voice in Hz, None where nothing is voiced.

    Of each audible 40-ms frame, every 10 ms: the period at which the autocorrelation, without the window's own and
    less ``OCTAVE`` for each doubling, is highest; within ``LOWEST`` to ``HIGHEST``, of frames over ``VOICED``.
    """
    size, hop = _FRAME * rate // SECOND, _HOP * rate // SECOND
    if len(samples) < size:
        return None
    loud = audible(samples, rate)
    frames = np.lib.stride_tricks.sliding_window_view(samples.astype(np.float64), size)[::hop]
    frames = frames[loud[: len(frames)]]
    window = np.hanning(size)
    own = _autocorrelation(window[None])[0]
    first, last = int(rate / HIGHEST), min(int(rate / LOWEST), size // 2)
    found = _autocorrelation((frames - frames.mean(axis=1, keepdims=True)) * window)
    found = found[found[:, 0] > 0]
    shares = found[:, first : last + 1] / (found[:, :1] * own[first : last + 1] / own[0])
    voiced = shares.max(axis=1, initial=0.0) > VOICED
    shares -= OCTAVE * np.log2(np.arange(first, last + 1))
    if not voiced.any():
        return None
    return float(np.median(rate / (first + shares[voiced].argmax(axis=1))))


def nearest(
    samples: NDArray[np.float32],
    rate: int,
    pool: Sequence[Spec],
    language: str,
    cache: Path | None,
    keys: tuple[tuple[str, str], ...],
) -> Spec:
    """Return the voice of ``pool`` whose median pitch is nearest on a scale of octaves; the first where none tells."""
    asked = pitch_of(samples, rate)
    if asked is None:
        return pool[0]
    pitches = [_pitch_of_voice(spec, language, cache, keys) for spec in pool]
    return pool[int(np.argmin([abs(np.log2(pitch / asked)) if pitch else np.inf for pitch in pitches]))]


@once_per_process
def _pitch_of_voice(spec: Spec, language: str, cache: Path | None, keys: tuple[tuple[str, str], ...]) -> float | None:
    said = voice_of(spec, cache, keys).speak(_SENTENCE.get(language, _SENTENCE["en"]))
    return pitch_of(said.samples, said.rate)


def _autocorrelation(frames: NDArray[np.float64]) -> NDArray[np.float64]:
    size = frames.shape[1]
    power = np.abs(np.fft.rfft(frames, 2 * size)) ** 2
    found: NDArray[np.float64] = np.fft.irfft(power)[:, :size]
    return found
