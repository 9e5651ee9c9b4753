"""A two-track strip as InteractionBench's page computes it: overlaps, the latency of a reply, speech in a pause.

These are the page's own rules, for standing beside its numbers; our measures of the same things are elsewhere.
A strip has one timeline of speech for each side. The overlaps' rule is inferred from the released strips: their
shortest overlap is 0.20 s, and the one intersection of 0.10 s is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from fullduplex.model.spans import Span, Timeline, in_seconds, ms
from fullduplex.model.speech import Word
from fullduplex.model.trials import Absent, Fact

#: Overlaps of this or less are no overlaps of a strip.
NO_OVERLAP = ms(100)
#: A reply may begin this much before the user's end, and this long after it; both ends are right.
EARLIEST, LATEST = ms(-50), ms(2500)
#: What sounds this much before a pause already counts as in it.
PAUSE_LEAD = ms(100)


def overlaps(user: Timeline, system: Timeline, *, at_most: int = NO_OVERLAP) -> Timeline:
    """Return when both speak, without the overlaps of ``at_most`` (µs, inclusive) or shorter.

    Source: InteractionBench's released strips, 33 of 33; a plain intersection gives 32 of them.
    """
    return (user & system).without(shorter_than=at_most + 1)


def overlap_printed(spans: Iterable[tuple[float, float]]) -> float:
    """Return the overlap of a strip as it is printed: the sum in seconds, rounded to a tenth.

    ``spans`` are decimal seconds, summed in float64 in their order, as the page does: 0.45 s prints as 0.4 or 0.5
    by how its ends happen to be represented.
    """
    return round(sum(end - start for start, end in spans), 1)


def latency(user: Sequence[Word], system: Sequence[Word]) -> Fact | Absent:
    """Return :func:`latency_of` the words of both sides.

    Absent: ``user was silent``, ``no reply``.
    """
    if not user:
        return Absent("user was silent", "no word of the user's")
    return latency_of(max(word.span.end for word in user), [word.span.start for word in system])


def latency_of(end: int, onsets: Iterable[int]) -> Fact | Absent:
    """Return the first onset of a word at or after ``end`` (µs), less ``end``, in seconds.

    ``end`` is the end of the user's last word, ``onsets`` are the starts of the system's words. Words that began
    earlier are passed over, also those of the same breath: a system that began inside the user's turn is timed by
    whichever of its words happens to follow. ``why`` says so. Never negative. Absent: ``no reply``.
    Source: InteractionBench's released turn-taking strips, 11 of 11.
    """
    starts = sorted(onsets)
    first = next((start for start in starts if start >= end), None)
    if first is None:
        return Absent("no reply", "no word begins after the user's last one")
    late = in_seconds(first - end)
    early = f"; had spoken since {in_seconds(starts[0]):.2f} s, which the rule passes over" if starts[0] < end else ""
    return Fact(late, first, f"first word {late:.3f} s after the user's last{early}")


def prompt(found: Fact | Absent, *, at_least: int = EARLIEST, at_most: int = LATEST) -> bool:
    """Return whether a latency is one of a prompt reply: from ``at_least`` to ``at_most`` µs, both included."""
    return isinstance(found, Fact) and in_seconds(at_least) <= found.value <= in_seconds(at_most)


def longest_pauses(spans: Iterable[Span], n: int) -> list[Span]:
    """Return the ``n`` longest silences between ``spans``, in order of time; of equals the earlier."""
    covered = list(Timeline(spans))
    gaps = [Span(one.end, other.start) for one, other in pairwise(covered)]
    return sorted(sorted(gaps, key=lambda gap: (-gap.duration, gap.start))[:n])


def longest_pause(spans: Iterable[Span]) -> Span | None:
    """Return the longest silence between ``spans``; None where there is none."""
    return next(iter(longest_pauses(spans, 1)), None)


def spoke_in_pause(pause: Span, onsets_and_ends: Iterable[Span], *, lead: int = PAUSE_LEAD) -> Fact:
    """Return 1 if anything sounds in ``[pause start - lead, pause end)``, else 0.

    Any vocalisation counts, a backchannel too. Source: InteractionBench, whose limitations say that this is stricter
    than Full-Duplex-Bench.
    """
    window = Span(pause.start - lead, pause.end)
    heard = next((span for span in sorted(onsets_and_ends) if span & window), None)
    if heard is None:
        return Fact(0, why="silent in the pause")
    return Fact(1, heard.start, f"sounds from {in_seconds(heard.start):.2f} to {in_seconds(heard.end):.2f} s")
