"""Vosk's words, with its own times: Kaldi models for many languages, each a folder of its own."""

from __future__ import annotations

import json
import threading
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.errors import InputError, PluginError, printable
from fullduplex.listening.recognisers import Heard, Samples
from fullduplex.listening.recognisers.chunks import RATE, Placed, at_16_khz, check_language, in_order, tokens_of
from fullduplex.model.spec import Spec, digest
from fullduplex.providers import weights


class Vosk:
    """The Vosk model in the folder ``model``, which knows the one ``language``.

    Its models are not among those that can be fetched here: unpack one from Vosk's own list. Words have
    confidences, and the decoder's own times; they are not aligned again. Tested with the library, but
    for want of a model *not verified live*. Raises :class:`PluginError` where vosk is not installed or the folder
    holds no model.
    """

    def __init__(self, model: str = "", language: str = "en") -> None:
        if not model:
            raise InputError("vosk", "model", expected="the folder of an unpacked Vosk model")
        self._library, self._folder, self._language = _library(), Path(model), language
        if not self._folder.is_dir():
            raise PluginError(f"the recogniser vosk: there is no folder {printable(model)}")
        self._loading = threading.Lock()
        self._loaded: Any = None

    @property
    def spec(self) -> Spec:
        """Return the folder's name, the language, the library's version, and a digest of the model."""
        files = {
            str(path.relative_to(self._folder)): path.stat().st_size
            for path in sorted(self._folder.rglob("*"))
            if path.is_file()
        }
        acoustic = self._folder / "am" / "final.mdl"
        told = digest([files, weights.sha256(acoustic) if acoustic.is_file() else ""])
        options = {"model": self._folder.resolve().name, "language": self._language}
        return Spec("vosk", options, f"vosk {version('vosk')}, {told}")

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the language of the model."""
        return (self._language,)

    def recognise(self, samples: Samples, rate: int, language: str = "en") -> Heard:
        """Return the words of one voice at ``rate`` Hz."""
        check_language("vosk", language, self.languages)
        sound = at_16_khz(samples, rate)
        if not len(sound):
            return Heard((), ())
        decoder = self._library.KaldiRecognizer(self._ready(), RATE)
        decoder.SetWords(True)
        pcm = np.clip(np.rint(sound * 32_768), -32_768, 32_767).astype("<i2").tobytes()
        # A tenth of a second at a time, as it is meant to be fed: an utterance may end within.
        found, step = list[Any](), RATE // 10 * 2
        for first in range(0, len(pcm), step):
            if decoder.AcceptWaveform(pcm[first : first + step]):
                found += _words(decoder.Result())
        found += _words(decoder.FinalResult())
        words = in_order(found, len(samples) / rate)
        return Heard(tokens_of(words), tuple(word.confidence or 0.0 for word in words))

    def _ready(self) -> Any:
        with self._loading:
            if self._loaded is None:
                self._library.SetLogLevel(-1)
                try:
                    self._loaded = self._library.Model(str(self._folder))
                except Exception as error:
                    raise PluginError(
                        f"the recogniser vosk: {printable(str(self._folder))} holds no model that it can load"
                    ) from error
            return self._loaded


def _words(result: str) -> list[Placed]:
    return [
        Placed(word["word"], word["start"], word["end"], round(float(word["conf"]), 4))
        for word in json.loads(result).get("result", ())
    ]


def _library() -> Any:
    try:
        import vosk
    except ImportError as error:
        raise PluginError("the recogniser vosk needs vosk, which is not installed; install fullduplex[vosk]") from error
    return vosk
