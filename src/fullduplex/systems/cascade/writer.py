"""A reply that is asked for piece by piece from any thread, and can be broken off."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator


class Writer:
    """The reply that ``make`` begins, when it is first asked for."""

    def __init__(self, make: Callable[[], Iterator[str]]) -> None:
        self._make = make
        self._reply: Iterator[str] | None = None
        self._stopped = False
        self._alone = threading.Lock()

    def next(self) -> str | None:
        """Return the next piece, or None after the last, or once it was stopped."""
        with self._alone:
            if self._stopped:
                return None
            if self._reply is None:
                self._reply = self._make()
            piece = next(self._reply, None)
            if self._stopped:
                self._close()
                return None
            return piece

    def stop(self) -> None:
        """Break the reply off; where a thread waits for its next piece, once that has come."""
        self._stopped = True
        if self._alone.acquire(blocking=False):
            try:
                self._close()
            finally:
                self._alone.release()

    def _close(self) -> None:
        close = getattr(self._reply, "close", None)
        if close is not None:
            close()
