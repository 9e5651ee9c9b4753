"""The demo's talks: three scripted systems, really driven, on every item.

The good listener waits in pauses, nods at phrase ends, answers 0.4 s after a turn, stops 0.3 s
after it is interrupted and replies 0.6 s after the interruption. The interrupter answers every silence of
0.3 s and talks through. The mute says nothing. A report that shows anything else is wrong.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from fullduplex.data import audio
from fullduplex.data.files import read_json, write_json
from fullduplex.driving.clock import run_virtual
from fullduplex.driving.cues import at
from fullduplex.driving.drive import Talk, Turn, drive
from fullduplex.driving.heard import words_heard
from fullduplex.driving.keep import write_received
from fullduplex.errors import InputError
from fullduplex.making.demo_scripts import NODS, Lines, scripts, system_voice
from fullduplex.model.spans import SECOND, in_seconds, ms, seconds
from fullduplex.model.spec import digest
from fullduplex.model.speech import Word
from fullduplex.systems.scripted import Answer, Script, Scripted, Sound

ANSWERS_AFTER, REPLIES_AFTER, STOPS_AFTER, NODS_AFTER = ms(400), ms(600), ms(300), ms(250)
INTRUDES_AFTER = ms(300)
#: A phrase's last audible sample lies within this of its end, whatever resampling and noise do.
_NEAR = ms(100)


@dataclass(frozen=True, slots=True)
class TalkTask:
    """One talk to hold: an item's folder, the folder to write, and which of the demo's systems."""

    item: Path
    out: Path
    system: str
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Held:
    """What became of a talk, in a row: its length in microseconds, the words heard, and whether frames were late."""

    out: Path
    system: str
    duration: int
    words: int
    late: bool


def demo_systems() -> tuple[str, ...]:
    """Return the names of the demo's systems."""
    return tuple(_SYSTEMS)


def talk_tasks(items: Path, system: str, out: Path, seed: int = 0) -> Iterator[TalkTask]:
    """Yield a task for each of the demo's items in ``items``."""
    for lines in scripts():
        place = Path(lines.dataset, lines.id)
        yield TalkTask(items / place, out / place, system, seed)


def hold(items: Path, system: str, out: Path, seed: int = 0) -> list[Held]:
    """Hold every talk of ``system`` one after another; see :func:`hold_one`."""
    return [hold_one(task) for task in talk_tasks(items, system, out, seed)]


def hold_one(task: TalkTask) -> Held:
    """Drive the task's system with the item on the virtual clock, and write the item's folder with what was heard.

    Written: the item's own files; ``output.wav``, by playout and as long as the input; the log of what
    came; ``words.json``, all words and that they are the synthesiser's own; ``output.json``, in the
    shape of the released recogniser's files: of an interruption it holds the words that begin after
    its end. The same task writes the same bytes. Raises :class:`InputError` on an item that is not the demo's.
    """
    lines = next((lines for lines in scripts() if (lines.dataset, lines.id) == task.item.parts[-2:]), None)
    if lines is None or task.system not in _SYSTEMS:
        raise InputError(task.item, found=task.system, expected=f"an item of the demo and one of {', '.join(_SYSTEMS)}")
    samples, rate = audio.read(task.item / "input.wav")
    system = _SYSTEMS[task.system](lines, _phrases(task.item), rate)
    duration = len(samples) * SECOND // rate
    talk = run_virtual(drive(system, [Turn(samples, at(0))], length=duration))
    words = words_heard(talk.placed, talk.notes, talk.rate, length=duration)
    task.out.mkdir(parents=True, exist_ok=True)
    for file in sorted(task.item.iterdir()):
        shutil.copyfile(file, task.out / file.name)
    _write(task.out, talk, words)
    return Held(task.out, task.system, duration, len(words), talk.pacing.late)


def _write(out: Path, talk: Talk, words: tuple[Word, ...]) -> None:
    audio.write(out / "output.wav", talk.system, talk.rate)
    write_received(out, talk)
    write_json(out / "words.json", _all_words(out, words))
    interrupt = out / "interrupt.json"
    if interrupt.exists():
        end = seconds(read_json(interrupt)[0]["timestamp"][1])
        words = tuple(word for word in words if word.span.start >= end)
    write_json(out / "output.json", _as_recognised(words))


def _all_words(out: Path, words: tuple[Word, ...]) -> dict[str, Any]:
    """Return both sides' words in a run's own layout; the user's where the user's voice places them."""
    spec = system_voice().spec
    rows = [[word.text, in_seconds(word.span.start), in_seconds(word.span.end), None] for word in words]
    tracks = {"output": {"from": f"synthesiser {spec.name}", "words": rows}}
    if (out / "input.json").exists():
        chunks = read_json(out / "input.json")["chunks"]
        voice = read_json(out / "script.json")["voice"]["name"]
        rows = [[chunk["text"], *chunk["timestamp"], None] for chunk in chunks]
        tracks["input"] = {"from": f"synthesiser {voice}", "words": rows}
    return {"schema": 1, "spec": spec.to_json(), "digest": digest(tracks), "tracks": tracks}


def _as_recognised(words: tuple[Word, ...]) -> dict[str, Any]:
    chunks = [
        {"text": word.text, "timestamp": [in_seconds(word.span.start), in_seconds(word.span.end)]} for word in words
    ]
    return {"text": " ".join(word.text for word in words), "chunks": chunks}


#: Start and end of each phrase, in microseconds.
_Phrases = tuple[tuple[int, int], ...]


def _phrases(item: Path) -> _Phrases:
    told = read_json(item / "script.json")["phrases"]
    return tuple((seconds(phrase["timestamp"][0]), seconds(phrase["timestamp"][1])) for phrase in told)


@lru_cache(maxsize=256)
def _sound(text: str) -> Sound:
    spoken = system_voice().speak(text)
    return Sound(spoken.samples, text, tuple((w.text, w.span.start, w.span.end) for w in spoken.words or ()))


def _good_listener(lines: Lines, phrases: _Phrases, rate: int) -> Scripted:
    told: list[Answer] = [
        Answer(_sound(NODS[i % len(NODS)]), NODS_AFTER, phrases[nod][1] - _NEAR) for i, nod in enumerate(lines.nods)
    ]
    if not lines.nods:
        turn = len(lines.phrases) - 1
        told.append(Answer(_sound(lines.answer), ANSWERS_AFTER, phrases[turn][1] - _NEAR))
    if lines.interrupt:
        told.append(Answer(_sound(lines.reply), REPLIES_AFTER, phrases[-1][1] - _NEAR))
    # A nod is over before anyone could mind, so stopping is for answers.
    yields = None if lines.nods else STOPS_AFTER
    return Scripted(Script(tuple(told), yields), "good-listener", burst=True, rate_in=rate)


def _interrupter(lines: Lines, phrases: _Phrases, rate: int) -> Scripted:
    told = Answer(_sound(lines.answer), INTRUDES_AFTER, again=True)
    return Scripted(Script((told,)), "interrupter", chunk=ms(80), rate_in=rate)


def _mute(lines: Lines, phrases: _Phrases, rate: int) -> Scripted:
    return Scripted(Script(), "mute", rate_in=rate)


_SYSTEMS: dict[str, Callable[[Lines, _Phrases, int], Scripted]] = {
    "good-listener": _good_listener,
    "interrupter": _interrupter,
    "mute": _mute,
}
