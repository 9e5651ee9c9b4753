"""Systems that hear the whole input first and answer with a file: what they share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from fullduplex.driving.clock import Aside, took
from fullduplex.driving.cues import AUDIBLE
from fullduplex.driving.link import Closed, Happening, Note, Position, Ready, Said, Timing, Traits
from fullduplex.driving.playout import Chunk, Samples
from fullduplex.errors import ConversationError, InputError
from fullduplex.model.spans import SECOND, in_seconds

#: Where an answer lies: sample n of it at sample n of the talk; after all that the user sent and the time it took;
#: or that time after the user's last sound, though what followed was heard too.
Placement = Literal["aligned", "reply", "speech"]
PLACEMENTS: tuple[Placement, ...] = get_args(Placement)
#: An answer longer than its input by more than this many seconds is not what was asked for.
LONGER = 3_600


@dataclass(frozen=True, slots=True)
class Block:
    """A part of an answer, from ``start`` to ``end`` in it, that sounds at ``at`` in the talk; microseconds."""

    at: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Answer:
    """What came out: samples at the system's ``rate_out``, words ``(text, start, end)`` in microseconds of it, facts.

    With ``blocks``, those parts alone sound, where they say; without, all of it.
    """

    samples: Samples
    words: tuple[tuple[str, int, int], ...] = ()
    blocks: tuple[Block, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


def check_placement(name: str, placement: str) -> None:
    """Raise :class:`InputError` where ``placement`` is none."""
    if placement not in PLACEMENTS:
        raise InputError(name, "placement", found=placement, expected=" or ".join(PLACEMENTS))


def offline_traits(rate_in: int, rate_out: int, placement: Placement) -> Traits:
    """Return the traits of a system that computes after the last frame, on a step clock."""
    timing: Timing = "reply" if placement == "reply" else "aligned"
    return Traits(rate_in, rate_out, timing=timing, virtual=True, computes=True, offline=True, source="session")


class OfflineLink:
    """A talk in which the user is heard to the end before ``work`` answers.

    ``declared`` gives the time that the answer takes on the ``step-algorithmic`` clock, for a number of samples.
    It says in a note where the answer was placed, and whether that was imposed or is the answer's own.
    """

    def __init__(
        self,
        ready: Ready,
        traits: Traits,
        work: Callable[[Samples], Answer],
        declared: Callable[[int], int],
        placement: Placement,
        aside: Aside | None = None,
    ) -> None:
        self._placement, self._aside = placement, aside
        self.ready, self._traits, self._work, self._declared = ready, traits, work, declared
        self._frames: list[Samples] = []
        self._over, self._answered = asyncio.Event(), asyncio.Event()

    async def send(self, frame: Samples) -> None:
        """Keep the frame."""
        self._frames.append(frame)

    async def heard(self, position: Position) -> None:
        """Take no note: nothing is said before the user is done."""

    async def finish(self) -> None:
        """Take note that the input is whole, and wait until the answer was given or could not be."""
        self._over.set()
        await self._answered.wait()

    async def __aiter__(self) -> AsyncIterator[Happening]:
        """Yield the answer once the input is whole, and close; raises :class:`ConversationError` where none comes."""
        try:
            await self._over.wait()
            heard = np.concatenate([np.zeros(0, np.float32), *self._frames])
            answer, spent = await took(lambda: self._work(heard), self._declared(len(heard)), self._aside)
            at = spent + end_of_sound(heard, self._traits.rate_in) if self._placement == "speech" else 0
            facts = {"took": in_seconds(spent), "fed": "whole", "placement": self._placement}
            facts |= {"at": in_seconds(at)} if self._placement == "speech" else {}
            yield Note("answer", {**answer.facts, **facts, "imposed": self._placement != "aligned"})
            for event in placed_answer(answer, self._traits, at):
                yield event
        finally:
            # Whoever waits in finish goes on with the talk before its end is known.
            self._answered.set()
        yield Closed("answered")


def end_of_sound(samples: Samples, rate: int) -> int:
    """Return where the last sample louder than :data:`~fullduplex.driving.cues.AUDIBLE` ends; 0 where none is."""
    loud = np.flatnonzero(np.abs(samples) > AUDIBLE)
    return (int(loud[-1]) + 1) * SECOND // rate if len(loud) else 0


def placed_answer(answer: Answer, traits: Traits, at: int = 0) -> list[Happening]:
    """Return the answer as chunks with their places, and its words with the same places, all ``at`` later."""
    rate = traits.rate_out
    whole = (Block(0, 0, len(answer.samples) * SECOND // rate),)
    said, chunks = list[Happening](), list[Happening]()
    for number, block in enumerate(sorted(answer.blocks or whole, key=lambda block: block.at)):
        id, shift = f"a{number}", block.at + at - block.start
        words = tuple(
            (text, start + shift, end + shift)
            for text, start, end in answer.words
            if block.start <= (start + end) // 2 < block.end
        )
        if words:
            said.append(Said(" ".join(word[0] for word in words), "system", id, words))
        part = answer.samples[block.start * rate // SECOND : -(-block.end * rate // SECOND)]
        if len(part):
            chunks.append(Chunk(part, id, source=block.at + at))
    return [*said, *chunks]


def as_samples(found: Any, rate: int, rate_out: int, whose: str) -> Samples:
    """Return what a program or a function gave as one voice at ``rate_out``.

    Raises :class:`ConversationError` where it is no list of finite floats with full scale 1.
    """
    try:
        samples = np.asarray(found)
    except (TypeError, ValueError) as error:
        raise ConversationError(f"{whose} gave no samples: {error}") from error
    if samples.ndim == 2 and 1 in samples.shape:
        samples = samples.reshape(-1)
    if samples.ndim != 1 or not np.issubdtype(samples.dtype, np.floating):
        shape = "x".join(map(str, samples.shape)) or "no"
        raise ConversationError(
            f"{whose} gave {shape} values of {samples.dtype}, not one voice as floats between -1 and 1"
        )
    if not np.isfinite(samples).all():
        raise ConversationError(f"{whose} gave samples that are NaN or infinite")
    from fullduplex.data.audio import resample

    return resample(samples, rate, rate_out)
