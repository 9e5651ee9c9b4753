"""What a judge of behaviour is shown: both runs of an item, told in words and times, and never whose they are."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from fullduplex.measures.overlap import event_of
from fullduplex.model.spans import in_seconds
from fullduplex.model.speech import Token, Track, Word
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
        "user": context,
        "overlap": event.text,
        "overlap_time": f"{in_seconds(start):.2f}-{in_seconds(end):.2f}",
        "before": _timed([w for w in words if w.span.start < start]),
        "during": _timed([w for w in words if start <= w.span.start < end]),
        "after": _timed([w for w in words if w.span.start >= end]),
        "clean": _timed(trial.twin.system.words or ()) if trial.twin is not None else "(not recorded)",
        **_transcripts(trial),
    }


def _transcripts(trial: Trial) -> dict[str, str]:
    """Return the four transcripts that the released prompt is given; nothing unless all four are there.

    Each is its file's JSON without blanks, the event's run as ``noisy``.
    """
    if trial.twin is None:
        return {}
    sides = {
        "input_clean": trial.twin.user, "input_noisy": trial.user,
        "output_clean": trial.twin.system, "output_noisy": trial.system,
    }  # fmt: skip
    told = {name: track.tokens for name, track in sides.items()}
    if any(tokens is None for tokens in told.values()):
        return {}
    return {name: _compact(tokens or ()) for name, tokens in told.items()}


def _compact(tokens: Sequence[Token]) -> str:
    chunks = [{"text": token.text, "timestamp": [token.start, token.end]} for token in tokens]
    text = " ".join(filter(None, (token.text.strip() for token in tokens)))
    return json.dumps({"text": text, "chunks": chunks}, separators=(",", ":"))


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
