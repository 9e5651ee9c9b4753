"""A talk over a wire, as far as it is the same whatever the protocol: a driver only translates.

What a driver's own class says is how its protocol spells things: :meth:`Translating.get_ready`, what is exchanged
before the talk; :meth:`Translating.send`, the user's next frame as a message; :meth:`Translating.understood`, a message
as events. Reading on until the other side is gone, keeping what comes early, sending no more after that, the deadline
of the handshake and the sentences on all of this stand here once.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from types import MappingProxyType
from typing import Any, Generic, Protocol, TypeVar

from fullduplex.driving.link import Closed, Happening, Note, Position, Ready
from fullduplex.driving.playout import Samples
from fullduplex.errors import ConversationError, printable
from fullduplex.systems.wire import Gone, read_at

#: Who says more things than this before it is ready never will be.
_EARLY = 100_000

Came = TypeVar("Came")
Given = TypeVar("Given")
_Came = TypeVar("_Came", covariant=True)
_Given = TypeVar("_Given", contravariant=True)
_Found = TypeVar("_Found")
_Talk = TypeVar("_Talk", bound="Translating[Any, Any]")


class Carries(Protocol[_Came, _Given]):
    """What a talk is held over: a :class:`~fullduplex.systems.wire.Wire`, or what makes more of its messages."""

    async def send(self, message: _Given) -> None:
        """Give a message to the other side; raises :class:`Gone`."""
        ...

    async def receive(self) -> _Came:
        """Return the next message of the other side; raises :class:`Gone`."""
        ...


class Translating(ABC, Generic[Came, Given]):
    """One talk over ``wire``, whose messages a driver's own class translates; ``settings`` are told with the talk.

    ``busy`` says why a server may have taken the connection and be silent. ``errors`` are the server's own words of
    what failed, as the driver hears them: the last is told behind the reason for which a talk ends. ``gone`` is whether
    the talk is over: nothing is sent any more.
    """

    busy = "it may be busy with another talk"

    def __init__(self, wire: Carries[Came, Given], settings: Mapping[str, Any] = MappingProxyType({})) -> None:
        self.wire, self.ready = wire, Ready(settings)
        self.errors: list[str] = []
        self.gone = False
        self._early: list[Happening] = []

    async def get_ready(self) -> None:
        """Return once the talk can begin: at once where the protocol has no handshake. Raises :class:`Gone`."""

    @abstractmethod
    async def send(self, frame: Samples) -> None:
        """Send the next frame of the user."""

    @abstractmethod
    async def understood(self, message: Came) -> Sequence[Happening]:
        """Return the events of one message, none where it says nothing; what cannot be understood is a note."""

    async def heard(self, position: Position) -> None:
        """Take no note, unless the protocol has a word for it."""

    async def finish(self) -> None:
        """Take no note, unless the protocol has a word for it."""

    async def leave(self) -> None:
        """Take leave, where the protocol has a word for it, before the connection is closed."""

    def tail(self) -> Sequence[Happening]:
        """Return what still waited to become events when the other side was gone."""
        return ()

    def ended(self, why: str) -> str:
        """Return why the talk ended, from what the wire says of it."""
        return why + self.last_error

    @property
    def last_error(self) -> str:
        """Return the server's last error as the end of a sentence, empty where there was none."""
        return "".join(f"; its last error: {printable(text, 200)}" for text in self.errors[-1:])

    @property
    def read(self) -> float | None:
        """Return when the latest message was read, on the event loop's clock, where the wire tells."""
        return read_at(self.wire)

    async def give(self, message: Given) -> None:
        """Send a message; a wire that is gone is told of once, by the reader, with its reason."""
        if not self.gone:
            with suppress(Gone):
                await self.wire.send(message)

    async def until(self, found: Callable[[Came], _Found | None]) -> _Found:
        """Return what is ``found`` in a message, once it is not None; what comes before is kept for the talk.

        Raises :class:`Gone` where that ends the talk.
        """
        while (answer := found(message := await self.wire.receive())) is None:
            self.keep(await self.understood(message))
        return answer

    def keep(self, events: Sequence[Happening]) -> None:
        """Keep events that came before the talk began; raises :class:`Gone` where one of them ends it."""
        self._early += events
        if len(self._early) > _EARLY:
            raise Gone(f"it said more than {_EARLY} things before it was ready")
        for event in events:
            if isinstance(event, Closed):
                raise Gone(event.reason or "it closed the talk", broke=event.broke)

    async def __aiter__(self) -> AsyncIterator[Happening]:
        """Yield what comes until the other side ends the talk or is gone."""
        for event in self._early:
            yield event
        while not self.gone:
            try:
                events = await self.understood(await self.wire.receive())
            except Gone as error:
                events = [*self.tail(), Closed(self.ended(str(error)), broke=error.broke)]
            except RecursionError:
                events = [Note("unreadable", {"why": "values within values without end"})]
            for event in events:
                self.gone |= isinstance(event, Closed)
                yield event


@asynccontextmanager
async def begun(talk: _Talk, what: str, *, within: float) -> AsyncIterator[_Talk]:
    """Get a talk with ``what`` ready, give it, and take leave when it is over.

    Raises :class:`ConversationError` where the server leaves before it is ready, or is not ready ``within`` seconds.
    """
    try:
        async with asyncio.timeout(within):
            await talk.get_ready()
    except TimeoutError:
        raise ConversationError(
            f"{what} took the connection and was not ready within {within:g} s: {talk.busy}{talk.last_error}"
        ) from None
    except Gone as error:
        # What the other side says of it may hold a key: only what the driver makes of it is told.
        raise ConversationError(f"{what} left before it was ready: {talk.ended(str(error))}") from None
    try:
        yield talk
    finally:
        await talk.leave()


__all__ = ["Came", "Carries", "Given", "Translating", "begun"]
