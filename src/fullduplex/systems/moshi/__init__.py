"""The Moshi family: servers that answer each frame of 80 ms with one, and never take anything back."""

from fullduplex.systems.moshi.kyutai import Moshi

__all__ = ["Moshi"]
