"""Tables of words or lines (.csv, .tsv): a row each, columns by name, of one conversation or of many.

Needed are a start, an end or a duration, and the text; a speaker (or channel) and a conversation where a file has more
than one. Times are seconds; milliseconds where a column says so (``start_ms``), and in talkr's tables (columns
``participant``, ``begin``, ``end``, ``utterance``, ``uid``), which are in milliseconds by that project's convention.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fullduplex.data.corpora.gathered import Gathered, moment, stretch
from fullduplex.data.corpora.records import Range
from fullduplex.data.corpora.spoken import label, said
from fullduplex.errors import InputError

START, END, DURATION, WORD, LINE, SPEAKER, CHANNEL, CONVERSATION = range(8)
_NAMES = {
    START: "start begin start_time starttime onset begintime begin_time start_s",
    END: "end stop end_time endtime offset stop_time end_s",
    DURATION: "duration dur length",
    WORD: "word token",
    LINE: "utterance text transcript transcription line content sentence",
    SPEAKER: "speaker participant interlocutor speaker_id who side role",
    CHANNEL: "channel chan ch",
    CONVERSATION: "conversation conversation_id source file recording session dialogue dialog team_no call",
}
_MEANS = {name: what for what, names in _NAMES.items() for name in names.split()}
_TALKR = frozenset(["uid", "participant", "begin", "end", "utterance"])
_LONGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column of a table tells what, and in units of how many seconds its times are."""

    delimiter: str
    at: dict[int, int]
    width: int
    unit: float


def columns_of(path: Path) -> Columns | None:
    """Return what the columns of a table tell; None where it is no table of words or lines."""
    try:
        with path.open("rb") as file:
            head = file.readline(_LONGEST).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    delimiter = max("\t;,", key=head.count)
    names = next(csv.reader([head.strip()], delimiter=delimiter), []) if "\0" not in head else []
    at, unit = dict[int, int](), 1.0
    lowered = [name.strip().lower() for name in names]
    for n, name in enumerate(lowered):
        for end in ("_ms", "_msec", "(ms)"):
            if name.endswith(end) and _MEANS.get(name.removesuffix(end).strip()) in (START, END, DURATION):
                name, unit = name.removesuffix(end).strip(), 1e-3
        what = _MEANS.get(name)
        if what is not None:
            at.setdefault(what, n)
    if set(lowered) >= _TALKR:
        unit = 1e-3
    whole = START in at and (END in at or DURATION in at) and (WORD in at or LINE in at)
    return Columns(delimiter, at, len(names), unit) if whole else None


def index_table(path: Path, columns: Columns) -> dict[str, list[Range]]:
    """Return where each conversation's rows are, by name; "" where the table has no column of conversations."""
    found = dict[str, list[Range]]()
    place = columns.at.get(CONVERSATION)
    for n, start, end, row in _rows(path, columns.delimiter):
        if n == 1 or not any(cell.strip() for cell in row):
            continue
        name = row[place].strip() if place is not None and place < len(row) else ""
        ranges = found.setdefault(name, [])
        if ranges and ranges[-1].end == start:
            ranges[-1] = ranges[-1]._replace(end=end)
        else:
            ranges.append(Range(start, end, n))
    return found


def read_table(path: Path, columns: Columns, ranges: list[Range]) -> Gathered:
    """Return the transcript in those rows of a table; raises :class:`InputError` on a row that cannot be meant."""
    transcript, at = Gathered(path, words_from="table"), columns.at
    for part in ranges:
        for n, _, _, row in _rows(path, columns.delimiter, part):
            where = f"row {n}"
            if len(row) != columns.width:
                raise InputError(path, where, found=f"{len(row)} cells", expected=f"{columns.width}, as the first row")
            start = _time(row[at[START]], path, f"{where}, start", columns)
            if END in at:
                end = _time(row[at[END]], path, f"{where}, end", columns)
            else:
                end = start + _time(row[at[DURATION]], path, f"{where}, duration", columns)
            channel = row[at[CHANNEL]].strip() if CHANNEL in at else ""
            speaker = row[at[SPEAKER]] if SPEAKER in at else channel
            if CHANNEL in at and channel.isdecimal() and len(channel) < 3:
                # Counted from 0 or 1: told once both are known.
                transcript.of(speaker).channels.add(int(channel))
            span = stretch(start, end, path, where)
            if WORD in at:
                transcript.word(speaker, label(row[at[WORD]]), span)
            else:
                transcript.line(speaker, said(row[at[LINE]]), span)
    _from_zero(transcript)
    return transcript


def _from_zero(transcript: Gathered) -> None:
    channels = {one for speaker in transcript.speakers.values() for one in speaker.channels}
    if channels and min(channels) == 1:
        for speaker in transcript.speakers.values():
            speaker.channels = {one - 1 for one in speaker.channels}


def _time(text: str, path: Path, where: str, columns: Columns) -> int:
    # Spreadsheets of some countries write "1,5"; then the cells are not divided by commas.
    return moment(text.replace(",", ".") if columns.delimiter != "," else text, path, where, unit=columns.unit)


def _rows(path: Path, delimiter: str, part: Range | None = None) -> Iterator[tuple[int, int, int, list[str]]]:
    """Yield a table's rows with their numbers and the bytes ``[start, end)`` that they take: a cell may hold lines."""
    try:
        with path.open("rb") as file:
            state = [part.start if part else 0]
            file.seek(state[0])

            def lines() -> Iterator[str]:
                while line := file.readline(_LONGEST):
                    state[0] += len(line)
                    try:
                        yield line.decode("utf-8-sig" if state[0] == len(line) else "utf-8")
                    except UnicodeDecodeError as error:
                        found = "bytes that are not UTF-8"
                        raise InputError(path, f"byte {state[0]}", found=found, expected="UTF-8 text") from error

            reader = csv.reader(lines(), delimiter=delimiter, strict=True)
            n, start = part.line if part else 1, state[0]
            while part is None or start < part.end:
                try:
                    row = next(reader)
                except StopIteration:
                    return
                except csv.Error as error:
                    raise InputError(path, f"row {n}", found=str(error), expected="a row of a table") from error
                yield n, start, state[0], row
                n, start = n + 1, state[0]
    except OSError as error:
        raise InputError(path, found=error.strerror or str(error), expected="a file that can be read") from error
