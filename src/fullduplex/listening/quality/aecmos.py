"""AECMOS: how much echo a listener would mind, and how much everything else, by Microsoft's networks."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullduplex.errors import InputError
from fullduplex.listening.quality.measured import Measured, at_rate, one_voice
from fullduplex.listening.quality.mel import Spectrum, log_mel
from fullduplex.listening.quality.networks import network

MODEL = "aecmos"
NAMES = ("echo", "other")
Talk = Literal["far end", "near end", "both"]

#: The networks look at no more than this, from the start on.
LONGEST_SECONDS = 20
_BANDS = 160
#: Frames of ones and then of zeros that tell the network which kind of talk it is.
_MARK = 20
_FILES = {
    (16_000, True): "Run_1663915512_Stage_0.onnx",
    (16_000, False): "Run_1663829550_Stage_0.onnx",
    (48_000, True): "Run_1668423760_Stage_0.onnx",
}
_FRAME = {16_000: 512, 48_000: 1536}
_HIDDEN = {16_000: 64, 48_000: 96}


def aecmos(
    loopback: NDArray[np.floating[Any]],
    microphone: NDArray[np.floating[Any]],
    enhanced: NDArray[np.floating[Any]],
    rate: int,
    cache: Path,
    talk: Talk | None = None,
    model_rate: Literal[16_000, 48_000] = 16_000,
) -> Measured:
    """Return AECMOS: two mean opinion scores, about 1 (very annoying) to 5 (imperceptible).

    ``echo``: how little echo is left. ``other``: how little else is wrong (missing or
    distorted speech, noise). ``loopback`` is what the system played, ``microphone`` what the
    user's channel took up, ``enhanced`` what was sent on to the system: the same samples as
    the microphone's where nothing takes the echo out. All three at ``rate``, from one zero; they
    are cut to the shortest, then to 20 s, resampled to ``model_rate`` and clipped to full scale.

    ``talk`` says who speaks: ``far end`` (the system alone), ``near end`` (the user alone),
    ``both``; None where it is not known, which only the model at 16 kHz takes. Scores of different
    kinds of talk, or of the two models, are not comparable.

    Absent: ``no samples``; ``digital silence at the microphone``.
    Raises :class:`InputError` on a talk or rate that there is no model for and on samples that are
    not one finite voice, :class:`PluginError` where the weights are missing.
    Source: Purin et al. 2022 (AECMOS) and the speechmos 0.0.1.1 package, whose numbers these are; its
    talk types ``st``, ``nst`` and ``dt`` are ``far end``, ``near end`` and ``both`` here.
    """
    if talk not in (None, "far end", "near end", "both"):
        raise InputError("aecmos", "talk", found=talk, expected="'far end', 'near end', 'both' or None")
    file = _FILES.get((model_rate, talk is not None))
    if file is None:
        known = ", ".join(f"{hz} Hz {'with' if told else 'without'} talk" for hz, told in _FILES)
        raise InputError("aecmos", "model_rate", found=f"{model_rate} Hz with talk {talk}", expected=f"one of {known}")
    three = [
        one_voice(samples, rate, name)
        for name, samples in (("loopback", loopback), ("microphone", microphone), ("enhanced", enhanced))
    ]
    length = min(map(len, three))
    if not length:
        return Measured.none(NAMES, "no samples")
    if not three[1][:length].any():
        return Measured.none(NAMES, "digital silence at the microphone")
    size = _FRAME[model_rate]
    spectra = [
        log_mel(
            at_rate(samples[:length], rate, model_rate)[: LONGEST_SECONDS * model_rate],
            model_rate,
            size=size + 1,
            hop=size // 2,
            bands=_BANDS,
        )
        for samples in three
    ]
    marked = spectra if talk is None else _marked(spectra, talk)
    hidden = np.zeros((4, 1, _HIDDEN[model_rate]), np.float32)
    answer = network(MODEL, file, cache).run(None, {"input": np.stack(marked)[None], "h0": hidden})[0]
    return Measured({"echo": float(answer[0]), "other": float(answer[1])}, {})


def _marked(spectra: list[Spectrum], talk: Talk) -> list[Spectrum]:
    """Return the spectra with the frames after them that tell who speaks: loopback, microphone, enhanced."""
    told = (float(talk != "near end"), float(talk != "far end"), 1.0)
    return [
        np.concatenate([spectrum, np.full((_MARK, _BANDS), mark, np.float32), np.zeros((_MARK, _BANDS), np.float32)])
        for spectrum, mark in zip(spectra, told)
    ]
