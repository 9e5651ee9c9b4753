"""A program as a system: it gets the user's audio as a file and leaves its own."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import IO, Any, ClassVar

from fullduplex.data import audio
from fullduplex.data.files import read_json
from fullduplex.driving.link import Ready, Traits
from fullduplex.driving.playout import Samples
from fullduplex.errors import ConversationError, InputError, printable
from fullduplex.model.spans import SECOND, seconds
from fullduplex.model.spec import Spec
from fullduplex.systems.offline import (
    LONGER,
    Answer,
    Block,
    OfflineLink,
    Placement,
    as_samples,
    check_placement,
    offline_traits,
)

_PLACES = ("input", "output", "prompt", "id", "set")
_PLACE = re.compile(r"\{([^{}]*)\}")
#: How much of what a program wrote to stderr is kept, in bytes, from its end.
_TAIL = 4_000


@dataclass(frozen=True, slots=True)
class Command:
    """The program ``run``, once for each talk, after the user's last frame.

    ``run`` is split as a shell would, but no shell reads it. In each part ``{input}`` is the path of a WAV file with
    all that the user sent (one channel, 16 bits, ``rate_in``), ``{output}`` the path where it leaves a WAV file of any
    rate, ``{prompt}`` that of a text file with the prompt. It may leave ``{output}.json`` too: a list of words
    ``{"text", "start", "end"}`` in decimal seconds of its output (the end may be absent: the next start), and of blocks
    ``{"at", "start", "end"}`` that say which part of the output sounds when; without blocks all of it does.

    ``placement`` ``aligned``: sample n of the output belongs to sample n of the input, and latencies are the
    algorithm's alone. ``reply``: it is heard after the whole input and the time that the program took. ``speech``:
    it is heard that time after the user's last sound above -40 dB, though the program was given what followed too. The
    program is killed, with all that it started, after ``timeout`` seconds. ``declared`` seconds, and
    ``declared_second`` for each second of input, is what it takes on the ``step-algorithmic`` clock.

    A program that fails, does not end, or leaves no audio ends the talk in a :class:`ConversationError`.
    """

    example: ClassVar[str] = "run=python infer.py --in {input} --out {output}"
    run: str
    placement: Placement = "aligned"
    timeout: float = 600.0
    rate_in: int = 16_000
    rate_out: int = 24_000
    declared: float = 1.0
    declared_second: float = 0.0
    names: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_placement("command", self.placement)
        if not (0 < self.timeout <= 86_400 and self.declared >= 0 and self.declared_second >= 0):
            found = f"{self.timeout}, {self.declared}, {self.declared_second}"
            raise InputError(
                "command",
                "timeout and declared",
                found=found,
                expected="seconds, above 0 up to a day, and from 0",
            )
        if min(self.rate_in, self.rate_out) <= 0:
            raise InputError("command", "rate_in", found=self.rate_in, expected="samples a second")
        places = {place for part in self._parts() for place in _PLACE.findall(part)}
        if not {"input", "output"} <= places <= set(_PLACES):
            raise InputError(
                "command",
                "run",
                found=self.run,
                expected="a program with {input} and {output}, and perhaps {prompt}, among its arguments",
            )

    def _parts(self) -> list[str]:
        try:
            return shlex.split(str(self.run))
        except ValueError as error:
            raise InputError("command", "run", found=self.run, expected="quotes that are closed") from error

    @property
    def spec(self) -> Spec:
        """Return the command line as it was given, and every option."""
        options = {
            "run": self.run,
            "placement": self.placement,
            "timeout": self.timeout,
            "rate_in": self.rate_in,
            "rate_out": self.rate_out,
            "declared": self.declared,
            "declared_second": self.declared_second,
        }
        return Spec("command", options, "1")

    @property
    def traits(self) -> Traits:
        """Return that it hears nothing before the last frame."""
        return offline_traits(self.rate_in, self.rate_out, self.placement)

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[OfflineLink]:
        """Open a talk; the program starts when the user is done. ``prompt`` is what its file holds."""
        declared, each = seconds(self.declared), self.declared_second / self.rate_in
        yield OfflineLink(
            Ready({**self.spec.to_json(), "fed": "whole"}),
            self.traits,
            lambda heard: self.answer(heard, prompt),
            lambda count: declared + seconds(each * count),
            self.placement,
        )

    def answer(self, heard: Samples, prompt: str) -> Answer:
        """Return what the program makes of the user's samples; raises :class:`ConversationError`."""
        if not len(heard):
            raise ConversationError("command: there was no audio to give to the program")
        with tempfile.TemporaryDirectory(prefix="fullduplex-") as name:
            folder = Path(name)
            paths = {"input": folder / "input.wav", "output": folder / "output.wav", "prompt": folder / "prompt.txt"}
            audio.write(paths["input"], heard, self.rate_in)
            paths["prompt"].write_text(prompt, encoding="utf-8")
            # After the line was split: a name with spaces or quotes in it stays one argument.
            places = {name: str(path) for name, path in paths.items()} | dict(self.names)
            filled = [_PLACE.sub(lambda found: places.get(found[1], found[0]), part) for part in self._parts()]
            facts = ran(filled, folder, self.timeout)
            samples = left(paths["output"], len(heard) / self.rate_in, self.rate_out, _called(self._parts()[0]))
            words, blocks = _told(Path(f"{paths['output']}.json"), len(samples) * SECOND // self.rate_out)
        return Answer(samples, words, blocks, facts)


def ran(
    arguments: list[str], folder: Path, timeout: float, *, whose: str = "", cwd: Path | None = None
) -> dict[str, Any]:
    """Return the facts of a program that ran to its end: code, stderr, wall time; its stderr is kept in ``folder``.

    ``whose`` names it in sentences. Raises :class:`ConversationError` where it cannot be started, fails, or does not
    end within ``timeout`` seconds; then it is killed with all that it started.
    """
    program = whose or _called(arguments[0])
    began = perf_counter()
    with (folder / "stderr.txt").open("w+b") as stderr:
        try:
            process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                start_new_session=True,
                cwd=cwd,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise ConversationError(f"{program} could not be started: {why}") from error
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise ConversationError(f"{program} did not end within {timeout:g} s and was killed") from None
        finally:
            # Also what it started and left behind, however this ends.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        told = _tail(stderr)
    if code:
        last = next((line for line in reversed(told.splitlines()) if line.strip()), "nothing on stderr")
        how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
        raise ConversationError(f"{program} {how}: {printable(last, 200)}")
    return {"code": code, "stderr": told, "wall": round(perf_counter() - began, 6)}


def left(output: Path, given: float, rate_out: int, program: str, what: str = "{output}") -> Samples:
    """Return the sound that a program left at ``output`` for ``given`` seconds of input, at ``rate_out``.

    ``what`` names the file in sentences. Raises :class:`ConversationError` where there is none or it is no such sound.
    """
    if not output.is_file():
        raise ConversationError(f"{program} ended well but left no audio at {what}")
    try:
        found = audio.probe(output)
        if found.frames > (given + LONGER) * found.rate:
            raise ConversationError(f"{program} left {found.frames / found.rate:.0f} s of audio for {given:.0f} s")
        samples, rate = audio.read(output)
    except InputError as error:
        why = f"found {error.found}" if error.found else str(error)
        raise ConversationError(f"{program} left an {what} that cannot be read: {why}") from error
    return as_samples(samples, rate, rate_out, program)


def _called(program: str) -> str:
    return f"command {printable(Path(program).name, 60)!r}"


def _tail(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _TAIL))
    return file.read().decode("utf-8", "replace")


