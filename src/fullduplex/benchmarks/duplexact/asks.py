"""What judges of an action are shown, for each rubric: never whose reply it is, and nothing that a rule decides.

Each function takes a trial and returns the fields of its rubric, each question under the name of the very utterance or
reply that it is on (``@ONSET-END``), or Absent: what the measure lacks, ``not entered`` (the action did not succeed at
once), ``no reply``, ``no words``, ``settled by rule``.
"""

from __future__ import annotations

from collections.abc import Mapping

from fullduplex.benchmarks.declare import Stretch
from fullduplex.benchmarks.duplexact.conditions import Action, Condition
from fullduplex.benchmarks.interactionbench.transcript import conversation, timed, words_of
from fullduplex.measures import actions
from fullduplex.measures.actions import Limits
from fullduplex.measures.floor import Utterance
from fullduplex.measures.interaction import Scene, scene
from fullduplex.measures.judged_reply import reply_key
from fullduplex.model.spans import in_seconds, ms
from fullduplex.model.trials import Absent, Trial

Questions = Mapping[str, Mapping[str, str]]

#: What a marked stretch of the user's side is, for a judge.
MARKED = {
    "wait": "(here the user has not finished: the assistant is to stay silent)",
    "ignored": "(not meant for the assistant)",
    "entry": "(all that an answer needs has been said before this)",
    "backchannel": "(here a listener gives a sign)",
    "target": "(here it has become clear that one has to break in)",
}
#: What is heard before a token and after it, in microseconds: detectors cut edges short.
_AROUND = ms(300)


def substantive_fields(trial: Trial, action: Action, condition: Condition, limits: Limits) -> Questions | Absent:
    """Return the fields of the rubric ``substantive`` for each utterance that only its meaning decides."""
    found = scene(trial)
    if isinstance(found, Absent):
        return found
    unsure = actions.unsure(trial, action.key, condition.key, limits)
    if not unsure:
        return Absent("settled by rule", "length and words decide every utterance")
    return {reply_key(u.span.start, u.words): {"user": _user(trial, found), "utterance": _text(u)} for u in unsure}


def tone_fields(trial: Trial, action: Action, condition: Condition, limits: Limits) -> Questions | Absent:
    """Return the fields of the rubric ``backchannel-tone`` for the token that is heard where one belongs."""
    found = scene(trial)
    if isinstance(found, Absent):
        return found
    token = actions.token(trial, action.key, condition.key, limits)
    if isinstance(token, Absent):
        return token
    user = _said_until(trial, found, token.span.start)
    return {reply_key(token.span.start, token.words): {"user": user, "utterance": _text(token)}}


def tone_heard(trial: Trial, action: Action, condition: Condition, limits: Limits) -> Stretch | None:
    """Return the stretch of the system's sound that holds the token, with a little before and after it."""
    token = actions.token(trial, action.key, condition.key, limits)
    if isinstance(token, Absent):
        return None
    start, end = max(0, token.span.start - _AROUND), token.span.end + _AROUND
    return Stretch("system", in_seconds(start), in_seconds(end))


def follow_through_fields(trial: Trial, action: Action, condition: Condition, limits: Limits) -> Questions | Absent:
    """Return the fields of the rubric ``follow-through`` for each reply that may be the one that counts.

    The criterion is the action's, the circumstance its condition's, the target the item's; the conversation has every
    turn and every run of the assistant's words with its times, and what is marked in it.
    """
    found = scene(trial)
    if isinstance(found, Absent):
        return found
    replies = actions.to_judge(trial, action.key, condition.key, limits)
    if isinstance(replies, Absent):
        return replies
    shown = {
        "criterion": action.follow_through,
        "circumstance": f"{condition.definition} {condition.calls_for}",
        "target": found.target,
        "conversation": conversation(trial, found),
        "marked": _marks(found),
    }
    return {actions.named(reply): {**shown, "reply": timed(reply.words or ())} for reply in replies}


def _user(trial: Trial, found: Scene) -> str:
    """Return the user's turns that fell, one after the other: the last is what is answered."""
    return "\n".join(words_of(trial, turn) for turn in found.turns if turn.span is not None)


def _said_until(trial: Trial, found: Scene, time: int) -> str:
    turn = found.turns[0]
    words = [w for w in trial.user.words or () if turn.span is not None and w.span & turn.span is not None]
    by_then = [w.text for w in words if w.span.start < time]
    if not by_then:
        return words_of(trial, turn)
    return " ".join(by_then) + (" ..." if len(by_then) < len(words) else "")


def _marks(found: Scene) -> str:
    lines = [
        f"[{in_seconds(mark.span.start):.2f}-{in_seconds(mark.span.end):.2f}] {MARKED[mark.kind]} {mark.text}".rstrip()
        for mark in found.marks
        if mark.span is not None
    ]
    return "\n".join(lines) or "(nothing)"


def _text(u: Utterance) -> str:
    return " ".join(word.text for word in u.words or ())
