"""The system's own voice in the user's microphone, live: what is heard comes back later and softer."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullduplex.driving.playout import Samples
from fullduplex.errors import InputError
from fullduplex.model.spans import SECOND, ms

#: Resampling while the talk goes on looks this far ahead, so an echo cannot come sooner.
AT_LEAST = ms(40)


class EchoPath:
    """The way from the loudspeaker to the microphone.

    ``impulse`` is its response at ``rate_out`` without the delay: what the direct sound and the
    room make of one sample. ``delay`` (microseconds) passes before it begins.
    """

    def __init__(self, impulse: Samples, delay: int, rate_out: int, rate_in: int) -> None:
        if delay < AT_LEAST:
            found = f"{delay / SECOND:g} s"
            raise InputError("echo", "delay", found=found, expected=f"at least {AT_LEAST / SECOND:g} s")
        self._impulse, self._tail = np.asarray(impulse, np.float32), np.zeros(len(impulse) - 1, np.float32)
        self._late = delay * rate_in // SECOND
        self._resampler = _resampler(rate_out, rate_in)
        self._made = np.zeros(0, np.float32)
        self._gone = 0

    def take(self, heard: Samples) -> None:
        """Take the next samples that the loudspeaker sounded."""
        sound = np.convolve(heard, self._impulse).astype(np.float32)
        sound[: len(self._tail)] += self._tail[: len(sound)]
        sound, self._tail = sound[: len(heard)], sound[len(heard) :]
        if self._resampler is not None:
            sound = self._resampler.resample_chunk(sound)
        self._made = np.concatenate([self._made, sound])

    def between(self, start: int, end: int) -> Samples:
        """Return the microphone's samples ``[start, end)`` at ``rate_in``; asked in order, each once."""
        echo = np.zeros(end - start, np.float32)
        first, last = start - self._late, end - self._late
        if last > 0:
            part = self._made[max(0, first) - self._gone : last - self._gone]
            at = max(0, -first)
            echo[at : at + len(part)] = part
            self._made = self._made[max(0, last - self._gone) :]
            self._gone = max(self._gone, last)
        return echo


def _resampler(rate_out: int, rate_in: int) -> Any:
    if rate_out == rate_in:
        return None
    import soxr

    # Better qualities look up to 160 ms ahead; this one 40 ms at 8 kHz, less at higher rates.
    return soxr.ResampleStream(rate_out, rate_in, 1, dtype="float32", quality="LQ")
