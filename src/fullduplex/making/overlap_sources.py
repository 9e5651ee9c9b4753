"""Where overlap items take their questions from: a dialogue script, or a folder of items with recordings.

The question is what the user says before the interruption; where nothing interrupts, the first turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from fullduplex.data.discover import open_dataset
from fullduplex.data.entries import Entry, Voice
from fullduplex.data.fdb_folder import load_trial
from fullduplex.data.fdb_json import words_of
from fullduplex.data.files import read_json
from fullduplex.errors import InputError
from fullduplex.making.script import Dialogue, Turn
from fullduplex.making.script_file import read_script
from fullduplex.model.items import Event
from fullduplex.model.spans import Span, ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Word
from fullduplex.model.trials import Trial

#: Words further apart than this begin another turn, as in the French Full-Duplex-Bench.
TURN_GAP = seconds(2)
#: This much sound around the first and the last word belongs to a turn, in a recording whose words are placed.
AROUND = ms(200)
#: Voices that a made item may name as its own: none of them reads a file or calls a server.
_OWN_VOICES = ("kokoro", "hibari", "pico")


@dataclass(frozen=True, slots=True)
class Recorded:
    """Speech in a recording: all of the file, or ``span`` of it.

    ``words`` are on the file's clock; None where nothing places them. ``text`` is what is said, "" where
    nothing tells.
    """

    voice: Voice
    span: Span | None = None
    text: str = ""
    words: tuple[Word, ...] | None = None
    words_from: str = ""

    def to_json(self) -> list[Any]:
        """Return what is said and where, without the file."""
        words = None if self.words is None else [[word.text, word.span.start, word.span.end] for word in self.words]
        span = None if self.span is None else [self.span.start, self.span.end]
        return [self.voice.channel, span, self.text, words, self.words_from]


@dataclass(frozen=True, slots=True)
class Talk:
    """What one speaker says: a question and, where there is one, what interrupts its answer.

    Either as turns to speak, the question's with ``gaps`` between them, or as recordings. ``spoken_by`` is the voice
    of a recording that tells it; ``voice`` that of a script that says one. ``name`` is the id of its items. ``rights``
    is what a recording's item tells of its corpus: the ``licence``, and ``where`` the corpus is to be had.
    """

    dataset: str
    id: str
    question: Recorded | tuple[Turn, ...]
    interruption: Recorded | Turn | None = None
    gaps: tuple[int | None, ...] = ()
    voice: str = ""
    spoken_by: Spec | None = None
    name: str = ""
    rights: Mapping[str, str] = field(default_factory=dict)

    @property
    def speaker(self) -> str:
        """Return who speaks, which tells a voice of a pool: the one that ``synth`` gives the dialogue."""
        return f"{self.dataset}/{self.id}"


@dataclass(frozen=True, slots=True)
class Talks:
    """The talks of a source, those with an interruption first, names all different.

    ``left_out`` says which items of it gave none, and why; ``clips`` is where the recordings that a script names lie.
    """

    talks: tuple[Talk, ...]
    clips: Path
    left_out: tuple[tuple[str, str], ...] = ()


def read_talks(source: Path, language: str) -> Talks:
    """Return the talks of a script (a file) or of a folder of items; raises :class:`InputError` where there are none.

    Of a script: every dialogue that has ``language``. Of a folder: every item that
    :func:`fullduplex.data.discover.open_dataset` finds and that tells where its question ends: an interruption's
    start, a turn's annotated end, or the user's words (``input.json``, or ``transcription.json`` of one speaker).
    """
    try:
        is_folder = source.is_dir()
    except (OSError, ValueError):
        is_folder = False
    if is_folder:
        return _of_folder(source)
    entries = read_script(source)
    talks = [_of_dialogue(entry.dialogues[language]) for entry in entries if language in entry.dialogues]
    left_out = [
        (f"{e.dataset}/{e.id}", f"it has no lines in {language!r}") for e in entries if language not in e.dialogues
    ]
    if not talks:
        raise InputError(source, found=f"no dialogue in {language}", expected="at least one")
    return Talks(_in_order(talks), source.parent, tuple(left_out))


def _of_dialogue(dialogue: Dialogue) -> Talk:
    if dialogue.task == "user_interruption":
        *before, last = dialogue.turns
        gaps = dialogue.gaps[: len(before) - 1]
        return Talk(dialogue.dataset, dialogue.id, tuple(before), last, gaps, dialogue.voice)
    return Talk(dialogue.dataset, dialogue.id, dialogue.turns[:1], voice=dialogue.voice)


def _of_folder(source: Path) -> Talks:
    try:
        dataset = open_dataset(source)
    except InputError as error:
        if error.field != "task":
            raise
        # What the items are of matters little here: any one task lets them be found.
        dataset = open_dataset(source, task="backchannel")
    talks, left_out = list[Talk](), list[tuple[str, str]]()
    for entry in dataset.entries:
        found = _of_entry(entry)
        if isinstance(found, Talk):
            talks.append(found)
        else:
            left_out.append((entry.key, found))
    if not talks:
        name, why = left_out[0]
        raise InputError(source, name, found=why, expected="an item that tells where the user's question ends")
    return Talks(_in_order(talks), source, tuple(left_out))


def _of_entry(entry: Entry) -> Talk | str:
    """Return the talk of an item, or the reason why it gives none."""
    voice = entry.user_voice
    separate = {
        name: Voice(entry.files[f"{name}.wav"]) for name in ("context", "interrupt") if f"{name}.wav" in entry.files
    }
    if voice is None and len(separate) < 2:
        return "no recording of the user"
    trial = load_trial(entry)
    if trial.failed:
        return trial.failed
    words = _words(trial)
    talk = Talk(entry.set, entry.id, (), spoken_by=_spoken_by(entry), rights=_rights(entry))
    event = _interruption(trial, entry)
    if event is not None:
        context = str(trial.item.reference.get("context", ""))
        if voice is None or (words is None and len(separate) == 2):
            question = Recorded(separate["context"], None, context)
            return replace(talk, question=question, interruption=Recorded(separate["interrupt"], None, event.text))
        if event.span.start < 1:
            return "an interruption at 0 s, before any question"
        question = _cut(voice, Span(0, event.span.start), context, words, trial.user.words_from)
        said = _cut(voice, event.span, event.text, words, trial.user.words_from)
        return replace(talk, question=question, interruption=said)
    if voice is None:
        return "no recording of the user"
    end = next((event.span.start for event in trial.events if event.kind == "turn_end"), 0)
    if end:
        return replace(talk, question=_cut(voice, Span(0, end), "", words, trial.user.words_from))
    if not words:
        return "nothing tells where the first turn ends: no input.json, and no transcription.json of one speaker"
    turn = _first_turn(words)
    whole = Span(0, turn[-1].span.end + AROUND)
    return replace(talk, question=_cut(voice, whole, "", words, trial.user.words_from))


def _interruption(trial: Trial, entry: Entry) -> Event | None:
    wanted = ("interruption", *(["overlap"] if entry.task == "user_interruption" else []))
    return next((event for event in trial.events if event.kind in wanted), None)


def _words(trial: Trial) -> tuple[Word, ...] | None:
    """Return the user's words: of ``input.json``, or of a transcription with one speaker."""
    if trial.user.words is not None:
        return trial.user.words
    said: Sequence[Any] = trial.item.reference.get("transcription", ())
    if len({speaker for speaker, _ in said}) != 1:
        return None
    words = tuple(sorted((word for _, tokens in said for word in words_of(tokens)), key=lambda word: word.span))
    return words or None


