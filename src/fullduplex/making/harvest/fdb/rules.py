"""What makes a place an item of Full-Duplex-Bench: frozen records of thresholds, by who published them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from fullduplex.errors import InputError
from fullduplex.making.harvest.fdb.edges import Range, length_of, range_of
from fullduplex.model.spans import in_seconds, ms, seconds

PAUSE, TURN, LISTEN, INTERRUPT = "pause_handling", "smooth_turn_taking", "backchannel", "user_interruption"
USERS_TOKEN, ASIDE = "user_backchannel", "talking_to_other"
V10 = (PAUSE, TURN, LISTEN, INTERRUPT)
V15 = (INTERRUPT, USERS_TOKEN, ASIDE)
#: Raised when the same corpus and rules would give other items.
VERSION = 2
#: What the partner may do while the user holds the floor.
SILENT, BRIEF = "silent", "brief"
_CHOICES = {
    "release": ("1.0", "1.5"),
    "system": ("each", "told"),
    "pause_partner": (SILENT, BRIEF),
    "gap_partner": (SILENT, BRIEF),
}
_COUNTS = ("brief_words", "cap")


@dataclass(frozen=True, slots=True)
class FdbRules:
    """Thresholds; the user is who is heard in input.wav, the partner the other, whom a system replaces.

    ``release``: the layout, 1.0 or 1.5. ``tasks``: what is looked for. ``system``: ``each`` side in turn is the
    partner, or only the one that is ``told`` (``--system-side``).

    Turns: a silence in ``sentence_gap`` between two words begins a new utterance; one in ``turn_gap`` lies inside a
    turn, unless ``parted``, and the other says in it what is no backchannel. ``brief``, ``brief_words``: a backchannel
    lasts so long, and has at most so many words or nothing but tokens of the language's list.

    ``pause_handling``: ``pause`` lasts so long, in a turn of ``pause_turn``, in which the partner is ``pause_partner``
    (``silent``, or says only what is ``brief``, and nothing in the pause); ``pause_beside``: what is said beside the
    pause is no backchannel. ``smooth_turn_taking``: the next turn begins ``gap`` later, both turns last ``gap_turn``,
    the partner is ``gap_partner`` in the first; ``gap_after`` of silence is appended. ``backchannel``: the user's turn
    lasts ``listened``. ``user_interruption``: the user's turn begins when the partner's has lasted ``floor`` and lasts
    ``overlap`` longer; ``answered``: the turn before it is the user's too, at most ``context`` before; silence of
    ``interrupted_after`` is appended. Release 1.5 too: the partner speaks on for ``goes_on`` after a user's brief
    utterance. All: ``lead`` of the recording is kept around what is cut out, which lasts ``longest`` at most; the best
    ``cap`` of each task are taken (0: all).
    """

    release: str
    tasks: tuple[str, ...]
    system: str
    sentence_gap: Range
    turn_gap: Range
    parted: bool
    brief: Range
    brief_words: int
    pause: Range
    pause_turn: Range
    pause_partner: str
    pause_beside: bool
    gap: Range
    gap_turn: Range
    gap_partner: str
    gap_after: int
    listened: Range
    floor: Range
    overlap: Range
    answered: bool
    context: int
    interrupted_after: int
    goes_on: Range
    lead: int
    longest: int
    cap: int

    def to_json(self) -> dict[str, Any]:
        """Return the rules by name, times in decimal seconds."""
        return {field.name: _told(field.name, getattr(self, field.name)) for field in fields(self)}


def _told(name: str, value: Any) -> Any:
    if isinstance(value, Range):
        return value.to_json()
    if isinstance(value, tuple):
        return list(value)
    return (
        in_seconds(value) if isinstance(value, int) and not isinstance(value, bool) and name not in _COUNTS else value
    )


_V10 = FdbRules(
    release="1.0",
    tasks=V10,
    system="each",
    sentence_gap=Range(more_than=ms(200)),
    turn_gap=Range(at_most=seconds(1)),
    parted=True,
    brief=Range(less_than=seconds(1)),
    brief_words=1,
    pause=Range(at_least=ms(400), at_most=seconds(1)),
    pause_turn=Range(at_least=seconds(5)),
    pause_partner=SILENT,
    pause_beside=True,
    gap=Range(less_than=ms(400)),
    gap_turn=Range(more_than=seconds(4)),
    gap_partner=SILENT,
    gap_after=seconds(5),
    listened=Range(at_least=seconds(5)),
    floor=Range(at_least=seconds(1)),
    overlap=Range(more_than=0),
    answered=True,
    context=seconds(30),
    interrupted_after=seconds(15),
    goes_on=Range(at_least=seconds(1)),
    lead=ms(150),
    longest=seconds(90),
    cap=150,
)
_FRENCH = replace(
    _V10,
    turn_gap=Range(at_most=seconds(2)),
    brief_words=2,
    pause=Range(more_than=ms(700)),
    pause_turn=Range(),
    pause_beside=False,
    gap=Range(less_than=seconds(1)),
    gap_turn=Range(),
    listened=Range(at_least=seconds(2)),
    floor=Range(more_than=0),
)
#: Of note: v1.0 takes its backchannels from another corpus and synthesises its interruptions; those two are ours there.
FDB_RULES: Mapping[str, FdbRules] = {
    "fdb-1.0": _V10,
    "french-callfc": _FRENCH,
    "french-media": replace(_FRENCH, tasks=(PAUSE, TURN, INTERRUPT), system="told"),
    "fdb-1.5": replace(
        _V10, release="1.5", tasks=V15, brief_words=2, overlap=Range(at_least=ms(300)), interrupted_after=seconds(10)
    ),
}


def checked(rules: FdbRules, path: Path) -> FdbRules:
    """Return rules that a file told; raises :class:`InputError` where its release has no such task."""
    allowed = V10 if rules.release == "1.0" else V15
    if odd := [task for task in rules.tasks if task not in allowed]:
        raise InputError(path, "tasks", found=odd[0], expected=f"tasks of {rules.release}: {', '.join(allowed)}")
    return rules


def read_value(name: str, value: Any, like: Any) -> Any:
    """Return the value of a key as a file tells it, of the kind that ``like`` is.

    Lengths are decimal seconds, ranges tables such as ``{ at_least = 0.4, at_most = 1.0 }``. Raises ValueError, which
    says what is expected.
    """
    if isinstance(like, Range):
        if not isinstance(value, dict):
            raise ValueError("a table of edges, such as { at_least = 0.4, at_most = 1.0 }")
        return range_of(value)
    if isinstance(like, tuple):
        if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
            raise ValueError("a list of tasks")
        return tuple(dict.fromkeys(value))
    if isinstance(like, bool):
        if not isinstance(value, bool):
            raise ValueError("true or false")
        return value
    if isinstance(like, str):
        if value not in _CHOICES[name]:
            raise ValueError(" or ".join(_CHOICES[name]))
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e5:
        raise ValueError("a number that is not negative")
    if name in _COUNTS:
        if not isinstance(value, int):
            raise ValueError("a whole number")
        return value
    return length_of(value)