def _told(path: Path, length: int) -> tuple[tuple[tuple[str, int, int], ...], tuple[Block, ...]]:
    """Return the words and the blocks that a program left beside its output of ``length`` microseconds."""
    if not path.is_file():
        return (), ()
    try:
        entries = read_json(path)
    except InputError as error:
        raise ConversationError(f"the program's {{output}}.json cannot be read: found {error.found}") from error
    if not isinstance(entries, list):
        raise ConversationError("the program's {output}.json is no list of words and blocks")
    words, blocks = list[tuple[str, int, int | None]](), list[Block]()
    for number, entry in enumerate(entries):
        try:
            start = _time(entry["start"])
            if "at" in entry:
                blocks.append(Block(_time(entry["at"]), start, min(length, _time(entry["end"]))))
            else:
                end = entry.get("end")
                words.append((str(entry["text"]), start, None if end is None else _time(end)))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ConversationError(
                f'the program\'s {{output}}.json, entry {number}: neither a word {{"text", "start"}} nor a block '
                '{"at", "start", "end"} in seconds from 0'
            ) from error
    words.sort(key=lambda word: word[1])
    following = [word[1] for word in words[1:]] + [length]
    placed = [(text, start, after if end is None else end) for (text, start, end), after in zip(words, following)]
    return tuple(word for word in placed if word[1] < word[2]), tuple(b for b in blocks if b.start < b.end)


def _time(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
        raise ValueError(value)
    return seconds(value)
