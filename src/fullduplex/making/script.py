"""What a dialogue script says: entries, dialogues, turns and phrases, before anybody has spoken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words without a pause in them: spoken by the turn's voice or by ``voice``, or the recording ``clip``."""

    text: str
    clip: str = ""
    style: str = ""
    voice: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """Phrases of the user with pauses (microseconds) between them, one fewer."""

    phrases: tuple[Phrase, ...]
    pauses: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """Return the words of the turn, without its pauses."""
        return " ".join(phrase.text for phrase in self.phrases if phrase.text)


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One dialogue of a script, in one language.

    ``gaps`` are the silences between ``turns``, in microseconds, None where the maker's default holds; so is ``after``.
    In ``user_interruption`` the last turn is the interruption.
    """

    dataset: str
    id: str
    task: str
    turns: tuple[Turn, ...]
    gaps: tuple[int | None, ...] = ()
    after: int | None = None
    voice: str = ""
    language: str = "en"
    answer: str = ""
    reply: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON."""
        return asdict(self)

    @property
    def pauses(self) -> int:
        """Return how many pauses all turns hold together."""
        return sum(len(turn.pauses) for turn in self.turns)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a script: the same dialogue in one language or several."""

    dataset: str
    id: str
    task: str
    dialogues: Mapping[str, Dialogue] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON."""
        return {language: dialogue.to_json() for language, dialogue in sorted(self.dialogues.items())}
