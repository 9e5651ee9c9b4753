"""The case about talks that are held at the same time: each hears its own, or there is one at a time, as declared."""

from __future__ import annotations

import asyncio

from fullduplex.driving.drive import drive
from fullduplex.model.spans import ms, seconds
from fullduplex.testing.behaviour import Behaviour, Utterance
from fullduplex.testing.exclusive import HELD_TWO, tried
from fullduplex.testing.stage import Measured, Stage, case, expect, whole
from fullduplex.testing.watched import Watched
from fullduplex.testing.watermark import BLOCK

#: Of a system that declares one talk at a time: when a second is tried, how long it waits for a server that is ready.
_TRIES_AT, _WAITS = ms(500), seconds(1)


@case(25, "two talks at once", "each hears its own; or one at a time, as declared", "hold two talks")
async def two(stage: Stage) -> Measured:
    """Nothing of one talk is heard in another; where one at a time is declared, a second finds nobody ready."""
    return await (_one(stage) if stage.declares.exclusive else _both(stage))


async def _both(stage: Stage) -> Measured:
    said = [Utterance(ms(200), ms(900), 1_000), Utterance(ms(260), ms(900), 20_000)]
    talks = await asyncio.gather(*(stage.talk(Behaviour(say=(one,), pace="burst"), length=ms(1_500)) for one in said))
    for (talk, _), one in zip(talks, said, strict=True):
        stretch = whole(talk, one.length, one.block, rough=stage.terms.rough)
        stage.at(stretch.at - stretch.source, stage.sounds(one.at) - one.block * BLOCK, "began")
    return {"talks": len(talks)}


async def _one(stage: Stage) -> Measured:
    """Try a second talk with the server of a first, in mid-word: the first is heard to its end, without a gap."""
    said = Utterance(ms(200), seconds(2), 1_000)
    system = stage.make(Behaviour(say=(said,)), stage.traits(), None, ready_within=_WAITS)
    async with stage.holding(system):
        watched = Watched(system)
        first = asyncio.ensure_future(stage.drive(watched, length=seconds(3), priming=stage.settle))
        try:
            refused = await tried(drive(system, (), length=ms(300)), watched.seen, first, after=_TRIES_AT)
            talk = await first
        finally:
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
    expect(bool(refused), HELD_TWO)
    whole(talk, said.length, said.block, rough=stage.terms.rough)
    return {"talks": 1, "the second": refused}
