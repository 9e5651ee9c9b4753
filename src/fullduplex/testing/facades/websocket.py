"""The open protocol as a facade: :mod:`fullduplex.systems.websocket`, played by the scripted talker."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fullduplex.driving.playout import Samples
from fullduplex.model.spans import in_seconds, seconds
from fullduplex.systems.websocket import PROTOCOL, WebSocket
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.facades import Facade, Peer, Spoken, Unheard
from fullduplex.testing.facades.moshi import lags_by_answer
from fullduplex.testing.stage import Terms

#: What no client of the protocol knows; the first two are spellings of one event.
_ODDITIES: tuple[str | bytes, ...] = (
    '{"type": "userVad", "speaking": true, "confidence": 0.5}',
    '{"type": "user_vad", "speaking": false, "audioStartMs": 3}',
    '{"type": "rate_limits.updated", "limits": []}',
    '{"type": "said", "text": "\\u001b[31m../../x<script>", "who": "nobody"}',
    '{"type": "said", "text": 5, "source": 1e999}',
    '{"type": "speech", "id": 7}',
    '{"type": "speech", "id": "u1", "at": "soon"}',
    '{"type": "flush", "id": 7}',
    '{"type": "flush", "id": ["u1"]}',
    '{"type": "note"',
    '{"no": "type"}',
    "[" * 5_000,
    "null",
    "",
)
_NOTHINGS: tuple[str | bytes, ...] = (
    '{"type": "said", "text": "only words", "id": "u7"}',
    b"",
    '{"type": "end"}',
    '{"type": "flush", "id": "u7"}',
    '{"type": "flush"}',
)
BESIDE = {21: "it asks for no sign of life but the WebSocket's own"}


class Open:
    """One talk with a client of the open protocol."""

    def __init__(self, behaviour: Behaviour, rate_in: int, frame: int) -> None:
        self.rate_in = rate_in
        self._behaviour, self._frame = behaviour, frame
        self._id = 0

    async def open(self, peer: Peer, getting_ready: Callable[[], Awaitable[None]]) -> None:
        """Read the hello and get ready; raises :class:`Unheard` where sound comes before."""
        hello = _object(await peer.receive())
        if hello.get("type") != "hello" or hello.get("protocol") != PROTOCOL:
            raise Unheard(f"say hello first, in {PROTOCOL}")
        if hello.get("rate_in") != self.rate_in:
            raise Unheard("this facade was started for another rate")
        waiting, early = asyncio.ensure_future(getting_ready()), asyncio.ensure_future(peer.receive())
        try:
            await asyncio.wait({waiting, early}, return_when=asyncio.FIRST_COMPLETED)
            if early.done():
                early.result()
                raise Unheard("something came before ready")
        finally:
            for task in (waiting, early):
                task.cancel()
            await asyncio.gather(waiting, early, return_exceptions=True)
        told = {"rate_out": self._behaviour.rate, "coding": self._behaviour.coding, "heard": True, "model": "facade"}
        await peer.send(json.dumps({"type": "ready", **told}))

    def says(self, event: Spoken | Mapping[str, Any]) -> list[str | bytes]:
        """Return sound, behind the name of its utterance where that is new, and texts as they are."""
        if isinstance(event, Spoken):
            return self._sound(event)
        if event["type"] == "flush":
            scope = event.get("scope")
            return [json.dumps({"type": "flush"} | ({"id": scope} if isinstance(scope, str) else {}))]
        return [json.dumps(dict(event))]

    def _sound(self, spoken: Spoken) -> list[str | bytes]:
        made: list[str | bytes] = [spoken.data]
        sync = self._behaviour.pace == "sync"
        if sync or spoken.id != self._id:
            self._id = spoken.id
            told: dict[str, Any] = {"type": "speech", "id": f"u{spoken.id}" if spoken.id else ""}
            if spoken.source is not None:
                # What answers a frame belongs to the moment at which that frame was whole.
                ends = (1 + self._behaviour.primes) * self._frame if sync else 0
                told["at"] = in_seconds(spoken.source + ends)
            made.insert(0, json.dumps(told))
        if spoken.last:
            self._id = 0
            made.append('{"type": "end"}')
        return made

    def hears(self, message: str | bytes) -> list[Samples | Mapping[str, Any]]:
        """Return the user's sound, and what was heard; raises :class:`Unheard` for half a sample."""
        if isinstance(message, bytes):
            if len(message) % 2:
                raise Unheard("half a sample")
            return [(np.frombuffer(message, "<i2") / np.float32(32_768)).astype(np.float32)]
        told = _object(message)
        if told.get("type") == "finish":
            return [{"type": "finish"}]
        id = str(told.get("id", ""))
        if told.get("type") == "heard" and id.startswith("u") and id[1:].isdecimal():
            return [{"type": "heard", "id": int(id[1:]), "played": seconds(float(told["played"]))}]
        return []


def _object(message: str | bytes) -> dict[str, Any]:
    try:
        told = json.loads(message)
    except ValueError:
        told = None
    return told if isinstance(told, dict) else {}


def facade(options: Mapping[str, Any]) -> Facade:
    """Return a server of the open protocol for the rate and the frames that ``options`` say."""
    plain = WebSocket()
    rate, frame = int(options.get("rate_in", plain.rate_in)), seconds(options.get("frame", plain.frame))
    terms = replace(
        Terms(), frame=frame, rate_in=rate, lags=lags_by_answer, oddities=_ODDITIES, nothings=_NOTHINGS, flushes=2
    )
    one = bool(options.get("exclusive"))
    return Facade("websocket", lambda behaviour: Open(behaviour, rate, frame), terms, beside=BESIDE, exclusive=one)


__all__ = ["BESIDE", "Open", "facade"]
