"""Short words while the other one talks: the system's during a monologue, and the user's during the system's answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from fullduplex.measures.actions.ground import acknowledges, quoted
from fullduplex.measures.exchange_ground import Heard, Limits, at_most, heard, is_backchannel_turn, told
from fullduplex.measures.floor import Utterance
from fullduplex.measures.interaction import Turn, scene
from fullduplex.measures.judged_reply import by_person
from fullduplex.measures.overlap import BEHAVIOURS, Behaviour, plain_label
from fullduplex.model.spans import in_seconds, ms
from fullduplex.model.trials import Absent, Fact, Trial, Verdict

Kind = Literal["backchannel", "floor-take"]
KINDS: tuple[Kind, ...] = ("backchannel", "floor-take")
#: The verdicts that are asked for: ``backchannel-kind:KEY`` of each candidate, ``behaviour:TURN`` of each backchannel.
KIND, BEHAVIOUR = "backchannel-kind", "behaviour"
#: A recording that ends this soon after speech has cut it off.
_CUT = ms(50)
_JUDGE = "judge"


def candidates(trial: Trial, limits: Limits) -> list[tuple[str, Utterance]]:
    """Return the utterances of the system that may be backchannels, each with the key of its verdict.

    An utterance that begins during the user's monologue (turn ``u0``) or not later than ``response_after`` after its
    last word, is at most ``candidate_within`` long, and has at most ``candidate_words`` words but one at least: where
    none was recognised there is nothing to read, and the rule of :func:`acknowledgements` decides.
    The key is its onset and end in seconds, ``12.340-12.900``: under other thresholds the nth candidate may be another
    one, and must not inherit a verdict. Empty where the trial has no monologue.
    """
    found = heard(trial, "u0", limits)
    if isinstance(found, Absent):
        return []
    return [(_key(u), u) for u in _during(found, limits) if u.words and _may_be(u, limits)]


def acknowledgements(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return how many backchannels the system gave during the user's monologue.

    A candidate (:func:`candidates`) is what the judge calls it (verdict ``backchannel-kind:KEY``). One that nobody
    judged takes the floor if it is longer than ``backchannel_within`` or has more than ``backchannel_words`` words; a
    shorter one is a backchannel if it has none but words of acknowledgement (:func:`acknowledges`, English), or, by its
    length alone, no word at all. Of any other only a judge can say: "One moment" is as short, and acknowledges nothing.
    What is longer than a candidate takes the floor. Speech that had begun before the monologue is neither.
    Absent: ``failed``, ``no annotation``, ``never asked``, ``no output``, ``censored`` (the recording ends within the
    monologue), ``not judged``, and what kept the judge from saying. Source: the page, which has candidates judged;
    what goes without a judge is ours.
    """
    found = _kinds(trial, limits)
    if isinstance(found, Absent):
        return found
    unknown = next((one.kind for one in found if isinstance(one.kind, Absent)), None)
    if unknown is not None:
        return unknown
    given = [one.said for one in found if one.kind == "backchannel"]
    how = "judged" if any(one.by_judge for one in found) else "by rule"
    at = given[0].span.start if given else None
    mute = sum(not said.words for said in given)
    length = f", {mute} of them without a word, by length alone" if mute else ""
    return Fact(len(given), at, f"{how}: {len(given)} of {len(found)} utterances{length}", _rest_on(found))


