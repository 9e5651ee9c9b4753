"""Where the user speaks while the partner does: interruptions, a user's backchannels, words for somebody else."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fullduplex.making.harvest.fdb.floor import Floor, Party, Turn, Utterance, only_listens
from fullduplex.making.harvest.fdb.places import (
    Finder,
    Place,
    around,
    can_be_said,
    is_measured,
    is_not_too_long,
    last_before,
    says_words_only,
)
from fullduplex.making.harvest.fdb.rules import ASIDE, INTERRUPT, USERS_TOKEN, FdbRules
from fullduplex.model.spans import Span


def turns_into_turns(floor: Floor, user: Party, partner: Party, rules: FdbRules) -> Iterator[Place]:
    """Yield every turn of the user's that begins inside a turn of the partner's.

    The item begins with the user's turn before, and ends with the interruption; then there is silence.
    """
    for turn in user.turns:
        over = _over(partner, turn.span.start)
        if over is not None:
            yield _place(INTERRUPT, floor, user, partner, turn, over, rules)


def tokens_into_turns(floor: Floor, user: Party, partner: Party, rules: FdbRules) -> Iterator[Place]:
    """Yield every brief turn of the user's that begins inside a turn of the partner's."""
    for turn in user.turns:
        over = _over(partner, turn.span.start)
        if turn.brief and over is not None:
            yield _place(USERS_TOKEN, floor, user, partner, turn, over, rules)


def asides_into_turns(floor: Floor, user: Party, partner: Party, rules: FdbRules) -> Iterator[Place]:
    """Yield what the user says to somebody else, as the corpus marks it, while the partner speaks."""
    for aside in user.side.asides:
        said = tuple(one for one in user.between(aside) if one.span.start >= aside.start)
        over = _over(partner, said[0].span.start) if said else None
        if over is not None:
            yield _place(ASIDE, floor, user, partner, Turn(said), over, rules)


def _over(party: Party, time: int) -> Turn | None:
    """Return the turn of more than a backchannel that ``time`` lies inside."""
    return next((one for one in party.turns if one.span.start < time < one.span.end and not one.brief), None)


def _place(task: str, floor: Floor, user: Party, partner: Party, turn: Turn, over: Turn, rules: FdbRules) -> Place:
    earlier = last_before(user.turns, min(over.span.start, turn.span.start))
    near = earlier is not None and over.span.start - earlier.span.end <= rules.context
    start = earlier.span.start if earlier is not None and near else min(over.span.start, turn.span.start)
    heard = around(user, partner, start, turn.span.end, rules)
    return Place(
        task, floor, user, partner, turn, heard, (turn.span,), rules.interrupted_after, over, earlier if near else None
    )


def _over_turn(place: Place) -> Turn:
    assert place.partner_turn is not None
    return place.partner_turn


def _no_backchannel(place: Place, rules: FdbRules) -> str:
    brief = all(one.brief for one in place.turn.said)
    return "it may be a backchannel" if brief or only_listens(place.floor, place.turn) else ""


def _is_token(place: Place, rules: FdbRules) -> str:
    return "it is no known token" if any(one.token is False for one in place.turn.said) else ""


def _has_the_floor(place: Place, rules: FdbRules) -> str:
    held = place.turn.span.start - _over_turn(place).span.start
    return "" if held in rules.floor else "the partner has hardly begun"


def _overlaps(place: Place, rules: FdbRules) -> str:
    shared = place.turn.span & _over_turn(place).span
    return "" if shared is not None and shared.duration in rules.overlap else "they hardly overlap"


def _goes_on(place: Place, rules: FdbRules) -> str:
    rest = _over_turn(place).span.end - place.turn.span.end
    return "" if rest in rules.goes_on else "the partner does not speak on"


def _answers(place: Place, rules: FdbRules) -> str:
    if not rules.answered:
        return ""
    if place.earlier is None:
        return "the user said nothing before that the partner may answer"
    return "" if place.earlier.span.end <= _over_turn(place).span.start else "the partner had spoken over the user"


def _once(place: Place, rules: FdbRules) -> str:
    """Keep it where the user says nothing else while the partner speaks, before the event."""
    before = Span(_over_turn(place).span.start, max(place.turn.span.start, _over_turn(place).span.start + 1))
    others: list[Utterance] = [one for one in place.user.between(before) if one not in place.turn.said]
    return "the user speaks over the partner before" if others else ""


_SHARED: tuple[tuple[str, Callable[[Place, FdbRules], str]], ...] = (
    ("the partner has the floor", _has_the_floor), ("the partner answers the user", _answers),
    ("nothing said over it before", _once), ("edges that were measured", is_measured),
    ("words that can be said", can_be_said), ("words only", says_words_only), ("not too long", is_not_too_long),
)  # fmt: skip
INTERRUPTIONS = Finder(
    INTERRUPT,
    turns_into_turns,
    (("no backchannel", _no_backchannel), ("an overlap of that length", _overlaps), *_SHARED),
)
USERS_TOKENS = Finder(
    USERS_TOKEN, tokens_into_turns, (("a known token", _is_token), ("the partner speaks on", _goes_on), *_SHARED)
)
ASIDES = Finder(ASIDE, asides_into_turns, (("an overlap of that length", _overlaps), *_SHARED))
