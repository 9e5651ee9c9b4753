"""UTMOS: how natural listeners would find a voice, by the strong learner of the 2022 VoiceMOS Challenge."""

from __future__ import annotations

import hashlib
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.errors import PluginError, printable
from fullduplex.listening.quality.measured import Measured, at_rate, one_voice
from fullduplex.model.spans import SECOND, ms
from fullduplex.once import once_per_process

NAMES = ("mos",)
RATE = 16_000
#: Below this the first layers of wav2vec 2.0 (400 samples) have little to look at, and a word has no time to sound.
SHORTEST = ms(250)
_FILE = "utmos_state_dict.pt"


def utmos(samples: NDArray[np.floating[Any]], rate: int, cache: Path) -> Measured:
    """Return ``mos``: UTMOS, a mean opinion score of naturalness from about 1 (bad) to 5 (excellent).

    The samples are resampled to 16 kHz, clipped to full scale and judged at once, by the
    ``utmos-pytorch`` package on one thread of the processor. This is UTMOS of 2022;
    UTMOSv2, which Full-Duplex-Bench v1.5 reports, is another network with another scale.

    Absent: ``digital silence``, ``shorter than 0.25 s``.
    Raises :class:`PluginError` where the package or its weights are missing. The
    weights have no entry in the table of models, since their bytes could not be had to be
    pinned: they are taken from ``models/utmos`` in ``cache``, and :func:`revision` hashes them.
    *Not verified live*: neither the package nor the weights have run here.
    """
    voice = one_voice(samples, rate)
    if not voice.any():
        return Measured.none(NAMES, "digital silence" if len(voice) else "no samples")
    if len(voice) * SECOND < SHORTEST * rate:
        return Measured.none(NAMES, "shorter than 0.25 s")
    torch, package = _libraries()
    score = _loaded(torch, package, str(checkpoint(cache)))
    with torch.no_grad():
        return Measured({"mos": float(score(torch.from_numpy(at_rate(voice, rate, RATE))[None, None])[0])}, {})


def checkpoint(cache: Path) -> Path:
    """Return the file of weights; raises :class:`PluginError` where it is not there, saying how to get it."""
    file = cache / "models" / "utmos" / _FILE
    if not file.is_file():
        folder = printable(str(file.parent))
        raise PluginError(
            f"the weights utmos are not at hand ({_FILE} is missing in {folder}); "
            f"run: hf download Blinorot/UTMOS-PyTorch {_FILE} --local-dir {folder}"
        )
    return file


def revision(cache: Path) -> str:
    """Return which bytes judge: the first twelve digits of the SHA-256 of the file of weights."""
    with checkpoint(cache).open("rb") as file:
        return f"utmos {hashlib.file_digest(file, 'sha256').hexdigest()[:12]}"


def _libraries() -> tuple[Any, Any]:
    """Return torch and the package's module; raises :class:`PluginError` where one is not installed."""
    try:
        return import_module("torch"), import_module("utmos_pytorch.utmos_torch")
    except ImportError as error:
        raise PluginError(f"utmos needs {error.name}, which is not installed; install fullduplex[utmos]") from error


@once_per_process
def _loaded(torch: Any, package: Any, path: str) -> Any:
    """Return the function that scores [batch, 1, samples] at 16 kHz."""
    torch.set_num_threads(1)  # sums in one order: the same number on every machine of a kind
    # The package loads what fits and leaves the rest as it was drawn: a wrong file would score at random.
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        missing = package.UTMOSModel().load_state_dict(state, strict=False).missing_keys
    except Exception as error:
        raise PluginError(f"{printable(path)} is no weights of utmos: {printable(str(error), 120)}") from error
    if missing:
        raise PluginError(f"{printable(path)} is no weights of utmos: it has no {printable(missing[0])}")
    return package.UTMOSScoreTorch(ckpt_path=path, device="cpu").score