def floor_take(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if the system took the floor during the user's monologue, else 0.

    One utterance that is known to have taken it decides, whatever is not known of the others.
    Absent: as :func:`acknowledgements`. Ours departs from the page in what begins at the end: there, speech up to
    0.4 s after the last word is still held against the system; with ours it is the response.
    """
    found = _kinds(trial, limits)
    if isinstance(found, Absent):
        return found
    # What a rule or a person says needs no judge.
    taken = sorted((one for one in found if one.kind == "floor-take"), key=lambda one: one.by_judge)
    if taken:
        one = taken[0]
        how = "judged" if one.by_judge else one.by or "by rule"
        why = f"took the floor: {told(one.said.span.duration)}, {how}"
        return Fact(1, one.said.span.start, why, KIND if one.by_judge else "")
    unknown = next((one.kind for one in found if isinstance(one.kind, Absent)), None)
    if unknown is not None:
        return unknown
    return Fact(0, found[0].said.span.start if found else None, "left the floor to the user", _rest_on(found))


def backchannel_passed(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if the system gave a backchannel at least and never took the floor, else 0.

    Absent: as :func:`floor_take`. Source: the page.
    """
    taken, given = floor_take(trial, limits), acknowledgements(trial, limits)
    if isinstance(taken, Absent):
        return taken
    if taken.value:
        return replace(taken, value=0)
    if isinstance(given, Absent) or not given.value:
        return given if isinstance(given, Absent) else Fact(0, why="no backchannel", verdict=given.verdict)
    return replace(given, value=1)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the system did about one backchannel of the user's: the label and how it is known, or why it is not.

    ``judged``: a judge said so, no rule and no person.
    """

    turn: Turn
    label: Behaviour | Absent
    why: str = ""
    judged: bool = False


def outcomes(trial: Trial, limits: Limits) -> tuple[Outcome, ...] | Absent:
    """Return what the system did about each of the user's backchannels (turns ``b0``, ``b1``, ...).

    By rule where speech alone decides: speech that goes on, with no silence longer than ``joined_within``, until the
    backchannel is over and ``goes_on`` after its onset is passed, is ``resume``. Else as it was judged: verdict
    ``behaviour:TURN``, or ``behaviour`` of the whole item. A person's correction wins over the rule.
    A label is Absent ``not exercised`` where the system was not speaking when the backchannel began, or it never fell
    due (a correction of it is told to count for nothing); ``censored`` where the recording cuts the speech off;
    ``not judged``; and what kept the judge from saying.
    Absent as a whole: ``failed``, ``no annotation``, ``no output``.
    """
    found = scene(trial)
    if isinstance(found, Absent):
        return found
    turns = [turn for turn in found.turns if is_backchannel_turn(turn)]
    if not turns:
        return Absent("no annotation", "the interaction has no backchannel of the user's")
    made = []
    for turn in turns:
        at = heard(trial, turn.id, limits, unasked="not exercised")
        if isinstance(at, Absent) and at.reason == "no output":
            return at
        if isinstance(at, Absent):
            made.append(_unmet(turn, at, trial.verdicts.get(f"{BEHAVIOUR}:{turn.id}")))
        else:
            made.append(_outcome(trial, at, limits))
    return tuple(made)


def undecided(trial: Trial, limits: Limits) -> list[Turn]:
    """Return the user's backchannels of which a judge has to say what the system did: no rule decides."""
    found = outcomes(_unjudged(trial), limits)
    if isinstance(found, Absent):
        return []
    return [one.turn for one in found if isinstance(one.label, Absent) and one.label.reason == "not judged"]


def user_backchannel_passed(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if the system resumed at each of the user's backchannels that met it speaking, else 0.

    Absent: ``not exercised`` (none met it speaking), and as :func:`outcomes` where a label that matters is missing.
    Source: the page, whose labels are these. That going on needs no judge is ours.
    """
    found = outcomes(trial, limits)
    if isinstance(found, Absent):
        return found
    met = [one for one in found if not (isinstance(one.label, Absent) and one.label.reason == "not exercised")]
    if not met:
        first = found[0].label
        return first if isinstance(first, Absent) else Absent("not exercised")
    idle = "".join(f"; {one.turn.id}: {one.why}" for one in found if one not in met and one.why)
    failed = [one for one in met if not isinstance(one.label, Absent) and one.label != "resume"]
    for one in sorted(failed, key=lambda one: one.judged):
        return Fact(0, _began(one.turn), f"{one.turn.id}: {one.why}{idle}", BEHAVIOUR if one.judged else "")
    for one in met:
        if isinstance(one.label, Absent):
            return one.label
    why = "; ".join(f"{one.turn.id}: {one.why}" for one in met) + idle
    return Fact(1, _began(met[0].turn), why, BEHAVIOUR if any(one.judged for one in met) else "")


def derailed(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if a backchannel of the user's knocked the system off its answer, else 0: not what passes.

    Absent: as :func:`user_backchannel_passed`. Source: the page.
    """
    found = user_backchannel_passed(trial, limits)
    return found if isinstance(found, Absent) else replace(found, value=1 - found.value)


def _during(found: Heard, limits: Limits) -> list[Utterance]:
    latest = found.end + limits.response_after
    return [u for u in found.said if found.span.start <= u.span.start <= latest]


def _may_be(u: Utterance, limits: Limits) -> bool:
    return at_most(u, limits.candidate_within, limits.candidate_words)


def _key(u: Utterance) -> str:
    return f"{in_seconds(u.span.start):.3f}-{in_seconds(u.span.end):.3f}"


@dataclass(frozen=True, slots=True)
class _Said:
    """An utterance of the monologue, what it is or why that is not known, and who says so: "" a rule, else a name."""

    said: Utterance
    kind: Kind | Absent
    by: str = ""

    @property
    def by_judge(self) -> bool:
        return self.by == _JUDGE


def _rest_on(found: list[_Said]) -> str:
    return KIND if any(one.by_judge for one in found) else ""


def _kinds(trial: Trial, limits: Limits) -> list[_Said] | Absent:
    """Return each utterance of the monologue, and what it is."""
    found = heard(trial, "u0", limits)
    if isinstance(found, Absent):
        return found
    if found.cut_before(found.end):
        return Absent("censored", "the recording ends within the monologue")
    return [_kind(trial, u, limits) for u in _during(found, limits)]


def _kind(trial: Trial, u: Utterance, limits: Limits) -> _Said:
    verdict = trial.verdicts.get(f"{KIND}:{_key(u)}") if u.words and _may_be(u, limits) else None
    if isinstance(verdict, Absent):
        return _Said(u, verdict)
    if verdict is None:
        short = at_most(u, limits.backchannel_within, limits.backchannel_words) and _may_be(u, limits)
        if not short:
            return _Said(u, "floor-take")
        if u.words and not acknowledges(u):
            return _Said(u, Absent("not judged", f"whether {quoted(u)} takes the floor has to be judged"))
        return _Said(u, "backchannel")
    label = next((kind for kind in KINDS if kind == str(verdict.value).strip().lower()), None)
    if label is None:
        return _Said(u, Absent("unparsable", f"judged {verdict.value!r}, which is none of {', '.join(KINDS)}"))
    return _Said(u, label, verdict.by if by_person(verdict) else _JUDGE)


def _began(turn: Turn) -> int | None:
    return None if turn.span is None else turn.span.start


def _outcome(trial: Trial, at: Heard, limits: Limits) -> Outcome:
    own = trial.verdicts.get(f"{BEHAVIOUR}:{at.turn.id}")
    holding = next((u for u in at.said if at.span.start in u.span), None)
    if holding is None:
        return _unmet(at.turn, Absent("not exercised", "the system was not speaking when it began"), own)
    verdict = own or trial.verdicts.get(BEHAVIOUR)
    if isinstance(verdict, Verdict) and by_person(verdict):
        return _judged(at.turn, verdict)
    if holding.span.end > max(at.span.end, at.span.start + limits.goes_on):
        return Outcome(at.turn, "resume", "by rule: went on without a break")
    if at.heard_until is not None and holding.span.end >= at.heard_until - _CUT:
        return Outcome(at.turn, Absent("censored", "the recording ends while the system speaks"))
    if isinstance(verdict, Absent):
        return Outcome(at.turn, verdict)
    if verdict is None:
        stop = told(holding.span.end - at.span.start)
        return Outcome(
            at.turn, Absent("not judged", f"fell silent {stop} after it began: speech alone does not decide")
        )
    return _judged(at.turn, verdict)


def _unmet(turn: Turn, why: Absent, own: Verdict | Absent | None) -> Outcome:
    """Return that the system was not met speaking, and that a correction of what it did about it counts for nothing."""
    if not (isinstance(own, Verdict) and by_person(own)):
        return Outcome(turn, why)
    idle = f"{why.detail}, so what was {own.by} counts for nothing"
    return Outcome(turn, Absent(why.reason, idle), idle)


def _judged(turn: Turn, verdict: Verdict) -> Outcome:
    text = plain_label(str(verdict.value))
    label = next((known for known in BEHAVIOURS if known == text), None)
    if label is None:
        known = ", ".join(BEHAVIOURS)
        return Outcome(turn, Absent("unparsable", f"judged {verdict.value!r}, which is none of {known}"))
    how = verdict.by if by_person(verdict) else "judged"
    why = f"{how}: {label}" + (f", {verdict.reason}" if verdict.reason else "")
    return Outcome(turn, label, why, not by_person(verdict))


def _unjudged(trial: Trial) -> Trial:
    return replace(trial, verdicts={})
