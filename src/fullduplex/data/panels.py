"""Panels of listeners: who heard which stimulus, and when each responded, as a table or as JSON.

A table (``.csv``, ``.tsv``) has a row for each response, under the header ``stimulus,listener,onset`` and, where there
are such, ``end`` (when a key that was held was let go) and ``duration`` (of the stimulus; once is enough). Times are
decimal seconds from the stimulus' begin. A listener who heard a stimulus and never responded has one row whose onset
is empty: who is in no row did not hear it, and is in no denominator.

JSON is ``{"stimuli": {NAME: {"duration": 31.4, "listeners": {NAME: [3.2, [7.1, 7.6]]}}}}``; an empty list is a
listener who never responded.
"""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from fullduplex.data.files import brief, member, no_others, parse_json, read_text_file, time
from fullduplex.errors import InputError, printable
from fullduplex.model.spans import SECOND, Span, in_seconds, seconds

_NEEDED = ("stimulus", "listener", "onset")
_COLUMNS = (*_NEEDED, "end", "duration")
#: No stimulus of a listening study lasts so long; what says so is in milliseconds or samples.
_LONGEST = 4 * 3_600 * SECOND
#: So many names of sounds does an error tell.
_NAMED = 4
#: Two lengths of one sound that differ by no more are one.
_SAME_LENGTH = SECOND // 100


@dataclass(slots=True)
class _Stimulus:
    """One stimulus as it is gathered: packed, for a panel of thousands of stimuli is read whole."""

    duration: int | None = None
    listeners: dict[str, int] = field(default_factory=dict)
    who: array[int] = field(default_factory=lambda: array("q"))
    start: array[int] = field(default_factory=lambda: array("q"))
    end: array[int] = field(default_factory=lambda: array("q"))
    place: array[int] = field(default_factory=lambda: array("q"))
    none: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Heard:
    """What one panel did on one stimulus: its length in µs, and each listener's responses in order, none for silence.

    A response without an end lasts 1 µs: only its onset is known.
    """

    stimulus: str
    duration: int
    listeners: Mapping[str, tuple[Span, ...]]


