"""Finding the entries of a folder: an item, a set, a root of sets, a run's trials."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote

from fullduplex.data import stereo_tree
from fullduplex.data.entries import TASKS, Dataset, Entry, Voice
from fullduplex.data.files import read_json
from fullduplex.data.folders import Folder, Remarks, as_text, natural, walk
from fullduplex.data.interaction_download import is_download, open_download
from fullduplex.data.manifest import open_manifest
from fullduplex.data.names import as_file_name
from fullduplex.data.official import (
    AUDIO_STEMS,
    AUDIO_SUFFIXES,
    EVENT_FILES,
    JSON_FILES,
    SETS,
    TOLD_BY,
    V15_SETS,
    expected_files,
    is_v15,
    task_named,
    tasks_listed,
)
from fullduplex.errors import InputError, printable

#: One of these makes a folder an item.
_MARKERS = frozenset(
    {f"{stem}.wav" for stem in AUDIO_STEMS[:4]}
    | set(JSON_FILES[:7])
    | {"content_tag.json", "latency_intervals.json", "general_split.json", "cues.json", "interaction.json"}
)
#: Names under which a two-channel conversation lies in an item folder.
_STEREO_STEMS = ("stereo", "conversation", "combined", "dialogue", "audio")
#: What harvest's rules for the corpora of the French benchmark are called, before the corpus' name.
_FRENCH = "french-"
#: What harvest lays beside its items.
_OF_A_HARVEST = frozenset({"harvest.json", "counts.json", "dropped.jsonl", "backchannel_reference.json"})
_SPEAKER = re.compile(r".+_([0-9a-f]{24})", re.ASCII)


def open_dataset(
    path: Path,
    *,
    task: str | None = None,
    channels: Mapping[str, int] | None = None,
    offset: int = 0,
    layout: str | None = None,
) -> Dataset:
    """Return the entries at ``path``, in natural order, with remarks on what was passed over.

    ``path`` is an item folder, a set of items, any tree of sets, a finished run or its ``trials``, a manifest
    (``.csv``, ``.jsonl``; :mod:`fullduplex.data.manifest`), or a tree of two-channel files
    (:mod:`fullduplex.data.stereo_tree`), which ``layout`` describes. A run's repeats (``trials-2`` …) are
    opened one by one. No audio is opened in item folders, but for one that is alone in its folder.

    An item's task is told by ``task``; else by the name of a folder above it; else by its event file.
    ``channels`` says which channel of each file is ``user`` and ``system``, from 0; a two-channel file that
    is alone has the user on the left. ``offset`` is when the system's files begin, in microseconds.
    Raises :class:`InputError` where there is nothing to open or no task can be told.
    """
    if task is not None and task not in TASKS:
        raise InputError("--task", found=task, expected=f"one of {tasks_listed()}")
    for voice, channel in (channels or {}).items():
        if voice not in ("user", "system") or channel < 0:
            raise InputError("--channels", voice, found=channel, expected="user and system, each a channel")
    try:
        is_file, is_folder = path.is_file(), path.is_dir()
    except (OSError, ValueError):
        is_file = is_folder = False
    if is_file and path.suffix.lower() in (".csv", ".tsv", ".jsonl"):
        return open_manifest(path, task=task, channels=channels, offset=offset)
    if is_file:
        raise InputError(path, found="a file", expected="a folder, or a manifest (.csv, .jsonl)")
    if not is_folder:
        raise InputError(path, found="nothing", expected="a folder or a manifest")
    remarks = Remarks()
    if layout is not None:
        return stereo_tree.open_tree(
            path, walk(path, remarks), layout, remarks, task=task, channels=channels, offset=offset
        )
    is_run = (path / "run.json").is_file() and (path / "trials").is_dir()
    root = path / "trials" if is_run else path
    of_a_run = is_run or (
        re.fullmatch(r"trials(-\d+)?", root.name) is not None and (root.parent / "run.json").is_file()
    )
    folders = list(walk(root, remarks))
    if not of_a_run and is_download(folders):
        download = open_download(path, task=task, offset=offset)
        recorded = tuple(replace(one.entry, interaction=one.interaction) for one in download.records)
        return Dataset(path, "interactionbench download", recorded, download.remarks)
    if of_a_run:
        # An item of a run lies at trials/SET/ITEM; what is deeper is a talk's attempts, or its clean twin's talk.
        folders = [folder for folder in folders if len(folder.parts) <= 2]
    if (
        folders and not of_a_run and _MARKERS & set(official_files(folders[0].files))
    ):  # an item itself: its set is the folder above
        folders = [replace(folder, parts=(_named(root), *folder.parts)) for folder in folders]
        root = root.resolve().parent
    items = _items(folders)
    if not items and (found := stereo_tree.recognise(root, folders)):
        remarks.add(f"read as two-channel files laid out {found}, user on the left and system on the right unless told")
        return stereo_tree.open_tree(root, folders, found, remarks, task=task, channels=channels, offset=offset)
    if not items and any("script.json" in one.files and _is_ours(one.files["script.json"]) for one in folders):
        raise InputError(
            path, found="items whose sound is not there, and of which nothing else can be read", expected="their sound",
            do=f"make it again with `fullduplex harvest --rebuild {printable(str(path))} --corpus CORPUS`",
        )  # fmt: skip
    if not items:
        raise InputError(
            path,
            found="no item: no folder holds input.wav, output.wav, output.json or an event file",
            expected="Full-Duplex-Bench item folders",
            do="for two-channel files give --layout, for anything else a manifest",
        )
    if not of_a_run:  # a run's own further files are no strays
        _remark_on_strays(folders, items, remarks)
    sets = _sets(root, items, task, remarks)
    entries = [
        _entry(item, its_set, parts, channels, offset, remarks, of_a_run)
        for its_set in sets
        for item, parts in its_set.items
    ]
    return Dataset(path, "run" if is_run else "folder", tuple(entries), remarks.lines())


@dataclass(frozen=True, slots=True)
class _Item:
    folder: Folder
    files: dict[str, Path]


@dataclass(frozen=True, slots=True)
class _Set:
    """Items of one task below one folder, each with the parts of its id."""

    task: str
    dataset: str
    parts: tuple[str, ...]
    items: list[tuple[_Item, tuple[str, ...]]]


def _items(folders: list[Folder]) -> list[_Item]:
    made = (_Item(folder, official_files(folder.files)) for folder in folders)
    return [item for item in made if _MARKERS & set(item.files)]


def _remark_on_strays(folders: list[Folder], items: list[_Item], remarks: Remarks) -> None:
    files_of = {item.folder.parts: item.files for item in items}
    for folder in folders:
        its = files_of.get(folder.parts)
        used = set(its.values()) if its else set()
        if its is None and "script.json" in folder.files and _is_ours(folder.files["script.json"]):
            remarks.add(
                "items whose sound is not there, not read; `fullduplex harvest --rebuild` makes it", folder.name
            )
            continue
        for name, path in folder.files.items():
            if its is None and name in _OF_A_HARVEST and "harvest.json" in folder.files:
                continue
            if its is None:
                remarks.add("files outside items, not read", f"{folder.name}/{as_text(name)}")
            elif path not in used and not _of_a_maker(name, folder.files, its):
                remarks.add(f"{printable(as_text(name))} in item folders, not read", folder.name)


def _of_a_maker(name: str, files: Mapping[str, Path], its: Mapping[str, Path]) -> bool:
    """Return whether ``name`` is what makers of items leave in a folder, and nobody has to read.

    That is the script of an item, and what each cue of ``cues.json`` plays.
    """
    if name == "script.json":
        return "cues.json" in its or _is_ours(files[name])
    if name.endswith((".wav", ".flac")):
        return "cues.json" in its or (
            name in ("context.wav", "interrupt.wav") and "script.json" in files and _is_ours(files["script.json"])
        )
    return name == "vad.json" and "script.json" in files and _is_ours(files["script.json"])


def _is_ours(script: Path) -> bool:
    """Tell whether a ``script.json`` is of an item that was made here, of whatever recording."""
    try:
        told = read_json(script)
    except InputError:
        return False
    return isinstance(told, dict) and isinstance(told.get("made_for"), str)


def official_files(files: Mapping[str, Path]) -> dict[str, Path]:
    """Return the files that play an official part, by official name (``input.wav`` also where it is FLAC).

    Every other ``…output.json`` is kept under its own name: released scripts score each as a further sample.
    """
    made = {name: files[name] for name in JSON_FILES if name in files}
    made |= {name: path for name, path in files.items() if name.endswith("output.json")}
    by_stem: dict[str, dict[str, Path]] = defaultdict(dict)
    for name, path in files.items():
        stem, dot, suffix = name.rpartition(".")
        if dot and f".{suffix.lower()}" in AUDIO_SUFFIXES:
            by_stem[stem].setdefault(f".{suffix.lower()}", path)
    audio = {
        f"{stem}.wav": next(by_stem[stem][s] for s in AUDIO_SUFFIXES if s in by_stem[stem])
        for stem in (*AUDIO_STEMS, *_STEREO_STEMS)
        if stem in by_stem
    }
    return made | audio


def _sets(root: Path, items: list[_Item], task: str | None, remarks: Remarks) -> list[_Set]:
    """Sort items into sets by the folder that tells their task, ids made unique."""
    grouped: dict[tuple[tuple[str, ...], str], list[_Item]] = defaultdict(list)
    untold: list[_Item] = []
    base = _named(root)
    for item in items:
        above, told = _task_above(item.folder.parts, base)
        its = task or told or _task_of_files(item.files)
        if its is None:
            untold.append(item)
        else:
            grouped[above, its].append(item)
    if not grouped:
        v15 = any("metadata.json" in item.files for item in untold)
        raise InputError(
            root,
            "task",
            found="metadata.json, which fits four tasks" if v15 else "no folder's name or event file that tells it",
            expected=f"one of {', '.join(V15_SETS) if v15 else tasks_listed()}",
            do="say which with --task, or name the folder after it",
        )
    for item in untold:
        remarks.add("items whose task nothing tells, left out; --task says it", item.folder.name)
    made = [each for (above, its), members in grouped.items() for each in _sets_in(above, its, members, base)]
    made.sort(key=lambda each: (_order_of(each), tuple(map(natural, each.parts))))
    for each in made:
        named = task_named(each.parts[-1]) if each.parts else None
        strange = [name for name in TOLD_BY if name not in EVENT_FILES[each.task]]
        n = sum(any(name in item.files for name in strange) for item, _ in each.items)
        if n:
            remarks.add(f"read as {each.task} although {n} items have another task's event file", "/".join(each.parts))
        if task and named and named != task:
            remarks.add(f"read as {task}, as told, although the folder's name says {named}", "/".join(each.parts))
    return _apart(made)


def _order_of(each: _Set) -> tuple[int, int]:
    official = list(SETS)
    return TASKS.index(each.task), official.index(each.dataset) if each.dataset else len(official)


def _named(root: Path) -> str:
    """Return the root's own name, also of ``.`` and of a path that ends in ``..``."""
    return root.resolve().name if root.name in ("", "..") else root.name


