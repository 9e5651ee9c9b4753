"""What a system declares of its sessions and its clock, held against talks with it: beyond the 26 cases.

The longest talk costs as long as it lasts, so it is tried only where somebody asks for it.
"""

from __future__ import annotations

import numpy as np

from fullduplex.driving.clock import Clock
from fullduplex.driving.drive import BrokenTalk, Talk, drive
from fullduplex.driving.link import Note, Said, System
from fullduplex.errors import ConversationError
from fullduplex.model.spans import in_seconds
from fullduplex.testing.stage import Failed, Measured, expect

#: The numbers under which both are told, behind those of the cases, and what they are called.
LIMIT, SAME = 27, 28
DECLARED = {LIMIT: "the longest talk that is declared", SAME: "the same talk twice on the virtual clock"}
#: The server may end a talk by this share of what is declared sooner or later (inclusive).
WITHIN = 0.05
_DO = "; what waits on another clock or draws without a seed must not declare it (virtual)"


async def ends_at_its_limit(system: System) -> Measured:
    """Return when the server ended a talk in which the user is silent, of the longest that is declared and 5 % more.

    Raises :class:`Failed` where that was earlier or later by more than :data:`WITHIN` of it, or the talk broke in
    another way: with the server's words.
    """
    longest = system.traits.longest
    declares, most = f"it declares {in_seconds(longest):g} s at most", round(longest * (1 + WITHIN))
    talk: Talk | None = None
    try:
        await drive(system, (), length=most)
    except BrokenTalk as error:
        talk, why = error.talk, str(error)
    except ConversationError as error:
        why = str(error)
    else:
        raise Failed(f"{declares}, and {in_seconds(most):g} s were held; declare more (longest), or no limit")
    if talk is None or talk.ended_by != "closed":
        raise Failed(why)
    off = abs(talk.duration - longest)
    expect(off <= WITHIN * longest, f"{declares}, and it ended earlier; declare that (longest): {why}")
    return {"declared_s": in_seconds(longest), "ended_s": round(in_seconds(talk.duration), 3)}


def the_same(one: Talk, other: Talk) -> Measured:
    """Return how much of two talks was compared; raises :class:`Failed` where something came at another time, or other.

    Compared are what was received and when, what was noted and when, when the talks ended, and the sound.
    """
    for what, a, b in (("sound", _received(one), _received(other)), ("notes", _noted(one), _noted(other))):
        if a != b:
            first = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
            came = " and ".join(_came(part, first) for part in (a, b))
            raise Failed(f"the {what} of two talks on it differ, from number {first + 1} on: {came}{_DO}")
    ends = " and ".join(f"{in_seconds(talk.duration):.4f} s" for talk in (one, other))
    expect(one.duration == other.duration, f"two talks on it ended after {ends}{_DO}")
    expect(np.array_equal(one.system, other.system), f"two talks on it sound different, though as much came{_DO}")
    return {"events": len(one.received) + len(one.notes), "ended_s": in_seconds(one.duration)}


def _came(part: list[tuple[int, str, str, int]], number: int) -> str:
    return f"at {in_seconds(part[number][0]):.4f} s" if number < len(part) else "never"


def _received(talk: Talk) -> list[tuple[int, str, str, int]]:
    """Return when each chunk or flush came, and which; the sound itself is compared as it is heard."""
    return [
        (e.arrived, type(e).__name__, str(getattr(e, "id", "")), len(getattr(e, "samples", ()))) for e in talk.received
    ]


def _noted(talk: Talk) -> list[tuple[int, str, str, int]]:
    """Return when each note came, its kind and its words; what it carries beside them may be of the moment."""
    return [
        (n.arrived, type(n).__name__, n.text if isinstance(n, Said) else n.kind if isinstance(n, Note) else "", 0)
        for n in talk.notes
    ]


def why_not_same(system: System, clock: Clock) -> str:
    """Return why two talks are not compared, empty where they are."""
    if "virtual" not in system.traits.clocks:
        return "it declares no virtual clock"
    return "" if clock == "virtual" else "needs --clock virtual"


__all__ = ["DECLARED", "LIMIT", "SAME", "ends_at_its_limit", "the_same", "why_not_same"]
