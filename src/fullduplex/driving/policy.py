"""When a simulated user speaks, and what its language model is told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from fullduplex.data.files import read_text_file
from fullduplex.driving.personas import Persona
from fullduplex.errors import InputError
from fullduplex.model.spans import in_seconds, ms, seconds

#: The instructions in force; another wording is another file.
PROMPT = Path(__file__).with_name("simulated_1.txt")


@dataclass(frozen=True, slots=True)
class Policy:
    """When a simulated user speaks; times in microseconds. The limits are ours.

    It decides every ``tick``. The user speaks first, ``opening`` after the beginning, where that is not None and
    the system has not begun; else, and later, once the system has replied and neither was heard for the persona's
    ``patience``, or nobody for ``unanswered``. An interruption begins to be written a time drawn from
    ``interrupt_after`` into the reply, by the persona's probability, or as soon as the system has reported one of
    ``interrupt_on``. Once the system has spoken for ``backchannel_after``, a silence of ``pause`` may get one of
    ``backchannels``. The user falls silent when the system has sounded for ``yields_after``
    over their words (None: never). The talk is over after ``turns`` turns or when the model writes ``end_mark``.
    """

    tick: int = ms(200)
    opening: int | None = ms(500)
    unanswered: int = seconds(5)
    interrupt_after: tuple[int, int] = (ms(800), ms(2_500))
    interrupt_on: tuple[str, ...] = ()
    backchannel_after: int = seconds(2)
    pause: int = ms(200)
    backchannels: tuple[str, ...] = ("Mm-hm.", "Right.", "Okay.")
    yields_after: int | None = seconds(1)
    turns: int = 8
    words: int = 30
    tokens: int = 60
    end_mark: str = "[END]"
    language: str = "English"

    def __post_init__(self) -> None:
        for name in ("tick", "turns", "words", "tokens"):
            if getattr(self, name) < 1:
                raise InputError("policy", name, found=getattr(self, name), expected="above 0")
        if not 0 <= self.interrupt_after[0] <= self.interrupt_after[1]:
            raise InputError("policy", "interrupt_after", found=self.interrupt_after, expected="two times in order")

    def to_json(self) -> dict[str, Any]:
        """Return the policy, times in decimal seconds."""
        told: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        for name in ("tick", "opening", "unanswered", "backchannel_after", "pause", "yields_after"):
            told[name] = None if told[name] is None else in_seconds(told[name])
        told["interrupt_after"] = [in_seconds(time) for time in self.interrupt_after]
        return told | {"interrupt_on": list(self.interrupt_on), "backchannels": list(self.backchannels)}


@dataclass(frozen=True, slots=True)
class Declared:
    """How long writing, speaking and hearing take on the step-algorithmic clock, in microseconds."""

    model: int = ms(500)
    voice: int = ms(200)
    hearing: int = ms(200)


#: The policy and the times unless others are given.
POLICY, DECLARED = Policy(), Declared()


def instructions(prompt: Path, persona: Persona, goal: str, policy: Policy) -> str:
    """Return the text of ``prompt`` with the persona, the goal and the policy's limits in their places.

    The places are ``$name``, ``$style``, ``$goal``, ``$language``, ``$words`` and ``$end``; what is put in them is
    not read for places again. Raises :class:`InputError` where the file asks for something else.
    """
    given = {
        "name": persona.name,
        "style": persona.style,
        "goal": goal,
        "language": policy.language,
        "words": policy.words,
        "end": policy.end_mark,
    }
    try:
        return Template(read_text_file(prompt)).substitute(given)
    except (KeyError, ValueError) as error:
        raise InputError(prompt, found=str(error), expected=", ".join(f"${name}" for name in given)) from error
