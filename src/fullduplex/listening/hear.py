"""Hearing a recording's voices: where each speaks, and what it says."""

from __future__ import annotations

from collections.abc import Mapping

from fullduplex.data.audio import resample
from fullduplex.errors import InputError
from fullduplex.listening.detectors import Detector, Samples, Segments
from fullduplex.listening.recognisers import Heard, Recogniser

#: One voice: float32 samples and their rate in Hz.
Sound = tuple[Samples, int]


def hear_speech(tracks: Mapping[str, Sound], detector: Detector, assume_rate: int = 0) -> dict[str, Segments]:
    """Return where each voice speaks, in decimal seconds.

    The samples are resampled to the detector's rate. With ``assume_rate`` they are taken
    to have that rate whatever they say, which repeats a fault of released scripts: 24 kHz
    read as 16 kHz makes every time 1.5 times what it is. Raises :class:`InputError` where
    a track is not one voice.
    """
    return dict(zip(tracks, detector.detect([_at(tracks[name], name, detector, assume_rate) for name in tracks])))


def recognise_tracks(tracks: Mapping[str, Sound], recogniser: Recogniser, language: str = "en") -> dict[str, Heard]:
    """Return what each voice says. Raises :class:`InputError` where a track is not one voice."""
    for name, (samples, _) in tracks.items():
        _check(samples, name)
    return {name: recogniser.recognise(samples, rate, language) for name, (samples, rate) in tracks.items()}


def _at(sound: Sound, name: str, detector: Detector, assume_rate: int) -> Samples:
    samples, rate = sound
    _check(samples, name)
    taken = assume_rate or rate
    return samples if taken == detector.rate or not len(samples) else resample(samples, taken, detector.rate)


def _check(samples: Samples, name: str) -> None:
    if samples.ndim != 1:
        raise InputError(name, found=f"{samples.shape[-1]} channels", expected="one voice; choose a channel")
