"""A project's folder, and the Python that runs it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from fullduplex.errors import InputError


def home_of(system: str, home: str, files: Sequence[str], what: str) -> Path:
    """Return the whole path of a project's folder.

    Raises :class:`InputError` where none is named, or one of ``files`` is not in it; ``what`` says which project it is.
    """
    where = f"--system {system}"
    if not home:
        raise InputError(where, "home", found="none", expected=f"the folder of {what}", do="say home=DIR")
    folder = Path(os.path.abspath(home))  # noqa: PTH100 - what a link points to may lie elsewhere
    lacking = next((name for name in files if not (folder / name).is_file()), None)
    if lacking is not None:
        found = f"{home}, which has no {lacking}" if folder.is_dir() else f"{home}, which is no folder"
        raise InputError(where, "home", found=found, expected=f"the folder of {what}")
    return folder


def weights_of(system: str, option: str, path: str, usual: Path, needed: Sequence[str]) -> Path:
    """Return the whole path of a folder of weights, ``usual`` where none is named.

    Raises :class:`InputError` where something ``needed`` is not in it.
    """
    folder = Path(os.path.abspath(path)) if path else usual  # noqa: PTH100
    lacking = next((name for name in needed if not (folder / name).exists()), None)
    if lacking is not None:
        expected = f"a folder with {', '.join(needed)}"
        raise InputError(f"--system {system}", option, found=f"{folder}, which has no {lacking}", expected=expected)
    return folder


def python_of(system: str, python: str) -> str:
    """Return the program to start: a name that is on the path, or a path, from where one stands, made whole.

    A link is not followed: a virtual environment's Python is one. Raises :class:`InputError` for an empty name.
    """
    if not python.strip() or "\0" in python:
        raise InputError(
            f"--system {system}", "python", found=python, expected="the project's Python, a name or a path"
        )
    return os.path.abspath(python) if os.sep in python else python  # noqa: PTH100


def revision_of(folder: Path, files: Sequence[str]) -> str:
    """Return twelve hexadecimal digits that stand for the contents of ``files``: a changed script is another system."""
    told = hashlib.sha256()
    for name in files:
        told.update(hashlib.sha256((folder / name).read_bytes()).digest())
    return told.hexdigest()[:12]
