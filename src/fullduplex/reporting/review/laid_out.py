"""An item without a system: when the user's cues and the script's lines would fall, on one clock.

What the user says sounds; what the assistant would say is the script's, and is not spoken. Its lines stand where the
script has them, and take the time that they would take to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fullduplex.driving.cues import after_reply, after_word, at, into_reply
from fullduplex.measures.words import count_words
from fullduplex.model.spans import SECOND, Span, ms
from fullduplex.runs.stimulus import Cued

#: From the end of a turn to the line that answers it, and between two lines of the script.
REPLY = ms(500)
#: From a point at which the script breaks in to the line that does.
BREAK_IN = ms(200)
#: How long a word of the script takes: three a second, which people reach who speak briskly.
WORD = SECOND // 3
#: What is left after the last sound or line.
AFTER = ms(500)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the script that nobody speaks, and where it stands; ``words`` are spread over it by their letters."""

    text: str
    span: Span

    @property
    def words(self) -> tuple[tuple[str, Span], ...]:
        """Return each word with its place, in microseconds."""
        words = self.text.split()
        total = sum(map(len, words)) or 1
        made, before = list[tuple[str, Span]](), 0
        for word in words:
            start, before = before, before + len(word)
            ends = [self.span.start + self.span.duration * letters // total for letters in (start, before)]
            made.append((word, Span(ends[0], max(ends[0] + 1, ends[1]))))
        return tuple(made)


@dataclass(frozen=True, slots=True)
class LaidOut:
    """Where everything of an item falls. ``turns`` are the user's cues by id; times in microseconds."""

    turns: Mapping[str, Span]
    lines: tuple[Line, ...]
    duration: int


def names_of(cues: Sequence[Cued]) -> list[str]:
    """Return the ids of cues; one that has none is called by its place."""
    return [cue.id or f"u{n}" for n, cue in enumerate(cues)]


def laid_out(
    cues: Sequence[Cued],
    lengths: Sequence[int],
    script: Sequence[Mapping[str, Any]] = (),
    replies_at: Mapping[str, int] | None = None,
) -> LaidOut:
    """Return when cues of such ``lengths`` fall, and the script's lines between them.

    A cue with a time falls then. One that waits for an answer falls once the line before it has been said, and no
    earlier than its own delay after that line begins. ``replies_at``: how long after a cue begins the line that
    follows it does, where that is not :data:`REPLY` after its end: a system that breaks in, or speaks on.
    """
    names = names_of(cues)
    answers = _answers(script, names)
    turns, lines = dict[str, Span](), list[Line]()
    onset = until = 0  # when the last line began, and when it ends
    if answers[""]:
        onset, until = _say(answers[""], REPLY, lines)
    for name, cue, length in zip(names, cues, lengths, strict=True):
        start = _start(cue, onset, until, max((span.end for span in turns.values()), default=0))
        turns[name] = Span(start, start + max(length, 1))
        given = (replies_at or {}).get(name)
        onset = turns[name].end + REPLY if given is None else max(start + given, until)
        until = onset
        if answers[name]:
            onset, until = _say(answers[name], onset, lines)
    ends = [span.end for span in (*turns.values(), *(line.span for line in lines))]
    return LaidOut(turns, tuple(lines), max(ends, default=0) + AFTER)


def _start(cue: Cued, onset: int, until: int, said: int) -> int:
    due = cue.due
    if isinstance(due, at):
        return due.time
    if isinstance(due, into_reply):
        return max(onset + due.delay, until)
    if isinstance(due, after_reply):
        return max(until, said) + due.quiet
    return max(until, said) + (due.delay if isinstance(due, after_word) else 0)


def _say(texts: Sequence[str], start: int, lines: list[Line]) -> tuple[int, int]:
    """Add lines that are said one after another from ``start`` on; return when the first begins and the last ends."""
    at_time = start
    for n, text in enumerate(texts):
        at_time += REPLY if n else 0
        lines.append(Line(text, Span(at_time, at_time + max(count_words(text), 1) * WORD)))
        at_time = lines[-1].span.end
    return start, at_time


def _answers(script: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, list[str]]:
    """Return what the assistant says after each cue, "" for what it says before the first."""
    found: dict[str, list[str]] = {name: [] for name in ("", *names)}
    now, order = "", ["", *names]
    for line in script:
        if str(line.get("who", "")) == "assistant":
            if str(line.get("text", "")).strip():
                found[now].append(str(line["text"]))
        else:
            told = str(line.get("cue", ""))
            # A line that names no cue is the next one's.
            now = told if told in names else order[min(order.index(now) + 1, len(names))]
    return found
