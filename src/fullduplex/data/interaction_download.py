"""A user's own download of InteractionBench's recordings, read as items that can be scored.

*Untested on a real download*: the recordings are not at hand here. What is known of their layout is what the
repository documents, and only that is relied on::

    test_set/CATEGORY/NN/   benchmark.json  A1.wav A2.wav …  dialogue.json      an item: scorecard, the user's turns
    …/CATEGORY…NN…/         A_user.wav  B_model.wav  combined.wav  grade.json   a recording: both voices, one each
    …/scenarios_generated.json                                                  the long conversations and their probes

A recording is any folder with both tracks. Its scenario, number and system are told by the names of the folders that
lead to it; its scorecard lies in it, above it, or in the item's folder of that scenario and number.
The site's mp3 files are mixes of both voices and cannot be scored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fullduplex.data.entries import TASKS, Entry, Voice
from fullduplex.data.files import member, read_json
from fullduplex.data.folders import Folder, Remarks, as_text, natural, walk
from fullduplex.data.interaction_scorecard import CATEGORIES, UNSCORED, interaction, read_dialogue
from fullduplex.data.official import AUDIO_SUFFIXES
from fullduplex.errors import InputError

USER, SYSTEM = "A_user", "B_model"
SCORECARD, DIALOGUE, GRADE, CONVERSATIONS = (
    "benchmark.json",
    "dialogue.json",
    "grade.json",
    "scenarios_generated.json",
)
#: The systems' short names in the release.
SYSTEMS = ("gptlive", "gpt", "gemini", "moshi", "personaplex", "freezeomni", "halfduplex")
#: Folders that name no system.
_PLAIN = ("test_set", "tts_review", "dashboard", "runs", "recordings", "example_data")
_CATEGORY = re.compile(rf"(?<![a-z])({'|'.join(sorted((*CATEGORIES, *UNSCORED), key=len, reverse=True))})(?![a-z])")
#: What we call the scenarios, and the release's names; looked for where a path has none of those.
_OURS = {ours.removeprefix("ib_"): theirs for theirs, ours in CATEGORIES.items()}
_OUR_NAME = re.compile(rf"(?<![a-z])(?:ib_)?({'|'.join(sorted(_OURS, key=len, reverse=True))})(?![a-z])")
_NUMBER = re.compile(r"(?<![a-z0-9])(\d{1,3})(?![a-z0-9])")
_SYSTEM = re.compile(rf"(?<![a-z])({'|'.join(sorted(SYSTEMS, key=len, reverse=True))})(?![a-z])")


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recording as an entry, with what its item calls for.

    ``interaction`` has the shape of an interaction.json, every time None until the user's words are known.
    ``graded`` is what the release's own grade.json counts: passed, and of how many; None without one.
    """

    entry: Entry
    interaction: Mapping[str, Any]
    graded: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Download:
    """Recordings in a stable order, and remarks on what was passed over."""

    root: Path
    records: tuple[Recorded, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Name:
    """What the folders that lead to a recording say of it."""

    category: str = ""
    number: str = ""
    system: str = ""


def is_download(folders: Iterable[Folder]) -> bool:
    """Return whether one of ``folders`` holds both tracks of a recording, under the release's names."""
    return any(_track(folder, USER) and _track(folder, SYSTEM) for folder in folders)


def open_download(path: Path, *, task: str | None = None, offset: int = 0) -> Download:
    """Return the recordings below ``path``; no audio is opened.

    ``task`` is the scenario where the folders' names do not tell. ``offset`` is when the systems' files begin, in
    microseconds. A recording whose scenario nothing tells, whose category the benchmark does not score or whose
    scorecard cannot be read becomes a remark. Raises :class:`InputError` where there is no recording.
    """
    if task is not None and task not in CATEGORIES.values():
        raise InputError("--task", found=task, expected=", ".join(CATEGORIES.values()))
    remarks = Remarks()
    folders = list(walk(path, remarks))
    items, cards = _items(folders), {folder.parts: folder for folder in folders if SCORECARD in folder.files}
    shared = next((folder.files[CONVERSATIONS] for folder in folders if CONVERSATIONS in folder.files), None)
    records, seen = [], dict[tuple[str, ...], int]()
    for folder in folders:
        user, system = _track(folder, USER), _track(folder, SYSTEM)
        if user is None or system is None:
            if user or system or _track(folder, "combined"):
                remarks.add("folders without a track of each voice, not read", folder.name)
            continue
        # The name of the opened folder itself may tell too: a single scenario's folder can be opened.
        name = _named((path.resolve().name, *folder.parts))
        card = _scorecard(folder, cards, items, name)
        dataset = task or CATEGORIES.get(name.category) or _dataset_of(card)
        if name.category in UNSCORED and task is None:
            remarks.add("recordings of categories that no scenario asks, left out", folder.name)
            continue
        if not dataset:
            remarks.add("recordings whose scenario nothing tells, left out; --task says it", folder.name)
            continue
        try:
            told = _interaction(dataset, card, folder, shared, name, remarks)
        except InputError as error:
            remarks.add(f"recordings left out: {error}", folder.name)
            continue
        try:
            graded = _graded(folder.files.get(GRADE))
        except InputError as error:  # no score of ours rests on the release's
            remarks.add(f"grades that were not read: {error}", folder.name)
            graded = None
        entry = Entry(
            id=name.number or _place(path, folder),
            task=dataset,
            dataset=dataset,
            system=name.system,
            user_voice=Voice(user),
            system_voice=Voice(system),
            offset=offset,
        )
        key = (entry.task, entry.system, entry.id)
        seen[key] = seen.get(key, 0) + 1
        records.append((folder, Recorded(entry, told, graded)))
    if not records:
        raise InputError(
            path,
            found="no recording that can be scored" + "".join(f"; {line}" for line in remarks.lines()[:2]),
            expected=f"folders with {USER}.wav and {SYSTEM}.wav below a folder named after a scenario",
            do="the site's mp3 files are mixes of both voices and cannot be scored",
        )
    made = []
    for folder, one in records:
        if seen[one.entry.task, one.entry.system, one.entry.id] > 1:
            remarks.add("items with several recordings, each kept under its folder's name", folder.name)
            one = replace(one, entry=replace(one.entry, id=_place(path, folder)))
        made.append(one)
    made.sort(key=lambda one: (TASKS.index(one.entry.task), natural(one.entry.system), natural(one.entry.id)))
    return Download(path, tuple(made), remarks.lines())


def _place(root: Path, folder: Folder) -> str:
    return folder.name if folder.parts else as_text(root.resolve().name) or "recording"


def _items(folders: Sequence[Folder]) -> dict[tuple[str, int], Folder]:
    """Return the items' folders that have a scorecard and no recording, by category and number."""
    found: dict[tuple[str, int], Folder] = {}
    for folder in folders:
        name = _named(folder.parts)
        if name.category and name.number and SCORECARD in folder.files and not _track(folder, USER):
            found.setdefault((name.category, int(name.number)), folder)
    return found


def _scorecard(
    folder: Folder, cards: Mapping[tuple[str, ...], Folder], items: Mapping[tuple[str, int], Folder], name: _Name
) -> Folder | None:
    """Return the folder with the scorecard of a recording: its own, the nearest above, the item's."""
    for depth in range(len(folder.parts), -1, -1):
        if found := cards.get(folder.parts[:depth]):
            return found
    return items.get((name.category, int(name.number))) if name.category and name.number else None


def _dataset_of(card: Folder | None) -> str:
    if card is None:
        return ""
    try:
        told = read_json(card.files[SCORECARD])
    except InputError:
        return ""
    return CATEGORIES.get(str(told.get("category", "")), "") if isinstance(told, dict) else ""


def _interaction(
    dataset: str, card: Folder | None, folder: Folder, shared: Path | None, name: _Name, remarks: Remarks
) -> dict[str, Any]:
    beside = card.files if card is not None else folder.files
    scorecard = beside.get(SCORECARD)
    if dataset == "ib_groundedness" and shared is not None and not _has_turns(scorecard):
        scorecard = shared
    lines = read_dialogue(beside[DIALOGUE]) if DIALOGUE in beside else ()
    turns = sum(re.fullmatch(r"A\d+", Path(other).stem) is not None for other in beside if _is_audio(other))
    made = interaction(dataset, scorecard, lines, turns, name.number)
    if not made["turns"]:
        remarks.add("recordings of which nothing tells how many turns the user has; none is placed", folder.name)
    if scorecard is None and not made["pauses"] and dataset not in _WITHOUT_CARD:
        remarks.add("recordings without a scorecard; what they call for is not known", folder.name)
    return made


#: What the scenario says by itself calls for nothing that a scorecard would add.
_WITHOUT_CARD = ("ib_backchannel", "ib_turn_taking", "ib_user_backchannel", "ib_interruption", "ib_whisper")


def _has_turns(scorecard: Path | None) -> bool:
    told = read_json(scorecard) if scorecard is not None else {}
    return isinstance(told, dict) and "turns" in told


def _graded(path: Path | None) -> tuple[int, int] | None:
    if path is None:
        return None
    summary = member(read_json(path), "summary", path)
    counts = [member(summary, key, path, "summary") for key in ("npass", "n")]
    passed, n = (one if isinstance(one, int) and not isinstance(one, bool) else -1 for one in counts)
    if not 0 <= passed <= n:
        raise InputError(path, "summary", found=f"npass {counts[0]!r}, n {counts[1]!r}", expected="counts, 0 to n")
    return passed, n


def _named(parts: Sequence[str]) -> _Name:
    """Return the scenario, number and system that a path tells.

    The scenario is that of the deepest folder that names one as the release does, else as we do; the number is the
    first after it; the system is one of the release's short names, else the first folder before the scenario's that is
    not one of the release's own.
    """
    plain = [re.sub(r"[\s-]+", "_", part.lower()).replace("_", " ") for part in parts]
    joined = [part.replace(" ", "_") for part in plain]
    found = [
        (n, named)
        for pattern in (_CATEGORY, _OUR_NAME)
        for n in range(len(joined) - 1, -1, -1)
        if (named := pattern.search(joined[n])) is not None
    ]
    if not found:
        return _Name()
    depth, category = found[0]
    after = " ".join((joined[depth][category.end() :].replace("_", " "), *plain[depth + 1 :]))
    number = _NUMBER.search(after)
    others = " ".join((*plain[:depth], joined[depth][: category.start()].replace("_", " "), after))
    known = _SYSTEM.search(others)
    own = next((part for part, low in zip(parts[1:depth], joined[1:depth], strict=True) if low not in _PLAIN), "")
    return _Name(_OURS.get(category[1], category[1]), number[1] if number else "", known[1] if known else own)


def _track(folder: Folder, stem: str) -> Path | None:
    return next((path for suffix in AUDIO_SUFFIXES if (path := folder.files.get(f"{stem}{suffix}"))), None)


def _is_audio(name: str) -> bool:
    return Path(name).suffix.lower() in AUDIO_SUFFIXES
