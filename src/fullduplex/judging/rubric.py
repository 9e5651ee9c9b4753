"""A rubric: how to judge, what is shown, and what an answer is. Rubrics are text files with a version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from fullduplex.model.spec import digest


@dataclass(frozen=True, slots=True)
class Scale:
    """Answers that are whole numbers from ``low`` to ``high``, both included."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Labels:
    """Answers that are one of some names, in the rubric's order."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rubric:
    """How to judge one thing.

    ``verdict`` names what is found (``rating``, ``behaviour``), ``user`` is a template with ``{name}`` for each of
    ``fields``. ``key`` is the member of the JSON answer that holds it. ``reads`` names the parser: ``json`` is ours,
    the others are those of released scripts. ``hears``: the clip belongs to what is judged. ``settings`` may hold
    ``temperature``, ``seed`` and ``seed_step`` (added to the seed at each retry). ``origin`` says whose words it is.
    """

    name: str
    version: str
    verdict: str
    system: str
    user: str
    fields: tuple[str, ...]
    answer: Scale | Labels
    key: str
    reads: Literal["json", "released-rating", "released-behaviour"] = "json"
    hears: bool = False
    settings: Mapping[str, float] = field(default_factory=dict)
    origin: str = "fullduplex"

    @property
    def digest(self) -> str:
        """Return the digest that its verdicts carry: of every word that a judge sees, and of the settings."""
        answer: Any = (
            list(self.answer.names) if isinstance(self.answer, Labels) else [self.answer.low, self.answer.high]
        )
        return digest(
            [self.system, self.user, list(self.fields), answer, self.key, self.reads, self.hears, dict(self.settings)]
        )


@dataclass(frozen=True, slots=True)
class Read:
    """What a reply says: the value (a number of the scale or a label), and the judge's reason."""

    value: float | str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A reply that holds no answer, and why."""

    why: str
