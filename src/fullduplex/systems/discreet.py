"""A system whose keys stay unheard: whatever a server says of them, nobody reads them in what it said.

Servers repeat keys in refusals, in echoed settings, in notes. Drivers take them out where they know of it; this takes
them out of everything that a talk keeps.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, quote_plus

from fullduplex.driving.keep import DEEPEST
from fullduplex.driving.link import Happening, Link, Position, Ready, System, Traits
from fullduplex.driving.playout import Chunk, Flush, Samples
from fullduplex.driving.talk import BrokenTalk
from fullduplex.errors import ConversationError
from fullduplex.model.spec import Spec

#: A text of fewer characters is no key: it would be taken out of everything.
SHORTEST = 6


def unheard(value: Any, keys: Iterable[str]) -> Any:
    """Return a value with ``[key]`` for each of ``keys`` in every text of it, as it is or as a URL has it."""
    known = {form for key in keys if len(key) >= SHORTEST for form in (key, quote(key, safe=""), quote_plus(key))}
    return _unheard(value, sorted(known, key=len, reverse=True), DEEPEST) if known else value


def _unheard(value: Any, known: list[str], deep: int) -> Any:
    if isinstance(value, str):
        for key in known:
            value = value.replace(key, "[key]")
        return value
    if isinstance(value, Mapping):
        # What is deeper than is kept is not looked through, and so not told either.
        return {_unheard(name, known, 1): _unheard(part, known, deep - 1) for name, part in value.items() if deep}
    if isinstance(value, list | tuple):
        return [_unheard(part, known, deep - 1) for part in value if deep]
    return value


@dataclass(frozen=True, slots=True)
class Discreet:
    """``system``, with ``keys`` taken out of its events, its settings and its errors."""

    system: System
    keys: tuple[str, ...] = field(repr=False)

    @property
    def spec(self) -> Spec:
        """Return the system's own."""
        return self.system.spec

    @property
    def traits(self) -> Traits:
        """Return the system's own."""
        return self.system.traits

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[Link]:
        """Open a talk; an error of the system tells no key."""
        try:
            async with self.system.connect(prompt) as link:
                yield _Discreet(link, self.keys)
        except BrokenTalk:
            raise
        except Exception as error:
            said = str(error)
            if unheard(said, self.keys) == said:
                raise
            raise ConversationError(unheard(said, self.keys)) from error


class _Discreet:
    def __init__(self, link: Link, keys: tuple[str, ...]) -> None:
        self._link, self._keys = link, keys

    @property
    def ready(self) -> Ready:
        # Some tell more of their settings while they talk.
        return Ready(unheard(self._link.ready.settings, self._keys))

    @ready.setter
    def ready(self, ready: Ready) -> None:
        self._link.ready = ready

    @property
    def read(self) -> float | None:
        read: float | None = getattr(self._link, "read", None)
        return read

    async def send(self, frame: Samples) -> None:
        await self._link.send(frame)

    async def heard(self, position: Position) -> None:
        await self._link.heard(position)

    async def finish(self) -> None:
        await self._link.finish()

    async def __aiter__(self) -> AsyncIterator[Happening]:
        async for event in self._link:
            yield self._told(event)

    def _told(self, event: Happening) -> Happening:
        names = ("id",) if isinstance(event, Chunk) else ("scope",) if isinstance(event, Flush) else None
        changed: dict[str, Any] = {}
        for name in names or event.__slots__:
            value = getattr(event, name)
            # Words with their times are a tuple of tuples.
            if isinstance(value, str | Mapping) and (said := unheard(value, self._keys)) != value:
                changed[name] = said
            elif name == "words" and any(unheard(word[0], self._keys) != word[0] for word in value):
                changed[name] = tuple((unheard(text, self._keys), start, end) for text, start, end in value)
        return replace(event, **changed) if changed else event


__all__ = ["SHORTEST", "Discreet", "unheard"]
