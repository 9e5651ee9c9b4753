"""Scripts become items: Full-Duplex-Bench folders whose every time is known, because it was made.

What is spoken is put together with silence of stated length, so a pause is the silence that was put in and a turn
ends with its last audible sample. ``script.json`` beside the official files says who spoke, with what, and
where the time of each word is from. They are made to be like the published sets and are not them.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from fullduplex import plugins
from fullduplex.data.files import read_json, write_json
from fullduplex.data.names import as_file_name
from fullduplex.errors import FullDuplexError, InputError
from fullduplex.making.item_folder import Laid, clear_halves, lay_out, made_here, same_as_made, write_item_folder
from fullduplex.making.script import Dialogue, Entry, Phrase
from fullduplex.making.script_file import read_script
from fullduplex.making.speaking import Said, Speaker
from fullduplex.model.spans import SECOND, in_seconds, ms, seconds
from fullduplex.model.spec import Spec, digest
from fullduplex.once import once_per_process
from fullduplex.providers.voices import LEVEL, PEAK, Voice
from fullduplex.providers.voices.opened import default_pool, open_voice, voice_for

#: Between a context and its interruption, as in Full-Duplex-Bench's synthetic set.
GAP = seconds(7)
#: After the last turn, by task: the official 15 s and 5 s, and where official inputs stop at once, a moment.
AFTER = {
    "user_interruption": seconds(15),
    "smooth_turn_taking": seconds(5),
    "pause_handling": ms(100),
    "backchannel": ms(100),
}
#: Before the first word; official interruptions begin with the context.
LEAD = ms(500)
#: Part of every item's digest: raised when the same script would be made into other bytes.
_VERSION = 1
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
class ItemTask:
    """One entry of a script to make, in each of ``languages``; small, and it travels.

    ``voices`` is the pool of each language, ``after`` None where the set's own silence holds. ``keys`` are
    for voices behind a server, as ``(name, key)``; they are never written.
    """

    entry: Entry
    clips: Path
    out: Path
    languages: tuple[str, ...]
    voices: Mapping[str, tuple[Spec, ...]]
    seed: int = 0
    gap: int = GAP
    after: int | None = None
    rate: int = 16_000
    recogniser: Spec | None = None
    cache: Path | None = None
    keys: tuple[tuple[str, str], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Made:
    """An item as it was made: where it lies, its length in microseconds, and whether it was there already.

    ``words`` is where word times are from (``synthesiser``, ``recogniser NAME``, both, or empty: none).
    """

    dataset: str
    id: str
    language: str
    folder: Path
    duration: int
    words: str
    processed: bool
    kept: bool


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
    times of events are equal. ``limit``: the first so many of each dataset. Raises :class:`InputError` on a script
    or an option that cannot be used, before anything is written.
    """
    entries = _limited(read_script(script), limit)
    chosen = [entry for entry in entries if all(language in entry.dialogues for language in languages)]
    left_out = tuple(f"{entry.dataset}/{entry.id}" for entry in entries if entry not in chosen)
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
    for done, outcome in enumerate((each or _here)(make_item, tasks), 1):
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
    """Yield a task for each entry; raises :class:`InputError` where no voice speaks a language, or no match can be."""
    if not 8_000 <= rate <= 192_000:
        raise InputError("--rate", found=rate, expected="8000 to 192000 Hz")
    if len(set(languages)) != len(languages) or not languages:
        raise InputError("--languages", found=", ".join(languages) or "none", expected="each language once")
    shared = tuple(sorted((keys or {}).items()))
    pools = {language: _pool(language, voices, seed, cache, shared) for language in languages}
    for entry in entries:
        if len(languages) > 1:
            _check_matchable(entry, script)
        yield ItemTask(
            entry, script.parent, out, tuple(languages), pools, seed, gap, after, rate, recogniser, cache, shared
        )


def make_item(task: ItemTask) -> tuple[Made, ...]:
    """Make the items of one entry, one for each language, and return them in the languages' order.

    An item whose script, voices, options and clips are those that it was made from is kept. It is written whole or not
    at all. Raises :class:`InputError` where it cannot be spoken, or its folder holds what was not made here.
    """
    dialogues = [task.entry.dialogues[language] for language in task.languages]
    folders = [_folder(task, dialogue) for dialogue in dialogues]
    marks = [_digest(task, dialogue) for dialogue in dialogues]
    for folder in folders:
        if folder.exists() and not made_here(folder):
            raise InputError(
                folder, found="a folder that synth did not make", expected="a new folder", do="choose another --out"
            )
    # Matched items depend on each other's lengths: all are kept, or none.
    together = digest(marks)
    if all(same_as_made(folder, together) for folder in folders):
        return tuple(_made(task, d, folder, kept=True) for d, folder in zip(dialogues, folders, strict=True))
    said = [_say(task, dialogue) for dialogue in dialogues]
    laid = _placed(task, dialogues, said)
    made = []
    for dialogue, folder, item, spoken in zip(dialogues, folders, laid, said, strict=True):
        about = _about(task, dialogue, item, together)
        write_item_folder(folder, dialogue, item, [one for turn in spoken for one in turn], about)
        made.append(_made(task, dialogue, folder, kept=False))
    return tuple(made)


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


def _here(function: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Outcome]:
    for task in tasks:
        try:
            yield _Done(task, function(task))
        except FullDuplexError as error:
            yield _Done(task, None, str(error))


