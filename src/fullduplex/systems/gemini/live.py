"""Gemini Live: Google's hosted models, asked for one session a talk, whose turns they find by themselves.

Read in the types of ``google-genai`` 3.6.1, whose client works against the facade; *not verified live*.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from fullduplex.driving.link import Link, Traits
from fullduplex.errors import ConversationError, printable
from fullduplex.model.spans import seconds
from fullduplex.model.spec import Spec
from fullduplex.systems.gemini.codec import RATE_IN, RATE_OUT, Talking
from fullduplex.systems.keys import key_of
from fullduplex.systems.options import one_of
from fullduplex.systems.talking import begun
from fullduplex.systems.wire import Door, Wire, address, connected

HOME = "wss://generativelanguage.googleapis.com"
#: A connection lasts about so long; the server says so about a minute before.
LONGEST = seconds(600)
_VERSIONS = ("v1", "v1beta", "v1alpha")
_NAME = frozenset(string.ascii_letters + string.digits + "-_./")
_SENSITIVITY = ("", "low", "high")
_COVERAGE = {
    "": "",
    "activity": "TURN_INCLUDES_ONLY_ACTIVITY",
    "all": "TURN_INCLUDES_ALL_INPUT",
    "activity-and-video": "TURN_INCLUDES_AUDIO_ACTIVITY_AND_ALL_VIDEO",
}


@dataclass(frozen=True, slots=True)
class GeminiLive:
    """A talk with ``model`` of the Gemini Live API; what is not given is left to the server.

    ``url``: another server of the same protocol (``ws://`` or ``wss://``). ``key`` or ``key_file``: the API key; it is
    no part of the spec and is never shown. ``voice``: a prebuilt voice's name. ``language``: a code such as en-US.
    ``start_sensitivity`` and ``end_sensitivity`` (low, high), ``prefix_padding_ms`` and ``silence_duration_ms``: of
    its detection of the user's speech, that this driver never switches off. ``interrupts``: whether the user's speech
    stops it. ``coverage``: activity, all or activity-and-video, what of the input a turn holds. ``transcripts``: of
    both sides; ``word_times``: with times. ``vad_signal``: tell when the user begins and ceases to speak.
    ``proactive`` and ``affective``: need ``api_version=v1alpha``; the
    vendor's client asks for v1. ``thinking``: its budget in tokens. ``compress``:
    whether its context slides, without which audio ends after about 15 minutes. ``verify``: whether its certificate
    has to be a trusted one. ``ready_within``: seconds for the handshake.
    """

    model: str = "gemini-3.1-flash-live-preview"
    url: str = ""
    key: str = field(default="", repr=False)
    key_file: str = ""
    voice: str = ""
    language: str = ""
    start_sensitivity: Literal["", "low", "high"] = ""
    end_sensitivity: Literal["", "low", "high"] = ""
    prefix_padding_ms: int | None = None
    silence_duration_ms: int | None = None
    interrupts: bool = True
    coverage: Literal["", "activity", "all", "activity-and-video"] = ""
    transcripts: bool = True
    word_times: bool = False
    vad_signal: bool = False
    proactive: bool = False
    affective: bool = False
    thinking: int | None = None
    temperature: float | None = None
    compress: bool = False
    api_version: Literal["v1", "v1beta", "v1alpha"] = "v1"
    verify: bool = True
    ready_within: float = 20.0

    @staticmethod
    def key_name(options: Mapping[str, Any]) -> str:
        """Return the name of the environment variable that holds the key for a system of these options."""
        return "GEMINI_API_KEY"

    def __post_init__(self) -> None:
        for name, value, known in (
            ("start_sensitivity", self.start_sensitivity, _SENSITIVITY),
            ("end_sensitivity", self.end_sensitivity, _SENSITIVITY),
            ("coverage", self.coverage, tuple(_COVERAGE)),
            ("api_version", self.api_version, _VERSIONS),
        ):
            one_of(name, value, known)
        for name, count in (
            ("prefix_padding_ms", self.prefix_padding_ms),
            ("silence_duration_ms", self.silence_duration_ms),
        ):
            if count is not None and count < 0:
                raise ValueError(f"{name}: found {count}, expected milliseconds, 0 or more")
        if not self.model or not set(self.model) <= _NAME:
            raise ValueError(f"model: found {printable(repr(self.model), 80)}, expected the name of a model")
        if (self.proactive or self.affective) and self.api_version != "v1alpha":
            raise ValueError("proactive and affective are of api_version=v1alpha alone")
        if self.word_times and not self.transcripts:
            raise ValueError("word_times are of transcripts: set both")

    @property
    def spec(self) -> Spec:
        """Return the model and what is asked of it; where it runs and the key change nothing."""
        beside = ("url", "key", "key_file", "verify", "ready_within")
        plain = GeminiLive()
        options = {name: value for name in self.__slots__ if (value := getattr(self, name)) != getattr(plain, name)}
        return Spec("gemini-live", {"model": self.model} | {n: v for n, v in options.items() if n not in beside}, "1")

    @property
    def traits(self) -> Traits:
        """Return audio ahead of time, a turn taken back when interrupted, and ten minutes at most."""
        return Traits(RATE_IN, RATE_OUT, timing="burst", flush="epoch", longest=LONGEST)

    def setup(self, prompt: str) -> dict[str, Any]:
        """Return what opens the session."""
        speech = _given(
            voiceConfig={"prebuiltVoiceConfig": {"voiceName": self.voice}} if self.voice else None,
            languageCode=self.language or None,
        )
        generation = _given(
            responseModalities=["AUDIO"],
            speechConfig=speech or None,
            temperature=self.temperature,
            thinkingConfig=None if self.thinking is None else {"thinkingBudget": self.thinking},
            enableAffectiveDialog=self.affective or None,
        )
        detection = _given(
            startOfSpeechSensitivity=_named("START_SENSITIVITY_", self.start_sensitivity),
            endOfSpeechSensitivity=_named("END_SENSITIVITY_", self.end_sensitivity),
            prefixPaddingMs=self.prefix_padding_ms,
            silenceDurationMs=self.silence_duration_ms,
        )
        realtime = _given(
            automaticActivityDetection=detection or None,
            activityHandling=None if self.interrupts else "NO_INTERRUPTION",
            turnCoverage=_COVERAGE[self.coverage] or None,
        )
        transcription = {"wordTimestamp": True} if self.word_times else {}
        return _given(
            model=self.model if "/" in self.model else f"models/{self.model}",
            generationConfig=generation,
            systemInstruction={"parts": [{"text": prompt}]} if prompt.strip() else None,
            realtimeInputConfig=realtime or None,
            inputAudioTranscription=transcription if self.transcripts else None,
            outputAudioTranscription=transcription if self.transcripts else None,
            explicitVadSignal=self.vad_signal or None,
            proactivity={"proactiveAudio": True} if self.proactive else None,
            contextWindowCompression={"slidingWindow": {}} if self.compress else None,
        )

    def door(self, prompt: str) -> Door:
        """Return where the session is opened; raises :class:`InputError` for what is no key."""
        key = key_of("gemini-live", self.key, self.key_file)
        service = f"/ws/google.ai.generativelanguage.{self.api_version}.GenerativeService.BidiGenerateContent"
        url = address(self.url or HOME, service)
        return Door(url, {"x-goog-api-key": key} if key else {}, verify=self.verify)

    def connect(self, prompt: str) -> AbstractAsyncContextManager[Link]:
        """Open a talk; ``prompt`` is the system instruction.

        Raises :class:`ConversationError` where Google's own server is asked without a key.
        """
        if not self.url and not self.key and not self.key_file:
            raise ConversationError(
                "gemini-live needs a key of the Gemini API: GEMINI_API_KEY in the environment, or key_file=FILE"
            )
        return connected(self, prompt)

    def over(self, wire: Wire, prompt: str) -> AbstractAsyncContextManager[Talking]:
        """Open a talk over ``wire``."""
        setup = self.setup(prompt)
        server = urlsplit(self.url or HOME).hostname or ""
        key = key_of("gemini-live", self.key, self.key_file)
        talking = Talking(wire, {"setup": setup, "server": server}, setup, key)
        return begun(talking, "the Gemini server", within=self.ready_within)


def _given(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _named(prefix: str, value: str) -> str | None:
    return f"{prefix}{value.upper()}" if value else None
