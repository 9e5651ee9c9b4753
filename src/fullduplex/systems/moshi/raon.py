"""Raon-SpeechChat: looks like Moshi and has kinds of its own, raw samples, and an index of its input.

Each frame of 1920 samples (float32, 24 kHz) that it processes is answered by one, with a trace in front that begins
with the frame's number. It counts what it processed: where it drops input that came too fast, the numbers fall behind,
and so the lag of each output tells slowness and loss alike. It closes the talk for any kind that it does not know, for
a line that is still for 15 s, and for a ping without an answer. *Not verified live*: read in its source,
tried on the facade.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Literal

from fullduplex.driving.link import Closed, Happening, Link, Note, Said, Traits
from fullduplex.driving.playout import Chunk, Samples
from fullduplex.errors import printable
from fullduplex.model.spec import Spec
from fullduplex.systems.incoming import Incoming
from fullduplex.systems.moshi.codec import FRAME, RATE
from fullduplex.systems.moshi.urls import checkpoint
from fullduplex.systems.options import one_of
from fullduplex.systems.talking import Translating, begun
from fullduplex.systems.wire import Door, Wire, address, connected

READY, AUDIO, TEXT, TRACE, DELTA, ERROR, CLOSE, PING, PONG = range(9)
_INDEX = re.compile(r"frame=(\d{1,9})\b")
_STYLES = ("generic", "raon", "raon_persona", "raon_persona_context", "custom")


@dataclass(frozen=True, slots=True)
class Raon:
    """A talk with a Raon-SpeechChat gateway at ``url`` (``ws://`` or ``wss://``; without a path, ``/ws/chat``).

    ``speak_first``: whether it opens the talk. ``language``: eng or kor. ``style``, ``persona``, ``context``: of its
    system prompt; an item's prompt takes their place. ``speaker``: none, default or recorded, the last with
    ``speaker_key``. ``temperature``, ``top_k``, ``top_p``, ``eos_penalty``, ``bc_penalty``: its sampling; what is not
    given is left to the server. ``model`` is the checkpoint that you started it with: kept with the run, not
    verified. ``verify``: whether its certificate has to be a trusted one.
    """

    url: str = ""
    model: str = "raon"
    verify: bool = False
    ready_within: float = 50.0
    speak_first: bool = False
    language: Literal["eng", "kor"] = "eng"
    style: str = "generic"
    persona: str = ""
    context: str = ""
    speaker: Literal["none", "default", "recorded"] = "default"
    speaker_key: str = ""
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    eos_penalty: float | None = None
    bc_penalty: float | None = None

    #: How it can be had: its weights are published.
    access = "open"

    def __post_init__(self) -> None:
        for name, value, known in (
            ("language", self.language, ("eng", "kor")),
            ("style", self.style, _STYLES),
            ("speaker", self.speaker, ("none", "default", "recorded")),
        ):
            one_of(name, value, known)
        if (self.speaker == "recorded") != bool(self.speaker_key):
            raise ValueError("speaker_key: a recorded speaker has one, and no other")
        checkpoint(self.model)

    def _query(self, prompt: str) -> dict[str, Any]:
        query: dict[str, Any] = {
            "prompt": f"{self.language}:full_duplex:{'speak' if self.speak_first else 'listen'}-first",
            "prompt_language": self.language,
            "system_prompt_style": "custom" if prompt else self.style,
            "speaker_mode": self.speaker,
        }
        given = {
            "system_prompt_persona": self.persona,
            "system_prompt_context": self.context,
            "custom_system_prompt": prompt,
            "speaker_key": self.speaker_key,
        }
        sampling = ("temperature", "top_k", "top_p", "eos_penalty", "bc_penalty")
        query |= {name: value for name, value in given.items() if value}
        return query | {name: value for name in sampling if (value := getattr(self, name)) is not None}

    @property
    def spec(self) -> Spec:
        """Return which checkpoint, prompt, speaker and sampling; where it runs changes nothing."""
        return Spec("raon", {"model": checkpoint(self.model)} | self._query(""), "1")

    @property
    def traits(self) -> Traits:
        """Return a frame for a frame of 80 ms, by an index of the input; no flush; several talks at once."""
        return Traits(RATE, RATE, FRAME, timing="sync", source="session")

    def door(self, prompt: str) -> Door:
        """Return where a talk is opened, with its prompt."""
        url = address(self.url or "ws://localhost:8080", "/ws/chat", self._query(prompt.strip()))
        return Door(url, verify=self.verify)

    def connect(self, prompt: str) -> AbstractAsyncContextManager[Link]:
        """Open a talk; ``prompt`` takes the place of ``style`` where there is one."""
        return connected(self, prompt)

    def over(self, wire: Wire, prompt: str) -> AbstractAsyncContextManager[RaonTalking]:
        """Open a talk over ``wire``, and say so when it is over."""
        told = dict(self.spec.options) | self._query(prompt.strip())
        talking = RaonTalking(wire, told | {"model_verified": False})
        return begun(talking, "the Raon gateway", within=self.ready_within)


class RaonTalking(Translating[str | bytes, str | bytes]):
    """One talk over a wire."""

    busy = "it may be busy with other talks"

    def __init__(self, wire: Wire, settings: Mapping[str, Any]) -> None:
        super().__init__(wire, settings)
        self._incoming = Incoming("f32", RATE, RATE)
        self._index: int | None = None

    async def get_ready(self) -> None:
        """Return once the gateway said that it is ready; what it says before is kept for the talk."""
        await self.until(lambda message: message if message[:1] == bytes([READY]) else None)

    async def send(self, frame: Samples) -> None:
        """Send the next frame of the user as it is."""
        await self.give(bytes([AUDIO]) + frame.astype("<f4").tobytes())

    async def leave(self) -> None:
        """Say that the talk is over, so that its place is free at once."""
        await self.give(bytes([CLOSE]))

    async def understood(self, message: str | bytes) -> list[Happening]:
        """Return the events of one message; what cannot be understood is a note."""
        if isinstance(message, str) or not message:
            text = printable(message[:200]) if isinstance(message, str) else ""
            return [Note("unreadable", {"text": text, "length": len(message)})]
        kind, payload = message[0], message[1:]
        if kind == PING:
            await self.give(bytes([PONG]) + payload)
            return []
        if kind == AUDIO:
            return self._sound(payload)
        text = payload.decode("utf-8", "replace")
        if kind == DELTA and (found := _INDEX.match(text)):
            self._index = int(found[1])
            # Its tokens tell a backchannel from a turn.
            return [Note("trace", {"text": printable(text, 1_000)})]
        if kind == TEXT:
            return [Said(text, source=self._source) if text.strip() else Note("line_break")]
        if kind == ERROR:
            self.errors.append(text)
            return [Note("error", {"text": text})]
        if kind == CLOSE:
            return [Closed(printable(text) or "closed by the gateway")]
        if kind in (TRACE, DELTA):
            return [Note("trace", {"text": printable(text, 1_000)})]
        return [Note("pong" if kind == PONG else "unknown", {"kind": kind, "bytes": len(payload)})]

    @property
    def _source(self) -> int | None:
        """Return the end of the input frame that is being answered, where its number is known."""
        return None if self._index is None else self._index * FRAME

    def _sound(self, payload: bytes) -> list[Happening]:
        samples = self._incoming.take(payload)
        return [Chunk(samples, source=self._source)] if len(samples) else []
