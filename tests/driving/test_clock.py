import asyncio
import socket
import time

import pytest

from fullduplex.driving.clock import VirtualLoop, run_virtual
from fullduplex.errors import ConversationError


def test_an_hour_passes_at_once() -> None:
    async def talk() -> float:
        await asyncio.sleep(3600)
        return asyncio.get_running_loop().time()

    began = time.perf_counter()
    assert run_virtual(talk()) == 3600
    assert time.perf_counter() - began < 5


def test_timers_fire_in_the_order_of_their_times() -> None:
    async def talk() -> list[int]:
        seen: list[int] = []

        async def note(n: int) -> None:
            await asyncio.sleep(n / 1000)
            seen.append(n)

        await asyncio.gather(*(note(n) for n in (30, 10, 20)))
        return seen

    assert run_virtual(talk()) == [10, 20, 30]


def test_many_small_steps_end_exactly_where_they_should() -> None:
    async def talk() -> float:
        loop = asyncio.get_running_loop()
        for i in range(10_000):
            await asyncio.sleep((i + 1) * 0.02 - loop.time())
        return loop.time()

    assert round(run_virtual(talk()) * 1_000_000) == 200_000_000


def test_a_talk_that_nothing_will_end_is_refused() -> None:
    async def talk() -> None:
        await asyncio.Event().wait()

    with pytest.raises(ConversationError, match="no timer"):
        run_virtual(talk())


def test_threads_are_refused() -> None:
    async def talk() -> None:
        await asyncio.to_thread(time.sleep, 0)

    with pytest.raises(ConversationError, match="virtual clock"):
        run_virtual(talk())


def test_sockets_are_refused() -> None:
    ours, theirs = socket.socketpair()

    async def talk() -> None:
        asyncio.get_running_loop().add_reader(ours, lambda: None)

    with ours, theirs, pytest.raises(ConversationError, match="virtual clock"):
        run_virtual(talk())


def test_an_error_in_the_talk_comes_out() -> None:
    async def talk() -> None:
        await asyncio.sleep(1)
        raise KeyError("x")

    with pytest.raises(KeyError):
        run_virtual(talk())


def test_the_loop_closes_cleanly() -> None:
    loop = VirtualLoop()
    loop.close()
    assert loop.is_closed()
