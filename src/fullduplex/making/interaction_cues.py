"""When the user of an interaction speaks: the rules by scenario, and the backchannels that a user gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.driving.cues import Due, after_reply, at, into_reply
from fullduplex.making.interaction_script import Scripted
from fullduplex.making.joining import Phrase as Placed
from fullduplex.making.script import Turn
from fullduplex.making.speaking import Said as SaidPhrase
from fullduplex.model.spans import SECOND, in_seconds, ms, seconds

#: The first words.
LEAD = ms(500)
#: The next turn comes once the system has been quiet for so long, or so long after the user's last words.
QUIET, HANDOVER = seconds(1.5), seconds(14)
#: A number that the system said is answered sooner: two people who count do not wait.
COUNTING = ms(500)
#: An interruption and the two backchannels come so long after the system was first heard to answer.
INTO, BACKCHANNELS_AT = seconds(3), (seconds(4), seconds(9))
#: The user hangs up after so much silence of both, or so long after the last words, whatever is still said.
HANG_UP = (seconds(4), seconds(14))
#: Where the answer alone counts, nobody is cut off: a system may think, and reason aloud.
UNHURRIED = (seconds(10), seconds(30))
CONTENT_ONLY = ("logic", "countdown")
#: The most that a talk may last.
CAP, LONG_CAP = seconds(120), seconds(600)
PROMPT = (
    "You are talking with one person, in English, by voice. Speak as people do when they talk, and say as much as you "
    "are asked for. Do as the person asks, also about when and how you speak."
)


@dataclass(frozen=True, slots=True)
class Timing:
    """What the maker's options set: the delay of an interruption into the reply, and what all systems are told."""

    into: int = INTO
    prompt: str = PROMPT

    def prompt_for(self, item: Scripted) -> str:
        """Return what the system is told: the item's own instruction, where it has one."""
        return item.instruction or self.prompt


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Said:
    """A cue as it sounds: audible from its first sample to its last; ``phrases`` are placed in it."""

    id: str
    label: str
    turn: Turn
    parts: tuple[SaidPhrase, ...]
    phrases: tuple[Placed, ...]
    samples: NDArray[np.float32]
    rate: int

    @property
    def duration(self) -> int:
        """Return the length in microseconds."""
        return len(self.samples) * SECOND // self.rate


@dataclass(frozen=True, slots=True)
class Backchannel:
    """What a listener says without wanting the floor: its name, and as it is spelt for a voice."""

    name: str
    spoken: str


#: The six that rotate over the items. A voice reads "mhm" as a hum, and "ok" by its letters, where it is not spelt out.
BACKCHANNELS = (
    Backchannel("ok", "Okay."),
    Backchannel("right", "Right."),
    Backchannel("mhm", "Mm-hmm."),
    Backchannel("yeah", "Yeah."),
    Backchannel("uh-huh", "Uh-huh."),
    Backchannel("I see", "I see."),
)


def backchannels(position: int) -> tuple[Backchannel, Backchannel]:
    """Return the two of an item, by its place in the set, from 0.

    They go on through the six from item to item, and one further after every third, so that each comes first
    as often as second: over 30 items, five times each.
    """
    first = 2 * position + position // 3
    return BACKCHANNELS[first % 6], BACKCHANNELS[(first + 1) % 6]


def due_of(item: Scripted, number: int, said: Sequence[Said], timing: Timing) -> Due:
    """Return when the cue ``number`` is released.

    The second backchannel is due counted from the same onset as the first: what a system that talks on is heard to
    say after the first one begins with the first one's end.
    """
    if number == 0:
        return at(LEAD)
    if said[number].id == "b0":
        return into_reply(BACKCHANNELS_AT[0])
    if said[number].id == "b1":
        first, second = BACKCHANNELS_AT
        return into_reply(max(0, second - first - said[number - 1].duration))
    if item.scenario == "interruption":
        return into_reply(timing.into)
    return after_reply(COUNTING if item.scenario == "alternating_count" else QUIET, HANDOVER)


def cues_json(item: Scripted, said: Sequence[Said], timing: Timing) -> dict[str, Any]:
    """Return what cues.json says of an item: its cues, what the system is told, and when the talk is over."""
    dues = [due_of(item, number, said, timing) for number in range(len(said))]
    quiet, patience = UNHURRIED if item.scenario in CONTENT_ONLY else HANG_UP
    if any(isinstance(due, after_reply) for due in dues):
        # A user who gave up at the moment at which the next turn is due would never say it.
        patience = max(patience, HANDOVER + SECOND)
    return {
        "schema": 1,
        "prompt": timing.prompt_for(item),
        "cues": [
            {"id": one.id, "audio": f"{one.id}.wav", "text": one.label, "due": due.to_json()}
            for one, due in zip(said, dues, strict=True)
        ],
        "hang_up": {"quiet": in_seconds(quiet), "patience": in_seconds(patience)},
        "cap": in_seconds(LONG_CAP if item.scenario == "groundedness" else CAP),
    }
