"""What goes to a judge and what comes back, whoever the judge is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from fullduplex.errors import JudgeError
from fullduplex.model.spec import Spec


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a judge: two texts, and what it hears if it can.

    ``system`` says how to judge, ``user`` what is judged; neither names the system that is judged. ``clips`` are
    audio files. ``schema`` is the JSON Schema of the answer, for providers that can hold a model to one; None
    where the rubric asks for free text. ``fields`` are the very parts that ``user`` is made of, for judges that
    compute instead of reading. ``seed``, ``temperature`` and ``limit`` (tokens of the reply) are asked for; a
    provider without one of them leaves it out.
    """

    system: str
    user: str
    clips: tuple[Path, ...] = ()
    schema: Mapping[str, Any] | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    rubric: str = ""
    seed: int | None = None
    temperature: float | None = None
    limit: int = 1024


@dataclass(frozen=True, slots=True)
class Reply:
    """What a judge answered, raw.

    ``model`` is the snapshot that answered, by its own account. ``usage`` counts tokens: ``input``, ``output``,
    and ``cached`` input where told. ``complete`` is False where the reply was cut at its limit. ``cost`` is in US
    dollars, None where no price is known.
    """

    text: str
    model: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)
    complete: bool = True
    cost: float | None = None


class Judge(Protocol):
    """Something that answers requests, from several threads at once."""

    @property
    def spec(self) -> Spec:
        """Return what exactly judges: provider, model, options; never a key."""
        ...

    @property
    def hears(self) -> bool:
        """Return whether clips reach the model."""
        ...

    @property
    def weakness(self) -> str:
        """Return what every table must say of this judge's worth, "" where nothing is known against it."""
        ...

    def ask(self, request: Request) -> Reply:
        """Return the reply. Raises :class:`Refused` or :class:`Unreachable`; never waits longer than its timeout."""
        ...

    def close(self) -> None:
        """Let connections go."""
        ...


class Refused(JudgeError):
    """The judge will not answer this: a policy, a key that is not accepted, a request it cannot take.

    ``for_all``: every further request would be refused too (a wrong key, no such model).
    """

    def __init__(self, text: str, *, for_all: bool = False) -> None:
        self.for_all = for_all
        super().__init__(text)


class Unreachable(JudgeError):
    """The judge did not answer: no connection, a time-out, a server's error, a rate limit.

    ``after`` is how many seconds the server asked to wait, None where it said nothing.
    """

    def __init__(self, text: str, *, after: float | None = None) -> None:
        self.after = after
        super().__init__(text)