def _task_above(parts: tuple[str, ...], root_name: str) -> tuple[tuple[str, ...], str | None]:
    """Return the nearest folder above an item whose name tells a task, and that task.

    Without one: the folder that holds the item. The root's own name counts, but not as a part.
    """
    for depth in range(len(parts) - 1, 0, -1):
        if told := task_named(parts[depth - 1]):
            return parts[:depth], told
    return parts[:-1] if not (told := task_named(root_name)) else (), told


def _task_of_files(files: Mapping[str, Path]) -> str | None:
    return next((task for name, task in TOLD_BY.items() if name in files), None)


def _sets_in(above: tuple[str, ...], task: str, members: list[_Item], root_name: str) -> Iterator[_Set]:
    name = (above[-1] if above else root_name).lower()
    # What harvest made says by which corpus' rules; else callfc/pause_handling: the folder above the task's names it.
    corpus = _harvested_from(members) or (above[-2] if len(above) > 1 else root_name).lower()
    of_corpus = f"{corpus}_{task}" if above else ""
    plain = of_corpus if of_corpus in SETS and SETS[of_corpus][0] == task else ""
    dataset = name if name in SETS and SETS[name][0] == task else plain
    by_set = {dataset: members}
    if dataset == V15_SETS[0]:  # v1.5's set has the name of v1.0's task, and a folder may hold both
        newer = [item for item in members if is_v15(task, item.files)]
        if not newer or any("interrupt.json" in item.files for item in members):
            by_set = {dataset: newer, plain: [item for item in members if not is_v15(task, item.files)]}
    for its, kept in by_set.items():
        if kept:
            yield _Set(task, its, above, [(item, item.folder.parts[len(above) :] or (root_name,)) for item in kept])


