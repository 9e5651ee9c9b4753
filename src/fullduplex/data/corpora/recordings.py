"""The audio files and the licence that lie in a corpus' folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from fullduplex.errors import InputError, printable

#: What is looked at as audio: the suffixes of telephone corpora too.
SUFFIXES = (".wav", ".flac", ".sph", ".au", ".aiff", ".aif", ".ogg", ".opus", ".mp3", ".m4a")
_LICENCES = ("licence", "license", "copying")
#: So much of a licence's file is told: what it is called stands at its beginning.
_TOLD = 160


def files_below(root: Path) -> Iterator[Path]:
    """Yield the files below a folder in order of their names, without hidden ones; links to folders are not followed.

    What is no file (a pipe, which nobody may ever write to) is passed over. Raises :class:`InputError`
    where there is no such folder.
    """
    if not root.is_dir():
        raise InputError(root, found="no such folder" if not root.exists() else "a file", expected="a corpus' folder")
    for folder, below, names in os.walk(root):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and (path := Path(folder) / name).is_file():
                yield path


def is_audio(path: Path) -> bool:
    """Tell whether a file's name is that of audio."""
    return path.suffix.lower() in SUFFIXES


def licence_in(root: Path) -> str:
    """Return how the licence's file in a folder begins, with its name; "" where there is none."""
    for path in sorted(root.iterdir()) if root.is_dir() else ():
        if path.is_file() and path.name.lower().startswith(_LICENCES):
            with path.open("rb") as file:
                begins = " ".join(file.read(_TOLD * 4).decode("utf-8", "replace").split())
            return printable(f"{path.name}: {begins}", _TOLD + len(path.name))
    return ""