def _first_turn(words: Sequence[Word]) -> tuple[Word, ...]:
    ends = [words[0].span.end]
    for word in words:
        ends.append(max(ends[-1], word.span.end))
    together = takewhile(lambda pair: pair[0].span.start - pair[1] <= TURN_GAP, zip(words, ends, strict=False))
    return tuple(word for word, _ in together)


def _cut(voice: Voice, window: Span, text: str, words: Sequence[Word] | None, words_from: str) -> Recorded:
    """Return the speech in ``window``; where its words are placed, no more than ``AROUND`` before and after them."""
    # A word belongs where its middle lies: an annotated end and a recogniser's may differ by a little.
    inside = tuple(word for word in words or () if (word.span.start + word.span.end) // 2 in window)
    inside = tuple(Word(word.text, shared) for word in inside if (shared := word.span & window))
    if not inside:
        return Recorded(voice, window, text)
    start = max(window.start, inside[0].span.start - AROUND)
    end = min(window.end, max(word.span.end for word in inside) + AROUND)
    return Recorded(
        voice, Span(start, end), text or " ".join(word.text for word in inside), inside, words_from or "reference"
    )


def _spoken_by(entry: Entry) -> Spec | None:
    """Return the voice that made an item of ours, None where nothing tells one that may be used."""
    try:
        voice = _script_of(entry)["voice"]
        name, options = voice["name"], voice["options"]
    except (TypeError, KeyError):
        return None
    # The file may be anybody's: it may choose a speaker and nothing that reads a file or calls a server.
    plain = isinstance(options, dict) and all(isinstance(one, str | int | float) for one in options.values())
    return Spec(name, options) if name in _OWN_VOICES and plain else None


def _rights(entry: Entry) -> dict[str, str]:
    """Return what an item that was harvested from a corpus tells of the corpus; {} where it tells nothing."""
    about = _script_of(entry)
    return {name: told for name in ("licence", "where") if isinstance(told := about.get(name), str) and told}


def _script_of(entry: Entry) -> Mapping[str, Any]:
    """Return the script.json beside a recording, {} where there is none that can be read."""
    if entry.user_voice is None:
        return {}
    try:
        about = read_json(entry.user_voice.path.with_name("script.json"))
    except InputError:
        return {}
    return about if isinstance(about, dict) else {}


def _in_order(talks: Sequence[Talk]) -> tuple[Talk, ...]:
    """Return the talks, those with an interruption first: v1.5 is made of them, and interruption k is v1.0's.

    Each is named by its id; a later one of the same id by its set's name too.
    """
    named, seen = list[Talk](), set[str]()
    for talk in sorted(talks, key=lambda talk: talk.interruption is None):
        name = talk.id if talk.id not in seen else f"{talk.dataset}-{talk.id}"
        seen.add(name)
        named.append(replace(talk, name=name))
    return tuple(named)
