"""Hibari: an English voice whose weights come with its package, and which knows its word times.

The network's own durations become one more output of the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.errors import PluginError
from fullduplex.model.spans import Span
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Word
from fullduplex.providers.voices import Spoken, as_spoken, check_latin, check_speakable, checked_factor, checked_seed
from fullduplex.providers.voices.durations import FRAME, Token, one_more_output, phonemes_of, placed_words
from fullduplex.providers.voices.english import english_sentences

_DURATIONS = b"/Round_output_0"


@dataclass(frozen=True, slots=True)
class Hibari:
    """The voice ``heart`` of hibari-tts, 24 kHz, American English.

    ``speed`` 1 is the voice's own. ``pitch`` below 1 is a lower and larger speaker: the audio is played that much
    slower. It is asked to speak faster to make up for it, but its durations are too coarse to make up
    for all: at 0.84 a sentence takes a seventh longer. ``seed`` draws the noise in its consonants.
    Raises :class:`InputError` on a factor outside 0.5 to 2, :class:`PluginError` where the package is not installed.
    """

    speed: float = 1.0
    pitch: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        checked_factor("hibari", "speed", self.speed, 0.5, 2)
        checked_factor("hibari", "pitch", self.pitch, 0.5, 2)
        checked_seed("hibari", self.seed)

    @property
    def language(self) -> str:
        """Return the language that it speaks."""
        return "en-US"

    @property
    def spec(self) -> Spec:
        """Return the name, the options, and the package's version."""
        options = {"speed": self.speed, "pitch": self.pitch, "seed": self.seed}
        return Spec("hibari", options, f"hibari-tts {_package().__version__}")

    def speak(self, text: str) -> Spoken:
        """Return ``text`` as speech with its words; raises :class:`InputError` where nothing in it can be spoken."""
        check_speakable(text)
        check_latin(text)
        engine = _engine()
        noise = np.random.default_rng(self.seed)
        parts, words, at = [np.zeros(0, np.float32)], list[Word](), 0
        for tokens in english_sentences(text, engine.split_sentences, engine.g2p):
            samples, durations = _synthesise(engine, tokens, self.speed / self.pitch, noise)
            words += placed_words(tokens, durations, at, engine.vocab)
            parts.append(samples)
            at += int(durations.sum()) * FRAME
        audio, rate = np.concatenate(parts), engine.sample_rate
        if self.pitch != 1.0:
            audio = _slower(audio, self.pitch)
            words = [Word(word.text, _stretched(word.span, self.pitch)) for word in words]
        return as_spoken(text, audio, rate, words, "synthesiser")


def _stretched(span: Span, pitch: float) -> Span:
    return Span(round(span.start / pitch), round(span.end / pitch))


def _slower(samples: Any, pitch: float) -> Any:
    import soxr

    return soxr.resample(samples, 1000 * pitch, 1000, quality="HQ").astype(np.float32)


def _package() -> Any:
    try:
        import hibari
    except ImportError as error:
        raise PluginError(
            "voice 'hibari' needs hibari-tts, which is not installed; install fullduplex[voices]"
        ) from error
    return hibari


@lru_cache(maxsize=1)
def _engine() -> Any:
    """Return the package's engine with its model opened anew, durations among the outputs."""
    import onnxruntime

    engine = _package().Hibari()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    model = Path(engine.model_path).read_bytes() + one_more_output(_DURATIONS)
    engine.sess = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return engine


def _synthesise(engine: Any, tokens: Sequence[Token], speed: float, noise: np.random.Generator) -> tuple[Any, Any]:
    from hibari import dsp

    ids = engine.ids(phonemes_of(tokens))
    feed = {"ids": np.asarray([ids], np.int64), "speed": np.asarray([speed], np.float32)}
    *voice, durations = engine.sess.run(None, feed)
    samples = dsp.synth(*(part[0] for part in voice), noise)
    return samples, np.rint(durations.reshape(-1)).astype(np.int64)
