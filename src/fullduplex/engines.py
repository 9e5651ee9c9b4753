"""Where work runs: here, on this machine's cores, or on a cluster.

An :class:`Engine` takes a module-level function and one small picklable task (paths
and specs, never audio) and gives a future. :func:`each` is the only loop over one;
nothing else in the package knows that other processes or machines exist.

=======================  =====================================================
``here``                 one after the other, in this process
``processes[:N]``        N processes of this machine (all cores without N)
``dask[:N]``             a Dask cluster started here, with N workers
``dask://HOST:PORT``     a Dask scheduler that runs already
``ray[:N]``              Ray started here, with N workers
``ray://HOST:PORT``      a Ray cluster that runs already (``ray://auto`` finds it)
=======================  =====================================================

Workers are reused: what a task needs and is heavy to load comes from a function
marked :func:`fullduplex.once.once_per_process`. Names are plug-ins of the family
``engines``: each is a function of the text after the colon that returns a context
manager of an Engine.
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from fullduplex import plugins
from fullduplex.errors import FullDuplexError, InputError, PluginError, printable
from fullduplex.processes import ProcessPool, WorkerDied, descendants, end

Function = Callable[[Any], Any]
DIED = "the worker process died"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A task with its result, or with the sentence that says what ended it.

    ``error`` is None where ``result`` is the function's; ``traceback`` is there for
    errors that nobody raised on purpose. ``result`` may itself be None.
    """

    task: Any
    result: Any = None
    error: str | None = None
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Engine:
    """A place where tasks run.

    ``slots``: how many run at the same time. ``in_flight``: how many to hand over at the
    same time. ``submit(attempt, function, task)``: start ``attempt(function, task)``, as a
    future. ``dies_as``: the exceptions of a future whose worker is gone.
    ``tries_again``: whether the engine itself repeats a task whose worker is gone.
    """

    name: str
    slots: int
    in_flight: int
    submit: Callable[[Callable[[Function, Any], Outcome], Function, Any], Future[Outcome]]
    dies_as: tuple[type[BaseException], ...] = ()
    tries_again: bool = False


def open_engine(text: str) -> AbstractContextManager[Engine]:
    """Return the engine that ``text`` names, to be entered; leaving it stops its workers at once.

    Raises :class:`InputError` for a text that is no engine's, :class:`PluginError` for
    an unknown name or a library that is not installed.
    """
    name, _, where = text.partition(":")
    if not name:
        raise InputError("--engine", found=text, expected="here, processes:N, dask://HOST:PORT or ray://HOST:PORT")
    opened: AbstractContextManager[Engine] = plugins.find("engines", name)(where)
    return opened


def each(
    engine: Engine, function: Function, tasks: Iterable[Any], *, in_flight: int | None = None, retries: int = 2
) -> Iterator[Outcome]:
    """Yield the outcome of ``function(task)`` for every task, each as it ends, in no set order.

    Tasks are pulled as workers free up: at most ``in_flight`` are held (the engine's own
    number by default). An exception becomes the outcome's error and never ends the loop.
    A task whose worker died runs again, up to ``retries`` times; no finished task does.
    Leaving the loop early drops what has not begun.
    """
    limit = max(1, in_flight if in_flight is not None else engine.in_flight)
    coming = iter(tasks)
    running: dict[Future[Outcome], tuple[Any, int]] = {}

    def start(task: Any, deaths: int) -> None:
        try:
            future = engine.submit(attempt, function, task)
        except Exception as error:  # noqa: BLE001 - a task that cannot travel is that task's error
            future = Future()
            future.set_exception(error)
        running[future] = task, deaths

    def fill() -> None:
        while len(running) < limit:
            try:
                task = next(coming)
            except StopIteration:
                return
            start(task, 0)

    try:
        fill()
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                task, deaths = running.pop(future)
                error = _error_of(future)
                if isinstance(error, engine.dies_as) and deaths < retries and not engine.tries_again:
                    start(task, deaths + 1)
                elif error is None:
                    ended = future.result()
                    yield Outcome(task, ended.result, ended.error, ended.traceback)
                elif isinstance(error, engine.dies_as):
                    yield Outcome(task, error=DIED)
                else:
                    yield _failed(task, error)
            fill()
    finally:
        for future in running:
            future.cancel()


def attempt(function: Function, task: Any) -> Outcome:
    """Return what became of ``function(task)``; raises nothing but an interrupt."""
    try:
        return Outcome(None, function(task))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a plug-in raises is its item's error
        return _failed(None, error)


@contextmanager
def here(where: str) -> Iterator[Engine]:
    """Run each task at once in the calling thread."""
    if where:
        raise InputError("--engine", found=f"here:{where}", expected="here")

    def submit(call: Callable[[Function, Any], Outcome], function: Function, task: Any) -> Future[Outcome]:
        future: Future[Outcome] = Future()
        future.set_result(call(function, task))
        return future

    yield Engine("here", 1, 1, submit)


@contextmanager
def processes(where: str) -> Iterator[Engine]:
    """Run tasks in processes of this machine: ``N`` of them, else one for each core."""
    slots = _number_of_workers("processes", where)
    with ProcessPool(slots) as pool:
        yield Engine(f"processes:{slots}", slots, 2 * slots, pool.submit, (WorkerDied,))