def _harvested_from(members: list[_Item]) -> str:
    """Return the corpus of the French benchmark whose rules harvest found the items by, "" where it did not.

    Rules of one's own are those of the corpus that they are based on.
    """
    found = set[str]()
    for item in members:
        script = item.folder.files.get("script.json")
        if script is None:
            return ""
        try:
            told = read_json(script)
        except InputError:
            return ""
        rules = told.get("rules") if isinstance(told, dict) else None
        found.add(rules.rpartition(" ")[2] if isinstance(rules, str) else "")
    name = found.pop() if len(found) == 1 else ""
    return name.removeprefix(_FRENCH) if name.startswith(_FRENCH) else ""


def _apart(sets: list[_Set]) -> list[_Set]:
    """Put the folder's name before the ids of sets that would otherwise share one.

    What shares a name shares a folder of the run: v1.5's set of interruptions is called as v1.0's task is.
    """
    ids: dict[str, Counter[str]] = defaultdict(Counter)
    for each in sets:
        ids[each.dataset or each.task].update("/".join(parts) for _, parts in each.items)
    return [
        replace(each, items=[(item, (*each.parts, *parts)) for item, parts in each.items])
        if any(ids[each.dataset or each.task]["/".join(parts)] > 1 for _, parts in each.items)
        else each
        for each in sets
    ]


