"""What judges of an interaction are shown, for each rubric: never whose reply it is, and nothing that a rule decides.

Each function takes a trial and returns the fields of its rubric, several questions under a key each, or Absent:
``failed``, ``no annotation``, ``no output``, ``never asked``, ``censored``, ``no words``, ``no reply`` (a rule says
what that comes to), ``settled by rule``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from fullduplex.benchmarks.declare import Stretch
from fullduplex.benchmarks.interactionbench.transcript import conversation, timed, words_of
from fullduplex.measures import exchange, grounded, tasks
from fullduplex.measures.exchange_ground import spoken
from fullduplex.measures.interaction import Expectation, Probe, Scene, Turn, scene
from fullduplex.measures.judged_reply import reply_key
from fullduplex.measures.replies import Limits, Reply
from fullduplex.model.spans import in_seconds, ms
from fullduplex.model.trials import Absent, Trial

Fields = Mapping[str, str]
Questions = Mapping[str, Fields]

#: What a probe is, in words for a judge, by its type and its kind.
KINDS = {
    "recall": "recalls something that was said earlier",
    "update": "asks for something that was changed later: the last state counts",
    "never_said": "asks for something that was never said",
    "constraint": "asks for something within a limit that was set earlier",
    "attribution": "asks who said or wanted something, or ascribes it to the wrong one",
    "false_premise": "takes something for granted that does not hold",
    "nonsense": "asks a question that makes no sense",
    "false_action": "takes for granted that the assistant did something that it never did",
    "false_accusation": "reproaches the assistant with something that it never said",
    "unknown_information": "asks for information that nobody has given",
}
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
#: So many words on each side of a mistake place it in its sentence.
_BESIDE = 2
#: What is heard before a reply and after its last word, in microseconds: recognisers cut edges short.
_BEFORE, _AFTER = ms(200), ms(500)


def backchannel_kind_fields(trial: Trial, limits: exchange.Limits) -> Questions | Absent:
    """Return what each candidate for a backchannel is, and what the user was saying; keyed as the measure has it."""
    found = scene(trial)
    if isinstance(found, Absent):
        return found
    turn = found.turn(tasks.FIRST)
    candidates = exchange.candidates(trial, limits)
    if not candidates or turn is None:
        return Absent("settled by rule", "no utterance during the monologue is short enough to be a backchannel")
    return {
        key: {"user": _said_until(trial, turn, u.span.end), "utterance": " ".join(w.text for w in u.words or ())}
        for key, u in candidates
    }


def behaviour_fields(trial: Trial, limits: exchange.Limits) -> Questions | Absent:
    """Return the fields of the rubric ``behaviour`` for each of the user's backchannels that no rule decides.

    Keyed by the turn (``b0``). There is no clean run: what the system said until the user's next turn tells whether it
    went on.
    """
    found = scene(trial)
    if isinstance(found, Absent):
        return found
    if trial.system.words is None:
        return Absent("no words", "the system's words are not known")
    made = {turn.id: _behaviour(trial, found, turn) for turn in exchange.undecided(trial, limits) if turn.span}
    return made or Absent("settled by rule")


def addressed_fields(trial: Trial, limits: exchange.Limits) -> Fields | Absent:
    """Return the fields of the rubric ``addressed``: what went before, the interruption, and the reply to it."""
    found = scene(trial)
    if isinstance(found, Absent):
        return found
    replies = exchange.replies(trial, limits)
    if isinstance(replies, Absent):
        return replies
    turn = found.turn("u1")
    if any(u.words is None for u in replies):
        return Absent("no words", "the system's words are not known")
    reply = " ".join(word.text for u in replies for word in spoken(u.words))
    if not reply or turn is None or turn.span is None:
        return Absent(tasks.NO_REPLY)
    words = [word for u in replies for word in u.words or ()]
    context = conversation(trial, found, before=turn.span.start, said_before=turn.span.end, leaves=words)
    return {"context": context, "interruption": words_of(trial, turn), "reply": reply}


def target_said_fields(trial: Trial, limits: Limits) -> Fields | Absent:
    """Return the fields of the rubric ``target-said``: the puzzle or the row, its target, and the reply."""
    got = _replied(trial, limits)
    if isinstance(got, Absent):
        return got
    found, turn, said = got
    return {"question": words_of(trial, turn), "target": found.target, "reply": said.text}


def correction_fields(trial: Trial, limits: Limits) -> Fields | Absent:
    """Return the fields of the rubric ``correction``: the sentence, the mistake in its place, the repair, the reply."""
    got = _replied(trial, limits)
    if isinstance(got, Absent):
        return got
    found, turn, said = got
    trigger = _trigger(found, turn)
    if trigger is None:
        return Absent("no annotation", "no trigger word is marked")
    sentence = words_of(trial, turn)
    return {
        "sentence": sentence,
        "error": _beside(sentence, trigger.word),
        "repair": trigger.target or found.target,
        "reply": said.text,
    }


def keyword_named_fields(trial: Trial, limits: Limits) -> Fields | Absent:
    """Return the fields of the rubric ``keyword-named``: all that the user says, the target, and the reply."""
    got = _replied(trial, limits)
    if isinstance(got, Absent):
        return got
    found, turn, said = got
    trigger = _trigger(found, turn)
    target = trigger.target if trigger is not None and trigger.target else found.target
    return {"task": words_of(trial, turn), "target": target, "reply": said.text}


def answered_right_fields(trial: Trial, limits: Limits) -> Fields | Absent:
    """Return the fields of the rubric ``answered-right``: the question is the last sentence of what the user says."""
    got = _replied(trial, limits)
    if isinstance(got, Absent):
        return got
    found, turn, said = got
    *thoughts, question = _SENTENCE.split(words_of(trial, turn))
    return {"told": " ".join(thoughts), "question": question, "target": found.target, "reply": said.text}


def understood_fields(trial: Trial, limits: Limits) -> Fields | Absent:
    """Return the fields of the rubric ``understood``: the request and the reply."""
    got = _replied(trial, limits)
    if isinstance(got, Absent):
        return got
    _, turn, said = got
    return {"request": words_of(trial, turn), "reply": said.text}


def probe_fields(trial: Trial, limits: Limits) -> Questions | Absent:
    """Return the fields of the rubric ``probe`` for each probe with a reply to judge, keyed by its id.

    The conversation is all that was said before the probe was over, without the probe and the reply to it.
    """
    found = _conversed(trial)
    if isinstance(found, Absent):
        return found
    made: dict[str, Fields] = {}
    for probe in found.probes:
        said, turn = grounded.reply_to(trial, probe, limits), found.turn(probe.turn)
        if said is None or isinstance(said, Absent) or turn is None or turn.span is None:
            continue
        made[probe.id] = {
            "conversation": _until(trial, found, turn, said),
            "kind": _kind(probe),
            "probe": words_of(trial, turn),
            "fact": _holds(probe),
            "reply": said.text,
        }
    return made or Absent(tasks.NO_REPLY, "no probe has a reply")


def premise_fields(trial: Trial, limits: Limits) -> Questions | Absent:
    """Return the fields of the rubric ``premise`` for each probe that was asked and rests on what the assistant said.

    Keyed by the probe's id. The reply to the probe is not shown: it cannot make its own premise.
    """
    found = _conversed(trial)
    if isinstance(found, Absent):
        return found
    resting = [probe for probe in found.probes if probe.rests_on_assistant]
    if not resting:
        return Absent("settled by rule", "no probe rests on what the assistant said")
    made: dict[str, Fields] = {}
    for probe in resting:
        turn = found.turn(probe.turn)
        if turn is None or turn.span is None:
            continue
        said = grounded.reply_to(trial, probe, limits)
        made[probe.id] = {
            "conversation": _until(trial, found, turn, said if isinstance(said, Reply) else None),
            "kind": _kind(probe),
            "probe": words_of(trial, turn),
            "expected": _holds(probe),
        }
    return made or Absent("never asked", "the talk ended before each probe that rests on what the assistant said")


def probe_keys(trial: Trial) -> list[str]:
    """Return the id of each probe: a person may correct what a rule says of one, too."""
    found = scene(trial)
    return [] if isinstance(found, Absent) else [probe.id for probe in found.probes]


def premise_keys(trial: Trial) -> list[str]:
    """Return the id of each probe that rests on what the assistant said."""
    found = scene(trial)
    return [] if isinstance(found, Absent) else [probe.id for probe in found.probes if probe.rests_on_assistant]


def behaviour_keys(trial: Trial, limits: exchange.Limits) -> list[str]:
    """Return the id of each backchannel of the user's that met the system speaking: of others nothing can be said."""
    found = exchange.outcomes(trial, limits)
    if isinstance(found, Absent):
        return []
    unmet = [one.turn.id for one in found if isinstance(one.label, Absent) and one.label.reason == "not exercised"]
    return [one.turn.id for one in found if one.turn.id not in unmet]


