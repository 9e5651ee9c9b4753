"""A conversation of which only the recordings are known is listened to: speech by a detector, words by a recogniser.

Both are kept by the content of the file, so that nothing is heard twice. Recognisers leave out hesitations and some
brief tokens of listeners: fewer are found than a person would write down.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.data import audio
from fullduplex.data.corpora.conversation import Conversation, Recording, Side
from fullduplex.data.files import read_json, write_json
from fullduplex.errors import InputError
from fullduplex.listening.detectors import Detector
from fullduplex.listening.hear import hear_speech, recognise_tracks
from fullduplex.listening.recognisers import Recogniser
from fullduplex.model.spans import SECOND, Span, Timeline, seconds
from fullduplex.model.spec import digest
from fullduplex.model.speech import Word
from fullduplex.providers.weights import sha256

#: Two channels whose sounds agree so much, at a shift of up to a second, are one sound and not two speakers.
ALIKE = 0.5
_SHIFT, _HEARD, _RATE = SECOND, 120 * SECOND, 8_000


@dataclass(frozen=True, slots=True)
class Ears:
    """What listens; ``cache`` keeps what was heard."""

    detector: Detector
    recogniser: Recogniser
    language: str
    cache: Path

    def to_json(self) -> dict[str, Any]:
        """Return what listens, with every option that decides what is heard."""
        return {
            "detector": self.detector.spec.to_json(),
            "recogniser": self.recogniser.spec.to_json(),
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
    alike = _kept(ears.cache, [_content(first.recording), _content(second.recording), "alike", ALIKE],
                  lambda: {"alike": how_alike(first.recording, second.recording)})["alike"]  # fmt: skip
    if alike >= ALIKE:
        raise InputError(
            first.recording.file, found=f"channels that carry the same sound (they agree to {alike:.2f})",
            expected="one speaker in each channel",
        )  # fmt: skip
    return replace(conversation, sides=(_listened(first, ears), _listened(second, ears)), language=ears.language)


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


def _beginning(recording: Recording) -> NDArray[np.float64]:
    samples, rate = audio.read(recording.file, recording.channel)
    return audio.resample(samples[: _HEARD * rate // SECOND], rate, _RATE).astype(np.float64)


def _listened(side: Side, ears: Ears) -> Side:
    recording = side.recording
    assert recording is not None
    what = [_content(recording), recording.channel]

    def detect() -> dict[str, Any]:
        sound = {side.name: audio.read(recording.file, recording.channel)}
        return {"segments": [list(one) for one in hear_speech(sound, ears.detector)[side.name]]}

    def recognise() -> dict[str, Any]:
        sound = {side.name: audio.read(recording.file, recording.channel)}
        tokens = recognise_tracks(sound, ears.recogniser, ears.language)[side.name].tokens
        return {"words": [[text.strip(), start, end] for text, start, end in tokens]}

    speech = _kept(ears.cache, [*what, ears.detector.spec.to_json()], detect)["segments"]
    words = _kept(ears.cache, [*what, ears.recogniser.spec.to_json(), ears.language], recognise)["words"]
    made = [
        Word(text, Span(seconds(start), max(seconds(start if end is None else end), seconds(start) + 1)))
        for text, start, end in words
        if text and start is not None
    ]
    made.sort(key=lambda word: word.span.start)
    return replace(
        side, words=tuple(made), words_from=ears.recogniser.spec.name,
        cut_off=frozenset(n for n, word in enumerate(made) if word.text.endswith("-")),
        speech=Timeline(Span(seconds(start), seconds(end)) for start, end in speech if seconds(start) < seconds(end)),
    )  # fmt: skip


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
