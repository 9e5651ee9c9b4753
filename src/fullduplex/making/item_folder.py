"""A made item on disk: the official files of its task, and ``script.json`` with everything that is exact about it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.data import audio
from fullduplex.data.files import read_json, write_json
from fullduplex.data.writers import is_abandoned, writers_mark
from fullduplex.errors import InputError
from fullduplex.making.joining import Phrase, join, room, times
from fullduplex.making.script import Dialogue
from fullduplex.making.speaking import Said
from fullduplex.model.spans import SECOND, Span, in_seconds

_HALF = ".synth-"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Laid:
    """An item laid out in time. ``turns`` are its phrases where they sound; ``samples`` has no room yet.

    ``lead``, ``gaps`` and ``after`` are the silences before, between and after the turns, in microseconds.
    """

    turns: tuple[tuple[Phrase, ...], ...]
    samples: NDArray[np.float32]
    rate: int
    lead: int
    gaps: tuple[int, ...]
    after: int
    seed: int

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """Return the phrases of all turns."""
        return tuple(phrase for turn in self.turns for phrase in turn)

    def sound(self, turn: int) -> NDArray[np.float32]:
        """Return the samples of one turn, its pauses included."""
        first, last = self.turns[turn][0].span.start, self.turns[turn][-1].span.end
        return self.samples[_sample(first, self.rate) : _sample(last, self.rate)]


def _sample(time: int, rate: int) -> int:
    """Return the sample whose time, cut to whole microseconds, is ``time``."""
    return -(-time * rate // SECOND)


def lay_out(
    dialogue: Dialogue, said: Sequence[Sequence[Said]], gaps: Sequence[int], lead: int, after: int, rate: int, seed: int
) -> Laid:
    """Return what was said with the script's pauses inside its turns and ``gaps`` between them."""
    flat = [one for turn in said for one in turn]
    silences = list[int]()
    for number, script in enumerate(dialogue.turns):
        silences += [*script.pauses, *gaps[number : number + 1]]
    phrases, samples = join(
        [one.phrase.text for one in flat], [one.spoken for one in flat], silences, lead, after, rate
    )
    turns, at = list[tuple[Phrase, ...]](), 0
    for turn in said:
        turns.append(phrases[at : at + len(turn)])
        at += len(turn)
    return Laid(tuple(turns), samples, rate, lead, tuple(gaps), after, seed)


def made_here(folder: Path, by: str = "synth") -> bool:
    """Tell whether ``folder`` is an item that the command ``by`` made."""
    return _script_of(folder).get("made_for") == by


def same_as_made(folder: Path, mark: str) -> bool:
    """Tell whether ``folder`` is the item with this digest, with every file that it was made with."""
    about = _script_of(folder)
    return about.get("digest") == mark and all((folder / str(name)).is_file() for name in about.get("files", ["?"]))


def _script_of(folder: Path) -> Mapping[str, Any]:
    try:
        about = read_json(folder / "script.json")
    except InputError:
        return {}
    return about if isinstance(about, dict) else {}


def clear_halves(dataset: Path) -> None:
    """Remove what a killed maker left half-written in the folder of a dataset, and nothing of one that still writes."""
    for left in dataset.glob(f"{_HALF}*"):
        if is_abandoned(left, left.name.removeprefix(_HALF)):
            _remove(left)


def _remove(folder: Path) -> None:
    """Remove a folder, or a link to one: what it leads to stays."""
    if folder.is_symlink():
        folder.unlink(missing_ok=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)


