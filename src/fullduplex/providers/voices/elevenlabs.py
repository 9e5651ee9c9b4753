"""ElevenLabs' voices over HTTP, with the time that each character is said at.

Tested against a local server that speaks the documented protocol; *not verified live*.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import numpy as np

from fullduplex.errors import InputError, PluginError
from fullduplex.model.spans import Span, in_seconds, seconds
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Word
from fullduplex.providers.voices import Spoken, as_spoken, check_speakable, checked_factor, checked_seed
from fullduplex.providers.voices.remote import PATIENCE, asked, checked_url

_RATE = 24_000
#: The service's settings: our option, and the name that is sent.
_SETTINGS = {
    "stability": "stability",
    "similarity": "similarity_boost",
    "style": "style",
    "speaker_boost": "use_speaker_boost",
    "speed": "speed",
}
#: How slow and how fast it can be asked to speak, its own speed being 1.
_SPEED = (0.7, 1.2)
#: The last character may end this much after the audio, in seconds.
_SLACK = 0.5


@dataclass(frozen=True, slots=True)
class ElevenLabs:
    """The voice that ElevenLabs, or a server that speaks its protocol, knows as the id ``voice``; 24 kHz.

    ``seed`` asks for the same speech each time, which is promised only as far as the service can. ``key`` is no
    part of the spec and is never shown. ``timeout`` is how many seconds the server may be silent.

    ``stability``, ``similarity`` and ``style`` (0 to 1), ``speaker_boost`` and ``speed`` (0.7 to 1.2) are the service's
    voice settings; those that are None are neither sent nor part of the spec: the voice keeps its own.
    Raises :class:`InputError` without a voice, :class:`PluginError` where no speech could be had.
    """

    voice: str = ""
    model: str = "eleven_multilingual_v2"
    seed: int = 0
    base_url: str = "https://api.elevenlabs.io"
    timeout: float = 120.0
    stability: float | None = None
    similarity: float | None = None
    style: float | None = None
    speaker_boost: bool | None = None
    speed: float | None = None
    key: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if not self.voice:
            raise InputError("elevenlabs", "voice", expected="the id of a voice")
        checked_url("elevenlabs", self.base_url)
        checked_factor("elevenlabs", "timeout", self.timeout, *PATIENCE)
        checked_seed("elevenlabs", self.seed)
        for name in ("stability", "similarity", "style"):
            if getattr(self, name) is not None:
                checked_factor("elevenlabs", name, getattr(self, name), 0, 1)
        if self.speed is not None:
            checked_factor("elevenlabs", "speed", self.speed, *_SPEED)
        if not isinstance(self.speaker_boost, bool | None):
            raise InputError("elevenlabs", "speaker_boost", found=self.speaker_boost, expected="true or false")

    @property
    def spec(self) -> Spec:
        """Return the voice, the model, the seed, the server and the settings that are asked for; not the key."""
        options = {"voice": self.voice, "model": self.model, "seed": self.seed, "base_url": self.base_url.rstrip("/")}
        asks = {name: getattr(self, name) for name in _SETTINGS if getattr(self, name) is not None}
        return Spec("elevenlabs", options | asks)

    def speak(self, text: str) -> Spoken:
        """Return ``text`` as speech with its words where the service aligns its characters."""
        check_speakable(text)
        server = checked_url("elevenlabs", self.base_url)
        url = f"{server}/v1/text-to-speech/{quote(str(self.voice), safe='')}/with-timestamps?output_format=pcm_{_RATE}"
        body: dict[str, Any] = {"text": text, "model_id": self.model, "seed": self.seed}
        settings = {sent: getattr(self, name) for name, sent in _SETTINGS.items() if getattr(self, name) is not None}
        if settings:
            body["voice_settings"] = settings
        content = asked("elevenlabs", url, body, {"xi-api-key": self.key}, key=self.key, timeout=self.timeout)
        try:
            told = json.loads(content)
            sound = base64.b64decode(told["audio_base64"], validate=True)
            samples = np.frombuffer(sound[: len(sound) // 2 * 2], "<i2").astype(np.float32) / np.float32(32768)
            words = list(_words(told.get("alignment"), text, seconds(len(samples) / _RATE)))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, binascii.Error) as error:
            raise PluginError("the voice elevenlabs sent what is no speech with timestamps") from error
        return as_spoken(text, samples, _RATE, words or None, "synthesiser" if words else "")


def _words(alignment: Any, said: str, duration: int) -> Iterator[Word]:
    """Yield the words of a text whose characters have times; a word without a length is left to its neighbours.

    None where the characters spell another text than ``said``. Raises ValueError where the times are no times of
    characters one after another in ``duration`` microseconds of speech.
    """
    if alignment is None:
        return
    characters = alignment["characters"]
    starts, ends = alignment["character_start_times_seconds"], alignment["character_end_times_seconds"]
    if "".join(characters).split() != said.split():
        return
    ordered = [time for pair in zip(starts, ends, strict=True) for time in pair]
    if not all(a <= b for a, b in pairwise([0.0, *ordered, in_seconds(duration) + _SLACK])):
        raise ValueError("times out of order")
    word, begin, end = "", 0, 0
    for character, start, stop in zip([*characters, " "], [*starts, 0.0], [*ends, 0.0], strict=True):
        if not character.isspace():
            begin = begin if word else seconds(start)
            word, end = word + character, seconds(stop)
        elif word:
            if any(c.isalnum() for c in word):
                yield Word(word, Span(begin, max(end, begin + 1)))
            word = ""
