"""A LiveKit session that is told what to say, frame by frame, and hears the user where a detector would.

Imported only where the library is installed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from livekit import rtc
from livekit.agents import Agent, AgentSession, vad

from fullduplex.model.spans import seconds
from fullduplex.systems.wire import Gone
from fullduplex.testing.facades.inbox import Inbox


class Voice(Inbox):
    """The client of a talk: ``bytes`` are a frame of the user, 16 bits, ``str`` what was told of the speech."""

    path = ""
    headers: Mapping[str, str] = {}

    def __init__(self) -> None:
        super().__init__()
        #: When the script begins.
        self.begun = asyncio.Event()
        self.session: Any = AgentSession(vad=_Ears(self._messages), turn_handling={"turn_detection": "manual"})
        self._speech: Any = None
        self._pieces: asyncio.Queue[Any] | None = None
        self._over = 0

    def agent(self, speaks: Callable[[], Awaitable[Any]] | None = None) -> Agent:
        """Return the session's agent; once it is there, ``speaks`` goes on beside it."""
        return _Scripted(self, speaks)

    async def send(self, message: str | bytes) -> None:
        """Do what a message of the script says; of others there is nobody to send them to."""
        try:
            told = json.loads(message)
        except ValueError:
            return
        if told.get("type") == "flush":
            self.take_back()
        elif told.get("type") == "say" and "samples" in told:
            self.speak(bytes(2 * int(told["samples"])), 24_000, last=True)
        elif told.get("type") == "say":
            self.write(str(told["text"]))

    async def close(self, reason: str) -> None:
        """Take no note: the session was shut."""

    def leave(self) -> None:
        """Say that the talk is over."""
        self._messages.put_nowait(Gone("the talk is over"))

    # What the session is told to do.

    def listen(self) -> None:
        """Hear from the loudspeaker how much of a speech has sounded when it is over."""
        self.session.output.audio.on("playback_finished", self._finished)

    def speak(self, pcm: bytes, rate: int, *, last: bool) -> None:
        """Say a piece of a speech, which begins with its first and ends with its last."""
        if self._pieces is None:
            self._pieces = asyncio.Queue()
            self._say(_nothing(), _until_none(self._pieces))
        self._pieces.put_nowait(
            rtc.AudioFrame(data=pcm, sample_rate=rate, num_channels=1, samples_per_channel=len(pcm) // 2)
        )
        if last:
            self._end()

    def write(self, text: str) -> None:
        """Say words without sound."""
        self._say(text, _nothing())

    def take_back(self) -> None:
        """Take back what has not sounded, of a speech or of none."""
        self._end()
        if self._speech is not None and not self._speech.done():
            with suppress(RuntimeError):
                self.session.interrupt(force=True)
        elif self.session.output.audio is not None:
            self.session.output.audio.clear_buffer()

    def shut(self) -> None:
        """Close the session."""
        self.session.shutdown(drain=False)

    def _say(self, text: Any, audio: AsyncIterator[Any]) -> None:
        try:
            self._speech = self.session.say(text, audio=audio, add_to_chat_ctx=False)
        except RuntimeError as error:
            raise Gone("the session is closed") from error

    def _end(self) -> None:
        if self._pieces is not None:
            self._pieces.put_nowait(None)
            self._pieces = None

    def _finished(self, event: Any) -> None:
        self._over += 1
        heard = {"type": "heard", "id": self._over, "played": seconds(event.playback_position)}
        self._messages.put_nowait(json.dumps(heard))


async def _nothing() -> AsyncIterator[Any]:
    pieces: tuple[Any, ...] = ()
    for piece in pieces:
        yield piece


async def _until_none(pieces: asyncio.Queue[Any]) -> AsyncIterator[Any]:
    while (piece := await pieces.get()) is not None:
        yield piece


class _Scripted(Agent):  # type: ignore[misc]
    def __init__(self, voice: Voice, speaks: Callable[[], Awaitable[Any]] | None) -> None:
        super().__init__(instructions="")
        self._voice, self._speaks = voice, speaks
        self._speaking: asyncio.Future[Any] | None = None

    async def on_enter(self) -> None:
        self._voice.listen()
        if self._speaks is not None:
            self._speaking = asyncio.ensure_future(self._speaks())

    async def on_exit(self) -> None:
        self._voice.leave()


class _Ears(vad.VAD):  # type: ignore[misc]
    """Gives the user's frames on, and never believes that somebody speaks."""

    def __init__(self, heard: asyncio.Queue[Any]) -> None:
        super().__init__(capabilities=vad.VADCapabilities(update_interval=0.1))
        self.heard = heard

    def stream(self) -> vad.VADStream:
        return _Hearing(self)


class _Hearing(vad.VADStream):  # type: ignore[misc]
    async def _main_task(self) -> None:
        async for frame in self._input_ch:
            if isinstance(frame, rtc.AudioFrame):
                self._vad.heard.put_nowait(bytes(frame.data))


__all__ = ["Voice"]