def coherence_fields(trial: Trial, limits: Limits) -> Fields | Absent:
    """Return the field of the rubric ``coherence``: the whole conversation."""
    found = _conversed(trial)
    if isinstance(found, Absent):
        return found
    if not spoken(trial.system.words):
        return Absent(tasks.NO_REPLY, "the assistant said nothing")
    return {"conversation": conversation(trial, found)}


def reply_named(trial: Trial, limits: Limits) -> str:
    """Return what names the reply to the first turn, "" where there is none to judge."""
    got = _replied(trial, limits)
    return "" if isinstance(got, Absent) else reply_key(got[2].onset, got[2].words)


def reply_heard(trial: Trial, limits: Limits) -> Stretch | None:
    """Return the stretch of the system's sound that holds the reply, with a little before and after it."""
    got = _replied(trial, limits)
    if isinstance(got, Absent):
        return None
    said = got[2]
    end = max((word.span.end for word in said.words or ()), default=None)
    start = max(0, said.onset - _BEFORE)
    return Stretch("system", in_seconds(start), None if end is None else in_seconds(end + _AFTER))


def interruption_named(trial: Trial, limits: exchange.Limits) -> str:
    """Return what names the replies to the interruption, "" where there are none to judge."""
    found = exchange.replies(trial, limits)
    return "" if isinstance(found, Absent) or not found else exchange.replies_key(found)


