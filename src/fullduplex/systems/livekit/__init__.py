"""LiveKit Agents: an ``AgentSession`` in this process, without a room and without a server.

The session gets a microphone and a loudspeaker of ours in the place of a room's. The real session, its turn detection
and its interruptions run; WebRTC does not. Tried on livekit-agents 1.8.9.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullduplex.driving.link import Link, Ready, Traits
from fullduplex.errors import ConversationError, PluginError, printable
from fullduplex.model.spans import ms
from fullduplex.model.spec import Spec
from fullduplex.providers.weights import sha256
from fullduplex.systems.called import named

FRAME = ms(20)
_RATES = range(8_000, 192_001)


@dataclass(frozen=True, slots=True)
class LiveKit:
    """A talk with what ``agent`` names, ``package.module:name`` or ``path/to/file.py:name``.

    It is called for each talk, with ``prompt=`` if it takes that, and returns an ``AgentSession`` that was not started
    and its ``Agent``; it may be a coroutine. ``pause``: whether the session may hold its speech and go on with it, as
    it may in a room. ``rate_in`` is the rate of the user's frames, ``rate_out`` that at which its sound is kept.
    ``ready_within``: seconds for making and starting it. Raises :class:`PluginError` where the library is missing,
    or what ``agent`` names cannot be had.
    """

    agent: str = ""
    pause: bool = True
    rate_in: int = 16_000
    rate_out: int = 24_000
    ready_within: float = 50.0

    def __post_init__(self) -> None:
        for name, rate in (("rate_in", self.rate_in), ("rate_out", self.rate_out)):
            if rate not in _RATES or rate % 50:
                raise ValueError(f"{name}: found {rate}, expected samples a second, 8000 to 192000 and whole in 20 ms")
        if not _version():
            raise PluginError(
                "system 'livekit' needs livekit-agents, which is not installed; install fullduplex[livekit]"
            )
        # Now: LiveKit's plugins can be loaded by the main thread alone.
        _called(self.agent)

    @property
    def spec(self) -> Spec:
        """Return what is called, the digest of a file that is named by its path, and the library's version."""
        options = {"agent": self.agent, "pause": self.pause, "rate_in": self.rate_in, "rate_out": self.rate_out}
        where = Path(self.agent.rpartition(":")[0])
        digest = sha256(where)[:12] if where.suffix == ".py" and where.is_file() else ""
        return Spec("livekit", options, " ".join(filter(None, (_version(), digest))))

    @property
    def traits(self) -> Traits:
        """Return bursts, and a flush of everything."""
        return Traits(self.rate_in, self.rate_out, FRAME, timing="burst", flush="all")

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[Link]:
        """Make and start a session; raises :class:`ConversationError` where that fails or takes too long."""
        called = _called(self.agent)
        async with self.over(lambda: self._made(called, prompt), prompt_taken=_takes_prompt(called)) as link:
            yield link

    @asynccontextmanager
    async def over(
        self, made: Callable[[], Awaitable[tuple[Any, Any]]], *, prompt_taken: bool = False
    ) -> AsyncIterator[Link]:
        """Open a talk with the session and the agent that ``made`` returns, whatever ``agent`` names."""
        from fullduplex.systems.livekit.session import Talking

        talking: Talking | None = None
        try:
            try:
                async with asyncio.timeout(self.ready_within):
                    session, agent = await made()
                    talking = Talking(session, self.rate_in, self.rate_out, pauses=self.pause)
                    await session.start(agent)
            except TimeoutError:
                raise ConversationError(
                    f"the session was not ready within {self.ready_within:g} s: its models may be loading, or busy"
                ) from None
            except ConversationError:
                raise
            except Exception as error:
                raise ConversationError(f"the session could not start: {_told(error)}") from error
            talking.ready = Ready({"livekit": _version(), "prompt_taken": prompt_taken, "pause": self.pause})
            yield talking
        finally:
            if talking is not None:
                await talking.leave()

    async def _made(self, called: Any, prompt: str) -> tuple[Any, Any]:
        whose = printable(self.agent, 80)
        try:
            made = called(**({"prompt": prompt} if _takes_prompt(called) else {}))
            if inspect.isawaitable(made):
                made = await made
        except Exception as error:
            raise ConversationError(f"{whose} failed: {_told(error)}") from error
        if not isinstance(made, tuple) or len(made) != 2 or not hasattr(made[0], "start"):
            found = printable(type(made).__name__, 80)
            raise ConversationError(f"{whose} gave {found}, not an AgentSession and its Agent")
        return made


def _called(agent: str) -> Any:
    return named(agent, "livekit", "agent", "a function that returns an AgentSession and its Agent")


def _takes_prompt(called: Any) -> bool:
    return "prompt" in inspect.signature(called).parameters


def _told(error: BaseException) -> str:
    return printable(f"{type(error).__name__}: {error}", 200)


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("livekit-agents")
    except PackageNotFoundError:
        return ""


__all__ = ["LiveKit"]
