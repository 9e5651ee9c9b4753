"""Cascades by name: the parts of a published one, or parts of its language that run here without a download.

The French Full-Duplex-Bench compares an English and a French cascade of one structure: Vosk, Qwen3 8B, Piper
(arXiv 2609.10765). Which Vosk model and which Piper voice is not said, so both are yours to name. Qwen3 is asked not
to think before it speaks; whether it did there is not said either. *Not verified live.*
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from inspect import Parameter, Signature
from typing import Any

from fullduplex.errors import InputError
from fullduplex.systems.cascade import Cascade

SERVER, MODEL = "http://localhost:11434/v1", "qwen3:8b"


@dataclass(frozen=True, slots=True)
class Preset:
    """A cascade by name. ``published``: its recogniser and its voice are files of yours, ``vosk`` and ``piper``."""

    language: str
    about: str
    published: bool = False
    turns: str = ""
    recogniser: str = ""
    voice: str = ""


PRESETS: Mapping[str, Preset] = {
    "french-fdb-fr": Preset("fr", "Vosk, Qwen3 8B and Piper in French, of the French Full-Duplex-Bench", True),
    "french-fdb-en": Preset("en", "Vosk, Qwen3 8B and Piper in English, of the French Full-Duplex-Bench", True),
    "offline-fr": Preset("fr", "Whisper base, SmolLM2 and Pico, all embedded; broken French", turns="smart-turn"),
    "offline-en": Preset("en", "Moonshine tiny, SmolLM2 and hibari: all embedded", turns="smart-turn"),
}
#: The options of a preset, beside those of the cascade itself.
_OWN = ("preset", "vosk", "piper", "server", "llm")


def cascade(
    preset: str = "", *, vosk: str = "", piper: str = "", server: str = "", llm: str = "", **options: Any
) -> Cascade:
    """The built-in cascade, or one by name: voice activity, a recogniser, a language model and a voice.

    ``preset``: one of :data:`PRESETS`; ``options`` of the cascade (:class:`Cascade`) overrule it.

    ``vosk``: the folder of an unpacked Vosk model, ``piper``: a voice's file ``….onnx``, for the published presets;
    ``server`` and ``llm``: where the language model is asked (up to and with ``/v1``), and what it is called there.
    Raises :class:`InputError` for a preset that is not known, one that lacks its files, or files without a preset.
    """
    own = {"vosk": vosk, "piper": piper, "server": server, "llm": llm}
    if not preset:
        given = next((name for name, value in own.items() if value), None)
        if given:
            raise InputError("cascade", given, found=str(own[given]), expected="it with a preset, as french-fdb-fr")
        return Cascade(**options)
    if preset not in PRESETS:
        raise InputError("cascade", "preset", found=preset, expected=f"one of {', '.join(PRESETS)}")
    return Cascade(**{**_parts(preset, {name: str(value) for name, value in own.items()}, options), **options})


def _parts(name: str, own: Mapping[str, str], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the cascade that a preset stands for."""
    preset = PRESETS[name]
    made: dict[str, Any] = {"language": preset.language, "turns": preset.turns}
    if not preset.published:
        for option in ("vosk", "piper"):
            if own[option]:
                raise InputError("cascade", option, found=own[option], expected=f"none: {name} has its own parts")
        if own["server"] or own["llm"]:
            made["model"] = _model(own)
        return made | {key: value for key in ("recogniser", "voice") if (value := getattr(preset, key))}
    for option, part, what in (
        ("vosk", "recogniser", "the folder of an unpacked Vosk model"),
        ("piper", "voice", "a Piper voice, NAME.onnx"),
    ):
        if not own[option] and part not in options:
            raise InputError("cascade", option, found="none", expected=f"{what} in {preset.language}, for {name}")
    if own["vosk"]:
        made["recogniser"] = f"vosk:model={_plain('vosk', own['vosk'])};language={preset.language}"
    if own["piper"]:
        made["voice"] = f"piper:voice={_plain('piper', own['piper'])}"
    return made | {"model": _model(own)}


def _model(own: Mapping[str, str]) -> str:
    extra = json.dumps({"think": False}, separators=(",", ":"))
    address, name = _plain("server", own["server"] or SERVER), _plain("llm", own["llm"] or MODEL)
    return f"openai-compatible:url={address};model={name};extra={extra}"


def _plain(option: str, value: str) -> str:
    """Return a value that stands as a part's option; what would part options from one another is refused."""
    odd = next((mark for mark in ";,=" if mark in value), None)
    if odd:
        raise InputError("cascade", option, found=value, expected=f"a value without {odd!r}")
    return value


def _signature() -> Signature:
    """Return what the function takes: a preset's options, then the cascade's own, as a command line lists them."""
    text = [Parameter(name, Parameter.KEYWORD_ONLY, default="", annotation="str") for name in _OWN]
    its = [
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type)
        for field in fields(Cascade)
    ]
    return Signature([*text, *its])


cascade.__signature__ = _signature()  # type: ignore[attr-defined]
__all__ = ["PRESETS", "Preset", "cascade"]
