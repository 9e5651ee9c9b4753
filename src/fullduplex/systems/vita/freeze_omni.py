"""Freeze-Omni: the server of its demo (``bin/server.py``).

Its events are read in the project's source at 497f168. The driver is tried on the facade and on the library's own
server, *not verified live*.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from fullduplex.driving.link import Link, Traits
from fullduplex.model.spec import Spec
from fullduplex.systems.moshi.urls import checkpoint
from fullduplex.systems.talking import begun
from fullduplex.systems.vita.codec import PACKET, RATE_IN, RATE_OUT, Talking, checked_packet
from fullduplex.systems.vita.packets import PATH, QUERY, Event
from fullduplex.systems.wire import Door, Wire, address, connected


@dataclass(frozen=True, slots=True)
class FreezeOmni:
    """A talk with a Freeze-Omni server at ``url`` (``ws://``, or ``wss://`` where it was started with ``--ssl``).

    ``packet``: how many seconds of sound an event holds; its own page sends 0.016. The server gives a piece for each,
    so that this changes how fast it sends: it is part of the spec. ``model`` is the checkpoint that you started it
    with: kept with the run, and not verified. ``verify``: whether its certificate has to be a trusted one.
    ``ready_within``: seconds for the handshake, in which the prompt is processed.
    """

    url: str = ""
    packet: float = PACKET
    model: str = "freeze-omni"
    verify: bool = False
    ready_within: float = 30.0

    #: How it can be had: its weights are published.
    access = "open"

    def __post_init__(self) -> None:
        checked_packet(self.packet)
        checkpoint(self.model)

    @property
    def spec(self) -> Spec:
        """Return which checkpoint and packets; where it runs changes nothing."""
        return Spec("freeze-omni", {"model": checkpoint(self.model), "packet": self.packet}, "1")

    @property
    def traits(self) -> Traits:
        """Return bursts that the packets clock, and a flush of everything."""
        return Traits(RATE_IN, RATE_OUT, checked_packet(self.packet), timing="burst", flush="all")

    def door(self, prompt: str) -> Door:
        """Return where a talk is opened."""
        return Door(address(self.url or "wss://localhost:8081", PATH, QUERY), verify=self.verify)

    def connect(self, prompt: str) -> AbstractAsyncContextManager[Link]:
        """Open a talk; ``prompt`` takes the place of the server's own."""
        return connected(self, prompt)

    def over(self, wire: Wire, prompt: str) -> AbstractAsyncContextManager[Talking]:
        """Open a talk over ``wire``."""

        async def opens(talking: Talking) -> None:
            # What starts the recording begins with the prompt that is set by then.
            if prompt.strip():
                await talking.wire.send(Event("prompt_text", (prompt,)))
                await talking.wait_for("prompt_success")

        settings = dict(self.spec.options) | {"model_verified": False, "prompt": prompt}
        return begun(Talking(wire, settings, opens, 2), "the Freeze-Omni server", within=self.ready_within)
