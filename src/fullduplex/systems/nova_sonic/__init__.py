"""Amazon's Nova Sonic: speech to speech over one HTTP/2 stream of Bedrock, both ways at once.

The plain wire, not the SDK: that needs a newer Python and the C runtime, and hides when the socket was read. That we
sign and frame as the SDK does is tested against bytes that it made, and its client works against our facade. *Not
verified live*: there was no account.
"""

from __future__ import annotations

import string
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from fullduplex.driving.link import Link, Traits
from fullduplex.errors import ConversationError, InputError, printable
from fullduplex.model.spans import seconds
from fullduplex.model.spec import Spec
from fullduplex.systems.keys import key_of
from fullduplex.systems.nova_sonic.codec import RATE_IN, RATE_OUT, Talking, opening
from fullduplex.systems.options import a_deadline
from fullduplex.systems.talking import begun
from fullduplex.systems.wire import Door, Wire, websocket

#: A stream stays open for so long.
LONGEST = seconds(480)
_NAME = frozenset(string.ascii_letters + string.digits + "-_.:/")
_SENSITIVITY = ("", "high", "medium", "low")


@dataclass(frozen=True, slots=True)
class NovaSonic:
    """A talk with ``model`` in ``region``; what is not given is left to the server.

    ``url``: another address: ``https://`` or ``http://`` of the same protocol (HTTP/2), or ``ws://`` and ``wss://`` of
    a bridge that passes the events on as they are. ``voice``: its name. ``role``: its system prompt where an item has
    none. ``max_tokens``, ``temperature``, ``top_p``: of each answer. ``endpointing``: high, medium or low: how soon it
    takes a pause for the end of the user's turn (of the second generation). ``verify``: whether a certificate has to
    be a trusted one. ``ready_within``: seconds for the connection.

    ``key`` is the secret access key, ``key_id`` the access key's id, ``session_token`` that of temporary ones: all
    handed in by the caller, and in no spec and no message. They sign a request where the line is encrypted or within
    this machine.
    """

    model: str = "amazon.nova-2-sonic-v1:0"
    region: str = "us-east-1"
    url: str = ""
    voice: str = "matthew"
    role: str = ""
    max_tokens: int = 1_024
    temperature: float = 0.7
    top_p: float = 0.9
    endpointing: str = ""
    verify: bool = True
    ready_within: float = 20.0
    key: str = field(default="", repr=False)
    key_id: str = field(default="", repr=False)
    session_token: str = field(default="", repr=False)

    #: How it can be had.
    access = "closed"
    #: A key that not everyone has.
    optional_keys = ("session_token",)

    def __post_init__(self) -> None:
        for name in ("model", "region", "voice"):
            value = getattr(self, name)
            if not value or not set(value) <= _NAME:
                raise ValueError(f"{name}: found {printable(repr(value), 80)}, expected a name")
        if self.endpointing not in _SENSITIVITY:
            raise ValueError(f"endpointing: found {printable(self.endpointing, 60)}, expected high, medium or low")
        if not 0 <= self.temperature <= 1 or not 0 <= self.top_p <= 1:
            raise ValueError("temperature and top_p: expected 0 to 1")
        if self.max_tokens < 1:
            raise ValueError("max_tokens: expected 1 or more")
        a_deadline("ready_within", self.ready_within)
        for name in ("key", "key_id", "session_token"):
            key_of("nova-sonic", getattr(self, name), "")
        scheme = self.url.partition("://")[0]
        if self.url and (scheme not in ("https", "http", "wss", "ws") or not self.url.isprintable() or "@" in self.url):
            raise InputError(
                "--system", "url", found=printable(self.url, 80), expected="https://HOST or ws://HOST:PORT"
            )

    @property
    def session(self) -> dict[str, Any]:
        """Return what opens the session."""
        inference = {"maxTokens": self.max_tokens, "topP": self.top_p, "temperature": self.temperature}
        told: dict[str, Any] = {"inferenceConfiguration": inference}
        if self.endpointing:
            told["turnDetectionConfiguration"] = {"endpointingSensitivity": self.endpointing.upper()}
        return told

    @property
    def spec(self) -> Spec:
        """Return the model and what is asked of it; where it runs and the keys change nothing."""
        options = {"model": self.model, "voice": self.voice, "session": self.session}
        return Spec("nova-sonic", options | ({"role": self.role} if self.role else {}), "1")

    @property
    def traits(self) -> Traits:
        """Return sound ahead of time, all taken back when interrupted, and eight minutes at most."""
        return Traits(RATE_IN, RATE_OUT, timing="burst", flush="epoch", longest=LONGEST)

    def door(self, prompt: str) -> Door:
        """Return where a talk is opened; a request is signed when it is made."""
        home = self.url or f"https://bedrock-runtime.{self.region}.amazonaws.com"
        return Door(home, verify=self.verify)

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[Link]:
        """Open a talk; raises :class:`ConversationError` where nobody answers or the request is refused."""
        door = self.door(prompt)
        if door.url.startswith("ws"):
            async with websocket(door) as wire, self.over(wire, prompt) as talking:
                yield talking
            return
        from fullduplex.systems.nova_sonic.http2 import stream
        from fullduplex.systems.nova_sonic.signing import Credentials

        if not self.url and not (self.key and self.key_id):
            raise ConversationError(
                "nova-sonic needs an AWS key: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment or in .env"
            )
        signs = bool(self.key and self.key_id) and _secured(door.url)
        held = Credentials(*(self.key_id, self.key, self.session_token) if signs else ("", "", ""), self.region)
        async with stream(door, self.model, held, self.ready_within) as wire, self.over(wire, prompt) as talking:
            yield talking

    def over(self, wire: Wire, prompt: str) -> AbstractAsyncContextManager[Talking]:
        """Open a talk over ``wire``: it is ready once its opening was sent, since the server has no word for it."""
        instruction = prompt.strip() or self.role
        settings = dict(self.spec.options) | {"role": instruction, "region": self.region, "model_verified": False}
        talking = Talking(wire, settings, opening(self.session, self.voice, instruction))
        return begun(talking, "Nova Sonic", within=self.ready_within)

    @staticmethod
    def key_names(options: Mapping[str, Any]) -> dict[str, str]:
        """Return the names of the environment variables that hold the keys, by the options that take them."""
        return {"key": "AWS_SECRET_ACCESS_KEY", "key_id": "AWS_ACCESS_KEY_ID", "session_token": "AWS_SESSION_TOKEN"}


def _secured(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" or parts.hostname in ("localhost", "127.0.0.1", "::1")


__all__ = ["LONGEST", "NovaSonic"]
