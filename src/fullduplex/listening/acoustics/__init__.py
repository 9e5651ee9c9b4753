"""Prosody of one voice, in Praat's definitions: pitch, intensity, harmonicity, and what is made of them."""

from fullduplex.listening.acoustics.contour import Contour
from fullduplex.listening.acoustics.cutoffs import cutoffs
from fullduplex.listening.acoustics.harmonicity import harmonicity
from fullduplex.listening.acoustics.intensity import intensity
from fullduplex.listening.acoustics.pitch import pitch
from fullduplex.listening.acoustics.released import as_released, speech_of
from fullduplex.listening.acoustics.voice import voice, whispered

__all__ = [
    "Contour",
    "as_released",
    "cutoffs",
    "harmonicity",
    "intensity",
    "pitch",
    "speech_of",
    "voice",
    "whispered",
]
