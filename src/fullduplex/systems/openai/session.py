"""What a session is asked to be, in the three forms of ``session.update``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fullduplex.systems.openai.presets import G711, Preset
from fullduplex.systems.openai.sound import Format

Session = dict[str, Any]


def asked(
    preset: Preset,
    *,
    model: str,
    voice: str,
    instructions: str,
    detection: Mapping[str, Any] | None,
    formats: tuple[Format, Format],
    rates: tuple[int, int],
    transcription: Mapping[str, Any],
    noise_reduction: str,
    speed: float | None,
    extra: Mapping[str, Any],
) -> Session:
    """Return the session of a ``session.update``; what is empty or None is left to the server.

    ``detection`` None asks for none. ``formats`` and ``rates``: of the user, of the system. ``extra`` is laid over
    the rest, member by member.
    """
    if preset.form == "beta":
        told: Session = {
            "modalities": ["text", "audio"],
            "input_audio_format": G711.get(formats[0], preset.pcm_in),
            "output_audio_format": G711.get(formats[1], preset.pcm_out),
            "turn_detection": detection,
        }
        told |= {"input_audio_transcription": dict(transcription)} if transcription else {}
        told |= {"input_audio_noise_reduction": {"type": noise_reduction}} if noise_reduction else {}
        told |= {"voice": voice} if voice else {}
        told |= {"speed": speed} if speed is not None else {}
    else:
        into: Session = {"format": _nested(formats[0], rates[0])}
        out: Session = {"format": _nested(formats[1], rates[1])}
        into |= {"transcription": dict(transcription)} if transcription else {}
        into |= {"noise_reduction": {"type": noise_reduction}} if noise_reduction else {}
        out |= {"speed": speed} if speed is not None else {}
        told = {"audio": {"input": into, "output": out}}
        if preset.form == "mixed":
            told |= {"turn_detection": detection} | ({"voice": voice} if voice else {})
        else:
            into["turn_detection"] = detection
            out |= {"voice": voice} if voice else {}
            told = {"type": "realtime", "output_modalities": ["audio"]} | told
    told |= {"instructions": instructions} if instructions else {}
    told |= {"model": model} if preset.in_session else {}
    return laid_over(laid_over(told, preset.session), extra)


def _nested(format: Format, rate: int) -> Session:
    return {"type": "audio/pcm", "rate": rate} if format == "pcm16" else {"type": f"audio/{format}"}


def laid_over(under: Mapping[str, Any], over: Mapping[str, Any]) -> Session:
    """Return ``under`` with the members of ``over``; objects are laid over one another."""
    told = dict(under)
    for name, value in over.items():
        there = told.get(name)
        both = isinstance(there, Mapping) and isinstance(value, Mapping)
        told[name] = laid_over(there, value) if both else value  # type: ignore[arg-type]
    return told


def an_object(option: str, value: Mapping[str, Any] | str) -> Session:
    """Return a JSON object that was given as one or as text; raises ValueError for anything else."""
    if not value:
        return {}
    try:
        told = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, Mapping):
        raise ValueError(f"{option}: found {str(value)[:60]!r}, expected a JSON object")
    return dict(told)


def told_formats(session: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return what a session says of the user's format and of the system's, None where it says nothing."""
    audio = session.get("audio")
    audio = audio if isinstance(audio, Mapping) else {}
    into, out = audio.get("input"), audio.get("output")
    return (
        into.get("format") if isinstance(into, Mapping) else session.get("input_audio_format"),
        out.get("format") if isinstance(out, Mapping) else session.get("output_audio_format"),
    )


def kept(session: Any) -> Session:
    """Return what a server says of its session, but for what opens one."""
    if not isinstance(session, Mapping):
        return {}
    return {str(name): value for name, value in session.items() if name not in ("client_secret", "resume_token")}
