"""Gemini Live: Google's hosted models that hear and speak over one WebSocket."""

from fullduplex.systems.gemini.live import GeminiLive

__all__ = ["GeminiLive"]
