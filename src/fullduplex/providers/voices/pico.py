"""Pico: small voices in five languages, whose data come with their package. It tells no word times."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from fullduplex.errors import InputError, PluginError, printable
from fullduplex.model.spec import Spec
from fullduplex.providers.voices import Spoken, as_spoken, check_latin, check_speakable, checked_factor

LANGUAGES = ("en-US", "en-GB", "de-DE", "es-ES", "fr-FR", "it-IT")
_RATE = 16_000
# The engine reads memory that it never wrote: in one process the second utterance differs from
# the first, and each from run to run. In a process of its own an utterance is always the same.
_SPEAK = (
    "import json, sys; from py_nanotts import NanoTTS; sys.stdout.buffer.write(NanoTTS().speak(**json.load(sys.stdin)))"
)


@dataclass(frozen=True, slots=True)
class Pico:
    """The voice of py-nanotts for ``language``, 16 kHz.

    ``speed`` (0.2-5) and ``pitch`` (0.5-2) are factors of the voice's own. Raises
    :class:`InputError` on another language or factor, :class:`PluginError` where the package is not installed.
    """

    language: str = "en-US"
    speed: float = 1.0
    pitch: float = 1.0

    def __post_init__(self) -> None:
        if self.language not in LANGUAGES:
            raise InputError("pico", "language", found=self.language, expected=f"one of {', '.join(LANGUAGES)}")
        checked_factor("pico", "speed", self.speed, 0.2, 5)
        checked_factor("pico", "pitch", self.pitch, 0.5, 2)

    @property
    def spec(self) -> Spec:
        """Return the name, the options, and the package's version."""
        _package()
        options = {"language": self.language, "speed": self.speed, "pitch": self.pitch}
        return Spec("pico", options, f"py-nanotts {version('py-nanotts')}")

    def speak(self, text: str) -> Spoken:
        """Return ``text`` as speech without word times; raises :class:`InputError` where nothing can be spoken."""
        check_speakable(text)
        check_latin(text)
        _package()
        # The engine reads marks such as <speed level="..."> as commands.
        plain = text.replace("<", " ").replace(">", " ").replace("\0", " ")
        asked = {"text": plain, "voice": self.language, "speed": self.speed, "pitch": self.pitch}
        done = subprocess.run(
            [sys.executable, "-P", "-c", _SPEAK], input=json.dumps(asked).encode(), capture_output=True, check=False
        )
        if done.returncode:
            raise InputError("text", found=repr(printable(text, 60)), expected="words that the engine of pico survives")
        return as_spoken(text, np.frombuffer(done.stdout, "<i2").astype(np.float32) / np.float32(32768), _RATE)


def _package() -> Any:
    try:
        import py_nanotts
    except ImportError as error:
        raise PluginError(
            "voice 'pico' needs py-nanotts, which is not installed; install fullduplex[voices]"
        ) from error
    return py_nanotts
