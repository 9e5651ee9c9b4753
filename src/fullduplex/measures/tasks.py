"""Spoken tasks: whether a system said the right thing, at the right moment, and nothing before.

An expectation is scored on four points: ``timing``, ``overlap``, ``content`` and ``silence`` (:func:`point`); what an
item is passed by depends on its scenario (:data:`PASSES_BY`). What cannot be known is Absent: ``failed``, ``no
annotation``, ``no output``, ``no words``, ``censored``, ``not judged``, and what kept a judge from saying. What never
came about, a trigger word that the talk ended before, counts as failed where an item is passed by it.
Source: InteractionBench; what is ours is told where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from fullduplex.measures.exchange_ground import spoken, told
from fullduplex.measures.interaction import Expectation, Scene, scene
from fullduplex.measures.judged_reply import TO_HEAR, by_person, reply_key, rests_on, verdict_on
from fullduplex.measures.replies import Asked, By, Limits, Reply, asked, reply_to_turn, reply_to_word, speech_before
from fullduplex.measures.spoken_numbers import numbers, plain, says, says_in_order
from fullduplex.model.spans import in_seconds
from fullduplex.model.trials import Absent, Fact, Trial, Verdict

Point = Literal["timing", "overlap", "content", "silence"]
POINTS: tuple[Point, ...] = ("timing", "overlap", "content", "silence")
#: What an item of each scenario is passed by. Stay-quiet has a window too, which is reported and passes nobody: the
#: page says silence, then the right answer, and passes systems whose median latency lies far outside that window.
PASSES_BY: dict[str, tuple[Point, ...]] = {
    "logic": ("content",),
    "countdown": ("content",),
    "alternating_count": ("timing", "overlap", "content"),
    "grammar": ("timing", "overlap", "content"),
    "keyword_wait": ("timing", "overlap", "content"),
    "stay_quiet": ("silence", "content"),
}
#: The verdict that says whether a reply's content is right; none where a rule says so.
JUDGED_BY = {
    "logic": "target-said",
    "countdown": "target-said",
    "grammar": "correction",
    "keyword_wait": "keyword-named",
    "stay_quiet": "answered-right",
    "volume": "understood",
}
#: Scenarios whose reply is what follows the trigger word at once, and no more than that.
TRIGGERED = frozenset({"grammar", "keyword_wait"})
#: The turn in which everything is asked where no trigger word says in which, but for scenarios with several.
FIRST = "u0"
NO_REPLY = "no reply"


def point(trial: Trial, name: Point, limits: Limits, *, by: By = "speech") -> Fact | Absent:
    """Return 1 if the point ``name`` holds for every expectation of the item, else 0, at the first that fails.

    ``timing``: the reply's onset less the end of the trigger word lies in the item's window, both edges included; no
    reply is none in time. An expectation without a window holds. ``overlap``: ``required``, the reply begins before
    the user's last word of the turn ends; ``forbidden``, it begins at most ``overlap_tolerance`` before that end
    (included); ``allowed``, any. ``silence``: nothing is heard between the turn's start and the trigger word's
    (:func:`~fullduplex.measures.replies.speech_before`). ``content``: :func:`content`.
    The reply is :func:`~fullduplex.measures.replies.reply_to_word`'s; ``by`` says what its onset is.
    Absent: ``failed``, ``no annotation`` (no trigger word is marked), ``never asked`` (a trigger word was never said),
    ``no output``, ``no words``, ``censored`` (nothing was said, and the recording ends before the window does).
    """
    if name == "content":
        return content(trial, limits)
    triggers = _triggers(trial, limits, by)
    if isinstance(triggers, Absent):
        return triggers
    found = [_point(asked_, trigger, name, limits) for asked_, trigger in triggers]
    failed = next((one for one in found if isinstance(one, Fact) and not one.value), None)
    missing = next((one for one in found if isinstance(one, Absent)), None)
    return failed or missing or found[0]


def passed(trial: Trial, limits: Limits, *, by: By = "speech", points: Sequence[Point] | None = None) -> Fact | Absent:
    """Return 1 if every one of ``points`` holds, else 0; by default those of the item's scenario (:data:`PASSES_BY`).

    A point that fails decides, whatever the others are; without one, a point that is not known makes the item so.
    A trigger word that was never said, since the talk ended before it, fails the item.
    Absent: as :func:`point` and :func:`content`; ``no annotation`` (``points`` not given, and the scenario has none).
    """
    found = scene(trial)
    if isinstance(found, Absent):
        return found
    wanted = PASSES_BY.get(found.scenario) if points is None else tuple(points)
    if not wanted:
        return Absent("no annotation", f"the scenario {found.scenario!r} has no rule to pass by")
    made = {name: point(trial, name, limits, by=by) for name in wanted}
    for one in made.values():
        # Without these there is nothing that a failed point could be a failure of.
        if isinstance(one, Absent) and one.reason in ("no annotation", "no output"):
            return one
    failed = [one for one in made.values() if isinstance(one, Fact) and not one.value]
    if failed:
        at = next((one.at for one in failed if one.at is not None), None)
        # A rule that fails the item needs no judge.
        return Fact(
            0,
            at,
            "; ".join(dict.fromkeys(one.why for one in failed)),
            "" if any(not one.verdict for one in failed) else failed[0].verdict,
        )
    for one in made.values():
        if isinstance(one, Absent):
            return Fact(0, why=f"never asked: {one.detail}") if one.reason == "never asked" else one
    facts = [one for one in made.values() if isinstance(one, Fact)]
    return Fact(
        1,
        facts[0].at,
        "; ".join(dict.fromkeys(one.why for one in facts)),
        next((one.verdict for one in facts if one.verdict), ""),
    )


def asking(found: Scene) -> str:
    """Return the turn in which an item asks for what is judged: that of its trigger word, else the first.

    A user may say something before: ``Listen to my sentence``, ``Sure``. Of several trigger words the first counts in
    grammar and keyword-wait, whose reply follows each at once, else the last: a question ends what is thought aloud.
    """
    turns = [one.turn for one in found.expects]
    if not turns:
        return FIRST
    return turns[0] if found.scenario in TRIGGERED else turns[-1]


def answered(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if anything was said in answer, else 0: to the trigger word of each turn, else to the turn.

    Absent: as :func:`reply`.
    """
    found = scene(trial)
    if isinstance(found, Absent):
        return found
    turns = list(dict.fromkeys(one.turn for one in found.expects)) or [FIRST]
    first: Fact | None = None
    for name in turns:
        said = reply(trial, limits, turn=name)
        if isinstance(said, Absent):
            return said
        if said is None:
            return Fact(0, why=NO_REPLY if len(turns) == 1 else f"{NO_REPLY} to {name}")
        first = first or Fact(1, said.onset, "answered")
    return first or Absent("no annotation", "no turn calls for a reply")


