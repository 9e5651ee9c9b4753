"""Whether replies stay true to what a long conversation has established: its probes, and how it holds together.

Each probe has a state: ``passed``, ``wrong reply``, ``no reply``, ``never asked`` (the talk ended before it), which
all count, and ``premise does not hold``, which does not. What is not known is Absent: ``not judged`` and what kept the
judge from saying, ``no words``, ``failed``, ``no annotation``, ``no output``.
Source: InteractionBench; what is ours is told where it stands.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from fullduplex.measures.interaction import Probe, Scene, scene
from fullduplex.measures.judged_reply import by_person, rests_on
from fullduplex.measures.replies import Limits, Reply, asked, reply_to_turn, said_anything
from fullduplex.measures.tasks import says_yes
from fullduplex.model.spans import in_seconds
from fullduplex.model.trials import Absent, Fact, Trial, Verdict

State = Literal["passed", "wrong reply", "no reply", "never asked", "premise does not hold"]
STATES: tuple[State, ...] = ("passed", "wrong reply", "no reply", "never asked", "premise does not hold")
#: The states that are failures.
FAILURES: tuple[State, ...] = ("wrong reply", "no reply", "never asked")
BROKEN: State = "premise does not hold"
#: The verdicts that are asked for: ``probe:ID`` of each probe with a reply, ``premise:ID`` of what rests on the system.
PROBE, PREMISE = "probe", "premise"


@dataclass(frozen=True, slots=True)
class Probed:
    """What became of one probe.

    ``state`` is Absent where it is not known. ``doubted``: a judge says that its premise does not hold in this talk,
    and no person has confirmed it yet; the probe counts all the same. ``judged``: a judge said what it came to.
    """

    probe: Probe
    state: State | Absent
    why: str = ""
    at: int | None = None
    doubted: bool = False
    judged: bool = False

    @property
    def fact(self) -> Fact | Absent:
        """Return 1 if the probe was passed, 0 if not; Absent where it does not count, or is not known."""
        if isinstance(self.state, Absent):
            return self.state
        if self.state == BROKEN:
            return Absent(BROKEN, self.why)
        doubt = "; its premise is doubted, and no person has confirmed that" if self.doubted else ""
        return Fact(1 if self.state == "passed" else 0, self.at, self.why + doubt, PROBE if self.judged else "")


def probed(trial: Trial, limits: Limits) -> tuple[Probed, ...] | Absent:
    """Return what became of each probe of the conversation.

    The reply is what answers the probe's turn, until the user's next turn begins
    (:func:`~fullduplex.measures.replies.reply_to_turn`). Without one the probe fails unjudged, also where the recording
    ends right after it, as one that was never asked does; else as a judge says (verdict ``probe:ID``, the majority of
    its votes). A person's correction counts in any case.
    The premise of a probe that rests on what the assistant said is judged too (verdict ``premise:ID``: ``holds`` or
    ``broken``); only where a person says ``broken`` is the probe left out. Absent: ``failed``, ``no annotation`` (no
    interaction, or no probe in it), ``no output``.
    """
    found = scene(trial)
    if isinstance(found, Absent):
        return found
    if not found.probes:
        return Absent("no annotation", "the conversation has no probe")
    anything = said_anything(trial, limits)
    if isinstance(anything, Absent):
        return anything
    return tuple(_probed(trial, found, probe, limits) for probe in found.probes)


def probe_facts(trial: Trial, limits: Limits) -> list[tuple[str, str, Fact | Absent]]:
    """Return each probe's id, its type and whether it was passed; nothing where the conversation is not known."""
    found = probed(trial, limits)
    return [] if isinstance(found, Absent) else [(one.probe.id, one.probe.type, one.fact) for one in found]


