"""The stereo files of a run that the page plays: each item's, and its clean twin's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullduplex.data.files import read_json, write_json
from fullduplex.errors import InputError
from fullduplex.reporting.sound import make_sound
from fullduplex.runs.items import TRACKS, TWIN_TRACKS, read_item
from fullduplex.runs.run import Run

#: What stands after the name of an item's clean twin.
TWIN = " (clean twin)"
#: Raised when the same recordings would give another file.
VERSION = 2


@dataclass(frozen=True, slots=True)
class SoundTask:
    """One stereo file that the page needs: of an item's folder, or with ``twin`` of its clean twin."""

    folder: str
    out: str
    twin: bool = False


def sound_tasks(run: Run) -> Iterator[SoundTask]:
    """Yield every stereo file that the page of ``run`` needs; one of an item that cannot be read is not among them."""
    for folder in run.items():
        yield SoundTask(str(folder), str(sound_path(run, folder)))
        if has_twin(folder):
            yield SoundTask(str(folder), str(sound_path(run, folder, twin=True)), twin=True)


def has_twin(folder: Path) -> bool:
    """Return whether the item in ``folder`` has a recording of the system in its clean twin."""
    try:
        return "clean_system" in read_item(folder)["files"]
    except InputError:
        return False


def sides_of(twin: bool) -> Mapping[str, str]:
    """Return the stem of each side's file, user and system, of an item or of its clean twin."""
    return TWIN_TRACKS if twin else TRACKS


def sound(task: SoundTask) -> dict[str, Any]:
    """Make a stereo file and its waveform, unless both are there and made of these very files.

    Raises :class:`InputError` where a recording is gone, is no sound, or there is no place to write to.
    """
    folder, out = Path(task.folder), Path(task.out)
    files = read_item(folder)["files"]
    sides = [(folder / files[role], None) if role in files else None for role in sides_of(task.twin)]
    if not any(sides):
        return {}
    of = [_made_of(side[0]) if side else None for side in sides]
    kept = out.with_suffix(".json")
    if kept.is_file() and out.is_file():
        found = _kept(kept)
        if found.get("of") == of and found.get("version") == VERSION:
            return found
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(out, found=error.strerror or str(error), expected="a place to write to") from error
    made = make_sound(sides[0], sides[1], 0, out) | {"of": of, "version": VERSION}
    write_json(kept, made)
    return made


def _made_of(path: Path) -> list[str | int]:
    try:
        about = path.stat()
    except OSError as error:
        raise InputError(path, found=error.strerror or str(error), expected="a recording that can be read") from error
    return [path.name, about.st_size, about.st_mtime_ns]


def _kept(path: Path) -> dict[str, Any]:
    """Return what is kept of a stereo file; nothing where that was damaged: it is made again."""
    try:
        found = read_json(path)
    except InputError:
        return {}
    return found if isinstance(found, dict) else {}


def sound_path(run: Run, folder: Path, *, twin: bool = False) -> Path:
    """Return where the stereo file of an item folder, or of its clean twin, lies in its run."""
    repeat = folder.parent.parent.name.removeprefix("trials")
    name = f"{folder.name}.clean.flac" if twin else f"{folder.name}.flac"
    return run.path / f"audio{repeat}" / folder.parent.name / name