def _pool(
    language: str, voices: Sequence[Spec], seed: int, cache: Path | None, keys: tuple[tuple[str, str], ...]
) -> tuple[Spec, ...]:
    """Return the voices that speak ``language``; one that does not say its language is taken to speak all."""
    pool = tuple(voices) or default_pool(language, seed)
    able = tuple(spec for spec in pool if getattr(_voice(spec, cache, keys), "language", language)[:2] == language)
    if not able:
        told = ", ".join(str(spec) for spec in pool)
        raise InputError("--voices", found=told, expected=f"a voice that speaks {language!r}")
    return able


@once_per_process
def _voice(spec: Spec, cache: Path | None, keys: tuple[tuple[str, str], ...]) -> Voice:
    return open_voice(spec, cache=cache, keys=dict(keys))


@once_per_process
def _recogniser(spec: Spec, cache: Path | None) -> Any:
    make = plugins.find("recognisers", spec.name)
    weights = {"cache": cache} if "cache" in inspect.signature(make).parameters else {}
    return make(**spec.options, **weights)


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


def _folder(task: ItemTask, dialogue: Dialogue) -> Path:
    root = task.out / dialogue.language if len(task.languages) > 1 else task.out
    return root / as_file_name(dialogue.dataset) / as_file_name(dialogue.id)


def _voice_spec(task: ItemTask, dialogue: Dialogue, phrase: Phrase) -> Spec:
    told = phrase.voice or dialogue.voice
    if told:
        return Spec.parse(told)
    return voice_for(f"{dialogue.dataset}/{dialogue.id}", task.voices[dialogue.language], task.seed)


def _phrases(dialogue: Dialogue) -> Iterator[Phrase]:
    return (phrase for turn in dialogue.turns for phrase in turn.phrases)


def _digest(task: ItemTask, dialogue: Dialogue) -> str:
    voices, clips = list[Any](), dict[str, str]()
    for phrase in _phrases(dialogue):
        if phrase.clip:
            clips[phrase.clip] = _content(task.clips / phrase.clip)
        else:
            voices.append(_voice(_voice_spec(task, dialogue, phrase), task.cache, task.keys).spec.to_json())
    listens = task.recogniser and _recogniser(task.recogniser, task.cache).spec.to_json()
    made_with = [_VERSION, task.seed, task.gap, task.after, task.rate, LEVEL, PEAK, listens]
    return digest([made_with, dialogue.to_json(), voices, clips])


def _content(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InputError(path, found=reason, expected="a recording to use as a turn") from error


def _say(task: ItemTask, dialogue: Dialogue) -> list[list[Said]]:
    speaker = Speaker(
        lambda phrase: _voice(_voice_spec(task, dialogue, phrase), task.cache, task.keys),
        task.clips,
        task.rate,
        dialogue.language,
        _recogniser(task.recogniser, task.cache) if task.recogniser else None,
        task.seed,
    )
    return [speaker.say(turn) for turn in dialogue.turns]


def _placed(task: ItemTask, dialogues: Sequence[Dialogue], said: Sequence[list[list[Said]]]) -> list[Laid]:
    """Return each language's item laid out; of several, the first event of each is at the same time."""
    lead = 0 if task.entry.task == "user_interruption" else LEAD
    # The first event is the end of the first phrase: a pause begins, or a turn ends, interrupted later or not.
    first = [len(turns[0][0].spoken.samples) for turns in said]
    leads = [_time(max(first) - own, task.rate) + lead for own in first]
    laid = [_lay(task, dialogue, turns, own, 0) for dialogue, turns, own in zip(dialogues, said, leads, strict=True)]
    longest = max(len(item.samples) for item in laid)
    more = [_time(longest - len(item.samples), task.rate) for item in laid]
    return [
        _lay(task, dialogue, turns, own, extra) if extra else item
        for dialogue, turns, own, extra, item in zip(dialogues, said, leads, more, laid, strict=True)
    ]


def _lay(task: ItemTask, dialogue: Dialogue, said: list[list[Said]], lead: int, more: int) -> Laid:
    gaps = [task.gap if gap is None else gap for gap in dialogue.gaps]
    after = next(one for one in (dialogue.after, task.after, AFTER[dialogue.task]) if one is not None)
    return lay_out(dialogue, said, gaps, lead, after + more, task.rate, task.seed)


def _time(samples: int, rate: int) -> int:
    """Return the time that is that many samples, and that many when it is counted in samples again."""
    return -(-samples * SECOND // rate)


def _about(task: ItemTask, dialogue: Dialogue, item: Laid, mark: str) -> dict[str, Any]:
    return {
        "made_for": "synth",
        "digest": mark,
        "dataset": dialogue.dataset,
        "id": dialogue.id,
        "task": dialogue.task,
        "language": dialogue.language,
        "matched": [language for language in task.languages if len(task.languages) > 1],
        "seed": task.seed,
        "rate": task.rate,
        "loudness": {"rms_dbfs": LEVEL, "peak_dbfs": PEAK, "of": "audible 10-ms frames"},
        "lead": in_seconds(item.lead),
        "gaps": [in_seconds(gap) for gap in item.gaps],
        "after": in_seconds(item.after),
    }


def _made(task: ItemTask, dialogue: Dialogue, folder: Path, *, kept: bool) -> Made:
    about = read_json(folder / "script.json")
    duration = seconds(about["duration"])
    processed = bool(about["processed"])
    return Made(dialogue.dataset, dialogue.id, dialogue.language, folder, duration, about["words"], processed, kept)


def _prepare(out: Path, tasks: Sequence[ItemTask]) -> None:
    for folder in {
        _folder(task, task.entry.dialogues[language]).parent for task in tasks for language in task.languages
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
            "script": {"name": script.name, "sha256": _content(script)},
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
    (out / "README.txt").write_text(_ABOUT, encoding="utf-8")
