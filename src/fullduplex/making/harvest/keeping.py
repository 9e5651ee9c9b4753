"""The folder of a harvest from one run of the command to the next: what it was asked, and which items are still its."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from fullduplex.data.files import clear_parts, read_json, write_json
from fullduplex.errors import InputError
from fullduplex.making.harvest.item import MAKER
from fullduplex.making.item_folder import clear_halves, made_here


def begun(path: Path, told: Mapping[str, Any], audio_allowed: str) -> str:
    """Write a harvest's summary at its beginning, and return by what right it has sound, "" where it has none.

    It is told at once, so that a harvest that is stopped goes on only with what it was asked. Sound that was written
    before stays, and so does the right.
    """
    there = read_json(path) if path.is_file() else told
    before = there.get("audio")
    right = audio_allowed or (before if isinstance(before, str) else "")
    if not path.is_file() or right != before:
        write_json(path, {**there, "audio": right or None})
    return right


def clear_left(out: Path, sets: Iterable[str], more: Iterable[str] = ()) -> None:
    """Remove what a killed process was writing in ``out``, its ``sets`` of items and the other folders named ``more``.

    What was being written has a name of its own; nothing else is touched, nor what another process still writes.
    """
    for name in sets:
        clear_halves(out / name)
    for folder in (out, *(out / name for name in more)):
        clear_parts(folder)


def refuse_links(release: Path, folder: Path) -> None:
    """Raise :class:`InputError` where ``folder`` of a release, or what is in it, is a link to what lies outside.

    A release comes from somebody else: it says neither what is read on this machine nor where is written.
    """
    inside = release.resolve()
    for path in (folder, *sorted(folder.iterdir())):
        if not path.resolve().is_relative_to(inside):
            raise InputError(
                path, found="a link out of the release", expected="files and folders of its own",
                do="copy the release with its links followed (cp -RL)",
            )  # fmt: skip


def remove_others(sets: Iterable[Path], kept: Collection[Path]) -> None:
    """Remove the harvested items in some sets that are not among ``kept``: they were of a corpus that has changed."""
    for dataset in sets:
        for folder in dataset.iterdir() if dataset.is_dir() else ():
            if folder not in kept and made_here(folder, MAKER):
                shutil.rmtree(folder)