def reaction(trial: Trial, limits: Limits, *, by: By = "speech", expect: int = 0) -> Fact | Absent:
    """Return the reply's onset less the end of its trigger word in seconds, negative where it came within the word.

    Of the expectation number ``expect``, from 0. Absent: ``no reply``, and as :func:`point`.
    """
    triggers = _triggers(trial, limits, by)
    if isinstance(triggers, Absent):
        return triggers
    if not 0 <= expect < len(triggers):
        return Absent("no annotation", f"the item has {len(triggers)} trigger words")
    found, trigger = triggers[expect]
    if isinstance(found, Absent):
        return found
    said = reply_to_word(found, trigger)
    if said is None or trigger.span is None:
        return _nothing(found, trigger, limits) or Absent(NO_REPLY)
    return Fact(in_seconds(said.onset - trigger.span.end), said.onset, _lag(said.onset - trigger.span.end))


def speaks_before(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if the system was heard in a turn before its trigger word, else 0: ``silence`` the other way round.

    The page does not hold it against a keyword-wait item, and flags it. Absent: as :func:`point`.
    """
    found = point(trial, "silence", limits)
    return found if isinstance(found, Absent) else Fact(1 - found.value, found.at, found.why)


def reply(trial: Trial, limits: Limits, *, turn: str = "", by: By = "speech") -> Reply | Absent | None:
    """Return what is judged as the reply to a turn, by default to that of :func:`asking`; None where nothing was said.

    Grammar and keyword-wait: the utterance that follows the trigger word at once
    (:func:`~fullduplex.measures.replies.reply_to_word`), so that a correction in the next pause does not make up for
    an ``okay`` in time. Stay-quiet and counting in turns: all from the trigger word's start on, until the user's next
    turn. Else all that answers the turn (:func:`~fullduplex.measures.replies.reply_to_turn`).
    Absent: ``failed``, ``no annotation``, ``never asked``, ``no output``, ``censored``.
    """
    told_of = scene(trial)
    if isinstance(told_of, Absent):
        return told_of
    turn = turn or asking(told_of)
    found = asked(trial, turn, limits, by=by)
    if isinstance(found, Absent):
        return found
    trigger = next((one for one in found.scene.expects if one.turn == turn), None)
    if trigger is not None and trigger.span is None:
        return Absent("never asked", f"the talk ended before {trigger.word!r} was said")
    if trigger is None or found.scene.scenario in ("logic", "countdown", "whisper", "volume"):
        said = reply_to_turn(found, limits)
    else:
        said = reply_to_word(found, trigger)
        if said is not None and found.scene.scenario not in TRIGGERED:
            said = _all_from(found, said)
    if said is None and found.ends_before(found.end + limits.window):
        return Absent("censored", f"the recording ends less than {in_seconds(limits.window):g} s after the turn")
    return said


def content(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if what was said is right, else 0.

    As a judge says (:data:`JUDGED_BY`); no words are wrong without being judged, but a person's correction counts
    in any case. In counting in turns a rule says: the numbers in the reply to each turn are the target and no other.
    Absent: ``not judged``, ``unparsable``, what kept the judge from saying, ``no words`` (the reply's are not known),
    and as :func:`reply`.
    """
    found = scene(trial)
    if isinstance(found, Absent):
        return found
    if found.scenario == "alternating_count":
        return _counts(trial, found, limits)
    name = JUDGED_BY.get(found.scenario)
    if name is None:
        return Absent("no annotation", f"the scenario {found.scenario!r} has no right content")
    verdict = trial.verdicts.get(name)
    if isinstance(verdict, Verdict) and by_person(verdict):
        return says_yes(verdict)
    said = reply(trial, limits)
    if isinstance(said, Absent):
        return said
    if said is None:
        return Fact(0, why=_wordless(trial, limits))
    if said.words is None:
        return Absent("no words", "the system's words are not known")
    verdict = verdict_on(trial, name, reply_key(said.onset, said.words))
    if verdict is None:
        return Absent("not judged", "no judge was asked of this reply")
    ruled = verdict if isinstance(verdict, Absent) else says_yes(verdict, name)
    return ruled if isinstance(ruled, Absent) else replace(ruled, at=said.onset)


def target_heard(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if the reply holds the target's words, else 0: a weak rule, which never stands in for a judge.

    Numbers count in figures and in English words. A target with commas is a list, to be said in order without another
    member between (:func:`~fullduplex.measures.spoken_numbers.says_in_order`); else its words stand in a row. Other
    right forms that the item's notes list (``accept: 24 | twenty four``) count too. It cannot tell an answer from a
    number named on the way to another. Counting in turns has a rule of its own, which is :func:`content`.
    Absent: ``no annotation`` (no target), ``no words``, and as :func:`reply`.
    """
    found = scene(trial)
    if isinstance(found, Absent):
        return found
    if found.scenario == "alternating_count":
        return content(trial, limits)
    wanted = [found.target, *_accepted(trial)]
    if not plain(found.target):
        return Absent("no annotation", "the item has no target")
    said = reply(trial, limits)
    if isinstance(said, Absent):
        return said
    if said is None:
        return Fact(0, why=NO_REPLY)
    if said.words is None:
        return Absent("no words", "the system's words are not known")
    heard = any(_heard(said.text, one) for one in wanted)
    return Fact(1 if heard else 0, said.onset, "by rule: heard" if heard else "by rule: not heard")


def says_yes(verdict: Verdict, name: str = "") -> Fact | Absent:
    """Return 1 for a verdict of yes, 0 for one of no (also true, pass, 1 and false, fail, 0); Absent ``unparsable``.

    ``name`` is the verdict's, for what the fact rests on.
    """
    text = str(verdict.value).strip().casefold()
    how = f"{verdict.by}: " if by_person(verdict) else "judged: "
    if text in ("yes", "true", "pass", "passed", "1", "1.0"):
        return Fact(1, why=how + (verdict.reason or "yes"), verdict=rests_on(verdict, name))
    if text in ("no", "false", "fail", "failed", "0", "0.0"):
        return Fact(0, why=how + (verdict.reason or "no"), verdict=rests_on(verdict, name))
    return Absent("unparsable", f"judged {verdict.value!r}, which is neither yes nor no")


def _triggers(trial: Trial, limits: Limits, by: By) -> list[tuple[Asked | Absent, Expectation]] | Absent:
    """Return every trigger word with the turn that it stands in, or why the turn is not known."""
    found = scene(trial)
    if isinstance(found, Absent):
        return found
    if not found.expects:
        return Absent("no annotation", "no trigger word is marked")
    made: list[tuple[Asked | Absent, Expectation]] = []
    for one in found.expects:
        where = asked(trial, one.turn, limits, by=by)
        if isinstance(where, Absent) and where.reason != "never asked":
            return where
        if one.span is None and not isinstance(where, Absent):
            where = Absent("never asked", f"the talk ended before {one.word!r} was said")
        made.append((where, one))
    return made


def _point(found: Asked | Absent, trigger: Expectation, name: Point, limits: Limits) -> Fact | Absent:
    if isinstance(found, Absent) or trigger.span is None:
        return found if isinstance(found, Absent) else Absent("never asked")
    if name == "silence":
        spoke = speech_before(found, trigger, limits)
        if spoke is None:
            return Fact(1, trigger.span.start, "kept quiet until then")
        return Fact(0, spoke.span.start, f"spoke {told(trigger.span.start - spoke.span.start)} before {trigger.word!r}")
    said = reply_to_word(found, trigger)
    if said is None:
        return _nothing(found, trigger, limits) or Fact(0, trigger.span.end, f"{NO_REPLY} to {trigger.word!r}")
    if name == "overlap":
        return _overlap(found, trigger, said, limits)
    lag = said.onset - trigger.span.end
    if trigger.window is None or trigger.window[0] <= lag <= trigger.window[1]:
        return Fact(1, said.onset, f"in time: {_lag(lag)}")
    early = lag < trigger.window[0]
    return Fact(0, said.onset, f"{'too early' if early else 'too late'}: {_lag(lag)}")


def _overlap(found: Asked, trigger: Expectation, said: Reply, limits: Limits) -> Fact:
    lead = found.end - said.onset
    while_talking = lead > 0
    if trigger.overlap == "required":
        return Fact(1 if while_talking else 0, said.onset, "overlaps" if while_talking else "began after the turn")
    if trigger.overlap == "forbidden" and lead > limits.overlap_tolerance:
        return Fact(0, said.onset, f"began {told(lead)} before the turn's end")
    return Fact(1, said.onset, "overlaps, as allowed" if while_talking else "began after the turn")


def _nothing(found: Asked, trigger: Expectation, limits: Limits) -> Absent | None:
    """Return Absent ``censored`` where a reply could have come after the recording's end, None where it could not."""
    latest = found.end + limits.window
    if trigger.span is not None and trigger.window is not None:
        latest = trigger.span.end + trigger.window[1]
    return Absent("censored", "the recording ends before the reply was due") if found.ends_before(latest) else None


def _all_from(found: Asked, said: Reply) -> Reply:
    if said.words is None:
        return said
    later = [u for u in found.said if u.span.start >= said.onset]
    words = [w for u in later for w in u.words or () if found.before is None or w.span.start < found.before]
    return Reply(said.onset, tuple(words))


def _counts(trial: Trial, found: Scene, limits: Limits) -> Fact | Absent:
    if not found.expects:
        return Absent("no annotation", "no trigger word is marked")
    first: int | None = None
    missing: Absent | None = None
    for one in found.expects:
        said = reply(trial, limits, turn=one.turn)
        if isinstance(said, Absent):
            missing = missing or said
        elif said is None:
            return Fact(0, None if one.span is None else one.span.end, f"{NO_REPLY} to {one.word!r}")
        elif said.words is None:
            return Absent("no words", "the system's words are not known")
        elif numbers(said.text) != numbers(one.target):
            heard = " ".join(numbers(said.text)).replace("#", "") or "no number"
            return Fact(0, said.onset, f"said {heard} for {one.target!r}")
        else:
            first = said.onset if first is None else first
    return missing or Fact(1, first, "every number is right")


def _wordless(trial: Trial, limits: Limits) -> str:
    """Return ``no reply``, and whether it sounded all the same: recognisers slip, most of all on whispers."""
    there = scene(trial)
    found = there if isinstance(there, Absent) else asked(trial, asking(there), limits, sounds=True)
    if isinstance(found, Absent) or reply_to_turn(found, limits) is None:
        return NO_REPLY
    if any(word.span.end > found.end for word in spoken(trial.system.words)):
        return NO_REPLY
    return f"{NO_REPLY} in words: something was heard, and no word recognised; {TO_HEAR}"


def _accepted(trial: Trial) -> list[str]:
    told_ = trial.item.reference.get("interaction")
    notes = str(told_.get("notes", "")) if isinstance(told_, dict) else ""
    _, found, listed = notes.partition("accept:")
    return [one.strip() for one in listed.split("|") if plain(one)] if found else []


def _heard(text: str, target: str) -> bool:
    # A comma within a number is no list: 1,500.
    members = re.split(r",\s", target)
    return says_in_order(text, members) if len(members) > 1 else says(text, target)


def _lag(time: int) -> str:
    return f"{told(time)} {'before' if time < 0 else 'after'} the word"
