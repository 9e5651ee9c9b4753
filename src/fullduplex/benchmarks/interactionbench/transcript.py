"""A conversation in words and times for a judge to read, blind: two voices called ``user`` and ``assistant``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from fullduplex.measures.exchange_ground import is_backchannel_turn, spoken
from fullduplex.measures.floor import JOINED_WITHIN
from fullduplex.measures.interaction import Scene, Turn
from fullduplex.model.spans import Span, in_seconds
from fullduplex.model.speech import Word
from fullduplex.model.trials import Trial

#: What stands where nothing was said.
NOTHING = "(nothing)"
_PAUSE = re.compile(r"\[pause\b[^\]]*\]", re.IGNORECASE)


def words_of(trial: Trial, turn: Turn) -> str:
    """Return what the user says in ``turn``, without marks for pauses: as scripted, else as recognised."""
    text = " ".join(_PAUSE.sub(" ", turn.text).split())
    if text or turn.span is None:
        return text
    return trial.user.said(turn.span)


def conversation(
    trial: Trial,
    found: Scene,
    *,
    before: int | None = None,
    said_before: int | None = None,
    leaves: Sequence[Word] = (),
) -> str:
    """Return the conversation, a line for each turn and each run of the assistant's words, in order of onset.

    ``[12.40-14.02] user (turn 3): ...``, ``[14.90-16.31] assistant: ...``; times in seconds, the user's turns counted
    from 1 as annotations count them (backchannels of the user's have no number). ``before``: only turns that begin
    before it; ``said_before``: only words of the assistant's that do, without those that it ``leaves`` out.
    """
    rows: list[tuple[Span, str]] = []
    number = 0
    for turn in found.turns:
        counts = not is_backchannel_turn(turn)
        number += counts
        if turn.span is not None and (before is None or turn.span.start < before):
            rows.append((turn.span, f"user{f' (turn {number})' if counts else ''}: {words_of(trial, turn)}"))
    out = set(map(id, leaves))
    kept = [
        word for word in spoken(trial.system.words)
        if id(word) not in out and (said_before is None or word.span.start < said_before)
    ]  # fmt: skip
    rows += [(span, f"assistant: {text}") for span, text in runs(kept)]
    lines = [f"[{_times(span)}] {text}" for span, text in sorted(rows, key=lambda row: row[0])]
    return "\n".join(lines) or NOTHING


def timed(words: Iterable[Word]) -> str:
    """Return words as runs with their times, a line each: ``[3.30-5.02] here are some``."""
    return "\n".join(f"[{_times(span)}] {text}" for span, text in runs(words)) or NOTHING


def runs(words: Iterable[Word], joined_within: int = JOINED_WITHIN) -> list[tuple[Span, str]]:
    """Return the runs of ``words`` (in order of time) with no silence longer than ``joined_within``, and their text."""
    made: list[list[Word]] = []
    for word in words:
        if made and word.span.start - made[-1][-1].span.end <= joined_within:
            made[-1].append(word)
        else:
            made.append([word])
    return [(Span(run[0].span.start, max(w.span.end for w in run)), " ".join(w.text for w in run)) for run in made]


def _times(span: Span) -> str:
    return f"{in_seconds(span.start):.2f}-{in_seconds(span.end):.2f}"
