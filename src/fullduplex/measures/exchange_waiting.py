"""Whether a system waits through the user's pause, and takes the turn in time once the user is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fullduplex.measures.exchange_ground import Heard, Limits, heard, spoken, told, too_soon
from fullduplex.measures.floor import utterances
from fullduplex.model.spans import Span, in_seconds
from fullduplex.model.speech import Word
from fullduplex.model.trials import Absent, Fact, Trial

#: What counts as the start of the reply: of the speech that answers the turn, or the system's first word at all.
Starts = Literal["reply", "first word"]
#: What the system has to speak after, so that waiting is not mere silence.
Spoke = Literal["turn", "pause"]


def barge_in(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if the system jumped into a pause of the user's turn, else 0.

    Jumped in: a word of the system begins in [pause start - ``pause_lead``, pause end), unless it belongs to an
    utterance of at most ``pause_words`` words that has ended when the user resumes (at the pause's end, included).
    An utterance is cut where no word sounds for longer than ``joined_within``. With ``pause_words`` 0 a backchannel
    jumps in too.
    Absent: ``failed``, ``no annotation`` (no pause), ``never asked``, ``no output``, ``no words``, ``censored`` (the
    recording ends before the last pause does, and none was jumped into).
    Source: the page's strict rule; ``pause_words`` 4 is its lenient one. That a word counts by its onset is ours.
    """
    found = _pauses(trial, limits)
    if isinstance(found, Absent):
        return found
    turn, pauses = found
    for pause in pauses:
        word = _jumped(trial, pause, limits)
        if word is not None:
            lag = word.span.start - pause.start
            side = "before" if lag < 0 else "into"
            return Fact(1, word.span.start, f"jumped in: {told(lag)} {side} the pause")
    if turn.cut_before(pauses[-1].end):
        return Absent("censored", "the recording ends before the pause does")
    return Fact(0, pauses[0].start, "waited")


def pause_passed(trial: Trial, limits: Limits, *, speaks_after: Spoke = "turn") -> Fact | Absent:
    """Return 1 if the system did not jump into a pause (:func:`barge_in`) and spoke afterwards, else 0.

    Afterwards, ``"turn"``: an utterance with a word in it is heard after the user's last word. ``"pause"``: a word
    begins at the last pause's end or later, though the user may still be talking.
    Absent: as :func:`barge_in`; ``censored`` (nothing was said, and the recording ends less than ``window`` after the
    turn). Source: the page, which says "speech after the pause" (``"pause"``); ``"turn"`` is ours: speech over the rest
    of the user's sentence answers nothing.
    """
    jumped = barge_in(trial, limits)
    if isinstance(jumped, Absent):
        return jumped
    if jumped.value:
        return Fact(0, jumped.at, jumped.why)
    found = _pauses(trial, limits)
    if isinstance(found, Absent):
        return found
    turn, pauses = found
    if speaks_after == "pause":
        after = [w.span.start for w in spoken(trial.system.words) if w.span.start >= pauses[-1].end]
    else:
        after = [u.span.start for u in turn.worded if u.span.end > turn.end]
    if after:
        return Fact(1, after[0], f"waited, and spoke {told(after[0] - turn.end)} {_side(after[0] - turn.end)} the end")
    return too_soon(turn, limits.window) or Fact(0, turn.end, "waited, and said nothing after it")


def turn_taken(trial: Trial, limits: Limits, *, starts: Starts = "reply") -> Fact | Absent:
    """Return 1 if the reply begins from ``early`` before to ``within`` after the end of the user's turn, else 0.

    Both edges are included. Why: ``on time``, ``spoke before the end``, ``late``, ``silent``.
    The reply, ``"reply"``: the first utterance with a word in it that is heard after the user's last word ended (every
    sound, where no words are known); speech that ended within the turn is none. ``"first word"``: the system's first
    word in the recording, whatever it belongs to.
    Absent: ``failed``, ``no annotation``, ``never asked``, ``no output``, ``no words``, ``censored`` (nothing was said,
    and the recording ends less than ``within`` after the turn).
    Source: the page. It does not say what becomes of speech that ended within the turn; its counts (Moshi, which greets
    at once, passes 1 of 28) are those of ``"first word"``. ``"reply"`` is ours, with :func:`started_early` beside it.
    """
    found = _start(trial, limits, starts)
    if isinstance(found, Absent):
        return found
    if found.lag is None:
        return Fact(0, found.end, "silent")
    if found.lag < -limits.early:
        return Fact(0, found.at, f"spoke before the end: {told(found.lag)} early")
    if found.lag > limits.within:
        return Fact(0, found.at, f"late: {told(found.lag)} after the end")
    return Fact(1, found.at, f"on time: {told(found.lag)} {_side(found.lag)} the end")


