"""Texts as vectors, computed here: WordLlama's means of pieces of words, and MiniLM's small transformer."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fullduplex.errors import PluginError
from fullduplex.once import once_per_process
from fullduplex.providers import weights

Vectors = NDArray[np.float32]
#: MiniLM was trained on texts of at most so many pieces; of longer ones it reads the beginning.
_MINILM_LONGEST = 256


class Vectoriser(Protocol):
    """Something that gives texts vectors of length 1, [texts, numbers]; a text without pieces has zeros."""

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors."""
        ...


@once_per_process
def vectoriser(name: str, cache: Path) -> Vectoriser:
    """Return the model ``name`` (a name of :mod:`fullduplex.providers.models`) with the weights in ``cache``.

    Raises :class:`PluginError` where they are not there.
    """
    folder = weights.path(name, cache)
    return Remembering(WordLlama(folder) if name == "wordllama-256" else MiniLM(folder))


class Remembering:
    """A model that keeps the vectors of the last texts: a word or a stock phrase is computed once."""

    def __init__(self, model: Vectoriser, limit: int = 20_000) -> None:
        self._model, self._limit, self._lock = model, limit, Lock()
        self._known: dict[str, Vectors] = {}

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return the model's vectors."""
        with self._lock:
            new = [text for text in dict.fromkeys(texts) if text not in self._known]
            if len(self._known) + len(new) > self._limit:
                self._known.clear()
                new = list(dict.fromkeys(texts))
            if new:
                self._known.update(zip(new, self._model(new)))
            return np.stack([self._known[text] for text in texts])


class WordLlama:
    """The mean of the vectors of a text's pieces, as WordLlama takes it: no weights, no order."""

    def __init__(self, folder: Path) -> None:
        (self._table,) = _tensors(folder / "l2_supercat_256.safetensors").values()
        self._tokens = _tokeniser(folder / "l2_supercat_tokenizer_config.json")

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors, [texts, 256]."""
        found = np.zeros((len(texts), self._table.shape[1]), np.float32)
        for row, text in zip(found, texts):
            pieces = self._tokens.encode(_encodable(text), add_special_tokens=False).ids
            if pieces:
                row[:] = self._table[np.minimum(pieces, len(self._table) - 1)].astype(np.float32).mean(axis=0)
        return _unit(found)


class MiniLM:
    """all-MiniLM-L6-v2: six layers of BERT with 384 numbers, the mean over a text's first 256 pieces."""

    def __init__(self, folder: Path) -> None:
        self._weights = {name: t.astype(np.float32) for name, t in _tensors(folder / "model.safetensors").items()}
        self._tokens = _tokeniser(folder / "tokenizer.json")
        self._tokens.enable_truncation(_MINILM_LONGEST)

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors, [texts, 384]."""
        rows = [self._forward(self._tokens.encode(_encodable(text)).ids) for text in texts]
        return _unit(np.stack(rows)) if rows else np.zeros((0, 384), np.float32)

    def _forward(self, pieces: list[int]) -> Vectors:
        known = self._weights
        x = known["embeddings.word_embeddings.weight"][pieces]
        x = x + known["embeddings.position_embeddings.weight"][: len(pieces)]
        x = self._normal(x + known["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for layer in range(6):
            at = f"encoder.layer.{layer}"
            x = self._normal(x + self._attention(x, at), f"{at}.attention.output.LayerNorm")
            inner = _gelu(self._linear(x, f"{at}.intermediate.dense"))
            x = self._normal(x + self._linear(inner, f"{at}.output.dense"), f"{at}.output.LayerNorm")
        mean: Vectors = x.mean(axis=0)
        return mean

    def _attention(self, x: Vectors, at: str) -> Vectors:
        heads = 12
        query, key, value = (
            self._linear(x, f"{at}.attention.self.{part}").reshape(len(x), heads, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ value
        return self._linear(mixed.transpose(1, 0, 2).reshape(len(x), -1), f"{at}.attention.output.dense")

    def _linear(self, x: Vectors, name: str) -> Vectors:
        found: Vectors = x @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return found

    def _normal(self, x: Vectors, name: str) -> Vectors:
        even = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-12)
        found: Vectors = even * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return found


def _gelu(x: Vectors) -> Vectors:
    """Return the Gaussian error linear unit; erf by Abramowitz and Stegun 7.1.26, within 2e-7."""
    z = np.abs(x) / np.sqrt(np.float32(2))
    t = 1 / (1 + 0.3275911 * z)
    tail = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = np.sign(x) * (1 - tail * np.exp(-z * z))
    found: Vectors = (0.5 * x * (1 + erf)).astype(np.float32)
    return found


def _unit(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    found: Vectors = (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return found


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _tokeniser(path: Path) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise PluginError("the embedding judge needs tokenizers, which is not installed; install tokenizers") from error
    found = Tokenizer.from_file(str(path))
    found.no_padding()
    found.no_truncation()
    return found


def _tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Return the tensors of a safetensors file: a length, a JSON header, then the numbers, little-endian."""
    kinds = {"F16": "<f2", "F32": "<f4", "I64": "<i8"}
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
        body = file.read()
    header.pop("__metadata__", None)
    return {
        name: np.frombuffer(body, kinds[t["dtype"]], offset=t["data_offsets"][0], count=math.prod(t["shape"])).reshape(
            t["shape"]
        )
        for name, t in header.items()
    }
