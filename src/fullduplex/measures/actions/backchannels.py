"""Backchannel: whether a brief token is heard where a listener gives one, and whether the floor stays the user's."""

from __future__ import annotations

from dataclasses import dataclass

from fullduplex.measures.actions.ground import (
    FIRST,
    heard,
    is_brief,
    listed,
    quoted,
    too_soon,
    turn_start,
)
from fullduplex.measures.actions.limits import Limits
from fullduplex.measures.exchange_ground import Heard
from fullduplex.measures.floor import Utterance
from fullduplex.model.trials import Absent, Fact, Trial


@dataclass(frozen=True, slots=True)
class Listening:
    """What was heard while the user held the floor: the token (None: there is none), and what took the floor."""

    at: Heard
    tokens: tuple[Utterance, ...]
    taken: Utterance | None
    others: tuple[Utterance, ...]


def listening(trial: Trial, limits: Limits) -> Listening | Absent:
    """Return the tokens that begin where one belongs, and the first utterance that takes the floor.

    A token lasts less than ``substantive_from`` and has at most ``brief_words`` words. It begins from ``token_before``
    before a mark ``backchannel`` to ``token_after`` after its end, both included, and before the turn's end. What is no
    token takes the floor if it begins within the turn and earlier than ``early`` before its end, or began before the
    turn and is heard longer than ``greeting`` into it.
    Absent: ``failed``, ``no annotation``, ``never asked``, ``no output``.
    """
    found = heard(trial, FIRST, limits)
    if isinstance(found, Absent):
        return found
    marks = found.scene.marked("backchannel")
    if not marks:
        return Absent("no annotation", "no place for a backchannel is marked")
    spans = [mark.span for mark in marks if mark.span is not None]
    if len(spans) < len(marks):
        return Absent("never asked", "the talk ended before the place of the backchannel")
    start, end = turn_start(trial, found.span), found.end
    tokens, others = list[Utterance](), list[Utterance]()
    taken: Utterance | None = None
    for u in found.said:
        onset = u.span.start
        if is_brief(u, limits, at_most=limits.brief_words):
            if not start <= onset < end:
                continue
            fits = any(s.start - limits.token_before <= onset <= s.end + limits.token_after for s in spans)
            (tokens if fits else others).append(u)
            continue
        within = start <= onset < end - limits.early
        before = onset < start and u.span.end > start + limits.greeting
        if taken is None and (within or before):
            taken = u
    return Listening(found, tuple(tokens), taken, tuple(others))


def backchannelled(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if a brief token is heard where one belongs and the system does not take the floor, else 0.

    What the token says, and in which tone, decides nothing here: that is followed through.
    Absent: as :func:`listening`; ``censored`` (the recording ends before the turn does). Source: ours.
    """
    found = listening(trial, limits)
    if isinstance(found, Absent):
        return found
    if found.taken is not None:
        return Fact(0, found.taken.span.start, f"took the floor: {quoted(found.taken)}")
    cut = too_soon(found.at, found.at.end)
    if cut is not None:
        return cut
    if not found.tokens:
        spans = [mark.span for mark in found.at.scene.marked("backchannel") if mark.span is not None]
        return Fact(0, spans[0].start, f"no brief token where one belongs; heard in the turn: {listed(found.others)}")
    return Fact(1, found.tokens[0].span.start, f"a brief token: {quoted(found.tokens[0])}")
