"""Whether systems that stand in one table were told the same, and met the same user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fullduplex.errors import InputError
from fullduplex.model.spec import digest
from fullduplex.runs.items import read_item
from fullduplex.runs.run import Run
from fullduplex.runs.told import DONE, read_told

#: By item: the digests of the instruction, and of all that the user may say and when.
_Asked = Mapping[str, tuple[str, str]]


def asked_alike(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return what a reader of one table over ``runs`` has to know of what each system was asked.

    Nothing for one run, or where none was driven. Only talks that were held are compared; what a system was told
    when it was recorded elsewhere is not known, and is said so.
    """
    if len(runs) < 2:
        return ()
    found = {run.system: _asked(run) for run in runs}
    driven = {system: items for system, items in found.items() if items}
    if not driven:
        return ()
    said = []
    unknown = [system for system, items in found.items() if not items]
    if unknown:
        said.append(f"what {', '.join(unknown)} was told is not known: recordings")
    keys: dict[str, list[tuple[str, str]]] = {}
    for items in driven.values():
        for key, asked in items.items():
            keys.setdefault(key, []).append(asked)
    shared = [each for each in keys.values() if len(each) > 1]
    if not shared:
        return tuple(said)
    for at, what in ((0, "instruction"), (1, "user")):
        other = sum(len({asked[at] for asked in each}) > 1 for each in shared)
        if other:
            said.append(f"not every system had the same {what}: {other} of {len(shared)} items that they share differ")
    if len(said) == bool(unknown):
        said.append(f"every system had the same instruction and the same user in {len(shared)} items that they share")
    return tuple(said)


def _asked(run: Run) -> _Asked:
    asked = {}
    for folder in run.items():
        try:
            item = read_item(folder)
            told = read_told(folder) if (folder / DONE).is_file() else {}
        except InputError:
            continue  # counted where it is measured
        if "prompt" in told:
            key = f"{item['set']}/{item['id']}"
            asked[key] = (digest(told["prompt"]), str(told.get("made_of", {}).get("stimulus", "")))
    return asked
