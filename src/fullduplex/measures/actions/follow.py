"""What the system says after an action, which a judge reads: the follow-through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fullduplex.measures.actions import responses
from fullduplex.measures.actions.backchannels import backchannelled, listening
from fullduplex.measures.actions.floor import Met, held, interrupted, stopped
from fullduplex.measures.actions.ground import FIRST, heard, quoted, said_by, too_soon
from fullduplex.measures.actions.limits import Limits
from fullduplex.measures.actions.responses import INTERRUPT, RECOVER, TAKE_TURN
from fullduplex.measures.actions.silence import ignored, waited
from fullduplex.measures.exchange_ground import Heard, spoken
from fullduplex.measures.floor import Utterance
from fullduplex.measures.judged_reply import by_person, every_verdict, reply_key, rests_on, verdict_on
from fullduplex.measures.replies import Limits as Replies
from fullduplex.measures.replies import Reply, asked, reply_to_turn
from fullduplex.model.trials import Absent, Fact, Trial, Verdict

WAIT, IGNORE, BACKCHANNEL, STOP, HOLD_FLOOR = "wait", "ignore", "backchannel", "stop", "hold_floor"
#: The actions of which a response is the success itself.
RESPONDS = (TAKE_TURN, INTERRUPT, RECOVER)
#: The verdicts that are asked for: on the reply, and on a backchannel's tone.
FOLLOW_THROUGH, TONE = "follow-through", "backchannel-tone"
#: What a backchannel's tone is by its condition; ``unclear`` where a judge cannot tell.
KINDS = {"affirmative": "affirmative", "uncertainty": "uncertain"}
UNCLEAR = "unclear"
#: An action that did not succeed at once is not followed through; one whose reply never came failed to.
NOT_ENTERED, NO_REPLY = "not entered", "no reply"


@dataclass(frozen=True, slots=True)
class Followed:
    """What follows an action: the reply (None: there is none), when it was due at the latest, and what was heard."""

    at: Heard
    due: int
    reply: Reply | None


def immediate(trial: Trial, action: str, condition: str, limits: Limits) -> Fact | Absent:
    """Return 1 if the action succeeds at once, else 0: the measure I of ``action`` under ``condition``.

    * ``wait``: :func:`waited`; ``ignore``: :func:`ignored`; ``backchannel``: :func:`backchannelled`
    * ``take_turn``, ``interrupt``, ``recover``: :func:`responded`
    * ``stop``: :func:`stopped`; ``hold_floor``: :func:`held`

    Absent: as they are. Raises ValueError for another action.
    """
    known = {WAIT: waited, IGNORE: ignored, BACKCHANNEL: backchannelled, STOP: stopped, HOLD_FLOOR: held}
    if action in known:
        return known[action](trial, limits)
    if action in RESPONDS:
        return responses.responded(trial, action, condition, limits)
    raise ValueError(f"{action!r} is no action")


def follow_through(trial: Trial, action: str, condition: str, limits: Limits) -> Fact | Absent:
    """Return 1 if what the system says after the action fits, as a judge says, else 0: the measure S.

    Verdict ``follow-through:@ONSET-END`` on the reply, yes or no; 0 with ``no reply`` where none came. Of a
    ``backchannel`` the token's tone (verdict ``backchannel-tone:@ONSET-END``) has to be the one that the condition
    names, and what the system says later, if anything, has to fit.
    Absent: ``not entered`` unless :func:`immediate` is 1; ``not judged``, ``unclear`` (the judge cannot tell a tone),
    ``unparsable``, what kept the judge from saying; ``censored`` (no reply, and the recording ends sooner than
    ``reply_within`` after the user); what :func:`immediate` lacks.
    Source: the publication, which tells the criteria of Wait, Ignore and Take turn; the others' are ours.
    """
    first = immediate(trial, action, condition, limits)
    if isinstance(first, Absent):
        return first
    if not first.value:
        return Absent(NOT_ENTERED, first.why)
    then = _then(trial, action, condition, limits)
    return then if isinstance(then, Absent) else replace(then, verdict=every_verdict(first.verdict, then.verdict))


def followed(trial: Trial, action: str, condition: str, limits: Limits) -> Followed | Absent:
    """Return the reply that is to fit, given that the action succeeded at once.

    * ``wait``, ``ignore``, ``backchannel``: all that is said in answer to the turn: utterances that begin at most
      ``reply_lead`` before its end, and of earlier ones the words after it
    * ``take_turn``, ``interrupt``, ``recover``: the response and all that follows it
    * ``stop``: what begins at most ``reply_lead`` before the interruption's end, and after the stop
    * ``hold_floor``: every word that begins when the event has begun

    Each up to the user's next turn. A sound without a word in it is no reply, where words are known.
    """
    if action in (STOP, HOLD_FLOOR):
        met = interrupted(trial, limits)
        if isinstance(met, Absent):
            return met
        due = met.end + limits.reply_within
        return Followed(met.at, due, _after_stop(met, limits) if action == STOP else _from_event(trial, met))
    if action in RESPONDS:
        found = responses.response(trial, action, condition, limits)
        when = responses.window(trial, action, condition, limits)
        if isinstance(found, Absent):
            return found
        if isinstance(when, Absent):
            return when
        reply = None if found.said is None else reply_from(found.said, when.at)
        return Followed(when.at, when.closes, reply)
    at = heard(trial, FIRST, limits)
    if isinstance(at, Absent):
        return at
    turn = asked(trial, FIRST, Replies(joined_within=limits.joined_within, lead=limits.reply_lead))
    if isinstance(turn, Absent):
        return turn
    replies = Replies(joined_within=limits.joined_within, lead=limits.reply_lead)
    return Followed(at, at.end + limits.reply_within, reply_to_turn(turn, replies))


def reply_from(first: Utterance, at: Heard) -> Reply | None:
    """Return ``first`` and all that is said after it, up to the user's next turn; None where no word is in it."""
    its = [u for u in at.said if u.span.start >= first.span.start and (at.before is None or u.span.start < at.before)]
    return _reply(its)


