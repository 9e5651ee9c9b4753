"""One overlap item: a question, and over its answer, at a fixed time, something that may or may not be meant for it.

The item has a clean twin of the same length, in which nothing is said over the answer: every other sample is the same.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from math import log10
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.data import audio
from fullduplex.data.files import read_json, write_json
from fullduplex.errors import InputError
from fullduplex.making.effects import Background, OtherDirected
from fullduplex.making.effects.sound import speech_level
from fullduplex.making.item_folder import made_here, same_as_made, whole_folder
from fullduplex.making.joining import room, times
from fullduplex.making.make_item import content_of
from fullduplex.making.overlap_sources import Recorded
from fullduplex.making.overlap_speech import OverlapTask, Part, event_of, question_of, voices_of
from fullduplex.making.script import Phrase, Turn
from fullduplex.model.spans import SECOND, Span, in_seconds
from fullduplex.model.spec import digest
from fullduplex.model.speech import Word
from fullduplex.providers.voices import LEVEL, PEAK

#: Part of every item's digest: raised when the same source would be made into other bytes.
_VERSION = 1
#: The name of the recording that an effect brings in, which is at hand.
_LINE = "event"
#: No sample of an event is greater; what is left to full scale is the room's.
_MOST = 0.99


@dataclass(frozen=True, slots=True)
class MadeOverlap:
    """An item as it was made: where it lies, and whether it was there already.

    ``placed``: all its words have times. ``own_voice``: what the user says over the answer is in the user's own voice
    (None where it is not the user who speaks, or nobody can tell).
    """

    kind: str
    id: str
    folder: Path
    placed: bool
    own_voice: bool | None
    kept: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Placed:
    """An event in its item: what is to be added to the samples, when it is said, and until when anything is added."""

    added: NDArray[np.float32]
    span: Span
    sounds_until: int
    level: float
    effect: dict[str, Any] | None


def make_overlap(task: OverlapTask) -> MadeOverlap:
    """Make one item, and return it; one that was made from the same is kept.

    It is written whole or not at all. Raises :class:`InputError` where it cannot be spoken or read, or its folder
    holds what was not made here.
    """
    if task.folder.exists() and not made_here(task.folder, "overlaps"):
        found = "a folder that overlaps did not make"
        raise InputError(task.folder, found=found, expected="a new folder", do="choose another --out")
    mark = mark_of(task)
    if same_as_made(task.folder, mark):
        return _made(task, kept=True)
    question = question_of(task)
    event = event_of(task, question)
    _write(task, mark, question, event, _place(task, question, event))
    return _made(task, kept=False)


def is_made(task: OverlapTask) -> bool:
    """Tell whether the item is there, made from the same and whole."""
    return made_here(task.folder, "overlaps") and same_as_made(task.folder, mark_of(task))


def mark_of(task: OverlapTask) -> str:
    """Return the digest of all that an item is made from: it reads recordings, and speaks nothing."""
    talk = task.talk
    line = None if task.line is None else [task.line.text, _clip(task.lines, task.line)]
    effect = _effect(task.kind, 0)
    return digest(
        [
            [_VERSION, task.kind, task.seed, task.after, task.tail, task.rate, LEVEL, PEAK, task.language],
            [talk.speaker, talk.voice, list(talk.gaps), _said(talk.question, task), _said(talk.interruption, task)],
            [line, voices_of(task), task.recogniser and task.recogniser.to_json(), effect and effect.to_json()],
            *([dict(talk.rights)] if talk.rights else ()),
        ]
    )


def _said(said: Recorded | Turn | tuple[Turn, ...] | None, task: OverlapTask) -> Any:
    if said is None:
        return None
    if isinstance(said, Recorded):
        return [*said.to_json(), content_of(said.voice.path)]
    turns = said if isinstance(said, tuple) else (said,)
    return [
        [[[one.text, one.style, one.voice, _clip(task.clips, one)] for one in turn.phrases], list(turn.pauses)]
        for turn in turns
    ]


def _clip(folder: Path, phrase: Phrase) -> str:
    return content_of(folder / phrase.clip) if phrase.clip else ""


def _effect(kind: str, at: int) -> OtherDirected | Background | None:
    if kind == "talking_to_other":
        return OtherDirected(_LINE, at=at)
    return Background(_LINE, at=at) if kind == "background_speech" else None


def _place(task: OverlapTask, question: Part, event: Part) -> _Placed:
    """Return the event ``after`` the question's last audible sample, as loud as its kind wants it.

    The user's own words are as loud as the question; others have the level of their effect. What would go
    beyond full scale is made softer, and its level tells.
    """
    rate, length = task.rate, len(event.samples)
    first = len(question.samples) + task.after * rate // SECOND
    whole = np.zeros(first + length + task.tail * rate // SECOND, np.float32)
    whole[: len(question.samples)] = question.samples
    effect = _effect(task.kind, first * SECOND // rate)
    user = speech_level(question.samples, rate)
    if effect is None:
        added = np.zeros_like(whole)
        added[first : first + length] = event.samples * np.float32(user / speech_level(event.samples, rate))
    else:
        random = np.random.default_rng([task.seed, zlib.crc32(task.talk.speaker.encode("utf-8", "replace"))])
        added = effect.make(whole, rate, random=random, load=lambda name: event.samples).samples
    added *= np.float32(min(1.0, _MOST / float(np.abs(added).max())))
    level = 20 * log10(speech_level(added[first : first + length], rate) / user)
    until = int(np.flatnonzero(added)[-1]) + 1
    span = Span(first * SECOND // rate, (first + length) * SECOND // rate)
    return _Placed(added, span, until * SECOND // rate, level, None if effect is None else effect.to_json())


def _write(task: OverlapTask, mark: str, question: Part, event: Part, placed: _Placed) -> None:
    clean = room(len(placed.added), task.seed, task.talk.speaker)
    clean[: len(question.samples)] += question.samples
    told = question.words
    both = None if told is None or event.words is None else (*told, *_shifted(event.words, placed.span.start))
    with whole_folder(task.folder) as half:
        audio.write(half / "input.wav", clean + placed.added, task.rate)
        audio.write(half / "clean_input.wav", clean, task.rate)
        metadata = {
            "context_text": question.text,
            "current_turn_text": event.text,
            "timestamps": times(placed.span),
        }
        write_json(half / "metadata.json", metadata)
        for name, words in (("input", both), ("clean_input", told)):
            if words is not None:
                write_json(half / f"{name}.json", {"text": " ".join(w.text for w in words), "chunks": _chunks(words)})
        files = sorted(path.name for path in half.iterdir())
        script = _script(task, question, event, placed)
        write_json(half / "script.json", {"made_for": "overlaps", "digest": mark, "files": files, **script})


def _script(task: OverlapTask, question: Part, event: Part, placed: _Placed) -> dict[str, Any]:
    asked = placed.effect["level"] if placed.effect else 0.0
    return {
        "dataset": task.kind,
        "id": task.talk.name,
        "task": task.kind,
        "language": task.language,
        "source": {"dataset": task.talk.dataset, "id": task.talk.id, **task.talk.rights},
        "seed": task.seed,
        "rate": task.rate,
        "after": in_seconds(task.after),
        "tail": in_seconds(task.tail),
        "duration": in_seconds(len(placed.added) * SECOND // task.rate),
        "voice": question.voice,
        "question": _told(question, Span(0, len(question.samples) * SECOND // task.rate)),
        "event": {
            **_told(event, placed.span),
            "own_voice": event.own,
            "sounds_until": in_seconds(placed.sounds_until),
            "effect": placed.effect,
            "level": {"asked_db": asked, "heard_db": round(placed.level, 2), "from": "the question's speech level"},
        },
    }


def _told(part: Part, span: Span) -> dict[str, Any]:
    return {
        "text": part.text,
        "timestamp": times(span),
        "time_from": part.time_from,
        "voice": part.voice,
        "words_from": part.words_from,
        "words": None if part.words is None else _chunks(_shifted(part.words, span.start)),
    }


def _shifted(words: tuple[Word, ...], by: int) -> tuple[Word, ...]:
    return tuple(Word(word.text, word.span.shift(by)) for word in words)


def _chunks(words: tuple[Word, ...]) -> list[dict[str, Any]]:
    return [{"text": word.text, "timestamp": times(word.span)} for word in words]


def _made(task: OverlapTask, *, kept: bool) -> MadeOverlap:
    about = read_json(task.folder / "script.json")
    placed = "input.json" in about["files"]
    own = about["event"]["own_voice"]
    return MadeOverlap(task.kind, task.talk.name, task.folder, placed, own, kept)
