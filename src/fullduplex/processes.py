"""A pool of processes in which the death of one costs one task's attempt.

The standard library's pool breaks as a whole when a worker is killed, and cannot
tell which task did it. Here each worker holds one task at a time on a pipe of its
own, so the task at fault is known, and every other one goes on undisturbed.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Self

#: Libraries that would each start a thread for every core, in every worker.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_PATIENCE = 2.0


class WorkerDied(Exception):
    """The process that ran a task is gone: killed, out of memory, or crashed."""


class ProcessPool:
    """At most ``slots`` processes, started when first needed, each reused for many tasks.

    Leaving the context kills the workers that are busy, together with whatever processes
    they have started, and lets the idle ones end. A worker ends too when this process dies.
    """

    def __init__(self, slots: int) -> None:
        # Forked from a clean server, not from us: a fork of a process with threads may deadlock.
        self._context = multiprocessing.get_context("forkserver" if sys.platform == "linux" else "spawn")
        self._threads = ThreadPoolExecutor(slots, thread_name_prefix="fullduplex-worker")
        self._lock = Lock()
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._open = True

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Start ``call(*arguments)`` in a worker; the future raises :class:`WorkerDied` if that worker dies."""
        return self._threads.submit(self._run, pickle.dumps((call, arguments)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._open = False
            for worker in self._busy:
                worker.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for worker in self._idle:
            worker.dismiss()
        for worker in self._idle:
            worker.await_end()

    def _run(self, request: bytes) -> Any:
        worker = self._take()
        try:
            reply = worker.ask(request)
        except (EOFError, OSError):
            worker.kill()
            with self._lock:
                self._busy.discard(worker)
            raise WorkerDied from None
        with self._lock:
            self._busy.discard(worker)
            self._idle.append(worker)
        succeeded, value = pickle.loads(reply)
        if not succeeded:
            raise value
        return value

    def _take(self) -> _Worker:
        with self._lock:
            if not self._open:
                raise WorkerDied
            # Starting under the lock: a pool that closes meanwhile still sees every worker.
            worker = self._idle.pop() if self._idle else _Worker(self._context)
            self._busy.add(worker)
            return worker


class _Worker:
    """One process and the pipe to it."""

    def __init__(self, context: Any) -> None:
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        with _interrupts_held():
            self._process.start()
        theirs.close()

    def ask(self, request: bytes) -> bytes:
        self._pipe.send_bytes(request)
        reply: bytes = self._pipe.recv_bytes()
        return reply

    def kill(self) -> None:
        """End the process at once, and its children, which share its group."""
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.join()

    def dismiss(self) -> None:
        self._pipe.close()

    def await_end(self) -> None:
        self._process.join(_PATIENCE)
        if self._process.is_alive():
            self.kill()


def _serve(pipe: Connection) -> None:
    """Answer requests until the other end closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            request = pipe.recv_bytes()
        except (EOFError, OSError):
            return
        pipe.send_bytes(_answer(request))


def _answer(request: bytes) -> bytes:
    try:
        call, arguments = pickle.loads(request)
        return pickle.dumps((True, call(*arguments)))
    except Exception as error:  # noqa: BLE001 - it travels to the one who asked
        try:
            return pickle.dumps((False, error))
        except Exception:  # noqa: BLE001 - an error that cannot travel is told in words
            return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        if hasattr(os, "killpg"):
            os.killpg(0, signal.SIGKILL)
        os._exit(1)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    # A new process inherits the mask, so an interrupt cannot hit it before it ignores them.
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def descendants(of: int, *, under: str = "") -> list[tuple[int, str]]:
    """Return the processes below ``of``, each with its start, which tells it from a later one of its number.

    ``under``: only those below a process of that name. Empty where there is no ``/proc``.
    """
    parents: dict[int, list[tuple[int, str, str]]] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        found = _read_stat(place)
        if found is not None:
            pid, name, parent, began = found
            parents.setdefault(parent, []).append((pid, name, began))
    below: list[tuple[int, str]] = []
    todo = [(of, not under)]
    while todo:
        parent, counts = todo.pop()
        for pid, name, began in parents.get(parent, []):
            if counts:
                below.append((pid, began))
            todo.append((pid, counts or name == under))
    return below


def end(processes: Iterable[tuple[int, str]]) -> None:
    """Kill those of ``processes`` (see :func:`descendants`) that are still there."""
    for pid, began in processes:
        found = _read_stat(Path(f"/proc/{pid}/stat"))
        if found is not None and found[3] == began:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _read_stat(place: Path) -> tuple[int, str, int, str] | None:
    """Return a process's number, name, parent and start, or None where it has gone."""
    try:
        text = place.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name stands in brackets and may hold any character, brackets too.
    before, _, after = text.rpartition(")")
    pid, _, name = before.partition(" (")
    fields = after.split()
    return int(pid), name, int(fields[1]), fields[19]
