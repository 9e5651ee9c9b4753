"""One action item on disk: a WAV for each cue, when each is released, what it marks, and who spoke it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fullduplex.data.files import read_json
from fullduplex.data.interactions import FILE as INTERACTION
from fullduplex.data.names import as_file_name
from fullduplex.errors import InputError
from fullduplex.making.acting.cues import Asking, cues_json
from fullduplex.making.acting.markup import SHORTEST_PAUSE
from fullduplex.making.acting.script import ActionItem
from fullduplex.making.acting.sound import ASIDE, BACKGROUND, Cue, Heard, Voices, alone_of, turn_of
from fullduplex.making.acting.words import Mark
from fullduplex.making.cue_folder import CueItem, is_whole, made_once
from fullduplex.making.joining import times
from fullduplex.making.make_item import recogniser_of, voice_of
from fullduplex.making.speaking import Speaker
from fullduplex.model.spans import SECOND, Span, in_seconds
from fullduplex.model.spec import Spec, digest
from fullduplex.providers.voices import LEVEL, PEAK

#: Who made the folder.
MAKER = "actions"
#: Part of every item's digest: raised when the same script would be made into other bytes.
_VERSION = 2
_NOT_THEIRS = "Not the paper's origin: its items of this condition are from recordings."


@dataclass(frozen=True, slots=True)
class ActionTask:
    """One item to make; small, and it travels.

    ``voice`` speaks the user, with the settings of ``persona`` where there is one; ``other`` who is in the background,
    None where nobody is. ``keys`` are for voices behind a server, as ``(name, key)``; they are never written.
    """

    item: ActionItem
    out: Path
    voice: Spec
    other: Spec | None = None
    persona: str = ""
    asking: Asking = field(default_factory=Asking)
    seed: int = 0
    rate: int = 24_000
    language: str = "en"
    recogniser: Spec | None = None
    cache: Path | None = None
    keys: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """Return the set and the id, as people name the item."""
        return f"{self.item.dataset}/{self.item.id}"

    @property
    def folder(self) -> Path:
        """Return where the item goes; no name in a script can lead out of ``out``."""
        return self.out / self.item.dataset / as_file_name(self.item.id)


@dataclass(frozen=True, slots=True)
class MadeAction:
    """An item as it was made: where it lies, how long its cues last (microseconds), and whether it was there already.

    ``words``: where its word times are from. ``voice`` and ``persona`` are the user's. ``damaged``: what was wrong
    with the sound there, "" if nothing.
    """

    scenario: str
    id: str
    folder: Path
    duration: int
    words: str
    voice: str
    persona: str
    kept: bool
    damaged: str = ""


def make_action(task: ActionTask) -> MadeAction:
    """Make one item, and return it; one that was made from the same is kept.

    It is written whole or not at all. Raises :class:`InputError` where it cannot be spoken, nothing places a word that
    a mark hangs on, or its folder holds what was not made here.
    """
    mark = mark_of(task)
    kept, damaged = made_once(
        task.folder, MAKER, "a folder that was not made from these scripts", mark, lambda: _item(task, mark)
    )
    return _made(task, kept=kept, damaged=damaged)


def _item(task: ActionTask, mark: str) -> CueItem:
    cues = cues_of(task)
    files = {"cues.json": cues_json(task.item, cues, task.asking), INTERACTION: _interaction(task, cues)}
    return CueItem({cue.id: cue.samples for cue in cues}, task.rate, files, _about(task, mark, cues))


def is_made(task: ActionTask) -> bool:
    """Tell whether the item is there, made from the same and whole."""
    return is_whole(task.folder, MAKER, mark_of(task))


def mark_of(task: ActionTask) -> str:
    """Return the digest of all that an item is made from; nothing is spoken."""
    voices = [
        voice_of(spec, task.cache, task.keys).spec.to_json() for spec in (task.voice, task.other) if spec is not None
    ]
    listens = task.recogniser and recogniser_of(task.recogniser, task.cache).spec.to_json()
    made_with = [_VERSION, task.asking.into, task.asking.prompt_for(task.item), task.seed, task.rate, task.language]
    effects = [ASIDE.to_json(), BACKGROUND.to_json(), LEVEL, PEAK, SHORTEST_PAUSE]
    return digest([made_with, effects, listens, task.item.to_json(), voices, task.persona])


def cues_of(task: ActionTask) -> list[Cue]:
    """Return every cue as it sounds; raises :class:`InputError` as :func:`make_action` does."""
    voices = Voices(_speaker(task, task.voice), None if task.other is None else _speaker(task, task.other))
    cues = list[Cue]()
    for n, (_, said) in enumerate(task.item.user):
        try:
            cues.append(turn_of(f"u{n}", said, voices) if said.phrases else alone_of(said, voices, cues[-1]))
        except InputError as error:
            where = f"{error.path}, {error.field}" if error.field else error.path
            raise InputError(task.name, where, found=error.found, expected=error.expected, do=error.do) from error
    return cues


def _speaker(task: ActionTask, spec: Spec) -> Speaker:
    voice = voice_of(spec, task.cache, task.keys)
    listens = recogniser_of(task.recogniser, task.cache) if task.recogniser else None
    return Speaker(lambda phrase: voice, task.out, task.rate, task.language, listens, task.seed)


def _interaction(task: ActionTask, cues: Sequence[Cue]) -> dict[str, Any]:
    item = task.item
    names = dict(zip((n for n, _ in item.user), cues, strict=True))
    notes = " ".join(filter(None, (item.notes, _NOT_THEIRS if item.condition.made == "recordings" else "")))
    return {
        "schema": 1,
        "scenario": item.scenario,
        "category": item.condition.action,
        "topic": item.topic,
        "setting": item.setting,
        "origin": "synthesised",
        "instructed": "not",
        "synthesised": True,
        "voice": str(task.voice),
        "instruction": task.asking.prompt_for(item),
        "target": item.target,
        "reply": item.reply,
        "marks": [
            {"cue": cue.id, "start": start, "end": end, "kind": mark.kind, "text": mark.text}
            for cue in cues
            for mark in (*cue.marks, *_waits(item, cue))
            for start, end in (times(mark.span),)
        ],
        "pauses": [
            {"cue": cue.id, "start": start, "end": end} for cue in cues for start, end in map(times, cue.pauses)
        ],
        "script": [
            {"who": line.who, "text": names[n].text, "cue": names[n].id}
            if n in names
            else {"who": line.who, "text": line.text}
            for n, line in enumerate(item.lines)
        ],
        "notes": notes,
    }


def _waits(item: ActionItem, cue: Cue) -> list[Mark]:
    """Return where the system is to be silent: in the pause, or from the first word to the last where there is none."""
    if item.condition.action != "wait":
        return []
    return [Mark("wait", span) for span in cue.pauses or (Span(0, cue.duration),)]


def _about(task: ActionTask, mark: str, cues: Sequence[Cue]) -> dict[str, Any]:
    item = task.item
    sources = sorted({one.said.spoken.words_from for cue in cues for one in cue.heard if one.said.spoken.words_from})
    return {
        "made_for": MAKER,
        "digest": mark,
        "dataset": item.dataset,
        "id": item.id,
        "setting": item.setting,
        "origin": {"here": "synthesis", "published": item.condition.made},
        "seed": task.seed,
        "rate": task.rate,
        "language": task.language,
        "loudness": {"rms_dbfs": LEVEL, "peak_dbfs": PEAK, "of": "audible 10-ms frames"},
        "longest_silence": {"seconds": in_seconds(SHORTEST_PAUSE), "but": "the pauses that were asked for"},
        "duration": in_seconds(sum(cue.duration for cue in cues)),
        "words": " and ".join(sources),
        "voice": str(task.voice),
        "persona": task.persona,
        "other_voice": None if task.other is None else str(task.other),
        "into": in_seconds(task.asking.into),
        "cues": [
            {"id": cue.id, "softer": cue.softer, "phrases": [_phrase(one) for one in cue.heard]} for cue in cues
        ],
    }  # fmt: skip


def _phrase(one: Heard) -> dict[str, Any]:
    level = {} if one.level is None or one.effect is None else {
        "effect": dict(one.effect),
        "level": {"asked_db": one.effect["level"], "heard_db": round(one.level, 2), "from": "the user's speech level"},
    }  # fmt: skip
    return {
        "who": one.who,
        "text": one.placed.text,
        "timestamp": times(one.placed.span),
        "time_from": "synthesiser",
        "voice": one.said.voice,
        **({"cut_at_a_word": True} if one.said.cut else {}),
        **level,
        "words_from": one.said.spoken.words_from,
        "words": [{"text": word.text, "timestamp": times(word.span)} for word in one.placed.words or ()],
    }


def _made(task: ActionTask, *, kept: bool, damaged: str = "") -> MadeAction:
    about: Mapping[str, Any] = read_json(task.folder / "script.json")
    return MadeAction(
        task.item.scenario, task.item.id, task.folder, round(about["duration"] * SECOND),
        about["words"], about["voice"], about["persona"], kept, damaged,
    )  # fmt: skip
