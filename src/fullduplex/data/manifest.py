"""A manifest: one row an item, for recordings that lie in folders of any shape.

CSV (with a header row), TSV or JSON Lines. Columns:

``id``              what names the item; needed
``user``            the user's recording
``system``          the system's recording; the same file as ``user`` where one holds both
``words``           the system's words, in the shape of ``output.json``
``events``          JSON, or the path of an event file: ``[{"timestamp": [3.3, 4.0]}]``
``group``           the speaker or conversation, for intervals over clusters
``task``            one of the tasks; else as told on the command line
``dataset``         an official set, or free text
``system_name``     which system answered
``user_channel``    which channel of ``user`` it is, from 1; left where the file is shared
``system_channel``  which channel of ``system`` it is, from 1; right where the file is shared
``offset``          when the system's recording begins, in seconds

Paths are relative to the manifest; they may lead anywhere, and must exist. Two mono files make
one conversation: ``user`` is ``call_caller.flac``, ``system`` is ``call_agent.flac``.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fullduplex.data.entries import TASKS, Dataset, Entry, Voice
from fullduplex.data.fdb_json import events_given
from fullduplex.data.files import brief, number, parse_json, read_text_file, time
from fullduplex.data.official import EVENT_FILES, EVENT_KINDS, TOLD_BY, expected_files, set_named, tasks_listed
from fullduplex.errors import InputError
from fullduplex.model.items import Event
from fullduplex.model.spans import seconds

COLUMNS = (
    "id",
    "user",
    "system",
    "events",
    "group",
    "task",
    "dataset",
    "system_name",
    "words",
    "user_channel",
    "system_channel",
    "offset",
)
_OF_KIND = {"pause": "pause_handling", "turn_end": "smooth_turn_taking", "interruption": "user_interruption"}

Row = dict[str, Any]


def open_manifest(
    path: Path, *, task: str | None = None, channels: Mapping[str, int] | None = None, offset: int = 0
) -> Dataset:
    """Return the rows of a manifest as entries, in the file's order.

    ``task``, ``channels`` (from 0) and ``offset`` (µs) hold where a row does not say. Raises :class:`InputError`
    with the line: an unknown column, two rows with one id, a file that is not there,
    a row without a recording or words.
    """
    rows = _json_rows(path) if path.suffix.lower() == ".jsonl" else _csv_rows(path)
    seen: dict[tuple[str, ...], int] = {}
    entries = []
    for line, row in rows:
        entry = _entry(path, line, row, task, channels or {}, offset)
        key = (entry.set, entry.system, entry.id)
        if key in seen:
            raise InputError(
                path, f"line {line}", found=f"id {entry.id!r} again (line {seen[key]})", expected="a new id"
            )
        seen[key] = line
        entries.append(entry)
    if not entries:
        raise InputError(path, found="no rows", expected="a row for each item")
    return Dataset(path, "manifest", tuple(entries))


def _csv_rows(path: Path) -> Iterator[tuple[int, Row]]:
    text = read_text_file(path)
    reader = csv.reader(
        io.StringIO(text, newline=""), strict=True, delimiter="\t" if path.suffix.lower() == ".tsv" else ","
    )
    header: list[str] | None = None
    begins = 1
    try:
        for cells in reader:
            line, begins = begins, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = [cell.strip() for cell in cells]
                _check_columns(path, line, header)
                continue
            if len(cells) != len(header):
                raise InputError(
                    path,
                    f"line {line}",
                    found=f"{len(cells)} cells",
                    expected=f"{len(header)}, as the header has",
                    do='quote a cell that holds a comma: "a, b"',
                )
            yield line, {name: cell.strip() for name, cell in zip(header, cells, strict=True) if cell.strip()}
    except csv.Error as error:
        raise InputError(
            path, f"line {reader.line_num}", found=str(error), expected="CSV, quotes doubled inside quotes"
        ) from error
    if header is None:
        raise InputError(path, found="an empty file", expected="a header row")


def _json_rows(path: Path) -> Iterator[tuple[int, Row]]:
    for line, text in enumerate(re.split(r"\r\n|\n|\r", read_text_file(path)), 1):
        if not text.strip():
            continue
        row = parse_json(text, path, f"line {line}")
        if not isinstance(row, dict):
            raise InputError(path, f"line {line}", found=brief(row), expected="an object")
        _check_columns(path, line, list(row))
        yield line, {name: value for name, value in row.items() if value is not None and value != ""}


def _check_columns(path: Path, line: int, names: list[str]) -> None:
    unknown = [name for name in names if name not in COLUMNS]
    if unknown:
        raise InputError(
            path, f"line {line}", found=f"column {unknown[0]!r}", expected=f"columns among {', '.join(COLUMNS)}"
        )
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(path, f"line {line}", found=f"column {twice[0]!r} twice", expected="each column once")


def _entry(path: Path, line: int, row: Row, task: str | None, channels: Mapping[str, int], offset: int) -> Entry:
    def cell(name: str) -> str:
        value = row.get(name, "")
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise InputError(path, f"line {line}, {name}", found=brief(value), expected="a text")
        return str(value)

    id = cell("id")
    if not id:
        raise InputError(path, f"line {line}", found="no id", expected="an id in each row")
    user, system, words = (_file(path, line, name, cell(name)) for name in ("user", "system", "words"))
    if system is None and words is None:
        raise InputError(
            path, f"line {line}", found="neither system nor words", expected="the system's recording or its words"
        )
    its = task or cell("task")
    if cell("task") not in ("", *TASKS):
        raise InputError(path, f"line {line}, task", found=cell("task"), expected=f"one of {tasks_listed()}")
    events, event_file = _events(path, line, row.get("events"), EVENT_KINDS.get(its, ""))
    its = its or next((_OF_KIND[e.kind] for e in events if e.kind in _OF_KIND), "") or _task_of_file(event_file)
    if not its:
        raise InputError(
            path,
            f"line {line}, task",
            found="no task",
            expected=f"one of {tasks_listed()}",
            do="add a column or say --task",
        )
    files = {"output.json": words} if words else {}
    if event_file:
        files["events.json"] = event_file
    shared = user is not None and user == system
    user_channel = _channel(path, line, "user_channel", row, channels.get("user", 0 if shared else None))
    system_channel = _channel(path, line, "system_channel", row, channels.get("system", 1 if shared else None))
    there = {name for name, held in (("input.wav", user), ("output.wav", system), ("output.json", words)) if held}
    if events or event_file:
        there |= set(EVENT_FILES.get(its, ()))
    return Entry(
        id=id,
        task=its,
        dataset=set_named(its, cell("dataset")),
        system=cell("system_name"),
        group=cell("group"),
        user_voice=Voice(user, user_channel) if user else None,
        system_voice=Voice(system, system_channel) if system else None,
        files=files,
        events=events,
        offset=seconds(_offset(path, line, row)) if "offset" in row else offset,
        missing=tuple(name for name in expected_files(its) if name not in there),
    )


def _file(path: Path, line: int, column: str, name: str) -> Path | None:
    if not name:
        return None
    found = path.parent / name
    try:
        there = found.is_file()
    except (OSError, ValueError):
        there = False
    if not there:
        raise InputError(
            path, f"line {line}, {column}", found=f"no file {name}", expected="a file, named relative to the manifest"
        )
    return found


def _events(path: Path, line: int, value: Any, kind: str) -> tuple[tuple[Event, ...], Path | None]:
    field = f"line {line}, events"
    if value is None:
        return (), None
    if isinstance(value, str):
        if value.lstrip()[:1] not in ("[", "{"):
            return (), _file(path, line, "events", value)
        value = parse_json(value, path, field)
    return events_given(value, path, field, kind), None


def _task_of_file(event_file: Path | None) -> str:
    return TOLD_BY.get(event_file.name, "") if event_file else ""


def _channel(path: Path, line: int, column: str, row: Row, otherwise: int | None) -> int | None:
    value = row.get(column)
    if value is None:
        return otherwise
    try:
        channel = int(value) if isinstance(value, str | int) and not isinstance(value, bool) else 0
    except ValueError:
        channel = 0
    if channel < 1:
        raise InputError(path, f"line {line}, {column}", found=brief(value), expected="a channel, counted from 1")
    return channel - 1


def _offset(path: Path, line: int, row: Row) -> float:
    value, field = row["offset"], f"line {line}, offset"
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            value = number(value, path, field, "seconds")
    return time(value, path, field)
