"""Hibari: an English voice whose weights come with its package, and which knows its word times.

The network's own durations become one more output of the graph: the number of 25-ms frames
of each phoneme, pads included. Their sum is the length of the audio exactly. The sound of
a phoneme comes 75 ms before its place in that sum, measured on the onsets of utterances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.errors import PluginError
from fullduplex.model.spans import Span, ms
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Word
from fullduplex.providers.voices import Spoken, as_spoken, check_speakable

_DURATIONS = b"/Round_output_0"
_FRAME, _EARLY = ms(25), ms(75)
#: Marks that take time in the audio and are no part of a word's sound.
_MARKS = frozenset(';:,.!?—…"“”() ')


@dataclass(frozen=True, slots=True)
class Hibari:
    """The voice ``heart`` of hibari-tts, 24 kHz, American English.

    ``speed`` 1 is the voice's own. ``pitch`` below 1 is a lower and larger speaker: the audio is played that much
    slower. It is asked to speak faster to make up for it, but its durations are too coarse to make up
    for all: at 0.84 a sentence takes a seventh longer. ``seed`` draws the noise in its consonants.
    Raises :class:`PluginError` where the package is not installed.
    """

    speed: float = 1.0
    pitch: float = 1.0
    seed: int = 0

    @property
    def spec(self) -> Spec:
        """Return the name, the options, and the package's version."""
        options = {"speed": self.speed, "pitch": self.pitch, "seed": self.seed}
        return Spec("hibari", options, f"hibari-tts {_package().__version__}")

    def speak(self, text: str) -> Spoken:
        """Return ``text`` as speech with its words; raises :class:`InputError` where nothing in it can be spoken."""
        check_speakable(text)
        engine = _engine()
        noise = np.random.default_rng(self.seed)
        parts, words, at = [np.zeros(0, np.float32)], list[Word](), 0
        for tokens in _sentences(engine, text):
            samples, durations = _synthesise(engine, tokens, self.speed / self.pitch, noise)
            words += _words(tokens, durations, at)
            parts.append(samples)
            at += int(durations.sum()) * _FRAME
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
    model = Path(engine.model_path).read_bytes() + _one_more_output(_DURATIONS)
    engine.sess = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return engine


def _one_more_output(name: bytes) -> bytes:
    """Return a serialised model that holds nothing but one output of its graph.

    Serialised messages put end to end are one message, in which lists are joined: that is
    how the format defines it, and it spares a library for editing graphs. Field 7 of a model is its
    graph, field 12 of a graph an output, field 1 of an output its name; all lengths are below 128.
    """
    output = bytes([1 << 3 | 2, len(name)]) + name
    graph = bytes([12 << 3 | 2, len(output)]) + output
    return bytes([7 << 3 | 2, len(graph)]) + graph


#: A word as written, and its phonemes in the model's alphabet with the marks that follow it.
_Token = tuple[str, str]


def _sentences(engine: Any, text: str) -> Iterator[list[_Token]]:
    """Yield each sentence as written words with the phonemes of each."""
    from hibari.g2p.normalize import normalize

    for sentence in engine.split_sentences(text):
        tokens = list[_Token]()
        opened = True
        for token in engine.g2p.phonemize_tokens(engine.g2p.tokenize(normalize(sentence))):
            phonemes = token.phonemes or ""
            if opened or not tokens:
                tokens.append((token.text, phonemes))
            else:
                # No space before it: a mark, or the rest of a written word.
                tokens[-1] = (tokens[-1][0] + token.text, tokens[-1][1] + phonemes)
            opened = bool(token.whitespace)
        tokens = [token for token in tokens if token[1].strip()]
        if tokens:
            yield tokens


def _synthesise(engine: Any, tokens: Sequence[_Token], speed: float, noise: np.random.Generator) -> tuple[Any, Any]:
    from hibari import dsp

    ids = engine.ids(" ".join(phonemes.strip() for _, phonemes in tokens))
    feed = {"ids": np.asarray([ids], np.int64), "speed": np.asarray([speed], np.float32)}
    *voice, durations = engine.sess.run(None, feed)
    samples = dsp.synth(*(part[0] for part in voice), noise)
    return samples, np.rint(durations.reshape(-1)).astype(np.int64)


def _words(tokens: Sequence[_Token], durations: Any, at: int) -> Iterator[Word]:
    """Yield each word where it sounds, of a sentence that begins at ``at``."""
    ends = np.cumsum(durations) * _FRAME + at - _EARLY
    position = 0  # the pad before the first phoneme
    vocab = _engine().vocab
    for text, phonemes in tokens:
        known = [c for c in phonemes.strip() if c in vocab]
        sounding = [i for i, c in enumerate(known) if c not in _MARKS]
        if sounding:
            start = max(0, int(ends[position + sounding[0]]))
            end = int(ends[position + sounding[-1] + 1])
            if end > start:
                yield Word(text, Span(start, end))
        position += len(known) + 1  # and the space after it
