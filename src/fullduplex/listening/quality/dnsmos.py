"""DNSMOS: what listeners would say of a recording's speech, background and whole, by Microsoft's networks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from fullduplex.listening.quality.measured import Measured, Samples, at_rate, one_voice
from fullduplex.listening.quality.mel import log_mel
from fullduplex.listening.quality.networks import network
from fullduplex.model.spans import SECOND, in_seconds, seconds

MODEL = "dnsmos"
NAMES = ("sig", "bak", "ovrl", "p808")
RATE = 16_000
#: What the networks judge at once, in seconds and in samples; a window begins every whole second.
WINDOW_SECONDS = 9.01
WINDOW = 144_160
#: Cut out of longer speech, 0.5 s scored 0.66 below the whole in ``ovrl`` on average, 1 s 0.47, 2 s 0.28, 3 s 0.08
#: (``bench/quality_lengths.py``).
SHORTEST = seconds(3)
#: The features of P.808 leave out the last 10 ms, which makes 900 frames.
_P808_LEAVES = 160

#: From the network's raw answers to the scale of listeners (the released program's polynomials, constant first).
_TO_LISTENERS = {
    "sig": Polynomial([0.0052439, 1.22083953, -0.08397278]),
    "bak": Polynomial([-0.39604546, 1.60915514, -0.13166888]),
    "ovrl": Polynomial([0.04602535, 1.11546468, -0.06766283]),
}


def dnsmos(samples: NDArray[np.floating[Any]], rate: int, cache: Path, at_least: int = SHORTEST) -> Measured:
    """Return DNSMOS P.835 and P.808: mean opinion scores, about 1 (bad) to 5 (excellent).

    ``sig``: the speech alone. ``bak``: the background (higher is less of it). ``ovrl``: both
    together. ``p808``: one overall score by another network. Each is the mean over windows
    of 9.01 s that begin at whole seconds (not at every one, see :func:`starts`: of 16 to 33 s only
    the first 15 count); a shorter recording is first doubled until it fills one. The samples
    are resampled to 16 kHz and clipped to full scale.

    Absent: ``no samples``; ``digital silence``; ``shorter than 3 s`` (``at_least``, in microseconds): the
    networks take the joints of a repeated second for noise and score it half a point low.
    Raises :class:`InputError` on samples that are not one finite voice, :class:`PluginError`
    where the weights are missing.
    Source: Reddy, Gopal, Cutler 2022 (DNSMOS P.835) and the speechmos 0.0.1.1 package, whose
    numbers these are; that package refuses samples beyond full scale instead of clipping.
    """
    voice = one_voice(samples, rate)
    if not voice.any():
        return Measured.none(NAMES, "digital silence" if len(voice) else "no samples")
    if len(voice) * SECOND < at_least * rate:
        return Measured.none(NAMES, f"shorter than {in_seconds(at_least):g} s")
    sound = at_rate(voice, rate, RATE)
    if not len(sound):  # a sample or two at a higher rate
        return Measured.none(NAMES, "no samples")
    sound = filled(sound)
    p835, p808 = network(MODEL, "sig_bak_ovr.onnx", cache), network(MODEL, "model_v8.onnx", cache)
    scores: dict[str, list[float]] = {name: [] for name in NAMES}
    for start in starts(len(sound)):
        window = sound[start : start + WINDOW]
        answers = p835.run(None, {"input_1": window[None]})[0][0]
        for (name, mapped), raw in zip(_TO_LISTENERS.items(), answers):
            scores[name].append(float(mapped(float(raw))))
        features = log_mel(window[:-_P808_LEAVES], RATE, size=321, hop=160, bands=120)
        scores["p808"].append(float(p808.run(None, {"input_1": features[None]})[0][0, 0]))
    return Measured({name: float(np.mean(found)) for name, found in scores.items()}, {})


def filled(samples: Samples) -> Samples:
    """Return ``samples`` doubled until they fill one window; no samples are an error."""
    while len(samples) < WINDOW:
        samples = np.concatenate([samples, samples])
    return samples


def starts(length: int) -> list[int]:
    """Return the first sample of each window in a recording of ``length`` samples at 16 kHz.

    ``floor(seconds) - 9`` windows, and one for 9.01 to 10 s. The released program finds a
    window's end in floating point, which for some starts (seconds 7 to 23 and 119 to 121)
    comes out a sample short, and drops those windows; so does this, or a number of ours
    would not be a DNSMOS.
    """
    count = int(length // RATE - WINDOW_SECONDS) + 1
    return [second * RATE for second in range(count) if int((second + WINDOW_SECONDS) * RATE) - second * RATE == WINDOW]
