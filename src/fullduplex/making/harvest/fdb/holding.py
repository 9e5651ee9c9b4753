"""Where the user holds the floor, or gives it up: pauses, turns that are answered, turns that are listened to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from fullduplex.making.harvest.fdb.floor import Floor, Party, Turn, only_listens
from fullduplex.making.harvest.fdb.places import (
    Finder,
    Place,
    around,
    can_be_said,
    is_measured,
    is_not_too_long,
    makes_a_sound,
    partner_keeps,
    quiet_runs,
    says_words_only,
)
from fullduplex.making.harvest.fdb.rules import BRIEF, LISTEN, PAUSE, TURN, FdbRules
from fullduplex.model.spans import Span


def turns_with_silences(floor: Floor, user: Party, partner: Party, rules: FdbRules) -> Iterator[Place]:
    """Yield every turn of the user's that holds a silence as long as a pause, or longer; the turn is the item.

    Of a turn that the partner speaks into, the parts are taken in which only the user speaks.
    """
    for turn in _runs(user, partner, rules.pause_partner):
        if any(silence.duration >= rules.pause.least for _, silence, _ in turn.silences):
            heard = around(user, partner, turn.span.start, turn.span.end, rules)
            yield Place(PAUSE, floor, user, partner, turn, heard, tuple(_pauses(turn, partner, rules)))


def _runs(user: Party, partner: Party, how: str) -> Iterator[Turn]:
    for turn in user.turns:
        yield from quiet_runs(turn, partner, how)


def _pauses(turn: Turn, partner: Party, rules: FdbRules) -> Iterator[Span]:
    for before, silence, after in turn.silences:
        beside = rules.pause_beside and (before.brief or after.brief)
        if silence.duration in rules.pause and not beside and not _sounds_in(partner, silence):
            yield silence


def _sounds_in(partner: Party, silence: Span) -> bool:
    """Tell whether a partner says something in a pause, or makes a sound of which nobody knows what it is."""
    return bool(partner.between(silence)) or makes_a_sound(partner, silence)


def _pause_in_range(place: Place, rules: FdbRules) -> str:
    lengths = [silence.duration for _, silence, _ in place.turn.silences]
    if not any(length in rules.pause for length in lengths):
        return "its silences are longer"
    # With more of them in an item, where a system speaks would be a matter of the others.
    return "" if all(length <= rules.pause.most for length in lengths) else "a silence of it is longer"


def _pause_turn(place: Place, rules: FdbRules) -> str:
    return "" if place.turn.span.duration in rules.pause_turn else "the turn is short"


def _pause_alone(place: Place, rules: FdbRules) -> str:
    if why := partner_keeps(place.partner, place.heard, rules.pause_partner):
        return why
    silences = [silence for _, silence, _ in place.turn.silences if silence.duration in rules.pause]
    if all(place.partner.between(one) for one in silences):
        return "the partner speaks in the pause"
    unknown = all(_sounds_in(place.partner, one) for one in silences)
    return "the partner makes a sound in the pause that is no word" if unknown else ""


def _pause_beside(place: Place, rules: FdbRules) -> str:
    return "" if place.events else "what is said beside the pause may be a backchannel"


def turns_in_a_row(floor: Floor, user: Party, partner: Party, rules: FdbRules) -> Iterator[Place]:
    """Yield every turn of the user's that a turn of the partner's follows: the user's turn, then silence, is the item.

    What is said inside the other's turn, and may be a backchannel, is no turn here.
    """
    inside = {
        id(one)
        for mine, other in ((user, partner), (partner, user))
        for one in mine.turns
        if one.brief and any(t.span.start <= one.span.start and one.span.end <= t.span.end for t in _near(other, one))
    }
    row = [(turn, mine) for mine in (user, partner) for turn in mine.turns if id(turn) not in inside]
    row.sort(key=lambda one: one[0].span)
    for (turn, whose), (answer, whose_next) in pairwise(row):
        if whose is user and whose_next is partner:
            end = turn.span.end
            alone = list(quiet_runs(turn, partner, rules.gap_partner))
            # With a partner who speaks into the turn, what is said after that is the turn that is answered.
            turn = alone[-1] if alone and alone[-1].said[-1] is turn.said[-1] else turn
            heard = around(user, partner, turn.span.start, end, rules)
            # The second time of the file is the answer's start, which may not come before the first.
            event = Span(end, max(answer.span.start, end + 1))
            yield Place(TURN, floor, user, partner, turn, heard, (event,), rules.gap_after, answer)


def _near(party: Party, turn: Turn) -> Iterator[Turn]:
    for one in party.turns:
        if one.span.start > turn.span.start:
            return
        if one.span.end >= turn.span.end:
            yield one


def _answer(place: Place) -> Turn:
    assert place.partner_turn is not None
    return place.partner_turn


def _no_overlap(place: Place, rules: FdbRules) -> str:
    return "" if _answer(place).span.start >= place.turn.span.end else "the answer begins before the turn's end"


def _gap(place: Place, rules: FdbRules) -> str:
    gap = _answer(place).span.start - place.turn.span.end
    return "" if gap in rules.gap else "the gap is longer" if gap > rules.gap.most else "the gap is shorter"


def _both_turns(place: Place, rules: FdbRules) -> str:
    if place.turn.span.duration not in rules.gap_turn:
        return "the first turn is short"
    return "" if _answer(place).span.duration in rules.gap_turn else "the answer is short"


def _no_backchannel(place: Place, rules: FdbRules) -> str:
    if only_listens(place.floor, place.turn):
        return "the first turn may be a backchannel"
    return "the answer may be a backchannel" if only_listens(place.floor, _answer(place)) else ""


def _gap_alone(place: Place, rules: FdbRules) -> str:
    if why := partner_keeps(place.partner, place.turn.span, rules.gap_partner):
        return why
    gap = place.events[0]
    sounds = any(makes_a_sound(party, gap) for party in (place.user, place.partner))
    return "somebody makes a sound in the gap that is no word" if sounds else ""


def turns_listened_to(floor: Floor, user: Party, partner: Party, rules: FdbRules) -> Iterator[Place]:
    """Yield every turn of the user's in which the partner begins to say something brief: the turn is the item.

    Of a turn that the partner speaks into, the parts are taken in which the partner says nothing more than that.
    """
    for turn in _runs(user, partner, BRIEF):
        said = [one for one in partner.between(turn.span) if one.span.start > turn.span.start]
        if said and not turn.brief:
            heard = around(user, partner, turn.span.start, turn.span.end, rules)
            events = tuple(part for one in said if (part := one.span & heard))
            yield Place(LISTEN, floor, user, partner, turn, heard, events)


def _listened(place: Place, rules: FdbRules) -> str:
    return "" if place.turn.span.duration in rules.listened else "the turn is short"


def _only_listens(place: Place, rules: FdbRules) -> str:
    said = place.partner.between(place.turn.span)
    if any(not one.brief for one in said):
        return "the partner says more than a backchannel"
    return "the partner speaks when it begins" if any(one.span.start <= place.turn.span.start for one in said) else ""


def _known_tokens(place: Place, rules: FdbRules) -> str:
    """Keep what the language's list knows; where no words are known, the length alone has to do."""
    unknown = any(one.token is False for one in place.partner.between(place.turn.span))
    return "what the partner says is no known token" if unknown else ""


PAUSES = Finder(
    PAUSE, turns_with_silences,
    (("a pause of that length", _pause_in_range), ("a turn of that length", _pause_turn),
     ("the partner waits", _pause_alone), ("no backchannel beside it", _pause_beside),
     ("words that can be said", can_be_said), ("words only", says_words_only), ("not too long", is_not_too_long)),
)  # fmt: skip
ANSWERS = Finder(
    TURN, turns_in_a_row,
    (("no backchannel", _no_backchannel), ("no overlap", _no_overlap), ("a gap of that length", _gap),
     ("turns of that length", _both_turns), ("the partner waits", _gap_alone),
     ("edges that were measured", is_measured), ("words that can be said", can_be_said),
     ("words only", says_words_only), ("not too long", is_not_too_long)),
)  # fmt: skip
LISTENERS = Finder(
    LISTEN, turns_listened_to,
    (("a turn of that length", _listened), ("the partner listens", _only_listens), ("known tokens", _known_tokens),
     ("words that can be said", can_be_said), ("words only", says_words_only), ("not too long", is_not_too_long)),
)  # fmt: skip
