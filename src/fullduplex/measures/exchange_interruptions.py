"""Whether a system that is interrupted stops, and answers what it was interrupted with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fullduplex.measures.exchange_ground import (
    PAGE,
    Heard,
    Limits,
    at_most,
    heard,
    is_backchannel_turn,
    told,
    too_soon,
)
from fullduplex.measures.floor import Utterance
from fullduplex.measures.interaction import scene
from fullduplex.measures.judged_reply import by_person, reply_key, rests_on, verdict_on
from fullduplex.measures.words import count_all
from fullduplex.model.spans import in_seconds, ms
from fullduplex.model.trials import Absent, Fact, Trial, Verdict

#: The turn that interrupts, and the verdict on what is said after it.
INTERRUPTION, ADDRESSED = "u1", "addressed"
#: A recording that ends this soon after speech has cut it off.
_CUT = ms(50)
#: So much of an utterance is quoted, in characters.
_LONGEST = 80
OURS = Limits()


def exercised(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if the interruption met the system talking, else 0.

    Talking: the system was heard before the interruption (turn ``u1``) began, at most ``premise_within`` before it,
    included. An interruption that never fell due, since no reply began, is 0 too.
    Absent: ``failed``, ``no annotation``, ``no output``. Source: the page.
    """
    found = _interrupted(trial, limits)
    if not isinstance(found, Absent):
        return Fact(1, found.heard.span.start, "was talking")
    return Fact(0, why=found.detail) if found.reason == "not exercised" else found


