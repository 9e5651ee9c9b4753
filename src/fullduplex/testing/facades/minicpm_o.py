"""The gateway of MiniCPM-o as a facade: a queue, ``prepare``, seconds of float32 samples, a ``result`` with sound."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from fullduplex.driving.drive import Talk
from fullduplex.driving.observe import decision_lags
from fullduplex.driving.playout import Samples
from fullduplex.model.spans import SECOND
from fullduplex.systems.minicpm_o.codec import RATE_IN, RATE_OUT
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.facades import Facade, Peer, Spoken, Unheard
from fullduplex.testing.stage import Terms

_PATH = re.compile(r"/ws/duplex/[A-Za-z0-9_-]+")
#: What no client knows, or can do anything about.
_ODDITIES: tuple[str | bytes, ...] = (
    '{"type": "session.created"}',
    '{"type": "error", "error": "\\u001b[31mbad luck"}',
    '{"type": "queue_update", "position": "../../x<script>"}',
    '{"type": "paused"}',
    '{"type": "result", "is_listen": false, "audio_data": "###"}',
    '{"later": 1}',
    "[" * 5_000,
    "null",
    "{",
    "",
    b"",
    b"\xff\xfe",
)
_NOTHINGS: tuple[str | bytes, ...] = (
    '{"type": "result", "is_listen": false, "text": "only words", "current_time": 1}',
    '{"type": "result", "is_listen": false, "audio_data": "", "current_time": 1}',
    '{"type": "result", "is_listen": true, "end_of_turn": true, "current_time": 1}',
)
_FLUSH = "the protocol has no flush"
_SYNC = "it answers seconds, not frames"
BESIDE = {
    3: _FLUSH,
    4: _FLUSH,
    5: _FLUSH,
    10: _SYNC,
    11: "its samples are not coded",
    12: "its samples are not coded",
    14: _SYNC,
    16: "it gives a second of speech for a second of sound, and queues none",
    17: "it never says that it is done before it is",
    20: "it announces no format",
    21: "it asks for no sign of life but the WebSocket's own",
    22: "its words carry the number of a second, and no time of their own",
    23: "it takes no word of what was heard",
}


def lags_by_decision(talk: Talk, frame: int) -> dict[int, int]:
    """Return the lag of each second's answer, by how many frames the user had made at the second's end."""
    return {end // frame: lag for end, lag in decision_lags((*talk.received, *talk.notes)).items()}


TERMS = Terms(
    rate_in=RATE_IN,
    unit=SECOND,
    lags=lags_by_decision,
    oddities=_ODDITIES,
    vads=0,
    # One before the talk: its place in the queue.
    notes=1,
    usual=("unit",),
    nothings=_NOTHINGS,
    flushes=0,
)


def fits(behaviour: Behaviour) -> Behaviour:
    """Return ``behaviour`` with the samples that it sends, no flush, and each second answered, the first, too."""
    return replace(behaviour, coding="f32", rate=RATE_OUT, flush="none", primes=False)


class Seconds:
    """One talk with a client."""

    rate_in = RATE_IN

    def __init__(self, behaviour: Behaviour) -> None:
        self._units = 0
        #: Whether it answers second for second, and so perhaps one that is long over.
        self._answers = behaviour.pace == "sync"

    async def open(self, peer: Peer, getting_ready: Callable[[], Awaitable[None]]) -> None:
        """Queue the client, and say that it is prepared, once it is."""
        if not _PATH.fullmatch(urlsplit(peer.path).path):
            raise Unheard("404 Not Found")
        await peer.send(json.dumps({"type": "queued", "ticket_id": "1", "position": 1, "eta_seconds": 0}))
        await peer.send(json.dumps({"type": "queue_done"}))
        if _told(await peer.receive()).get("type") != "prepare":
            raise Unheard("prepare first")
        await getting_ready()
        await peer.send(json.dumps({"type": "prepared", "prompt_length": 1, "session_id": "facade"}))

    def says(self, event: Spoken | Mapping[str, Any]) -> list[str | bytes]:
        """Return sound and words as results of the second that was heard last, or that the sound answers."""
        result: dict[str, Any] = {"type": "result", "is_listen": False, "text": "", "end_of_turn": False}
        result |= {"current_time": self._units, "cost_all_ms": 1.0, "server_send_ts": 0.0}
        if isinstance(event, Spoken):
            if self._answers and event.source is not None:
                result["current_time"] = event.source // SECOND + 1
                if not event.data.strip(b"\0"):
                    return [json.dumps(result | {"is_listen": True, "audio_data": None})]
            result |= {"audio_data": base64.b64encode(event.data).decode(), "end_of_turn": event.last}
            return [json.dumps(result)]
        if event["type"] == "said":
            return [json.dumps(result | {"text": str(event["text"])})]
        return []

    def hears(self, message: str | bytes) -> list[Samples | Mapping[str, Any]]:
        """Return the user's second; raises :class:`Unheard` for what is none."""
        told = _told(message)
        if told.get("type") == "stop":
            return [{"type": "finish"}]
        if told.get("type") != "audio_chunk":
            return []
        try:
            data = base64.b64decode(told["audio_base64"], validate=True)
            samples = np.frombuffer(data, "<f4").astype(np.float32)
        except (binascii.Error, KeyError, TypeError, ValueError) as error:
            raise Unheard("Missing audio_base64") from error
        if len(samples) != RATE_IN:
            raise Unheard(f"a second has {RATE_IN} samples, not {len(samples)}")
        self._units += 1
        return [samples]


def _told(message: str | bytes) -> dict[str, Any]:
    try:
        told = json.loads(message)
    except ValueError as error:
        raise Unheard("no JSON") from error
    return told if isinstance(told, dict) else {}


def facade(options: Mapping[str, Any]) -> Facade:
    """Return a gateway of MiniCPM-o."""
    return Facade("minicpm-o", Seconds, TERMS, fits, BESIDE)


__all__ = ["BESIDE", "TERMS", "Seconds", "facade", "fits"]
