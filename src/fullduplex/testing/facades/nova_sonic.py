"""Nova Sonic as a facade: its JSON events, over a WebSocket as a bridge passes them on, in memory, or over HTTP/2.

For each answer comes a planned text, the sound as a content of its own, and the text again as it was spoken. An
interruption is a text; the sound's own end may say END_TURN all the same.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fullduplex.driving.playout import Samples
from fullduplex.systems.nova_sonic.codec import RATE_IN, event, sound_format
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.facades import Facade, Peer, Spoken, Unheard
from fullduplex.testing.stage import Terms

_INTERRUPTED = '{ "interrupted" : true }'
_NAMES = {"sessionId": "facade", "promptName": "talk", "completionId": "c"}


def _start(content: str, type: str, role: str, stage: str = "", rate: int = 0) -> str:
    told: dict[str, Any] = {"contentId": content, "type": type, "role": role}
    if stage:
        told["additionalModelFields"] = json.dumps({"generationStage": stage})
    if rate:
        told["audioOutputConfiguration"] = sound_format(rate)
    else:
        told["textOutputConfiguration"] = {"mediaType": "text/plain"}
    return event("contentStart", **_NAMES, **told)


def _end(content: str, type: str, reason: str) -> str:
    return event("contentEnd", **_NAMES, contentId=content, stopReason=reason, type=type)


def _text(content: str, text: str, role: str) -> str:
    return event("textOutput", **_NAMES, contentId=content, content=text, role=role)


def _usage(heard: int, said: int) -> str:
    delta = {"input": {"speechTokens": heard, "textTokens": 1}, "output": {"speechTokens": said, "textTokens": 2}}
    total = {"details": {"delta": delta, "total": delta}, "totalInputTokens": heard, "totalOutputTokens": said}
    return event("usageEvent", **_NAMES, **total)


#: What no client knows, or can do anything about.
_ODDITIES: tuple[str | bytes, ...] = (
    event("toolUse", toolName="\x1b[31m../../x<script>", content="{}"),
    event("somethingNew", later=1),
    event("audioOutput", contentId="x", content="###"),
    event("textOutput", contentId="x", content=5),
    '{"event": {}}',
    '{"event": {"later": null}}',
    '{"notAnEvent": 1}',
    "[" * 5_000,
    "null",
    "",
    b"",
    b"\xff\xfe",
)
_NOTHINGS: tuple[str | bytes, ...] = (
    _text("t0", "only words", "ASSISTANT"),
    event("audioOutput", contentId="s0", content=""),
    _text("t0", _INTERRUPTED, "ASSISTANT"),
    _text("t0", _INTERRUPTED, "ASSISTANT"),
)
#: What comes of every answer.
USUAL = ("planned", "content_end", "usage", "completionStart", "completionEnd")
TERMS = Terms(
    rate_in=RATE_IN, oddities=_ODDITIES, vads=0, nothings=_NOTHINGS, flushes=2, done="content_end", usual=USUAL
)
_SYNC = "it sends ahead of time, and no frame for a frame"
_READY = "its server has no word for being ready: a talk is ready once its opening was sent"
BESIDE = {
    8: _READY,
    9: _READY,
    10: _SYNC,
    11: "its samples are not coded",
    12: "its samples are not coded",
    13: _SYNC,
    14: _SYNC,
    21: "it asks for no sign of life but the connection's own",
    22: "its words carry no time",
    23: "it takes no word of what was heard",
}


def fits(behaviour: Behaviour) -> Behaviour:
    """Return ``behaviour`` with raw samples, at whatever rate it announces."""
    return replace(behaviour, coding="pcm16")


class Contents:
    """One talk with a client."""

    rate_in = RATE_IN

    def __init__(self, behaviour: Behaviour) -> None:
        self._rate = behaviour.rate
        self._open: int | None = None
        self._flushed = False
        self._heard, self._said, self._rest = 0, 0, b""

    async def open(self, peer: Peer, getting_ready: Callable[[], Awaitable[None]]) -> None:
        """Read the opening, up to the beginning of the user's sound; raises :class:`Unheard` for another order."""
        wanted = ["sessionStart", "promptStart", "contentStart"]
        while wanted:
            name, told = _event(await peer.receive())
            if name in ("textInput", "contentEnd") or (name == "contentStart" and told.get("type") == "TEXT"):
                continue
            if name != wanted.pop(0):
                raise Unheard(f"validationException: {name or 'no event'} came before its time")
        if told.get("type") != "AUDIO" or told.get("role") != "USER":
            raise Unheard("validationException: the user's content has to be AUDIO")
        await getting_ready()
        await peer.send(event("completionStart", **_NAMES))

    def says(self, spoken: Spoken | Mapping[str, Any]) -> list[str | bytes]:
        """Return sound as a content of its own for each utterance, words as the user's, a flush as a text."""
        if isinstance(spoken, Spoken):
            return list(self._sound(spoken))
        if spoken["type"] == "flush":
            self._flushed = True
            return [
                _start("i", "TEXT", "ASSISTANT", "FINAL"),
                _text("i", _INTERRUPTED, "ASSISTANT"),
                _end("i", "TEXT", "INTERRUPTED"),
            ]
        if spoken["type"] == "said":
            return [
                _start("u", "TEXT", "USER", "FINAL"),
                _text("u", str(spoken["text"]), "USER"),
                _end("u", "TEXT", "PARTIAL_TURN"),
            ]
        return []

    def _sound(self, spoken: Spoken) -> list[str]:
        content, made = f"s{spoken.id}", []
        if spoken.id != self._open:
            self._open = spoken.id
            plan = f"p{spoken.id}"
            made += [_start(plan, "TEXT", "ASSISTANT", "SPECULATIVE"), _text(plan, "what I mean to say", "ASSISTANT")]
            made += [_end(plan, "TEXT", "PARTIAL_TURN"), _start(content, "AUDIO", "ASSISTANT", rate=self._rate)]
        self._said += len(spoken.data) // 2
        made.append(event("audioOutput", **_NAMES, contentId=content, content=base64.b64encode(spoken.data).decode()))
        if spoken.last:
            # Whatever was interrupted, the sound's own end does not tell.
            made += [_end(content, "AUDIO", "END_TURN"), _usage(self._heard // 640, self._said // 640)]
            self._heard = self._said = 0
        return made

    def hears(self, message: str | bytes) -> list[Samples | Mapping[str, Any]]:
        """Return the user's sound; raises :class:`Unheard` for what the service ends a stream for."""
        name, told = _event(message)
        if name == "audioInput":
            return [self._pcm(told.get("content"))]
        if name == "contentEnd":
            return [{"type": "finish"}]
        if name in ("promptEnd", "sessionEnd"):
            return []
        raise Unheard(f"validationException: {name or 'no event'} in the middle of a talk")

    def _pcm(self, content: Any) -> Samples:
        try:
            data = self._rest + base64.b64decode(content, validate=True)
        except (binascii.Error, ValueError, TypeError) as error:
            raise Unheard("validationException: audioInput") from error
        whole = len(data) // 2 * 2
        self._rest = data[whole:]
        self._heard += whole // 2
        return (np.frombuffer(data[:whole], "<i2") / np.float32(32_768)).astype(np.float32)


def _event(message: str | bytes) -> tuple[str, Mapping[str, Any]]:
    try:
        told = json.loads(message)["event"]
        name, members = next(iter(told.items()))
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration):
        return "", {}
    return str(name), members if isinstance(members, dict) else {}


def facade(options: Mapping[str, Any]) -> Facade:
    """Return a server of Nova Sonic's events."""
    return Facade("nova-sonic", Contents, TERMS, fits, BESIDE)


__all__ = ["BESIDE", "TERMS", "Contents", "facade", "fits"]
