"""Switchboard: the words of Mississippi State University (ms98), and dialogue acts on them.

A conversation is ``swNNNNA-ms98-a-word.text`` and ``…B…`` (a line: utterance, start, end, word), with the
transcribers' lines in ``…-trans.text`` and, for some, acts in ``swNNNNA-word-da.csv`` (utterance, start, end, word,
``B``/``I``/``O``, tag, unit). Its recording is ``sw0NNNN`` or ``swNNNN`` with two channels, A the first, wherever it
lies. Words are as they were said: ``h[ow]-`` becomes ``h-`` and is marked as broken off, ``[laughter-yeah]`` is
``yeah``, ``them_1`` is ``them``; ``[laughter]`` and noises are no words.
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from fullduplex.data.audio import probe
from fullduplex.data.corpora.conversation import Act, Conversation, Recording, Side, Utterance
from fullduplex.data.corpora.gathered import Speaker, may_be_said
from fullduplex.data.corpora.recordings import files_below, is_audio, licence_in
from fullduplex.data.corpora.speakers import by_sound, within_recording
from fullduplex.data.files import LATEST, read_text_file
from fullduplex.errors import InputError
from fullduplex.model.spans import Span, Timeline, seconds
from fullduplex.model.speech import Word

FORMAT = "switchboard"
_FILE = re.compile(r"sw(\d{4})([AB])-(?:ms98-a-(word|trans)\.text|word-(da)\.csv)")
_SOUND = re.compile(r"sw0?(\d{4})", re.IGNORECASE)
_ARCHIVE = (".tar.gz", ".tgz", ".tar", ".zip")
_ORIGIN = (
    "words: the ms98 transcripts of Mississippi State University's Institute for Signal and Information Processing; "
    "recordings: Linguistic Data Consortium, LDC97S62"
)
#: Marks that are no words of this side: silence is nothing, the others are sounds.
_SILENCE = "[silence]"
_SOUNDS = ("[laughter]", "[vocalized-noise]", "[noise]")
_ASIDE = ("<b_aside>", "<e_aside>")
_LAUGHED = re.compile(r"\[laughter-(.+)\]")
_VARIANT = re.compile(r"\[([^\]/]*)/[^\]]*\]")
_NUMBERED = re.compile(r"_\d+$")
_UNSAID = re.compile(r"\[[^\]]*\]")


@dataclass(frozen=True, slots=True)
class Switchboard:
    """A folder of ms98 transcripts, however deep they lie; ``files`` by conversation, and by side and kind."""

    root: Path
    files: dict[str, dict[tuple[str, str], Path]]
    sounds: dict[str, Path]
    licence: str
    remarks: tuple[str, ...]
    format: str = FORMAT
    origin: str = _ORIGIN
    setting: str = "casual"

    @property
    def names(self) -> tuple[str, ...]:
        """Return the conversations that have the words of both sides."""
        return tuple(sorted(name for name, found in self.files.items() if _whole(found)))

    def recordings(self, name: str) -> tuple[Recording | None, Recording | None]:
        """Return the two channels of a conversation's recording, or None twice."""
        sound = self.sounds.get(name.removeprefix("sw"))
        return (None, None) if sound is None else (Recording(sound, 0), Recording(sound, 1))

    def read(self, name: str) -> Conversation:
        """Return one conversation.

        Raises :class:`InputError` on a line that cannot be meant, and where the recording is too short for the words,
        or by its sound has the sides the other way round.
        """
        first, second = (
            _side(side, self.files[name], recording)
            for side, recording in zip("AB", self.recordings(name), strict=True)
        )
        _is_theirs(first, second, self.files[name]["A", "word"])
        return Conversation(name, (first, second), "en")


def open_switchboard(root: Path, recordings: Path | None = None, *, without_words: bool = False) -> Switchboard | None:
    """Return the Switchboard corpus in ``root``, None where no file of it is one.

    ``recordings``: where its audio lies, if elsewhere; ``without_words``: audio alone will do.
    """
    files: dict[str, dict[tuple[str, str], Path]] = defaultdict(dict)
    archives = list[Path]()
    sounds = dict[str, Path]()
    remarks = list[str]()
    for path in files_below(root):
        if found := _FILE.fullmatch(path.name):
            kind = found[3] or found[4]
            if (found[2], kind) in files[f"sw{found[1]}"]:
                remarks.append(f"{path.name} is there more than once; the first is read")
            files[f"sw{found[1]}"].setdefault((found[2], kind), path)
        elif path.name.lower().endswith(_ARCHIVE):
            archives.append(path)
        elif is_audio(path) and (heard := _SOUND.match(path.stem)):
            sounds.setdefault(heard[1], path)
    if not files and not without_words:
        return None
    for path in files_below(recordings) if recordings else ():
        if is_audio(path) and (heard := _SOUND.match(path.stem)):
            sounds.setdefault(heard[1], path)
    remarks += [f"{path.name} is not read: unpack it to harvest what it holds" for path in archives]
    remarks += [f"{name} is left out: the words of both sides are needed" for name, f in files.items() if not _whole(f)]
    return Switchboard(root, dict(files), sounds, licence_in(root), tuple(remarks))


