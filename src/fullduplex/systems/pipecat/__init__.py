"""Bots on Pipecat, behind a WebSocket or WebRTC."""

from fullduplex.systems.pipecat.webrtc import PipecatWebRtc
from fullduplex.systems.pipecat.websocket import Pipecat

__all__ = ["Pipecat", "PipecatWebRtc"]
