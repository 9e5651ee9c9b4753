"""Whether and when a system answered an event: verdicts tied to the event itself.

Every reason begins with one of a few states, so that they can be counted:
``silent``, ``backchannel only``, ``spoke before the end``, ``talked through``,
``spoke elsewhere``, ``took the pause``, ``answered``. What cannot be known is
Absent: ``failed``, ``no output``, ``no annotation``, ``censored``.
"""

from __future__ import annotations

from dataclasses import dataclass

from fullduplex.measures.floor import Utterance, is_backchannel, utterances
from fullduplex.model.items import Event
from fullduplex.model.spans import in_seconds, ms, seconds
from fullduplex.model.trials import Absent, Fact, Trial


@dataclass(frozen=True, slots=True)
class Limits:
    """The thresholds of these verdicts; times in microseconds.

    ``backchannel_under``, ``backchannel_words``: shorter than, and at most. ``early``: an
    answer may begin this long before the event's end and still answer it.
    ``window``: where the recording ends sooner than this after the event and nothing
    was said, no answer could be heard.
    """

    backchannel_under: int = seconds(1)
    backchannel_words: int = 3
    early: int = seconds(1)
    window: int = seconds(2)


def takes_pause(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if the system took the floor in an annotated pause of the user, else 0.

    Taken: an utterance that is no backchannel begins in the pause, or sounds through
    all of it. An utterance that ends within the pause it began before has stopped, and is none.
    Absent: ``failed``, ``no output``, ``no annotation``, ``censored`` (the recording ends in the pause).
    Source: own. The released script looks for speech anywhere in the file.
    """
    said = _said(trial)
    if isinstance(said, Absent):
        return said
    pauses = trial.all("pause")
    if not pauses:
        return Absent("no annotation", "no pause is known")
    floor = [u for u in said if not _short(u, limits)]
    for pause in pauses:
        for u in floor:
            if u.span.start in pause.span:
                return Fact(1, u.span.start, f"took the pause: {_lag(u.span.start - pause.span.start)} into it")
            if u.span.start < pause.span.start and u.span.end >= pause.span.end:
                return Fact(1, pause.span.start, "talked through: was speaking before the pause and after it")
    last = pauses[-1].span.end
    if trial.system.duration is not None and trial.system.duration < last:
        return Absent("censored", "the recording ends before the pause does")
    if not said:
        return Fact(0, why="silent")
    if not floor:
        return Fact(0, said[0].span.start, "backchannel only")
    return Fact(0, floor[0].span.start, "spoke elsewhere: took the floor, but in no pause")


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of an event that calls for an answer. ``onset`` is None where there was none."""

    onset: int | None
    why: str
    at: int | None = None


def answer(trial: Trial, limits: Limits) -> Answer | Absent:
    """Return the system's answer to the user's turn end or interruption.

    The answer is the first utterance, no backchannel, that begins at most
    ``limits.early`` before the event's end (and not before an interruption's onset)
    and is heard after it. Absent: ``failed``, ``no output``, ``no annotation``, ``censored``.
    """
    said = _said(trial)
    if isinstance(said, Absent):
        return said
    event = _anchor(trial)
    if event is None:
        return Absent("no annotation", "neither a turn's end nor an interruption is known")
    end = event.span.end if event.kind == "interruption" else event.span.start
    earliest = end - limits.early
    if event.kind == "interruption":
        earliest = max(earliest, event.span.start)
    floor = [u for u in said if not _short(u, limits)]
    for u in floor:
        if u.span.start >= earliest and u.span.end > end:
            if u.span.start < end:
                return Answer(u.span.start, f"spoke before the end: {_lag(end - u.span.start)} early", u.span.start)
            short = next((s for s in said if earliest <= s.span.start < u.span.start and s.span.end > end), None)
            aside = (
                ""
                if short is None
                else f" (what began {_lag(abs(short.span.start - end))} "
                + (f"{'after' if short.span.start >= end else 'before'} it is a backchannel)")
            )
            return Answer(u.span.start, f"answered: {_lag(u.span.start - end)} after the end{aside}", u.span.start)
    through = next((u for u in floor if u.span.start < earliest and u.span.end > end), None)
    if through is not None:
        return Answer(None, f"talked through: spoke from {in_seconds(through.span.start):.2f} s on", end)
    length = trial.system.duration
    if length is not None and length < end + limits.window:
        return Absent("censored", f"the recording ends {_lag(max(0, length - end))} after the event")
    if not said:
        return Answer(None, "silent")
    if not floor:
        return Answer(None, "backchannel only", said[0].span.start)
    return Answer(None, "spoke before the end: and not after it", floor[-1].span.start)


def reply(trial: Trial, limits: Limits) -> str:
    """Return the words of the system from its :func:`answer` on; "" where there is none."""
    found = answer(trial, limits)
    if isinstance(found, Absent) or found.onset is None:
        return ""
    return " ".join(word.text for word in trial.system.words or () if word.span.end > found.onset)


def takes_turn(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if there is an :func:`answer`, else 0, with the state. Absent as there."""
    found = answer(trial, limits)
    if isinstance(found, Absent):
        return found
    return Fact(0 if found.onset is None else 1, found.at, found.why)


def signed_latency(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return the answer's onset less the event's end in seconds; negative when it began early.

    Absent: as :func:`answer`; ``no takeover`` with the state when there was none.
    """
    found = answer(trial, limits)
    if isinstance(found, Absent):
        return found
    event = _anchor(trial)
    if found.onset is None or event is None:
        return Absent("no takeover", found.why)
    end = event.span.end if event.kind == "interruption" else event.span.start
    return Fact(in_seconds(found.onset - end), found.onset, found.why)


def was_speaking(trial: Trial) -> Fact | Absent:
    """Return 1 if the system was speaking when the user interrupted, else 0.

    An interruption of silence is an ordinary turn: this is the share that was exercised.
    Absent: ``failed``, ``no output``, ``no annotation`` (the interruption's onset is not known).
    Source: own.
    """
    said = _said(trial)
    if isinstance(said, Absent):
        return said
    event = trial.event("interruption")
    if event is None:
        return Absent("no annotation", "the interruption's onset is not known")
    on = any(event.span.start in u.span for u in said)
    return Fact(1 if on else 0, event.span.start, "was speaking" if on else "was not speaking")


def backchannels(trial: Trial, limits: Limits) -> tuple[Utterance, ...] | Absent:
    """Return the system's utterances that are backchannels. Absent: ``failed``, ``no output``."""
    said = _said(trial)
    return said if isinstance(said, Absent) else tuple(u for u in said if _short(u, limits))


def takes_floor_anywhere(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if any utterance is more than a backchannel, else 0. Absent: ``failed``, ``no output``."""
    said = _said(trial)
    if isinstance(said, Absent):
        return said
    for u in said:
        if not _short(u, limits):
            words = "" if u.words is None else f", {len(u.words)} words"
            return Fact(1, u.span.start, f"took the floor: {_lag(u.span.duration)}{words}")
    return Fact(0, said[0].span.start, "backchannel only") if said else Fact(0, why="silent")


def _said(trial: Trial) -> tuple[Utterance, ...] | Absent:
    if trial.failed:
        return Absent("failed", trial.failed)
    found = utterances(trial.system)
    return Absent("no output", "neither words nor audio of the system") if found is None else found


def _anchor(trial: Trial) -> Event | None:
    return trial.event("interruption") or trial.event("turn_end") or trial.event("user_end")


def _short(u: Utterance, limits: Limits) -> bool:
    return is_backchannel(u, shorter_than=limits.backchannel_under, at_most=limits.backchannel_words)


def _lag(time: int) -> str:
    return f"{time / ms(1):.0f} ms" if time < seconds(1) else f"{in_seconds(time):.2f} s"
