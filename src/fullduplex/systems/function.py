"""A Python function or class as a system: a whole recording in and out, or a frame for a frame."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Protocol

from fullduplex.driving.clock import Aside, took
from fullduplex.driving.link import Happening, Position, Ready, Traits
from fullduplex.driving.playout import Chunk, Samples
from fullduplex.errors import ConversationError, InputError, printable
from fullduplex.model.spans import seconds
from fullduplex.model.spec import Spec
from fullduplex.providers.weights import sha256
from fullduplex.systems.called import module_at, named
from fullduplex.systems.offline import (
    Answer,
    OfflineLink,
    Placement,
    as_samples,
    check_placement,
    offline_traits,
)


@dataclass(frozen=True, slots=True)
class Function:
    """What ``call`` names: ``package.module:name`` that can be imported, or ``path/to/file.py:name``.

    A *class* with a method ``step(frame)`` goes a frame for a frame: it is made anew for each talk, with
    ``prompt=`` if it takes that, and each frame of ``frame`` seconds is given to it; what it returns, samples at
    ``rate_out`` or None, sounds as soon as the step is done. Anything else that can be called is a
    *function* ``function(samples, rate)``: it gets all that the user sent, at ``rate_in``, and returns samples at
    ``rate_out``, or ``(samples, rate)``; ``placement`` is that of :class:`~fullduplex.systems.command.Command`.

    Samples are one voice, float32, full scale 1. ``declared`` is how many seconds a step, or the function, takes
    on the ``step-algorithmic`` clock, and ``timeout`` how many it may take on any. What it raises ends the talk in
    a :class:`ConversationError` that names it, and so does one that never comes back.
    Raises :class:`PluginError` where there is no such function or class.
    """

    example: ClassVar[str] = "call=./system.py:answer"
    call: str
    placement: Placement = "aligned"
    frame: float = 0.08
    rate_in: int = 16_000
    rate_out: int = 24_000
    declared: float = 0.0
    timeout: float = 600.0

    def __post_init__(self) -> None:
        check_placement("python", self.placement)
        if not 0.001 <= self.frame <= 60 or not self.declared >= 0 or min(self.rate_in, self.rate_out) <= 0:
            raise InputError(
                "python", "frame", found=self.frame, expected="seconds between 0.001 and 60, and rates above 0"
            )
        if not 0 < self.timeout <= 86_400:
            raise InputError("python", "timeout", found=self.timeout, expected="seconds above 0, at most a day")
        _named(self.call)

    @property
    def steps(self) -> bool:
        """Return whether it goes a frame for a frame."""
        found = _named(self.call)
        return inspect.isclass(found) and callable(getattr(found, "step", None))

    @property
    def spec(self) -> Spec:
        """Return what is called, the options that matter to it, and the digest of a file named by its path."""
        options: dict[str, Any] = {"call": self.call, "rate_in": self.rate_in, "rate_out": self.rate_out}
        options |= {"frame": self.frame} if self.steps else {"placement": self.placement}
        where = self.call.rpartition(":")[0]
        revision = sha256(Path(where))[:12] if where.endswith(".py") else _version(where)
        return Spec("python", {**options, "declared": self.declared, "timeout": self.timeout}, revision)

    @property
    def traits(self) -> Traits:
        """Return whether it hears while it speaks, or answers in the end."""
        if not self.steps:
            return offline_traits(self.rate_in, self.rate_out, self.placement)
        return Traits(
            self.rate_in,
            self.rate_out,
            frame=seconds(self.frame),
            timing="sync",
            virtual=True,
            computes=True,
            source="session",
        )

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[OfflineLink | Steps]:
        """Open a talk; a class is made here."""
        called = _named(self.call)
        whose, declared = printable(self.call, 80), seconds(self.declared)
        # What never comes back ends its talk, not the run.
        aside = Aside(whose, seconds(self.timeout))
        try:
            if not self.steps:
                yield OfflineLink(
                    Ready({**self.spec.to_json(), "fed": "whole"}),
                    self.traits,
                    self._answer,
                    lambda _: declared,
                    self.placement,
                    aside,
                )
                return
            options = {"prompt": prompt} if "prompt" in inspect.signature(called).parameters else {}
            made = aside.wait(partial(_calling, whose, partial(called, **options)))
            ready = Ready({**self.spec.to_json(), "fed": "streamed"})
            yield Steps(ready, self, partial(_calling, whose, made.step), aside)
        finally:
            aside.close()

    def _answer(self, heard: Samples) -> Answer:
        whose = printable(self.call, 80)
        found, rate = _calling(whose, _named(self.call), heard, self.rate_in), self.rate_out
        if isinstance(found, tuple) and len(found) == 2:
            found, rate = found
            if isinstance(rate, bool) or not isinstance(rate, int | float) or rate <= 0:
                raise ConversationError(f"{whose} gave the rate {printable(repr(rate), 40)}, not samples a second")
        return Answer(as_samples(found, int(rate), self.rate_out, whose))


class Stepping(Protocol):
    """What :class:`Steps` has to know: whose steps they are, the rate that they give, what one takes by declaration."""

    @property
    def call(self) -> str:
        """Return the name that sentences give it."""
        ...

    @property
    def rate_out(self) -> int:
        """Return samples a second."""
        ...

    @property
    def declared(self) -> float:
        """Return seconds a step."""
        ...

    @property
    def traits(self) -> Traits:
        """Return its traits; ``frame`` is the length of a step."""
        ...


class Steps:
    """A talk with something that takes a frame and gives a frame."""

    def __init__(self, ready: Ready, system: Stepping, step: Callable[[Samples], Any], aside: Aside) -> None:
        self.ready, self._system, self._step, self._aside = ready, system, step, aside
        self._idle = asyncio.Event()
        self._idle.set()
        self._frames: asyncio.Queue[Samples] = asyncio.Queue()

    async def send(self, frame: Samples) -> None:
        """Take the next frame; it waits for its turn where the steps are slower than the frames."""
        self._frames.put_nowait(frame)

    async def heard(self, position: Position) -> None:
        """Take no note."""

    async def finish(self) -> None:
        """Wait for the step that is being done: one that never ends is no silence."""
        await self._idle.wait()

    async def __aiter__(self) -> AsyncIterator[Happening]:
        """Yield what each step gives, when it is done; ``source`` is the end of the frame that it heard.

        Raises :class:`ConversationError` for a step that does not come back within ``timeout``.
        """
        system, number = self._system, 0
        while True:
            frame = await self._frames.get()
            number += 1
            self._idle.clear()
            found, _ = await took(partial(self._step, frame), seconds(system.declared), self._aside)
            self._idle.set()
            if found is not None:
                samples = as_samples(found, system.rate_out, system.rate_out, printable(system.call, 80))
                if len(samples):
                    yield Chunk(samples, source=number * system.traits.frame)


def _calling(whose: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what ``function`` returns; what it raises becomes a sentence."""
    process = os.getpid()
    try:
        found = function(*arguments)
        if inspect.isawaitable(found):
            if inspect.iscoroutine(found):
                found.close()
            raise ConversationError(f"{whose} is async; give one that returns its samples")
        return found
    except ConversationError:
        raise
    except (Exception, SystemExit) as error:
        text = printable(str(error), 200)
        raise ConversationError(f"{whose} raised {type(error).__name__}{': ' + text if text else ''}") from error
    finally:
        if os.getpid() != process:
            # A child that it forked and that came back here would hold the talk a second time.
            os._exit(0)


def _named(call: str) -> Any:
    return named(
        call, "python", "call", "a function, or a class with a method step; of an object that steps, give the class"
    )


def _version(module: str) -> str:
    found = getattr(module_at(module), "__version__", "")
    return str(found) if found else ""
