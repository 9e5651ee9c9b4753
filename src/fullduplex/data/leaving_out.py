"""Items that are left out of a run because somebody said so: a list, or what people found invalid."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fullduplex.data.entries import Entry
from fullduplex.data.files import brief, member, parse_json, read_text_file, text
from fullduplex.data.item_names import Called, meant
from fullduplex.errors import InputError, printable


def left_out_by(path: Path) -> frozenset[str]:
    """Return the items that a file leaves out, as it calls them.

    It is the ``validity.json`` that ``fullduplex agree`` writes of a review of items (those that it calls
    ``invalid``), or has a line for each, ``SET/ITEM`` or another name that one item has. Raises :class:`InputError`
    where it is a review that cannot be read.
    """
    told = read_text_file(path)
    if not told.lstrip().startswith("{"):
        return frozenset(line.strip() for line in told.splitlines() if line.strip())
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

    An item may be called in any way that stands for it alone (see :func:`.item_names.meant`), also by the folders that
    it lies in. What is named in sets that are not among the entries does not matter: a part of the items may be run.
    Raises :class:`InputError` where a set of theirs has no such item, several are called so, or none of its sets is
    theirs.
    """
    every = {entry.key: entry for entry in entries}
    called = [Called(entry.set, entry.task, entry.id, _folders(entry)) for entry in every.values()]
    sets = {name for one in called for name in (one.set, one.task, *(at.partition("/")[0] for at in one.folders))}
    found = {name: meant(name, called) for name in sorted(left_out_by(path))}
    ours = {name: hits for name, hits in found.items() if hits or name.partition("/")[0] in sets or "/" not in name}
    out: set[str] = set()
    for name, hits in (ours or found).items():
        if len(hits) > 1:
            which = ", ".join(called[hit].key for hit in hits[:8])
            raise InputError(
                path, found=f"{brief(name)}, as {len(hits)} items are called", expected=f"one of {printable(which)}"
            )
        if not hits:
            raise InputError(path, found=brief(name), expected="SET/ITEM of an item that would be run")
        out.add(called[hits[0]].key)
    return [entry for key, entry in every.items() if key not in out], len(out)


def _folders(entry: Entry) -> frozenset[str]:
    """Return the last two folders of each place that an entry's own files lie in, as ``FOLDER/ID``."""
    voices = [voice.path for voice in (entry.user_voice, entry.system_voice) if voice is not None]
    places = {path.parent for path in (*voices, *entry.files.values())}
    return frozenset(f"{place.parent.name}/{place.name}" for place in places)