def _entry(
    item: _Item,
    its_set: _Set,
    parts: tuple[str, ...],
    channels: Mapping[str, int] | None,
    offset: int,
    remarks: Remarks,
    of_a_run: bool,
) -> Entry:
    user, system = _voices(item, channels, remarks)
    id = "/".join(map(_unescaped, parts) if of_a_run else parts)
    there = set(item.files) | ({"input.wav"} if user else set()) | ({"output.wav"} if system else set())
    speaker = _SPEAKER.fullmatch(parts[-1])
    return Entry(
        id=id,
        task=its_set.task,
        dataset=its_set.dataset,
        group=speaker[1] if speaker else "",
        user_voice=user,
        system_voice=system,
        files=item.files,
        offset=offset,
        missing=tuple(name for name in expected_files(its_set.task, set(item.files)) if name not in there),
    )


def _unescaped(name: str) -> str:
    """Return the id that a run wrote as ``name``, where it can be told, else ``name``."""
    try:
        plain = unquote(name, errors="strict")
    except UnicodeDecodeError:
        return name
    return plain if as_file_name(plain) == name else name


def _voices(item: _Item, channels: Mapping[str, int] | None, remarks: Remarks) -> tuple[Voice | None, Voice | None]:
    files = item.files
    user, system = files.get("input.wav"), files.get("output.wav")
    given = channels or {}
    if user and system:
        return Voice(user, given.get("user")), Voice(system, given.get("system"))
    both = next((files[f"{stem}.wav"] for stem in _STEREO_STEMS if f"{stem}.wav" in files), None)
    alone = (both or system) if not user else None
    if alone and (channels or _has_two(alone)):
        remarks.add(
            "one two-channel file is the whole conversation, user left and system right unless told", item.folder.name
        )
        left, right = given.get("user", 0), given.get("system", 1)
        return Voice(alone, left), Voice(alone, right)
    return Voice(user, given.get("user")) if user else None, Voice(system) if system else None


def _has_two(path: Path) -> bool:
    from fullduplex.data.audio import probe

    try:
        return probe(path).channels == 2
    except InputError:
        return False  # what is wrong with it is said when it is read
