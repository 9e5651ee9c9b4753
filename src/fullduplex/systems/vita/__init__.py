"""Freeze-Omni and VITA: demos behind Socket.IO that answer each packet of the user with a piece of what is queued."""

from fullduplex.systems.vita.freeze_omni import FreezeOmni
from fullduplex.systems.vita.vita import Vita

__all__ = ["FreezeOmni", "Vita"]
