"""A server that holds a session for so long and no longer: what that leaves of an item's talk."""

from __future__ import annotations

from fullduplex.driving.link import System
from fullduplex.driving.talk import BrokenTalk, HangUp, Talk
from fullduplex.model.spans import in_seconds, ms

#: A talk is ended this long before its server would end it.
BEFORE = ms(500)


class TooLong(BrokenTalk):
    """A talk that no session of the system is long enough for: another attempt would end alike."""

    def __reduce__(self) -> tuple[object, ...]:
        return (TooLong, (str(self),))


def within(length: int, system: System, hang_up: HangUp | None) -> int:
    """Return how long a talk with ``system`` may last that may last ``length`` (microseconds).

    One that ends by the user's hang-up is given the session's length, since it may end before; one whose
    length is stated has to fit. Raises :class:`TooLong` where it does not.
    """
    longest = system.traits.longest
    if not longest or length + BEFORE <= longest:
        return length
    if hang_up is None or longest <= BEFORE:
        raise TooLong(
            f"{system.spec.name}: the talk lasts {in_seconds(length):g} s, and its sessions at most "
            f"{in_seconds(longest):g} s"
        )
    return longest - BEFORE


def whole(talk: Talk, system: System, length: int) -> None:
    """Raise :class:`TooLong` where the end of the session, and not the user, ended ``talk`` before all was said."""
    cut = [turn for turn in talk.turns if turn.span is None or turn.span.end >= talk.duration]
    if talk.ended_by == "cap" and cut:
        raise TooLong(
            f"{system.spec.name}: its sessions last {in_seconds(system.traits.longest):g} s at most, and after "
            f"{in_seconds(talk.duration):g} s the user had not said everything; the item allows "
            f"{in_seconds(length):g} s",
            talk,
        )


__all__ = ["BEFORE", "TooLong", "whole", "within"]
