"""A telephone agent as a facade: what answers Twilio's Media Streams, played by the scripted talker.

It sends a mark behind each piece of sound, whose name says how much of which utterance it stands for: what comes back
is what was heard.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from fullduplex.driving.playout import Samples
from fullduplex.model.spans import SECOND, ms
from fullduplex.systems.incoming import mulaw_decoded
from fullduplex.systems.twilio import FRAME, RATE
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.facades import Facade, Peer, Spoken, Unheard
from fullduplex.testing.stage import Terms

_MEDIA = {"encoding": "audio/x-mulaw", "sampleRate": RATE, "channels": 1}
#: What Twilio knows nothing of, or would warn about.
_ODDITIES: tuple[str | bytes, ...] = (
    '{"event": "media", "media": {"payload": "no base64!"}}',
    '{"event": "media", "media": {"payload": 5}}',
    '{"event": "media"}',
    '{"event": "mark", "mark": {"name": 7}}',
    '{"event": "mark"}',
    '{"event": "hold"}',
    '{"event": "\\u001b[31m../../x<script>"}',
    '{"event": 1e999}',
    '{"type": "flush"}',
    '{"event": "clear"',
    "[" * 5_000,
    "[]",
    "null",
    "",
    b"",
    b"\x00\xff",
)
#: Empty sound, and two flushes of nothing: it carries no words.
_NOTHINGS: tuple[str | bytes, ...] = (
    '{"event": "media", "media": {"payload": ""}}',
    '{"event": "clear"}',
    '{"event": "clear"}',
)
_SYNC = "it sends ahead of time, and no frame for a frame"
_READY = "an agent has no word for being ready: it is on the line at once"
BESIDE = {
    4: "clear names nothing: what comes after it is new",
    8: _READY,
    9: _READY,
    10: _SYNC,
    11: "its samples are not coded",
    12: "its samples are not coded",
    13: _SYNC,
    14: _SYNC,
    17: "it never says that it is done",
    20: "it is μ-law at 8 kHz, whatever is announced",
    21: "it asks for no sign of life but the WebSocket's own",
    22: "it carries no words",
    24: "a sample is a byte",
}
TERMS = Terms(
    frame=FRAME,
    rate_in=RATE,
    rough=ms(1),
    oddities=_ODDITIES,
    vads=0,
    usual=("mark",),
    nothings=_NOTHINGS,
    words=(),
)


def fits(behaviour: Behaviour) -> Behaviour:
    """Return ``behaviour`` with the telephone's sound, and nothing that would need a word for it."""
    return replace(behaviour, coding="mulaw", rate=RATE, odd=False, words=0)


class Agent:
    """One call."""

    rate_in = RATE

    def __init__(self, behaviour: Behaviour) -> None:
        self._stream, self._number, self._chunks = "", 0, 0
        self._sent: dict[int, int] = {}

    async def open(self, peer: Peer, getting_ready: Callable[[], Awaitable[None]]) -> None:
        """Take the call; raises :class:`Unheard` where it does not begin as Twilio's do."""
        connected = _object(await peer.receive())
        if connected.get("event") != "connected" or connected.get("protocol") != "Call":
            raise Unheard("connected has to come first")
        start = _object(await peer.receive())
        about = start.get("start", {})
        if start.get("event") != "start" or about.get("mediaFormat") != _MEDIA or about.get("tracks") != ["inbound"]:
            raise Unheard("start has to follow, of one inbound track of mu-law")
        self._stream, self._number = str(about["streamSid"]), int(start["sequenceNumber"])
        if not self._stream.startswith("MZ") or start.get("streamSid") != self._stream:
            raise Unheard("the stream has no name")

    def says(self, event: Spoken | Mapping[str, Any]) -> list[str | bytes]:
        """Return sound with a mark behind it, a flush as ``clear``."""
        if isinstance(event, Spoken):
            media = {"payload": base64.b64encode(event.data).decode()}
            told = [{"event": "media", "streamSid": self._stream, "media": media}]
            if event.id:
                played = self._sent[event.id] = self._sent.get(event.id, 0) + len(event.data) * SECOND // RATE
                name = {"name": f"{event.id}:{played}"}
                told.append({"event": "mark", "streamSid": self._stream, "mark": name})
            return [json.dumps(one) for one in told]
        if event["type"] == "flush":
            return [json.dumps({"event": "clear", "streamSid": self._stream})]
        return []

    def hears(self, message: str | bytes) -> list[Samples | Mapping[str, Any]]:
        """Return the caller's sound and marks that came back; raises :class:`Unheard` for what Twilio never says."""
        told = _object(message)
        kind, about = told.get("event"), told.get(str(told.get("event")))
        self._number += 1
        if told.get("streamSid") != self._stream or told.get("sequenceNumber") != str(self._number):
            raise Unheard(f"message {self._number} of the stream was expected")
        if not isinstance(about, Mapping):
            raise Unheard("an event without its object")
        if kind == "media":
            return [self._sound(about)]
        if kind == "mark":
            id, _, played = str(about.get("name")).partition(":")
            if not (id.isdecimal() and played.isdecimal()):
                raise Unheard("a mark that was never sent")
            return [{"type": "heard", "id": int(id), "played": int(played)}]
        if kind == "stop":
            return [{"type": "finish"}]
        raise Unheard(f"an event called {kind}")

    def _sound(self, about: Mapping[str, Any]) -> Samples:
        self._chunks += 1
        at = str((self._chunks - 1) * FRAME // ms(1))
        if (about.get("track"), about.get("chunk"), about.get("timestamp")) != ("inbound", str(self._chunks), at):
            raise Unheard(f"chunk {self._chunks} of the inbound track was expected")
        try:
            data = base64.b64decode(str(about["payload"]), validate=True)
        except (KeyError, binascii.Error) as error:
            raise Unheard("a payload that is no base64") from error
        if len(data) != FRAME * RATE // SECOND:
            raise Unheard(f"a payload of {len(data)} bytes")
        return mulaw_decoded(data)


def _object(message: str | bytes) -> dict[str, Any]:
    try:
        told = json.loads(message)
    except ValueError:
        told = None
    return told if isinstance(told, dict) else {}


def facade(options: Mapping[str, Any]) -> Facade:
    """Return an agent on the telephone."""
    return Facade("twilio", Agent, TERMS, fits, BESIDE)


__all__ = ["BESIDE", "TERMS", "Agent", "facade", "fits"]
