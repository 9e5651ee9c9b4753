"""Coughs and other sounds of a throat, synthesised: noise and pulses under envelopes of our own.

They stand for the real ones in length, bandwidth and course, and would fool nobody's ear. Recordings take
their place wherever an effect names some. Each is float64 at any rate; its scale means nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fullduplex.making.effects.sound import count
from fullduplex.model.spans import SECOND, ms, seconds

Sound = NDArray[np.float64]
Recipe = Callable[[int, np.random.Generator], Sound]


def cough(rate: int, random: np.random.Generator) -> Sound:
    """Return one cough or two: an explosion, breath that dies away in a fifth of a second, sometimes a voice in it."""
    bouts = []
    for bout in range(int(random.integers(1, 3))):
        length = count(seconds(random.uniform(0.28, 0.42)), rate)
        t = np.arange(length) / rate
        breath = _band_noise(length, rate, ((700.0, 500.0), (1_700.0, 900.0), (3_300.0, 1_500.0)), random)
        made = breath * (np.exp(-t / 0.025) + 0.35 * np.exp(-t / 0.09)) * np.clip(t / 0.002, 0, 1)
        if random.random() < 0.5:
            voice = _pulses(length, rate, random.uniform(140, 220), random)
            made = made + 0.5 * voice * np.exp(-(((t - 0.2) / 0.05) ** 2))
        bouts += [made * 0.8**bout, np.zeros(count(seconds(random.uniform(0.05, 0.15)), rate))]
    return np.concatenate(bouts[:-1])


def throat(rate: int, random: np.random.Generator) -> Sound:
    """Return a throat being cleared: two rough low pulses of voice and breath, a third of a second each at most."""
    parts = []
    for _ in range(2):
        length = count(seconds(random.uniform(0.18, 0.33)), rate)
        voice = _pulses(length, rate, random.uniform(70, 110), random, jitter=0.15)
        breath = _band_noise(length, rate, ((500.0, 400.0), (1_300.0, 800.0)), random)
        parts += [(voice + 0.5 * breath) * np.sin(np.pi * (np.arange(length) + 0.5) / length) ** 0.7]
        parts += [np.zeros(count(seconds(random.uniform(0.03, 0.08)), rate))]
    return np.concatenate(parts[:-1])


def sniff(rate: int, random: np.random.Generator) -> Sound:
    """Return a sniff: high breath that swells for a quarter to four tenths of a second, and stops."""
    length = count(seconds(random.uniform(0.25, 0.4)), rate)
    t = (np.arange(length) + 0.5) / length
    return _band_noise(length, rate, ((2_400.0, 1_500.0), (4_500.0, 2_500.0)), random) * t * np.sqrt(1 - t)


def click(rate: int, random: np.random.Generator) -> Sound:
    """Return one or two clicks of the tongue: 1.2 to 2.4 kHz, gone after 30 ms."""
    parts = []
    for _ in range(int(random.integers(1, 3))):
        t = np.arange(count(ms(30), rate)) / rate
        parts += [np.sin(2 * np.pi * random.uniform(1_200, 2_400) * t) * np.exp(-t / 0.005)]
        parts += [np.zeros(count(seconds(random.uniform(0.12, 0.25)), rate))]
    return np.concatenate(parts[:-1])


def burst(rate: int, random: np.random.Generator) -> Sound:
    """Return a burst of noise: a door, a chair, a cup; 0.1 to 0.6 s, at once there and then dying away."""
    length = count(seconds(random.uniform(0.1, 0.6)), rate)
    t = np.arange(length) / rate
    noise = _band_noise(
        length, rate, ((random.uniform(200, 800), 400.0), (random.uniform(1_000, 3_000), 1_500.0)), random
    )
    return noise * np.exp(-4 * t * rate / length) * np.clip(t / 0.002, 0, 1)


def tic(rate: int, random: np.random.Generator) -> Sound:
    """Return a throat being cleared, a sniff or a click."""
    return (throat, sniff, click)[int(random.integers(3))](rate, random)


RECIPES: dict[str, Recipe] = {
    "cough": cough,
    "throat": throat,
    "sniff": sniff,
    "click": click,
    "tic": tic,
    "burst": burst,
}


def _band_noise(length: int, rate: int, bands: tuple[tuple[float, float], ...], random: np.random.Generator) -> Sound:
    """Return noise with a hump at each (centre, width) in Hz, at an RMS of 1."""
    frequency = np.fft.rfftfreq(length, 1 / rate)
    shape = sum(np.exp(-0.5 * ((frequency - centre) / (width / 2)) ** 2) for centre, width in bands)
    shape = np.asarray(shape + 0.02, np.float64)
    shape[frequency < 60] = 0
    noise = np.fft.irfft(np.fft.rfft(random.standard_normal(length)) * shape, length)
    scaled: Sound = noise / (np.sqrt(np.mean(noise**2)) or 1.0)
    return scaled


def _pulses(length: int, rate: int, pitch: float, random: np.random.Generator, jitter: float = 0.05) -> Sound:
    """Return a voice's pulses through two formants, at an RMS of 1."""
    train, at = np.zeros(length), 0.0
    while at < length:
        train[int(at)] = 1.0
        at += rate / pitch * (1 + jitter * random.uniform(-1, 1))
    t = np.arange(count(ms(15), rate)) / rate
    formants = sum(np.sin(2 * np.pi * f * t) * np.exp(-t * SECOND / 3_000) for f in (550.0, 1_400.0))
    voice = np.convolve(train, np.asarray(formants))[:length]
    scaled: Sound = voice / (np.sqrt(np.mean(voice**2)) or 1.0)
    return scaled
