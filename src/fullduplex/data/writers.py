"""Who is writing: one process alone into a folder, and a name for what is half-written that tells whose it is.

So two do not write over each other, and what a killed process left can be cleared away.
"""

from __future__ import annotations

import os
import platform
import re
import secrets
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fullduplex.errors import InputError, RunError

_MARK = re.compile(r"([0-9a-f]{8})-([0-9]{1,10})-[0-9a-f]{8,32}")
#: Another machine's processes cannot be seen; none takes so many seconds for a file or an item.
_A_DAY = 86_400


@contextmanager
def alone_in(folder: Path, called: str = "folder") -> Iterator[None]:
    """Keep every other process that asks for the same from writing into ``folder``; a process that ends lets go.

    Raises :class:`RunError` where another one is writing. Where the system or the file system has no
    locks, nothing is kept.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    held = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(
                f"{folder}: another fullduplex is writing into this {called}; wait for it, or give another --out"
            ) from None
        except OSError:
            pass
        yield
    finally:
        os.close(held)


def made_folder(folder: Path) -> Path:
    """Return ``folder``, which is there now; raises :class:`InputError` where it cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(folder, found=error.strerror or str(error), expected="a folder to write to") from error
    return folder


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
