"""What Full-Duplex-Bench's scripts let a recogniser hear of an interruption: only what follows it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.model.speech import Token


def after(samples: NDArray[np.float32], rate: int, end: float) -> NDArray[np.float32]:
    """Return the samples from ``end`` (decimal seconds) on, cut at int(end · rate); none past the recording's end."""
    return samples[int(end * rate) :]


def words_after(
    recogniser: Any, samples: NDArray[np.float32], rate: int, end: float, language: str = "en"
) -> tuple[Token, ...]:
    """Return the words that ``recogniser`` finds after ``end``, on the recording's own clock.

    ``samples``: shape (n,), mono. Each time is the recogniser's plus ``end``, in that order, as the released
    script adds them. Where nothing follows there are no words, and the recogniser is not asked.
    """
    rest = after(samples, rate, end)
    if not len(rest):
        return ()
    heard = recogniser.recognise(rest, rate, language)
    return tuple(
        Token(text, None if start is None else start + end, None if stop is None else stop + end)
        for text, start, stop in heard.tokens
    )
