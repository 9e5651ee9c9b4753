"""One item of a run as text for a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fullduplex.errors import printable
from fullduplex.model.items import Event
from fullduplex.model.sketch import draw
from fullduplex.model.spans import Span, Timeline, in_seconds, ms
from fullduplex.model.speech import Track, Word
from fullduplex.model.trials import Trial
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.listing import list_text
from fullduplex.runs.naming import folder_named, rows_of_item
from fullduplex.runs.run import Run
from fullduplex.runs.stored import StoredItem, hearing_of, read_item

__all__ = ["list_text", "show", "timeline"]

#: A timeline's step is the first of these at which it fits; past the last, a whole number of it.
STEPS = tuple(map(ms, (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)))
WIDTH = 100

_SOUNDS = ("user", "system")


def show(run: Path, item: str, *, width: int = WIDTH, tell: Language = ENGLISH) -> str:
    """Return one item as text: its timeline, events, words, facts under each variant, and files.

    ``item`` is ``SET/ID``, or any other spelling that stands for one item (see :func:`.runs.naming.folder_named`).
    Raises :class:`RunError` where ``run`` is no run, and :class:`InputError` that names what is near where no item is
    called so, or more than one is. ``tell``: its language; what was said stays as it was.
    """
    opened = Run.open(run)
    found = read_item(folder_named(opened, item), hearing_of(opened))
    trial = found.trial
    parts = [
        [printable(found.key), *_about(found, tell)],
        timeline(trial, width, tell),
        _events(trial.events, tell),
        *(_words(voice, track, width, tell) for voice, track in (("user", trial.user), ("system", trial.system))),
        _facts(found, opened, tell),
        _files(found, tell),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def timeline(trial: Trial, width: int = WIDTH, tell: Language = ENGLISH) -> list[str]:
    """Return the lines of ``trial`` drawn in at most ``width`` columns, with a scale in seconds; none if it is empty.

    Speech is ``#``, a word the first letter of its text, an event ``^``. A letter that
    does not take one column from left to right is drawn as ``w``.
    """
    end = max((span.end for span in _spans(trial)), default=0)
    end = max(end, trial.user.duration or 0, trial.system.duration or 0)
    if end <= 0:
        return []
    plain = replace(
        trial, user=_narrow(trial.user, end), system=_narrow(trial.system, end), events=tuple(_drawn(trial.events))
    )
    label = max(map(len, ("system", *(event.kind for event in plain.events))))
    columns = max(10, width - label - 2)
    step = next((step for step in STEPS if end <= step * columns), 0)
    step = step or -(-end // (columns * STEPS[-1])) * STEPS[-1]
    scale = f"{'':<{label}}  {_scale(-(-end // step), step)}"
    return [
        scale.rstrip(),
        *draw(plain, step).splitlines(),
        tell("one column is {step} s, the scale is in seconds", step=tell.digits(f"{in_seconds(step):g}")),
    ]


def _about(item: StoredItem, tell: Language) -> Iterator[str]:
    trial = item.trial
    told = [("task", item.task), ("dataset", item.dataset), ("system", item.system), ("group", trial.item.group)]
    yield "  ".join(f"{tell.of(name)} {printable(value)}" for name, value in told if value)
    if trial.failed:
        yield f"{tell('failed')}{tell(': ')}{printable(tell.kept(trial.failed))}"
    if trial.missing:
        yield f"{tell('missing')}{tell(': ')}{printable(', '.join(trial.missing))}"


def _spans(trial: Trial) -> Iterator[Span]:
    for track in (trial.user, trial.system):
        yield from track.speech or ()
        yield from (word.span for word in track.words or ())
    yield from (event.span for event in trial.events)


def _drawn(events: Iterable[Event]) -> Iterator[Event]:
    for event in events:
        label = printable(event.kind, 20).replace(" ", "_") or "event"
        if event.span.end > 0:
            # A row of its own: no event may pass for a voice.
            yield Event(f"{label}_" if label in ("user", "system") else label, _from_zero(event.span))


def _narrow(track: Track, end: int) -> Track:
    """Return ``track`` with words that draw in one column each, from 0 to ``end``."""
    words = tuple(Word(_letter(w.text), _from_zero(w.span)) for w in track.words or () if w.span.end > 0)
    return replace(track, words=words, speech=(track.speech or Timeline()).within(Span(0, end)), duration=end)


def _from_zero(span: Span) -> Span:
    return Span(max(0, span.start), span.end)


def _letter(text: str) -> str:
    first = next((c for c in unicodedata.normalize("NFC", text) if c.isalnum()), "w")
    one_column = unicodedata.east_asian_width(first) not in "WF" and unicodedata.bidirectional(first) in ("L", "EN")
    # Where two neighbours share a letter the second is drawn in the other case: that of ß takes two columns.
    return first if one_column and first.isprintable() and len(first.swapcase()) == 1 else "w"


def _scale(columns: int, step: int) -> str:
    """Return marks in whole seconds, each beginning in its own column and none closer than eight columns."""
    apart = next(n for n in (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600, 10**9) if n * 1_000_000 >= 8 * step)
    line = ""
    for n in range(0, columns * step // 1_000_000 + 1, apart):
        at = -(-n * 1_000_000 // step)
        if at < columns:
            line = f"{line:<{at}}{n}"
    return line


def _events(events: Sequence[Event], tell: Language) -> list[str]:
    rows = []
    for event in sorted(events, key=lambda event: event.span):
        source = f"  ({tell('found: {source}', source=printable(event.source))})" if event.source else ""
        rows.append(
            f"  {_times(event.span, tell)}  {printable(tell.kept(event.kind))}  {printable(event.text)}".rstrip()
            + source
        )
    return [tell("events"), *rows] if rows else []


def _words(voice: str, track: Track, width: int, tell: Language) -> list[str]:
    unnamed, apart, colon = tell("an unnamed source"), tell("; "), tell(": ")
    heard = tell("speech from {source}", source=printable(track.speech_from) or unnamed)
    if track.words is None:
        return [
            f"{tell.of(voice)}{colon}{tell('no words')}{apart}{tell('not heard') if track.speech is None else heard}"
        ]
    source = tell("words from {source}", source=printable(track.words_from) or unnamed)
    count = tell.plural("{n} word", "{n} words", len(track.words))
    heard = tell("speech not heard") if track.speech is None else heard
    lines = [f"{tell.of(voice)}{colon}{count}{apart}{source}{apart}{heard}"]
    row = " "
    for word in track.words:
        told = f" {printable(word.text)} {_times(word.span, tell)} "
        if len(row) > 1 and len(row) + len(told) > width:
            lines.append(row.rstrip())
            row = " "
        row += told
    return [*lines, row.rstrip()] if track.words else lines


def _times(span: Span, tell: Language) -> str:
    return tell.digits(f"{in_seconds(span.start):.3f}-{in_seconds(span.end):.3f}")


def _facts(item: StoredItem, run: Run, tell: Language) -> list[str]:
    if not (run.path / "estimates.json").is_file():
        return [tell("no facts yet: the run has not been measured")]
    lines: list[str] = []
    for variant, rows in rows_of_item(run, item):
        units = {(row["scenario"], row["metric"]): row.get("unit", "") for row in variant["estimates"]}
        named = tell("under {variant}", variant=printable(str(variant.get("variant", ""))))
        lines.append(named + ("" if rows else f"{tell(': ')}{tell('nothing measured')}"))
        lines += (f"  {_fact(row, units.get((row['scenario'], row['metric']), ''), item, tell)}" for row in rows)
    return lines


def _fact(row: Mapping[str, Any], unit: str, item: StoredItem, tell: Language) -> str:
    name = printable(row["metric"])
    if row["item"] != item.id:
        name = tell("{metric} of {file}", metric=name, file=printable(row["item"][len(item.id) + 1 :]))
    value = tell.digits(f"{row['value']:.6g}") if row["value"] is not None else ""
    if row["value"] is None:
        value = f"{tell('absent')}{tell(': ')}{printable(tell.of(row.get('absent', '')))}"
    if row["value"] is not None and unit not in ("", "share"):
        # A unit that is a scale (0-5) would read as part of the number.
        value += f" ({unit})" if unit[0].isdigit() and "-" in unit else f" {unit}"
    # Why an item failed is what a program said of a file.
    why = (tell.kept if row.get("absent") == "failed" else tell.of)(str(row.get("why") or ""))
    why = f"  {printable(why)}" if why else ""
    at = row.get("at")
    at = "" if at is None else f"  ({tell('listen at {time} s', time=tell.digits(f'{at:.3f}'))})"
    return f"{name}  {value}{why}{at}"


def _files(item: StoredItem, tell: Language) -> list[str]:
    sounds = [(name, item.files[name]) for name in _SOUNDS if name in item.files]
    lines = [f"  {tell.of(name):<6}  {printable(str(path), 4_000)}" for name, path in sounds]
    return [tell("listen"), *lines] if lines else [tell("no sound at hand")]
