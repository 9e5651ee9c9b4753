"""Items of the four tasks of Full-Duplex-Bench v1.5, from a script or from recordings of one speaker's questions.

The user asks; a fixed time later, over the answer, the user interrupts, or gives a backchannel, or talks to somebody
else, or somebody else talks in the background. The places, levels and rooms are those of the publication; the
words, and the voices that are not recorded, are ours. They are made to be like the published sets and are not them.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fullduplex import plugins
from fullduplex.data.files import read_json, write_json
from fullduplex.data.official import SETS, V15_SETS
from fullduplex.errors import InputError
from fullduplex.making.item_folder import clear_halves
from fullduplex.making.make_item import content_of
from fullduplex.making.overlap_item import MadeOverlap, is_made, make_overlap
from fullduplex.making.overlap_lines import Lines, read_lines, shipped_lines
from fullduplex.making.overlap_sources import Recorded, read_talks
from fullduplex.making.overlap_speech import OverlapTask
from fullduplex.making.scripted_items import check_length, check_numbers
from fullduplex.making.synthesis import Each, Progress, here, pool_for
from fullduplex.model.spans import in_seconds, seconds
from fullduplex.model.spec import Spec

#: From the end of the question to what is said over its answer, and the silence after that.
AFTER, TAIL = seconds(4), seconds(15)
#: No silence is longer, in microseconds.
LONGEST = seconds(600)
_SUMMARY = "overlaps.json"
_ABOUT = """Overlap items made by fullduplex, of the four tasks of Full-Duplex-Bench v1.5.
They have its layout and are not its data: numbers on them compare with nothing published.
script.json in each item says who spoke, how loud, and where each time is from.
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be made of a source: the items by task, and what gives none, with the reason."""

    source: Path
    lines: Lines | None
    tasks: tuple[OverlapTask, ...]
    left_out: tuple[tuple[str, str], ...] = ()

    def counts(self) -> dict[str, dict[str, int]]:
        """Return for each task how many items it has, and how many of them are there already."""
        made = {kind: {"items": 0, "there": 0} for kind in dict.fromkeys(task.kind for task in self.tasks)}
        for task in self.tasks:
            made[task.kind]["items"] += 1
            made[task.kind]["there"] += is_made(task)
        return made


@dataclass(frozen=True, slots=True)
class Overlaps:
    """All that was made: items in the order of the plan, those that failed with the reason, and what gave none."""

    items: tuple[MadeOverlap, ...]
    failed: tuple[tuple[str, str], ...] = ()
    left_out: tuple[tuple[str, str], ...] = field(default=())


def plan_overlaps(
    source: Path,
    out: Path,
    voices: Sequence[Spec] = (),
    *,
    kinds: Sequence[str] = V15_SETS,
    lines: Path | None = None,
    language: str = "en",
    seed: int = 0,
    after: int = AFTER,
    tail: int = TAIL,
    rate: int = 16_000,
    limit: int | None = None,
    recogniser: Spec | None = None,
    cache: Path | None = None,
    keys: Mapping[str, str] | None = None,
) -> Plan:
    """Return what :func:`make_overlaps` would make; nothing is written, spoken or heard.

    ``source`` is a dialogue script or a folder of items (:func:`overlap_sources.read_talks`). ``kinds`` are tasks of
    v1.5. ``lines`` is a file of what is said over answers (None: the shipped ones, in English), ``voices`` the pool
    (empty: ten of Kokoro's, drawn by ``seed``). ``after`` and ``tail`` are microseconds. ``limit``: the first so
    many of each task; None: as many as the published set has. The k-th question meets the same line of a task
    whatever else is made. Raises :class:`InputError` on what cannot be used.
    """
    _check(kinds, after, tail, rate, seed, limit)
    wanted = [kind for kind in V15_SETS if kind in kinds]
    said = _lines_for(wanted, lines, language)
    talks = read_talks(source, language)
    if recogniser is not None:
        # It is opened only for what comes without times; a name that nobody has is refused now.
        plugins.find("recognisers", recogniser.name)
    shared = tuple(sorted((keys or {}).items()))
    # Recordings of questions and of their interruptions need nobody who speaks.
    spoken = said is not None or not all(isinstance(talk.question, Recorded) for talk in talks.talks)
    pool = pool_for(language, voices, seed, cache, shared) if spoken else ()
    if "background_speech" in wanted and len({spec.digest for spec in pool}) < 2:
        expected = "two or more, since another person speaks in the background"
        raise InputError("--voice", found=", ".join(map(str, pool)), expected=expected)
    tasks = []
    for kind in wanted:
        able = [talk for talk in talks.talks if kind != V15_SETS[0] or talk.interruption is not None]
        order = _order(kind, said, seed)
        for number, talk in enumerate(able[: SETS[kind][1] if limit is None else limit]):
            line = None if kind == V15_SETS[0] or said is None else said.of[kind][order[number % len(order)]]
            folder = source.parent if said is None else said.folder
            tasks.append(
                OverlapTask(
                    kind, talk, line, talks.clips, folder, out, language, pool, seed, after, tail, rate,
                    recogniser, cache, shared,
                )
            )  # fmt: skip
    if not tasks:
        raise InputError(source, found="no interruption", expected="at least one, for user_interruption")
    _check_folders(source, out, tasks)
    return Plan(source, said, tuple(tasks), talks.left_out)


def make_overlaps(plan: Plan, out: Path, *, progress: Progress | None = None, each: Each | None = None) -> Overlaps:
    """Make the items of ``plan`` in ``OUT/TASK/ID`` and return them; what is there already is not made again.

    Raises :class:`InputError` where ``out`` holds something else, before anything is made.
    """
    _prepare(out, plan)
    made, failed = dict[tuple[str, str], MadeOverlap](), list[tuple[str, str]]()
    for done, outcome in enumerate((each or here)(make_overlap, plan.tasks), 1):
        key = outcome.task.kind, outcome.task.talk.name
        if outcome.error is None:
            made[key] = outcome.result
        else:
            failed.append(("/".join(key), outcome.error))
        if progress:
            progress("overlap", done, len(plan.tasks))
    keys = [(task.kind, task.talk.name) for task in plan.tasks]
    found = Overlaps(tuple(made[key] for key in keys if key in made), tuple(failed), plan.left_out)
    _write_summary(out, plan, found)
    return found


def _check(kinds: Sequence[str], after: int, tail: int, rate: int, seed: int, limit: int | None) -> None:
    unknown = [kind for kind in kinds if kind not in V15_SETS]
    if unknown or not kinds:
        raise InputError("--task", found=", ".join(unknown) or "none", expected=f"of {', '.join(V15_SETS)}")
    for option, value in (("--after", after), ("--tail", tail)):
        check_length(option, value, LONGEST)
    check_numbers(rate, seed, limit)


def _lines_for(kinds: Sequence[str], path: Path | None, language: str) -> Lines | None:
    """Return the lines that ``kinds`` need, None where they need none."""
    needed = [kind for kind in kinds if kind != V15_SETS[0]]
    if not needed:
        return None
    lines = read_lines(path or shipped_lines())
    if lines.language != language:
        found = f"lines in {lines.language!r}"
        do = "" if path else "give a file of your own with --lines"
        raise InputError(lines.path if path else "--language", found=found, expected=f"lines in {language!r}", do=do)
    missing = [kind for kind in needed if kind not in lines.of]
    if missing:
        raise InputError(
            lines.path, missing[0], found="nothing", expected="a list of lines", do="or leave the task out"
        )
    return lines


def _order(kind: str, lines: Lines | None, seed: int) -> list[int]:
    if lines is None or kind not in lines.of:
        return []
    random = np.random.default_rng([seed, zlib.crc32(kind.encode())])
    return [int(one) for one in random.permutation(len(lines.of[kind]))]


def _check_folders(source: Path, out: Path, tasks: Sequence[OverlapTask]) -> None:
    folders = {task.folder for task in tasks}
    if len(folders) < len(tasks):
        raise InputError(out, found=f"{len(tasks) - len(folders)} items of the same name", expected="names that differ")
    if not source.is_dir():
        return
    read, sets = source.resolve(), {folder.parent.resolve() for folder in folders}
    if out.resolve().is_relative_to(read) or any(read.is_relative_to(one) for one in sets):
        # Items that were made would be read as questions the next time, or replaced while they are read.
        raise InputError("--out", found="a folder that is read", expected="a place outside the source")


def _prepare(out: Path, plan: Plan) -> None:
    summary = out / _SUMMARY
    if summary.exists():
        there = read_json(summary)
        if not isinstance(there, dict) or there.get("made_for") != "overlaps":
            found = "a file that overlaps did not write"
            raise InputError(summary, found=found, expected="a new folder", do="choose another --out")
    for folder in {task.folder.parent for task in plan.tasks}:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(folder, found=error.strerror or str(error), expected="a place to write to") from error
        clear_halves(folder)


def _write_summary(out: Path, plan: Plan, found: Overlaps) -> None:
    first = plan.tasks[0]
    whole = None if plan.source.is_dir() else content_of(plan.source)
    write_json(
        out / _SUMMARY,
        {
            "schema": 1,
            "made_for": "overlaps",
            "source": {"name": plan.source.resolve().name, "sha256": whole},
            "lines": plan.lines and {"name": plan.lines.path.name, "sha256": content_of(plan.lines.path)},
            "seed": first.seed,
            "rate": first.rate,
            "after": in_seconds(first.after),
            "tail": in_seconds(first.tail),
            "language": first.language,
            "voices": [spec.to_json() for spec in first.voices],
            "recogniser": first.recogniser and first.recogniser.to_json(),
            "items": {
                kind: sum(one.kind == kind for one in found.items) for kind in dict.fromkeys(t.kind for t in plan.tasks)
            },
            "failed": [{"item": item, "error": error} for item, error in found.failed],
            "left_out": [{"item": item, "why": why} for item, why in found.left_out],
        },
    )
    about = out / "README.txt"
    if not about.exists():
        about.write_text(_ABOUT, encoding="utf-8")
