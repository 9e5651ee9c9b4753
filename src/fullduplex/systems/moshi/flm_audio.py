"""FLM-Audio: Moshi's wire with settings that the server keeps from one talk to the next.

Settings go to ``/api/settings`` before the talk is opened; a server that holds a talk refuses them. What is not set
is as whoever came before has left it. Its text is a monologue in sentences that runs ahead of the sound, ended by a
line break: it says what it means to say, and no word's time. *Not verified live*: read in its source, tried on the
facade.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from fullduplex.driving.link import Happening, Link, Note, Said, Traits
from fullduplex.errors import ConversationError, printable
from fullduplex.model.spec import Spec
from fullduplex.systems.moshi.codec import Talking, not_taken, traits
from fullduplex.systems.moshi.urls import CHAT, checkpoint
from fullduplex.systems.talking import begun
from fullduplex.systems.wire import Door, Wire, address, connected

#: How long the server may take to answer that it has the settings, in seconds.
SETS_WITHIN = 10.0
_SETTINGS = (
    "use_sampling",
    "temp_audio",
    "temp_text",
    "top_k_audio",
    "top_k_text",
    "top_p_audio",
    "top_p_text",
    "repetition_penalty_audio",
    "repetition_penalty_text",
    "repetition_penalty_window_audio",
    "repetition_penalty_window_text",
)


@dataclass(frozen=True, slots=True)
class FlmAudio:
    """A talk with an FLM-Audio server at ``url`` (``ws://`` or ``wss://``; without a path, ``/api/chat``).

    ``model`` is the checkpoint that you started it with: kept with the run, and not verified. ``verify``: whether
    its certificate has to be a trusted one. ``ready_within``: seconds for the handshake, which comes once no other
    session is live. The others are the server's settings by its own names; those given are set before each talk.
    """

    url: str = ""
    model: str = "CofeAI/FLM-Audio"
    verify: bool = False
    ready_within: float = 50.0
    use_sampling: bool | None = None
    temp_audio: float | None = None
    temp_text: float | None = None
    top_k_audio: int | None = None
    top_k_text: int | None = None
    top_p_audio: float | None = None
    top_p_text: float | None = None
    repetition_penalty_audio: float | None = None
    repetition_penalty_text: float | None = None
    repetition_penalty_window_audio: int | None = None
    repetition_penalty_window_text: int | None = None

    #: How it can be had: its weights are published.
    access = "open"

    def __post_init__(self) -> None:
        checkpoint(self.model)

    @property
    def settings(self) -> dict[str, Any]:
        """Return the settings that are given, by the server's names."""
        return {name: value for name in _SETTINGS if (value := getattr(self, name)) is not None}

    @property
    def spec(self) -> Spec:
        """Return which checkpoint and settings; where it runs changes nothing."""
        return Spec("flm-audio", {"model": checkpoint(self.model)} | self.settings, "1")

    @property
    def traits(self) -> Traits:
        """Return a frame for a frame of 80 ms, one talk at a time, no flush."""
        return traits()

    def door(self, prompt: str) -> Door:
        """Return where a talk is opened."""
        return Door(address(self.url or "ws://localhost:8990", CHAT), verify=self.verify)

    @asynccontextmanager
    async def _connect(self, prompt: str) -> AsyncIterator[Link]:
        if self.settings:
            await self._set()
        async with connected(self, prompt) as link:
            yield link

    def connect(self, prompt: str) -> AbstractAsyncContextManager[Link]:
        """Set what is to be set and open a talk; it takes no prompt, and says so where it is given one."""
        return self._connect(prompt)

    async def _set(self) -> None:
        """Give the server its settings; raises :class:`ConversationError` where it does not take them."""
        import httpx

        parts = urlsplit(self.door("").url)
        url = parts._replace(scheme=parts.scheme.replace("ws", "http"), path="/api/settings", query="").geturl()
        try:
            async with httpx.AsyncClient(verify=self.verify, timeout=SETS_WITHIN, trust_env=False) as client:
                answer = await client.post(url, json=self.settings)
        except (httpx.HTTPError, ValueError) as error:
            reason = printable(str(error) or type(error).__name__)
            raise ConversationError(f"{printable(url)}: the FLM-Audio server took no settings: {reason}") from error
        if answer.status_code == 503:
            raise ConversationError("the FLM-Audio server is busy with another talk, and takes no settings meanwhile")
        if answer.status_code != 200:
            said = printable(answer.text, 200)
            raise ConversationError(f"the FLM-Audio server took no settings: {answer.status_code} {said}")

    def over(self, wire: Wire, prompt: str) -> AbstractAsyncContextManager[Talking]:
        """Open a talk over ``wire``."""
        others = "as set" if len(self.settings) == len(_SETTINGS) else "the others as whoever came before left them"
        told = dict(self.spec.options) | {"model_verified": False, "settings": others} | not_taken(prompt)
        talking = Talking(wire, told, text_first=True, reads=monologue)
        return begun(talking, "the FLM-Audio server", within=self.ready_within)


def monologue(text: str) -> Happening:
    """Return a piece of the monologue, or a note that it ended."""
    return Said(text) if text.strip("\n") else Note("monologue_end")
