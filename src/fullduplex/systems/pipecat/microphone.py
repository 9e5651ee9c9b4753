"""The user's track on WebRTC, as aiortc wants it. Imported only where aiortc is installed."""

from __future__ import annotations

import asyncio
from fractions import Fraction
from typing import Any

import numpy as np
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack

from fullduplex.driving.playout import Samples


class Microphone(MediaStreamTrack):  # type: ignore[misc]
    """A track that gives each frame when it is given one: the driver keeps the time."""

    kind = "audio"

    def __init__(self, rate: int) -> None:
        super().__init__()
        self._rate, self._sent = rate, 0
        self._frames: asyncio.Queue[Samples | None] = asyncio.Queue()

    def take(self, frame: Samples) -> None:
        """Take the next frame."""
        self._frames.put_nowait(frame)

    async def recv(self) -> Any:
        """Return the next frame, once there is one; raises MediaStreamError at the end."""
        from av import AudioFrame

        samples = await self._frames.get() if self.readyState == "live" else None
        if samples is None:
            raise MediaStreamError
        pcm = np.clip(np.rint(samples * 32_768), -32_768, 32_767).astype(np.int16)
        frame = AudioFrame.from_ndarray(pcm[None, :], format="s16", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = self._rate, self._sent, Fraction(1, self._rate)
        self._sent += len(pcm)
        return frame

    def stop(self) -> None:
        """End the track."""
        super().stop()
        self._frames.put_nowait(None)


__all__ = ["Microphone"]
