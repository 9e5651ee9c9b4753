"""Run ``moshi.client`` itself where there is no sound card: ``python client.py URL SAYS HEARD SECONDS``.

SAYS is a file of float32 samples at 24 kHz that its microphone hears, then silence; HEARD is written with all that its
loudspeaker played. Its library of sound devices is replaced by one that calls it every 80 ms; nothing else is changed.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
import types
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

FRAME = 1_920
RATE = 24_000


class _Stream:
    """A device that calls its owner once a frame, on absolute deadlines."""

    def __init__(self, *, callback: Callable[..., None], blocksize: int, channels: int, **_: Any) -> None:
        self._callback, self._size, self._channels = callback, blocksize, channels
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> _Stream:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        began, frame = time.monotonic(), 0
        while True:
            frame += 1
            if self._over.wait(max(0.0, began + frame * self._size / RATE - time.monotonic())):
                return
            self.tick(np.zeros((self._size, self._channels), np.float32))

    def tick(self, data: Any) -> None:
        raise NotImplementedError


def devices(says: Any, heard: list[Any]) -> types.ModuleType:
    """Return a stand-in for the module ``sounddevice``."""
    rest = [says]

    class InputStream(_Stream):
        def tick(self, data: Any) -> None:
            part, rest[0] = rest[0][: len(data)], rest[0][len(data) :]
            data[: len(part), 0] = part
            self._callback(data, len(data), None, None)

    class OutputStream(_Stream):
        def tick(self, data: Any) -> None:
            self._callback(data, len(data), None, None)
            heard.append(data[:, 0].copy())

    module: Any = types.ModuleType("sounddevice")
    module.InputStream, module.OutputStream = InputStream, OutputStream
    made: types.ModuleType = module
    return made


def main(url: str, says: Path, heard: Path, length: float) -> None:
    """Talk for so many seconds and leave as a person does, with Ctrl-C."""
    played: list[Any] = []
    sys.modules["sounddevice"] = devices(np.fromfile(says, "<f4"), played)
    sys.argv = ["moshi.client", "--url", url]
    client: Any = import_module("moshi.client")
    # Whoever was started in the background of a script ignores Ctrl-C, and so would the client.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(length, lambda: _interrupt())
    timer.start()
    client.main()
    timer.cancel()
    np.concatenate([np.zeros(0, np.float32), *played]).astype("<f4").tofile(heard)


def _interrupt() -> None:
    import _thread

    _thread.interrupt_main()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4]))
