"""A finished recording as a system: it says what it said, when it said it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from fullduplex.data import audio
from fullduplex.driving.link import Happening, Position, Ready, Traits
from fullduplex.driving.playout import Chunk, Samples
from fullduplex.model.spec import Spec


@dataclass(frozen=True, slots=True)
class Recorded:
    """The system's side as a file holds it: sample n of the file is sample n of the talk.

    ``channel`` counts from 0; None averages all. It does not hear the user, so latencies mean
    what they meant when the file was made. Reading raises :class:`InputError`.
    """

    example: ClassVar[str] = "path=./answer.wav"
    path: Path
    channel: int | None = None
    rate_in: int = 16_000

    @property
    def spec(self) -> Spec:
        """Return the file's name and channel; the folder is not part of it."""
        return Spec("recorded", {"file": Path(self.path).name, "channel": self.channel})

    @property
    def traits(self) -> Traits:
        """Return that the file's own clock places its audio."""
        return Traits(self.rate_in, audio.probe(Path(self.path)).rate, timing="aligned", virtual=True, source="session")

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[_Link]:
        """Open the file. ``prompt`` is not read."""
        samples, _ = audio.read(Path(self.path), self.channel)
        yield _Link(samples, Ready(self.spec.to_json()))


class _Link:
    def __init__(self, samples: Samples, ready: Ready) -> None:
        self.ready, self._samples = ready, samples

    async def __aiter__(self) -> AsyncIterator[Happening]:
        yield Chunk(self._samples, source=0)
        await asyncio.Event().wait()

    async def send(self, frame: Samples) -> None:
        return

    async def heard(self, position: Position) -> None:
        return

    async def finish(self) -> None:
        return
