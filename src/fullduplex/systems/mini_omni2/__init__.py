"""Mini-Omni2: a model that answers a recording over HTTP, driven as the half-duplex talker that it is."""

from fullduplex.systems.mini_omni2.talk import MiniOmni2

__all__ = ["MiniOmni2"]
