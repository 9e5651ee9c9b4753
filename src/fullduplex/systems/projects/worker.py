"""A program that keeps models loaded and answers a line of JSON with a line of JSON."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import IO, Any

from fullduplex.errors import ConversationError, printable
from fullduplex.once import once_per_process

_TAIL = 4_000


class Worker:
    """The program ``arguments`` in the folder ``cwd``, started when it is first asked, and again where it fell.

    It ends by itself when this process does, since its input ends then. ``whose`` names it in sentences.
    """

    def __init__(self, arguments: tuple[str, ...], cwd: Path, whose: str) -> None:
        self._arguments, self._cwd, self._whose = arguments, cwd, whose
        self._lock = Lock()
        self._process: subprocess.Popen[str] | None = None
        self._told: IO[bytes] | None = None

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to ``request``; raises :class:`ConversationError` where there is none or it is an error."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._start()
            return self._asked(request)

    def stop(self) -> None:
        """End the program with all that it started; what waits for its answer gets an error."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for pipe in (process.stdin, process.stdout, self._told):
                if pipe is not None:
                    with contextlib.suppress(OSError, ValueError):
                        pipe.close()

    @property
    def busy(self) -> bool:
        """Return whether somebody waits for an answer."""
        return self._lock.locked()

    def _start(self) -> None:
        self.stop()
        self._told = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the program
        try:
            self._process = subprocess.Popen(
                self._arguments, cwd=self._cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._told,
                start_new_session=True, encoding="utf-8", errors="replace",
            )  # fmt: skip
        except (OSError, ValueError) as error:
            self._told.close()
            why = getattr(error, "strerror", None) or error
            raise ConversationError(f"{self._whose} could not be started: {why}") from error
        try:
            self._read()
        except ConversationError:
            self.stop()
            raise

    def _asked(self, request: Mapping[str, Any]) -> dict[str, Any]:
        process = self._process
        if process is None or process.stdin is None:
            raise ConversationError(f"{self._whose} was ended")
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
        except (OSError, ValueError) as error:
            raise self._fell() from error
        return self._read()

    def _read(self) -> dict[str, Any]:
        process = self._process
        try:
            line = process.stdout.readline() if process is not None and process.stdout is not None else ""
        except (OSError, ValueError):
            line = ""
        if not line:
            raise self._fell()
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            self.stop()
            raise ConversationError(f"{self._whose} answered what is no JSON object")
        if "error" in found:
            raise ConversationError(f"{self._whose}: {printable(str(found['error']), 200)}")
        return found

    def _fell(self) -> ConversationError:
        told = b""
        if self._told is not None:
            with contextlib.suppress(OSError, ValueError):
                size = self._told.seek(0, os.SEEK_END)
                self._told.seek(max(0, size - _TAIL))
                told = self._told.read()
        self.stop()
        lines = [line for line in told.decode("utf-8", "replace").splitlines() if line.strip()]
        return ConversationError(f"{self._whose} ended: {printable(lines[-1], 200) if lines else 'nothing on stderr'}")


@once_per_process
def worker(arguments: tuple[str, ...], cwd: Path, whose: str) -> Worker:
    """Return the one worker of this process for these arguments: its models are loaded once."""
    return Worker(arguments, cwd, whose)
