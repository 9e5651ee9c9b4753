"""A run on disk: what was asked, and one folder for every item."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullduplex import __version__
from fullduplex.data.files import clear_parts, read_json, write_json
from fullduplex.data.folders import natural
from fullduplex.data.names import as_file_name
from fullduplex.data.writers import alone_in
from fullduplex.errors import InputError, RunError

SCHEMA = 1
#: What run.json keeps beside what was asked: it changes no number, so whoever goes on with a run keeps it.
REPORT_LANGUAGE = "report_language"
#: What a run that goes on has to have in common with the one that began.
_ASKED = (
    "benchmark",
    "system",
    "source",
    "recogniser",
    "hearings",
    "language",
    "options",
    "seed",
    "driven",
    "qualities",
)


@dataclass(frozen=True, slots=True)
class Run:
    """A folder that holds a run; ``about`` is its run.json."""

    path: Path
    about: Mapping[str, Any]

    @classmethod
    def open(cls, path: Path) -> Run:
        """Open a finished or unfinished run; raises :class:`RunError` where there is none."""
        if not (path / "run.json").is_file():
            within = sorted(found.parent.name for found in path.glob("*/run.json")) if path.is_dir() else []
            if within:
                raise RunError(f"{path}: holds a run for each system ({', '.join(within[:8])}); give one of them")
            raise RunError(f"{path}: no run.json in it; give the folder that `fullduplex score --out` wrote")
        about = read_json(path / "run.json")
        if not isinstance(about, dict) or not isinstance(about.get("schema"), int):
            raise InputError(path / "run.json", found="no schema number", expected="a run.json that fullduplex wrote")
        if about["schema"] > SCHEMA:
            raise RunError(f"{path}: written by a newer fullduplex (schema {about['schema']}); update fullduplex")
        told = about.get("benchmark")
        variants = told.get("variants") if isinstance(told, dict) else None
        if not isinstance(told, dict) or not {"name", "version"} <= set(told) or not isinstance(variants, list):
            raise InputError(
                path / "run.json", "benchmark", found="none with a name, a version and variants",
                expected="a run.json that fullduplex wrote", do="score into a new --out",
            )  # fmt: skip
        return cls(path, about)

    @classmethod
    def begin(cls, path: Path, asked: Mapping[str, Any]) -> Run:
        """Make the run folder, or go on with the one that is there if the same was asked.

        Raises :class:`RunError` naming the first difference when something else was asked,
        or when the folder holds other files.
        """
        about = {"schema": SCHEMA, "fullduplex": __version__, **asked}
        clear_parts(path)
        cls.fits(path, about)
        if (path / "run.json").is_file():
            there = cls.open(path).about
            about = {key: there[key] for key in (REPORT_LANGUAGE,) if key in there} | about
        else:
            try:
                (path / "trials").mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise RunError(f"{path}: cannot be made ({error.strerror}); give another --out") from error
        write_json(path / "run.json", about)
        return cls(path, about)

    @classmethod
    def fits(cls, path: Path, about: Mapping[str, Any]) -> None:
        """Raise :class:`RunError` where a run that asks for ``about`` cannot begin or go on at ``path``."""
        if (path / "run.json").is_file():
            there = cls.open(path)
            for key in _ASKED:
                if key == "benchmark" and _compared(key, there.about) != _compared(key, about):
                    raise RunError(
                        f"{path}: was scored as {_named(there.about[key])}, and now {_named(about[key])} is asked; "
                        "give another --out, or see other rules with `fullduplex measure RUN --as BENCH@VARIANT`"
                    )
                if _compared(key, there.about) != _compared(key, about):
                    where, old, new = _difference(_plain(there.about.get(key)), _plain(about.get(key)), key)
                    raise RunError(
                        f"{path}: holds a run with another {where} ({_short(old)}, now {_short(new)}); "
                        "give another --out, or delete that folder"
                    )
            return
        if path.exists() and not path.is_dir():
            raise RunError(f"{path}: is a file, not a folder for a run; give another --out")
        if path.is_dir() and not all(map(_is_begun, path.iterdir())):
            raise RunError(f"{path}: holds files but no run.json; give an empty or a new folder as --out")

    @property
    def system(self) -> str:
        """Return the name of the system that was heard."""
        return str(self.about.get("system") or self.path.name)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep every other process that asks for the same from writing into the run; a process that ends lets go.

        Raises :class:`RunError` where another one is writing. Where the system or the file system has no
        locks, nothing is kept.
        """
        with alone_in(self.path, "run"):
            yield

    def folder(self, set_name: str, item: str, repeat: int = 1) -> Path:
        """Return the folder of an item; the name on disk stands for ``item`` whatever is in it.

        ``repeat`` counts from 1: the second time an item was driven lies in ``trials-2``.
        """
        trials = "trials" if repeat == 1 else f"trials-{repeat}"
        return self.path / trials / as_file_name(set_name) / as_file_name(item)

    def items(self) -> Iterator[Path]:
        """Yield the item folders that hold an item.json, in a natural order, repeats after one another."""
        repeats = sorted(self.path.glob("trials-*"), key=lambda p: natural(p.name))
        for trials in (self.path / "trials", *repeats):
            if trials.is_dir():
                yield from self._items(trials)

    def _items(self, trials: Path) -> Iterator[Path]:
        for group in sorted(p for p in trials.iterdir() if p.is_dir()):
            for folder in sorted((p for p in group.iterdir() if p.is_dir()), key=lambda p: natural(p.name)):
                if (folder / "item.json").is_file():
                    yield folder


def again(repeat: int) -> str:
    """Return what is put after an item's id when it was driven for the second time, or a later one."""
    return "" if repeat == 1 else f" (repeat {repeat})"


def driven_item(name: str) -> str:
    """Return the id of the item of which ``name`` is a repeat, or ``name``."""
    return re.sub(r" \(repeat [0-9]+\)$", "", name)


def _is_begun(path: Path) -> bool:
    """Tell whether ``path`` is what is made before run.json is: nothing has been put into it."""
    return path.name == "trials" and path.is_dir() and not any(path.iterdir())


def _named(benchmark: Mapping[str, Any]) -> str:
    return f"{benchmark['name']}@{','.join(map(str, benchmark['variants']))}"


def _compared(key: str, about: Mapping[str, Any]) -> Any:
    value = _plain(about.get(key))
    # One folder has many paths; which items it holds is what counts.
    return value.get("digest") if key == "source" and isinstance(value, dict) else value


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value, sort_keys=True))


def _difference(old: Any, new: Any, where: str) -> tuple[str, Any, Any]:
    """Return the first thing in which two JSON values differ: its place, and both."""
    if isinstance(old, dict) and isinstance(new, dict):
        key = next((key for key in sorted({*old, *new}) if old.get(key) != new.get(key)), None)
        if key is not None:
            return _difference(old.get(key), new.get(key), f"{where}, {key}")
    return where, old, new


def _short(value: Any) -> str:
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= 80 else text[:79] + "…"
