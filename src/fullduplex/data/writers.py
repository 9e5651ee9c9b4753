"""Who is writing what is half-written: its name tells, so that what a killed process left can be cleared away."""

from __future__ import annotations

import os
import platform
import re
import secrets
import time
import zlib
from pathlib import Path

_MARK = re.compile(r"([0-9a-f]{8})-([0-9]{1,10})-[0-9a-f]{8,32}")
#: Another machine's processes cannot be seen; none takes so many seconds for a file or an item.
_A_DAY = 86_400


def writers_mark() -> str:
    """Return a new text for the name of what is half-written: its machine, its process, and 16 drawn digits."""
    return f"{_machine()}-{os.getpid()}-{secrets.token_hex(8)}"


def is_abandoned(path: Path, mark: str) -> bool:
    """Tell whether the process that wrote ``path``, by the ``mark`` in its name, has ended; False where it is no mark.

    What another machine writes is abandoned once it is a day old.
    """
    found = _MARK.fullmatch(mark)
    if found is None:
        return False
    if found[1] != _machine():
        try:
            return time.time() - path.lstat().st_mtime >= _A_DAY
        except OSError:
            return False
    if _is_reaped_by_nobody(found[2]):
        return True
    try:
        os.kill(int(found[2]), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        return False
    return False


def _is_reaped_by_nobody(process: str) -> bool:
    """Tell whether a process has ended, and only its parent has not asked yet: where Linux tells it."""
    try:
        status = Path("/proc", process, "stat").read_bytes()
    except (OSError, ValueError):
        return False
    # The name before the state stands in brackets, and may hold any sign.
    state = status.rpartition(b")")[2].split()[:1]
    return state in ([b"Z"], [b"X"], [b"x"])


def _machine() -> str:
    return f"{zlib.crc32(platform.node().encode()):08x}"
