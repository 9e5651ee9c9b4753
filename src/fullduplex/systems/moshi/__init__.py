"""The Moshi family: servers that answer each frame of 80 ms with one, and never take anything back."""

from fullduplex.systems.moshi.flm_audio import FlmAudio
from fullduplex.systems.moshi.kyutai import Moshi
from fullduplex.systems.moshi.personaplex import PersonaPlex
from fullduplex.systems.moshi.raon import Raon

__all__ = ["FlmAudio", "Moshi", "PersonaPlex", "Raon"]