def grounded(trial: Trial, limits: Limits, *, type: str = "", kind: str = "") -> Fact | Absent:
    """Return the share of the conversation's probes that were passed, of all that count; 1 is all of them.

    ``type`` and ``kind`` take only probes of that type (``recall``) and kind (``false_action``). Conversations have
    unequal numbers of probes: a share over all of a run's is the sum of :func:`count` ``passed`` over that of
    :func:`counted`, and not the mean of these.
    Absent: ``no such probe``, ``premise does not hold`` (in every one), what is not known of a probe (none is left
    out for that: those that fail by rule would weigh too much), and as :func:`probed`.
    """
    found = _of_kind(trial, limits, type, kind)
    if isinstance(found, Absent):
        return found
    facts = [one.fact for one in found]
    unknown = [one for one in facts if isinstance(one, Absent) and one.reason != BROKEN]
    if unknown:
        reason = Counter(one.reason for one in unknown).most_common(1)[0][0]
        return Absent(reason, f"{len(unknown)} of {len(found)} probes; {unknown[0].detail}".rstrip("; "))
    values = [one for one in facts if isinstance(one, Fact)]
    if not values:
        return Absent(BROKEN)
    passed = sum(one.value for one in values)
    first = next((one.at for one in values if not one.value and one.at is not None), None)
    return Fact(passed / len(values), first, _told(found), _judged_by(found))


def count(trial: Trial, state: State, limits: Limits, *, type: str = "") -> Fact | Absent:
    """Return how many probes came to ``state``: one of :data:`STATES`.

    Absent: what is not known of a probe, unless no judge matters to ``state`` (``no reply``, ``never asked``); and as
    :func:`probed`.
    """
    found = _of_kind(trial, limits, type, "")
    if isinstance(found, Absent):
        return found
    unknown = next((one.state for one in found if isinstance(one.state, Absent)), None)
    if unknown is not None and state not in ("no reply", "never asked"):
        return unknown
    those = [one for one in found if one.state == state]
    at = next((one.at for one in those if one.at is not None), None)
    judged = "" if state in ("no reply", "never asked", BROKEN) else _judged_by(found)
    return Fact(len(those), at, ", ".join(one.probe.id for one in those), judged)


def counted(trial: Trial, limits: Limits, *, type: str = "") -> Fact | Absent:
    """Return how many probes count: all but those whose premise a person says does not hold.

    Absent: as :func:`probed`.
    """
    found = _of_kind(trial, limits, type, "")
    return found if isinstance(found, Absent) else Fact(sum(one.state != BROKEN for one in found))


