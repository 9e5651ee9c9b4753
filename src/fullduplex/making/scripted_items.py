"""What the makers of scripted items share: what they may be asked, what they count, and where they write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from fullduplex.data.files import read_json
from fullduplex.errors import InputError
from fullduplex.making.item_folder import clear_halves
from fullduplex.making.synthesis import Each, Progress, here
from fullduplex.model.spans import in_seconds, seconds

#: No interruption comes later than this into a reply, in microseconds.
LONGEST = seconds(60)


class Item(Protocol):
    """An item of a script."""

    @property
    def scenario(self) -> str:
        """Return which scenario or condition it is of."""
        ...

    @property
    def dataset(self) -> str:
        """Return the name of its set."""
        ...

    @property
    def id(self) -> str:
        """Return its name in the set."""
        ...


class Task(Protocol):
    """An item to make, and where it goes."""

    @property
    def item(self) -> Item:
        """Return the item."""
        ...

    @property
    def folder(self) -> Path:
        """Return its folder."""
        ...


T = TypeVar("T", bound=Task)


def check_asked(into: int, rate: int, seed: int, limit: int | None) -> None:
    """Raise :class:`InputError` for options that cannot be meant; ``into`` is in microseconds."""
    check_length("--into", into, LONGEST)
    check_numbers(rate, seed, limit)


def check_length(option: str, value: int, longest: int) -> None:
    """Raise :class:`InputError` for a length that is none, or above ``longest``; both in microseconds."""
    if not 0 <= value <= longest:
        expected = f"0 to {in_seconds(longest):g} seconds"
        raise InputError(option, found=f"{in_seconds(value):g}", expected=expected)


def check_numbers(rate: int, seed: int, limit: int | None) -> None:
    """Raise :class:`InputError` for a rate, a seed or a limit that cannot be meant."""
    if not 8_000 <= rate <= 192_000:
        raise InputError("--rate", found=rate, expected="8000 to 192000 Hz")
    if seed < 0:
        raise InputError("--seed", found=seed, expected="0 or more")
    if limit is not None and limit < 1:
        raise InputError("--limit", found=limit, expected="1 or more")


def check_apart(source: Path, tasks: Sequence[Task]) -> None:
    """Raise :class:`InputError` where two items of ``source`` would lie in one folder, letters of either case alike."""
    same = len(tasks) - len({str(task.folder).casefold() for task in tasks})
    if same:
        raise InputError(source, found=f"{same} items of the same name", expected="ids that differ")


def counts_of(tasks: Iterable[T], is_made: Callable[[T], bool], *, there: bool) -> dict[str, dict[str, int]]:
    """Return for each scenario how many items it has, and how many of them are ``there`` already, if asked for."""
    made: dict[str, dict[str, int]] = {}
    for task in tasks:
        count = made.setdefault(task.item.scenario, {"items": 0} | ({"there": 0} if there else {}))
        count["items"] += 1
        if there:
            count["there"] += is_made(task)
    return made


def prepare(summary: Path, maker: str, found: str, tasks: Sequence[Task]) -> None:
    """Make the folders that the items go to, without the halves that an earlier call left.

    Raises :class:`InputError`, calling it ``found``, where ``summary`` is there and is not ``maker``'s; and where
    nothing can be written.
    """
    if summary.exists():
        there = read_json(summary)
        if not isinstance(there, dict) or there.get("made_for") != maker:
            raise InputError(summary, found=found, expected="a new folder", do="choose another --out")
    for folder in {task.folder.parent for task in tasks}:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(folder, found=error.strerror or str(error), expected="a place to write to") from error
        clear_halves(folder)


def made_all(
    tasks: Sequence[T], make: Callable[[T], Any], *, progress: Progress | None = None, each: Each | None = None
) -> tuple[tuple[Any, ...], tuple[tuple[str, str], ...]]:
    """Return what ``make`` made of the tasks, in their order, and what failed, as ``SET/ID`` with the reason."""
    made, failed = dict[tuple[str, str], Any](), list[tuple[str, str]]()
    for done, outcome in enumerate((each or here)(make, tasks), 1):
        item = outcome.task.item
        if outcome.error is None:
            made[item.scenario, item.id] = outcome.result
        else:
            failed.append((f"{item.dataset}/{item.id}", outcome.error))
        if progress:
            progress("speak", done, len(tasks))
    keys = [(task.item.scenario, task.item.id) for task in tasks]
    return tuple(made[key] for key in keys if key in made), tuple(failed)