def _half_beside(folder: Path) -> Path:
    """Return a new name for a folder that is half-written; it tells which process of which machine writes it."""
    return folder.with_name(f"{_HALF}{writers_mark()}")


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Give a new folder to write to; on success it takes the place of ``folder``, and of what was in it.

    Raises :class:`InputError` where nothing can be written.
    """
    half = _half_beside(folder)
    try:
        half.mkdir(parents=True)
        yield half
        if folder.exists():
            old = _half_beside(folder)
            folder.rename(old)
            half.rename(folder)
            _remove(old)
        else:
            half.rename(folder)
    except OSError as error:
        raise InputError(folder, found=error.strerror or str(error), expected="a place to write to") from error
    finally:
        shutil.rmtree(half, ignore_errors=True)


def write_item_folder(
    folder: Path, dialogue: Dialogue, item: Laid, said: Sequence[Said], about: Mapping[str, Any]
) -> None:
    """Write the item, whole or not at all; an item made here before is replaced."""
    with whole_folder(folder) as half:
        _write_sound(half, dialogue, item)
        _write_event(half, dialogue, item)
        _write_words(half, item)
        files = sorted(path.name for path in half.iterdir())
        write_json(half / "script.json", {**about, "files": files, **_script(dialogue, item, said)})


def _write_sound(folder: Path, dialogue: Dialogue, item: Laid) -> None:
    noise = room(len(item.samples), item.seed, f"{dialogue.dataset}/{dialogue.id}")
    audio.write(folder / "input.wav", item.samples + noise, item.rate)
    if dialogue.task == "user_interruption":
        before = item.turns[:-1]
        end = _sample(before[-1][-1].span.end, item.rate)
        audio.write(folder / "context.wav", item.samples[_sample(before[0][0].span.start, item.rate) : end], item.rate)
        audio.write(folder / "interrupt.wav", item.sound(len(item.turns) - 1), item.rate)


def _pauses(item: Laid) -> list[Span]:
    return [Span(a.span.end, b.span.start) for turn in item.turns for a, b in pairwise(turn)]


def _write_event(folder: Path, dialogue: Dialogue, item: Laid) -> None:
    last = item.turns[-1]
    if dialogue.task == "pause_handling":
        write_json(folder / "pause.json", [{"text": "[PAUSE]", "timestamp": times(gap)} for gap in _pauses(item)])
    elif dialogue.task == "smooth_turn_taking":
        # The second time is the other speaker's start; there is none, so it is the turn's end too.
        end = in_seconds(last[-1].span.end)
        write_json(folder / "turn_taking.json", [{"text": "[TURN-TAKING]", "timestamp": [end, end]}])
    elif dialogue.task == "user_interruption":
        context = " ".join(turn.text for turn in dialogue.turns[:-1])
        span = Span(last[0].span.start, last[-1].span.end)
        event = {"context": context, "interrupt": dialogue.turns[-1].text, "timestamp": times(span)}
        write_json(folder / "interrupt.json", [event])


def _write_words(folder: Path, item: Laid) -> None:
    """Write transcription.json, and input.json where every word is placed; phrases stand in where one is not."""
    told = []
    for phrase in item.phrases:
        if phrase.words is None:
            told.append({"text": phrase.text, "timestamp": times(phrase.span)})
        else:
            told += [{"text": word.text, "timestamp": times(word.span)} for word in phrase.words]
    write_json(folder / "transcription.json", [{"speaker": 0, "item": told}])
    if all(phrase.words is not None for phrase in item.phrases):
        write_json(folder / "input.json", {"text": " ".join(str(one["text"]) for one in told), "chunks": told})


def _script(dialogue: Dialogue, item: Laid, said: Sequence[Said]) -> dict[str, Any]:
    """Return what is exact: each phrase with its voice, its words and where their times are from, and the pauses."""
    number = [at for at, turn in enumerate(item.turns) for _ in turn]
    asked = [pause for turn in dialogue.turns for pause in turn.pauses]
    sources = sorted({one.spoken.words_from for one in said if one.spoken.words_from})
    return {
        "duration": in_seconds(len(item.samples) * SECOND // item.rate),
        "voice": next((one.voice for one in said if one.voice), None),
        "words": " and ".join(sources) if all(one.spoken.words is not None for one in said) else "",
        "processed": sorted({one.phrase.style for one in said if one.phrase.style}),
        "phrases": [
            {
                "turn": turn,
                "text": phrase.text,
                "timestamp": times(phrase.span),
                "time_from": "synthesiser" if not one.phrase.clip else "recording",
                "voice": one.voice,
                **({"clip": one.phrase.clip} if one.phrase.clip else {}),
                **({"processed": one.phrase.style} if one.phrase.style else {}),
                **({"cut_at_a_word": True} if one.cut else {}),
                "words_from": one.spoken.words_from,
                "words": [{"text": word.text, "timestamp": times(word.span)} for word in phrase.words or ()],
            }
            for turn, phrase, one in zip(number, item.phrases, said, strict=True)
        ],
        "pauses": [
            {"timestamp": times(span), "asked": in_seconds(length), "time_from": "synthesiser"}
            for span, length in zip(_pauses(item), asked, strict=True)
        ],
        "answer": dialogue.answer,
        "reply": dialogue.reply,
    }
