"""Bots on Pipecat, behind a WebSocket or WebRTC."""

from fullduplex.systems.pipecat.websocket import Pipecat

__all__ = ["Pipecat"]
