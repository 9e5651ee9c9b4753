"""By which name a checkpoint is known, and where servers of Moshi's family listen."""

from __future__ import annotations

from fullduplex.errors import printable
from fullduplex.systems.catalogue import SHORT_NAMES

#: The path of a talk.
CHAT = "/api/chat"


def checkpoint(name: str) -> str:
    """Return the whole name of a checkpoint; a name that is not a short one is taken as it is."""
    if name != printable(name, 200):
        raise ValueError(f"model: found {printable(name, 80)}, expected the name of a checkpoint")
    return SHORT_NAMES.get(name, name)
