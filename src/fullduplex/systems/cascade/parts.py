"""The parts of a cascade, each a plug-in, from a text that names it and its options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullduplex import plugins
from fullduplex.errors import InputError
from fullduplex.listening.recognisers import Recogniser
from fullduplex.model.spec import Spec
from fullduplex.once import once_per_process
from fullduplex.providers.language_models import LanguageModel
from fullduplex.providers.turn_detectors import TurnDetector
from fullduplex.providers.voices import Voice

#: The recogniser and the voice of a language where none is named, and what it says while it listens.
DEFAULTS: Mapping[str, tuple[str, str, str]] = {
    "en": ("moonshine:align=false", "hibari", "Mm-hmm."),
    "fr": ("whisper:align=false", "pico:language=fr-FR", "D'accord."),
    "de": ("whisper:align=false", "pico:language=de-DE", "Ja."),
    "es": ("whisper:align=false", "pico:language=es-ES", "Sí."),
    "it": ("whisper:align=false", "pico:language=it-IT", "Sì."),
}
#: What the model is told where the talk has no prompt of its own.
PROMPTS: Mapping[str, str] = {
    "en": "You are a friendly voice assistant. Answer in one or two short spoken sentences.",
    "fr": "Tu es un assistant vocal aimable. Réponds en une ou deux phrases courtes, en français.",
    "de": "Du bist ein freundlicher Sprachassistent. Antworte in ein oder zwei kurzen Sätzen auf Deutsch.",
    "es": "Eres un asistente de voz amable. Responde con una o dos frases cortas, en español.",
    "it": "Sei un assistente vocale gentile. Rispondi con una o due frasi brevi, in italiano.",
}


@dataclass(frozen=True, slots=True)
class Parts:
    """What a cascade is made of; ``turns`` is None where silence alone ends a turn."""

    recogniser: Recogniser
    model: LanguageModel
    voice: Voice
    turns: TurnDetector | None


def part_spec(text: str, option: str) -> Spec:
    """Return the spec that an option of the cascade names: ``NAME`` or ``NAME:key=value;key=value``.

    A semicolon stands where a spec has a comma, since commas part the cascade's own options. Raises
    :class:`InputError` naming ``option``.
    """
    try:
        return Spec.parse(str(text).replace(";", ","))
    except ValueError as error:
        raise InputError("cascade", option, found=text, expected="NAME or NAME:key=value;key=value") from error


@once_per_process
def part(family: str, spec: Spec, cache: Path) -> Any:
    """Return the member of ``family`` that ``spec`` names, made once in a process; raises :class:`PluginError`."""
    return plugins.make(family, spec.name, spec.options, cache)
