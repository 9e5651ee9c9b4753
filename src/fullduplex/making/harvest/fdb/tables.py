"""The counts of harvests as text: what was kept of what was found, and items by task and corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fullduplex.data.files import brief, read_json
from fullduplex.errors import InputError
from fullduplex.making.harvest.fdb.harvest import COUNTS, FdbHarvested


def table_by_corpus(folders: Sequence[Path]) -> str:
    """Return how many items of each task were harvested from each corpus, as text; raises :class:`InputError`."""
    told = list[tuple[str, Mapping[str, Any]]]()
    for folder in folders:
        counts = read_json(folder / COUNTS)
        if not isinstance(counts, dict) or not isinstance(counts.get("items"), dict):
            raise InputError(folder / COUNTS, found=brief(counts), expected="the counts of a harvest")
        told.append((folder.name, counts["items"]))
    tasks = list(dict.fromkeys(task for _, items in told for task in items))
    width = max([len("task"), *map(len, tasks)])
    rows = [["task".ljust(width), *(f"{name:>20}" for name, _ in told)]]
    rows += [[task.ljust(width), *(f"{items.get(task, 0):>20,}" for _, items in told)] for task in tasks]
    rows.append(["all".ljust(width), *(f"{sum(items.values()):>20,}" for _, items in told)])
    return "\n".join("".join(row) for row in rows)


def retention_table(result: FdbHarvested) -> str:
    """Return for each task what was found, what passed every filter, and what became an item, with the shares kept."""
    lines = [f"{'task':<24}{'found':>9}{'passed':>9}{'items':>9}{'of passed':>11}{'of found':>10}"]
    for task, row in result.retained.items():
        shares = "".join(
            f"{'absent' if value is None else f'{100 * value:.1f} %':>{width}}"
            for value, width in ((row["of_passed"], 11), (row["of_found"], 10))
        )
        lines.append(f"{task:<24}{row['found']:>9,}{row['passed']:>9,}{row['items']:>9,}{shares}")
    return "\n".join(lines)
