"""Recognisers: samples in, words with times out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fullduplex.model.spec import Spec
from fullduplex.model.speech import Token

Samples = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Heard:
    """What a recogniser heard.

    ``tokens`` are the words in order of time, in decimal seconds, none outside the audio.
    ``confidences`` are between 0 and 1, one for each token, or None. ``placed`` says where
    the times come from: ``aligned`` (the words were aligned with the sound), ``recogniser``
    (its own times), or ``partly aligned``; ``remarks`` say which words were not aligned.
    """

    tokens: tuple[Token, ...]
    confidences: tuple[float, ...] | None = None
    placed: str = "recogniser"
    remarks: tuple[str, ...] = ()


class Recogniser(Protocol):
    """What writes down the words of one voice.

    ``spec`` names the recogniser, the options that change a result, and its weights;
    ``languages`` are the ISO 639-1 codes that it knows.
    """

    @property
    def spec(self) -> Spec:
        """Return what this recogniser is, for results to carry."""
        ...

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages that it knows."""
        ...

    def recognise(self, samples: Samples, rate: int, language: str = "en") -> Heard:
        """Return the words of one voice: float32, full scale 1, at ``rate`` Hz; no speech, no words."""
        ...
