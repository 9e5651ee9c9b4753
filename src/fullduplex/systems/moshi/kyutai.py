"""Moshi: Kyutai's Python server (PyPI ``moshi``) and its Rust server, which differ in what they read from the URL.

Verified here against the Python server of ``moshi`` 0.2.13 with a small random checkpoint; the Rust server is *not
verified live*: its differences are played by the facade.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Literal

from fullduplex.driving.link import Link, Traits
from fullduplex.model.spans import seconds
from fullduplex.model.spec import Spec
from fullduplex.systems.moshi.codec import FRAME, Talking, not_taken, traits
from fullduplex.systems.moshi.urls import CHAT, checkpoint
from fullduplex.systems.talking import begun
from fullduplex.systems.wire import Door, Wire, address, connected

#: The Rust server ends a session then, or after ``max_steps`` frames.
RUST_LONGEST = seconds(360)
RUST_STEPS = 4_500


@dataclass(frozen=True, slots=True)
class Moshi:
    """A talk with a Moshi server at ``url`` (``ws://`` or ``wss://``; the path is ``/api/chat`` where none is given).

    ``server``: ``python`` or ``rust``. ``model`` is the checkpoint that you started it with: it is kept with the run,
    and nothing here can verify it. ``verify``: whether its certificate has to be a trusted one (default: not for
    Rust, which makes one of its own at each start). ``ready_within``: seconds for the handshake, which comes once no
    other session is live. What is below is read by the Rust server alone, from the URL; the Python server is told when
    it is started.
    """

    url: str = ""
    server: Literal["python", "rust"] = "python"
    model: str = ""
    verify: bool | None = None
    ready_within: float = 50.0
    text_temperature: float | None = None
    text_topk: int | None = None
    audio_temperature: float | None = None
    audio_topk: int | None = None
    max_steps: int | None = None
    audio_seed: int | None = None
    text_seed: int | None = None
    pad_mult: float | None = None
    repetition_penalty: float | None = None
    repetition_penalty_context: int | None = None

    #: How it can be had: its weights are published.
    access = "open"

    def __post_init__(self) -> None:
        if self.server not in ("python", "rust"):
            raise ValueError(f"server: found {self.server!r}, expected python or rust")
        told = next(iter(self._query()), None)
        if told and self.server == "python":
            raise ValueError(f"{told} is read by the Rust server alone; tell the Python server when you start it")
        if self.max_steps is not None and not 0 < self.max_steps <= RUST_STEPS:
            raise ValueError(f"max_steps: found {self.max_steps}, expected 1 to {RUST_STEPS}")
        if (self.repetition_penalty is None) != (self.repetition_penalty_context is None):
            raise ValueError("repetition_penalty and repetition_penalty_context: the server takes both or neither")
        checkpoint(self.model)

    def _query(self) -> dict[str, Any]:
        names = (
            "text_temperature",
            "text_topk",
            "audio_temperature",
            "audio_topk",
            "max_steps",
            "audio_seed",
            "text_seed",
            "pad_mult",
            "repetition_penalty",
            "repetition_penalty_context",
        )
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    @property
    def longest(self) -> int:
        """Return the longest session of the server in microseconds, 0 where it has no limit."""
        return 0 if self.server == "python" else min(RUST_LONGEST, (self.max_steps or RUST_STEPS) * FRAME)

    @property
    def spec(self) -> Spec:
        """Return which server, checkpoint and sampling; where it runs changes nothing."""
        return Spec("moshi", {"server": self.server, "model": checkpoint(self.model)} | self._query(), "1")

    @property
    def traits(self) -> Traits:
        """Return a frame for a frame of 80 ms, one talk at a time, no flush."""
        return traits(self.longest)

    def door(self, prompt: str) -> Door:
        """Return where a talk is opened."""
        usual = "ws://localhost:8998" if self.server == "python" else "wss://localhost:8998"
        verify = self.server == "python" if self.verify is None else self.verify
        return Door(address(self.url or usual, CHAT, self._query()), verify=verify)

    def connect(self, prompt: str) -> AbstractAsyncContextManager[Link]:
        """Open a talk; it takes no prompt, and says so where it is given one."""
        return connected(self, prompt)

    def over(self, wire: Wire, prompt: str) -> AbstractAsyncContextManager[Talking]:
        """Open a talk over ``wire``."""
        settings = dict(self.spec.options) | {"model_verified": False} | not_taken(prompt)
        talking = Talking(wire, settings, longest=self.longest)
        return begun(talking, "the Moshi server", within=self.ready_within)
