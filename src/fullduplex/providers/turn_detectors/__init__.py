"""Turn detectors: the sound of an utterance in, the probability that its speaker has finished out."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fullduplex.model.spec import Spec

Samples = NDArray[np.float32]


class TurnDetector(Protocol):
    """What tells a pause within a turn from the turn's end, by the sound of what was said."""

    @property
    def spec(self) -> Spec:
        """Return what this detector is, with its weights."""
        ...

    def finished(self, samples: Samples) -> float:
        """Return how likely, between 0 and 1, the speaker of ``samples`` is done: 16 kHz, with the silence after it."""
        ...
