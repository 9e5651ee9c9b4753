"""The servers of Freeze-Omni and VITA as facades: Socket.IO, packets of bytes as numbers, ``stop_tts`` at every turn.

A behaviour of the pace ``per-input`` does as these servers do: one queued piece for each packet. They say ``stop_tts``
before each reply too, where nothing is queued; a behaviour that says itself when flushes come is taken at its word.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np

from fullduplex.driving.playout import Samples
from fullduplex.systems.vita.codec import PACKET, RATE_IN, RATE_OUT, checked_packet
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.facades import Facade, Peer, Spoken, Unheard
from fullduplex.testing.stage import Terms

#: What no client knows, or can do anything about.
_ODDITIES: tuple[str | bytes, ...] = (
    '42["\\u001b[31m../../x<script>", 1]',
    '42["audio", "no bytes"]',
    '42["audio"]',
    '42["response_text", {"text": 5}]',
    "42[]",
    "42{}",
    '42["half',
    '4599-["audio"]',
    '451-["audio",{"_placeholder":true,"num":0}]',
    "43[]",
    "4",
    "9",
    "",
    b"",
    b"\x00\x01",
    "42" + "[" * 5_000,
)
_WORDS = '42["response_text",{"text":"only words"}]'
_NOTHINGS: tuple[str | bytes, ...] = (_WORDS, '451-["audio",{"_placeholder":true,"num":0}]', b"", '42["stop_tts"]')
_SYNC = "it sends ahead of time, and no frame for a frame"
BESIDE = {
    4: "it empties its queue before it says stop_tts: nothing comes late, and no id would tell",
    6: "it flushes when it is interrupted",
    10: _SYNC,
    11: "its samples are not coded",
    12: "its samples are not coded",
    13: _SYNC,
    14: _SYNC,
    17: "it never says that it is done",
    20: "it announces no format",
    22: "its words carry no time",
    23: "it takes no word of what was heard",
}


def fits(behaviour: Behaviour) -> Behaviour:
    """Return ``behaviour`` with the only samples that these servers send."""
    return replace(behaviour, coding="pcm16", rate=RATE_OUT)


class Packets:
    """One talk with a client.

    ``prompts``: whether it takes a prompt; ``stops``: how often it says ``stop_tts`` first.
    """

    rate_in = RATE_IN

    def __init__(self, behaviour: Behaviour, *, prompts: bool, stops: int) -> None:
        self._prompts, self._stops = prompts, stops
        self._greets = not behaviour.flushes
        self._speaking, self._pings, self._pongs = 0, 0, 0

    async def open(self, peer: Peer, getting_ready: Callable[[], Awaitable[None]]) -> None:
        """Connect, take a prompt, and begin afresh once the recording is started."""
        asked = parse_qs(urlsplit(peer.path).query)
        if not urlsplit(peer.path).path.startswith("/socket.io/") or asked.get("EIO") != ["4"]:
            raise Unheard("The client is using an unsupported version of the Socket.IO or Engine.IO protocols")
        told = {"sid": "facade", "upgrades": [], "pingTimeout": 20_000, "pingInterval": 25_000, "maxPayload": 1_000_000}
        await peer.send("0" + json.dumps(told))
        while not str(message := await peer.receive()).startswith("40"):
            if message != "3":
                raise Unheard("connect first")
        await peer.send('40{"sid":"facade"}')
        while (event := _event(await peer.receive())) != ["recording-started"]:
            if event[:1] == ["prompt_text"] and self._prompts:
                await peer.send('42["prompt_success"]')
        waiting = asyncio.ensure_future(getting_ready())
        early = asyncio.ensure_future(peer.receive())
        try:
            await asyncio.wait({waiting, early}, return_when=asyncio.FIRST_COMPLETED)
            if early.done():
                early.result()
                raise Unheard("sound came before stop_tts, and is thrown away with the queue")
        finally:
            for task in (waiting, early):
                task.cancel()
            await asyncio.gather(waiting, early, return_exceptions=True)
        for _ in range(self._stops):
            await peer.send('42["stop_tts"]')

    def says(self, event: Spoken | Mapping[str, Any]) -> list[str | bytes]:
        """Return a piece of sound as an event with an attachment, a flush as ``stop_tts``, a ping."""
        if isinstance(event, Spoken):
            begins = bool(event.id) and event.id != self._speaking and self._greets
            self._speaking = event.id or self._speaking
            piece: list[str | bytes] = ['451-["audio",{"_placeholder":true,"num":0}]', event.data]
            return ['42["stop_tts"]', *piece] if begins else piece
        if event["type"] == "flush":
            return ['42["stop_tts"]']
        if event["type"] == "said":
            return ["42" + json.dumps(["response_text", {"text": str(event["text"])}])]
        if event["type"] == "ping":
            self._pings += 1
            return ["2"]
        return []

    def hears(self, message: str | bytes) -> list[Samples | Mapping[str, Any]]:
        """Return the user's packets; raises :class:`Unheard` where the client disconnects or sends no packet."""
        if message == "3":
            self._pongs += 1
            return [{"type": "pong", "n": self._pings}]
        if message in ("1", "41"):
            raise Unheard("client disconnect")
        event = _event(message)
        if event == ["recording-stopped"]:
            return [{"type": "finish"}]
        if event[:1] != ["audio"]:
            return []
        try:
            told = json.loads(event[1])
            if told["sample_rate"] != RATE_IN:
                raise ValueError(told["sample_rate"])
            return [(np.frombuffer(bytes(told["audio"]), "<i2") / np.float32(32_768)).astype(np.float32)]
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise Unheard("Internal Server Error: audio") from error


def _event(message: str | bytes) -> list[Any]:
    if isinstance(message, str) and message.startswith("42"):
        try:
            told = json.loads(message[2:])
        except ValueError:
            return []
        return told if isinstance(told, list) else []
    return []


#: VITA's alone.
_GLOBAL = "its server's queue and history are all users' in common, and nobody is kept out: who drives it sees to that"


def _facade(name: str, options: Mapping[str, Any], beside: Mapping[int, str], *, prompts: bool, stops: int) -> Facade:
    terms = Terms(
        frame=checked_packet(float(options.get("packet", PACKET))),
        rate_in=RATE_IN,
        oddities=_ODDITIES,
        vads=0,
        nothings=_NOTHINGS,
        # Of the nothings, and before its only utterance.
        flushes=2,
    )
    return Facade(name, lambda behaviour: Packets(behaviour, prompts=prompts, stops=stops), terms, fits, beside)


def freeze_omni(options: Mapping[str, Any]) -> Facade:
    """Return a Freeze-Omni server."""
    return _facade("freeze-omni", options, BESIDE, prompts=True, stops=2)


def vita(options: Mapping[str, Any]) -> Facade:
    """Return a VITA server."""
    return _facade("vita", options, BESIDE | {25: _GLOBAL}, prompts=False, stops=1)


__all__ = ["Packets", "fits", "freeze_omni", "vita"]
