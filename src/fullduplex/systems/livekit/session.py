"""The ends of a LiveKit session: a microphone, a loudspeaker and a page, as its library wants them.

Imported only where the library is installed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

import numpy as np
from livekit import rtc
from livekit.agents.voice import io

from fullduplex.driving.link import Closed, Happening, Note, Position, Ready, Said, UserVad
from fullduplex.driving.playout import Chunk, Flush, Samples
from fullduplex.errors import printable
from fullduplex.model.spans import seconds
from fullduplex.systems.incoming import Incoming
from fullduplex.systems.livekit.playback import Playback, Report


class Microphone(io.AudioInput):  # type: ignore[misc]
    """The user's frames."""

    def __init__(self) -> None:
        super().__init__(label="fullduplex")
        self._frames: asyncio.Queue[Any] = asyncio.Queue()

    def take(self, frame: Any) -> None:
        """Give the session the next frame, or None at the end."""
        self._frames.put_nowait(frame)

    async def __anext__(self) -> Any:
        frame = await self._frames.get()
        if frame is None:
            raise StopAsyncIteration
        return frame


class Loudspeaker(io.AudioOutput):  # type: ignore[misc]
    """The session's sound, given on."""

    def __init__(self, talking: Talking, pauses: bool) -> None:
        super().__init__(label="fullduplex", capabilities=io.AudioOutputCapabilities(pause=pauses))
        self._talking = talking

    async def capture_frame(self, frame: Any) -> None:
        """Take a frame, faster than real time as it may be."""
        await super().capture_frame(frame)
        self._talking.sounds(frame)

    def flush(self) -> None:
        """End the segment."""
        super().flush()
        self._talking.ends()

    def clear_buffer(self) -> None:
        """Take back what has not sounded."""
        self._talking.does(self._talking.playback.clear())

    def pause(self) -> None:
        """Hold what has not sounded."""
        super().pause()
        self._talking.does(self._talking.playback.pause())

    def resume(self) -> None:
        """Go on."""
        super().resume()
        self._talking.does(self._talking.playback.resume())


class Page(io.TextOutput):  # type: ignore[misc]
    """The session's words, a segment at a time."""

    def __init__(self, talking: Talking) -> None:
        super().__init__(label="fullduplex", next_in_chain=None)
        self._talking = talking
        self._pieces: list[Any] = []
        self._utterance = ""

    async def capture_text(self, text: str) -> None:
        """Take a piece of text."""
        if not self._pieces:
            self._utterance = self._talking.playback.utterance
        self._pieces.append(text)

    def flush(self) -> None:
        """Tell what was written."""
        pieces, self._pieces = self._pieces, []
        text = "".join(str(piece) for piece in pieces).strip()
        if text:
            self._talking.tell(Said(text, id=self._utterance, words=_words(pieces)))


def _words(pieces: Iterable[Any]) -> tuple[tuple[str, int, int], ...]:
    """Return the words with their times where each piece has both."""
    words = []
    for piece in pieces:
        start, end = getattr(piece, "start_time", None), getattr(piece, "end_time", None)
        if not isinstance(start, int | float) or not isinstance(end, int | float):
            return ()
        words.append((str(piece).strip(), seconds(start), seconds(end)))
    return tuple(words)


class Talking:
    """One talk with a session in this process."""

    def __init__(self, session: Any, rate_in: int, rate_out: int, *, pauses: bool) -> None:
        self.ready = Ready()
        #: When the event that was yielded last came about, on the event loop's clock.
        self.read: float | None = None
        self.playback = Playback(rate_out)
        self._session, self._rate_in, self._rate_out = session, rate_in, rate_out
        self._events: asyncio.Queue[tuple[float, Happening]] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._incoming: Incoming | None = None
        self._microphone, self._loudspeaker = Microphone(), Loudspeaker(self, pauses)
        session.input.audio = self._microphone
        session.output.audio = self._loudspeaker
        session.output.transcription = Page(self)
        for name, told in _EVENTS.items():
            session.on(name, lambda event, told=told: self.tell(*told(event)))

    # What the session does.

    def tell(self, *events: Happening) -> None:
        """Keep events with the moment at which they came about."""
        for event in events:
            self._events.put_nowait((self._loop.time(), event))

    def does(self, doings: Iterable[Chunk | Flush | Report]) -> None:
        """Give on what the loudspeaker does, and report to the session."""
        for doing in doings:
            if not isinstance(doing, Report):
                self.tell(doing)
            elif doing.kind == "started":
                self._loudspeaker.on_playback_started(created_at=time.time() - doing.played)
            else:
                self._loudspeaker.on_playback_finished(playback_position=doing.played, interrupted=doing.interrupted)

    def sounds(self, frame: Any) -> None:
        """Take a frame of the session's sound, of whatever rate."""
        pcm = np.frombuffer(bytes(frame.data), "<i2")
        if frame.num_channels != 1:
            pcm = pcm[:: frame.num_channels]
        if self._incoming is None or self._incoming.rate != frame.sample_rate:
            self._tail()
            self._incoming = Incoming("pcm16", frame.sample_rate, self._rate_out)
        self.does(self.playback.capture(self._incoming.take(pcm.tobytes())))

    def ends(self) -> None:
        """End a segment of the session's sound."""
        self._tail()
        self.does(self.playback.flush())

    def _tail(self) -> None:
        rest = self._incoming.end() if self._incoming else np.zeros(0, np.float32)
        if len(rest):
            self.does(self.playback.capture(rest))

    # What the driver does.

    async def send(self, frame: Samples) -> None:
        """Give the session the user's next frame."""
        pcm = np.clip(np.rint(frame * 32_768), -32_768, 32_767).astype("<i2").tobytes()
        self._microphone.take(
            rtc.AudioFrame(data=pcm, sample_rate=self._rate_in, num_channels=1, samples_per_channel=len(frame))
        )

    async def heard(self, position: Position) -> None:
        """Tell the session what has sounded."""
        self.does(self.playback.heard(position))

    async def finish(self) -> None:
        """Take no note: a user who says no more is still there."""

    async def leave(self) -> None:
        """End the session."""
        self._microphone.take(None)
        await self._session.aclose()

    async def __aiter__(self) -> AsyncIterator[Happening]:
        """Yield what the session does until it closes."""
        while True:
            self.read, event = await self._events.get()
            yield event
            if isinstance(event, Closed):
                return


def _user(event: Any) -> list[Happening]:
    states = {"speaking": True, "listening": False}
    return [UserVad(states[event.new_state])] if event.new_state in states else []


def _transcribed(event: Any) -> list[Happening]:
    return [Said(event.transcript, "user")] if event.is_final and event.transcript else []


def _closed(event: Any) -> list[Happening]:
    reason = str(getattr(event.reason, "value", event.reason))
    trouble = getattr(event.error, "error", event.error)
    why = printable(f"the session closed ({reason})" + (f": {trouble}" if trouble else ""))
    return [Closed(why, broke=bool(trouble))]


def _error(event: Any) -> list[Happening]:
    return [Note("error", {"error": printable(str(getattr(event.error, "error", event.error)))})]


_EVENTS: dict[str, Callable[[Any], list[Happening]]] = {
    "user_state_changed": _user,
    "user_input_transcribed": _transcribed,
    "agent_state_changed": lambda event: [Note("agent_state", {"state": str(event.new_state)})],
    "agent_false_interruption": lambda event: [Note("false_interruption", {"resumed": bool(event.resumed)})],
    "error": _error,
    "close": _closed,
}

__all__ = ["Loudspeaker", "Microphone", "Page", "Talking"]
