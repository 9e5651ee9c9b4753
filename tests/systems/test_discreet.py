"""Keys are taken out of all that a talk keeps, whoever said them."""

from __future__ import annotations

import pickle
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.clock import run_virtual
from fullduplex.driving.drive import drive
from fullduplex.driving.link import Closed, Happening, Note, Position, Ready, Said, Traits
from fullduplex.driving.playout import Chunk, Flush, Samples
from fullduplex.errors import ConversationError
from fullduplex.model.spans import ms
from fullduplex.model.spec import Spec
from fullduplex.systems.discreet import Discreet, unheard
from fullduplex.systems.refusals import Busy, refusal_of

KEY = "sk-a/b+c=0123456789"


class Tattler:
    """A system that says its key wherever it can."""

    spec = Spec("tattler")
    traits = Traits(virtual=True)

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator[Any]:
        if self.error is not None:
            raise self.error
        yield self

    ready = Ready({"echo": {KEY: [KEY, 1, None]}})

    async def send(self, frame: Samples) -> None: ...

    async def heard(self, position: Position) -> None: ...

    async def finish(self) -> None: ...

    async def __aiter__(self) -> AsyncIterator[Happening]:
        yield Chunk(np.full(480, 0.5, np.float32), f"u-{KEY}")
        yield Flush(f"u-{KEY}")
        yield Said(f"it is {KEY}", words=((KEY, 0, 1),))
        yield Note(KEY, {"url": "ws://h/?key=sk-a%2Fb%2Bc%3D0123456789", "deep": [{"a": KEY}]})
        yield Closed(f"because of {KEY}")


def test_nothing_that_a_talk_keeps_has_the_key() -> None:
    with pytest.raises(ConversationError) as error:
        run_virtual(drive(Discreet(Tattler(), (KEY,)), (), length=ms(200)))
    talk = error.value.talk  # type: ignore[attr-defined]
    told = repr((talk.notes, [event for event in talk.received if isinstance(event, Flush)], talk.ready))
    told += repr([event.id for event in talk.received if isinstance(event, Chunk)]) + str(error.value)
    assert KEY not in told and "%2Fb" not in told and told.count("[key]") >= 10
    assert sum(len(event.samples) for event in talk.received if isinstance(event, Chunk)) == 480


def test_without_it_the_key_would_be_there() -> None:
    with pytest.raises(ConversationError) as error:
        run_virtual(drive(Tattler(), (), length=ms(200)))
    assert KEY in str(error.value)


@pytest.mark.parametrize("error", [ConversationError(f"wrong key {KEY}"), RuntimeError(KEY)])
def test_an_error_has_no_key(error: Exception) -> None:
    with pytest.raises(ConversationError) as found:
        run_virtual(drive(Discreet(Tattler(error), (KEY,)), (), length=ms(200)))
    assert KEY not in str(found.value) and "[key]" in str(found.value)


def test_what_a_refusal_means_is_still_found() -> None:
    with pytest.raises(ConversationError) as found:
        run_virtual(drive(Discreet(Tattler(Busy(f"full, {KEY}", 3.0)), (KEY,)), (), length=ms(200)))
    refusal = refusal_of(found.value)
    assert refusal is not None and refusal.passing and refusal.after == 3.0


def test_a_text_too_short_for_a_key_is_left_alone() -> None:
    assert unheard("a key", ("a", "")) == "a key"


def test_the_longer_of_two_keys_is_taken_out_whole() -> None:
    assert unheard("secret1234", ("secret", "secret1234")) == "[key]"


def test_who_holds_keys_does_not_show_them() -> None:
    assert KEY not in repr(Discreet(Tattler(), (KEY,)))
    assert pickle.loads(pickle.dumps(Busy("full", 2.0))).after == 2.0


def test_nothing_is_looked_through_without_end() -> None:
    deep: Any = KEY
    for _ in range(5_000):
        deep = {"a": [deep]}
    assert KEY not in str(unheard(deep, [KEY]))
