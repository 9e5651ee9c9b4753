"""Who says what in an overlap item: the question, and what is said over its answer, each as sound with its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.data import audio
from fullduplex.data.names import as_file_name
from fullduplex.errors import InputError
from fullduplex.making.joining import at_rate, join
from fullduplex.making.make_item import GAP, recogniser_of, voice_of
from fullduplex.making.nearest_voice import nearest
from fullduplex.making.overlap_sources import Recorded, Talk
from fullduplex.making.script import Phrase, Turn
from fullduplex.making.speaking import SOFTEST, Said, Speaker, with_words_heard
from fullduplex.model.spans import SECOND, in_seconds, ms
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Word
from fullduplex.providers.voices import Spoken, as_spoken, audible
from fullduplex.providers.voices.opened import voice_for

#: Nobody asks longer than this, in microseconds.
LONGEST = 600 * SECOND
#: Where a recording is cut, it fades over this.
FADE = ms(5)


@dataclass(frozen=True, slots=True)
class OverlapTask:
    """One item to make; small, and it travels.

    ``kind`` is the task of v1.5. ``line`` is what is said over the answer, None where the talk's own interruption is.
    ``clips`` and ``lines`` are the folders from which recordings of the talk and of the line are named. Times are
    microseconds. ``keys`` are for voices behind a server, as ``(name, key)``; they are never written.
    """

    kind: str
    talk: Talk
    line: Phrase | None
    clips: Path
    lines: Path
    out: Path
    language: str
    voices: tuple[Spec, ...]
    seed: int
    after: int
    tail: int
    rate: int
    recogniser: Spec | None = None
    cache: Path | None = None
    keys: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def folder(self) -> Path:
        """Return where the item goes; no name in a source can lead out of ``out``."""
        return self.out / as_file_name(self.kind) / as_file_name(self.talk.name)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Part:
    """Speech of an item, audible from its first sample to its last; its words are placed from there on.

    ``words`` is None where nothing places them. ``voice`` is the synthesiser's, None for a recording. ``own``: the
    user says it in the user's own voice; None where it is not the user, or nobody can tell.
    """

    text: str
    samples: NDArray[np.float32]
    words: tuple[Word, ...] | None
    words_from: str
    time_from: str
    voice: Mapping[str, Any] | None
    own: bool | None = None


def question_of(task: OverlapTask) -> Part:
    """Return the question as it sounds; raises :class:`InputError` where it cannot be spoken or read."""
    asked = task.talk.question
    if isinstance(asked, Recorded):
        return _recorded(task, asked, "question")
    return _spoken(task, asked, task.talk.gaps, task.clips, _user_voice(task) or task.voices[0])


def event_of(task: OverlapTask, question: Part) -> Part:
    """Return what is said over the answer; raises :class:`InputError` where it cannot be spoken or read."""
    said: Turn | Recorded | None = task.talk.interruption if task.line is None else Turn((task.line,))
    if said is None:
        raise InputError(task.talk.speaker, found="no interruption", expected="one, for user_interruption")
    if isinstance(said, Recorded):
        return _recorded(task, said, "interruption", own=True)
    known = _user_voice(task)
    user = known or nearest(question.samples, task.rate, task.voices, task.language, task.cache, task.keys)
    clips = task.lines if task.line is not None else task.clips
    if task.kind != "background_speech":
        recorded = any(phrase.clip for phrase in said.phrases)
        return _spoken(task, (said,), (), clips, user, own=None if recorded else known is not None)
    others = [spec for spec in task.voices if _opened(task, spec) != _opened(task, user)]
    if not others:
        expected = "a second voice, since another person speaks in the background"
        raise InputError("--voice", found=f"only {user}, the user's own", expected=expected)
    return _spoken(task, (said,), (), clips, voice_for(f"{task.talk.speaker} background", others, task.seed))


def voices_of(task: OverlapTask) -> list[dict[str, Any]]:
    """Return every voice that the item may depend on, as opened: with its weights."""
    if task.line is None and isinstance(task.talk.question, Recorded) and isinstance(task.talk.interruption, Recorded):
        return []
    known = _user_voice(task)
    turns = task.talk.question if isinstance(task.talk.question, tuple) else ()
    if isinstance(task.talk.interruption, Turn):
        turns = (*turns, task.talk.interruption)
    told = {phrase.voice for turn in turns for phrase in turn.phrases if phrase.voice}
    pool = task.voices if known is None or task.kind == "background_speech" else ()
    return [_opened(task, spec) for spec in (*([known] if known else []), *map(Spec.parse, sorted(told)), *pool)]


def _user_voice(task: OverlapTask) -> Spec | None:
    """Return the voice in which the user speaks, None for a recording that does not tell."""
    talk = task.talk
    if isinstance(talk.question, Recorded):
        return talk.spoken_by
    first = talk.question[0].phrases[0]
    if first.clip:
        return None
    told = first.voice or talk.voice
    return Spec.parse(told) if told else voice_for(talk.speaker, task.voices, task.seed)


def _opened(task: OverlapTask, spec: Spec) -> dict[str, Any]:
    return voice_of(spec, task.cache, task.keys).spec.to_json()


def _spoken(
    task: OverlapTask,
    turns: Sequence[Turn],
    gaps: Sequence[int | None],
    clips: Path,
    voice: Spec,
    *,
    own: bool | None = None,
) -> Part:
    def voice_for_phrase(phrase: Phrase) -> Any:
        return voice_of(Spec.parse(phrase.voice) if phrase.voice else voice, task.cache, task.keys)

    speaker = Speaker(voice_for_phrase, clips, task.rate, task.language, seed=task.seed)
    said, silences = list[Said](), list[int]()
    for number, turn in enumerate(turns):
        said += speaker.say(turn)
        silences += [*turn.pauses, *(GAP if gap is None else gap for gap in gaps[number : number + 1])]
    spoken = [_with_words(task, one.spoken, one.phrase.text) for one in said]
    phrases, samples = join([one.phrase.text for one in said], spoken, silences, 0, 0, task.rate)
    words = [phrase.words for phrase in phrases]
    recorded = any(one.phrase.clip for one in said)
    return Part(
        " ".join(one.phrase.text for one in said if one.phrase.text),
        samples,
        None if None in words else tuple(word for one in words for word in one or ()),
        " and ".join(sorted({one.words_from for one in spoken if one.words_from})),
        "recording" if recorded else "synthesiser",
        next((one.voice for one in said if one.voice), None),
        own,
    )


def _recorded(task: OverlapTask, said: Recorded, what: str, *, own: bool | None = None) -> Part:
    path = said.voice.path
    samples, rate = audio.read(path, said.voice.channel)
    start = 0
    if said.span is not None:
        first, last = said.span.start * rate // SECOND, said.span.end * rate // SECOND
        if first >= len(samples):
            found = f"{what} at {in_seconds(said.span.start):g} s, in audio of {len(samples) / rate:g} s"
            raise InputError(path, found=found, expected="audio that holds it")
        pad = FADE * rate // SECOND
        if what == "interruption":
            # It may sound at its very edges. A question may not be longer: what comes next could be the interruption.
            first, last = max(0, first - pad), last + pad
        start, samples = first * SECOND // rate, _cut(samples, first, last, pad)
    if len(samples) * SECOND > LONGEST * rate:
        expected = f"at most {in_seconds(LONGEST):g} s"
        raise InputError(path, found=f"a {what} of {len(samples) / rate:.0f} s", expected=expected)
    if float(np.abs(samples).max(initial=0.0)) <= 10 ** (SOFTEST / 20):
        # Made as loud as a voice, it would be its own noise.
        found = f"nothing above {SOFTEST:g} dB of full scale in the {what}"
        raise InputError(path, found=found, expected="a voice")
    words = None if said.words is None else [Word(word.text, word.span.shift(-start)) for word in said.words]
    spoken = audible(at_rate(as_spoken(said.text or what, samples, rate, words, said.words_from), task.rate))
    spoken = _with_words(task, spoken, said.text)
    text = said.text or " ".join(word.text for word in spoken.words or ())
    if not text:
        do = "give --recogniser" if task.recogniser is None else ""
        raise InputError(path, found=f"a {what} whose words nothing tells", expected="its text", do=do)
    return Part(text, spoken.samples, spoken.words, spoken.words_from, "recording", None, own)


def _cut(samples: NDArray[np.float32], first: int, last: int, pad: int) -> NDArray[np.float32]:
    """Return ``samples`` from ``first`` to ``last``, faded over ``pad`` samples where there is more of them."""
    made = samples[first:last].copy()
    ramp = np.linspace(0, 1, pad + 2, dtype=np.float32)[1:-1][: len(made)]
    if first > 0:
        made[: len(ramp)] *= ramp
    if last < len(samples):
        made[len(made) - len(ramp) :] *= ramp[::-1]
    return made


def _with_words(task: OverlapTask, spoken: Spoken, text: str) -> Spoken:
    if spoken.words is not None or task.recogniser is None:
        return spoken
    return with_words_heard(spoken, text, recogniser_of(task.recogniser, task.cache), task.language)
