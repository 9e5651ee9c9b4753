"""NVIDIA Parakeet's words: the model that the released scripts use since June 2025."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fullduplex.errors import InputError, PluginError
from fullduplex.listening.recognisers import Heard, Samples
from fullduplex.listening.recognisers.chunks import (
    RATE,
    Placed,
    around_speech,
    at_16_khz,
    check_language,
    in_order,
    tokens_of,
)
from fullduplex.model.spec import Spec
from fullduplex.providers import models, weights

#: The model places a token on frames of 80 ms; a word lasts at least one.
_FRAME = 0.08
_LANGUAGES = {
    "v2": ("en",),
    "v3": (
        *("bg", "hr", "cs", "da", "nl", "en", "et", "fi", "fr", "de", "el", "hu", "it"),
        *("lv", "lt", "mt", "pl", "pt", "ro", "sk", "sl", "es", "sv", "ru", "uk"),
    ),
}
#: What its publisher calls the models, before the version.
_PUBLISHED = "parakeet-tdt-0.6b-"
_NAMES = {"v2": "nemo-parakeet-tdt-0.6b-v2", "v3": "nemo-parakeet-tdt-0.6b-v3"}


class Parakeet:
    """Parakeet TDT 0.6B through onnx-asr, with 8-bit weights and its own word times.

    ``version``: ``v2`` is English (what the released scripts of Full-Duplex-Bench use, there
    through NeMo, in full precision and on a GPU), ``v3`` knows 25 European languages (what the French
    Full-Duplex-Bench uses). ``parakeet-tdt-0.6b-v3``, the publisher's name, means the same.
    A word starts where its first token is emitted and ends a frame of 80 ms after its last,
    or where the next word starts.

    Not verified live: its weights come from the hub alone and this class was tested with
    a stand-in for onnx-asr. Raises :class:`PluginError` where onnx-asr is not installed
    or the weights are not in ``cache`` (None: ``~/.cache/fullduplex``).
    """

    def __init__(self, version: str = "v2", *, threads: int = 1, cache: Path | None = None) -> None:
        version = str(version).removeprefix(_PUBLISHED)
        if version not in _NAMES:
            raise InputError("parakeet", "version", found=version, expected=" or ".join(_NAMES))
        if importlib.util.find_spec("onnx_asr") is None:
            raise PluginError("the recogniser parakeet needs onnx-asr; install fullduplex[parakeet]")
        self.version, self.threads = version, threads
        self._model = models.model(f"parakeet-{version}")
        self._weights = weights.path(self._model.name, cache or weights.default_cache({}))
        self._loading = threading.Lock()
        self._loaded: Any = None

    @property
    def spec(self) -> Spec:
        """Return the options that decide the words and times, and the library and weights behind them."""
        revision = f"onnx-asr {version('onnx-asr')}, {self._model.name} {self._model.files[0].sha256[:12]}"
        return Spec("parakeet", {"version": self.version, "compute": "int8"}, revision)

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages that the weights know."""
        return _LANGUAGES[self.version]

    def recognise(self, samples: Samples, rate: int, language: str = "en") -> Heard:
        """Return the words of one voice at ``rate`` Hz."""
        check_language("parakeet", language, self.languages)
        sound = at_16_khz(samples, rate)
        words: list[Placed] = []
        for start, end in around_speech(sound):
            found = self._ready().recognize(sound[start:end], sample_rate=RATE)
            words += words_of_tokens(found.tokens or [], found.timestamps or [], start / RATE, end / RATE)
        return Heard(tokens_of(in_order(words, len(samples) / rate)))

    def _ready(self) -> Any:
        with self._loading:
            if self._loaded is None:
                import onnx_asr
                import onnxruntime

                options = onnxruntime.SessionOptions()
                options.intra_op_num_threads = self.threads
                self._loaded = onnx_asr.load_model(
                    _NAMES[self.version],
                    self._weights,
                    quantization="int8",
                    sess_options=options,
                    providers=["CPUExecutionProvider"],
                ).with_timestamps()
            return self._loaded


def words_of_tokens(tokens: Sequence[str], times: Sequence[float], offset: float, until: float) -> list[Placed]:
    """Return the words that sub-word tokens make: a token that starts with a space starts a word.

    ``times`` are the tokens' own, in seconds after ``offset``; no word ends after ``until``.
    """
    starts: list[tuple[str, float, float]] = []
    for token, time in zip(tokens, times, strict=True):
        text = token.replace("▁", " ")
        if starts and not text.startswith(" "):
            before, start, _ = starts[-1]
            starts[-1] = (before + text, start, offset + time)
        else:
            starts.append((text.strip(), offset + time, offset + time))
    nexts = [start for _, start, _ in starts[1:]] + [until]
    return [
        Placed(text, start, min(last + _FRAME, following))
        for (text, start, last), following in zip(starts, nexts, strict=True)
    ]
