"""What a judge of behaviour is shown: both runs of an item, told in words and times, and never whose they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fullduplex.measures.overlap import event_of
from fullduplex.model.spans import in_seconds
from fullduplex.model.speech import Track, Word
from fullduplex.model.trials import Absent, Trial


def settled_by_nothing(trial: Trial) -> None:
    """Return None: no rule decides, every item is judged."""


def behaviour_fields(trial: Trial, by_rule: Callable[[Trial], object]) -> Mapping[str, str] | Absent:
    """Return the fields of the rubric ``behaviour``, or why nothing is to be judged.

    Words stand with their times in seconds, the system's cut at the event's onset and end.
    Absent: ``failed``, ``no annotation``, ``no words``, ``settled by rule``.
    """
    if trial.failed:
        return Absent("failed", trial.failed)
    event = event_of(trial)
    if event is None:
        return Absent("no annotation", "no event is known")
    if trial.system.words is None:
        return Absent("no words", "the system's words are not known")
    if by_rule(trial) is not None:
        return Absent("settled by rule")
    start, end = event.span.start, event.span.end
    words = trial.system.words
    context = str(trial.item.reference.get("context", "")) or _before(trial.user, start)
    return {
        "context": context or "(not known)",
        "overlap": event.text or "(not known)",
        "start": f"{in_seconds(start):.2f}",
        "end": f"{in_seconds(end):.2f}",
        "before": _timed([w for w in words if w.span.start < start]),
        "during": _timed([w for w in words if start <= w.span.start < end]),
        "after": _timed([w for w in words if w.span.start >= end]),
        "twin": _timed(trial.twin.system.words or ()) if trial.twin is not None else "(not recorded)",
    }


def _before(track: Track, time: int) -> str:
    return " ".join(word.text for word in track.words or () if word.span.end <= time)


def _timed(words: Sequence[Word]) -> str:
    """Return words with the times at which each run of speech begins and ends: ``[3.30-5.02] here are some``."""
    runs: list[list[Word]] = []
    for word in words:
        if runs and word.span.start - runs[-1][-1].span.end <= 500_000:
            runs[-1].append(word)
        else:
            runs.append([word])
    lines = [
        f"[{in_seconds(run[0].span.start):.2f}-{in_seconds(run[-1].span.end):.2f}] {' '.join(w.text for w in run)}"
        for run in runs
    ]
    return "\n".join(lines) or "(nothing)"
