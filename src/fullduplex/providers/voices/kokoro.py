"""Kokoro: 28 English voices and a French one, with the word times that its own durations tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.errors import InputError, PluginError
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Word
from fullduplex.once import once_per_process
from fullduplex.providers import models, weights
from fullduplex.providers.voices import Spoken, as_spoken, check_latin, check_speakable
from fullduplex.providers.voices.durations import FRAME, MARKS, Token, one_more_output, phonemes_of, placed_words
from fullduplex.providers.voices.english import english_sentences

RATE = 24_000
#: The longest text that the network takes at once, in characters of its alphabet without the two pads.
LONGEST = 509
_MODEL = "kokoro"
_DURATIONS = b"/encoder/Round_output_0"
_LANGUAGES = {"a": "en-US", "b": "en-GB", "f": "fr-FR"}


def voices() -> tuple[str, ...]:
    """Return the names of all voices: ``af_`` and ``am_`` American, ``bf_`` and ``bm_`` British, ``ff_`` French."""
    return tuple(file.name.removesuffix(".bin") for file in models.model(_MODEL).files if file.name.endswith(".bin"))


@dataclass(frozen=True, slots=True)
class Kokoro:
    """One of Kokoro's voices, 24 kHz, on one core; its language is that of the voice's first letter.

    ``speed`` (0.5-2) is a factor of the voice's own. ``cache`` holds the weights (None: ``~/.cache/fullduplex``).
    Equal specs say equal samples. Raises :class:`InputError` on another voice or speed,
    :class:`PluginError` where the weights, or the package that reads the language, are not there.
    """

    voice: str = "af_heart"
    speed: float = 1.0
    cache: Path | None = None

    def __post_init__(self) -> None:
        if self.voice not in voices():
            raise InputError("kokoro", "voice", found=self.voice, expected=f"one of {', '.join(voices())}")
        if isinstance(self.speed, bool) or not isinstance(self.speed, int | float) or not 0.5 <= self.speed <= 2.0:
            raise InputError("kokoro", "speed", found=self.speed, expected="a factor from 0.5 to 2")
        self._weights()
        _reader(self.language)

    @property
    def language(self) -> str:
        """Return the language: ``en-US``, ``en-GB`` or ``fr-FR``."""
        return _LANGUAGES[self.voice[0]]

    @property
    def spec(self) -> Spec:
        """Return the name, the options, the weights, and what reads the text."""
        reader = f"hibari-tts {version('hibari-tts')}"
        if self.language == "fr-FR":
            from fullduplex.providers.voices.french import espeak_version

            reader = f"espeak-ng {espeak_version()}"
        options = {"voice": self.voice, "speed": float(self.speed)}
        return Spec("kokoro", options, f"{_MODEL} {models.model(_MODEL).files[0].sha256[:12]}, {reader}")

    def speak(self, text: str) -> Spoken:
        """Return ``text`` as speech with its words; raises :class:`InputError` where nothing in it can be spoken."""
        check_speakable(text)
        check_latin(text)
        session, alphabet = _session(self._weights()), _alphabet()
        styles = _styles(self._weights() / f"{self.voice}.bin")
        parts, words, at = [np.zeros(0, np.float32)], list[Word](), 0
        for tokens in _sayable(_reader(self.language)(text), alphabet):
            ids = [alphabet[c] for c in phonemes_of(tokens) if c in alphabet]
            feed = {
                "tokens": np.asarray([[0, *ids, 0]], np.int64),
                # There is a style for each length, and the makers count from 0.
                "style": styles[len(ids) - 1][None],
                "speed": np.asarray([self.speed], np.float32),
            }
            samples, frames = session.run(None, feed)
            durations = np.rint(frames.reshape(-1)).astype(np.int64)
            words += placed_words(tokens, durations, at, alphabet)
            parts.append(samples.reshape(-1))
            at += int(durations.sum()) * FRAME
        return as_spoken(text, np.concatenate(parts), RATE, words, "synthesiser")

    def _weights(self) -> Path:
        return weights.path(_MODEL, self.cache or weights.default_cache({}))


def _sayable(sentences: Iterator[list[Token]], alphabet: dict[str, int]) -> Iterator[list[Token]]:
    """Yield sentences that fit the network: one too long is cut between words, and what makes no sound is left out."""
    for tokens in sentences:
        piece, length = list[Token](), 0
        for text, phonemes in tokens:
            known = "".join(c for c in phonemes.strip() if c in alphabet)[:LONGEST]
            if not known:
                continue
            if piece and length + 1 + len(known) > LONGEST:
                yield piece
                piece, length = [], 0
            length += len(known) + bool(piece)
            piece.append((text, known))
        if any(c not in MARKS for _, phonemes in piece for c in phonemes):
            yield piece


@once_per_process
def _session(folder: Path) -> Any:
    """Return the network with its durations among the outputs."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    network = (folder / models.model(_MODEL).files[0].name).read_bytes() + one_more_output(_DURATIONS)
    return onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])


@once_per_process
def _styles(file: Path) -> Any:
    return np.fromfile(file, "<f4").reshape(-1, 256)


@once_per_process
def _alphabet() -> dict[str, int]:
    # The alphabet of hibari is Kokoro's, number by number.
    return dict(_hibari().Hibari().vocab)


@once_per_process
def _reader(language: str) -> Any:
    """Return what reads a text of the language: a function to sentences of words with their phonemes."""
    split = _hibari().Hibari.split_sentences
    if language == "fr-FR":
        from fullduplex.providers.voices.french import French

        french = French()
        return lambda text: french.sentences(text, split)
    from hibari.g2p import G2P

    g2p = G2P(british=language == "en-GB")
    return lambda text: english_sentences(text, split, g2p)


def _hibari() -> Any:
    try:
        import hibari
    except ImportError as error:
        raise PluginError(
            "voice 'kokoro' needs hibari-tts to read its texts, which is not installed; install fullduplex[voices]"
        ) from error
    return hibari
