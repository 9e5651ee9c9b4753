"""When the user of an action item speaks, what the system is told, and when the talk is over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fullduplex.driving.cues import at, into_reply
from fullduplex.making.acting.script import ActionItem
from fullduplex.making.acting.sound import Cue
from fullduplex.making.interaction_cues import CAP, INTO, LEAD
from fullduplex.model.spans import in_seconds, seconds

#: The user hangs up after so much silence of both: longer than any response may take to begin, and a system may think.
QUIET = seconds(10)
#: Or so long after the user's last words, whatever is still said: time for all of an answer that matters.
PATIENCE = seconds(30)
#: What every system is told, then where the talk takes place. Nothing tells it when to speak: that is measured.
PROMPT = (
    "You are talking with one person, in English, by voice. Speak as people do when they talk, and say as much as you "
    "are asked for."
)
PLACES = {
    "": "",
    "casual": "It is a casual talk.",
    "meeting": "It is a meeting at work, in which you take part.",
    "interview": "It is an interview.",
    "customer_service": "It is a call to a customer service, and you serve the caller.",
}


@dataclass(frozen=True, slots=True)
class Asking:
    """What the maker's options set.

    ``into``: from the system's first sound to what is said over its answer, in microseconds. ``prompt`` replaces what
    every system is told, the setting included.
    """

    into: int = INTO
    prompt: str | None = None

    def prompt_for(self, item: ActionItem) -> str:
        """Return what the system is told."""
        return f"{PROMPT} {PLACES[item.setting]}".strip() if self.prompt is None else self.prompt


def cues_json(item: ActionItem, cues: Sequence[Cue], asking: Asking) -> dict[str, Any]:
    """Return what cues.json says: the first turn at once, and what is said over the answer so long into it."""
    dues = [at(LEAD) if n == 0 else into_reply(asking.into) for n in range(len(cues))]
    return {
        "schema": 1,
        "prompt": asking.prompt_for(item),
        "cues": [
            {"id": cue.id, "audio": f"{cue.id}.wav", "text": cue.text, "due": due.to_json()}
            for cue, due in zip(cues, dues, strict=True)
        ],
        "hang_up": {"quiet": in_seconds(QUIET), "patience": in_seconds(PATIENCE)},
        "cap": in_seconds(CAP),
    }
