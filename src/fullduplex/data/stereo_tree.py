"""A tree of two-channel files, one conversation each, described by a pattern over its paths.

``{task}/{dataset}/{system}/{id}.flac`` fits ``pause/candor/moshi/sample_1.flac``: the user on the left,
the system on the right unless told. Fields: task, dataset, system, id, group. The suffix
of the pattern stands for any audio suffix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from fullduplex.data.entries import TASKS, Dataset, Entry, Voice
from fullduplex.data.folders import Folder, Remarks, natural
from fullduplex.data.official import AUDIO_SUFFIXES, SETS, expected_files, set_named, task_named, tasks_listed
from fullduplex.errors import InputError

FIELDS = ("task", "dataset", "system", "id", "group")
#: The layout that is recognised without being told.
USUAL = "{task}/{dataset}/{system}/{id}.flac"


def open_tree(
    root: Path,
    folders: Iterable[Folder],
    layout: str,
    remarks: Remarks,
    *,
    task: str | None = None,
    channels: Mapping[str, int] | None = None,
    offset: int = 0,
) -> Dataset:
    """Return the files below ``root`` that fit ``layout``, one entry each; files that do not fit are remarked on.

    Task and dataset names of the field (``turntaking``, ``candor``) become the official ones.
    Raises :class:`InputError` on a pattern that cannot be read, and where nothing fits or no task is told.
    """
    pattern = _pattern(layout)
    left, right = (channels or {}).get("user", 0), (channels or {}).get("system", 1)
    taken: dict[tuple[str, ...], str] = {}
    entries = []
    for folder in folders:
        for name, path in folder.files.items():
            place = "/".join((*folder.parts, name))
            stem, dot, suffix = place.rpartition(".")
            found = pattern.fullmatch(stem) if dot and f".{suffix.lower()}" in AUDIO_SUFFIXES else None
            if found is None:
                remarks.add("files that do not fit the layout, not read", place)
                continue
            fields = found.groupdict(default="")
            its = task or _task(fields.get("task", ""), folder.parts)
            if its is None:
                raise InputError(path, "task", found=fields.get("task", "none"), expected=f"one of {tasks_listed()}")
            dataset = set_named(its, fields.get("dataset", "")) or _official_above(its, folder.parts)
            entry = Entry(
                id=fields["id"],
                task=its,
                dataset=dataset,
                system=fields.get("system", ""),
                group=fields.get("group", ""),
                user_voice=Voice(path, left),
                system_voice=Voice(path, right),
                offset=offset,
                missing=tuple(n for n in expected_files(its) if n not in ("input.wav", "output.wav")),
            )
            if entry.dataset == "" and fields.get("dataset"):
                remarks.add("datasets with no official name; their items go by task alone", fields["dataset"])
                entry = replace(entry, id=f"{fields['dataset']}/{entry.id}")
            key = (entry.task, entry.dataset, entry.system, entry.id)
            if key in taken:
                raise InputError(
                    path,
                    found=f"the same item as {taken[key]}",
                    expected="an id of its own",
                    do="add {group} or a longer {id} to --layout",
                )
            taken[key] = place
            entries.append(entry)
    if not entries:
        raise InputError(root, found="no audio file that fits", expected=f"files like {layout}")
    official = list(SETS)
    entries.sort(
        key=lambda e: (
            TASKS.index(e.task),
            official.index(e.dataset) if e.dataset else 99,
            natural(e.system),
            natural(e.id),
        )
    )
    return Dataset(root, layout, tuple(entries), remarks.lines())


def _task(named: str, parts: tuple[str, ...]) -> str | None:
    return task_named(named) if named else next(filter(None, map(task_named, reversed(parts))), None)


def _official_above(task: str, parts: tuple[str, ...]) -> str:
    return next((p.lower() for p in reversed(parts) if p.lower() in SETS and SETS[p.lower()][0] == task), "")


def _pattern(layout: str) -> re.Pattern[str]:
    """Return the expression for a layout's stem: a field is one name, ``{id}`` may be used once as all others."""
    stem = layout
    for suffix in (".*", *AUDIO_SUFFIXES):
        if layout.lower().endswith(suffix):
            stem = layout[: -len(suffix)]
            break
    made, names = "", []
    for literal, field in re.findall(r"([^{}]*)(?:\{([^{}]*)\})?", stem):
        made += re.escape(literal)
        if field:
            names.append(field)
            made += f"(?P<{field}>[^/]+)" if field in FIELDS else ""
    unknown = [name for name in names if name not in FIELDS]
    balanced = stem.count("{") == stem.count("}") == len(names)
    if unknown or not balanced or len(set(names)) < len(names) or "id" not in names:
        raise InputError(
            "--layout",
            found=layout,
            expected="a pattern over relative paths with {id}, and at most one {task}, {dataset}, {system}, {group}",
        )
    return re.compile(made)


def recognise(root: Path, folders: list[Folder]) -> str:
    """Return the usual layout where the tree has exactly that shape, else "".

    Every audio file lies three folders deep under a task's name and has two channels; there is no JSON.
    """
    from fullduplex.data.audio import probe

    if any(name.lower().endswith(".json") for folder in folders for name in folder.files):
        return ""
    audio = [
        (folder, path)
        for folder in folders
        for name, path in folder.files.items()
        if path.suffix.lower() in AUDIO_SUFFIXES
    ]
    if not audio or any(len(folder.parts) != 3 or not task_named(folder.parts[0]) for folder, _ in audio):
        return ""
    channels = set()
    for _, path in audio:
        try:
            channels.add(probe(path).channels)
        except InputError:
            continue  # what is wrong with it is said when it is read
    return USUAL if channels == {2} else ""
