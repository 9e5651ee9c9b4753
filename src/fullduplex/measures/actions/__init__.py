"""The eight actions of DuplexAct, under one name: what succeeds at once (I), what follows (S), and what is timed (T).

* I: :func:`immediate`; S: :func:`follow_through`, given I; T: :func:`timing`, given I
* judged: :func:`unsure` (does an utterance say anything), :func:`to_judge` (does a reply fit), :func:`token` (in which
  tone is a backchannel given)

Every threshold is in :class:`Limits`. Actions and conditions are named as in ``benchmarks/duplexact/conditions.toml``.
"""

from __future__ import annotations

from fullduplex.measures.actions import responses
from fullduplex.measures.actions.backchannels import listening
from fullduplex.measures.actions.floor import interrupted, yield_latency
from fullduplex.measures.actions.follow import (
    BACKCHANNEL,
    FOLLOW_THROUGH,
    KINDS,
    NO_REPLY,
    NOT_ENTERED,
    RESPONDS,
    STOP,
    TONE,
    followed,
    immediate,
    named,
    reply_from,
)
from fullduplex.measures.actions.follow import follow_through as follow_through
from fullduplex.measures.actions.ground import SUBSTANTIVE, weight
from fullduplex.measures.actions.limits import LENIENT_WORDS, Limits
from fullduplex.measures.floor import Utterance
from fullduplex.measures.replies import Reply
from fullduplex.model.trials import Absent, Fact, Trial

#: The actions that are timed.
TIMED = ("stop", "interrupt", "recover")

__all__ = [
    "FOLLOW_THROUGH",
    "KINDS",
    "LENIENT_WORDS",
    "NOT_ENTERED",
    "NO_REPLY",
    "RESPONDS",
    "SUBSTANTIVE",
    "TIMED",
    "TONE",
    "Limits",
    "follow_through",
    "immediate",
    "interrupted",
    "named",
    "timing",
    "to_judge",
    "token",
    "unsure",
]


def timing(trial: Trial, action: str, condition: str, limits: Limits) -> Fact | Absent:
    """Return the time of an action that succeeded at once, in seconds: the measure T.

    ``stop``: from the interruption's beginning to the end of the speech that was interrupted. ``interrupt``: the
    response's onset less the target point; negative before it. ``recover``: the response's onset less the
    interruption's end. Absent: ``not entered`` unless :func:`immediate` is 1, so that n is the number of those; what
    :func:`immediate` lacks. Raises ValueError for an action that is not timed.
    Source: the publication, over which instances is ours.
    """
    if action == STOP:
        return yield_latency(trial, limits)
    if action in TIMED:
        return responses.response_lag(trial, action, condition, limits)
    raise ValueError(f"{action!r} is not timed")


def unsure(trial: Trial, action: str, condition: str, limits: Limits) -> list[Utterance]:
    """Return the utterances of which only a judge can say whether they are a response with content."""
    if action not in RESPONDS:
        return []
    return [u for u in responses.candidates(trial, action, condition, limits) if weight(u, limits) == "meaning"]


def to_judge(trial: Trial, action: str, condition: str, limits: Limits) -> list[Reply] | Absent:
    """Return the replies of which a judge has to say whether they fit, each with its words.

    One, and of an action that is a response itself as many as utterances may be that response: which one is, another
    verdict says. Absent: ``not entered``, ``no reply``, ``no words``, and what :func:`immediate` lacks.
    """
    if action in RESPONDS:
        when = responses.window(trial, action, condition, limits)
        if isinstance(when, Absent):
            return when
        may_be = responses.candidates(trial, action, condition, limits)
        in_time = [u for u in may_be if when.opens <= u.span.start <= when.closes]
        # What begins too early and certainly is the response leaves none in time.
        found = [reply_from(u, when.at) for u in in_time]
        if not found:
            return Absent(NOT_ENTERED, "no response in time")
    else:
        first = immediate(trial, action, condition, limits)
        if isinstance(first, Absent):
            return first
        if not first.value:
            return Absent(NOT_ENTERED, first.why)
        then = followed(trial, action, condition, limits)
        if isinstance(then, Absent):
            return then
        found = [then.reply]
    there = [reply for reply in found if reply is not None]
    if not there:
        return Absent(NO_REPLY)
    worded = [reply for reply in there if reply.words]
    return worded or Absent("no words", "the system's words are not known")


def token(trial: Trial, action: str, condition: str, limits: Limits) -> Utterance | Absent:
    """Return the token whose tone is to be judged. Absent: ``not entered``, and what :func:`immediate` lacks."""
    if action != BACKCHANNEL:
        return Absent(NOT_ENTERED, "no backchannel is called for")
    first = immediate(trial, action, condition, limits)
    if isinstance(first, Absent):
        return first
    found = listening(trial, limits)
    if isinstance(found, Absent):
        return found
    return found.tokens[0] if first.value else Absent(NOT_ENTERED, first.why)
