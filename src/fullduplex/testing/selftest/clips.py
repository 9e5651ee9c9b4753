"""The sounds that are planted: what each says, and its first and last sample that count.

The truth is a rule about samples, and nobody's judgement: sound begins with the first and ends with the last
sample within 40 dB of the clip's peak. A real recording is cut into utterances by the same rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.data import audio
from fullduplex.data.files import read_json, write_json
from fullduplex.errors import InputError, printable
from fullduplex.model.spans import SECOND, Span, in_seconds, ms, seconds
from fullduplex.providers.voices import Voice, levelled
from fullduplex.systems.scripted import Sound
from fullduplex.testing.selftest.texts import NODS, SENTENCES, USERS

#: The rate of everything that is planted.
RATE = 24_000
#: Sound is what lies within this many dB of its clip's peak.
DEPTH = 40.0
#: A real recording is cut where it is quieter than that by so many dB, lest its background pass for the truth, and
#: for so long; pieces outside these lengths are not used.
SPARE = 6.0
APART, SHORTEST, LONGEST = ms(250), ms(400), seconds(4)
#: At most so many pieces of one recording, and of all.
PIECES, ALL_PIECES = 12, 48
_SUFFIXES = frozenset([".wav", ".flac", ".ogg", ".opus", ".mp3", ".m4a", ".aif", ".aiff", ".au"])


@dataclass(frozen=True, slots=True)
class Clip:
    """A sound on disk. ``role``: ``nod``, ``sentence``, ``user``.

    ``words`` are ``(text, start, end)`` in microseconds, or None where the synthesiser does not tell.
    ``first`` and ``last`` are its truth, in samples at :data:`RATE`: the first that counts, and the one after the last.
    """

    file: str
    role: str
    text: str
    voice: str
    length: int
    first: int
    last: int
    words: tuple[tuple[str, int, int], ...] | None = None

    @property
    def duration(self) -> int:
        """Return the length of the whole clip in microseconds."""
        return self.length * SECOND // RATE

    def to_json(self) -> dict[str, Any]:
        """Return the clip, times in decimal seconds."""
        words = None if self.words is None else [[t, in_seconds(a), in_seconds(b)] for t, a, b in self.words]
        return {
            "file": self.file,
            "role": self.role,
            "text": self.text,
            "voice": self.voice,
            "samples": self.length,
            "truth": [self.first, self.last],
            "words": words,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Clip:
        """Return the clip that :meth:`to_json` wrote."""
        words = value["words"]
        told = None if words is None else tuple((t, seconds(a), seconds(b)) for t, a, b in words)
        first, last = value["truth"]
        return cls(value["file"], value["role"], value["text"], value["voice"], value["samples"], first, last, told)


def truth(samples: audio.Samples, peak: float | None = None) -> tuple[int, int] | None:
    """Return the first sample within :data:`DEPTH` dB of ``peak`` (the clip's own if None), and the one after the last.

    None where there is no such sample, or nothing but silence.
    """
    size = np.abs(samples)
    peak = float(size.max(initial=0.0)) if peak is None else peak
    loud = np.flatnonzero(size >= peak * 10 ** (-DEPTH / 20))
    return (int(loud[0]), int(loud[-1]) + 1) if peak > 0 and len(loud) else None


@dataclass(frozen=True, slots=True)
class VoiceTask:
    """The texts that one voice says, and the folder for its clips. ``texts`` are ``(role, text)``."""

    name: str
    voice: Voice
    texts: tuple[tuple[str, str], ...]
    folder: Path


def speak_clips(task: VoiceTask) -> list[dict[str, Any]]:
    """Write a FLAC file for each text of the task, and return the clips as JSON objects."""
    made = []
    for i, (role, text) in enumerate(task.texts):
        spoken = task.voice.speak(text)
        words = None if spoken.words is None else tuple((w.text, w.span.start, w.span.end) for w in spoken.words)
        samples = audio.resample(spoken.samples, spoken.rate, RATE)
        made.append(_written(task.folder, f"{task.name}-{i:03d}.flac", samples, role, text, task.name, words))
    return made


def _written(
    folder: Path,
    file: str,
    samples: audio.Samples,
    role: str,
    text: str,
    voice: str,
    words: tuple[tuple[str, int, int], ...] | None,
) -> dict[str, Any]:
    held = np.clip(np.rint(samples * 32768), -32768, 32767).astype(np.float32) / np.float32(32768)
    found = truth(held)
    if found is None:
        raise InputError(file, found="silence", expected="a voice that can be heard")
    audio.write(folder / file, held, RATE)
    return Clip(file, role, text, voice, len(held), *found, words).to_json()


def texts_for(index: int, voices: int) -> tuple[tuple[str, str], ...]:
    """Return the texts of voice ``index`` of ``voices``: every nod and sentence, and its share of the users'."""
    own = [("nod", text) for text in NODS] + [("sentence", text) for text in SENTENCES]
    return tuple(own + [("user", text) for i, text in enumerate(USERS) if i % voices == index])


@dataclass(frozen=True, slots=True)
class RealTask:
    """Folders of recordings (or files) that are cut into utterances, and the folder for those."""

    sources: tuple[Path, ...]
    name: str
    folder: Path


def cut_clips(task: RealTask) -> list[dict[str, Any]]:
    """Write each utterance of the task's recordings as a clip, and return them as JSON objects.

    A recording is averaged to one channel, and its pieces get the level of every voice. It is cut where nothing is
    within :data:`DEPTH` and :data:`SPARE` dB of its peak for :data:`APART`; each piece begins and ends with the sample
    that its own peak decides. One whose background is louder than that never falls silent, and gives none.
    Raises :class:`InputError` where there is no recording at all.
    """
    made: list[dict[str, Any]] = []
    for path in [path for source in task.sources for path in _recordings(source)]:
        samples, rate = audio.read(path)
        pieces = list(utterances(audio.resample(samples, rate, RATE)))
        for piece in pieces[:PIECES]:
            if len(made) == ALL_PIECES:
                return made
            name = f"{task.name}-{len(made):03d}.flac"
            made.append(
                _written(
                    task.folder, name, levelled(piece, RATE), "sentence", printable(path.stem, 60), task.name, None
                )
            )
    return made


def _recordings(source: Path) -> list[Path]:
    """Return the audio files of a folder, by name, or the one file; raises :class:`InputError` where there is none."""
    try:
        found = [p for p in source.rglob("*") if p.suffix.lower() in _SUFFIXES and p.is_file()]
    except OSError as error:
        raise InputError(source, found=error.strerror or str(error), expected="a folder that can be read") from error
    if source.is_file():
        return [source]
    if not found:
        raise InputError(source, found="no audio file", expected="a folder of recordings of speech")
    return sorted(found)


def utterances(samples: audio.Samples) -> Iterator[audio.Samples]:
    """Yield the stretches of a recording at :data:`RATE` that silences part, each from truth to truth."""
    size = np.abs(samples)
    loud = np.flatnonzero((size >= size.max(initial=0.0) * 10 ** (-(DEPTH + SPARE) / 20)) & (size > 0))
    silence = APART * RATE // SECOND
    if not len(loud):
        return
    apart = np.flatnonzero(np.diff(loud) > silence)
    if not len(apart) and loud[0] < silence and len(samples) - loud[-1] <= silence:
        # It is never silent: where it begins and ends may be its background's doing.
        return
    firsts = np.concatenate([loud[:1], loud[apart + 1]])
    lasts = np.concatenate([loud[apart], loud[-1:]]) + 1
    for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
        piece = samples[first:last]
        own = truth(piece)
        if own is None:
            continue
        piece = piece[own[0] : own[1]]
        if SHORTEST <= len(piece) * SECOND // RATE <= LONGEST:
            yield piece


def write_clips(folder: Path, clips: Sequence[Clip]) -> None:
    """Write the list of clips beside their sounds."""
    write_json(folder / "clips.json", {"rate": RATE, "clips": [clip.to_json() for clip in clips]})


def read_clips(folder: Path) -> tuple[Clip, ...]:
    """Return the clips of a folder; raises :class:`InputError` where it has none."""
    return tuple(Clip.from_json(value) for value in read_json(folder / "clips.json")["clips"])


def sound_of(folder: Path, clip: Clip, gain_db: float = 0.0) -> Sound:
    """Return the clip as a system says it, ``gain_db`` louder, on the grid of 24 bits that a talk's log keeps."""
    samples, rate = audio.read(folder / clip.file)
    if rate != RATE:
        raise InputError(folder / clip.file, found=f"{rate} Hz", expected=f"{RATE} Hz")
    even = np.rint(samples.astype(np.float64) * 10 ** (gain_db / 20) * 2**23) / 2**23
    return Sound(even.astype(np.float32), clip.text, clip.words or ())


def planted_span(samples: audio.Samples, at: int, kept: int | None) -> Span | None:
    """Return the truth of a clip that sounds from ``at`` on, of which ``kept`` samples are said (None: all).

    What is cut has its own peak, and so its own truth. None where nothing of it sounds.
    """
    found = truth(samples if kept is None else samples[:kept])
    if found is None:
        return None
    start, end = (at + sample * SECOND // RATE for sample in found)
    return Span(start, end) if start < end else None
