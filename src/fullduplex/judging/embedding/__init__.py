"""The offline judge of words."""

from fullduplex.judging.embedding.judge import Embedding

__all__ = ["Embedding"]
