"""From frames that are speech or not to segments."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullduplex.listening.detectors import Segments


def segments_of(
    active: NDArray[np.bool_], frame: int, length: int, rate: int, *, silence_at_least: int, speech_at_least: int
) -> Segments:
    """Return the segments of a recording of ``length`` samples, cut into frames of ``frame`` samples.

    Silences shorter than ``silence_at_least`` samples are filled first, then speech
    shorter than ``speech_at_least`` samples is dropped. Seconds at ``rate``.
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], active, [False]]).astype(np.int8)))
    spans: list[list[int]] = []
    for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        first, last = start * frame, min(end * frame, length)
        if spans and first - spans[-1][1] < silence_at_least:
            spans[-1][1] = last
        else:
            spans.append([first, last])
    return tuple((start / rate, end / rate) for start, end in spans if end - start >= speech_at_least)