class PanelFile:
    """A panel that was read: its stimuli in the file's order, each unpacked when it is asked for."""

    def __init__(self, path: Path, stimuli: Mapping[str, _Stimulus], remarks: tuple[str, ...]) -> None:
        self.path, self._stimuli, self.remarks = path, stimuli, remarks

    def __len__(self) -> int:
        return len(self._stimuli)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the stimuli."""
        return tuple(self._stimuli)

    def __iter__(self) -> Iterator[Heard]:
        return map(self.of, self._stimuli)

    def of(self, name: str) -> Heard:
        """Return what the listeners did on the stimulus ``name``."""
        found = self._stimuli[name]
        said: dict[str, list[Span]] = {listener: [] for listener in found.listeners}
        names = list(found.listeners)
        for who, start, end in sorted(zip(found.who, found.start, found.end, strict=True)):
            said[names[who]].append(Span(start, end))
        return Heard(name, found.duration or 0, {listener: tuple(spans) for listener, spans in said.items()})


def read_panel(path: Path, durations: Mapping[str, int] | None = None) -> PanelFile:
    """Return the panel of a file, checked whole.

    ``durations``: the length of each stimulus' sound in µs, by name; a stimulus that is not among them is refused.
    Raises :class:`InputError` with the line (of JSON the place): a stimulus without a length, or with two; an onset
    that is not within its sound; an end that is not behind its onset; a response that is given twice, or begins while
    the same listener's last goes on; a listener of whom it says both that there is no response and one. A key that was
    held past the end of the sound is cut there, and a remark counts them.
    """
    made: dict[str, _Stimulus] = {}
    if path.suffix.lower() == ".json":
        _from_json(path, made)
        placed = "response {n}"
    elif path.suffix.lower() in (".csv", ".tsv"):
        _from_table(path, made)
        placed = "line {n}"
    else:
        raise InputError(path, found=f"a file ending in {path.suffix or 'nothing'}", expected=".csv, .tsv or .json")
    if not made:
        raise InputError(path, found="no response and no listener", expected="a row for each response")
    cut = sum(_checked(path, name, one, durations, placed) for name, one in made.items())
    unheard = len(set(durations or ()) - set(made))
    remarks: tuple[str, ...] = (f"keys held past the end of the sound, cut there: {cut}",) if cut else ()
    remarks += (f"stimuli with a sound and no listener: {unheard}",) if unheard else ()
    return PanelFile(path, made, remarks)


def _from_table(path: Path, made: dict[str, _Stimulus]) -> None:
    reader = csv.reader(
        io.StringIO(read_text_file(path), newline=""),
        strict=True, delimiter="\t" if path.suffix.lower() == ".tsv" else ",",
    )  # fmt: skip
    header: list[str] = []
    # Each name once, however many stimuli a listener heard.
    known: dict[str, str] = {}
    try:
        for cells in reader:
            line = f"line {reader.line_num}"
            if not any(cell.strip() for cell in cells):
                continue
            if not header:
                header = _header(path, [cell.strip() for cell in cells])
                continue
            if len(cells) != len(header):
                raise InputError(path, line, found=f"{len(cells)} cells", expected=f"{len(header)}, as the header has")
            row = {name: cell.strip() for name, cell in zip(header, cells, strict=True)}
            for name in ("stimulus", "listener"):
                if not row[name]:
                    raise InputError(path, f"{line}, {name}", found="nothing", expected="a name")
            one = made.setdefault(row["stimulus"], _Stimulus())
            told = {
                name: _decimal(row[name], path, f"{line}, {name}") if row.get(name) else None for name in _COLUMNS[2:]
            }
            if told["duration"] is not None:
                _lasts(one, told["duration"], path, f"{line}, duration")
            _add(
                one,
                known.setdefault(row["listener"], row["listener"]),
                told["onset"],
                told["end"],
                reader.line_num,
                path,
                line,
            )
    except csv.Error as error:
        raise InputError(path, f"line {reader.line_num}", found=str(error), expected="CSV") from error


def _header(path: Path, header: list[str]) -> list[str]:
    unknown = [name for name in header if name not in _COLUMNS]
    lacking = [name for name in _NEEDED if name not in header]
    if unknown or lacking or len(set(header)) < len(header):
        found = f"a column {unknown[0]!r}" if unknown else f"no column {lacking[0]!r}" if lacking else "a column twice"
        # What spreadsheets write where a comma is the decimal sign.
        do = "separate cells by commas, and write times with a point" if len(header) == 1 and ";" in header[0] else ""
        raise InputError(path, "line 1", found=found, expected=f"{','.join(_NEEDED)} and perhaps end, duration", do=do)
    return header


def _from_json(path: Path, made: dict[str, _Stimulus]) -> None:
    stimuli = member(parse_json(read_text_file(path), path, keys_once=True), "stimuli", path)
    if not isinstance(stimuli, dict):
        raise InputError(path, "stimuli", found=brief(stimuli), expected="an object: a stimulus' name to its listeners")
    for name, told in stimuli.items():
        _named(name, path, "stimuli")
        one = made.setdefault(name, _Stimulus())
        listeners = member(told, "listeners", path, name)
        no_others(told, ("duration", "listeners"), path, name)
        if told.get("duration") is not None:
            _lasts(one, time(told["duration"], path, f"{name}.duration"), path, f"{name}.duration")
        if not isinstance(listeners, dict) or not listeners:
            raise InputError(path, f"{name}.listeners", found=brief(listeners), expected="an object: name to responses")
        for listener, responses in listeners.items():
            _named(listener, path, f"{name}.listeners")
            at = f"{name}.listeners.{listener}"
            if not isinstance(responses, list):
                raise InputError(path, at, found=brief(responses), expected="a list of responses, empty for none")
            if not responses:
                _add(one, listener, None, None, 0, path, at)
            for n, each in enumerate(responses):
                start, end = _json_times(each, path, f"{at}[{n}]")
                _add(one, listener, start, end, n, path, f"{at}[{n}]")


def _named(name: str, path: Path, field: str) -> None:
    if not name or name != name.strip():
        raise InputError(path, field, found=brief(name), expected="a name, and no space around it")


def _json_times(value: Any, path: Path, field: str) -> tuple[float, float | None]:
    if not isinstance(value, list):
        return time(value, path, field), None
    if len(value) != 2:
        raise InputError(path, field, found=brief(value), expected="an onset, or [onset, end]")
    return time(value[0], path, field), time(value[1], path, field)


def _decimal(cell: str, path: Path, field: str) -> float:
    try:
        # Python reads 1_000 as a number; nobody who writes times does.
        return time(float(cell if "_" not in cell else ""), path, field)
    except ValueError as error:
        raise InputError(path, field, found=repr(cell[:80]), expected="a time in seconds") from error


def _lasts(one: _Stimulus, duration: float, path: Path, field: str) -> None:
    if not 0 < seconds(duration) <= _LONGEST:
        raise InputError(path, field, found=f"{duration:g} s", expected=f"above 0, at most {_LONGEST // SECOND} s")
    if one.duration is not None and abs(one.duration - seconds(duration)) > _SAME_LENGTH:
        raise InputError(
            path, field, found=f"{duration:g} s", expected=f"{in_seconds(one.duration):g} s, as said before of it"
        )
    one.duration = seconds(duration) if one.duration is None else one.duration


def _add(
    one: _Stimulus, listener: str, start: float | None, end: float | None, place: int, path: Path, at: str
) -> None:
    who = one.listeners.setdefault(listener, len(one.listeners))
    if start is None:
        if end is not None:
            raise InputError(path, at, found="an end and no onset", expected="both, or neither")
        one.none.setdefault(who, place)
        return
    if end is not None and seconds(end) <= seconds(start):
        raise InputError(path, at, found=f"from {start:g} s to {end:g} s", expected="an end behind its onset")
    one.who.append(who)
    one.start.append(seconds(start))
    one.end.append(seconds(start) + 1 if end is None else seconds(end))
    one.place.append(place)


def _checked(path: Path, name: str, one: _Stimulus, durations: Mapping[str, int] | None, placed: str) -> int:
    """Check one stimulus whole, cut what was held past its end, and return how many that were."""
    if durations is not None and name not in durations:
        some = ", ".join(printable(each, 40) for each in list(durations)[:_NAMED])
        more = " …" if len(durations) > _NAMED else ""
        raise InputError(path, f"stimulus {name}", found="no sound of that name", expected=f"one of {some}{more}")
    if durations is not None:
        heard = durations[name]
        if one.duration is not None and abs(one.duration - heard) > _SAME_LENGTH:
            raise InputError(
                path, f"stimulus {name}", found=f"a duration of {in_seconds(one.duration):g} s",
                expected=f"{in_seconds(heard):g} s, as its sound lasts",
            )  # fmt: skip
        one.duration = heard
    if one.duration is None:
        raise InputError(
            path, f"stimulus {name}", found="no duration", expected="a column duration", do="or give --items"
        )
    names = list(one.listeners)
    rows = sorted(zip(one.who, one.start, one.end, one.place, strict=True))

    def at(row: tuple[int, int, int, int]) -> str:
        return f"{placed.format(n=row[3])}, stimulus {name}, listener {names[row[0]]}"

    for row in rows:
        if row[0] in one.none:
            raise InputError(path, at(row), found="a response of one listed without any", expected="one or the other")
        if not 0 <= row[1] < one.duration:
            raise InputError(
                path, at(row), found=f"a response at {in_seconds(row[1]):g} s",
                expected=f"within the sound, 0 to {in_seconds(one.duration):g} s",
            )  # fmt: skip
    for before, row in pairwise(rows):
        if before[0] == row[0] and row[1] < before[2]:
            again = "again" if before[1] == row[1] else f"while that of {in_seconds(before[1]):g} s goes on"
            raise InputError(
                path, at(row), found=f"a response at {in_seconds(row[1]):g} s {again}", expected="each response once"
            )
    late = [n for n, end in enumerate(one.end) if end > one.duration]
    for n in late:
        one.end[n] = one.duration
    return len(late)


def sound_lengths(folder: Path) -> dict[str, int]:
    """Return how long each stimulus' sound is, in µs by name.

    ``folder`` holds sounds (``NAME.wav``, ``.flac``), or items with the sound in ``input.wav`` (of several tasks, those
    of ``backchannel``). Raises :class:`InputError` where there is neither, or two sounds have one name.
    """
    from fullduplex.data import audio
    from fullduplex.data.discover import open_dataset
    from fullduplex.data.folders import natural

    if not folder.is_dir():
        raise InputError(folder, found="no folder", expected="a folder of sounds or of items")
    flat = [path for path in folder.iterdir() if path.suffix.lower() in (".wav", ".flac")]
    flat = [path for path in flat if path.stem not in ("input", "output")]
    found: list[tuple[str, Path]] = [(path.stem, path) for path in flat]
    if not found:
        entries = open_dataset(folder).entries
        chosen = [entry for entry in entries if entry.task == "backchannel"] or entries
        found = [(entry.id, entry.user_voice.path) for entry in chosen if entry.user_voice is not None]
    lengths: dict[str, int] = {}
    for name, path in sorted(found, key=lambda pair: natural(pair[0])):
        if name in lengths:
            raise InputError(folder, f"stimulus {name}", found="two sounds", expected="one for each name")
        lengths[name] = audio.probe(path).duration
    if not lengths:
        raise InputError(folder, found="no sound", expected="NAME.wav, or items with input.wav")
    return lengths
