"""French writing as phonemes, word by word, by espeak-ng (GPL-3, the extra ``kokoro-french``)."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Any

from fullduplex.errors import PluginError
from fullduplex.providers.voices.durations import Token

_SYNCHRONOUS, _DONT_EXIT, _UTF8 = 2, 0x8000, 1
#: IPA, and ``^`` between the letters of one sound.
_PHONEMES = 0x02 | 0x80 | ord("^") << 8
#: Sounds that the network knows as one character.
_ONE = {"t^s": "ʦ", "d^z": "ʣ", "t^ʃ": "ʧ", "d^ʒ": "ʤ"}
_MARKS = ";:,.!?—…"
_CLOSING = {"»": "”", "”": "”", '"': '"', ")": ")"}
_OPENING = {"«": "“", "“": "“", '"': '"', "(": "("}


def espeak_version() -> str:
    """Return the version of the package that carries espeak-ng."""
    return version("espeakng-loader")


class French:
    """espeak-ng's reading of French. Raises :class:`PluginError` where its package is not installed."""

    def __init__(self) -> None:
        try:
            package: Any = import_module("espeakng_loader")
        except ImportError as error:
            raise PluginError(
                "French needs espeakng-loader to be read, which is not installed; install fullduplex[kokoro-french]"
            ) from error
        library: Any = ctypes.CDLL(package.get_library_path())
        data = package.get_data_path().encode()
        begun = library.espeak_Initialize(_SYNCHRONOUS, 0, data, _DONT_EXIT)
        if begun <= 0 or library.espeak_SetVoiceByName(b"fr") != 0:
            raise PluginError("espeak-ng does not start, or has no French; install fullduplex[kokoro-french] anew")
        self._read = library.espeak_TextToPhonemes
        self._read.restype = ctypes.c_char_p
        self._read.argtypes = [ctypes.POINTER(ctypes.c_char_p), ctypes.c_int, ctypes.c_int]

    def sentences(self, text: str, split: Callable[[str], list[str]]) -> Iterator[list[Token]]:
        """Yield each sentence that ``split`` finds as written words with their phonemes and the marks around them."""
        for sentence in split(text):
            tokens = list[Token]()
            for clause in _clauses(sentence):
                tokens += self._clause(clause)
            if tokens:
                yield tokens

    def _clause(self, words: Sequence[str]) -> Iterator[Token]:
        bare = [_bare(word) for word in words]
        read = self._phonemes(" ".join(bare)).split()
        if len(read) != len(words):
            # Some words were read as one: each by itself, without the links between them.
            read = [self._phonemes(word).replace(" ", "") for word in bare]
        for word, phonemes in zip(words, read, strict=True):
            before = "".join(_OPENING.get(c, "") for c in word[: len(word) - len(word.lstrip('«“"('))])
            after = "".join(
                _CLOSING.get(c, c if c in _MARKS else "") for c in word[len(word.rstrip(_MARKS + '»”")')) :]
            )
            if phonemes or after:
                yield word, before + phonemes + after

    def _phonemes(self, text: str) -> str:
        rest = ctypes.c_char_p(text.replace("\0", " ").encode("utf-8", "replace"))
        parts = []
        while rest.value:
            parts.append((self._read(ctypes.byref(rest), _UTF8, _PHONEMES) or b"").decode("utf-8", "replace"))
        found = re.sub(r"\([^)]*\)", "", " ".join(parts)).replace("-", "")
        for many, one in _ONE.items():
            found = found.replace(many, one)
        return found.replace("^", "")


def _bare(word: str) -> str:
    return word.strip(_MARKS + '«»“”"()')


def _clauses(sentence: str) -> Iterator[list[str]]:
    """Yield the words of a sentence up to each mark; a mark that stands alone, as French has it, joins its word."""
    words = list[str]()
    for piece in sentence.replace("\u202f", " ").replace("\u00a0", " ").split():
        if not _bare(piece):
            if words and piece not in "«“(":
                words[-1] += piece
            elif piece in "«“(":
                words.append(piece)
            continue
        if words and not _bare(words[-1]):
            words[-1] += piece
        else:
            if words and words[-1][-1] in _MARKS:
                yield words
                words = []
            words.append(piece)
    if words := [word for word in words if _bare(word)]:
        yield words