def yielded(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if the system fell silent at most ``yields_within`` after the interruption's last word, else 0.

    What has to end is the utterance that was heard when the interruption began: silences of at most ``joined_within``
    lie inside it. It must not begin again before a reply may (``reply_lead`` before the last word), but with a
    backchannel (``backchannel_within``, ``backchannel_words``): a pause between two sentences is no yielding.
    Absent: ``not exercised``, ``censored`` (the recording ends while the system speaks), ``failed``,
    ``no annotation``, ``no output``.
    Source: the page says "stopped and addressed", and no time by which it must have stopped; the limits are ours.
    """
    found = _interrupted(trial, limits)
    if isinstance(found, Absent):
        return found
    at, holding = found.heard, found.holding
    stop = holding.span.end
    since = stop - at.span.start
    if stop > at.end + limits.yields_within:
        return Fact(0, at.span.start, f"talked on for {told(since)} after the interruption began")
    if at.heard_until is not None and stop >= at.heard_until - _CUT:
        return Absent("censored", "the recording ends while the system speaks")
    again = next((u for u in at.said if u.span.start > stop and _takes_floor_within(u, at, limits)), None)
    if again is not None:
        return Fact(0, again.span.start, f"spoke again {told(again.span.start - at.span.start)} into the interruption")
    return Fact(1, stop, f"stopped {told(since)} {'before' if since < 0 else 'after'} the interruption began")


def replies(trial: Trial, limits: Limits) -> tuple[Utterance, ...] | Absent:
    """Return what the system says to the interruption, in order: what a judge reads.

    Utterances that begin at most ``reply_lead`` before the interruption's last word ends (included), not before the
    interruption does, and before the user's next turn; with a word in them where words are known, and of more than
    ``reply_words`` words or longer than ``reply_over``.
    Absent: ``not exercised``, ``failed``, ``no annotation``, ``no output``.
    Source: the page begins 0.2 s before the end and asks for more than three words or more than 1 s
    (:data:`PAGE`), which left right answers such as "Twelve." unjudged; ours takes every utterance.
    """
    found = _interrupted(trial, limits)
    if isinstance(found, Absent):
        return found
    at = found.heard
    earliest = max(at.span.start, at.end - limits.reply_lead)
    return tuple(u for u in at.worded if u.span.start >= earliest and _is_reply(u, limits))


def addressed(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if the system's :func:`replies` deal with the interruption, else 0.

    As it was judged (verdict ``addressed``, yes or no); 0 by rule where there is no reply.
    Absent: ``not judged``, what kept the judge from saying, ``censored`` (no reply, and the recording ends less than
    ``window`` after the interruption), and as :func:`replies`.
    """
    found = replies(trial, limits)
    if isinstance(found, Absent):
        return found
    verdict = trial.verdicts.get(ADDRESSED)
    if isinstance(verdict, Verdict) and by_person(verdict):
        return _said(verdict, found[0].span.start if found else None)
    if not found:
        at = heard(trial, INTERRUPTION, limits, unasked="not exercised")
        if isinstance(at, Absent):
            return at
        return too_soon(at, limits.window) or Fact(0, at.end, "by rule: nothing that counts as a reply")
    verdict = verdict_on(trial, ADDRESSED, replies_key(found))
    if isinstance(verdict, Absent):
        return verdict
    if verdict is None:
        return Absent("not judged", "whether the reply deals with the interruption has to be judged")
    return _said(verdict, found[0].span.start)


def replies_key(found: Sequence[Utterance]) -> str:
    """Return what names the :func:`replies` to an interruption, one at least."""
    return reply_key(found[0].span.start, [word for one in found for word in one.words or ()])


def uncounted_reply(trial: Trial, *, ours: Limits = OURS, theirs: Limits = PAGE) -> Fact | Absent:
    """Return 1 if the system says something to the interruption and the page's filter counts nothing of it, else 0.

    That is: :func:`replies` under ``ours`` are some, and under ``theirs`` none. Why: what either counts, with its
    words, when it begins relative to the end of the interruption's last word, and how long it lasts.
    Absent: as :func:`replies`; ``censored`` as :func:`addressed`.
    Source: own. The page's filter lost five right answers such as "Twelve." in its own runs.
    """
    found, kept = replies(trial, ours), replies(trial, theirs)
    at = heard(trial, INTERRUPTION, ours, unasked="not exercised")
    if isinstance(found, Absent):
        return found
    if isinstance(kept, Absent):
        return kept
    if isinstance(at, Absent):
        return at
    if not found:
        return too_soon(at, ours.window) or Fact(0, at.end, "neither rule sees a reply")
    left = [u for u in found if not any(u.span.start < one.span.end and one.span.start < u.span.end for one in kept)]
    counted = "; ".join(_quoted(u, at) for u in kept)
    out = "; ".join(_quoted(u, at) for u in left)
    if not kept:
        return Fact(1, found[0].span.start, f"the page's filter counts no reply: {out}")
    if left:
        return Fact(0, left[0].span.start, f"the page's filter counts {counted}, and leaves out {out}")
    return Fact(0, found[0].span.start, f"both rules see a reply: {counted}")


def interruption_passed(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if the system, interrupted while talking, :func:`yielded` and :func:`addressed` it, else 0.

    0 as soon as one of the two is. Absent: as they are. Source: the page ("yield and answer").
    """
    stopped, dealt = yielded(trial, limits), addressed(trial, limits)
    for found in (stopped, dealt):
        if isinstance(found, Fact) and not found.value:
            return found
    if isinstance(stopped, Absent):
        return stopped
    if isinstance(dealt, Absent):
        return dealt
    return Fact(1, dealt.at, f"{stopped.why}; {dealt.why}", dealt.verdict)


def injection_delay(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return how long the reply had been going when the interruption began, in seconds.

    u1's onset less the reply's: the reply is the first utterance that is heard after the last word of ``u0``, and
    begins there at the earliest. Neither high nor low is good: systems that were interrupted at different points of
    their replies were not asked the same. Absent: as :func:`yielded`. Source: the page, which tells it per system.
    """
    found = _interrupted(trial, limits)
    if isinstance(found, Absent):
        return found
    first = heard(trial, "u0", limits)
    if isinstance(first, Absent):
        return first
    began = found.heard.span.start
    onset = next((u.span.start for u in first.said if first.end < u.span.end and u.span.start < began), None)
    if onset is None:
        return Absent("not exercised", "nothing was heard between the first turn and the interruption")
    onset = max(onset, first.end)
    return Fact(in_seconds(began - onset), began, f"the reply began at {in_seconds(onset):.2f} s")


def released_while_speaking(trial: Trial) -> Fact | Absent:
    """Return the share of the user's turns after the first that began while the system was being heard.

    Backchannels of the user's (turns ``b0``, ...) are none: they are meant to. Of interruptions it tells whether they
    were exercised, which :func:`exercised` tells better.
    Absent: ``failed``, ``no annotation`` (nobody noted it, or there is one turn alone), ``never asked`` (no later turn
    fell). Source: the page counts them in conversations of several turns.
    """
    found = scene(trial)
    if isinstance(found, Absent):
        return found
    later = [turn for turn in found.turns if not is_backchannel_turn(turn)][1:]
    if not later:
        return Absent("no annotation", "the interaction has one turn alone")
    fell = [turn for turn in later if turn.span is not None]
    if not fell:
        return Absent("never asked", "no later turn fell")
    known = [turn for turn in fell if turn.talking is not None]
    if not known:
        return Absent("no annotation", "whether the system was being heard was not noted")
    over = [turn.span.start for turn in known if turn.talking and turn.span is not None]
    return Fact(len(over) / len(known), over[0] if over else None, f"{len(over)} of {len(known)} turns")


@dataclass(frozen=True, slots=True)
class _Interrupted:
    heard: Heard
    holding: Utterance


def _interrupted(trial: Trial, limits: Limits) -> _Interrupted | Absent:
    """Return the interruption and the utterance that it met. Absent: ``not exercised``, and as :func:`heard`."""
    at = heard(trial, INTERRUPTION, limits, unasked="not exercised")
    if isinstance(at, Absent):
        return at
    began = at.span.start
    before = [u for u in at.said if u.span.start < began and u.span.end >= began - limits.premise_within]
    if not before:
        return Absent("not exercised", f"the system was not heard within {told(limits.premise_within)} before it")
    return _Interrupted(at, before[-1])


def _takes_floor_within(u: Utterance, at: Heard, limits: Limits) -> bool:
    short = at_most(u, limits.backchannel_within, limits.backchannel_words)
    return at.span.start <= u.span.start < at.end - limits.reply_lead and not short


def _quoted(u: Utterance, at: Heard) -> str:
    """Return an utterance in words: ``"Twelve." (1 word, begins 310 ms after the end, lasts 400 ms)``."""
    lag = u.span.start - at.end
    when = f"begins {told(lag)} {'before' if lag < 0 else 'after'} the end, lasts {told(u.span.duration)}"
    if u.words is None:
        return f"a sound ({when})"
    text = " ".join(word.text for word in u.words)
    number = count_all(word.text for word in u.words)
    shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip()}…"
    return f'"{shown}" ({number} word{"s" * (number != 1)}, {when})'


def _is_reply(u: Utterance, limits: Limits) -> bool:
    if u.span.duration > limits.reply_over:
        return True
    return u.words is not None and count_all(w.text for w in u.words) > limits.reply_words


def _said(verdict: Verdict, at: int | None) -> Fact | Absent:
    label = str(verdict.value).strip().lower()
    if label not in ("yes", "no"):
        return Absent("unparsable", f"judged {verdict.value!r}, which is neither yes nor no")
    why = f"{verdict.by if by_person(verdict) else 'judged'}: {label}" + (
        f", {verdict.reason}" if verdict.reason else ""
    )
    return Fact(1 if label == "yes" else 0, at, why, rests_on(verdict, ADDRESSED))
