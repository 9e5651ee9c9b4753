"""Stop and Hold floor: what becomes of the system's speech when something is said over it."""

from __future__ import annotations

from dataclasses import dataclass

from fullduplex.measures.actions.ground import (
    event_turn,
    heard,
    is_brief,
    quoted,
    too_soon,
    turn_start,
)
from fullduplex.measures.actions.limits import Limits
from fullduplex.measures.exchange_ground import Heard, is_backchannel_turn, told
from fullduplex.measures.floor import Utterance
from fullduplex.measures.interaction import scene
from fullduplex.model.spans import Timeline, in_seconds
from fullduplex.model.trials import Absent, Fact, Trial


@dataclass(frozen=True, slots=True)
class Met:
    """The event that met the system speaking: its turn, when it began and ended, and the utterance that it met."""

    at: Heard
    start: int
    end: int
    holding: Utterance


def interrupted(trial: Trial, limits: Limits) -> Met | Absent:
    """Return the event, the user's second turn or a voice in the background, and the utterance that it met.

    It begins with its first sound (where its speech is marked ``ignored``, with the mark) and ends with its last word.
    Absent: ``not exercised`` (it never fell due, or the system was not speaking when it began: no utterance of it held
    that moment, though one had ended right before), ``failed``, ``no annotation``, ``no output``.
    """
    found = scene(trial)
    if isinstance(found, Absent):
        return found
    name = event_turn(found)
    if not name:
        return Absent("no annotation", "the interaction has no second turn")
    at = heard(trial, name, limits, unasked="not exercised")
    if isinstance(at, Absent):
        return at
    marks = [mark.span for mark in found.marked("ignored") if mark.turn == name and mark.span is not None]
    if marks:
        start, end = min(mark.start for mark in marks), max(mark.end for mark in marks)
    else:
        start, end = turn_start(trial, at.span), at.end
    holding = next((u for u in at.said if u.span.start < start < u.span.end), None)
    if holding is None:
        before = [u for u in at.said if u.span.end <= start]
        last = f"; it had last said {quoted(before[-1])}" if before else ""
        return Absent("not exercised", f"the system was not speaking at {in_seconds(start):.2f} s{last}")
    return Met(at, start, end, holding)


def stopped(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if the system, speaking when the interruption began, falls silent, else 0.

    The utterance that the interruption met ends at the latest ``stops_within`` after the interruption's end: it is
    followed by a silence longer than ``joined_within``. Speech that begins again before an answer may (``reply_lead``
    before the end), but for a brief token, fails: a pause between two sentences is no stop.
    Absent: as :func:`interrupted`; ``censored`` (the recording ends before either is known). Source: ours.
    """
    met = interrupted(trial, limits)
    if isinstance(met, Absent):
        return met
    stop, latest = met.holding.span.end, met.end + limits.stops_within
    lag = told(stop - met.start)
    if stop > latest:
        return Fact(0, met.start, f"talked on for {lag} after the interruption began: {quoted(met.holding)}")
    cut = too_soon(met.at, stop + limits.joined_within)
    if cut is not None:
        return cut
    again = next((u for u in met.at.said if _takes_it_back(u, met, limits)), None)
    if again is not None:
        return Fact(0, again.span.start, f"stopped {lag} after the interruption began, and spoke on: {quoted(again)}")
    return Fact(1, stop, f"fell silent {lag} after the interruption began")


def yield_latency(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return how long the interrupted speech went on after the interruption began, in seconds.

    Absent: as :func:`stopped`; ``not entered`` where it did not stop in time. Source: the publication's "yield
    latency"; where it is measured from and to is ours.
    """
    found, met = stopped(trial, limits), interrupted(trial, limits)
    if isinstance(found, Absent):
        return found
    if isinstance(met, Absent):
        return met
    if not found.value:
        return Absent("not entered", found.why)
    return Fact(in_seconds(met.holding.span.end - met.start), found.at, found.why)


def held(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if the system, speaking when the event began, goes on speaking, else 0.

    No silence longer than ``silence_over`` begins from the event's beginning to ``holds_until`` after its end, both
    included. Where no detector listened, silence is what lies between words.
    Absent: as :func:`interrupted`; ``censored`` (the recording ends before that is known). Source: ours.
    """
    met = interrupted(trial, limits)
    if isinstance(met, Absent):
        return met
    latest = met.end + limits.holds_until
    speech = trial.system.speech
    sounds = list(Timeline(w.span for u in met.at.said for w in u.words or ()) if speech is None else speech)
    for n, sound in enumerate(sounds):
        if not met.start <= sound.end <= latest:
            continue
        goes_on = sounds[n + 1].start if n + 1 < len(sounds) else None
        if goes_on is not None and goes_on - sound.end <= limits.silence_over:
            continue
        cut = None if goes_on is not None else too_soon(met.at, sound.end + limits.silence_over + 1)
        if cut is not None:
            return cut
        silent = "for good" if goes_on is None else f"for {told(goes_on - sound.end)}"
        return Fact(0, sound.end, f"fell silent {silent}, {told(sound.end - met.start)} after {_began(met)} began")
    return Fact(1, met.start, f"spoke on for at least {told(latest - met.start)} after {_began(met)} began")


def _takes_it_back(u: Utterance, met: Met, limits: Limits) -> bool:
    if is_brief(u, limits, at_most=limits.brief_words):
        return False
    return met.holding.span.end < u.span.start < met.end - limits.reply_lead


def _began(met: Met) -> str:
    return "speech not meant for it" if is_backchannel_turn(met.at.turn) else "the user's remark"
