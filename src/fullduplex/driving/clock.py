"""The event loop is the clock: on the virtual loop a talk of ten minutes takes about a second.

Everything in a talk waits through the running event loop. On :class:`VirtualLoop`
nothing sleeps: when nothing is left to do, the clock jumps to the next timer. The
order of events depends on the timers alone, so a talk repeats exactly.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn, TypeVar

from fullduplex.errors import ConversationError

T = TypeVar("T")
_NANO = 1_000_000_000


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock starts at 0 and jumps to the next timer instead of waiting.

    It serves what waits on timers only. Sockets, pipes and threads live on the wall
    clock and would come at other times in each run: they raise :class:`ConversationError`,
    and so does a talk that waits for something that no timer will bring.
    """

    def __init__(self) -> None:
        # Whole nanoseconds: a sum of float steps would drift off the timers it aims at.
        self._elapsed = 0
        super().__init__(_Jump(self._jump))

    def time(self) -> float:
        """Return the seconds since the loop was made."""
        return self._elapsed / _NANO

    def _jump(self, timeout: float) -> None:
        self._elapsed += round(timeout * _NANO)

    def run_in_executor(self, *_: Any) -> NoReturn:  # type: ignore[override]
        """Refuse: a thread keeps the wall clock. Raises :class:`ConversationError`."""
        raise ConversationError("a thread cannot run on the virtual clock; drive this system on the wall clock")


class _Jump(selectors.DefaultSelector):
    """Moves the clock where another selector would sleep."""

    def __init__(self, jump: Callable[[float], None]) -> None:
        super().__init__()
        self._advance = jump

    def register(self, fileobj: Any, events: int, data: Any = None) -> Any:
        # The first is the loop's own wake-up pipe.
        if self.get_map():
            raise ConversationError(
                "a socket or a pipe cannot run on the virtual clock; drive this system on the wall clock"
            )
        return super().register(fileobj, events, data)

    def select(self, timeout: float | None = None) -> list[Any]:
        ready: list[Any] = super().select(0)
        if not ready:
            if timeout is None:
                raise ConversationError("the talk waits for something that no timer will bring, so it would never end")
            self._advance(timeout)
        return ready


def run_virtual(talk: Coroutine[Any, Any, T]) -> T:
    """Return what ``talk`` returns, run on a fresh :class:`VirtualLoop`."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(talk)
