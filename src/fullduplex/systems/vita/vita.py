"""VITA-1.5: the server of its web demo (``web_demo/server.py``), with one queue and one history for everybody.

Its events are read in the project's source at 269930b; tried on the facade and on the library's own server, *not
verified live*.
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
class Vita:
    """A talk with a VITA server at ``url`` (``wss://``: it makes a certificate of its own).

    ``packet``, ``model``, ``verify`` and ``ready_within`` are those of
    :class:`~fullduplex.systems.vita.freeze_omni.FreezeOmni`. ``reset``: whether its history is emptied before the talk,
    without which it remembers the talks of everybody before.
    """

    url: str = ""
    packet: float = PACKET
    model: str = "vita-1.5"
    reset: bool = True
    verify: bool = False
    ready_within: float = 30.0

    #: How it can be had: its weights are published.
    access = "open"

    def __post_init__(self) -> None:
        checked_packet(self.packet)
        checkpoint(self.model)

    @property
    def spec(self) -> Spec:
        """Return which checkpoint, packets, and whether it begins afresh; where it runs changes nothing."""
        return Spec("vita", {"model": checkpoint(self.model), "packet": self.packet, "reset": self.reset}, "1")

    @property
    def traits(self) -> Traits:
        """Return bursts that the packets clock, a flush of everything, one talk at a time."""
        return Traits(RATE_IN, RATE_OUT, checked_packet(self.packet), timing="burst", flush="all", exclusive=True)

    def door(self, prompt: str) -> Door:
        """Return where a talk is opened."""
        return Door(address(self.url or "wss://localhost:8081", PATH, QUERY), verify=self.verify)

    def connect(self, prompt: str) -> AbstractAsyncContextManager[Link]:
        """Open a talk; it takes no prompt, and says so where it is given one."""
        return connected(self, prompt)

    def over(self, wire: Wire, prompt: str) -> AbstractAsyncContextManager[Talking]:
        """Open a talk over ``wire``."""

        async def opens(talking: Talking) -> None:
            if self.reset:
                await talking.wire.send(Event("reset_state"))

        settings = dict(self.spec.options) | {"model_verified": False, "prompt_taken": not prompt}
        return begun(Talking(wire, settings, opens, 1), "the VITA server", within=self.ready_within)
