"""What was said so far: each turn of the user, and as much of the reply as was heard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fullduplex.providers.language_models import Message
from fullduplex.systems.cascade.clauses import Piece, heard_of


@dataclass(slots=True)
class Exchange:
    """A turn of the user and the reply: what was recognised, the pieces said, and how much of them was heard.

    ``began`` and ``ended`` are the user's, ``first`` the moment of the reply's first audio and ``until`` of its last,
    on the talk's clock; ``length`` is of its audio. ``played`` is None where nothing kept the listener from hearing it.
    """

    number: int
    began: int
    ended: int
    text: str = ""
    pieces: list[Piece] = field(default_factory=list)
    length: int = 0
    first: int | None = None
    until: int = 0
    played: int | None = None

    @property
    def id(self) -> str:
        """Return the name of the reply's utterance."""
        return f"r{self.number}"

    @property
    def heard(self) -> str:
        """Return the reply as the listener heard it."""
        return heard_of(self.pieces, self.length if self.played is None else self.played)


def conversation(instruction: str, exchanges: Sequence[Exchange]) -> list[Message]:
    """Return the conversation as the two heard it, for a language model."""
    found = [Message("system", instruction)]
    for exchange in exchanges:
        found.append(Message("user", exchange.text))
        if exchange.heard:
            found.append(Message("assistant", exchange.heard))
    return found
