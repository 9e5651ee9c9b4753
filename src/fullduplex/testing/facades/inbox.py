"""What a facade that no WebSocket carries has heard of its client, in order, until the client is gone."""

from __future__ import annotations

import asyncio

from fullduplex.systems.wire import Gone


class Inbox:
    """The messages of a client that wait to be read; a :class:`Gone` among them is its end."""

    def __init__(self) -> None:
        self._messages: asyncio.Queue[str | bytes | Gone] = asyncio.Queue()

    async def receive(self) -> str | bytes:
        """Return what comes next; raises :class:`Gone`."""
        message = await self._messages.get()
        if isinstance(message, Gone):
            raise message
        return message


__all__ = ["Inbox"]
