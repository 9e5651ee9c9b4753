"""Mini-Omni2: an utterance of the user in a request, speech in parts in its answer.

The model hears a whole recording and answers it; it knows neither when the user has finished nor when it is
interrupted. Both are this driver's, by loudness (:mod:`fullduplex.systems.mini_omni2.endpointer`), and every talk says
so. Read in the project's source at 6efd5bf; *not verified live*, tried on a server that writes as it does.
"""

from __future__ import annotations

import asyncio
import base64
import io
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from fullduplex.driving.link import Happening, Note, Position, Ready, Said, Traits, UserVad
from fullduplex.driving.playout import Chunk, Flush, Samples
from fullduplex.errors import ConversationError, InputError, printable
from fullduplex.model.spans import SECOND, ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.systems.incoming import Incoming
from fullduplex.systems.mini_omni2.endpointer import Endpointer
from fullduplex.systems.mini_omni2.multipart import Part, Parts
from fullduplex.systems.moshi.urls import checkpoint

RATE_IN, RATE_OUT = 16_000, 24_000
HOME = "http://localhost:60808"


@dataclass(frozen=True, slots=True)
class MiniOmni2:
    """A talk with a Mini-Omni2 server at ``url`` (``http://`` or ``https://``; without a path, ``/chat``).

    ``silence``: after so many seconds without a sound above -40 dB the user has finished. ``at_least``: what is
    shorter is no utterance. ``interrupts``: whether the user's speech stops a reply; else nothing that is said while
    one sounds is heard, as by the project's own pages. ``stream_stride`` and ``max_tokens`` go to the server.
    ``ready_within`` and ``timeout``: seconds until it answers at all, and between two pieces of a reply. ``model`` is
    the checkpoint that you started it with: kept with the run, and not verified.
    """

    url: str = ""
    model: str = "gpt-omni/mini-omni2"
    silence: float = 0.8
    at_least: float = 0.2
    interrupts: bool = False
    stream_stride: int = 4
    max_tokens: int = 2_048
    ready_within: float = 20.0
    timeout: float = 60.0

    #: How it can be had: its weights are published.
    access = "open"

    def __post_init__(self) -> None:
        if not 0.05 <= self.silence <= 10 or not 0 <= self.at_least <= 10:
            raise ValueError("silence and at_least: expected seconds, from 0.05 and from 0 to 10")
        if self.stream_stride < 1 or self.max_tokens < 1 or not 0 < self.timeout <= 3_600:
            raise ValueError("stream_stride and max_tokens: expected 1 or more; timeout: up to 3600 seconds")
        checkpoint(self.model)

    @property
    def spec(self) -> Spec:
        """Return its checkpoint, what is sent to it and the rules of its turns; where it runs changes nothing."""
        names = ("silence", "at_least", "interrupts", "stream_stride", "max_tokens")
        options = {"model": checkpoint(self.model)} | {name: getattr(self, name) for name in names}
        return Spec("mini-omni2", options, "1")

    @property
    def traits(self) -> Traits:
        """Return replies as fast as they are made, one talk at a time, a flush where it can be interrupted."""
        return Traits(
            RATE_IN, RATE_OUT, ms(20), timing="burst", flush="all" if self.interrupts else "none", exclusive=True
        )

    @property
    def where(self) -> str:
        """Return the whole URL; raises :class:`InputError` where it is none."""
        try:
            parts = urlsplit(self.url or HOME)
            sound = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            sound = False
        if not sound or "@" in parts.netloc:
            raise InputError("--system", "url", found=printable(self.url, 80), expected="http://HOST:PORT")
        return parts._replace(path="/chat" if parts.path in ("", "/") else parts.path).geturl()

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[Talking]:
        """Open a talk: see that a server is there. It takes no prompt, and says so where it is given one."""
        import httpx

        where = self.where
        limits = httpx.Timeout(self.timeout, connect=self.ready_within)
        # Certificates take a while to load, and are needed for https alone.
        verify = where.startswith("https:")
        async with httpx.AsyncClient(timeout=limits, trust_env=False, verify=verify) as client:
            try:
                # It knows no such request and says so: what counts is that it does.
                await client.get(where, timeout=self.ready_within)
            except httpx.HTTPError as error:
                busy = isinstance(error, httpx.ReadTimeout)
                why = (
                    "was not ready in time: it may be busy, since it answers one at a time" if busy else "is not there"
                )
                reason = printable(str(error) or type(error).__name__, 200)
                raise ConversationError(f"{printable(where, 80)}: the Mini-Omni2 server {why}: {reason}") from error
            talking = Talking(self, client, where, {"model_verified": False, "prompt_taken": not prompt})
            try:
                yield talking
            finally:
                await talking.leave()


