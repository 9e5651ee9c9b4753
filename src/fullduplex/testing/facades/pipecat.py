"""A Pipecat bot as a facade: protobuf frames over a WebSocket, RTVI for being ready and for words."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fullduplex.driving.playout import Samples
from fullduplex.systems.pipecat.protobuf import Frame, read, written
from fullduplex.systems.pipecat.rtvi import LABEL
from fullduplex.systems.pipecat.websocket import FRAME, RATE_IN
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.facades import Facade, Peer, Spoken, Unheard
from fullduplex.testing.stage import Terms


def _rtvi(kind: str, **data: Any) -> bytes:
    message = {"label": LABEL, "type": kind, "id": "x"} | ({"data": data} if data else {})
    return written(Frame("message", json.dumps(message)))


#: What no client knows, or can do anything about; the first two are one event.
_ODDITIES: tuple[str | bytes, ...] = (
    _rtvi("user-started-speaking"),
    _rtvi("user-stopped-speaking"),
    _rtvi("bot-output", text=5, spoken_status="new", will_be_spoken=True),
    _rtvi("\x1b[31m../../x<script>"),
    _rtvi("error", error="trouble", fatal=False),
    _rtvi("bot-juggled"),
    written(Frame("message", "[" * 5_000)),
    written(Frame("message", "null")),
    written(Frame("message", '{"type": 5}')),
    bytes([7 << 3 | 2, 1, 0]),
    bytes([2 << 3 | 2, 200]),
    bytes([2 << 3 | 7]),
    b"\xff" * 12,
    bytes([1 << 3 | 2, 4, 3 << 3 | 2, 2, 0xC3, 0x28]),
    b"",
    "text",
)
_NOTHINGS: tuple[str | bytes, ...] = (
    _rtvi("bot-output", text="only words", spoken_status="new", will_be_spoken=True, output_type="sentence"),
    _rtvi("bot-output", text="only words", spoken_status="completed", will_be_spoken=True, output_type="sentence"),
    written(Frame("audio", rate=24_000, channels=1)),
    written(Frame("interruption")),
    written(Frame("interruption")),
)
_SYNC = "it answers when it will, and no frame for a frame"
BESIDE = {
    4: "an interruption names nothing: what comes after it is new",
    10: _SYNC,
    11: "its samples are not coded",
    12: "its samples are not coded",
    13: _SYNC,
    14: _SYNC,
    17: "it never says that all was sent: it paces",
    21: "it asks for no sign of life but the WebSocket's own",
    22: "its words carry no time",
    23: "it takes no word of what was heard",
}
TERMS = Terms(
    frame=FRAME, rate_in=RATE_IN, oddities=_ODDITIES, vads=2, nothings=_NOTHINGS, usual=("bot-ready",), flushes=2
)


def fits(behaviour: Behaviour) -> Behaviour:
    """Return ``behaviour`` with samples of 16 bits, at whatever rate, in WAV files where it says so."""
    return replace(behaviour, coding="wav" if behaviour.coding == "wav" else "pcm16")


class Bot:
    """One talk."""

    def __init__(self, behaviour: Behaviour, rate_in: int, rtvi: bool) -> None:
        self.rate_in = rate_in
        self._rate, self._rtvi = behaviour.rate, rtvi

    async def open(self, peer: Peer, getting_ready: Callable[[], Awaitable[None]]) -> None:
        """Wait for a client that is ready, where this is the custom; raises :class:`Unheard` for anything before."""
        if not self._rtvi:
            return
        told = json.loads(read(_bytes(await peer.receive())).text or "null")
        if not isinstance(told, Mapping) or (told.get("label"), told.get("type")) != (LABEL, "client-ready"):
            raise Unheard("client-ready has to come first")
        await getting_ready()
        about = {"version": told["data"]["version"], "about": {"library": "facade"}}
        ready = {"label": LABEL, "type": "bot-ready", "id": told["id"], "data": about}
        await peer.send(written(Frame("message", json.dumps(ready))))

    def says(self, event: Spoken | Mapping[str, Any]) -> list[str | bytes]:
        """Return sound, words as ``bot-output``, a flush as an interruption."""
        if isinstance(event, Spoken):
            return [written(Frame("audio", audio=event.data, rate=self._rate, channels=1))]
        if event["type"] == "flush":
            return [written(Frame("interruption"))]
        if event["type"] == "said":
            return [_rtvi("bot-output", text=str(event["text"]), spoken_status="new", will_be_spoken=True)]
        return []

    def hears(self, message: str | bytes) -> list[Samples | Mapping[str, Any]]:
        """Return the user's sound; raises :class:`Unheard` for what is no frame."""
        try:
            frame = read(_bytes(message))
        except ValueError as error:
            raise Unheard(f"no frame: {error}") from error
        if frame.kind != "audio":
            return []
        if (frame.rate, frame.channels, len(frame.audio) % 2) != (self.rate_in, 1, 0):
            raise Unheard(f"sound of {frame.channels} channels at {frame.rate}")
        return [(np.frombuffer(frame.audio, "<i2") / np.float32(32_768)).astype(np.float32)]


def _bytes(message: str | bytes) -> bytes:
    if isinstance(message, str):
        raise Unheard("text is no frame")
    return message


def facade(options: Mapping[str, Any]) -> Facade:
    """Return a bot for the rate that ``options`` say, with or without RTVI."""
    rate, rtvi = int(options.get("rate_in", RATE_IN)), options.get("rtvi", True) is not False
    unready = "without RTVI a bot has no word for being ready"
    beside = BESIDE if rtvi else BESIDE | {8: unready, 9: unready}
    return Facade("pipecat", lambda behaviour: Bot(behaviour, rate, rtvi), replace(TERMS, rate_in=rate), fits, beside)


__all__ = ["BESIDE", "TERMS", "Bot", "facade", "fits"]
