"""Language models: a conversation in, the next words out, piece by piece as they are made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from fullduplex.model.spec import Spec


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation as a language model sees it."""

    role: Literal["system", "user", "assistant"]
    text: str


class LanguageModel(Protocol):
    """A language model with its options. With one seed and temperature 0 a local one says the same each time."""

    @property
    def spec(self) -> Spec:
        """Return what exactly writes: the model, its weights' digest or the server's model name, its options."""
        ...

    def reply(self, messages: Sequence[Message], *, limit: int = 60) -> Iterator[str]:
        """Yield the reply in pieces, at most about ``limit`` tokens of it.

        Raises :class:`PluginError` where it cannot be reached or its weights are not at hand.
        """
        ...
