"""A conversation of which only the recordings are known is listened to: speech by a detector, words by a recogniser.

The recogniser may be left away: then it is known when somebody speaks, and not what.

Both are kept by the content of the file, so that nothing is heard twice. Speech in which the recogniser found no word
is given to it once more by itself. It still leaves out hesitations and some brief tokens of listeners: fewer are
found than a person would write down.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.data import audio
from fullduplex.data.audio import Samples
from fullduplex.data.corpora.conversation import Conversation, Recording, Side
from fullduplex.data.files import read_json, write_json
from fullduplex.errors import InputError, printable
from fullduplex.listening.detectors import Detector
from fullduplex.listening.hear import hear_speech, recognise_tracks
from fullduplex.listening.recognisers import Recogniser
from fullduplex.model.spans import SECOND, Span, Timeline, in_seconds, ms, seconds
from fullduplex.model.spec import digest
from fullduplex.model.speech import Word
from fullduplex.providers.weights import sha256

#: Two channels whose sounds agree so much, at a shift of up to a second, are one sound and not two speakers.
ALIKE = 0.5
#: A channel whose loudest sample is below this, -60 dB of full scale, holds nobody's voice. Ours.
SILENT = 0.001
#: So far from a word's edge its speech may begin or end.
NEAR = ms(200)
#: What a detector hears beside words is something that was said once it lasts so long; words' times are no finer.
UNTOLD = ms(250)
#: Silence around what is heard by itself.
_AROUND = ms(500)
_SHIFT, _HEARD, _RATE = SECOND, 120 * SECOND, 8_000


@dataclass(frozen=True, slots=True)
class Ears:
    """What listens; ``cache`` keeps what was heard. Without a recogniser, no words are."""

    detector: Detector
    recogniser: Recogniser | None
    language: str
    cache: Path

    def to_json(self) -> dict[str, Any]:
        """Return what listens, with every option that decides what is heard."""
        return {
            "detector": self.detector.spec.to_json(),
            "recogniser": None if self.recogniser is None else self.recogniser.spec.to_json(),
            "language": self.language,
        }


def heard(conversation: Conversation, ears: Ears) -> Conversation:
    """Return the conversation with the speech and the words of its sides, where it has none of its own.

    Raises :class:`InputError` where a recording cannot be read, or both sides are the same sound.
    """
    if all(side.words is not None for side in conversation.sides):
        return conversation
    first, second = conversation.sides
    if first.recording is None or second.recording is None:
        raise InputError(conversation.name, found="neither words nor recordings", expected="words, or recordings")
    _apart(first, second, ears)
    return replace(conversation, sides=(_listened(first, ears), _listened(second, ears)), language=ears.language)


def with_speech(conversation: Conversation, ears: Ears) -> Conversation:
    """Return the conversation with the speech of its sides as a detector hears it, and their words' edges put there.

    With a recogniser, speech that no word of the transcript covers is heard too, and its words are added: in overlaps a
    transcript often has one voice alone. A side without a recording stays as it is. Raises :class:`InputError` as
    :func:`heard` does.
    """
    first, second = conversation.sides
    _apart(first, second, ears)
    return replace(conversation, sides=(_with_speech(first, ears), _with_speech(second, ears)))


def _with_speech(side: Side, ears: Ears) -> Side:
    if side.recording is None:
        return side
    speech = _speech(side.name, side.recording, ears)
    heard = replace(side, speech=speech, words=None if side.words is None else placed(side.words, speech))
    return heard if ears.recogniser is None or heard.words is None else _filled(heard, side.recording, ears)


def untold(side: Side, bridging: int) -> Timeline:
    """Return where a detector hears the side, and no word stands: none where nobody listened.

    Between words that are no more than ``bridging`` apart nothing is untold.
    """
    words = Timeline(word.span for word in side.words or ()).bridge(bridging)
    return ((side.speech or Timeline()) - words).without(shorter_than=UNTOLD)


def _filled(side: Side, recording: Recording, ears: Ears) -> Side:
    """Return the side with words, as a recogniser hears them, where it is heard to speak and none are written down."""
    assert ears.recogniser is not None and side.words is not None
    recogniser = ears.recogniser
    spans = [[one.start, one.end] for one in untold(side, NEAR)]

    def recognise() -> dict[str, Any]:
        samples, rate = audio.read(recording.file, recording.channel)
        return {
            "words": [
                word for start, end in spans for word in _alone(samples, rate, start, end, recogniser, ears.language)
            ]
        }

    what = [_content(recording), recording.channel, recogniser.spec.to_json(), ears.language, spans]
    found = _kept(ears.cache, what, recognise)["words"] if spans else []
    new = [Word(text, Span(seconds(start), max(seconds(end), seconds(start) + 1))) for text, start, end in found]
    if not new:
        return side
    order = sorted([*enumerate(side.words), *((None, word) for word in new)], key=lambda one: one[1].span.start)
    at = {old: n for n, (old, _) in enumerate(order) if old is not None}
    return replace(
        side,
        words=tuple(word for _, word in order),
        words_from=f"{side.words_from} and {recogniser.spec.name}",
        cut_off=frozenset(at[old] for old in side.cut_off),
        acts=tuple(replace(act, first=at[act.first], last=at[act.last - 1] + 1) for act in side.acts),
    )


def _apart(first: Side, second: Side, ears: Ears) -> None:
    """Raise :class:`InputError` where both sides have recordings that are the same sound."""
    if first.recording is None or second.recording is None:
        return
    both = first.recording, second.recording
    what = [[_content(one), one.channel] for one in both]
    told = _kept(ears.cache, [what, "alike", ALIKE, SILENT],
                 lambda: {"alike": how_alike(*both), "loudest": [_loudest(one) for one in both]})  # fmt: skip
    _refuse(both, told["alike"], told["loudest"])


def are_apart(conversation: Conversation) -> None:
    """Raise :class:`InputError` where both sides have recordings that are the same sound, for items would hold both
    voices, and where one of them is silent.

    What is known of nothing but its recordings is told apart once it is :func:`heard`.
    """
    if any(side.words is None and not side.utterances and side.speech is None for side in conversation.sides):
        return
    first, second = (side.recording for side in conversation.sides)
    if first is not None and second is not None:
        _refuse((first, second), how_alike(first, second), [_loudest(one) for one in (first, second)])


def _refuse(both: tuple[Recording, Recording], alike: float, loudest: Sequence[float]) -> None:
    first = both[0]
    for one, peak in zip(both, loudest, strict=True):
        if peak < SILENT:
            raise InputError(
                one.file, f"channel {one.channel + 1}", found="no sound in it (no sample reaches -60 dB of full scale)",
                expected="a voice in each channel",
            )  # fmt: skip
    if alike >= ALIKE:
        raise InputError(
            first.file, found=f"channels that carry the same sound (they agree to {alike:.2f})",
            expected="one speaker in each channel",
        )  # fmt: skip


def how_alike(first: Recording | None, second: Recording | None) -> float:
    """Return the greatest normalised cross-correlation of two recordings' first two minutes, within a second's shift.

    Between 0 and 1; 0 where one of them is silent.
    """
    assert first is not None and second is not None
    one, other = (_beginning(each) for each in (first, second))
    length = min(len(one), len(other))
    one, other = one[:length] - one[:length].mean(), other[:length] - other[:length].mean()
    power = float(np.sqrt(np.square(one).sum() * np.square(other).sum()))
    if power == 0:
        return 0.0
    size = 1 << (2 * length - 1).bit_length()
    product = np.fft.irfft(np.fft.rfft(one, size) * np.conj(np.fft.rfft(other, size)), size)
    reach = min(_SHIFT * _RATE // SECOND, length - 1)
    near = np.concatenate([product[: reach + 1], product[size - reach :]])
    return round(float(np.abs(near).max()) / power, 4)


def _loudest(recording: Recording) -> float:
    samples, _ = audio.read(recording.file, recording.channel)
    return float(np.abs(samples).max()) if len(samples) else 0.0


def sound_of(conversation: Conversation) -> frozenset[str]:
    """Return what the recordings of both sides hold, whichever side each is on: digests of samples; empty without any.

    Conversations of which it is the same are one, read twice.
    """
    both = [side.recording for side in conversation.sides]
    return frozenset(
        hashlib.sha256(audio.read(one.file, one.channel)[0].tobytes()).hexdigest() for one in both if one is not None
    )


class Heard:
    """The sounds of the conversations that were read so far: the same two channels are one conversation, once."""

    def __init__(self) -> None:
        self._names = dict[frozenset[str], str]()

    def add(self, name: str, sound: frozenset[str]) -> None:
        """Note a conversation's sound; raises :class:`InputError` where another one's is the same."""
        if len(sound) == 2 and (other := self._names.setdefault(sound, name)) != name:
            raise InputError(
                name, found=f"the same sound as in {printable(other, 60)}, on the same channels or the others",
                expected="another conversation: it would count twice", do="leave one of them out",
            )  # fmt: skip


def _beginning(recording: Recording) -> NDArray[np.float64]:
    samples, rate = audio.read(recording.file, recording.channel)
    return audio.resample(samples[: _HEARD * rate // SECOND], rate, _RATE).astype(np.float64)


def _speech(name: str, recording: Recording, ears: Ears) -> Timeline:
    """Return where a detector hears speech in a recording; what it heard once is kept."""

    def detect() -> dict[str, Any]:
        sound = {name: audio.read(recording.file, recording.channel)}
        return {"segments": [list(one) for one in hear_speech(sound, ears.detector)[name]]}

    what = [_content(recording), recording.channel, ears.detector.spec.to_json()]
    segments = _kept(ears.cache, what, detect)["segments"]
    return Timeline(Span(seconds(start), seconds(end)) for start, end in segments if seconds(start) < seconds(end))


def _listened(side: Side, ears: Ears) -> Side:
    recording = side.recording
    assert recording is not None
    what = [_content(recording), recording.channel]
    speech = _speech(side.name, recording, ears)
    if ears.recogniser is None:
        return replace(side, speech=speech)
    recogniser = ears.recogniser

    def recognise() -> dict[str, Any]:
        sound = {side.name: audio.read(recording.file, recording.channel)}
        tokens = recognise_tracks(sound, recogniser, ears.language)[side.name].tokens
        return {"words": [[text.strip(), start, end] for text, start, end in tokens]}

    by_whom = [recogniser.spec.to_json(), ears.language]
    words = _kept(ears.cache, [*what, *by_whom], recognise)["words"]
    wordless = [[one.start, one.end] for one in speech if not any(_overlaps(word, one) for word in words)]

    def recognise_rest() -> dict[str, Any]:
        samples, rate = audio.read(recording.file, recording.channel)
        return {
            "words": [
                word for start, end in wordless for word in _alone(samples, rate, start, end, recogniser, ears.language)
            ]
        }

    if wordless:
        words = words + _kept(ears.cache, [*what, *by_whom, wordless], recognise_rest)["words"]
    made = [
        Word(text, Span(seconds(start), max(seconds(start if end is None else end), seconds(start) + 1)))
        for text, start, end in words
        if text and start is not None
    ]
    made.sort(key=lambda word: word.span.start)
    return replace(
        side,
        words=placed(made, speech),
        words_from=recogniser.spec.name,
        cut_off=frozenset(n for n, word in enumerate(made) if word.text.endswith("-")),
        speech=speech,
    )


def _overlaps(word: Sequence[Any], span: Span) -> bool:
    _, start, end = word
    return start is not None and seconds(start) < span.end and seconds(start if end is None else end) > span.start


def _alone(samples: Samples, rate: int, start: int, end: int, recogniser: Recogniser, language: str) -> list[list[Any]]:
    """Return the words of a stretch that is heard by itself, with silence around it; all inside of the stretch.

    Among a minute of others a recogniser passes over a listener's token, which it hears when it is alone.
    """
    piece = samples[start * rate // SECOND : end * rate // SECOND]
    silence = np.zeros(_AROUND * rate // SECOND, np.float32)
    sound = np.concatenate([silence, piece, silence])
    found = list[list[Any]]()
    for text, begins, ends in recogniser.recognise(sound, rate, language).tokens:
        if text.strip() and begins is not None:
            first, last = (
                min(max(seconds(each) - _AROUND + start, start), end)
                for each in (begins, begins if ends is None else ends)
            )
            found.append([text.strip(), in_seconds(min(first, end - 1)), in_seconds(max(last, first + 1))])
    return found


def placed(words: Sequence[Word], speech: Timeline) -> tuple[Word, ...]:
    """Return the words with their outer edges where the speech is heard to begin and end.

    Recognisers let a word last into the silence after it, or begin it late. A word that sounds is cut to its speech; an
    edge that has speech beside it moves to that speech's edge, by up to :data:`NEAR`, and into no other word.
    """
    found = list[Word]()
    for n, word in enumerate(words):
        start, end = word.span.start, word.span.end
        inside = list(speech.within(word.span))
        if inside:
            start, end = inside[0].start, inside[-1].end
            before = found[-1].span.end if found else 0
            after = words[n + 1].span.start if n + 1 < len(words) else end + NEAR
            # A word may begin within the one before it; then it is not moved.
            looked = Span(min(start, max(before, start - NEAR)), max(end, min(after, end + NEAR)))
            around = list(speech.within(looked))
            begins = next((one.start for one in around if one.start <= start < one.end), start)
            ends = next((one.end for one in around if one.start < end <= one.end), end)
            # Speech that reaches further than is looked has its edge elsewhere.
            start = begins if begins > start - NEAR else start
            end = ends if ends < end + NEAR else end
        found.append(replace(word, span=Span(start, end)))
    return tuple(found)


def _content(recording: Recording) -> str:
    return sha256(recording.file)


def _kept(cache: Path, what: list[Any], make: Any) -> dict[str, Any]:
    mark = digest(["harvest", 1, what])
    path = cache / "harvest" / mark[:2] / f"{mark}.json"
    if path.is_file():
        try:
            value = read_json(path)
            if isinstance(value, dict):
                return value
        except InputError:
            path.unlink(missing_ok=True)
    made: dict[str, Any] = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, made)
    return made
