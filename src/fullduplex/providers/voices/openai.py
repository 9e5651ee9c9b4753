"""Voices behind OpenAI's speech endpoint, or any server that speaks it. They tell no word times.

Tested against a local server that speaks the documented protocol; *not verified live*.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from fullduplex.data import audio
from fullduplex.errors import InputError, PluginError
from fullduplex.model.spec import Spec
from fullduplex.providers.voices import Spoken, as_spoken, check_speakable, checked_factor
from fullduplex.providers.voices.remote import PATIENCE, asked, checked_url

#: The endpoint takes no longer text, in characters.
LONGEST_TEXT = 4096


@dataclass(frozen=True, slots=True)
class OpenAI:
    """The voice that the server at ``base_url`` (up to and with ``/v1``) calls ``voice``, at the rate that it sends.

    ``instructions`` say how to speak, where the model takes them; ``speed`` (0.25-4) is a factor. The service promises
    no equal speech for equal texts. ``key`` is no part of the spec and is never shown.
    Raises :class:`InputError` on options that cannot be meant, :class:`PluginError` where no speech could be had.
    """

    voice: str = "alloy"
    model: str = "gpt-4o-mini-tts"
    instructions: str = ""
    speed: float = 1.0
    base_url: str = "https://api.openai.com/v1"
    timeout: float = 120.0
    key: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        checked_url("openai", self.base_url)
        checked_factor("openai", "speed", self.speed, 0.25, 4)
        checked_factor("openai", "timeout", self.timeout, *PATIENCE)

    @property
    def spec(self) -> Spec:
        """Return the voice, the model, the instructions, the speed and the server; not the key."""
        options = {
            "voice": self.voice,
            "model": self.model,
            "instructions": self.instructions,
            "speed": float(self.speed),
            "base_url": self.base_url.rstrip("/"),
        }
        return Spec("openai", options)

    def speak(self, text: str) -> Spoken:
        """Return ``text`` as speech without word times."""
        check_speakable(text)
        if len(text) > LONGEST_TEXT:
            raise InputError(
                "text", found=f"{len(text):,} characters", expected=f"at most {LONGEST_TEXT:,} for this voice"
            )
        body = {"model": self.model, "input": text, "voice": self.voice, "response_format": "wav", "speed": self.speed}
        if self.instructions:
            body["instructions"] = self.instructions
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        url = f"{checked_url('openai', self.base_url)}/audio/speech"
        content = asked("openai", url, body, headers, key=self.key, timeout=self.timeout)
        with tempfile.TemporaryDirectory() as folder:
            # Servers stream WAV whose header leaves its length open; the reader of files knows what to do.
            file = Path(folder, "speech")
            file.write_bytes(content)
            try:
                samples, rate = audio.read(file)
            except InputError as error:
                raise PluginError(f"the voice openai sent {len(content):,} bytes that are no audio") from error
        return as_spoken(text, samples, rate)
