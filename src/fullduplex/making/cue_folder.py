"""An item of cues on disk: a WAV for each cue, what is told of them, and ``script.json`` with each sound's digest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullduplex.data import audio
from fullduplex.data.files import read_json, write_json
from fullduplex.data.names import as_file_name
from fullduplex.driving.playout import Samples
from fullduplex.errors import InputError
from fullduplex.making.item_folder import made_here, same_as_made, whole_folder
from fullduplex.making.make_item import content_of
from fullduplex.model.spans import SECOND, in_seconds


@dataclass(frozen=True, slots=True, eq=False)
class CueItem:
    """What goes into the folder: the sound of each cue at ``rate``, by its id; JSON files, by name; ``about`` it."""

    sound: Mapping[str, Samples]
    rate: int
    files: Mapping[str, Any]
    about: Mapping[str, Any]


def made_once(folder: Path, maker: str, found: str, mark: str, make: Callable[[], CueItem]) -> tuple[bool, str]:
    """Return whether the item with the digest ``mark`` was there already, and what was wrong with its sound if it was.

    One that is there whole is kept, else what ``make`` makes is written, whole or not at all. Raises
    :class:`InputError`, calling it ``found``, where the folder is none of ``maker``'s.
    """
    if folder.exists() and not made_here(folder, maker):
        raise InputError(folder, found=found, expected="a new folder", do="choose another --out")
    damaged = ""
    if same_as_made(folder, mark):
        damaged = damage(folder)
        if not damaged:
            return True, ""
    item = make()
    with whole_folder(folder) as half:
        for id, samples in item.sound.items():
            audio.write(half / f"{id}.wav", samples, item.rate)
        for name, told in item.files.items():
            write_json(half / name, told)
        names = sorted(path.name for path in half.iterdir())
        sound = {f"{id}.wav": content_of(half / f"{id}.wav") for id in item.sound}
        write_json(half / "script.json", {**item.about, "files": names, "sha256": sound})
    return False, damaged


def is_whole(folder: Path, maker: str, mark: str) -> bool:
    """Tell whether ``folder`` is ``maker``'s item with the digest ``mark``, whole."""
    return made_here(folder, maker) and same_as_made(folder, mark) and not damage(folder)


def damage(folder: Path) -> str:
    """Return what is wrong with the sound of a made item, "" where nothing is.

    Each recording has the digest that script.json tells. Where it tells none, as of items that were made before it
    did, the recordings are as long as it says, and none is silence.
    """
    about = read_json(folder / "script.json")
    told = about.get("sha256")
    if isinstance(told, dict):
        names = [name for name, sha256 in told.items() if content_of(folder / as_file_name(name)) != sha256]
        return f"{names[0]} is not as it was made" if names else ""
    duration = 0
    for name in about["files"]:
        if name.endswith(".wav"):
            try:
                samples, rate = audio.read(folder / as_file_name(name))
            except InputError as error:
                return str(error)
            if not samples.any():
                return f"{name} is silence"
            duration += len(samples) * SECOND // rate
    short = in_seconds(round(about["duration"] * SECOND) - duration)
    return f"the recordings are {short:g} s shorter than they were made" if short else ""
