"""A LiveKit agent as a facade: a real ``AgentSession`` that speaks the scripted sound, in the driver's own process.

There is no wire, so nothing of a wire is tried: what is, is what passes between a session and the microphone, the
loudspeaker and the page that the driver gives it. Sound is given to ``session.say`` as frames, taken back with
``session.interrupt``, and the user is heard where a voice activity detector would.

``fullduplex conform livekit:agent=fullduplex.testing.facades.livekit:agent`` plays the cases; as the agent of any
other command it answers what it hears. It needs livekit-agents, and is imported without.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fullduplex.driving.link import Link, System, Traits
from fullduplex.driving.playout import Samples
from fullduplex.model.spans import SECOND
from fullduplex.model.spec import Spec
from fullduplex.systems.livekit import FRAME
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.facades import Facade, Reported, Spoken
from fullduplex.testing.facades.talking import hold
from fullduplex.testing.loopback import USUAL
from fullduplex.testing.model import prepare
from fullduplex.testing.stage import Terms

AGENT = "fullduplex.testing.facades.livekit:agent"
_SYNC = "a session sends ahead of time, and no frame for a frame"
BESIDE = {
    4: "what was interrupted is given no further: nothing comes late",
    6: "a session takes back what has not sounded when it is interrupted",
    10: _SYNC,
    11: "its frames are not coded",
    12: "its frames are not coded",
    13: _SYNC,
    14: _SYNC,
    17: "it tells no one that all of a speech was given to the loudspeaker",
    19: "there is no wire on which nonsense could come",
    21: "there is no line whose life could be asked after",
    22: "its words have times within their speech alone",
    24: "a frame holds whole samples",
}
#: Words alone, sound of no samples, and two flushes of nothing, as :meth:`Voice.send` takes them.
_NOTHINGS: tuple[str | bytes, ...] = (
    '{"type": "say", "text": "only words"}',
    '{"type": "say", "text": "", "samples": 0}',
    '{"type": "flush"}',
    '{"type": "flush"}',
)


def _terms(rate: int) -> Terms:
    """Return the terms for a user at ``rate``."""
    return Terms(
        frame=FRAME,
        rate_in=rate,
        nothings=_NOTHINGS,
        flushes=2,
        # It is told where each speech was when it was over.
        positions=2,
        # Between the microphone and the session's ears frames pass through tasks.
        held=1,
        ends={"expiry": "the session closed"},
    )


def fits(behaviour: Behaviour) -> Behaviour:
    """Return ``behaviour`` in frames of 16 bits, at whatever rate."""
    return replace(behaviour, coding="pcm16", odd=False)


class Script:
    """One talk; its peer is a :class:`~fullduplex.testing.facades.livekit_session.Voice`."""

    def __init__(self, behaviour: Behaviour, rate_in: int) -> None:
        self.rate_in = rate_in
        self._rate, self._runs_on = behaviour.rate, behaviour.silence
        self._voice: Any = None

    async def open(self, peer: Any, getting_ready: Callable[[], Awaitable[None]]) -> None:
        """Begin at once: the session was made when it was ready."""
        self._voice = peer
        peer.begun.set()

    def says(self, event: Spoken | Mapping[str, Any]) -> list[str | bytes]:
        """Let the session speak, take it back, or close; nothing travels."""
        if isinstance(event, Spoken):
            self._voice.speak(event.data, self._rate, last=event.last and not self._runs_on)
        elif event["type"] == "flush":
            self._voice.take_back()
        elif event["type"] == "said":
            self._voice.write(str(event["text"]))
        elif event["type"] == "close":
            self._voice.shut()
        return []

    def hears(self, message: str | bytes) -> list[Samples | Mapping[str, Any]]:
        """Return the user's sound, or what the session was told of its own."""
        if isinstance(message, str):
            return [json.loads(message)]
        return [(np.frombuffer(message, "<i2") / np.float32(32_768)).astype(np.float32)]


@dataclass(frozen=True, slots=True)
class Scripted:
    """LiveKit's driver against a session in this process that behaves so."""

    system: Any
    facade: Facade
    behaviour: Behaviour
    reported: Reported | None

    @property
    def spec(self) -> Spec:
        """Return the system's own."""
        spec: Spec = self.system.spec
        return spec

    @property
    def traits(self) -> Traits:
        """Return the system's own."""
        traits: Traits = self.system.traits
        return traits

    async def prepare(self) -> None:
        """Load and make what a talk would wait for."""
        await asyncio.to_thread(_load)
        await asyncio.to_thread(prepare, self.behaviour)

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[Link]:
        """Open a talk."""
        from fullduplex.testing.facades.livekit_session import Voice

        voice, holding = Voice(), None

        async def made() -> tuple[Any, Any]:
            await (asyncio.Event().wait() if self.behaviour.busy else asyncio.sleep(self.behaviour.handshake / SECOND))
            return voice.session, voice.agent()

        try:
            async with self.system.over(made) as link:
                holding = asyncio.create_task(hold(self.facade, self.behaviour, voice))
                await voice.begun.wait()
                yield link
        finally:
            voice.leave()
            if holding is not None:
                report = await holding
                if self.reported is not None:
                    self.reported(report)


def _load() -> None:
    import fullduplex.systems.livekit.session
    import fullduplex.testing.facades.livekit_session  # noqa: F401


def _within(
    facade: Facade, system: Any, behaviour: Behaviour, reported: Reported | None, ready_within: int | None
) -> System:
    if ready_within is not None:
        system = replace(system, ready_within=ready_within / SECOND)
    return Scripted(system, facade, facade.fits(behaviour), reported)


def facade(options: Mapping[str, Any]) -> Facade:
    """Return the session for a user at the rate that ``options`` say."""
    rate = int(options.get("rate_in", 16_000))
    return Facade(
        "livekit",
        lambda behaviour: Script(behaviour, rate),
        _terms(rate),
        fits,
        BESIDE,
        within=_within,
        serves=lambda system: bool(system.agent == AGENT),
    )


def agent() -> tuple[Any, Any]:
    """Return a session and its agent that answer what they hear, for a user at 16 kHz."""
    from fullduplex.testing.facades.livekit_session import Voice

    voice = Voice()
    return voice.session, voice.agent(lambda: hold(facade({}), fits(USUAL), voice))


__all__ = ["AGENT", "BESIDE", "Script", "Scripted", "agent", "facade", "fits"]
