"""Items of a run by what somebody calls them, and the rows of its table that are theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from fullduplex import benchmarks
from fullduplex.data.item_names import Called, meant
from fullduplex.errors import FullDuplexError, InputError, printable
from fullduplex.runs.items import read_item
from fullduplex.runs.measured import scenario_of
from fullduplex.runs.run import Run
from fullduplex.runs.sheets import variants
from fullduplex.runs.stored import StoredItem, estimates


def folder_named(run: Run, name: str) -> Path:
    """Return the folder of the item that ``name`` stands for; only names that the run has lead anywhere.

    ``SET/ID``, ``TASK/ID``, ``ID`` or the folders that the item lay in, where they stand for one item alone (see
    :func:`fullduplex.data.item_names.meant`). Raises :class:`InputError` that names those that are called so, or some
    that are near.
    """
    folders = list(run.items())
    called = [_called(folder) for folder in folders]
    hits = meant(name, called)
    if len(hits) == 1:
        return folders[hits[0]]
    keys = [one.key for one in called]
    if hits:
        told = ", ".join(keys[hit] for hit in hits[:8])
        more = f" and {len(hits) - 8} more" if len(hits) > 8 else ""
        raise InputError(
            run.path, "item", found=repr(name), expected=f"one item, and {len(hits)} are called so",
            do=f"give one of {printable(told)}{more}",
        )  # fmt: skip
    near = get_close_matches(name, keys, n=3, cutoff=0.4) or keys[:3]
    raise InputError(
        run.path, "item", found=repr(name), expected=f"one of its {len(keys)} items",
        do=f"for example {printable(', '.join(near))}" if near else "listen to something first",
    )  # fmt: skip


def rows_of_item(run: Run, item: StoredItem) -> Iterator[tuple[Mapping[str, Any], list[Mapping[str, Any]]]]:
    """Yield the table of each variant in estimates.json with the rows of ``item`` in it, the leading variant first.

    They are of the one scenario that the variant measures it as, and of a further output of it, called ``ID:FILE``.
    Raises :class:`InputError` where estimates.json cannot be read.
    """
    found = _scenarios(run, item)
    for table in variants(estimates(run)):
        its = found.get(str(table.get("variant", ""))) if found else _named_for(item, table)
        yield table, [row for row in table["items"] if row["scenario"] == its and _is_of(row["item"], item)]


def _scenarios(run: Run, item: StoredItem) -> dict[str, str]:
    """Return the name of the scenario that each variant measures an item as; nothing where the benchmark is gone."""
    try:
        known = benchmarks.find(f"{run.about['benchmark']['name']}@all")
    except FullDuplexError:
        return {}
    told = {"task": item.task, "dataset": item.dataset}
    return {b.variant: scenario.name for b in known if (scenario := scenario_of(b, told)) is not None}


def _named_for(item: StoredItem, table: Mapping[str, Any]) -> str:
    # A scenario is named for its dataset, or for its task where the dataset is not one of its own.
    there = {row["scenario"] for row in table["items"]}
    return next((name for name in (item.set, item.dataset, item.task) if name in there), "")


def _is_of(name: str, item: StoredItem) -> bool:
    further = name.startswith(f"{item.id}:") and name[len(item.id) + 1 :] in item.files
    return name == item.id or further


def _called(folder: Path) -> Called:
    """Return what the item in ``folder`` is called; where its item.json cannot be read, by its folders alone."""
    at = f"{folder.parent.name}/{folder.name}"
    try:
        item = read_item(folder)
    except InputError:
        return Called(folder.parent.name, folder.parent.name, folder.name, frozenset([at]))
    return Called(str(item["set"]), str(item["task"]), str(item["id"]), frozenset([at]))
