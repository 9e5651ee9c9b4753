"""Pipecat's own WebSocket client, for its own environment: ``python client.py URL SAYS HEARD SECONDS``.

SAYS is what its microphone hears (float32, 16 kHz), HEARD where it leaves what it heard (int16, 24 kHz).
"""

# mypy: disable-error-code="misc, untyped-decorator"

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import numpy as np
from pipecat.frames.frames import Frame, InputAudioRawFrame, InterruptionFrame, OutputAudioRawFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.serializers.protobuf import ProtobufFrameSerializer
from pipecat.transports.websocket.client import WebsocketClientParams, WebsocketClientTransport
from pipecat.workers.runner import WorkerRunner

HEARD: list[bytes] = []
FLUSHES: list[int] = []


class Collects(FrameProcessor):
    """Keeps what comes from the server; what the microphone hears goes through."""

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, InputAudioRawFrame):
            HEARD.append(frame.audio)
            return
        if isinstance(frame, InterruptionFrame):
            FLUSHES.append(len(HEARD))
            return
        await self.push_frame(frame, direction)


async def main(url: str, says: Path, heard: Path, length: float) -> None:
    params = WebsocketClientParams(
        serializer=ProtobufFrameSerializer(), audio_in_enabled=True, audio_out_enabled=True, add_wav_header=False
    )
    transport = WebsocketClientTransport(url, params=params)
    worker = PipelineWorker(
        Pipeline([transport.input(), Collects(), transport.output()]),
        params=PipelineParams(audio_in_sample_rate=24_000, audio_out_sample_rate=16_000),
        enable_rtvi=False,
    )
    sound = np.fromfile(says, "<f4")
    pcm = np.rint(np.clip(sound, -1, 1) * 32_767).astype("<i2").tobytes()

    @transport.event_handler("on_connected")
    async def connected(transport: Any, client: Any) -> None:
        await worker.queue_frame(OutputAudioRawFrame(audio=pcm, sample_rate=16_000, num_channels=1))

    async def ends() -> None:
        await asyncio.sleep(length)
        await worker.cancel()

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await asyncio.gather(runner.run(), ends())
    heard.write_bytes(b"".join(HEARD))
    print("flushes", len(FLUSHES))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4])))
