"""A place in a conversation that may become an item, and the checks that every task shares."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from fullduplex.making.harvest.fdb.floor import Floor, Party, Turn, Utterance
from fullduplex.making.harvest.fdb.rules import BRIEF, SILENT, FdbRules
from fullduplex.model.spans import Span, Timeline, ms

#: Where turns were cut, an overlap or a gap shorter than this is the transcriber's mark. Ours: of the 558 transfers of
#: CALLFRIEND's French call 547 lie within 30 ms of 0, and 6 beyond 50 ms.
CUT_WITHIN = ms(50)


@dataclass(frozen=True, slots=True)
class Place:
    """What the user of an item says, and what is judged in it, on the conversation's clock.

    ``heard`` is cut out of the user's channel; ``after``, in microseconds, is silence that is put behind it, while the
    partner's channel goes on. ``events`` are what the task's file tells. ``turn`` is the user's turn that the item is
    about, ``partner_turn`` the partner's that belongs to it, ``earlier`` the user's turn before.
    """

    task: str
    floor: Floor
    user: Party
    partner: Party
    turn: Turn
    heard: Span
    events: tuple[Span, ...] = ()
    after: int = 0
    partner_turn: Turn | None = None
    earlier: Turn | None = None

    @property
    def clip(self) -> Span:
        """Return all of the item's time."""
        return Span(self.heard.start, self.heard.end + self.after)

    @property
    def name(self) -> tuple[str, int, int]:
        """Return what names the place among all of its task: conversation, the user's side, start."""
        return self.floor.name, self.user.number, self.heard.start


#: Returns why a place is dropped, "" where it is kept.
Check = Callable[[Place, FdbRules], str]


@dataclass(frozen=True, slots=True)
class Finder:
    """How places of a task are found, and the named checks that they have to pass, in this order."""

    task: str
    places: Callable[[Floor, Party, Party, FdbRules], Iterator[Place]]
    checks: tuple[tuple[str, Check], ...]


def around(user: Party, partner: Party, start: int, end: int, rules: FdbRules) -> Span:
    """Return what is cut out: with ``lead`` around it, but no more than half of the user's silence beside it.

    Nor does it reach into what the partner says before or after it: that would be heard as an answer.
    """
    first, last = start - rules.lead, end + rules.lead
    first = max(first, start - (start - _ended(user, start)) // 2, _ended(partner, start))
    begins = _begins(user, end)
    last = min(last, last if begins is None else end + (begins - end) // 2, _begins(partner, end) or last)
    return Span(max(0, first), last)


def _ended(party: Party, time: int) -> int:
    """Return when the side last ended something by ``time``, 0 where it did not."""
    n = bisect_right(party.said, time, key=lambda one: one.span.end)
    return party.said[n - 1].span.end if n else 0


def _begins(party: Party, time: int) -> int | None:
    """Return when the side next begins something at ``time`` or later, None where it does not."""
    n = bisect_left(party.said, time, key=lambda one: one.span.start)
    return party.said[n].span.start if n < len(party.said) else None


def sounds(party: Party) -> Timeline:
    """Return when a side says something."""
    return Timeline(one.span for one in party.said)


def partner_keeps(party: Party, span: Span, how: str) -> str:
    """Return why a partner's doings in ``span`` are too much, "" where it is silent, or at most brief."""
    said = party.between(span)
    if how == SILENT and said:
        return "the partner speaks too"
    return "the partner says more than a backchannel" if how == BRIEF and any(not one.brief for one in said) else ""


def quiet_runs(turn: Turn, partner: Party, how: str) -> Iterator[Turn]:
    """Yield the longest runs of a turn's utterances in which the partner keeps to ``how``: only one of them speaks.

    What the partner speaks over is in none of them.
    """
    run = list[Utterance]()
    for one in turn.said:
        since = Span(run[-1].span.end if run else one.span.start, one.span.end)
        if run and partner_keeps(partner, since, how):
            yield Turn(tuple(run))
            run = []
        if not partner_keeps(partner, one.span, how):
            run.append(one)
    if run:
        yield Turn(tuple(run))


def is_not_too_long(place: Place, rules: FdbRules) -> str:
    """Keep what lasts the longest that is taken, or less."""
    return "it is too long" if place.heard.duration > rules.longest else ""


def is_measured(place: Place, rules: FdbRules) -> str:
    """Keep what begins clearly before or after the other's end, where the transcript's turns were cut.

    Where a transcriber set one mark for two edges, the time that both sound from the turn's first sound on, or the time
    between the turns, is shorter than :data:`CUT_WITHIN`: then neither an overlap nor a gap was measured.
    """
    if not place.floor.cut:
        return ""
    assert place.partner_turn is not None
    first = place.turn.said[0].span
    over = [part for one in place.partner_turn.said if one.span.start <= first.start and (part := one.span & first)]
    gap = place.partner_turn.span.start - place.turn.span.end
    apart = max([gap, *(part.duration for part in over)])
    return "" if apart >= CUT_WITHIN else "its edge was cut, not measured"


def makes_a_sound(party: Party, span: Span) -> bool:
    """Tell whether a side laughs, coughs or says what is not known in ``span``, as the corpus marks it."""
    return bool(party.side.sounds.within(span))


def can_be_said(place: Place, rules: FdbRules) -> str:
    """Keep what has no words, on either side, that nobody can say in the time that they are given."""
    heard = (place.user, place.heard), (place.partner, place.heard)
    return "its words cannot have been said so fast" if any(p.squeezed.within(span) for p, span in heard) else ""


def says_words_only(place: Place, rules: FdbRules) -> str:
    """Keep what holds no laughter, cough or aside of the user's that the corpus marks."""
    side = place.user.side
    if place.task != "talking_to_other" and side.asides.within(place.heard):
        return "the user talks to somebody else"
    return "the user laughs or makes a sound that is no word" if side.sounds.within(place.heard) else ""


def last_before(turns: Sequence[Turn], time: int) -> Turn | None:
    """Return the last turn of more than a backchannel that begins before ``time``."""
    return next((one for one in reversed(turns) if one.span.start < time and not one.brief), None)
