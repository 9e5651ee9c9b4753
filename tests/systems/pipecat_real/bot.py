"""A bot on Pipecat, for its own environment: Silero hears the user, a sentence is the reply, Pico speaks it.

``python bot.py PORT`` serves it three times: ``/ws`` (protobuf over a WebSocket), ``/twilio`` (Media Streams) and
``/api/offer`` (SmallWebRTC). It prints ``ready`` once it can be called.
"""

# mypy: disable-error-code="misc, untyped-decorator"

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from fastapi import BackgroundTasks, FastAPI, WebSocket
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import (
    Frame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.audio.vad_processor import VADProcessor
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.serializers.protobuf import ProtobufFrameSerializer
from pipecat.serializers.twilio import TwilioFrameSerializer
from pipecat.services.tts_service import TTSService
from pipecat.transports.base_transport import TransportParams
from pipecat.transports.smallwebrtc.request_handler import SmallWebRTCRequest, SmallWebRTCRequestHandler
from pipecat.transports.smallwebrtc.transport import SmallWebRTCTransport
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams, FastAPIWebsocketTransport
from pipecat.workers.runner import WorkerRunner
from py_nanotts import NanoTTS

REPLY = "That sounds good to me. Tell me more about how it went, and what you would like to do next weekend."
SPOKEN: list[bytes] = []


class Replies(FrameProcessor):
    """Speaks when the user stops, and is interrupted when the user begins."""

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if direction is FrameDirection.DOWNSTREAM and isinstance(frame, VADUserStartedSpeakingFrame):
            await self.broadcast_interruption()
        await self.push_frame(frame, direction)
        if direction is FrameDirection.DOWNSTREAM and isinstance(frame, VADUserStoppedSpeakingFrame):
            await self.push_frame(TTSSpeakFrame(REPLY))


class Pico(TTSService):
    """The sentence in Pico's voice, at 16 kHz, all at once."""

    def __init__(self) -> None:
        super().__init__(sample_rate=16_000, push_start_frame=True, push_stop_frames=True)

    async def run_tts(self, text: str, context_id: str) -> AsyncGenerator[Frame | None, None]:
        for first in range(0, len(SPOKEN[0]), 3_200):
            part = SPOKEN[0][first : first + 3_200]
            yield TTSAudioRawFrame(audio=part, sample_rate=16_000, num_channels=1, context_id=context_id)


async def talk(transport: Any, rate: int) -> None:
    steps = [
        transport.input(),
        VADProcessor(vad_analyzer=SileroVADAnalyzer()),
        Replies(),
        Pico(),
        transport.output(),
    ]
    worker = PipelineWorker(
        Pipeline(steps),
        params=PipelineParams(audio_in_sample_rate=min(16_000, rate), audio_out_sample_rate=rate),
        enable_rtvi=rate != 8_000,
    )

    @transport.event_handler("on_client_disconnected")
    async def gone(transport: Any, client: Any) -> None:
        await worker.cancel()

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await runner.run()


offers = SmallWebRTCRequestHandler()


@asynccontextmanager
async def lifespan(app: FastAPI) -> Any:
    SPOKEN.append(await asyncio.to_thread(lambda: NanoTTS().speak(text=REPLY, voice="en-GB")))
    # The first analyzer of a process loads its model.
    SileroVADAnalyzer()
    print("ready", flush=True)
    yield
    await offers.close()


app = FastAPI(lifespan=lifespan)


@app.websocket("/ws")
async def protobuf(socket: WebSocket) -> None:
    await socket.accept()
    params = FastAPIWebsocketParams(audio_in_enabled=True, audio_out_enabled=True, serializer=ProtobufFrameSerializer())
    await talk(FastAPIWebsocketTransport(socket, params), 24_000)


@app.websocket("/twilio")
async def twilio(socket: WebSocket) -> None:
    await socket.accept()
    await socket.receive_text()
    start = json.loads(await socket.receive_text())["start"]
    serializer = TwilioFrameSerializer(start["streamSid"], params=TwilioFrameSerializer.InputParams(auto_hang_up=False))
    params = FastAPIWebsocketParams(audio_in_enabled=True, audio_out_enabled=True, serializer=serializer)
    await talk(FastAPIWebsocketTransport(socket, params), 8_000)


@app.post("/api/offer")
async def offer(asked: dict[str, Any], later: BackgroundTasks) -> Any:
    async def begin(connection: Any) -> None:
        params = TransportParams(audio_in_enabled=True, audio_out_enabled=True)
        later.add_task(talk, SmallWebRTCTransport(connection, params), 24_000)

    return await offers.handle_web_request(SmallWebRTCRequest.from_dict(asked), begin)


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", ws_per_message_deflate=False)
