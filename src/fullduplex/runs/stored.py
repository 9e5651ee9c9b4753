"""A finished run, read back: its items one at a time, its table, its failures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fullduplex.data.files import brief, member, parse_json, read_json, text
from fullduplex.errors import InputError
from fullduplex.model.trials import Trial
from fullduplex.runs.items import SEEN, read_trial
from fullduplex.runs.run import Run

_FAILURE = ("item", "stage", "error")


@dataclass(frozen=True, slots=True)
class StoredItem:
    """One item of a run: its trial, and where it lies.

    ``set`` is the folder of the run that holds its kind. ``files`` maps an official file
    name, or ``user`` and ``system`` for the two recordings, to a path.
    """

    folder: Path
    set: str
    task: str
    dataset: str
    system: str
    trial: Trial
    files: Mapping[str, Path] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Return the item's name within its set."""
        return self.trial.item.id

    @property
    def key(self) -> str:
        """Return what names the item among all of its run."""
        return f"{self.set}/{self.id}"


def items(run: Run, hearing: str = SEEN) -> Iterator[StoredItem]:
    """Yield the items of ``run`` as heard with ``hearing``, one at a time; raises as :func:`read_item`."""
    for folder in run.items():
        yield read_item(folder, hearing)


def hearing_of(run: Run, hearing: str = "") -> str:
    """Return ``hearing`` if ``run`` has it; unless told, the one that people are shown, else its first.

    Raises :class:`InputError` that names the known ones.
    """
    known = list(run.about.get("hearings") or ())
    if not hearing:
        return SEEN if SEEN in known or not known else str(known[0])
    if hearing not in known:
        has = ", ".join(map(str, known)) or "none"
        raise InputError(run.path / "run.json", "hearings", found=has, expected=f"a hearing called {hearing!r}")
    return hearing


def read_item(folder: Path, hearing: str = SEEN) -> StoredItem:
    """Return the item in ``folder`` as heard with ``hearing``; raises :class:`InputError` where it cannot be read."""
    path = folder / "item.json"
    value = read_json(path)
    task, dataset, system = (text(member(value, name, path), path, name) for name in ("task", "dataset", "system"))
    set_name = text(value.get("set", dataset or task), path, "set")
    files = member(value, "files", path)
    if not isinstance(files, dict):
        raise InputError(path, "files", found=brief(files), expected="an object")
    try:
        trial = read_trial(folder, hearing)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        # The shapes of the three files are in the schemas; reading trusts them, so this is one edited by hand.
        raise InputError(
            folder, found=f"{type(error).__name__}: {error}", expected="files as a run writes them"
        ) from error
    paths = {name: folder / text(at, path, f"files.{name}") for name, at in files.items()}
    return StoredItem(folder, set_name, task, dataset, system, trial, paths)


def estimates(run: Run) -> dict[str, Any]:
    """Return the run's table, as ``estimates.json`` holds it; raises :class:`InputError` where it cannot be read."""
    path = run.path / "estimates.json"
    value: dict[str, Any] = read_json(path)
    for name in ("estimates", "items"):
        rows = member(value, name, path)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise InputError(path, name, found=brief(rows), expected="a list of objects")
    return value


def failures(run: Run) -> Iterator[dict[str, str]]:
    """Yield what could not be done, ``item``, ``stage`` and ``error``, in the order of ``errors.jsonl``."""
    path = run.path / "errors.jsonl"
    if not path.is_file():
        return
    with path.open(encoding="utf-8", errors="replace") as lines:
        for n, line in enumerate(lines, 1):
            if line.strip():
                row = parse_json(line, path, f"line {n}")
                yield {name: text(member(row, name, path, f"line {n}"), path, f"line {n}, {name}") for name in _FAILURE}
