"""Which item is meant by a name that somebody typed: ``SET/ID``, ``TASK/ID``, ``FOLDER/ID`` or ``ID``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fullduplex.data.names import as_file_name
from fullduplex.data.official import SETS, task_named


@dataclass(frozen=True, slots=True)
class Called:
    """What an item is called: in tables by ``set`` and ``id``, by its ``task``, and ``folders``: where it lies or lay.

    ``folders`` are ``NAME/NAME``, the last two folders of a place; a run's own are the names on disk.
    """

    set: str
    task: str
    id: str
    folders: frozenset[str] = frozenset()

    @property
    def key(self) -> str:
        """Return what tables call it."""
        return f"{self.set}/{self.id}"


def meant(name: str, items: Sequence[Called]) -> list[int]:
    """Return the places in ``items`` of those that ``name`` stands for; several where it is ambiguous.

    The closest spelling decides: ``SET/ID``; a place on disk; ``TASK/ID``; ``ID``; the last part of an id that begins
    with its folder; at last ``FOLDER/ID`` where the folder's name tells the task, is no official set's, and the items
    of that task have no set of their own that would contradict it.
    """
    spellings: tuple[Callable[[Called], bool], ...] = (
        lambda item: name == item.key,
        lambda item: name in item.folders or name == f"{as_file_name(item.set)}/{as_file_name(item.id)}",
        lambda item: name == f"{item.task}/{item.id}",
        lambda item: name in (item.id, as_file_name(item.id)),
        lambda item: (
            "/" in item.id and name in (item.id.rpartition("/")[2], f"{item.set}/{item.id.rpartition('/')[2]}")
        ),
        lambda item: item.set == item.task and _by_folder(name, item),
    )
    for fits in spellings:
        if found := [place for place, item in enumerate(items) if fits(item)]:
            return found
    return []


def _by_folder(name: str, item: Called) -> bool:
    folder, slash, rest = name.partition("/")
    return bool(slash) and rest == item.id and folder.lower() not in SETS and task_named(folder) == item.task


def _last(text: str) -> str:
    return text.rpartition("/")[2]
