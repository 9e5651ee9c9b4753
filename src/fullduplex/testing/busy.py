"""How late the machine is: what no driver and no server can help."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from time import monotonic, thread_time

#: How often it is looked, and how much work is done then: a server that wakes and computes waits as long as that.
BEAT, WORK = 0.02, 0.0005


@dataclass(slots=True)
class Lateness:
    """The longest that a beat was late, in microseconds."""

    worst: int = 0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch until left.

        A thread of its own wakes at planned times and works a little; how long after its time it is done, less the
        work, is the machine's lateness. A beat that comes late puts off none after it.
        """
        over = Event()
        watching = Thread(target=self._watch, args=(over,), daemon=True)
        watching.start()
        try:
            yield
        finally:
            over.set()
            watching.join()

    def _watch(self, over: Event) -> None:
        due = monotonic() + BEAT
        while not over.wait(max(0.0, due - monotonic())):
            began = thread_time()
            while (worked := thread_time() - began) < WORK:
                pass
            late = monotonic() - due - worked
            self.worst = max(self.worst, round(late * 1_000_000))
            due += BEAT * (1 + max(0, int(late / BEAT)))


__all__ = ["Lateness"]
