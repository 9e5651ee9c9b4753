"""Tasks that show whether an engine keeps its promises; they live here so that every worker can import them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from fullduplex.errors import InputError
from fullduplex.model.spec import Spec


def square(number: int) -> int:
    """Return ``number`` squared."""
    return number * number


def refuse(number: int) -> int:
    """Return ``number`` where it is even; an odd one is refused in a sentence, 7 by a fault."""
    if number == 7:
        raise ZeroDivisionError("seven\nis a fault")
    if number % 2:
        raise InputError(f"{number}.wav", found="an odd number", expected="an even one")
    return number


def leave(status: int) -> None:
    """Leave the interpreter, as a careless plug-in might."""
    sys.exit(status)


def process(_: object) -> int:
    """Return the number of the process that ran the task, after a moment in which another can start."""
    time.sleep(0.25)
    return os.getpid()


def wait(seconds: float) -> float:
    """Return ``seconds`` after that long."""
    time.sleep(seconds)
    return seconds


def threads(_: object) -> str:
    """Return how many threads a numerical library may start."""
    return os.environ.get("OMP_NUM_THREADS", "")


def write(task: tuple[str, int, int]) -> int:
    """Write item ``n`` under a folder, atomically, dying in mid-item the first ``deaths`` times.

    The task is ``(folder, n, deaths)``. Every attempt leaves a mark beside the items,
    in ``attempts/``, so that a test can count them.
    """
    folder, number, deaths = Path(task[0]), task[1], task[2]
    marks = folder / "attempts"
    marks.mkdir(parents=True, exist_ok=True)
    earlier = len(list(marks.glob(f"{number}-*")))
    (marks / f"{number}-{earlier}").touch()
    item = folder / "items" / str(number)
    item.mkdir(parents=True, exist_ok=True)
    half = item / "result.part"
    half.write_text("half")
    if earlier < deaths:
        os.kill(os.getpid(), signal.SIGKILL)
    half.write_text(f"item {number}: {number * number}\n")
    half.replace(item / "result.txt")
    return number


def sleep_with_a_child(folder: str) -> None:
    """Start a process, note both process numbers in ``folder``, and sleep for a minute."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    (Path(folder) / f"{os.getpid()}.pid").touch()
    (Path(folder) / f"{child.pid}.pid").touch()
    time.sleep(60)


def unpicklable(_: object) -> object:
    """Return what cannot travel between processes."""
    return lambda: None


def spec_name(spec: Spec) -> str:
    """Return the name of a spec."""
    return spec.name
