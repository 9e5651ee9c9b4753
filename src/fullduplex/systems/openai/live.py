"""GPT-Live: OpenAI's model that hears and speaks at once, in one session without turns.

The plain wire, not the SDK: it decodes before it hands an event on, and hides when the socket was read. That we speak
as the SDK does is tested against frames that the SDK made. *Not verified live*: there was no account. Whether
silence travels, and how fast the sound comes, is not known: both are measured and neither is taken for granted.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import InitVar, dataclass, field
from typing import Any
from urllib.parse import quote

from fullduplex.driving.link import Ready, Traits
from fullduplex.errors import ConversationError
from fullduplex.model.spec import Spec
from fullduplex.systems.keys import key_of
from fullduplex.systems.openai.door import address, admitted, opened, secured
from fullduplex.systems.openai.line import Line, text
from fullduplex.systems.openai.live_talk import Talking
from fullduplex.systems.openai.session import Session, an_object, laid_over
from fullduplex.systems.openai.sideband import Sideband
from fullduplex.systems.openai.sound import FORMATS, TELEPHONE
from fullduplex.systems.options import a_deadline, a_name, one_of
from fullduplex.systems.talking import begun
from fullduplex.systems.wire import Door, Wire

_HOMES = {"openai": "wss://api.openai.com/v1", "azure": ""}
_KEYS = {"openai": "OPENAI_API_KEY", "azure": "AZURE_OPENAI_API_KEY"}
_RATES = (24_000, 16_000)
_PATH = "/live/sessions"
_WHAT = "the Live API"


@dataclass(frozen=True, slots=True)
class GptLive:
    """A talk with a Live session.

    ``preset``: openai, or azure with an ``url`` (or ``base_url``) of your own, without ``/live/sessions``. ``model``
    and ``voice`` are the vendor's names; an item's prompt becomes the instructions, which cannot change later.
    ``format``: pcm16 (``rate`` 24000 or 16000), pcmu, pcma, of both sides. ``store``: whether the vendor keeps the
    session. ``sideband``: whether a second connection is opened for the times of the output; a piece of sound waits for
    its time ``sideband_wait`` seconds at most, and has arrived when it arrived all the same. ``extra`` is a JSON object
    laid over the session (``input``, ``delegation``, ``triggers``, …).

    ``key`` is handed in by the caller, or read from ``key_file``; it is in no spec and no message. ``ready_within`` in
    seconds.
    """

    url: str = ""
    base_url: InitVar[str] = ""
    preset: str = "openai"
    model: str = "gpt-live-1"
    voice: str = ""
    format: str = "pcm16"
    rate: int = 24_000
    store: bool = False
    sideband: bool = True
    sideband_wait: float = 0.05
    extra: Mapping[str, Any] | str = ""
    ready_within: float = 20.0
    verify: bool = True
    key_file: str = field(default="", repr=False)
    key: str = field(default="", repr=False)

    def __post_init__(self, base_url: str) -> None:
        if base_url and not self.url:
            object.__setattr__(self, "url", base_url)
        one_of("preset", self.preset, _HOMES)
        one_of("format", self.format, FORMATS)
        one_of("rate", self.rate, _RATES)
        a_name("model", self.model, needed=True)
        a_name("voice", self.voice)
        a_deadline("ready_within", self.ready_within)
        if not 0 <= self.sideband_wait <= 1:
            raise ValueError("sideband_wait: expected seconds, 0 to 1")
        an_object("extra", self.extra)
        key_of("gpt-live", self.key, "")
        if self.url:
            self.door("")

    @property
    def hertz(self) -> int:
        """Return the rate of both sides."""
        return self.rate if self.format == "pcm16" else TELEPHONE

    def session(self, prompt: str) -> Session:
        """Return the session that is asked for."""
        kind = "audio/pcm" if self.format == "pcm16" else f"audio/{self.format}"
        audio: Session = {"format": {"type": kind, "rate": self.hertz}}
        audio |= {"output": {"voice": self.voice}} if self.voice else {}
        told: Session = {"model": self.model, "audio": audio}
        told |= {"instructions": prompt.strip()} if prompt.strip() else {}
        told |= {"store": True} if self.store else {}
        return laid_over(told, an_object("extra", self.extra))

    @property
    def spec(self) -> Spec:
        """Return the model and all that it is asked to be; not the key, and not where it runs."""
        options = {"preset": self.preset, "session": self.session(""), "format": self.format, "rate": self.rate}
        return Spec("gpt-live", options | {"sideband": self.sideband}, "1")

    @property
    def traits(self) -> Traits:
        """Return sound at about real time, as the vendor's own clients take it, nothing taken back."""
        source = "session" if self.sideband else "none"
        return Traits(self.hertz, self.hertz, timing="paced", source=source)  # type: ignore[arg-type]

    def _key(self) -> str:
        return key_of("gpt-live", self.key, self.key_file)

    def door(self, prompt: str, attach: str = "") -> Door:
        """Return where a talk is opened, or with a session's id where its sideband is."""
        url = address("url", self.url or _HOMES[self.preset] or "ws://localhost", _PATH, {})
        if attach:
            where, asks, query = url.partition("?")
            url = f"{where}/{quote(attach, safe='')}/attach{asks}{query}"
        key = self._key()
        header = {"api-key": key} if self.preset == "azure" else {"Authorization": f"Bearer {key}"}
        return Door(url, header if key and secured(url) else {}, verify=self.verify)

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[Talking]:
        """Open a talk, and beside it the sideband; a sideband that is refused is told of, and the talk goes on."""
        key, name = self._key(), _KEYS[self.preset]
        if not self.url:
            admitted("gpt-live", self.preset, _HOMES[self.preset], key, name)
        async with (
            # The sideband goes last: it is told of the session's end, too.
            AsyncExitStack() as aside,
            opened(self.door(prompt), _WHAT, key, name) as wire,
            self.over(wire, prompt) as talking,
        ):
            if self.sideband:
                await self._attach(talking, aside, key, name)
            yield talking

    async def _attach(self, talking: Talking, aside: AsyncExitStack, key: str, name: str) -> None:
        id = text(talking.ready.settings, "session", "id")
        told: dict[str, Any] = {"sideband": False}
        if id:
            try:
                wire = await aside.enter_async_context(opened(self.door("", id), "the sideband", key, name))
            except ConversationError as error:
                told["sideband_refused"] = str(error)
            else:
                checked = self.format == "pcm16" and self.rate == 24_000
                band = Sideband(Line(wire, key), checked)
                task = asyncio.ensure_future(band.run())
                aside.push_async_callback(_ended, task)
                talking.sideband, talking.waits = band, self.sideband_wait
                told = {"sideband": True, "sideband_checked": checked}
        talking.ready = Ready(dict(talking.ready.settings) | told)

    def over(self, wire: Wire, prompt: str) -> AbstractAsyncContextManager[Talking]:
        """Open a talk over ``wire``."""
        session = self.session(prompt)
        door = self.door(prompt)
        told: dict[str, Any] = {"preset": self.preset, "url": door.url.partition("?")[0], "asked": session}
        told |= {"key_sent": bool(door.headers), "sideband": False}
        talking = Talking(Line(wire, self._key()), self.format, self.hertz, told, session)  # type: ignore[arg-type]
        return begun(talking, _WHAT, within=self.ready_within)

    @staticmethod
    def key_name(options: Mapping[str, Any]) -> str:
        """Return the name of the environment variable that holds the key for a system of these options."""
        return _KEYS.get(str(options.get("preset", "openai")), "")


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