def _replied(trial: Trial, limits: Limits) -> tuple[Scene, Turn, Reply] | Absent:
    """Return the scene, the turn that asks and the reply to it that is to be judged."""
    found = scene(trial)
    if isinstance(found, Absent):
        return found
    said, turn = tasks.reply(trial, limits), found.turn(tasks.asking(found))
    if isinstance(said, Absent):
        return said
    if said is None or turn is None:
        return Absent(tasks.NO_REPLY)
    if said.words is None:
        return Absent("no words", "the system's words are not known")
    return found, turn, said


def _conversed(trial: Trial) -> Scene | Absent:
    found = scene(trial)
    if not isinstance(found, Absent) and trial.system.words is None:
        return Absent("no words", "the system's words are not known")
    return found


def _trigger(found: Scene, turn: Turn) -> Expectation | None:
    return next((one for one in found.expects if one.turn == turn.id), None)


def _until(trial: Trial, found: Scene, turn: Turn, said: Reply | None) -> str:
    start, end = (0, 0) if turn.span is None else (turn.span.start, turn.span.end)
    leaves = () if said is None else said.words or ()
    return conversation(trial, found, before=start, said_before=end, leaves=leaves)


def _kind(probe: Probe) -> str:
    return KINDS.get(probe.kind) or KINDS.get(probe.type, probe.type)


def _holds(probe: Probe) -> str:
    return f"{probe.expected} {f'({probe.fact})' if probe.fact else ''}".strip()


def _behaviour(trial: Trial, found: Scene, turn: Turn) -> Fields:
    if turn.span is None:
        raise ValueError(f"{turn.id} never fell")
    start, end = turn.span.start, turn.span.end
    later = found.after(turn.id)
    until = later.span.start if later is not None and later.span is not None else None
    words = spoken(trial.system.words)
    first = found.turn(tasks.FIRST)
    return {
        "user": "" if first is None else words_of(trial, first),
        "overlap": words_of(trial, turn),
        "overlap_time": f"{in_seconds(start):.2f}-{in_seconds(end):.2f}",
        "before": timed(w for w in words if w.span.start < start),
        "during": timed(w for w in words if start <= w.span.start < end),
        "after": timed(w for w in words if w.span.start >= end and (until is None or w.span.start < until)),
        "clean": "(not recorded)",
    }


def _said_until(trial: Trial, turn: Turn, time: int) -> str:
    """Return what the user has said in ``turn`` by ``time``, and whether more follows; all where no times are known."""
    words = [
        w for w in trial.user.words or ()
        if turn.span is not None and (w.span.start + w.span.end) // 2 in turn.span
    ]  # fmt: skip
    by_then = [w.text for w in words if w.span.start < time]
    if not by_then:
        return words_of(trial, turn)
    return " ".join(by_then) + (" ..." if len(by_then) < len(words) else "")


def _beside(sentence: str, word: str) -> str:
    """Return ``word`` with its neighbours in ``sentence``; alone where it stands there not once, or often."""
    words = sentence.split()
    at = [n for n, one in enumerate(words) if _bare(one) == _bare(word)]
    if len(at) != 1:
        return word
    return " ".join(words[max(0, at[0] - _BESIDE) : at[0] + _BESIDE + 1])


def _bare(word: str) -> str:
    return "".join(c for c in word.casefold() if c.isalnum())
