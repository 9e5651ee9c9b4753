"""Smart-turn: a Whisper encoder that hears by the prosody whether a turn is over."""

from __future__ import annotations

import threading
from functools import cache as once
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.errors import InputError
from fullduplex.model.spec import Spec
from fullduplex.providers import models, weights
from fullduplex.providers.turn_detectors import Samples

RATE = 16_000
#: It hears the last eight seconds.
LONGEST = 8 * RATE
_WINDOW, _HOP, _BANDS = 400, 160, 80


class SmartTurn:
    """Pipecat's smart-turn 3.2, 8-bit ONNX, for 23 languages.

    It hears the last 8 s of an utterance, with about 0.2 s of the silence that follows; shorter ones have zeros
    before them. It needs natural prosody: on sentences whole and cut, the area under the curve is 0.92-0.98 for
    neural voices, 0.79 for an HMM voice, and 0.30 for formant synthesis, where it is of no use.
    Raises :class:`PluginError` where the weights are not in ``cache`` (None: ``~/.cache/fullduplex``).
    """

    def __init__(self, *, threads: int = 1, cache: Path | None = None) -> None:
        if threads < 1:
            raise InputError("smart-turn", "threads", found=threads, expected="1 or more")
        (file,) = models.model("smart-turn-v3.2").files
        self._weights = weights.path("smart-turn-v3.2", cache or weights.default_cache({})) / file.name
        self._revision = f"smart-turn 3.2, {file.sha256[:12]}"
        self._threads, self._loading = threads, threading.Lock()
        self._session: Any = None

    @property
    def spec(self) -> Spec:
        """Return the name and the weights."""
        return Spec("smart-turn", {}, self._revision)

    def finished(self, samples: Samples) -> float:
        """Return how likely the speaker is done, between 0 and 1; of no samples 0."""
        if not len(samples):
            return 0.0
        heard = np.zeros(LONGEST, np.float32)
        part = samples[-LONGEST:]
        heard[LONGEST - len(part) :] = part
        (found,) = self._loaded().run(None, {"input_features": features(heard)[None]})
        return float(found[0, 0])

    def _loaded(self) -> Any:
        with self._loading:
            if self._session is None:
                import onnxruntime

                options = onnxruntime.SessionOptions()
                options.intra_op_num_threads = self._threads
                options.inter_op_num_threads = 1
                self._session = onnxruntime.InferenceSession(
                    str(self._weights), options, providers=["CPUExecutionProvider"]
                )
            return self._session


def features(samples: Samples) -> NDArray[np.float32]:
    """Return Whisper's log-mel spectrogram [80, samples / 160] of one voice at 16 kHz.

    The samples are brought to mean 0 and variance 1; frames of 25 ms every 10 ms, centred, mirrored at
    the edges; power in 80 Slaney bands, log10, no lower than 8 below the greatest, then (x + 4) / 4.
    Source: the feature extractor of OpenAI's Whisper, with normalisation as smart-turn was trained.
    """
    even = (samples - samples.mean()) / np.sqrt(samples.var() + 1e-7)
    mirrored = np.pad(even.astype(np.float64), _WINDOW // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(mirrored, _WINDOW)[::_HOP][:-1]
    power = np.abs(np.fft.rfft(frames * np.hanning(_WINDOW + 1)[:-1])) ** 2
    logs = np.log10(np.maximum(power @ bands(), 1e-10)).T
    floored = np.maximum(logs, logs.max() - 8.0)
    found: NDArray[np.float32] = ((floored + 4.0) / 4.0).astype(np.float32)
    return found


@once
def bands() -> NDArray[np.float64]:
    """Return the weights [201, 80] of each frequency in each Slaney band between 0 and 8 kHz, each band of area 1."""
    edges = _hertz(np.linspace(_mels(0.0), _mels(RATE / 2), _BANDS + 2))
    frequencies = np.linspace(0, RATE / 2, _WINDOW // 2 + 1)[:, None]
    rising = (frequencies - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - frequencies) / (edges[2:] - edges[1:-1])
    weights: NDArray[np.float64] = np.maximum(0.0, np.minimum(rising, falling)) * 2.0 / (edges[2:] - edges[:-2])
    return weights


#: Slaney's scale: linear up to 1 kHz, which is 15, and 27 steps to each factor of 6.4 above.
_STEP = np.log(6.4) / 27.0


def _mels(hertz: float) -> float:
    return hertz * 0.015 if hertz < 1000.0 else 15.0 + float(np.log(hertz / 1000.0)) / float(_STEP)


def _hertz(mels: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(mels < 15.0, mels / 0.015, 1000.0 * np.exp(_STEP * (mels - 15.0)))
