"""What a system does when something is said over it: whether it stops, when, and when it speaks again.

Everything is tied to the annotated event. A reason begins with one of a few states: ``stopped``, ``talked
through``, ``was not speaking``. What cannot be known is Absent: ``failed``, ``no output``, ``no annotation``,
``not exercised`` (the system was not speaking), ``censored`` (the recording ends too early).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fullduplex.measures.floor import JOINED_WITHIN, Utterance, is_backchannel, utterances
from fullduplex.measures.judged_reply import by_person
from fullduplex.model.items import Event
from fullduplex.model.spans import in_seconds, ms, seconds
from fullduplex.model.trials import Absent, Fact, Trial, Verdict

Behaviour = Literal["respond", "resume", "uncertain", "unknown"]
BEHAVIOURS: tuple[Behaviour, ...] = ("respond", "resume", "uncertain", "unknown")


@dataclass(frozen=True, slots=True)
class Limits:
    """The thresholds of these measures; times in microseconds.

    ``joined_within``: silences of at most this long lie inside an utterance. ``yields_within``: a system that
    still speaks this long after the event's onset, and when the event is over, has talked through it.
    ``early``: an answer may begin this long before the event's end. ``window``: where the recording ends sooner
    than this after the event, an answer could not be heard. ``backchannel_under``, ``backchannel_words``: an
    utterance shorter than this, and of at most so many words, is no answer.
    """

    joined_within: int = JOINED_WITHIN
    yields_within: int = seconds(2)
    early: int = seconds(1)
    window: int = seconds(2)
    backchannel_under: int = seconds(1)
    backchannel_words: int = 3


@dataclass(frozen=True, slots=True)
class Course:
    """What became of the system's speech at an event.

    ``state``: ``was not speaking``, ``stopped``, ``talked through``, or ``cut off`` (the recording ends while it
    speaks). ``stop`` is when it stopped, None in the other states; ``holding`` the utterance that the event fell
    into; ``answer`` the first later utterance that is more than a backchannel; ``heard_until`` the recording's end,
    where it is known.
    """

    event: Event
    state: Literal["was not speaking", "stopped", "talked through", "cut off"]
    stop: int | None = None
    holding: Utterance | None = None
    answer: Utterance | None = None
    spoke_before: bool = False
    heard_until: int | None = None


def event_of(trial: Trial) -> Event | None:
    """Return what is said over the system: v1.5's annotated event, else an interruption."""
    return trial.event("overlap") or trial.event("interruption")


def course(trial: Trial, limits: Limits, event: Event | None = None) -> Course | Absent:
    """Return the system's course at the trial's event, or at ``event`` of another trial.

    Absent: ``failed``, ``no output``, ``no annotation``, ``censored`` (the recording ends before the event begins).
    """
    if trial.failed:
        return Absent("failed", trial.failed)
    at = event or event_of(trial)
    if at is None:
        return Absent("no annotation", "neither metadata.json nor interrupt.json tells the event")
    said = utterances(trial.system, joined_within=limits.joined_within)
    if said is None:
        return Absent("no output", "neither words nor audio of the system")
    length = trial.system.duration
    holding = next((u for u in said if at.span.start in u.span), None)
    earliest = max(at.span.start, at.span.end - limits.early)
    answer = next(
        (u for u in said if u is not holding and u.span.start >= earliest and u.span.end > at.span.end
         and not is_backchannel(u, shorter_than=limits.backchannel_under, at_most=limits.backchannel_words)),
        None,
    )  # fmt: skip
    before = any(u.span.start < at.span.start for u in said)
    if holding is None and length is not None and length <= at.span.start:
        return Absent("censored", "the system's recording ends before the event begins")
    if holding is None:
        return Course(at, "was not speaking", None, None, answer, before, length)
    deadline = max(at.span.end, at.span.start + limits.yields_within)
    if holding.span.end <= deadline:
        # An end that is the recording's own tells nothing of the speech.
        cut = length is not None and holding.span.end >= length - ms(50)
        return Course(at, "cut off" if cut else "stopped", holding.span.end, holding, answer, before, length)
    return Course(at, "talked through", None, holding, answer, before, length)