def premises_doubted(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return how many premises a judge says do not hold and no person has looked at: what is for review.

    Absent: ``not judged`` and what kept the judge from saying, of any probe that was asked and rests on what the
    assistant said; and as :func:`probed`.
    """
    found = probed(trial, limits)
    if isinstance(found, Absent):
        return found
    judged = False
    for one in found:
        if one.probe.rests_on_assistant and one.probe.span is not None:
            verdict = trial.verdicts.get(f"{PREMISE}:{one.probe.id}", Absent("not judged", "no judge was asked"))
            if isinstance(verdict, Absent):
                return verdict
            judged = judged or not by_person(verdict)
    those = [one for one in found if one.doubted]
    at = next((one.at for one in those), None)
    return Fact(len(those), at, ", ".join(one.probe.id for one in those), PREMISE if judged else "")


def coherence(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return how well the assistant's side of the conversation holds together, 0 to 100, as a judge says.

    0 where it said nothing at all, unjudged. Absent: ``not judged``, ``unparsable``, what kept the judge from saying,
    ``failed``, ``no annotation``, ``no output``.
    """
    found = scene(trial)
    if isinstance(found, Absent):
        return found
    verdict = trial.verdicts.get("coherence")
    anything = said_anything(trial, limits)
    if isinstance(anything, Absent):
        return anything
    if not anything and not by_person(verdict):
        return Fact(0, why="said nothing")
    if verdict is None:
        return Absent("not judged", "no judge was asked")
    if isinstance(verdict, Absent):
        return verdict
    try:
        value = float(verdict.value)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        return Absent("unparsable", f"judged {verdict.value!r}, which is no number from 0 to 100")
    return Fact(value, why=verdict.reason, verdict=rests_on(verdict, "coherence"))


def reply_to(trial: Trial, probe: Probe, limits: Limits) -> Reply | Absent | None:
    """Return the reply to ``probe``, None where there is none.

    Absent: ``never asked``, ``no output``, ``failed``, ``no annotation``, ``censored`` (nothing was said, and the
    recording ends before the user's next turn and sooner than ``window`` after the probe).
    """
    found = asked(trial, probe.turn, limits)
    if isinstance(found, Absent):
        return found
    said = reply_to_turn(found, limits)
    if said is None and found.ends_before(found.end + limits.window):
        return Absent("censored", f"the recording ends less than {in_seconds(limits.window):g} s after the probe")
    return said


def _probed(trial: Trial, found: Scene, probe: Probe, limits: Limits) -> Probed:
    in_doubt = False
    if probe.rests_on_assistant:
        premise = trial.verdicts.get(f"premise:{probe.id}")
        if isinstance(premise, Verdict) and str(premise.value).strip().casefold() == "broken":
            if by_person(premise):
                start = None if probe.span is None else probe.span.start
                return Probed(probe, BROKEN, f"{premise.by}: {premise.reason}".rstrip(": "), start)
            in_doubt = True
    verdict = trial.verdicts.get(f"probe:{probe.id}")
    turn = found.turn(probe.turn)
    at = probe.span.start if probe.span is not None else None
    if isinstance(verdict, Verdict) and by_person(verdict):
        return _judged(probe, verdict, at, in_doubt)
    if probe.span is None or turn is None:
        return Probed(probe, "never asked", "never asked: the talk ended before it", None, in_doubt)
    said = reply_to(trial, probe, limits)
    if isinstance(said, Absent) and said.reason == "censored":
        return Probed(probe, "no reply", f"no reply: {said.detail}", at, in_doubt)
    if isinstance(said, Absent):
        return Probed(probe, said, at=at, doubted=in_doubt)
    if said is None:
        return Probed(probe, "no reply", "no reply", at, in_doubt)
    if said.words is None:
        return Probed(probe, Absent("no words", "the system's words are not known"), at=at, doubted=in_doubt)
    if verdict is None:
        return Probed(probe, Absent("not judged", "no judge was asked"), at=at, doubted=in_doubt)
    if isinstance(verdict, Absent):
        return Probed(probe, verdict, at=at, doubted=in_doubt)
    return _judged(probe, verdict, said.onset, in_doubt)


def _judged(probe: Probe, verdict: Verdict, at: int | None, in_doubt: bool) -> Probed:
    yes = says_yes(verdict)
    if isinstance(yes, Absent):
        return Probed(probe, yes, at=at, doubted=in_doubt)
    judged = not by_person(verdict)
    if yes.value:
        return Probed(probe, "passed", yes.why, at, in_doubt, judged)
    return Probed(probe, "wrong reply", f"wrong reply: {yes.why}", at, in_doubt, judged)


def _judged_by(found: tuple[Probed, ...]) -> str:
    return PROBE if any(one.judged for one in found) else ""


def _of_kind(trial: Trial, limits: Limits, type: str, kind: str) -> tuple[Probed, ...] | Absent:
    found = probed(trial, limits)
    if isinstance(found, Absent):
        return found
    those = tuple(one for one in found if type in ("", one.probe.type) and kind in ("", one.probe.kind))
    return those or Absent("no such probe", f"no probe is of {type or kind}")


def _told(found: tuple[Probed, ...]) -> str:
    """Return how many probes came to each state, in words."""
    states = Counter(one.state for one in found if not isinstance(one.state, Absent))
    told = [f"{states[state]} {state}" for state in STATES if states[state]]
    in_doubt = sum(one.doubted for one in found)
    return ", ".join(told + ([f"{in_doubt} with a doubted premise"] if in_doubt else []))
