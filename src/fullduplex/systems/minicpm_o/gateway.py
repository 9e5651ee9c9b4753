"""MiniCPM-o: the gateway of its demo, a second of the user in each message over a WebSocket, a decision for each.

Read in the project's source (its adapter of these messages at 0bdedf4); its documentation names some members
otherwise, and its stand-in worker others again: all are taken. *Not verified live*.
"""

from __future__ import annotations

import base64
import secrets
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullduplex.driving.link import Link, Traits
from fullduplex.errors import InputError
from fullduplex.model.spans import ms
from fullduplex.model.spec import Spec
from fullduplex.systems.minicpm_o.codec import RATE_IN, RATE_OUT, Talking
from fullduplex.systems.moshi.urls import checkpoint
from fullduplex.systems.talking import begun
from fullduplex.systems.wire import Door, Wire, address, connected

#: A reference voice is a few seconds.
LONGEST_VOICE = 60


@dataclass(frozen=True, slots=True)
class MiniCPMo:
    """A talk with a MiniCPM-o gateway at ``url`` (``ws://`` or ``wss://``; without a path, ``/ws/duplex/`` and a name).

    ``role``: its system prompt where an item has none. ``voice``: a sound file with the voice that it shall have.
    ``force_listen_count``: how many seconds it may only listen at first. ``temperature``, ``top_k``, ``top_p``,
    ``listen_prob_scale``, ``max_new_speak_tokens_per_chunk``: its sampling; what is not given is left to the server.
    ``model`` is the checkpoint that you started it with: kept with the run, and not verified. ``verify``: whether its
    certificate has to be a trusted one. ``ready_within``: seconds for the handshake, in which it may queue.
    """

    url: str = ""
    role: str = ""
    voice: str = ""
    model: str = "MiniCPM-o-4_5"
    force_listen_count: int | None = None
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    listen_prob_scale: float | None = None
    max_new_speak_tokens_per_chunk: int | None = None
    verify: bool = False
    ready_within: float = 50.0

    #: How it can be had: its weights are published.
    access = "open"

    def __post_init__(self) -> None:
        for name in ("force_listen_count", "top_k", "max_new_speak_tokens_per_chunk", "temperature", "top_p"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ValueError(f"{name}: found {value}, expected 0 or more")
        checkpoint(self.model)

    @property
    def sampling(self) -> dict[str, Any]:
        """Return what is asked for of its configuration."""
        names = (
            "force_listen_count",
            "temperature",
            "top_k",
            "top_p",
            "listen_prob_scale",
            "max_new_speak_tokens_per_chunk",
        )
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    @property
    def spec(self) -> Spec:
        """Return which checkpoint, role, voice (the digest of its file) and sampling; where it runs changes nothing."""
        options: dict[str, Any] = {"model": checkpoint(self.model)} | self.sampling
        if self.role:
            options["role"] = self.role
        if self.voice:
            from fullduplex.providers.weights import sha256

            options["voice"] = sha256(_file(self.voice))[:16]
        return Spec("minicpm-o", options, "1")

    @property
    def traits(self) -> Traits:
        """Return a decision a second, by an index of the input; no flush; a model for each talk."""
        return Traits(RATE_IN, RATE_OUT, ms(20), timing="unit", source="session")

    def door(self, prompt: str) -> Door:
        """Return where a talk is opened, by a name of its own; what begins with ``adx_`` is sound without a camera."""
        path = f"/ws/duplex/adx_{secrets.token_hex(8)}"
        return Door(address(self.url or "wss://localhost:8006", path), verify=self.verify)

    def connect(self, prompt: str) -> AbstractAsyncContextManager[Link]:
        """Open a talk; ``prompt`` takes the place of ``role`` where there is one."""
        return connected(self, prompt)

    def over(self, wire: Wire, prompt: str) -> AbstractAsyncContextManager[Talking]:
        """Open a talk over ``wire``."""
        prepare: dict[str, Any] = {"type": "prepare", "config": {"chunk_ms": 1_000} | self.sampling}
        if told := prompt.strip() or self.role:
            prepare["system_prompt"] = told
        if self.voice:
            prepare["ref_audio_base64"] = prepare["tts_ref_audio_base64"] = _voice(self.voice)
        settings = dict(self.spec.options) | {"model_verified": False, "role": told, "playback": "nothing is stopped"}
        return begun(Talking(wire, settings, prepare), "the MiniCPM-o gateway", within=self.ready_within)


def _file(voice: str) -> Path:
    path = Path(voice).expanduser()
    if not path.is_file():
        raise InputError(voice, "voice", found="no such file", expected="a sound file of the voice")
    return path


def _voice(voice: str) -> str:
    """Return the sound of a file as the gateway takes it: float32 at 16 kHz, in base64."""
    from fullduplex.data import audio

    samples, rate = audio.read(_file(voice))
    if len(samples) > LONGEST_VOICE * rate:
        raise InputError(voice, "voice", found=f"{len(samples) / rate:.0f} s", expected=f"{LONGEST_VOICE} s at most")
    return base64.b64encode(audio.resample(samples, rate, RATE_IN).astype("<f4").tobytes()).decode()
