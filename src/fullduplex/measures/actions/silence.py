"""Wait and Ignore: whether the system is silent while the user holds the floor."""

from __future__ import annotations

from fullduplex.measures.actions.ground import FIRST, heard, is_brief, quoted, too_soon, turn_start
from fullduplex.measures.actions.limits import Limits
from fullduplex.measures.exchange_ground import Heard
from fullduplex.measures.floor import Utterance
from fullduplex.model.spans import Span, Timeline, in_seconds
from fullduplex.model.trials import Absent, Fact, Trial


def waited(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if the system is silent over every wait interval of the user's turn (marks ``wait``), else 0.

    Any sound of its speech in ``[start, end)`` of a mark fails, also of speech that had begun before, or goes on after;
    but of brief tokens where ``allowed_words`` allows them.
    Absent: ``failed``, ``no annotation``, ``never asked``, ``no output``, ``censored`` (silent as far as is heard, and
    the recording ends before the last mark does).
    Source: the publication, "remain silent while the user retains the floor", over the wait interval.
    """
    found = heard(trial, FIRST, limits)
    if isinstance(found, Absent):
        return found
    marks = found.scene.marked("wait")
    if not marks:
        return Absent("no annotation", "no wait interval is marked")
    spans = [mark.span for mark in marks if mark.span is not None]
    if len(spans) < len(marks):
        return Absent("never asked", "the talk ended before the wait interval did")
    return _silent(trial, found, spans, "the wait interval", limits)


def ignored(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return 1 if the system is silent for the whole of the user's turn, else 0.

    The turn runs from the user's first sound to the end of the last word: the publication names no interval for this
    action, so that it is judged over the time that the user holds the floor, not over the ignored speech alone. Brief
    tokens and Absent: as :func:`waited`; ``never asked`` also where what is to be ignored (marks ``ignored``) was
    never heard. Source: the publication, "remain silent to non-relevant speech while the user holds the floor".
    """
    found = heard(trial, FIRST, limits)
    if isinstance(found, Absent):
        return found
    marks = found.scene.marked("ignored")
    if not marks:
        return Absent("no annotation", "no speech is marked that is to be ignored")
    if any(mark.span is None for mark in marks):
        return Absent("never asked", "the talk ended before the speech that is to be ignored")
    start = turn_start(trial, found.span)
    return _silent(trial, found, [Span(start, max(found.end, start + 1))], "the user's turn", limits)


def _silent(trial: Trial, found: Heard, spans: list[Span], where: str, limits: Limits) -> Fact | Absent:
    counts = Timeline(spans)
    allowed: list[Utterance] = []
    for u in found.said:
        sounds = list(_sounds(trial, u) & counts)
        if not sounds:
            continue
        if limits.allowed_words and is_brief(u, limits, at_most=limits.allowed_words):
            allowed.append(u)
            continue
        return Fact(0, sounds[0].start, f"spoke in {where}: {quoted(u)}")
    ends = max(span.end for span in spans)
    cut = too_soon(found, ends)
    if cut is not None:
        return cut
    but = "".join(f", but for a brief token: {quoted(u)}" for u in allowed)
    told = f"silent over {where}, {in_seconds(spans[0].start):.2f}-{in_seconds(ends):.2f} s{but}"
    return Fact(1, spans[0].start, told)


def _sounds(trial: Trial, u: Utterance) -> Timeline:
    """Return when an utterance sounds: without the short silences that lie in it, where a detector listened."""
    if trial.system.speech is None:
        return Timeline(word.span for word in u.words or ())
    return trial.system.speech.within(u.span)
