"""Noise and babble at a signal-to-noise ratio.

SNR = 20 log10(speech level / RMS of what is added), over the whole length of the audio.
The speech level is that of the audible 10-ms frames (:func:`~fullduplex.making.effects.sound.speech_level`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullduplex.making.effects import talkers
from fullduplex.making.effects.members import AUDIO, SEED, SNR, Member, Number, OneOf, Several, Whole, as_json, check
from fullduplex.making.effects.sound import (
    Load,
    Made,
    Samples,
    amplitude,
    at_full_scale,
    count,
    rms,
    speech,
    speech_level,
)
from fullduplex.model.spans import SECOND, seconds

COLOURS = ("white", "pink", "speech")
#: A drifting level is drawn anew this often, and goes straight from one to the next, in decibels.
DRIFT_EVERY = seconds(2)
#: Below this, in Hz, no pink or speech-shaped noise sounds.
_LOWEST = 50.0
#: Speech-shaped noise is flat up to here, in Hz, and falls by 9 dB an octave above.
_CORNER, _SLOPE = 500.0, 9.0


@dataclass(frozen=True, slots=True)
class Noise:
    """Steady noise under the whole audio.

    ``snr`` in dB. ``colour``: ``white`` (equal power at every Hz), ``pink`` (3 dB less an octave, from
    50 Hz on) or ``speech`` (flat from 50 to 500 Hz, then 9 dB less an octave: about the long-term spectrum of speech).
    ``drift`` in dB: the SNR wanders from ``snr`` by at most that, drawn evenly every two seconds.
    Without drift the noise has the SNR exactly; with it, where the draw is 0.
    """

    snr: float
    colour: str = "white"
    drift: float = 0.0
    seed: int = 0

    kind: ClassVar[str] = "noise"
    live: ClassVar[bool] = False
    adds: ClassVar[bool] = True
    members: ClassVar[Mapping[str, Member]] = {
        "snr": SNR,
        "colour": OneOf(COLOURS),
        "drift": Number(0, 40, "dB"),
        "seed": SEED,
    }

    def __post_init__(self) -> None:
        check(self)

    def to_json(self) -> dict[str, Any]:
        """Return the effect as a JSON object."""
        return as_json(self)

    def make(self, samples: Samples, rate: int, *, random: np.random.Generator, load: Load) -> Made:
        """Return the noise."""
        noise = coloured(len(samples), rate, self.colour, random)
        loudness = 10 ** (_wander(len(samples), rate, self.drift, random) / 20) if self.drift else 1.0
        level = speech_level(samples, rate) * amplitude(-self.snr)
        return Made(np.asarray(noise * loudness * level, np.float32))


@dataclass(frozen=True, slots=True)
class Babble:
    """Several people who talk at once, none of them to the system.

    ``snr`` in dB, of all voices together. ``voices``: how many. ``audio`` names recordings of
    talkers; without any, the embedded voice hibari speaks stock sentences, at eight pitches or fewer. Each voice
    has its silences taken out, the same level, and a place of its own to begin at; it goes round where
    it is shorter than the audio.
    """

    snr: float
    voices: int = 6
    audio: tuple[str, ...] = ()
    seed: int = 0

    kind: ClassVar[str] = "babble"
    live: ClassVar[bool] = False
    adds: ClassVar[bool] = True
    members: ClassVar[Mapping[str, Member]] = {
        "snr": SNR,
        "voices": Whole(1, 64),
        "audio": Several(AUDIO, 64),
        "seed": SEED,
    }

    def __post_init__(self) -> None:
        check(self)

    def to_json(self) -> dict[str, Any]:
        """Return the effect as a JSON object."""
        return as_json(self)

    def make(self, samples: Samples, rate: int, *, random: np.random.Generator, load: Load) -> Made:
        """Return the voices; raises :class:`InputError` where a recording has nobody in it."""
        total = np.zeros(len(samples))
        if not len(samples):
            return Made(total.astype(np.float32))
        for number in range(self.voices):
            if self.audio:
                name = self.audio[number % len(self.audio)]
                voice = _talk_only(load(name), rate, name)
            else:
                voice = _talk_only(talkers.talk(number, self.voices, rate), rate, "babble")
            start = int(random.integers(len(voice)))
            total += np.resize(np.roll(voice, -start), len(samples)) / rms(voice)
        level = speech_level(samples, rate) * amplitude(-self.snr)
        return Made((total * (level / (rms(total) or 1.0))).astype(np.float32))


def coloured(length: int, rate: int, colour: str, random: np.random.Generator) -> NDArray[np.float64]:
    """Return ``length`` samples of noise whose RMS is exactly 1."""
    if not length:
        return np.zeros(0)
    if colour == "white":
        noise = random.standard_normal(length)
        return noise / rms(noise)
    from scipy.fft import next_fast_len

    # At least a second, so that the spectrum has its shape however short the audio is.
    size = int(next_fast_len(max(length, rate), real=True))
    frequency = np.fft.rfftfreq(size, 1 / rate)
    at = np.maximum(frequency, _LOWEST)
    shape = at**-0.5 if colour == "pink" else (np.maximum(at, _CORNER) / _CORNER) ** (-_SLOPE / (20 * np.log10(2)))
    shape[frequency < _LOWEST] = 0.0
    noise = np.fft.irfft(np.fft.rfft(random.standard_normal(size)) * shape, size)[:length]
    return noise / (rms(noise) or 1.0)


def _wander(length: int, rate: int, within: float, random: np.random.Generator) -> Any:
    """Return a level in dB for every sample, between ``-within`` and ``within``."""
    step = count(DRIFT_EVERY, rate)
    drawn = random.uniform(-within, within, length // step + 2)
    return np.interp(np.arange(length), np.arange(len(drawn)) * step, drawn)


def _talk_only(samples: Samples, rate: int, name: str) -> Samples:
    """Return the speech of a recording end to end."""
    samples = at_full_scale(samples, name)
    parts = [samples[part.start * rate // SECOND : part.end * rate // SECOND] for part in speech(samples, rate)]
    return np.concatenate(parts)
