"""A run in the formats of other tools.

========  ======================================================================
csv       the table and every item's facts, two files
audacity  a label track for each item
textgrid  a Praat TextGrid for each item
rttm      the speech of both voices in every item, one file
junit     gates and failed items for a build server, one file
========  ======================================================================

A package adds a format by declaring an entry point in ``fullduplex.exporters``:
a function from an :class:`Export` to the paths that it wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from fullduplex import plugins
from fullduplex.data.files import replacing
from fullduplex.data.names import as_file_name
from fullduplex.errors import InputError, PluginError
from fullduplex.model.trials import Trial
from fullduplex.runs import sheets, stored
from fullduplex.runs.gates import Gate, check_gates, parse_gate
from fullduplex.runs.junit import junit
from fullduplex.runs.labels import audacity, rttm
from fullduplex.runs.run import Run
from fullduplex.runs.stored import StoredItem
from fullduplex.runs.textgrid import textgrid


@dataclass(frozen=True, slots=True)
class Export:
    """What an exporter is given: a run, where to write, which hearing's speech, and the gates to check."""

    run: Run
    out: Path
    hearing: str
    gates: tuple[Gate, ...] = ()

    def items(self) -> Iterator[StoredItem]:
        """Yield the run's items one at a time; no more than one need be in memory."""
        return stored.items(self.run, self.hearing)

    def path_of(self, item: StoredItem, suffix: str) -> Path:
        """Return where an item's own file goes: ``OUT/SET/ID.SUFFIX``, whatever its names hold."""
        return self.out / as_file_name(item.set) / (as_file_name(item.id) + suffix)


Exporter = Callable[[Export], Iterable[Path]]


def export(
    run: Path, kind: str, out: Path | None = None, *, hearing: str = "", gates: Sequence[str] = ()
) -> tuple[Path, ...]:
    """Write ``run`` in the format ``kind`` and return the files written.

    ``out`` is the folder to write to, unless told ``RUN/exports/KIND``; for ``rttm`` and
    ``junit`` it may be the file itself. ``hearing`` names whose speech is exported, unless
    told the one that people are shown. ``gates`` (for ``junit``) are conditions as in ``--fail-if``.
    Each file appears whole or not at all. Raises :class:`PluginError` on a kind that is
    not known, :class:`RunError` where ``run`` is no run, :class:`InputError` on a file of
    the run that cannot be read.
    """
    exporter = _exporter(kind)
    checked = tuple(map(parse_gate, gates))
    opened = Run.open(run)
    wanted = stored.hearing_of(opened, hearing)
    return tuple(exporter(Export(opened, out or run / "exports" / as_file_name(kind), wanted, checked)))


def kinds() -> tuple[str, ...]:
    """Return the formats that can be written, the built-in ones first."""
    added = (plugin.name for plugin in plugins.members("exporters"))
    return tuple(dict.fromkeys([*_BUILT_IN, *added]))


def _exporter(kind: str) -> Exporter:
    if kind in _BUILT_IN:
        return _BUILT_IN[kind]
    if kind not in kinds():
        raise PluginError(f"no exporter is called {kind!r}; known: {', '.join(kinds())}")
    found: Exporter = plugins.find("exporters", kind)
    return found


def _csv(asked: Export) -> Iterator[Path]:
    table = stored.estimates(asked.run)
    for name, columns, rows in (
        ("estimates.csv", sheets.ESTIMATES, sheets.estimate_rows(table)),
        ("items.csv", sheets.ITEMS, sheets.item_rows(table)),
    ):
        with _writing(asked.out / name) as file:
            sheets.write_csv(file, columns, rows)
        yield asked.out / name


def _rttm(asked: Export) -> Iterator[Path]:
    path = _one_file(asked.out, "speech.rttm")
    with _writing(path) as file:
        for item in asked.items():
            file.writelines(rttm(item))
    yield path


def _junit(asked: Export) -> Iterator[Path]:
    path = _one_file(asked.out, "junit.xml")
    results = check_gates(asked.gates, stored.estimates(asked.run)) if asked.gates else []
    failures = list(stored.failures(asked.run))
    keys = {failure["item"] for failure in failures}
    for item in asked.items():
        if item.trial.failed and item.key not in keys:
            failures.append({"item": item.key, "stage": "read", "error": item.trial.failed})
        keys.add(item.key)
    with _writing(path) as file:
        file.write(junit(asked.run.path.resolve().name, results, failures, len(keys)))
    yield path


def _by_item(suffix: str, render: Callable[[Trial], str]) -> Exporter:
    def written(asked: Export) -> Iterator[Path]:
        seen: set[Path] = set()
        for item in asked.items():
            path = asked.path_of(item, suffix)
            if path in seen:
                where = item.folder / "item.json"
                raise InputError(where, "id", found=repr(item.id), expected="an id that no other item of its set has")
            seen.add(path)
            with _writing(path) as file:
                file.write(render(item.trial))
            yield path

    return written


_BUILT_IN: Mapping[str, Exporter] = {
    "csv": _csv,
    "audacity": _by_item(".txt", audacity),
    "textgrid": _by_item(".TextGrid", textgrid),
    "rttm": _rttm,
    "junit": _junit,
}


def _one_file(out: Path, name: str) -> Path:
    """Return the file to write: ``out`` itself where it is named like one, else ``name`` in it."""
    return out if out.suffix == Path(name).suffix and not out.is_dir() else out / name


@contextmanager
def _writing(path: Path) -> Iterator[TextIO]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(path.parent, found=error.strerror or str(error), expected="a folder to write to") from error
    with replacing(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        yield file
