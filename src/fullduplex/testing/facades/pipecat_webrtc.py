"""A Pipecat bot behind SmallWebRTC as a facade: a call by aiortc, RTVI over its data channel.

Its track runs on at real time, so sound that is there ahead of time waits in the bot, and an interruption empties that
queue; nothing of it is told. Opus and two jitter buffers, four packets deep, lie in each talk, as they would live.
``python -m fullduplex.testing.facades pipecat-webrtc --port 7860`` serves it alone. It needs aiortc.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

import numpy as np

from fullduplex.driving.playout import Samples
from fullduplex.errors import PluginError
from fullduplex.model.spans import ms
from fullduplex.systems.pipecat.rtvi import LABEL
from fullduplex.systems.pipecat.webrtc import FRAME, RATE
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.facades import Facade, Reported, Spoken, Unheard
from fullduplex.testing.stage import Terms


def _rtvi(kind: str, **data: Any) -> str:
    return json.dumps({"label": LABEL, "type": kind, "id": "x"} | ({"data": data} if data else {}))


#: What no client knows, or can do anything about; the first two are one event.
_ODDITIES: tuple[str | bytes, ...] = (
    _rtvi("user-started-speaking"),
    _rtvi("user-stopped-speaking"),
    _rtvi("bot-output", text=5, spoken_status="new", will_be_spoken=True),
    _rtvi("\x1b[31m../../x<script>"),
    _rtvi("error", error="trouble", fatal=False),
    _rtvi("bot-juggled"),
    "[" * 5_000,
    "null",
    '{"type": 5}',
    '{"type": "signalling", "message": {"type": "renegotiate"}}',
    "ping",
    b"\x07",
    bytes(40),
)
_NOTHINGS: tuple[str | bytes, ...] = (
    _rtvi("bot-output", text="only words", spoken_status="new", will_be_spoken=True, output_type="sentence"),
    _rtvi("bot-output", text="only words", spoken_status="completed", will_be_spoken=True, output_type="sentence"),
)
_FLUSH = "a track takes nothing back"
_SYNC = "a track runs by its own clock, and no frame answers a frame"
BESIDE = {
    1: "a track runs at real time",
    3: _FLUSH,
    4: _FLUSH,
    5: _FLUSH,
    7: "a track carries silence always",
    10: _SYNC,
    11: "its Opus is in RTP, not in Ogg",
    12: "its Opus is in RTP, not in Ogg",
    13: _SYNC,
    14: _SYNC,
    16: _SYNC,
    20: "its format is negotiated before the talk",
    21: "it asks for no sign of life but WebRTC's own",
    22: "its words carry no time",
    23: "it takes no word of what was heard",
    24: "Opus holds whole frames",
}
TERMS = Terms(
    frame=FRAME,
    rate_in=RATE,
    # The jitter buffer holds four packets; half a packet until the next leaves, and as much to code it.
    lag=ms(100),
    rough=ms(25),
    settles=True,
    oddities=_ODDITIES,
    vads=2,
    nothings=_NOTHINGS,
    flushes=0,
    done="bot-llm-stopped",
    held=6,
    ends={"expiry": "session expired", "reset": "the bot's track ended"},
)


def fits(behaviour: Behaviour) -> Behaviour:
    """Return ``behaviour`` at the track's rate, its sound ahead of time, and nothing more of it once interrupted."""
    return replace(behaviour, coding="pcm16", rate=RATE, odd=False, pace="burst", burst=100, flush="all")


class Bot:
    """One talk; its peer is a :class:`~fullduplex.testing.facades.pipecat_call.Call`."""

    rate_in = RATE

    def __init__(self, behaviour: Behaviour, rtvi: bool) -> None:
        self._rtvi = rtvi
        self._call: Any = None

    async def open(self, peer: Any, getting_ready: Callable[[], Awaitable[None]]) -> None:
        """Wait for a client that is ready, where this is the custom; raises :class:`Unheard` for anything before."""
        self._call = peer
        if not self._rtvi:
            await peer.opened.wait()
            return
        # It gets ready while the call is set up.
        waiting = asyncio.ensure_future(getting_ready())
        try:
            told = _message(await peer.receive())
            if (told.get("label"), told.get("type")) != (LABEL, "client-ready"):
                raise Unheard("client-ready has to come first")
            await waiting
        finally:
            waiting.cancel()
        about = {"version": told["data"]["version"], "about": {"library": "facade"}}
        await peer.send(json.dumps({"label": LABEL, "type": "bot-ready", "id": told["id"], "data": about}))

    def says(self, event: Spoken | Mapping[str, Any]) -> list[str | bytes]:
        """Let the track say it, or say no more; return words, the end of a response, and a fatal error for the end."""
        if isinstance(event, Spoken):
            self._call.mouth.say((np.frombuffer(event.data, "<i2") / np.float32(32_768)).astype(np.float32))
            return []
        if event["type"] == "flush":
            self._call.mouth.hush()
        if event["type"] == "said":
            return [_rtvi("bot-output", text=str(event["text"]), spoken_status="new", will_be_spoken=True)]
        if event["type"] == "note" and event["kind"] == "response.done":
            return [_rtvi("bot-llm-stopped")]
        if event["type"] == "close":
            return [_rtvi("error", error=str(event["reason"]), fatal=True)]
        return []

    def hears(self, message: str | bytes) -> list[Samples | Mapping[str, Any]]:
        """Return the sound of the user's track."""
        if isinstance(message, str):
            return []
        return [(np.frombuffer(message, "<i2") / np.float32(32_768)).astype(np.float32)]


def _message(message: str | bytes) -> Mapping[str, Any]:
    try:
        told = json.loads(message) if isinstance(message, str) else None
    except ValueError:
        told = None
    return told if isinstance(told, dict) else {}


def _carried(facade: Facade, behaviour: Behaviour, port: int, reported: Reported) -> AbstractAsyncContextManager[int]:
    from fullduplex.testing.facades.pipecat_call import calls

    return calls(facade, behaviour, port, reported)


def facade(options: Mapping[str, Any]) -> Facade:
    """Return a bot, with or without RTVI; raises :class:`PluginError` where aiortc is missing."""
    try:
        # Now: it takes a while, and a talk must not.
        import aiortc  # noqa: F401
    except ImportError:
        raise PluginError(
            "the facade of pipecat-webrtc needs aiortc, which is not installed; install fullduplex[webrtc]"
        ) from None
    rtvi = options.get("rtvi", True) is not False
    unready = "without RTVI a bot has no word for being ready"
    beside = BESIDE if rtvi else BESIDE | {8: unready, 9: unready}
    return Facade(
        "pipecat-webrtc",
        lambda behaviour: Bot(behaviour, rtvi),
        TERMS,
        fits,
        beside,
        carried=_carried,
        scheme="http",
    )


__all__ = ["BESIDE", "TERMS", "Bot", "facade", "fits"]
