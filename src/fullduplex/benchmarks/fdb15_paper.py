"""Full-Duplex-Bench v1.5 as its paper defines it, where the paper does: the rest is listed as a departure."""

from __future__ import annotations

from fullduplex.benchmarks import fdb15_released as released
from fullduplex.measures.overlap import Course, Limits, course
from fullduplex.model.spans import in_seconds
from fullduplex.model.trials import Absent, Fact, Trial


def stop_latency(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return when the system's speech stopped less the onset of the overlap, in seconds.

    However long it goes on. Absent: ``no overlap`` (it was silent when the event began), ``censored`` (it speaks to
    the recording's end), and as :func:`fullduplex.measures.overlap.course`.
    """
    found = course(trial, limits)
    if isinstance(found, Absent):
        return found
    if found.holding is None:
        return Absent("no overlap", "the system was not speaking when the event began")
    end = found.holding.span.end
    if found.state == "cut off" or (found.heard_until is not None and end >= found.heard_until):
        return Absent("censored", "the system speaks to the recording's end")
    return Fact(in_seconds(end - found.event.span.start), end, f"{found.state}: speech ended there")


def response_latency(trial: Trial, limits: Limits) -> Fact | Absent:
    """Return the onset of the system's next speech after the overlap less the overlap's end, in seconds.

    Absent: ``no response``, ``censored`` (the recording ends within ``window`` of the event), and as
    :func:`fullduplex.measures.overlap.course`.
    """
    found = course(trial, limits)
    if isinstance(found, Absent):
        return found
    onset = _next_start(trial, found)
    end = found.event.span.end
    if onset is not None:
        return Fact(in_seconds(onset - end), onset, "next start after the event's end")
    if found.heard_until is not None and found.heard_until < end + limits.window:
        return Absent("censored", "the recording ends too soon after the event")
    return Absent("no response", found.state)


def behaves(trial: Trial, label: str) -> Fact | Absent:
    """Return the share of the judge's labels for this item that are ``label``. Absent as the released one."""
    return released.behaves(trial, label)


def _next_start(trial: Trial, found: Course) -> int | None:
    from fullduplex.measures.floor import utterances

    said = utterances(trial.system) or ()
    return next((u.span.start for u in said if u.span.start >= found.event.span.end), None)