@contextmanager
def dask(where: str) -> Iterator[Engine]:
    """Run tasks on Dask: on the scheduler at ``//HOST:PORT``, else on ``N`` workers started here.

    The scheduler itself repeats a task whose worker is gone. A result that no client
    had fetched when its worker died is computed again.
    """
    config, distributed = _library("dask", "dask.config"), _library("dask", "distributed")
    address = where.removeprefix("//") if where.startswith("//") else ""
    with config.set(_DASK_SETTINGS), _quiet():
        if address:
            cluster: Any = _at(address, "dask")
        else:
            cluster = distributed.LocalCluster(
                n_workers=_number_of_workers("dask", where),
                threads_per_worker=1,
                dashboard_address=None,
                silence_logs=50,
                local_directory=None,
            )
        try:
            client = distributed.Client(cluster, timeout="10s", set_as_default=False)
        except OSError as error:
            raise PluginError(
                f"no Dask scheduler answers at {printable(address)}; start one or name another"
            ) from error
        try:
            slots = sum(client.nthreads().values()) or 1
            executor = client.get_executor(pure=False)
            yield Engine(
                f"dask://{address}" if address else f"dask:{slots}",
                slots,
                4 * slots,
                executor.submit,
                (distributed.KilledWorker,),
                tries_again=True,
            )
        finally:
            client.close(timeout=5)
            if not address:
                cluster.close(timeout=5)


#: Two repeats at a death, as :func:`each` has, and no task waits on a worker that may die of another one.
_DASK_SETTINGS = {
    "distributed.scheduler.allowed-failures": 2,
    "distributed.scheduler.worker-saturation": 1.0,
    "distributed.worker.daemon": True,
}


@contextmanager
def ray(where: str) -> Iterator[Engine]:
    """Run tasks on Ray: on the cluster at ``//HOST:PORT``, else on ``N`` workers started here."""
    library = _library("ray", "ray")
    address = where.removeprefix("//") if where.startswith("//") else ""
    with _quiet():
        if address:
            try:
                if address == "auto":
                    library.init(address="auto", log_to_driver=False)
                else:
                    library.init(address=f"ray://{_at(address, 'ray')}")
            except (ConnectionError, ValueError) as error:
                # Ray says with a ValueError that its client part is not installed.
                raise PluginError(f"no Ray cluster was reached at {printable(address)}: {_last_line(error)}") from error
        else:
            library.init(
                # Without a word Ray would join whatever cluster runs on this machine.
                address="local",
                num_cpus=_number_of_workers("ray", where),
                include_dashboard=False,
                log_to_driver=False,
                logging_level="error",
                configure_logging=False,
                object_store_memory=128 * 2**20,
                _metrics_export_port=None,
            )
        slots = int(library.cluster_resources().get("CPU", 1))
        started: set[Any] = set()
        run = library.remote(attempt).options(max_retries=0, num_cpus=1)

    def submit(_: Callable[[Function, Any], Outcome], function: Function, task: Any) -> Future[Outcome]:
        reference = run.remote(function, task)
        future: Future[Outcome] = reference.future()
        started.add(reference)
        future.add_done_callback(lambda _: started.discard(reference))
        return future

    try:
        yield Engine(
            f"ray://{address}" if address else f"ray:{slots}", slots, 4 * slots, submit, (_ray_death(library),)
        )
    finally:
        # Ray ends its workers, and not always what a task had started in one.
        family = [] if address else descendants(os.getpid(), under="raylet")
        for reference in list(started):
            library.cancel(reference, force=True)
        library.shutdown()
        end(family)


def _last_line(error: Exception) -> str:
    # Ray puts a whole traceback of the server before what went wrong.
    return printable(str(error).strip().rpartition("\n")[2]) or type(error).__name__


def _ray_death(library: Any) -> type[BaseException]:
    # Every exception of a function is caught where it runs, so what Ray itself
    # raises is about a worker, a node or an object that was lost with one.
    error: type[BaseException] = library.exceptions.RayError
    return error


def _error_of(future: Future[Outcome]) -> BaseException | None:
    try:
        return future.exception()
    except CancelledError as error:
        return error


def _failed(task: Any, error: BaseException) -> Outcome:
    if isinstance(error, FullDuplexError):
        return Outcome(task, error=str(error))
    said = printable(" ".join(str(error).split()))
    text = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return Outcome(task, error=text, traceback="".join(traceback.format_exception(error)))


def usable_cores() -> int:
    """Return how many cores this process may run on."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _number_of_workers(name: str, where: str) -> int:
    if not where:
        return usable_cores()
    if not (where.isascii() and where.isdigit() and int(where) > 0):
        raise InputError("--engine", found=f"{name}:{where}", expected=f"{name} or {name}:N, N at least 1")
    return int(where)


def _at(address: str, name: str) -> str:
    host, colon, port = address.rpartition(":")
    if not host or not colon or not port.isdigit():
        raise InputError("--engine", found=f"{name}://{address}", expected=f"{name}://HOST:PORT")
    return address


def _library(extra: str, module: str) -> Any:
    from importlib import import_module

    with _quiet():
        try:
            return import_module(module)
        except ImportError as error:
            raise PluginError(
                f"engine {extra!r} needs {error.name or module}, which is not installed; install fullduplex[{extra}]"
            ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    # Deprecations inside somebody else's library are not ours to fail on.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
