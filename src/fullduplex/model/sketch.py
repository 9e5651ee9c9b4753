"""Trials drawn as text, for tests and for people, and drawn back.

Each character is one step of time (100 ms unless told). ``.`` is silence and
``#`` is speech without words; a run of one letter is one word with that letter
as its text, and it is speech. Any row not called ``user`` or ``system`` is an
event whose span is a run of ``^``.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from fullduplex.model.items import Event, Item
from fullduplex.model.spans import Span, Timeline, in_seconds, ms
from fullduplex.model.speech import Token, Track, Word
from fullduplex.model.trials import Trial


def sketch(text: str, step: int = ms(100), *, id: str = "sketch") -> Trial:
    """Return the trial that ``text`` draws; raises ValueError on a row it cannot read."""
    tracks = {"user": Track(), "system": Track()}
    events: list[Event] = []
    for line in filter(str.strip, text.splitlines()):
        name, _, row = line.strip().partition(" ")
        row = row.strip()
        if not row or " " in row:
            raise ValueError(f"a row is a name, spaces, and one run of marks: {line.strip()!r}")
        runs = list(_runs(row, step))
        if name in tracks:
            tracks[name] = _track(runs, len(row) * step)
        elif set(row) - set(".^"):
            raise ValueError(f"an event's row holds only '.' and '^': {line.strip()!r}")
        else:
            events += [Event(name, span) for mark, span in runs if mark == "^"]
    return Trial(Item(id, events=tuple(events)), tracks["user"], tracks["system"], tuple(events))


def _runs(row: str, step: int) -> Iterable[tuple[str, Span]]:
    at = 0
    for mark, run in groupby(row):
        n = len(list(run))
        yield mark, Span(at * step, (at + n) * step)
        at += n


def _track(runs: list[tuple[str, Span]], duration: int) -> Track:
    heard = [(mark, span) for mark, span in runs if mark != "."]
    words = tuple(Word(mark, span) for mark, span in heard if mark != "#")
    speech = Timeline(span for _, span in heard)
    return Track(
        words,
        speech,
        tokens=tuple(Token(w.text, in_seconds(w.span.start), in_seconds(w.span.end)) for w in words),
        segments=tuple((in_seconds(s.start), in_seconds(s.end)) for s in speech),
        duration=duration,
        words_from="sketch",
        speech_from="sketch",
    )


def draw(trial: Trial, step: int = ms(100)) -> str:
    """Return ``trial`` as text: a row for each voice and each kind of event.

    A step is marked where more than half of it is covered; a word is drawn as the
    first letter of its text, alternating case where two neighbours share it.
    """
    ends = [trial.user.duration or 0, trial.system.duration or 0, *(e.span.end for e in trial.events)]
    steps = -(-max(ends) // step)
    rows = {name: _row(track, steps, step) for name, track in (("user", trial.user), ("system", trial.system))}
    for kind in dict.fromkeys(event.kind for event in trial.events):
        marks = ["."] * steps
        for event in trial.all(kind):
            _mark(marks, event.span, "^", step)
        rows[kind] = "".join(marks)
    width = max(map(len, rows))
    return "\n".join(f"{name:<{width}}  {row}" for name, row in rows.items())


def _row(track: Track, steps: int, step: int) -> str:
    marks = ["."] * steps
    for span in track.speech or ():
        _mark(marks, span, "#", step)
    before = ""
    for word in track.words or ():
        letter = next((c for c in word.text if c.isalnum()), "?")
        if letter == before:
            letter = letter.swapcase() if letter.swapcase() != letter else "?"
        _mark(marks, word.span, letter, step)
        before = letter
    return "".join(marks)


def _mark(marks: list[str], span: Span, mark: str, step: int) -> None:
    for i in range(span.start // step, min(len(marks), -(-span.end // step))):
        if min(span.end, (i + 1) * step) - max(span.start, i * step) > step // 2:
            marks[i] = mark
