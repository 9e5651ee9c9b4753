"""Full-Duplex-Bench v1.0 as the paper defines it, read literally.

The paper leaves open how a transcript is cut into segments: here at silences of
over 0.5 s between words (ours).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fullduplex.measures.floor import Utterance, is_backchannel, utterances
from fullduplex.measures.timing import divergence, one_hot
from fullduplex.model.spans import in_seconds, seconds
from fullduplex.model.trials import Absent, Fact, Trial

#: "A short duration of less than 1 second", "fewer than two words".
BACKCHANNEL_UNDER, BACKCHANNEL_WORDS = seconds(1), 1


def takeover(trial: Trial) -> Fact | Absent:
    """Return 0 if the system was silent or gave only backchannels, else 1. Absent: ``failed``, ``no output``."""
    said = _segments(trial)
    if isinstance(said, Absent):
        return said
    for u in said:
        if not _short(u):
            n = len(u.words or ())
            return Fact(1, u.span.start, f"takeover: a segment of {in_seconds(u.span.duration):.2f} s, {n} words")
    return Fact(0, said[0].span.start, "backchannel only") if said else Fact(0, why=_nothing(trial))


def _nothing(trial: Trial) -> str:
    return "silent: nothing began after the interruption" if trial.system.words else "silent"


def turn_takeover(trial: Trial) -> Fact | Absent:
    """Return :func:`takeover` of what follows; of an interruption only what starts at or after its end.

    Absent: ``failed``, ``no output``, ``no annotation``.
    """
    end = _end(trial)
    if end is None and not trial.failed:
        return Absent("no annotation", "neither a turn's end nor an interruption is known")
    return takeover(trial)


def latency(trial: Trial) -> Fact | Absent:
    """Return the start of the first segment that is no backchannel, less the event's end, in seconds.

    Absent: ``failed``, ``no output``, ``no annotation``, ``no takeover``. The paper does not say what
    an early start is worth: it stays negative here.
    """
    said, end = _segments(trial), _end(trial)
    if isinstance(said, Absent):
        return said
    if end is None:
        return Absent("no annotation")
    start = next((u.span.start for u in said if not _short(u)), None)
    if start is None:
        return Absent("no takeover")
    state = "answered" if start >= end else "spoke before the end"
    return Fact(in_seconds(start - end), start, f"{state}: {in_seconds(start - end):.3f} s")


def frequency(trial: Trial) -> Fact | Absent:
    """Return backchannels by second of the system's recording.

    Absent: ``failed``, ``no output``, ``no speech track`` (no recording, so no length).
    """
    said = _segments(trial)
    if isinstance(said, Absent):
        return said
    if not trial.system.duration:
        return Absent("no speech track", "the recording's length is not known")
    n = sum(map(_short, said))
    return Fact(n / in_seconds(trial.system.duration), why=f"counted: {n}")


def jsd(trial: Trial) -> Fact | Absent:
    """Return the divergence of backchannels from people's, each event one-hot; a silent system is uniform.

    Absent: ``failed``, ``no output``, ``no reference``.
    """
    said = _segments(trial)
    if isinstance(said, Absent):
        return said
    return divergence_of([u.span.start for u in said if _short(u)], trial, silent_is_uniform=True)


def divergence_of(onsets: Sequence[int], trial: Trial, *, silent_is_uniform: bool) -> Fact | Absent:
    """Return the divergence of ``onsets`` (µs) from the item's reference distribution, log base 2.

    Absent: ``no reference``; ``no backchannel`` where silence is not taken as uniform.
    """
    reference = trial.item.reference.get("distribution")
    if reference is None:
        return Absent("no reference", "the item has no reference distribution")
    counts = one_hot(onsets, len(reference))
    at = onsets[0] if onsets else None
    if not counts.any():
        if not silent_is_uniform:
            return Absent("no backchannel")
        counts, why = np.ones(len(reference)), "silent: a uniform distribution"
    else:
        why = f"counted: {len(onsets)} onsets in {len(reference)} windows"
    return Fact(divergence(counts, np.asarray(reference, dtype=float)), at, why)


def _segments(trial: Trial) -> tuple[Utterance, ...] | Absent:
    if trial.failed:
        return Absent("failed", trial.failed)
    found = utterances(trial.system, by="words")
    if found is None:
        return Absent("no output", "no words of the system")
    event = trial.event("interruption")
    if event is None and trial.item.reference.get("task") == "user_interruption":
        event = trial.event("user_end")
    if event is not None:
        # The paper's response to an interruption is what follows it.
        return tuple(u for u in found if u.span.start >= event.span.end)
    return found


def _end(trial: Trial) -> int | None:
    interruption = trial.event("interruption")
    if interruption is not None:
        return interruption.span.end
    turn = trial.event("turn_end") or trial.event("user_end")
    return None if turn is None else turn.span.start


def _short(u: Utterance) -> bool:
    return is_backchannel(u, shorter_than=BACKCHANNEL_UNDER, at_most=BACKCHANNEL_WORDS)
