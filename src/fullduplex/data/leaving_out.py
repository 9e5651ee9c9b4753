"""Items that are left out of a run because somebody said so: a list, or what people found invalid."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fullduplex.data.entries import Entry
from fullduplex.data.files import brief, member, parse_json, read_text_file, text
from fullduplex.errors import InputError


def left_out_by(path: Path) -> frozenset[str]:
    """Return the items that a file leaves out, as ``SET/ITEM``.

    It is the ``validity.json`` that ``fullduplex agree`` writes of a review of items (those that it calls
    ``invalid``), or has a line ``SET/ITEM`` for each. Raises :class:`InputError` where it is neither.
    """
    told = read_text_file(path)
    if not told.lstrip().startswith("{"):
        lines = [(n, line.strip()) for n, line in enumerate(told.splitlines(), 1) if line.strip()]
        for n, line in lines:
            if "/" not in line:
                raise InputError(path, f"line {n}", found=brief(line), expected="SET/ITEM")
        return frozenset(line for _, line in lines)
    value = parse_json(told, path)
    rows = member(value, "invalid", path)
    if not isinstance(rows, list):
        raise InputError(path, "invalid", found=brief(rows), expected="a list of items")
    keys = []
    for n, row in enumerate(rows):
        where = f"invalid[{n}]"
        keys.append("/".join(text(member(row, key, path, where), path, f"{where}.{key}") for key in ("set", "item")))
    return frozenset(keys)


def without(entries: Iterable[Entry], path: Path) -> tuple[list[Entry], int]:
    """Return the entries that the file at ``path`` does not leave out, and how many it does.

    What it names in sets that are not among the entries does not matter: a part of the items may be run. Raises
    :class:`InputError` where a set of theirs has no such item, or none of its sets is theirs.
    """
    every = {entry.key: entry for entry in entries}
    sets = {entry.set for entry in every.values()}
    out = left_out_by(path)
    ours = {key for key in out if key.partition("/")[0] in sets}
    strange = sorted((ours or out) - every.keys())
    if strange:
        raise InputError(path, found=brief(strange[0]), expected="SET/ITEM of an item that would be run")
    return [entry for key, entry in every.items() if key not in ours], len(ours)
