"""Whisper's words, placed by alignment with the sound."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fullduplex.errors import InputError
from fullduplex.listening.recognisers import Heard, Samples
from fullduplex.listening.recognisers.alignment import LANGUAGES, Aligner, how_placed, place
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

#: A decoder that loops writes until it is stopped: nobody says more tokens in a second than this.
_TOKENS_A_SECOND = 10
#: Languages that are written without spaces: each piece that Whisper tells apart is a word.
_WITHOUT_SPACES = frozenset(["zh", "ja", "th", "lo", "my"])
_NUMERALS = frozenset("0123456789%$£€")


class Whisper:
    """OpenAI's Whisper through faster-whisper, then forced alignment of its words.

    ``size``: ``base`` (99 languages) or ``tiny.en`` (English, lighter). Only pieces around
    speech are decoded, greedily, at temperature 0, each by itself; numerals are kept
    from the decoder, so numbers are written as words and can be aligned. ``align``: place
    the words by PocketSphinx (English) or SoundSwallower (French); other languages, and
    words that cannot be found in the sound, keep Whisper's own times, and
    :class:`Heard` says so.

    Confidences are Whisper's probabilities. Raises :class:`PluginError` where the weights
    are not in ``cache`` (None: ``~/.cache/fullduplex``). ``threads`` changes no word.
    """

    def __init__(self, size: str = "base", align: bool = True, *, threads: int = 1, cache: Path | None = None) -> None:
        sizes = [m.name.removeprefix("whisper-") for m in models.models() if m.name.startswith("whisper-")]
        if size not in sizes:
            raise InputError("whisper", "size", found=size, expected=" or ".join(sizes))
        self.size, self.align, self.threads = size, align, threads
        self._model = models.model(f"whisper-{size}")
        self._weights = weights.path(self._model.name, cache or weights.default_cache({}))
        self._aligners: dict[str, Aligner] = {}
        self._loading = threading.Lock()
        self._loaded: Any = None

    @property
    def spec(self) -> Spec:
        """Return the options that decide the words and times, and every library and weight behind them."""
        revision = f"faster-whisper {version('faster-whisper')}, {self._model.name} {self._model.files[0].sha256[:12]}"
        if self.align:
            revision += f", pocketsphinx {version('pocketsphinx')}, soundswallower {version('soundswallower')}"
        return Spec("whisper", {"size": self.size, "align": self.align, "compute": "int8"}, revision)

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages that the weights know."""
        if self.size.endswith(".en"):
            return ("en",)
        from faster_whisper.tokenizer import _LANGUAGE_CODES

        return tuple(code for code in _LANGUAGE_CODES if code != "yue")

    def recognise(self, samples: Samples, rate: int, language: str = "en") -> Heard:
        """Return the words of one voice at ``rate`` Hz."""
        check_language("whisper", language, self.languages)
        sound = at_16_khz(samples, rate)
        aligner = self._aligner(language)
        words: list[Placed] = []
        for start, end in around_speech(sound):
            words += place(aligner, sound, start, end, self._sentences(sound[start:end], start / RATE, language))
        words = in_order(words, len(samples) / rate)
        placed, remarks = how_placed(words) if aligner else ("recogniser", ())
        return Heard(tokens_of(words), tuple(word.confidence or 0.0 for word in words), placed, remarks)

    def _sentences(self, piece: Samples, offset: float, language: str) -> list[list[Placed]]:
        from threadpoolctl import threadpool_limits

        model, numerals = self._ready()
        spaced = language not in _WITHOUT_SPACES
        # The spectrogram is a matrix product whose last bits, and with them a doubtful
        # word, depend on how many threads share it: one thread, wherever this runs.
        with threadpool_limits(limits=1, user_api="blas"):
            segments, _ = model.transcribe(
                piece,
                language=language,
                beam_size=1,
                temperature=0.0,
                condition_on_previous_text=False,
                suppress_tokens=[-1, *numerals],
                word_timestamps=True,
                max_new_tokens=min(440, 20 + int(_TOKENS_A_SECOND * len(piece) / RATE)),
            )
            return [_words(segment.words, offset, spaced) for segment in segments if segment.words]

    def _aligner(self, language: str) -> Aligner | None:
        if not self.align or language not in LANGUAGES:
            return None
        with self._loading:
            return self._aligners.setdefault(language, Aligner(language))

    def _ready(self) -> tuple[Any, list[int]]:
        with self._loading:
            if self._loaded is None:
                from faster_whisper import WhisperModel

                model = WhisperModel(
                    str(self._weights),
                    device="cpu",
                    compute_type="int8",
                    cpu_threads=self.threads,
                    local_files_only=True,
                )
                vocabulary = model.hf_tokenizer.get_vocab()
                numerals = sorted(
                    number
                    for token, number in vocabulary.items()
                    if not token.startswith("<|") and not _NUMERALS.isdisjoint(token)
                )
                self._loaded = model, numerals
            return self._loaded  # type: ignore[no-any-return]


def _words(pieces: Iterable[Any], offset: float, spaced: bool) -> list[Placed]:
    """Return Whisper's pieces as words: ``U`` and ``.S`` without a space between are one."""
    found: list[Placed] = []
    for piece in pieces:
        word = Placed(piece.word, offset + piece.start, offset + piece.end, round(float(piece.probability), 4))
        if found and spaced and not word.text.startswith(" "):
            before = found.pop()
            sure = min(before.confidence or 0.0, word.confidence or 0.0)
            word = Placed(before.text + word.text, before.start, word.end, sure)
        found.append(word)
    return found
