"""One talk of a facade: the talker's messages in the protocol's words, and the client's in the talker's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import Any

import numpy as np

from fullduplex.driving.playout import Samples
from fullduplex.model.spans import SECOND
from fullduplex.systems.loopback import HEADER, HEARD, LAST, USER_AUDIO
from fullduplex.systems.wire import Gone
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.facades import Answer, Dialect, Facade, Peer, Spoken, Unheard
from fullduplex.testing.model import Talker


class Room:
    """A server's room for talks: for any number, or for one at a time, which the others wait for."""

    def __init__(self, facade: Facade) -> None:
        self._one = asyncio.Lock() if facade.exclusive else None

    async def enter(self, leaving: ExitStack) -> None:
        """Return once there is room, which ``leaving`` gives back."""
        if self._one is not None:
            await self._one.acquire()
            leaving.callback(self._one.release)


async def hold(facade: Facade, behaviour: Behaviour, peer: Peer, room: Room | None = None) -> Mapping[str, Any]:
    """Hold a talk until the client is gone; return the talker's report.

    ``behaviour`` already fits. The talk is not ready before there is room in ``room``, of all talks of this server.
    Raises :class:`~fullduplex.testing.model.Reset` where the line is to be broken off.
    """
    with ExitStack() as leaving:
        return await _hold(facade, behaviour, peer, room or Room(facade), leaving)


async def _hold(facade: Facade, behaviour: Behaviour, peer: Peer, room: Room, leaving: ExitStack) -> Mapping[str, Any]:
    dialect = facade.dialect(behaviour)

    async def getting_ready() -> None:
        await room.enter(leaving)
        await (asyncio.Event().wait() if behaviour.busy else asyncio.sleep(behaviour.handshake / SECOND))

    try:
        await dialect.open(peer, getting_ready)
    except Unheard as refused:
        await peer.close(str(refused))
        return {}
    talker = Talker(behaviour, _giving(dialect, peer), dialect.rate_in, raw=peer.send)
    talker.start()
    reading = asyncio.ensure_future(_read(talker, dialect, peer))
    try:
        await asyncio.wait({reading, talker.failed}, return_when=asyncio.FIRST_COMPLETED)
        if talker.failed.done():
            with suppress(Gone):
                talker.failed.result()
        else:
            reading.result()
    finally:
        talker.stop()
        reading.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await reading
    return talker.report()


def _giving(dialect: Dialect, peer: Peer) -> Any:
    async def give(message: str | bytes) -> None:
        event = _event(message)
        for told in dialect.says(event):
            await peer.send(told)
        if isinstance(event, Mapping) and event.get("type") == "close":
            await peer.close(str(event.get("reason", "")))

    return give


def _event(message: str | bytes) -> Spoken | Mapping[str, Any]:
    if isinstance(message, str):
        told: Mapping[str, Any] = json.loads(message)
        return told
    _, flags, epoch, _, id, source = HEADER.unpack_from(message)
    return Spoken(message[HEADER.size :], id, epoch, source if source >= 0 else None, bool(flags & LAST))


async def _read(talker: Talker, dialect: Dialect, peer: Peer) -> None:
    """Give the talker what comes, until the client is gone."""
    stalls, number = talker.behaviour.stalls, 0
    with suppress(Gone):
        while True:
            if stalls is not None and talker.now() >= stalls:
                await asyncio.Event().wait()
            message = await peer.receive()
            try:
                heard = list(dialect.hears(message))
            except Unheard as refused:
                await peer.close(str(refused))
                return
            for event in heard:
                if isinstance(event, Answer):
                    await peer.send(event.message)
                    continue
                if isinstance(event, Mapping):
                    await talker.hear(_told(event))
                    continue
                await talker.hear(HEADER.pack(USER_AUDIO, 0, 0, number, 0, -1) + _pcm(event))
                number += 1


def _told(event: Mapping[str, Any]) -> str | bytes:
    if event.get("type") == "heard":
        return HEADER.pack(HEARD, 0, 0, 0, int(event["id"]), int(event["played"]))
    return json.dumps(dict(event))


def _pcm(samples: Samples) -> bytes:
    return bytes(np.clip(np.rint(samples * 32_768), -32_768, 32_767).astype("<i2").tobytes())