def _whole(found: dict[tuple[str, str], Path]) -> bool:
    return ("A", "word") in found and ("B", "word") in found


def _side(name: str, found: dict[tuple[str, str], Path], recording: Recording | None) -> Side:
    path = found[name, "word"]
    words, places, broken = list[Word](), dict[tuple[int, int], int](), set[int]()
    sounds, asides, aside = list[Span](), list[Span](), -1
    for n, (_, start, end, text) in _lines(path):
        span = Span(start, max(end, start + 1))
        if text in _ASIDE:
            if text == _ASIDE[1] and 0 <= aside < start:
                asides.append(Span(aside, start))
            aside = start if text == _ASIDE[0] else -1
        elif text in _SOUNDS:
            sounds.append(span)
        elif text != _SILENCE:
            said, whole = said_of(text)
            if not said:
                raise InputError(path, f"line {n}", found=text, expected="a word, or a mark of ms98")
            if words and start < words[-1].span.start:
                raise InputError(path, f"line {n}", found=f"{start / 1e6:g} s", expected="words in order of time")
            may_be_said(span, path, said)
            if not whole:
                broken.add(len(words))
            places.setdefault((start, end), len(words))
            words.append(Word(said, span))
    if 0 <= aside < (words[-1].span.end if words else 0):
        asides.append(Span(aside, words[-1].span.end))
    return Side(
        name, recording, tuple(words), "ms98", frozenset(broken),
        tuple(_utterances(found[name, "trans"])) if (name, "trans") in found else (),
        tuple(_acts(found[name, "da"], places)) if (name, "da") in found else (),
        Timeline(sounds), Timeline(asides),
    )  # fmt: skip


def _is_theirs(first: Side, second: Side, path: Path) -> None:
    """Raise :class:`InputError` where the recording of two sides is another's, or has them in each other's channel."""
    if first.recording is None or second.recording is None:
        return
    sound = first.recording.file
    ends = max((word.span.end for side in (first, second) for word in side.words or ()), default=0)
    within_recording(path, ends, probe(sound).duration, sound)
    speakers = [
        Speaker(side.name, words=[(word, True) for word in side.words or ()], sounds=list(side.sounds))
        for side in (first, second)
    ]
    if by_sound(speakers[0], speakers[1], (first.recording, second.recording), Timeline()) > 0:
        raise InputError(
            sound, found="the words of side A in the second channel, by their sound", expected="A in the first channel",
            do="exchange its channels, or leave it out",
        )  # fmt: skip


def said_of(text: str) -> tuple[str, bool]:
    """Return a word of ms98 as it was said, and whether it was said whole: ``h[ow]-`` is ``h-``, broken off.

    ``{coined}`` is ``coined``, ``[slip/meant]`` is ``slip``.
    """
    if laughed := _LAUGHED.fullmatch(text):
        text = laughed[1]
    text = _NUMBERED.sub("", _VARIANT.sub(r"\1", text)).strip("{}")
    broken = text.endswith("-") or text.startswith("-")
    return _UNSAID.sub("", text), not broken


def _utterances(path: Path) -> Iterable[Utterance]:
    for _, (_, start, end, text) in _lines(path):
        words = [said_of(word)[0] for word in text.split() if word not in (_SILENCE, *_SOUNDS, *_ASIDE)]
        if words and end > start:
            yield Utterance(" ".join(words), Span(start, end))


def _acts(path: Path, places: dict[tuple[int, int], int]) -> Iterable[Act]:
    """Yield the acts: words that stand together and belong to one unit. Those of no act (``O``) are in none."""
    tagged = list[tuple[str, str, int]]()
    for n, row in enumerate(csv.reader(io.StringIO(read_text_file(path))), 1):
        if len(row) != 7:
            expected = "utterance, start, end, word, B, I or O, tag, unit"
            raise InputError(path, f"line {n}", found=f"{len(row)} cells", expected=expected)
        where = places.get((_time(row[1], path, n), _time(row[2], path, n)))
        # What is no word of the transcript (laughter that an act was given) has no place among the words.
        if where is not None:
            tagged.append((row[5], row[6], where))
    tagged.sort(key=lambda one: one[2])
    for (tag, unit), members in groupby(tagged, key=lambda one: one[:2]):
        run = [where for *_, where in members]
        if unit:
            yield Act(tag, run[0], run[-1] + 1, unit)


def _lines(path: Path) -> Iterable[tuple[int, tuple[str, int, int, str]]]:
    """Yield the lines of a transcript with their numbers: utterance, start, end, text."""
    for n, line in enumerate(read_text_file(path).splitlines(), 1):
        if not line.strip():
            continue
        parts = line.split(maxsplit=3)
        if len(parts) != 4:
            raise InputError(path, f"line {n}", found=line[:60], expected="utterance, start, end and text")
        start, end = _time(parts[1], path, n), _time(parts[2], path, n)
        if not 0 <= start <= end:
            found = f"{parts[1]} to {parts[2]}"
            raise InputError(path, f"line {n}", found=found, expected="the start before the end, none negative")
        yield n, (parts[0], start, end, parts[3])


def _time(text: str, path: Path, line: int) -> int:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not abs(value) < LATEST:
        raise InputError(path, f"line {line}", found=text, expected="a time in seconds")
    return seconds(value)