def reply_lag(trial: Trial, limits: Limits, *, starts: Starts = "reply") -> Fact | Absent:
    """Return the onset of the reply less the end of the user's turn, in seconds; negative when it began early.

    The reply is that of :func:`turn_taken`. Absent: as there; ``no response``. Source: own.
    """
    found = _start(trial, limits, starts)
    if isinstance(found, Absent):
        return found
    if found.lag is None:
        return Absent("no response", "silent after the turn")
    return Fact(in_seconds(found.lag), found.at, f"{told(found.lag)} {_side(found.lag)} the end")


def turn_latency(trial: Trial, limits: Limits, *, starts: Starts = "reply") -> Fact | Absent:
    """Return the onset of the system's first word that begins at the turn's end or later, less that end, in seconds.

    Only of replies (:func:`turn_taken`) that do not begin more than ``early`` before the end.
    Absent: ``spoke before the end``, ``no response``, ``no words``, and as :func:`turn_taken`.
    Source: the page's rule, which its published excerpt confirms on 11 of 11 items; leaving out early starts is the
    page's text. It reads well of systems that talk early: read it with its n.
    """
    found = _start(trial, limits, starts)
    if isinstance(found, Absent):
        return found
    if trial.system.words is None:
        return Absent("no words", "the system's words are not known")
    if found.lag is None:
        return Absent("no response", "silent after the turn")
    if found.lag < -limits.early:
        return Absent("spoke before the end", f"{told(found.lag)} early")
    word = next((w for w in spoken(trial.system.words) if w.span.start >= found.end), None)
    if word is None:
        return Absent("no response", "no word begins after the turn's end")
    return Fact(in_seconds(word.span.start - found.end), word.span.start, word.text)


def started_early(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if an utterance of the system began in the user's turn, more than ``early`` before its end, else 0.

    Whether it goes on past the turn or not. Absent: ``failed``, ``no annotation``, ``never asked``, ``no output``.
    Source: own.
    """
    found = heard(trial, "u0", limits)
    if isinstance(found, Absent):
        return found
    first = next((u for u in found.worded if found.span.start <= u.span.start < found.end - limits.early), None)
    if first is None:
        return Fact(0, found.end, "nothing began within the turn")
    return Fact(1, first.span.start, f"spoke before the end: {told(found.end - first.span.start)} early")


@dataclass(frozen=True, slots=True)
class _Start:
    end: int
    lag: int | None
    at: int | None


def _start(trial: Trial, limits: Limits, starts: Starts) -> _Start | Absent:
    found = heard(trial, "u0", limits)
    if isinstance(found, Absent):
        return found
    if starts == "first word":
        if trial.system.words is None:
            return Absent("no words", "the system's words are not known")
        at = next((w.span.start for w in spoken(trial.system.words)), None)
    else:
        at = next((u.span.start for u in found.worded if u.span.end > found.end), None)
    if at is None:
        return too_soon(found, limits.within) or _Start(found.end, None, None)
    return _Start(found.end, at - found.end, at)


def _pauses(trial: Trial, limits: Limits) -> tuple[Heard, tuple[Span, ...]] | Absent:
    found = heard(trial, "u0", limits)
    if isinstance(found, Absent):
        return found
    if not found.scene.pauses:
        return Absent("no annotation", "the interaction has no pause")
    fell = tuple(pause for pause in found.scene.pauses if pause is not None)
    if len(fell) < len(found.scene.pauses):
        return Absent("never asked", "the talk ended before the pause did")
    if trial.system.words is None:
        return Absent("no words", "the system's words are not known")
    return found, fell


def _jumped(trial: Trial, pause: Span, limits: Limits) -> Word | None:
    """Return the first word that jumps into ``pause``."""
    window = Span(pause.start - limits.pause_lead, pause.end)
    for said in utterances(trial.system, joined_within=limits.joined_within, by="words") or ():
        words = spoken(said.words)
        if len(words) <= limits.pause_words and said.span.end <= pause.end:
            continue
        word = next((w for w in words if w.span.start in window), None)
        if word is not None:
            return word
    return None


def _side(lag: int) -> str:
    return "before" if lag < 0 else "after"