def exercised(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if the system was speaking when the event began, else 0. Absent as :func:`course`."""
    found = course(trial, limits)
    if isinstance(found, Absent):
        return found
    on = found.holding is not None
    return Fact(1 if on else 0, found.event.span.start, "was speaking" if on else "was not speaking")


def talks_through(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if the system went on speaking through the event, 0 if it stopped.

    Through: it still spoke when the event was over and ``yields_within`` after its onset, without a silence
    longer than ``joined_within``. Absent: ``not exercised``, ``censored``, and as :func:`course`.
    """
    found = _speaking(trial, limits)
    if isinstance(found, Absent):
        return found
    return Fact(0 if found.state == "stopped" else 1, found.event.span.start, _told(found))


def stop_latency(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return when the system fell silent, less the event's onset, in seconds.

    Absent: ``talked through``, ``not exercised``, ``censored``, and as :func:`course`. Whether it fell silent because
    of the event is not told by one recording: compare with :func:`stops` in the clean twin.
    """
    found = _speaking(trial, limits)
    if isinstance(found, Absent):
        return found
    if found.stop is None:
        return Absent("talked through", _told(found))
    return Fact(in_seconds(found.stop - found.event.span.start), found.stop, _told(found))


def stops(trial: Trial, limits: Limits, *, in_twin: bool = False) -> Fact | Absent:
    """Return 1 if the system, speaking when the event began, stopped in time; 0 if it talked through.

    ``in_twin``: the same moments of the clean twin, where nothing was said over it: how often it would have
    stopped anyway. Absent as :func:`talks_through`; ``no clean twin``.
    """
    if not in_twin:
        found = talks_through(trial, limits)
        return found if isinstance(found, Absent) else Fact(1 - found.value, found.at, found.why)
    if trial.twin is None:
        return Absent("no clean twin", "neither clean_output.wav nor clean_output.json")
    event = event_of(trial)
    found_twin = course(trial.twin, limits, event) if event is not None else Absent("no annotation")
    if isinstance(found_twin, Absent):
        return found_twin
    if found_twin.holding is None:
        return Absent("not exercised", "was not speaking in the clean twin")
    if found_twin.state == "cut off":
        return Absent("censored", "the twin's recording ends while the system speaks")
    return Fact(1 if found_twin.state == "stopped" else 0, found_twin.event.span.start, f"twin: {_told(found_twin)}")


def response_latency(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return the onset of the system's next speech less the event's end, in seconds; negative when it began early.

    The next speech is the first utterance after the event, at most ``early`` before its end, that is more than a
    backchannel. Absent: ``talked through`` where there is none but the speech that went on, ``no response``,
    ``censored``, and as :func:`course`.
    """
    found = course(trial, limits)
    if isinstance(found, Absent):
        return found
    if found.state == "talked through":
        return Absent("talked through", _told(found))
    end = found.event.span.end
    if found.answer is not None:
        onset = found.answer.span.start
        return Fact(in_seconds(onset - end), onset, f"{_told(found)}; spoke {_lag(onset - end)} the event's end")
    if found.heard_until is not None and found.heard_until < end + limits.window:
        left = in_seconds(max(0, found.heard_until - end))
        return Absent("censored", f"the recording ends {left:.2f} s after the event")
    return Absent("no response", _told(found))


def behaviour(trial: Trial, limits: Limits, *, calls_for: Behaviour) -> tuple[Behaviour, str] | Absent:
    """Return what the system did: by rule where speech alone decides, else as it was judged.

    By rule: speech that goes on through the event, with nothing new after it, is ``resume``; silence
    after the event is ``unknown``, unless the system had nothing to resume and nothing was asked of it
    (``calls_for`` is then ``resume``): ``not exercised``. A person's correction wins over the rule.
    Absent: ``not judged``; what kept the judge from saying; ``censored``; and as :func:`course`.
    """
    verdict = trial.verdicts.get("behaviour")
    if isinstance(verdict, Verdict) and by_person(verdict):
        return _labelled(verdict)
    ruled = by_rule(trial, limits, calls_for=calls_for)
    if ruled is not None:
        return ruled
    if isinstance(verdict, Absent):
        return verdict
    if verdict is None:
        return Absent("not judged", "speech alone does not decide here, and no judge was asked")
    return _labelled(verdict)


def by_rule(trial: Trial, limits: Limits, *, calls_for: Behaviour) -> tuple[Behaviour, str] | Absent | None:
    """Return the behaviour where speech alone decides it, None where what was said has to be judged."""
    found = course(trial, limits)
    if isinstance(found, Absent):
        return found
    if found.answer is not None:
        return None
    if found.state == "talked through":
        return "resume", "by rule: went on without a break, and said nothing new"
    if found.heard_until is not None and found.heard_until < found.event.span.end + limits.window:
        return Absent("censored", "the recording ends too soon after the event")
    if found.holding is None and calls_for == "resume":
        had = "had finished" if found.spoke_before else "had said nothing"
        return Absent("not exercised", f"{had}: there was nothing to resume, and nothing was asked of it")
    return "unknown", f"by rule: {_told(found)}, and said nothing after the event"


def behaves(trial: Trial, label: str, limits: Limits, calls_for: Behaviour) -> Fact | Absent:
    """Return 1 if :func:`behaviour` is ``label``, else 0. Absent as there."""
    found = behaviour(trial, limits, calls_for=calls_for)
    if isinstance(found, Absent):
        return found
    event = event_of(trial)
    ruled = by_person(trial.verdicts.get("behaviour")) or by_rule(trial, limits, calls_for=calls_for) is not None
    at = None if event is None else event.span.start
    return Fact(1 if found[0] == label else 0, at, found[1], "" if ruled else "behaviour")


def plain_label(text: str) -> str:
    """Return a label as ours are written: ``C_UNCERTAIN_HANDLING`` is ``uncertain``."""
    return text.strip().lower().removeprefix("c_").removesuffix("_handling")


def _labelled(verdict: Verdict) -> tuple[Behaviour, str] | Absent:
    text = plain_label(str(verdict.value))
    label = next((known for known in BEHAVIOURS if known == text), None)
    if label is None:
        return Absent("unparsable", f"judged {verdict.value!r}, which is none of {', '.join(BEHAVIOURS)}")
    how = verdict.by if by_person(verdict) else "judged"
    return label, f"{how}: {label}" + (f", {verdict.reason}" if verdict.reason else "")


def _speaking(trial: Trial, limits: Limits) -> Course | Absent:
    found = course(trial, limits)
    if isinstance(found, Absent):
        return found
    if found.holding is None:
        return Absent("not exercised", "the system was not speaking when the event began")
    if found.state == "cut off":
        return Absent("censored", "the recording ends while the system speaks")
    return found


def _told(found: Course) -> str:
    if found.stop is not None:
        return f"stopped: {_lag(found.stop - found.event.span.start).removesuffix(' after')} after the event began"
    return found.state


def _lag(time: int) -> str:
    size = abs(time)
    text = f"{size / ms(1):.0f} ms" if size < seconds(1) else f"{in_seconds(size):.2f} s"
    return f"{text} {'before' if time < 0 else 'after'}"
