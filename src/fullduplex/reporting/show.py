"""One item of a run as text for a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from fullduplex.data.names import as_file_name
from fullduplex.errors import InputError, printable
from fullduplex.model.items import Event
from fullduplex.model.sketch import draw
from fullduplex.model.spans import Span, Timeline, in_seconds, ms
from fullduplex.model.speech import Track, Word
from fullduplex.model.trials import Trial
from fullduplex.reporting.listing import list_text
from fullduplex.runs.run import Run
from fullduplex.runs.sheets import variants
from fullduplex.runs.stored import StoredItem, estimates, hearing_of, read_item

__all__ = ["list_text", "show", "timeline"]

#: A timeline's step is the first of these at which it fits; past the last, a whole number of it.
STEPS = tuple(map(ms, (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)))
WIDTH = 100

_SOUNDS = ("user", "system")


def show(run: Path, item: str, *, width: int = WIDTH) -> str:
    """Return one item as text: its timeline, events, words, facts under each variant, and files.

    ``item`` is ``SET/ID``, or ``ID`` where only one set has it. Raises
    :class:`RunError` where ``run`` is no run, and :class:`InputError` that names what
    is near where no item is called so, or more than one is.
    """
    opened = Run.open(run)
    found = read_item(_folder_of(opened, item), hearing_of(opened))
    trial = found.trial
    parts = [
        [printable(found.key), *_about(found)],
        timeline(trial, width),
        _events(trial.events),
        *(_words(voice, track, width) for voice, track in (("user", trial.user), ("system", trial.system))),
        _facts(found, opened),
        _files(found),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def timeline(trial: Trial, width: int = WIDTH) -> list[str]:
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
        f"one column is {in_seconds(step):g} s, the scale is in seconds",
    ]


def _folder_of(run: Run, name: str) -> Path:
    """Return the folder of the item that ``name`` stands for; only names that the run has lead anywhere."""
    known = {f"{folder.parent.name}/{folder.name}": folder for folder in run.items()}
    cuts = [i for i, mark in enumerate(name) if mark == "/"]
    keys = {name, *(f"{as_file_name(name[:i])}/{as_file_name(name[i + 1 :])}" for i in cuts)}
    bare = as_file_name(name)
    hits = [key for key in known if key in keys] or [key for key in known if key.partition("/")[2] in (name, bare)]
    if len(hits) == 1:
        return known[hits[0]]
    if hits:
        raise InputError(
            run.path,
            "item",
            found=repr(name),
            expected=f"one item, and {len(hits)} are called so",
            do=f"give one of {printable(', '.join(hits))}",
        )
    near = get_close_matches(name, known, n=3, cutoff=0.4) or list(known)[:3]
    raise InputError(
        run.path,
        "item",
        found=repr(name),
        expected=f"one of its {len(known)} items",
        do=f"for example {printable(', '.join(near))}" if near else "listen to something first",
    )


def _about(item: StoredItem) -> Iterator[str]:
    trial = item.trial
    told = [("task", item.task), ("dataset", item.dataset), ("system", item.system), ("group", trial.item.group)]
    yield "  ".join(f"{name} {printable(value)}" for name, value in told if value)
    if trial.failed:
        yield f"failed: {printable(trial.failed)}"
    if trial.missing:
        yield f"missing: {printable(', '.join(trial.missing))}"


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


def _events(events: Sequence[Event]) -> list[str]:
    rows = []
    for event in sorted(events, key=lambda event: event.span):
        source = f"  (found: {printable(event.source)})" if event.source else ""
        rows.append(f"  {_times(event.span)}  {printable(event.kind)}  {printable(event.text)}".rstrip() + source)
    return ["events", *rows] if rows else []


def _words(voice: str, track: Track, width: int) -> list[str]:
    heard = f"speech from {printable(track.speech_from) or 'an unnamed source'}" if track.speech is not None else ""
    if track.words is None:
        return [f"{voice}: no words; {heard or 'not heard'}"]
    source = f"words from {printable(track.words_from) or 'an unnamed source'}"
    lines = [f"{voice}: {len(track.words)} words; {source}; {heard or 'speech not heard'}"]
    row = " "
    for word in track.words:
        told = f" {printable(word.text)} {_times(word.span)} "
        if len(row) > 1 and len(row) + len(told) > width:
            lines.append(row.rstrip())
            row = " "
        row += told
    return [*lines, row.rstrip()] if track.words else lines


def _times(span: Span) -> str:
    return f"{in_seconds(span.start):.3f}-{in_seconds(span.end):.3f}"


def _facts(item: StoredItem, run: Run) -> list[str]:
    if not (run.path / "estimates.json").is_file():
        return ["no facts yet: the run has not been measured"]
    lines: list[str] = []
    for variant in variants(estimates(run)):
        units = {(row["scenario"], row["metric"]): row.get("unit", "") for row in variant["estimates"]}
        rows = [row for row in variant["items"] if _is_of(row, item)]
        lines.append(f"under {printable(str(variant.get('variant', '')))}" + ("" if rows else ": nothing measured"))
        lines += (f"  {_fact(row, units.get((row['scenario'], row['metric']), ''), item)}" for row in rows)
    return lines


def _is_of(row: Mapping[str, Any], item: StoredItem) -> bool:
    # A scenario is named for its dataset, or for its task where the dataset is not one of its own;
    # a further output of the item is called ID:FILE.
    name = row["item"]
    further = name.startswith(f"{item.id}:") and name[len(item.id) + 1 :] in item.files
    return row["scenario"] in (item.set, item.dataset, item.task) and (name == item.id or further)


def _fact(row: Mapping[str, Any], unit: str, item: StoredItem) -> str:
    name = printable(row["metric"])
    if row["item"] != item.id:
        name += f" of {printable(row['item'][len(item.id) + 1 :])}"
    value = f"absent: {printable(row.get('absent', ''))}" if row["value"] is None else f"{row['value']:.6g}"
    if row["value"] is not None and unit not in ("", "share"):
        # A unit that is a scale (0-5) would read as part of the number.
        value += f" ({unit})" if unit[0].isdigit() and "-" in unit else f" {unit}"
    why = f"  {printable(row['why'])}" if row.get("why") else ""
    at = f"  (listen at {row['at']:.3f} s)" if row.get("at") is not None else ""
    return f"{name}  {value}{why}{at}"


def _files(item: StoredItem) -> list[str]:
    sounds = [(name, item.files[name]) for name in _SOUNDS if name in item.files]
    lines = [f"  {name:<6}  {printable(str(path), 4_000)}" for name, path in sounds]
    return ["listen", *lines] if lines else ["no sound at hand"]
