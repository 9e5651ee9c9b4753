"""One talk at a time, as a system declares it: what becomes of a second that is tried while the first goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from fullduplex.driving.cues import at
from fullduplex.driving.drive import Talk, Turn, drive
from fullduplex.driving.link import System
from fullduplex.driving.observe import growth, output_lags
from fullduplex.driving.playout import Chunk, Samples
from fullduplex.errors import ConversationError, printable
from fullduplex.model.spans import SECOND, in_seconds, ms, seconds
from fullduplex.testing.stage import Failed, Measured, expect
from fullduplex.testing.watched import Seen, Watched

HELD_TWO = (
    "declared one talk at a time, and it held two; declare several (exclusive in the driver's traits, an option of "
    "websocket), or let the server hold one"
)
#: How long a second talk waits for a server that is ready for it, and how long it lasts where one is.
_WAITS, _LASTS = seconds(5), seconds(5)
#: A look at whether the first talk has begun (seconds).
_LOOKS = 0.01


async def tried(second: Coroutine[Any, Any, Talk], seen: Seen, first: asyncio.Future[Talk], *, after: int) -> str:
    """Hold ``second``, so long ``after`` the talk ``first`` began, which ``seen`` tells; return why it was not held.

    The reason is empty where it was; raises what ``first`` raised where that never began.
    """
    while not seen.ready:
        if first.done():
            second.close()
            first.result()
        await asyncio.sleep(_LOOKS)
    await asyncio.sleep(after / SECOND)
    try:
        await second
    except ConversationError as error:
        return printable(str(error))
    return ""


async def one_at_a_time(system: System, say: Samples, alone: Talk, frame: int) -> Measured:
    """Return what became of a second talk with ``system``; raises :class:`Failed` where both were held, or one hurt.

    Both users say ``say``, at about the same time. The second is held where it is ready in time and hears something
    while the first does: a server that takes one request after another is asked by two and serves one. The first must
    be whole, and answered where ``alone``, the same talk without a second, was.
    """
    waits = max(_WAITS, 2 * alone.handshake)
    turns = [Turn(say, at(ms(500)))]
    lasts = _LASTS + len(say) * SECOND // system.traits.rate_in
    watched, other = Watched(system), Watched(system)
    first = asyncio.ensure_future(drive(watched, turns, length=waits + lasts + seconds(1)))
    try:
        refused, beside = await _second(other, turns, lasts, waits, watched.seen, first)
        try:
            talk = await first
        except ConversationError as error:
            raise Failed(f"declared one talk at a time, and a second broke the first: {error}") from error
    finally:
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
    expect(not _sounds(alone) or bool(_sounds(talk)), "the first talk was not answered, while a second was tried")
    if system.traits.timing == "sync":
        lags = output_lags(talk.received, frame, sourced=system.traits.source == "session")
        grows = growth(lags, frame) if len(lags) > 1 else 0.0
        expect(grows <= 0.01, f"the first talk fell behind by {grows:.3f} s a second, while a second was tried")
    if beside is not None:
        expect(not _together(talk, beside, other.seen.began - watched.seen.began), HELD_TWO)
        refused = "it was ready, and heard nothing while the first did"
    return {"talks": 1, "the second": refused}


async def _second(
    other: Watched, turns: list[Turn], lasts: int, waits: int, seen: Seen, first: asyncio.Future[Talk]
) -> tuple[str, Talk | None]:
    """Return why a second talk was not held, or the talk."""
    held: list[Talk] = []

    async def talk() -> Talk:
        holding = asyncio.ensure_future(drive(other, turns, length=lasts))
        try:
            await asyncio.wait({holding}, timeout=waits / SECOND)
            if not holding.done() and not other.seen.ready:
                raise ConversationError(f"nobody was ready for it within {in_seconds(waits):g} s")
            held.append(await holding)
            return held[0]
        finally:
            holding.cancel()
            await asyncio.gather(holding, return_exceptions=True)

    refused = await tried(talk(), seen, first, after=0)
    return refused, held[0] if held else None


def _sounds(talk: Talk) -> list[Chunk]:
    return [event for event in talk.received if isinstance(event, Chunk) and len(event.samples)]


def _together(one: Talk, other: Talk, later: int) -> bool:
    """Return whether sound came to both at the same time; ``other`` began ``later``."""
    a, b = _sounds(one), _sounds(other)
    if not a or not b:
        return False
    return a[0].arrived <= b[-1].arrived + later and b[0].arrived + later <= a[-1].arrived


__all__ = ["HELD_TWO", "one_at_a_time", "tried"]
