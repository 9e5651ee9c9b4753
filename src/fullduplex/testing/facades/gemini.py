"""The Gemini Live API as a facade: turns of audio in JSON, ``interrupted``, transcripts with times.

A turn is complete once it would have been played, as far as the server knows. Messages go out in binary frames,
as the service's do; names are taken in snake_case and in camelCase, since the vendor's client mixes them.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from fullduplex.driving.playout import Samples
from fullduplex.model.spans import SECOND
from fullduplex.systems.gemini.codec import RATE_IN
from fullduplex.systems.wire import Gone
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.facades import Facade, Peer, Spoken, Unheard
from fullduplex.testing.stage import Terms

#: Whoever comes with this key is sent away as Google does it.
WRONG_KEY = "wrong-key"
_PATH = re.compile(r"/+ws/google\.ai\.generativelanguage\.v1(?:alpha|beta)?\.GenerativeService\.BidiGenerateContent")
_RATE = re.compile(r"audio/pcm(?:;rate=(\d{4,6}))?")
_SNAKE = re.compile(r"_([a-z])")


#: How long after an interruption the turn is over.
_UNDER_WAY = 0.2
_INTERRUPTED = {"serverContent": {"interrupted": True}}
_COMPLETE = {"serverContent": {"turnComplete": True}}


def _said(content: Mapping[str, Any]) -> str:
    return json.dumps({"serverContent": content})


#: What no client knows, or can do anything about; the first two are spellings of one event.
_ODDITIES: tuple[str | bytes, ...] = (
    '{"voiceActivity": {"voiceActivityType": "ACTIVITY_START", "audioOffset": "0.100s"}}',
    '{"voice_activity": {"voice_activity_type": "ACTIVITY_END", "audio_offset": "0.2s"}}',
    '{"voiceActivity": {"voiceActivityType": "ACTIVITY_SANG"}}',
    '{"toolCallCancellation": {"ids": [1e999]}}',
    '{"sessionResumptionUpdate": {"newHandle": "../../x<script>", "resumable": true}}',
    '{"toolCall": {"functionCalls": [{"name": "\\u001b[31m"}]}}',
    '{"newMember": {"later": 1}}',
    '{"serverContent": {"newMember": 1}}',
    '{"serverContent": null}',
    _said({"modelTurn": {"parts": [{"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": "###"}}]}}),
    _said({"modelTurn": {"parts": [{"inlineData": {"mimeType": "audio/pcm;rate=1", "data": "AAAA"}}]}}),
    _said({"modelTurn": {"parts": [{"inlineData": {"mimeType": "video/mp4", "data": "AAAA"}}]}}),
    _said({"modelTurn": {"parts": [{"text": "how shall I put it", "thought": True}]}}),
    _said({"modelTurn": {"parts": ["nothing"]}}),
    "[" * 5_000,
    "null",
    "{}",
    "",
    b"",
    b"\xff\xfe",
)
_NOTHINGS: tuple[str | bytes, ...] = (
    _said({"outputTranscription": {"text": "only words"}}),
    _said({"modelTurn": {"parts": [{"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": ""}}]}}),
    _said({"modelTurn": {}}),
    _said({"interrupted": True}),
    _said({"turnComplete": True}),
    _said({"interrupted": True}),
)
#: What comes of every turn.
USUAL = ("generation_complete", "turn_complete", "usage")
TERMS = Terms(
    rate_in=RATE_IN, oddities=_ODDITIES, vads=2, nothings=_NOTHINGS, flushes=2, done="generation_complete", usual=USUAL
)
_SYNC = "it sends ahead of time, and no frame for a frame"
BESIDE = {
    10: _SYNC,
    11: "its samples are not coded",
    12: "its samples are not coded",
    13: _SYNC,
    14: _SYNC,
    21: "it asks for no sign of life but the WebSocket's own",
    23: "it takes no word of what was heard",
}


def fits(behaviour: Behaviour) -> Behaviour:
    """Return ``behaviour`` with raw samples: no other coding is known, at whatever rate it announces."""
    return replace(behaviour, coding="pcm16")


class Turns:
    """One talk with a client of the Live API."""

    rate_in = RATE_IN

    def __init__(self, behaviour: Behaviour) -> None:
        self._mime = f"audio/pcm;rate={behaviour.rate}"
        self._rate = behaviour.rate
        #: The utterance that the turn which is going on holds, and when it will have been played (the loop's seconds).
        self._open: int | None = None
        self._plays_until = 0.0
        self._ending: asyncio.Task[None] | None = None
        self._rest = b""

    async def open(self, peer: Peer, getting_ready: Callable[[], Awaitable[None]]) -> None:
        """Read the setup and say that it is done; raises :class:`Unheard` where there is none, or a wrong key."""
        self._peer = peer
        if not _PATH.fullmatch(peer.path.partition("?")[0]):
            raise Unheard("404 Not Found")
        headers = {name.lower(): value for name, value in peer.headers.items()}
        if headers.get("x-goog-api-key") == WRONG_KEY:
            raise Unheard(f"API key not valid: {WRONG_KEY}. Please pass a valid API key.")
        told = _object(await peer.receive())
        setup = told.get("setup")
        if not isinstance(setup, Mapping) or not str(setup.get("model", "")).startswith("models/"):
            raise Unheard("Request contains an invalid argument: setup must be the first message, with a model")
        await getting_ready()
        await peer.send(json.dumps({"setupComplete": {"sessionId": "facade"}}).encode())

    def says(self, event: Spoken | Mapping[str, Any]) -> list[str | bytes]:
        """Return audio in its turn, words as a transcription of the user, a flush as ``interrupted``."""
        return [json.dumps(message).encode() for message in self._told(event)]

    def _told(self, event: Spoken | Mapping[str, Any]) -> list[dict[str, Any]]:
        if isinstance(event, Spoken):
            return self._sound(event)
        kind = event["type"]
        if kind == "flush":
            if self._open is None:
                return [_INTERRUPTED, _COMPLETE]
            # What is still under way of an utterance comes before the end of its turn.
            self._completes(_UNDER_WAY)
            return [_INTERRUPTED]
        if kind == "said":
            at = event.get("source")
            words = {} if at is None else {"words": [_word(str(event["text"]), float(at))]}
            return [{"serverContent": {"inputTranscription": {"text": str(event["text"])} | words}}]
        if kind == "close":
            return [{"goAway": {"timeLeft": "0.100s"}}]
        return []

    def _sound(self, spoken: Spoken) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        now = asyncio.get_running_loop().time()
        if self._open != spoken.id:
            made += [] if self._open is None else [_COMPLETE]
            self._plays_until = now
            self._completes(None)
        self._open = spoken.id
        self._plays_until += len(spoken.data) / 2 / self._rate
        blob = {"mimeType": self._mime, "data": base64.b64encode(spoken.data).decode()}
        made.append({"serverContent": {"modelTurn": {"role": "model", "parts": [{"inlineData": blob}]}}})
        if spoken.last:
            made.append({"serverContent": {"generationComplete": True}})
            self._completes(max(0.0, self._plays_until - now))
        return made

    def _completes(self, after: float | None) -> None:
        """Let the turn that is open be complete in so many seconds, instead of when it would have been."""
        if self._ending is not None:
            self._ending.cancel()
        self._ending = None if after is None else asyncio.ensure_future(self._complete(after))

    async def _complete(self, after: float) -> None:
        await asyncio.sleep(after)
        self._open, self._ending = None, None
        with suppress(Gone):
            await self._peer.send(json.dumps(_COMPLETE | {"usageMetadata": {"totalTokenCount": 1}}).encode())

    def hears(self, message: str | bytes) -> list[Samples | Mapping[str, Any]]:
        """Return the user's sound; raises :class:`Unheard` for what the service closes a session for."""
        told = _object(message)
        if "setup" in told:
            raise Unheard("setup must only be sent once")
        given = told.get("realtimeInput")
        if not isinstance(given, Mapping):
            return []
        chunks = given.get("mediaChunks")
        blobs = chunks if isinstance(chunks, list) else [given["audio"]] if "audio" in given else []
        heard: list[Samples | Mapping[str, Any]] = [self._pcm(blob) for blob in blobs]
        return [*heard, {"type": "finish"}] if given.get("audioStreamEnd") is True else heard

    def _pcm(self, blob: Any) -> Samples:
        mime = _RATE.fullmatch(str(blob.get("mimeType", ""))) if isinstance(blob, Mapping) else None
        if mime is None or int(mime[1] or RATE_IN) != RATE_IN:
            raise Unheard("Request contains an invalid argument: audio")
        try:
            # The vendor's client sends the alphabet that is safe in URLs.
            data = self._rest + base64.urlsafe_b64decode(str(blob["data"]).replace("+", "-").replace("/", "_"))
        except (binascii.Error, KeyError, ValueError) as error:
            raise Unheard("Request contains an invalid argument: audio") from error
        whole = len(data) // 2 * 2
        self._rest = data[whole:]
        return (np.frombuffer(data[:whole], "<i2") / np.float32(32_768)).astype(np.float32)


def _word(text: str, at: float) -> dict[str, str]:
    start = round(at * SECOND)
    return {"word": text, "startOffset": _duration(start), "endOffset": _duration(start + SECOND // 5)}


def _duration(time: int) -> str:
    return f"{time // SECOND}.{time % SECOND:06d}s"


def _object(message: str | bytes) -> dict[str, Any]:
    try:
        told = json.loads(message)
    except ValueError as error:
        raise Unheard("Invalid JSON payload received") from error
    if not isinstance(told, dict):
        raise Unheard("Invalid JSON payload received")
    camel: dict[str, Any] = _camel(told)
    return camel


def _camel(told: Any) -> Any:
    if isinstance(told, Mapping):
        return {_SNAKE.sub(lambda m: m[1].upper(), str(name)): _camel(value) for name, value in told.items()}
    return [_camel(value) for value in told] if isinstance(told, list) else told


def facade(options: Mapping[str, Any]) -> Facade:
    """Return a server of the Gemini Live API."""
    return Facade("gemini-live", Turns, TERMS, fits, BESIDE)


__all__ = ["BESIDE", "TERMS", "WRONG_KEY", "Turns", "facade", "fits"]
