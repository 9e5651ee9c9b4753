"""The event loop is the clock: on the virtual loop a talk of ten minutes takes about a second.

Everything in a talk waits through the running event loop. On :class:`VirtualLoop`
nothing sleeps: when nothing is left to do, the clock jumps to the next timer. The
order of events depends on the timers alone, so a talk repeats exactly.

========================  =======================================================================
``wall``                  real time; work runs in threads and takes what it takes
``virtual``               timers alone; work that takes time is refused
``step-honest``           the virtual loop; work takes, on its clock, as long as it really took
``step-algorithmic``      the virtual loop; work takes what was declared for it, so a talk repeats
========================  =======================================================================
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from functools import partial
from queue import SimpleQueue
from threading import Thread
from time import perf_counter, process_time
from typing import Any, Literal, NoReturn, TypeVar, get_args

from fullduplex.errors import ConversationError
from fullduplex.model.spans import SECOND

T = TypeVar("T")
_NANO = 1_000_000_000

Clock = Literal["wall", "virtual", "step-honest", "step-algorithmic"]
CLOCKS: tuple[Clock, ...] = get_args(Clock)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock starts at 0 and jumps to the next timer instead of waiting.

    It serves what waits on timers only. Sockets, pipes and threads live on the wall
    clock and would come at other times in each run: they raise :class:`ConversationError`,
    and so does a talk that waits for something that no timer will bring.
    """

    def __init__(self, work: Literal["refused", "measured", "declared"] = "refused") -> None:
        # Whole nanoseconds: a sum of float steps would drift off the timers it aims at.
        self._elapsed = 0
        self.work = work
        #: Microseconds that work took, and that the processor was at it; counted where it is measured.
        self.worked, self.processed = 0, 0
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
    return _run(VirtualLoop, talk)


def _run(loop: Callable[[], VirtualLoop], talk: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=loop) as runner:
        # Not runner.run: it turns an interrupt into a cancellation, which has to wait for whatever computes.
        return runner.get_loop().run_until_complete(talk)


def run_on(clock: Clock, talk: Coroutine[Any, Any, T]) -> T:
    """Return what ``talk`` returns, run on a fresh loop that keeps ``clock``."""
    if clock == "wall":
        return asyncio.run(talk)
    if clock == "virtual":
        return run_virtual(talk)
    return _run(partial(VirtualLoop, "measured" if clock == "step-honest" else "declared"), talk)


def clock_of(loop: asyncio.AbstractEventLoop) -> Clock:
    """Return the clock that ``loop`` keeps."""
    if not isinstance(loop, VirtualLoop):
        return "wall"
    kept: dict[str, Clock] = {"refused": "virtual", "measured": "step-honest", "declared": "step-algorithmic"}
    return kept[loop.work]


class Aside:
    """A thread of its own for work that may never come back; then nobody waits for it, not even at the end.

    Work is done one after another, and has ``within`` microseconds each time; after that :meth:`do` and
    :meth:`wait` raise :class:`ConversationError`, which says ``whose`` work it is.
    """

    def __init__(self, whose: str, within: int) -> None:
        self._whose, self._within = whose, within
        self._asked: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        Thread(target=_serve, args=(self._asked,), name="fullduplex-aside", daemon=True).start()

    async def do(self, work: Callable[[], T]) -> T:
        """Return what ``work`` returns while the loop goes on."""
        begun = asyncio.wrap_future(self._begin(work))
        try:
            done, _ = await asyncio.wait({begun}, timeout=self._within / SECOND)
            if not done:
                raise self._late()
            return begun.result()
        finally:
            # Else the thread would tell a loop that may be closed by then.
            begun.cancel()

    def wait(self, work: Callable[[], T]) -> T:
        """Return what ``work`` returns; the loop waits for it."""
        begun = self._begin(work)
        if not wait({begun}, timeout=self._within / SECOND).done:
            raise self._late()
        return begun.result()

    def close(self) -> None:
        """Let the thread end once it is idle."""
        self._asked.put(None)

    def _begin(self, work: Callable[[], T]) -> Future[T]:
        begun: Future[T] = Future()
        self._asked.put((begun, work))
        return begun

    def _late(self) -> ConversationError:
        return ConversationError(f"{self._whose} did not come back within {self._within / SECOND:g} s")


def _serve(asked: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]) -> None:
    while (job := asked.get()) is not None:
        begun, work = job
        if not begun.set_running_or_notify_cancel():
            continue
        try:
            begun.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it belongs to the one who asked
            begun.set_exception(error)


def work_of(loop: asyncio.AbstractEventLoop, before: tuple[int, int] = (0, 0)) -> tuple[int, int]:
    """Return how long work took on ``loop``, and how long the processor was at it, since ``before`` (microseconds)."""
    if not isinstance(loop, VirtualLoop):
        return (0, 0)
    return loop.worked - before[0], loop.processed - before[1]


async def took(work: Callable[[], T], declared: int, aside: Aside | None = None) -> tuple[T, int]:
    """Return what ``work`` returns and how long it took on the talk's clock, in microseconds.

    On the wall clock it runs in a thread while the talk goes on. On a step clock it runs at once
    and its result is there only after it would have been: after the time that it really took
    (honest), or after ``declared`` (algorithmic). Raises :class:`ConversationError` on
    the plain virtual clock, where nobody knows how long work takes. ``aside`` is where work is done that
    may never come back.
    """
    loop = asyncio.get_running_loop()
    if not isinstance(loop, VirtualLoop):
        began = perf_counter()
        result = await (asyncio.to_thread(work) if aside is None else aside.do(work))
        return result, round((perf_counter() - began) * SECOND)
    if loop.work == "refused":
        raise ConversationError("this system computes; drive it on the wall clock or on a step clock")
    began, processed = perf_counter(), process_time()
    result = work() if aside is None else aside.wait(work)
    spent = round((perf_counter() - began) * SECOND) if loop.work == "measured" else declared
    if loop.work == "measured":
        loop.worked += spent
        loop.processed += round((process_time() - processed) * SECOND)
    await asyncio.sleep(spent / SECOND)
    return result, spent
