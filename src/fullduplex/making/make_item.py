"""One entry of a script becomes an item, or one in each of several languages whose events are at equal times."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fullduplex import plugins
from fullduplex.data.files import read_json
from fullduplex.data.names import as_file_name
from fullduplex.errors import InputError
from fullduplex.making.item_folder import Laid, lay_out, made_here, same_as_made, write_item_folder
from fullduplex.making.script import Dialogue, Entry, Phrase
from fullduplex.making.speaking import Said, Speaker
from fullduplex.model.spans import SECOND, in_seconds, ms, seconds
from fullduplex.model.spec import Spec, digest
from fullduplex.once import once_per_process
from fullduplex.providers.voices import LEVEL, PEAK, Voice
from fullduplex.providers.voices.opened import open_voice, voice_for
from fullduplex.providers.weights import default_cache

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
_VERSION = 2


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


def make_item(task: ItemTask) -> tuple[Made, ...]:
    """Make the items of one entry, one for each language, and return them in the languages' order.

    An item whose script, voices, options and clips are those that it was made from is kept. It is written whole or not
    at all. Raises :class:`InputError` where it cannot be spoken, or its folder holds what was not made here.
    """
    dialogues = [task.entry.dialogues[language] for language in task.languages]
    folders = [folder_of(task, dialogue) for dialogue in dialogues]
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


@once_per_process
def voice_of(spec: Spec, cache: Path | None, keys: tuple[tuple[str, str], ...]) -> Voice:
    """Return the voice that ``spec`` names, opened once in each process."""
    return open_voice(spec, cache=cache, keys=dict(keys))


@once_per_process
def recogniser_of(spec: Spec, cache: Path | None) -> Any:
    """Return the recogniser that ``spec`` names, opened once in each process."""
    return plugins.make("recognisers", spec.name, spec.options, cache or default_cache({}))


def folder_of(task: ItemTask, dialogue: Dialogue) -> Path:
    """Return where the item goes; no name in a script can lead out of ``task.out``."""
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
            clips[phrase.clip] = content_of(task.clips / phrase.clip)
        else:
            voices.append(voice_of(_voice_spec(task, dialogue, phrase), task.cache, task.keys).spec.to_json())
    listens = task.recogniser and recogniser_of(task.recogniser, task.cache).spec.to_json()
    made_with = [_VERSION, task.seed, task.gap, task.after, task.rate, LEVEL, PEAK, listens]
    return digest([made_with, dialogue.to_json(), voices, clips])


def content_of(path: Path) -> str:
    """Return the SHA-256 of a file that a script names; raises :class:`InputError` where it cannot be read."""
    try:
        # A pipe or a device may never end.
        if path.exists() and not path.is_file():
            raise InputError(path, found="no file", expected="a recording to use as a turn")
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InputError(path, found=reason, expected="a recording to use as a turn") from error


def _say(task: ItemTask, dialogue: Dialogue) -> list[list[Said]]:
    speaker = Speaker(
        lambda phrase: voice_of(_voice_spec(task, dialogue, phrase), task.cache, task.keys),
        task.clips,
        task.rate,
        dialogue.language,
        recogniser_of(task.recogniser, task.cache) if task.recogniser else None,
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
