"""What happens to a recording on its way: nothing, noise, a telephone line."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.data.audio import Samples, resample
from fullduplex.model.spans import SECOND, Span

#: The conditions, and what each is.
CONDITIONS = {
    "clean": "as it was played, 24 kHz, 16 bits, digital silence between utterances",
    "white 10 dB": "white noise 10 dB below the speech",
    "pink 10 dB": "pink noise 10 dB below the speech",
    "μ-law": "8 kHz, 8-bit μ-law, as on a telephone",
}
SNR = 10.0
#: The noises: the exponent of the fall of their power with frequency.
NOISES = {"white 10 dB": 0.0, "pink 10 dB": 1.0}


def under(
    condition: str, samples: Samples, rate: int, speech: Sequence[Span], random: np.random.Generator
) -> tuple[Samples, int]:
    """Return the recording as ``condition`` leaves it, on the grid of 16-bit audio, and its rate.

    Noise is :data:`SNR` dB below the mean power of the samples in ``speech``; without speech there is none.
    Raises KeyError on a condition that is not in :data:`CONDITIONS`.
    """
    if condition == "clean":
        return _in_16_bits(samples), rate
    if condition == "μ-law":
        narrow = resample(samples, rate, 8_000)
        return mu_law(narrow), 8_000
    colour = NOISES[condition]
    inside = np.concatenate(
        [samples[s.start * rate // SECOND : s.end * rate // SECOND] for s in speech] or [samples[:0]]
    )
    power = float((inside.astype(np.float64) ** 2).mean()) if len(inside) else 0.0
    made = noise(len(samples), colour, random) * np.sqrt(power * 10 ** (-SNR / 10))
    return _in_16_bits(samples + made), rate


def noise(length: int, colour: float, random: np.random.Generator) -> NDArray[np.float64]:
    """Return noise of unit power whose power falls with frequency to the power of ``colour``: 0 white, 1 pink.

    Below a two-hundredth of half the rate (60 Hz at 24 kHz) it falls no more.
    """
    white = np.asarray(random.standard_normal(length))
    if colour == 0 or not length:
        return white
    spectrum = np.fft.rfft(white)
    frequency = np.maximum(np.arange(len(spectrum)) / len(spectrum), 1 / 200)
    coloured = np.fft.irfft(spectrum * frequency ** (-colour / 2), length)
    return np.asarray(coloured / np.sqrt((coloured**2).mean()))


def mu_law(samples: Samples) -> Samples:
    """Return ``samples`` after 8 bits of μ-law (ITU-T G.711), coded and decoded by libsndfile."""
    import soundfile

    line = io.BytesIO()
    soundfile.write(line, np.clip(samples, -1, 1), 8_000, subtype="ULAW", format="AU")
    line.seek(0)
    decoded: Samples = soundfile.read(line, dtype="float32")[0]
    return decoded


def _in_16_bits(samples: NDArray[np.floating[Any]]) -> Samples:
    held: Samples = np.clip(np.rint(samples * 32768), -32768, 32767).astype(np.float32) / np.float32(32768)
    return held
