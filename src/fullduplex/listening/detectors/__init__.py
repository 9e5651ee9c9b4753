"""Detectors of speech: samples in, segments out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fullduplex.model.spec import Spec

Samples = NDArray[np.float32]
#: Where speech was heard: (start, end) in decimal seconds, in order; two that touch stay two.
Segments = tuple[tuple[float, float], ...]


class Detector(Protocol):
    """What hears where somebody speaks.

    ``spec`` names the detector, every option that changes a result, and its weights.
    ``rate`` is the rate in Hz that :meth:`detect` takes its samples to have.
    """

    @property
    def spec(self) -> Spec:
        """Return what this detector is, for results to carry."""
        ...

    @property
    def rate(self) -> int:
        """Return the sampling rate of the samples that it takes, in Hz."""
        ...

    def detect(self, batch: Sequence[Samples]) -> list[Segments]:
        """Return the segments of each recording: one voice, float32, full scale 1."""
        ...
