"""Take turn, Interrupt and Recover: whether a response with content begins when it should."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fullduplex.measures.actions.floor import interrupted
from fullduplex.measures.actions.ground import (
    FIRST,
    heard,
    listed,
    quoted,
    substance,
    too_soon,
    turn_start,
    weight,
)
from fullduplex.measures.actions.limits import Limits
from fullduplex.measures.exchange_ground import Heard, told
from fullduplex.measures.floor import Utterance
from fullduplex.model.spans import in_seconds
from fullduplex.model.trials import Absent, Fact, Trial

TAKE_TURN, INTERRUPT, RECOVER = "take_turn", "interrupt", "recover"
SLIGHT_OVERLAP, DELAYED = "slight_overlap", "delayed"


@dataclass(frozen=True, slots=True)
class Window:
    """When a response is to begin.

    From ``opens`` to ``closes``, both included; ``since``: what began earlier than this is no response to it.
    ``anchor`` is the moment that its lag runs from, and ``name`` what that is. ``at``: the user's turn, and what was
    heard.
    """

    at: Heard
    since: int
    opens: int
    closes: int
    anchor: int
    name: str


@dataclass(frozen=True, slots=True)
class Response:
    """What decided: the utterance (None: there was none), what is to be said of it, and whether it was in time."""

    said: Utterance | None
    in_time: bool
    why: str
    verdict: str = ""


def window(trial: Trial, action: str, condition: str, limits: Limits) -> Window | Absent:
    """Return when the response of an action is to begin.

    * ``take_turn``: from ``early`` before the turn's end to ``immediate_within`` after it, ``delayed_within`` where
      the condition is ``delayed``; from the mark ``entry`` on where it is ``slight_overlap``.
    * ``interrupt``: from ``breaks_in_before`` before the target point (the end of the mark ``target``, the word that
      makes it clear) and before the turn's end: what begins with it, or later, interrupts nobody.
    * ``recover``: from ``reply_lead`` before the interruption's end to ``recovers_within`` after it.

    Absent: ``failed``, ``no annotation``, ``never asked``, ``no output``; ``not exercised`` where nothing was
    interrupted (``recover``).
    """
    if action == RECOVER:
        met = interrupted(trial, limits)
        if isinstance(met, Absent):
            return met
        end = met.end
        opens, closes = max(met.start, end - limits.reply_lead), end + limits.recovers_within
        return Window(met.at, met.start, opens, closes, end, "the interruption's end")
    found = heard(trial, FIRST, limits)
    if isinstance(found, Absent):
        return found
    start, end = turn_start(trial, found.span), found.end
    if action == INTERRUPT:
        point = _marked(found, "target")
        if isinstance(point, Absent):
            return point
        return Window(found, start, point[1] - limits.breaks_in_before, end - 1, point[1], "the target point")
    opens = end - limits.early
    if condition == SLIGHT_OVERLAP:
        entry = _marked(found, "entry")
        if isinstance(entry, Absent):
            return entry
        opens = entry[0]
    within = limits.delayed_within if condition == DELAYED else limits.immediate_within
    return Window(found, start, opens, end + within, end, "the turn's end")


def candidates(trial: Trial, action: str, condition: str, limits: Limits) -> list[Utterance]:
    """Return the utterances of which one is the response, as far as length and words tell; each may be it.

    In order, up to the first that is substantive by rule, without those that are brief by rule.
    """
    when = window(trial, action, condition, limits)
    if isinstance(when, Absent):
        return []
    made: list[Utterance] = []
    for u in _heard_in(when):
        heavy = weight(u, limits)
        if heavy != "brief":
            made.append(u)
        if heavy == "substantive":
            break
    return made


def response(trial: Trial, action: str, condition: str, limits: Limits) -> Response | Absent:
    """Return the first substantive utterance that may be the response, and whether it is in time.

    It has to begin after the user began (what began before answers nothing) and before the user's next turn. One that
    began before the window opens and is still heard after the window's anchor (the turn's end, the target point, the
    interruption's end) is the response and came too early; what had ended by then is none, and is told.
    Absent: as :func:`window`, ``censored`` (none yet, and the recording ends before the window closes), and
    ``withdrawn`` (a person took away what a judge said of one).
    """
    when = window(trial, action, condition, limits)
    if isinstance(when, Absent):
        return when
    passed_over: list[Utterance] = []
    # Why one was passed over whose length and words did not tell: who said so, or which rule stood in.
    said_why: dict[str, None] = {}
    for u in _heard_in(when):
        found = substance(trial, u, limits)
        if isinstance(found, Absent):
            return found
        if not found.substantive:
            passed_over.append(u)
            if weight(u, limits) == "meaning":
                said_why[found.why] = None
            continue
        in_time = when.opens <= u.span.start <= when.closes
        lag = _lag(u.span.start - when.anchor, when.name)
        if in_time:
            why = f"{quoted(u)} begins {lag} ({found.why})"
        elif u.span.start < when.opens:
            why = f"began too early, {lag}: {quoted(u)}"
        else:
            why = f"too late, {lag}: {quoted(u)}"
        return Response(u, in_time, why + _besides(when, passed_over, said_why), found.verdict)
    cut = too_soon(when.at, when.closes)
    if cut is not None:
        return cut
    heard_is = f"{listed(passed_over)}{_because(said_why)}"
    return Response(None, False, f"no substantive response; heard: {heard_is}{_besides(when, (), ())}")


def responded(trial: Trial, action: str, condition: str, limits: Limits) -> Fact | Absent:
    """Return 1 if the :func:`response` begins in time, else 0. Absent: as there."""
    found = response(trial, action, condition, limits)
    if isinstance(found, Absent):
        return found
    when = window(trial, action, condition, limits)
    anchor = None if isinstance(when, Absent) else when.anchor
    at = anchor if found.said is None else found.said.span.start
    return Fact(int(found.in_time), at, found.why, found.verdict)


def response_lag(trial: Trial, action: str, condition: str, limits: Limits) -> Fact | Absent:
    """Return when the :func:`response` begins relative to the window's anchor, in seconds; negative before it.

    ``interrupt``: from the target point; ``recover``: from the interruption's end. Absent: as :func:`response`;
    ``not entered`` where it did not begin in time.
    """
    found, when = response(trial, action, condition, limits), window(trial, action, condition, limits)
    if isinstance(found, Absent):
        return found
    if isinstance(when, Absent):
        return when
    if found.said is None or not found.in_time:
        return Absent("not entered", found.why)
    lag = found.said.span.start - when.anchor
    return Fact(in_seconds(lag), found.said.span.start, _lag(lag, when.name), found.verdict)


def _heard_in(when: Window) -> Iterator[Utterance]:
    for u in when.at.said:
        follows = when.at.before is not None and u.span.start >= when.at.before
        if not follows and u.span.start >= when.since and not _had_ended(u, when):
            yield u


def _had_ended(u: Utterance, when: Window) -> bool:
    return u.span.start < when.opens and u.span.end <= when.anchor


def _besides(when: Window, passed_over: Sequence[Utterance], said_why: Iterable[str]) -> str:
    within = [u for u in when.at.said if when.since <= u.span.start and _had_ended(u, when)]
    earlier = f"; had spoken in the user's turn: {listed(within)}" if within else ""
    return (f"; no response: {listed(passed_over)}{_because(said_why)}" if passed_over else "") + earlier


def _because(said_why: Iterable[str]) -> str:
    told = "; ".join(said_why)
    return f" ({told})" if told else ""


def _marked(found: Heard, kind: str) -> tuple[int, int] | Absent:
    marks = found.scene.marked(kind)
    if not marks:
        return Absent("no annotation", f"nothing is marked as {kind}")
    span = marks[0].span
    if span is None:
        return Absent("never asked", "the talk ended before the point that is marked")
    return span.start, span.end


def _lag(lag: int, name: str) -> str:
    return f"{told(lag)} {'before' if lag < 0 else 'after'} {name}"