def named(reply: Reply) -> str:
    """Return what names a reply in the verdicts on it: ``@6.200-7.350``."""
    return reply_key(reply.onset, reply.words)


def _then(trial: Trial, action: str, condition: str, limits: Limits) -> Fact | Absent:
    if action == BACKCHANNEL:
        return _listened(trial, condition, limits)
    found = followed(trial, action, condition, limits)
    if isinstance(found, Absent):
        return found
    person = trial.verdicts.get(FOLLOW_THROUGH)
    if isinstance(person, Verdict) and by_person(person):
        return _judged(person, found.due if found.reply is None else found.reply.onset)
    if found.reply is None:
        # What nobody can read is no silence: a response whose words are not known is not judged.
        return too_soon(found.at, found.due) or Fact(0, found.at.end, f"{NO_REPLY} with a word in it")
    return _verdict(trial, found.reply)


def _listened(trial: Trial, condition: str, limits: Limits) -> Fact | Absent:
    found = listening(trial, limits)
    if isinstance(found, Absent):
        return found
    token = found.tokens[0]
    tone = verdict_on(trial, TONE, reply_key(token.span.start, token.words))
    if isinstance(tone, Absent):
        return tone
    if tone is None:
        return Absent("not judged", f"the tone of {quoted(token)} has to be judged")
    label = str(tone.value).strip().lower()
    if label == UNCLEAR:
        return Absent(UNCLEAR, f"the tone of {quoted(token)}: {said_by(tone)}")
    if label not in KINDS.values():
        return Absent("unparsable", f"judged {tone.value!r}, which is none of {', '.join(KINDS.values())}, {UNCLEAR}")
    why = f"the tone of {quoted(token)} is {said_by(tone)}"
    if label != KINDS[condition]:
        return Fact(0, token.span.start, f"{why}; {KINDS[condition]} is called for", rests_on(tone, TONE))
    later = followed(trial, BACKCHANNEL, condition, limits)
    if isinstance(later, Absent):
        return later
    if later.reply is None:
        return Fact(1, token.span.start, f"{why}; it said nothing later", rests_on(tone, TONE))
    fits = _verdict(trial, later.reply)
    if isinstance(fits, Absent):
        return fits
    both = every_verdict(rests_on(tone, TONE), fits.verdict)
    return Fact(fits.value, token.span.start if fits.value else fits.at, f"{why}; later {fits.why}", both)


def _after_stop(met: Met, limits: Limits) -> Reply | None:
    # What was interrupted had begun before the interruption did, and is no part of it.
    earliest = max(met.start, met.end - limits.reply_lead)
    return _reply([u for u in met.at.worded if u.span.start >= earliest])


def _from_event(trial: Trial, met: Met) -> Reply | None:
    if trial.system.words is None:
        return Reply(met.start, None)
    before = met.at.before
    words = tuple(
        w for u in met.at.said for w in spoken(u.words)
        if w.span.start >= met.start and (before is None or w.span.start < before)
    )  # fmt: skip
    return Reply(words[0].span.start, words) if words else None


def _reply(its: Sequence[Utterance]) -> Reply | None:
    if not its:
        return None
    if all(u.words is None for u in its):
        return Reply(its[0].span.start, None)
    words = tuple(w for u in its for w in spoken(u.words))
    return Reply(its[0].span.start, words) if words else None


def _verdict(trial: Trial, reply: Reply) -> Fact | Absent:
    verdict = verdict_on(trial, FOLLOW_THROUGH, named(reply))
    if isinstance(verdict, Absent):
        return verdict
    if verdict is None:
        if reply.words is None:
            return Absent("not judged", "the system's words are not known")
        return Absent("not judged", "whether what it said fits has to be judged")
    return _judged(verdict, reply.onset)


def _judged(verdict: Verdict, at: int) -> Fact | Absent:
    label = str(verdict.value).strip().lower()
    if label not in ("yes", "no"):
        return Absent("unparsable", f"judged {verdict.value!r}, which is neither yes nor no")
    return Fact(int(label == "yes"), at, said_by(verdict), rests_on(verdict, FOLLOW_THROUGH))
