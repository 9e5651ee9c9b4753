"""What is odd about a recording, told from its samples alone.

Samples are float32 [frames] with full scale 1; shares are between 0 and 1.
"""

from __future__ import annotations

import numpy as np

from fullduplex.data.audio import Samples
from fullduplex.model.spans import SECOND, Timeline

#: Ten decibels, as a ratio of powers.
_MUCH = 10.0
_AUDIBLE = 1e-6  # mean power of -60 dBFS


def all_zero(samples: Samples) -> bool:
    """Return whether every sample is exactly 0: digital silence, which no microphone makes."""
    return not samples.any()


def clipped(samples: Samples, *, at_least: float = 0.999, for_at_least: int = 3) -> int:
    """Return how many samples lie in runs of ``for_at_least`` or more that stay at full scale with one sign."""
    made = 0
    for at_rail in (samples >= at_least, samples <= -at_least):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], at_rail.astype(np.int8), [0]))))
        runs = edges[1::2] - edges[::2]
        made += int(runs[runs >= for_at_least].sum())
    return made


def offset_from_zero(samples: Samples) -> float:
    """Return the mean of the samples: a recording's DC offset, as a share of full scale."""
    return float(samples.mean(dtype=np.float64)) if len(samples) else 0.0


def likeness(first: Samples, second: Samples, rate: int, *, within: int = SECOND) -> float:
    """Return how alike two channels are: the peak of their normalised cross-correlation, 0 to 1.

    max over lags up to ``within`` (µs) of |Σ a(t) b(t + lag)| / sqrt(Σ a² Σ b²), means removed; 0 where one is
    silent. Two channels of one voice, also delayed or inverted, come near 1; two speakers stay below 0.3.
    """
    n = min(len(first), len(second))
    a, b = (np.asarray(s[:n], np.float64) - (s[:n].mean(dtype=np.float64) if n else 0.0) for s in (first, second))
    energy = float(np.sqrt((a @ a) * (b @ b)))
    if energy == 0.0:
        return 0.0
    reach = min(n - 1, rate * within // SECOND)
    block = 1 << 17
    size = 1 << (min(block, n) + 2 * reach - 1).bit_length()
    total = np.zeros(2 * reach + 1)
    padded = np.concatenate((np.zeros(reach), b, np.zeros(reach)))
    for at in range(0, n, block):
        one, other = a[at : at + block], padded[at : at + min(block, n - at) + 2 * reach]
        total += np.fft.irfft(np.conj(np.fft.rfft(one, size)) * np.fft.rfft(other, size), size)[: 2 * reach + 1]
    return min(1.0, float(np.abs(total).max()) / energy)


def swapped(user: Samples, system: Samples, rate: int, spoken: Timeline, quiet: Timeline) -> bool:
    """Return whether the user seems to be in the channel that is called the system's.

    ``spoken`` is when the user is known to speak, ``quiet`` when not. True only where the system's channel is audible
    in ``spoken``, and either it is 10 dB louder there than the user's, which itself is 10 dB louder in ``quiet``; or it
    is 10 dB louder in ``spoken`` than in ``quiet`` while the user's channel does not rise by 3 dB.
    Both must hold half a second at least.
    """
    if spoken.duration < SECOND // 2 or quiet.duration < SECOND // 2:
        return False
    user_in, user_out = _power(user, rate, spoken), _power(user, rate, quiet)
    system_in, system_out = _power(system, rate, spoken), _power(system, rate, quiet)
    if system_in < _AUDIBLE:
        return False
    user_speaks_when_quiet = system_in >= _MUCH * user_in and user_out >= _MUCH * max(user_in, _AUDIBLE)
    return user_speaks_when_quiet or (system_in >= _MUCH * system_out and user_in < 2 * user_out + _AUDIBLE)


def _power(samples: Samples, rate: int, when: Timeline) -> float:
    energy, count = 0.0, 0
    for span in when:
        part = samples[span.start * rate // SECOND : span.end * rate // SECOND].astype(np.float64)
        energy, count = energy + float(part @ part), count + len(part)
    return energy / count if count else 0.0
