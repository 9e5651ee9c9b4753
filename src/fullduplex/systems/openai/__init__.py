"""OpenAI's two speech APIs: Realtime, which many others speak too, and Live."""

from fullduplex.systems.openai.live import GptLive
from fullduplex.systems.openai.realtime import Realtime

__all__ = ["GptLive", "Realtime"]
