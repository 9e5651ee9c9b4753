"""Who speaks the protocol of OpenAI's Realtime API, and in which of its forms.

==================  ======================================================================================
``ga``              the session nested (``audio.input.format``, …), events such as ``response.output_audio.delta``
``beta``            the session flat (``input_audio_format``, …), events such as ``response.audio.delta``
``mixed``           formats nested, voice and turn detection on top, events as in ``ga``
==================  ======================================================================================

Events of either form are understood of everyone. Of OpenAI's own form every frame is checked against the vendor's
SDK; the other presets are written from the vendors' pages, tried on the facade, and *not verified live*.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from fullduplex.model.spans import seconds

Form = Literal["ga", "beta", "mixed"]


@dataclass(frozen=True, slots=True)
class Preset:
    """One vendor: where it listens, what it calls things, how long it holds a session (microseconds, 0: not known).

    ``home`` is up to and without ``/realtime``; empty where each customer has an own. ``rate_in`` and ``rate_out`` are
    those of its pcm16, ``pcm_in`` and ``pcm_out`` its names for it; ``wav_in``: each piece that it is sent is a WAV
    file. ``rates``: it takes rates that it is told. ``in_session``: the model is named in the session too. ``stamped``:
    each event carries the client's time. ``truncates``: it takes how much was heard. ``session`` is what its sessions
    have to have.
    """

    home: str
    form: Form
    model: str
    key_name: str
    header: Literal["Authorization", "api-key"] = "Authorization"
    query: Mapping[str, str] = field(default_factory=dict)
    rate_in: int = 24_000
    rate_out: int = 24_000
    pcm_in: str = "pcm16"
    pcm_out: str = "pcm16"
    wav_in: bool = False
    rates: tuple[int, ...] = (24_000,)
    detections: tuple[str, ...] = ("server_vad", "semantic_vad")
    codings: tuple[str, ...] = ("pcm16", "pcmu", "pcma")
    in_session: bool = False
    stamped: bool = False
    truncates: bool = True
    session: Mapping[str, Any] = field(default_factory=dict)
    longest: int = 0


HOUR = seconds(3_600)

PRESETS: dict[str, Preset] = {
    "openai": Preset("wss://api.openai.com/v1", "ga", "gpt-realtime-2.1", "OPENAI_API_KEY", longest=HOUR),
    "azure": Preset("", "ga", "", "AZURE_OPENAI_API_KEY", "api-key"),
    "azure-voice-live": Preset(
        "",
        "beta",
        "",
        "AZURE_VOICE_LIVE_API_KEY",
        "api-key",
        {"api-version": "2026-07-15"},
        detections=(
            "server_vad",
            "semantic_vad",
            "azure_semantic_vad",
            "azure_semantic_vad_en",
            "azure_semantic_vad_multilingual",
        ),
        session={"input_audio_sampling_rate": 24_000},
    ),
    "xai": Preset(
        "wss://api.x.ai/v1",
        "mixed",
        "grok-voice-latest",
        "XAI_API_KEY",
        rates=(8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000),
        detections=("server_vad",),
        longest=HOUR,
    ),
    "qwen": Preset(
        "wss://dashscope.aliyuncs.com/api-ws/v1",
        "beta",
        "qwen3-omni-flash-realtime",
        "DASHSCOPE_API_KEY",
        rate_in=16_000,
        rates=(),
        pcm_in="pcm",
        pcm_out="pcm",
        codings=("pcm16",),
        truncates=False,
    ),
    "glm": Preset(
        "wss://open.bigmodel.cn/api/paas/v4",
        "beta",
        "glm-realtime-flash",
        "ZHIPU_API_KEY",
        rate_in=16_000,
        rates=(),
        pcm_in="wav",
        pcm_out="pcm",
        wav_in=True,
        detections=("server_vad",),
        codings=("pcm16",),
        in_session=True,
        stamped=True,
        truncates=False,
        session={"beta_fields": {"chat_mode": "audio", "tts_source": "e2e"}},
    ),
    "step": Preset(
        "wss://api.stepfun.com/v1",
        "beta",
        "step-audio-2",
        "STEPFUN_API_KEY",
        detections=("server_vad",),
        codings=("pcm16",),
        truncates=False,
    ),
}

#: What events were called before they were given the names by which they are known here.
BETA = {
    "response.audio.delta": "response.output_audio.delta",
    "response.audio.done": "response.output_audio.done",
    "response.audio_transcript.delta": "response.output_audio_transcript.delta",
    "response.audio_transcript.done": "response.output_audio_transcript.done",
    "response.text.delta": "response.output_text.delta",
    "response.text.done": "response.output_text.done",
    "conversation.item.created": "conversation.item.added",
}
#: The names of the formats in the flat session.
G711 = {"pcmu": "g711_ulaw", "pcma": "g711_alaw"}


__all__ = ["BETA", "G711", "HOUR", "PRESETS", "Form", "Preset"]
