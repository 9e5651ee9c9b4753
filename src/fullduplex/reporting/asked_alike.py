"""Whether systems that stand in one table were told the same, and met the same user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fullduplex.errors import InputError
from fullduplex.model.spec import digest
from fullduplex.runs.items import read_item
from fullduplex.runs.run import Run
from fullduplex.runs.told import DONE, read_told

#: By item: what stands for the instruction, and for all that the user may say and when.
_Asked = Mapping[str, tuple[str, str]]
#: The instruction of a system whose protocol has no place for it.
_NOT_TAKEN = "not taken"


def asked_alike(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return what a reader of one table over ``runs`` has to know of what each system was asked.

    Nothing where none was driven. Only talks that were held are compared; what a system was told when it was recorded
    elsewhere is not known, and is said so. A system that cannot be told an instruction, and says so in its settings
    (``prompt_taken`` false), was told another than one that can: that is said of a single run too. Where a system puts
    words of its own in the place of a missing instruction (``role`` in its settings), these are its instruction.
    """
    found = {run.system: _asked(run) for run in runs}
    lacking = tuple(
        f"{system} was not told the instruction of {n} of {_items(len(items))}: its protocol has no place for one"
        for system, items in found.items()
        if (n := _untold(items))
    )
    return (*lacking, *_compared(found)) if len(runs) > 1 else lacking


def told_what(run: Run) -> str:
    """Return in a few words whether a run's system was told the instruction of its items; "not known" of recordings."""
    items = _asked(run)
    without, empty = _untold(items), sum(instruction == digest("") for instruction, _ in items.values())
    if not items:
        return "not known"
    if without:
        return f"not told in {without} of {_items(len(items))}"
    return "none was given" if empty == len(items) else "told"


def _untold(items: _Asked) -> int:
    return sum(instruction == _NOT_TAKEN for instruction, _ in items.values())


def _items(n: int) -> str:
    return f"{n} item{'s' * (n != 1)}"


def _compared(found: Mapping[str, _Asked]) -> tuple[str, ...]:
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
            which = f"{other} of {len(shared)} items that they share differ"
            which = "the one item that they share differs" if len(shared) == 1 else which
            said.append(f"not every system had the same {what}: {which}")
    if len(said) == bool(unknown):
        which = "the one item" if len(shared) == 1 else f"{len(shared)} items"
        said.append(f"every system had the same instruction and the same user in {which} that they share")
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
            asked[key] = (_instruction(told), str(told.get("made_of", {}).get("stimulus", "")))
    return asked


def _instruction(told: Mapping[str, Any]) -> str:
    """Return what stands for the instruction that a talk's system was given."""
    settings = told.get("ready")
    settings = settings if isinstance(settings, Mapping) else {}
    if settings.get("prompt_taken") is False:
        return _NOT_TAKEN
    role = settings.get("role")
    return digest(role.strip() if isinstance(role, str) and role.strip() else str(told["prompt"]).strip())
