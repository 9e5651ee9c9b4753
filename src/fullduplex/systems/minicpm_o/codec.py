"""The wire of the gateway: ``prepare``, then a second of float32 samples a message, each answered with a ``result``.

The model decides once a second whether it listens or speaks, and gives at most a second of speech: a result belongs to
the second that it answers, whose number it tells (``current_time``). Its sound begins at the end of that second at
the earliest, which is what ``source`` says; how much later it came is what computing took. Nothing is
ever taken back: where the model listens again, what it said before sounds to its end.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from fullduplex.driving.link import Closed, Happening, Note, Said
from fullduplex.driving.playout import Chunk, Samples
from fullduplex.errors import printable
from fullduplex.model.spans import SECOND
from fullduplex.systems.incoming import Incoming
from fullduplex.systems.talking import Translating
from fullduplex.systems.wire import Gone, Wire

RATE_IN, RATE_OUT = 16_000, 24_000
#: The names by which code, documentation and stand-ins call a result's sound.
_SOUND = ("audio_data", "audio", "audio_base64")
_QUEUE = ("queued", "queue_update", "queue_done")
#: What of a result is kept beside its sound and words.
_KEPT = ("current_time", "is_listen", "end_of_turn", "kv_cache_length", "server_send_ts", "n_tokens", "n_tts_tokens")


class Talking(Translating[str | bytes, str | bytes]):
    """One talk over a wire; ``prepare`` is what its worker is prepared with."""

    busy = "its workers may be busy with other talks"

    def __init__(self, wire: Wire, settings: Mapping[str, Any], prepare: Mapping[str, Any]) -> None:
        super().__init__(wire, settings)
        self._prepare = prepare
        self._unit: list[Samples] = []
        self._incoming = Incoming("f32", RATE_OUT, RATE_OUT)
        self._turn, self._speaking = 1, False

    async def get_ready(self) -> None:
        """Wait for a worker, prepare it, and return once it is prepared; raises :class:`Gone`."""
        await self.until(lambda message: self._comes(message, "queue_done"))
        await self.wire.send(json.dumps(self._prepare))
        await self.until(lambda message: self._comes(message, "prepared"))

    def _comes(self, message: str | bytes, awaited: str) -> bool | None:
        """Return whether what is awaited before the talk has come; raises :class:`Gone` where it never will."""
        told = _members(message) or {}
        kind = told.get("type")
        if kind in ("queued", "queue_update"):
            self.busy = f"{Talking.busy}: place {printable(str(told.get('position', '?')), 20)} in its queue"
        if kind == "error":
            raise Gone(f"error: {_reason(told) or 'no reason'}")
        return True if kind == awaited else None

    async def send(self, frame: Samples) -> None:
        """Keep the next frame of the user, and send a second once it is whole."""
        self._unit.append(frame)
        waiting = sum(map(len, self._unit))
        if waiting < RATE_IN:
            return
        samples = np.concatenate(self._unit)
        self._unit = [samples[RATE_IN:]]
        data = base64.b64encode(samples[:RATE_IN].astype("<f4").tobytes()).decode()
        await self.give(json.dumps({"type": "audio_chunk", "audio_base64": data}))

    async def leave(self) -> None:
        """Say that the talk is over, so that its worker is free."""
        await self.give(json.dumps({"type": "stop"}))

    async def understood(self, message: str | bytes) -> list[Happening]:
        """Return the events of one message; what cannot be understood is a note."""
        told = _members(message)
        if told is None:
            text = message if isinstance(message, str) else message[:400].decode("utf-8", "replace")
            return [Note("unreadable", {"text": printable(text[:200]), "length": len(message)})]
        kind = told.get("type")
        if kind == "result":
            return self._result(told)
        if kind in ("timeout", "stopped"):
            return [Closed(f"{kind}: {_reason(told) or 'the gateway ended the talk'}")]
        if kind == "error":
            self.errors.append(_reason(told) or "no reason")
            return [Note("error", {"text": printable(self.errors[-1], 1_000)})]
        if kind in _QUEUE:
            return [Note("queue", {"type": kind, "position": printable(str(told.get("position", "")), 20)})]
        return [Note("unknown", {"type": printable(str(kind), 100)})]

    def _result(self, told: Mapping[str, Any]) -> list[Happening]:
        """Return what a second's result holds: words, sound, and what it tells of itself."""
        number = told.get("current_time")
        whole = isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= 10_000_000
        source = number * SECOND if whole and isinstance(number, int) else None
        id, events = f"t{self._turn}", list[Happening]()
        text = told.get("text")
        if isinstance(text, str) and text and not told.get("is_listen"):
            events.append(Said(text, id=id, source=source))
        data = next((told[name] for name in _SOUND if isinstance(told.get(name), str) and told[name]), "")
        sound = _decoded(data)
        if sound is None:
            return [*events, Note("unreadable", {"length": len(data)})]
        samples = self._incoming.take(sound)
        if len(samples):
            self._speaking = True
            events.append(Chunk(samples, id, source=source))
        if (told.get("end_of_turn") is True or told.get("is_listen") is True) and self._speaking:
            self._turn, self._speaking = self._turn + 1, False
        kept = {name: told[name] for name in _KEPT if isinstance(told.get(name), bool | int | float)}
        kept |= {name: v for name, v in told.items() if name.startswith("cost_") and isinstance(v, int | float)}
        return [*events, Note("unit", {n: v for n, v in kept.items() if abs(v) < float("inf")}, source=source)]


def _members(message: str | bytes) -> dict[str, Any] | None:
    try:
        told = json.loads(message)
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def _reason(told: Mapping[str, Any]) -> str:
    found = next((told[name] for name in ("error", "message", "reason") if told.get(name)), "")
    return printable(str(found), 300)


def _decoded(data: str) -> bytes | None:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None


__all__ = ["RATE_IN", "RATE_OUT", "Talking"]
