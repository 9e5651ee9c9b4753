"""Walking a tree of folders: what each holds, in natural order, whatever lies in it."""

from __future__ import annotations

import os
import re
import stat
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fullduplex.errors import printable

_DEEPEST = 40


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that puts ``2`` before ``10``; numbers may be of any length."""
    return tuple(
        (0, len(part.lstrip("0")), part.lstrip("0")) if part[:1].isascii() and part[:1].isdigit() else (1, 0, part)
        for part in re.split(r"([0-9]+)", name)
        if part
    )


def as_text(name: str) -> str:
    """Return a file's name as text: bytes that are not UTF-8 become ``\\xNN``."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


class Remarks:
    """What was passed over, gathered by kind so that a thousand strays are one line."""

    def __init__(self) -> None:
        self._found: dict[str, list[str]] = defaultdict(list)

    def add(self, kind: str, name: str = "") -> None:
        """Note that ``kind`` is true of ``name``."""
        self._found[kind].append(name)

    def lines(self) -> tuple[str, ...]:
        """Return one line for each kind, the names that it is true of after it."""
        made = []
        for kind, names in self._found.items():
            shown = ", ".join(printable(name, 80) for name in names[:5] if name)
            rest = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
            made.append(f"{kind}: {shown}{rest}" if shown else kind)
        return tuple(made)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder: its path, the names below the root that lead to it, and the files in it by name."""

    path: Path
    parts: tuple[str, ...]
    files: dict[str, Path]
    has_folders: bool

    @property
    def name(self) -> str:
        """Return its place below the root, with ``/`` between names; ``.`` for the root."""
        return "/".join(self.parts) or "."


def walk(root: Path, remarks: Remarks) -> Iterator[Folder]:
    """Give every folder from ``root`` down, each before those in it, in natural order.

    Links are followed, but no folder is visited twice. What is not a regular file, cannot be read,
    or lies too deep becomes a remark. Hidden folders and files (a leading dot) are passed over.
    """
    yield from _walk(root, (), set(), remarks)


def _walk(path: Path, parts: tuple[str, ...], seen: set[tuple[int, int]], remarks: Remarks) -> Iterator[Folder]:
    name = "/".join(parts) or "."
    if len(parts) > _DEEPEST:
        remarks.add(f"folders more than {_DEEPEST} deep, not read", name)
        return
    try:
        about = path.stat()
        if (about.st_dev, about.st_ino) in seen:
            remarks.add("links to a folder that was read already, not read again", name)
            return
        seen.add((about.st_dev, about.st_ino))
        with os.scandir(path) as found:
            entries = sorted(found, key=lambda entry: natural(entry.name))
    except OSError as error:
        remarks.add(f"folders that cannot be read ({error.strerror})", name)
        return
    files: dict[str, Path] = {}
    folders: list[str] = []
    for entry in entries:
        if entry.name.startswith("."):
            continue
        try:
            if entry.is_dir():
                folders.append(entry.name)
            elif entry.is_file():
                files[entry.name] = path / entry.name
            else:
                kind = "broken links" if stat.S_ISLNK(entry.stat(follow_symlinks=False).st_mode) else "special files"
                remarks.add(f"{kind}, not read", f"{name}/{as_text(entry.name)}")
        except OSError as error:
            remarks.add(f"files that cannot be read ({error.strerror})", f"{name}/{as_text(entry.name)}")
    if not files and not folders:
        remarks.add("empty folders", name)
    yield Folder(path, parts, files, bool(folders))
    for folder in folders:
        yield from _walk(path / folder, (*parts, as_text(folder)), seen, remarks)