class Talking:
    """One talk: the endpointer listens, and a request for each utterance is answered."""

    def __init__(self, system: MiniOmni2, client: Any, where: str, settings: Mapping[str, Any]) -> None:
        self._system, self._client, self._where = system, client, where
        self._ends = Endpointer(RATE_IN, seconds(system.silence), seconds(system.at_least))
        told = {
            "endpointer": self._ends.told(),
            "imposed": "the end of each utterance",
            "interrupts": system.interrupts,
        }
        self.ready = Ready(dict(system.spec.options) | dict(settings) | told)
        self._events: asyncio.Queue[Happening | ConversationError] = asyncio.Queue()
        self._answering: asyncio.Task[None] | None = None
        self._replies, self._sent, self._played = 0, 0, 0

    @property
    def _busy(self) -> bool:
        """Return whether a reply is being made or has not sounded to its end."""
        making = self._answering is not None and not self._answering.done()
        return making or self._played < self._sent

    async def send(self, frame: Samples) -> None:
        """Hear the next frame; where an utterance ended with it, ask for a reply."""
        busy = self._busy
        if busy and not self._system.interrupts:
            self._ends.forget()
            return
        was = self._ends.speaking
        ended = self._ends.hear(frame)
        if busy and self._ends.speaking and not was:
            await self._stop()
            self._events.put_nowait(UserVad(True))
            self._events.put_nowait(Flush(None))
        if ended is not None:
            await self._stop()
            self._replies, self._sent, self._played = self._replies + 1, 0, 0
            self._answering = asyncio.create_task(self._answer(ended, f"r{self._replies}"))

    async def heard(self, position: Position) -> None:
        """Take note of how much of the reply has sounded."""
        if position.id == f"r{self._replies}":
            self._played = position.played

    async def finish(self) -> None:
        """Take no note: an utterance ends with its silence."""

    async def leave(self) -> None:
        """Close what is open."""
        await self._stop()

    async def _stop(self) -> None:
        """Give up the reply that is being made: its connection is closed."""
        self._sent = self._played
        if self._answering is not None:
            self._answering.cancel()
            with suppress(asyncio.CancelledError):
                await self._answering
            self._answering = None

    async def __aiter__(self) -> AsyncIterator[Happening]:
        """Yield what comes; raises :class:`ConversationError` where the server fails."""
        while True:
            event = await self._events.get()
            if isinstance(event, ConversationError):
                raise event
            yield event

    async def _answer(self, utterance: Samples, id: str) -> None:
        import httpx

        began, incoming = time.perf_counter(), Incoming("pcm16", RATE_OUT, RATE_OUT)
        system = self._system
        body = {"audio": _wav(utterance), "stream_stride": system.stream_stride, "max_tokens": system.max_tokens}
        asked = {"id": id, "seconds": round(len(utterance) / RATE_IN, 6), "ended_by": "silence", "imposed": True}
        self._events.put_nowait(Note("asked", asked))
        try:
            async with self._client.stream("POST", self._where, json=body) as answer:
                if answer.status_code != 200:
                    raise ValueError(f"answered {answer.status_code}")
                parts = Parts(answer.headers.get("content-type", ""))
                async for data in answer.aiter_raw():
                    self._give(parts.take(data), incoming, id)
                self._give(parts.end(), incoming, id)
        except (httpx.HTTPError, ValueError) as error:
            self._events.put_nowait(ConversationError(f"the Mini-Omni2 server failed in a reply: {_reason(error)}"))
            return
        took = {"id": id, "took": round(time.perf_counter() - began, 6), "sent": self._sent / SECOND}
        self._events.put_nowait(Note("answered", took))

    def _give(self, parts: list[Part], incoming: Incoming, id: str) -> None:
        for part in parts:
            if part.kind == "audio/wav":
                samples = incoming.take(part.body)
                self._sent += len(samples) * SECOND // RATE_OUT
                if len(samples):
                    self._events.put_nowait(Chunk(samples, id))
            elif part.kind == "text/plain":
                text = part.body.decode("utf-8", "replace")
                if text:
                    self._events.put_nowait(Said(text, id=id))
            else:
                told = {"type": printable(part.kind, 60), "bytes": len(part.body)}
                self._events.put_nowait(Note("unknown", told))


def _reason(error: BaseException) -> str:
    """Return what went wrong: where a connection breaks off, the error's cause alone tells it."""
    deepest = error
    while not str(error) and (under := deepest.__cause__ or deepest.__context__) is not None:
        deepest = under
    broke = "the connection broke off: " if isinstance(deepest, ConnectionError) else ""
    return broke + printable(str(error) or str(deepest) or type(error).__name__, 200)


def _wav(samples: Samples) -> str:
    """Return a WAV file of 16 bits in base64."""
    import wave

    file = io.BytesIO()
    with wave.open(file, "wb") as writing:
        writing.setnchannels(1)
        writing.setsampwidth(2)
        writing.setframerate(RATE_IN)
        writing.writeframes(np.clip(np.rint(samples * 32_768), -32_768, 32_767).astype("<i2").tobytes())
    return base64.b64encode(file.getvalue()).decode()


__all__ = ["MiniOmni2", "Talking"]
