"""Scripts become items: Full-Duplex-Bench folders whose every time is known, because it was made.

What is spoken is put together with silence of stated length, so a pause is the silence that was put in and a turn
ends with its last audible sample. ``script.json`` beside the official files says who spoke, with what, and
where the time of each word is from. They are made to be like the published sets and are not them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from fullduplex.data.files import read_json, write_json
from fullduplex.errors import FullDuplexError, InputError
from fullduplex.making.item_folder import clear_halves
from fullduplex.making.make_item import GAP, ItemTask, Made, content_of, folder_of, make_item, recogniser_of, voice_of
from fullduplex.making.script import Entry
from fullduplex.making.script_file import read_script
from fullduplex.model.spans import in_seconds
from fullduplex.model.spec import Spec
from fullduplex.providers.voices.opened import default_pool

_ABOUT = """Items made by fullduplex from a script, by synthetic voices.
They have the layout of Full-Duplex-Bench and are not its data: numbers on them compare with nothing published.
script.json in each item says who spoke, whether the speech is processed, and where each time is from.
"""

#: Called with what is being done, how many entries are done, and of how many.
Progress = Callable[[str, int, int], None]


class Outcome(Protocol):
    """What became of a task: its result, or the sentence that says why there is none."""

    @property
    def task(self) -> Any:
        """Return the task."""
        ...

    @property
    def result(self) -> Any:
        """Return what the function returned."""
        ...

    @property
    def error(self) -> str | None:
        """Return the sentence, None where it went well."""
        ...


#: Runs a function for each task and yields the outcomes: ``partial(engines.each, engine)`` is one.
Each = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Outcome]]


@dataclass(frozen=True, slots=True)
class Synthesised:
    """All that a script gave: items in its order, entries that failed with the reason, entries without the language."""

    items: tuple[Made, ...]
    failed: tuple[tuple[str, str], ...] = ()
    left_out: tuple[str, ...] = ()


def synthesise(
    script: Path,
    out: Path,
    voices: Sequence[Spec] = (),
    *,
    seed: int = 0,
    gap: int = GAP,
    after: int | None = None,
    rate: int = 16_000,
    languages: Sequence[str] = ("en",),
    limit: int | None = None,
    recogniser: Spec | None = None,
    cache: Path | None = None,
    keys: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    each: Each | None = None,
) -> Synthesised:
    """Make the items of ``script`` in ``out`` and return what was made; what is there already is not made again.

    ``voices`` is the pool (empty: ten of Kokoro's, drawn by ``seed``); ``seed`` gives each item its voice and its
    room. ``gap`` and ``after`` are microseconds, for dialogues that do not say. One of ``languages``: items in
    ``OUT/DATASET/ID``; several: *matched* items in ``OUT/LANGUAGE/DATASET/ID``, of which the pauses and the
    times of events are equal. ``limit``: the first so many of each dataset that have them. Raises
    :class:`InputError` on a script or an option that cannot be used, before anything is written.
    """
    entries = read_script(script)
    able = [entry for entry in entries if all(language in entry.dialogues for language in languages)]
    left_out = tuple(f"{entry.dataset}/{entry.id}" for entry in entries if entry not in able)
    chosen = _limited(able, limit)
    if not chosen:
        told = " and ".join(languages)
        raise InputError(script, found=f"no dialogue in {told}", expected="at least one in each language asked for")
    tasks = list(
        item_tasks(
            chosen, script, out, voices, seed=seed, gap=gap, after=after, rate=rate, languages=languages,
            recogniser=recogniser, cache=cache, keys=keys,
        )
    )  # fmt: skip
    _prepare(out, tasks)
    items, failed = dict[tuple[str, str], tuple[Made, ...]](), list[tuple[str, str]]()
    for done, outcome in enumerate((each or here)(make_item, tasks), 1):
        entry = outcome.task.entry
        if outcome.error is None:
            items[entry.dataset, entry.id] = outcome.result
        else:
            failed.append((f"{entry.dataset}/{entry.id}", outcome.error))
        if progress:
            progress("speak", done, len(tasks))
    order = [items[e.dataset, e.id] for e in chosen if (e.dataset, e.id) in items]
    found = Synthesised(tuple(made for together in order for made in together), tuple(failed), left_out)
    _write_summary(out, script, tasks, found)
    return found


def item_tasks(
    entries: Iterable[Entry],
    script: Path,
    out: Path,
    voices: Sequence[Spec] = (),
    *,
    seed: int = 0,
    gap: int = GAP,
    after: int | None = None,
    rate: int = 16_000,
    languages: Sequence[str] = ("en",),
    recogniser: Spec | None = None,
    cache: Path | None = None,
    keys: Mapping[str, str] | None = None,
) -> Iterator[ItemTask]:
    """Yield a task for each entry; raises :class:`InputError` where no voice speaks a language, or no match can be.

    Raises :class:`PluginError` where a voice of the pool or the recogniser cannot be opened.
    """
    if not 8_000 <= rate <= 192_000:
        raise InputError("--rate", found=rate, expected="8000 to 192000 Hz")
    if len(set(languages)) != len(languages) or not languages:
        raise InputError("--language", found=", ".join(languages) or "none", expected="each language once")
    shared = tuple(sorted((keys or {}).items()))
    if seed < 0:
        raise InputError("--seed", found=seed, expected="0 or more")
    if recogniser is not None:
        # What cannot be opened is refused now, and once.
        recogniser_of(recogniser, cache)
    pools = {language: pool_for(language, voices, seed, cache, shared) for language in languages}
    for entry in entries:
        if len(languages) > 1:
            _check_matchable(entry, script)
        yield ItemTask(
            entry, script.parent, out, tuple(languages), pools, seed, gap, after, rate, recogniser, cache, shared
        )


def _limited(entries: Sequence[Entry], limit: int | None) -> list[Entry]:
    if limit is None:
        return list(entries)
    if limit < 1:
        raise InputError("--limit", found=limit, expected="1 or more")
    counts: dict[str, int] = {}
    kept = []
    for entry in entries:
        counts[entry.dataset] = counts.get(entry.dataset, 0) + 1
        if counts[entry.dataset] <= limit:
            kept.append(entry)
    return kept


@dataclass(frozen=True, slots=True)
class _Done:
    task: Any
    result: Any = None
    error: str | None = None


def here(function: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Outcome]:
    """Yield what becomes of each task, done here one after the other."""
    for task in tasks:
        try:
            yield _Done(task, function(task))
        except FullDuplexError as error:
            yield _Done(task, None, str(error))


def pool_for(
    language: str, voices: Sequence[Spec], seed: int, cache: Path | None, keys: tuple[tuple[str, str], ...]
) -> tuple[Spec, ...]:
    """Return the voices that speak ``language``; one that does not say its language is taken to speak all."""
    pool = tuple(voices) or default_pool(language, seed)
    able = tuple(spec for spec in pool if getattr(voice_of(spec, cache, keys), "language", language)[:2] == language)
    if not able:
        told = ", ".join(str(spec) for spec in pool)
        raise InputError("--voice", found=told, expected=f"a voice that speaks {language!r}")
    return able


def _check_matchable(entry: Entry, script: Path) -> None:
    """Raise :class:`InputError` where the times of events cannot be equal across languages.

    Speech of one language is longer than the same in another: padding before the first word makes one event's time
    equal, and a second one could only be by a pause that is not what the script says.
    """
    first = next(iter(entry.dialogues.values()))
    wanted = {"pause_handling": (1, 1), "user_interruption": (2, 0)}.get(entry.task, (1, 0))
    if (len(first.turns), first.pauses) != wanted:
        found = f"{len(first.turns)} turns with {first.pauses} pauses"
        expected = f"{wanted[0]} turns with {wanted[1]} pauses, to match their times across languages"
        raise InputError(script, f"{entry.dataset}/{entry.id}", found=found, expected=expected)


def _prepare(out: Path, tasks: Sequence[ItemTask]) -> None:
    summary = out / "synth.json"
    if summary.exists():
        there = read_json(summary)
        if not isinstance(there, dict) or "schema" not in there or "script" not in there:
            raise InputError(
                summary, found="a file that synth did not write", expected="a new folder", do="choose another --out"
            )
    for folder in {
        folder_of(task, task.entry.dialogues[language]).parent for task in tasks for language in task.languages
    }:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(folder, found=error.strerror or str(error), expected="a place to write to") from error
        clear_halves(folder)


def _write_summary(out: Path, script: Path, tasks: Sequence[ItemTask], found: Synthesised) -> None:
    first = tasks[0]
    write_json(
        out / "synth.json",
        {
            "schema": 1,
            "script": {"name": script.name, "sha256": content_of(script)},
            "seed": first.seed,
            "rate": first.rate,
            "gap": in_seconds(first.gap),
            "after": None if first.after is None else in_seconds(first.after),
            "languages": list(first.languages),
            "voices": {language: [spec.to_json() for spec in pool] for language, pool in first.voices.items()},
            "recogniser": first.recogniser and first.recogniser.to_json(),
            "items": len(found.items),
            "failed": [{"item": item, "error": error} for item, error in found.failed],
            "left_out": list(found.left_out),
        },
    )
    about = out / "README.txt"
    if not about.exists():
        about.write_text(_ABOUT, encoding="utf-8")
