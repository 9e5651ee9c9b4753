"""How near the measured onset of a sound is to the true one: against a server in a process of its own.

    python bench/loopback_accuracy.py [--onsets 400] [--seconds 60]

The server speaks watermark at known times, in bursts and at real time; the driver drives; what was heard when is
read from the sound. Error = heard onset - planned onset. On the virtual clock the twin in memory is driven;
on the wall clock the server over a WebSocket. At real time each piece is an onset of its own, since a player
without a buffer sounds it as it comes. Also: whether a flush cuts at its sample, and what a server with many
talks costs. Exit 4 where a bound is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.driving.clock import run_on
from fullduplex.driving.drive import Talk, drive
from fullduplex.driving.link import Traits
from fullduplex.driving.playout import Flush, sample_at
from fullduplex.model.spans import SECOND, ms, seconds
from fullduplex.systems.loopback import Loopback
from fullduplex.testing.behaviour import Behaviour, Utterance
from fullduplex.testing.loopback import Twin, served
from fullduplex.testing.watermark import BLOCK, read_watermark, stretches

#: The bounds, in microseconds, that p99 must stay below.
BOUNDS = {"virtual": ms(1), "wall": ms(10)}


def plan(onsets: int, seed: int) -> tuple[Utterance, ...]:
    """Return utterances of 60 to 200 ms at odd moments, whose numbers never repeat."""
    rng, at, block, said = np.random.default_rng(seed), ms(100), 0, []
    for _ in range(onsets):
        blocks = int(rng.integers(3, 11))
        said.append(Utterance(at, blocks * BLOCK, block))
        at += blocks * BLOCK + int(rng.integers(ms(30), ms(90)))
        block += blocks + 7
    return tuple(said)


def onset_errors(talk: Talk, said: tuple[Utterance, ...]) -> list[int]:
    """Return heard less planned onset of each utterance, in microseconds; ends where one was not heard."""
    starts = {utterance.block: utterance.at for utterance in said}
    found = {
        s.source // BLOCK: s.at - s.source % BLOCK
        for s in stretches(talk.system, talk.rate)
        if s.source // BLOCK in starts
    }
    missing = [block for block, at in starts.items() if block not in found and at + BLOCK < talk.duration]
    if missing:
        raise SystemExit(f"{len(missing)} utterances were not heard, the first of block {missing[0]}")
    return [found[block] - starts[block] for block in found]


def piece_errors(talk: Talk, said: tuple[Utterance, ...]) -> list[int]:
    """Return the same for each block of speech that comes at real time."""
    due = {u.block + i: u.at + i * BLOCK for u in said for i in range(u.length // BLOCK)}
    blocks = read_watermark(talk.system, talk.rate)
    return [round(b.sample * SECOND / talk.rate) - due[b.number] for b in blocks if b.number in due]


def system(url: str | None, behaviour: Behaviour, timing: Any) -> Any:
    traits = Traits(timing=timing, flush="id", frame=ms(20), virtual=url is None)
    return Twin(behaviour.to_json(), traits) if url is None else Loopback(url, behaviour.to_json(), traits)


def measure(clock: Any, url: str | None, onsets: int, longest: int) -> dict[str, list[int]]:
    said = tuple(u for u in plan(onsets, 1) if u.at + u.length < longest)
    length = said[-1].at + said[-1].length + ms(300)
    ahead = run_on(clock, drive(system(url, Behaviour(say=said, pace="burst", burst=20), "burst"), (), length=length))
    paced = run_on(clock, drive(system(url, Behaviour(say=said), "paced"), (), length=length))
    return {"utterances sent ahead": onset_errors(ahead, said), "pieces at real time": piece_errors(paced, said)}


def cuts(clock: Any, url: str | None, times: int) -> list[int]:
    """Return by how many samples each cut lies off the flush that made it."""
    rng, off = np.random.default_rng(2), []

    async def one(at: int) -> Talk:
        behaviour = Behaviour(say=(Utterance(ms(100), seconds(2), 0),), pace="burst", burst=50, flushes=((at, "u1"),))
        return await drive(system(url, behaviour, "burst"), (), length=seconds(1))

    async def all_of_them() -> list[Talk]:
        return await asyncio.gather(*(one(int(rng.integers(ms(200), ms(900)))) for _ in range(times)))

    for talk in run_on(clock, all_of_them()):
        flush = next(event for event in talk.received if isinstance(event, Flush))
        (heard,) = stretches(talk.system, talk.rate)
        off.append(sample_at(heard.until, talk.rate) - sample_at(flush.arrived, talk.rate))
    return off


def told(errors: list[int]) -> str:
    p50, p99, most = (np.quantile(np.abs(errors), q) / 1_000 for q in (0.5, 0.99, 1))
    return f"n={len(errors):5d}  p50 {p50:7.3f} ms  p99 {p99:7.3f} ms  max {most:7.3f} ms"


def server_cost(sessions: int) -> str:
    """Return the share of a core that a server takes with so many talks of 50 frames a second each way."""
    behaviour = Behaviour(say=(Utterance(0, seconds(8), 0),))

    async def many(url: str) -> tuple[float, int]:
        from websockets.asyncio.client import connect

        from fullduplex.systems.loopback import HEADER

        frame, opening = HEADER.pack(2, 0, 0, 0, 0, -1) + bytes(640), behaviour.to_json()
        came = 0

        async def one() -> None:
            nonlocal came
            import json

            async with connect(url, compression=None, proxy=None, max_queue=None) as socket:
                await socket.send(json.dumps({"type": "open", "rate_in": 16_000, "behaviour": opening}))
                await socket.recv()
                began = asyncio.get_running_loop().time()

                async def read() -> None:
                    nonlocal came
                    async for _ in socket:
                        came += 1

                reading = asyncio.ensure_future(read())
                for i in range(200):
                    await asyncio.sleep(max(0.0, began + i / 50 - asyncio.get_running_loop().time()))
                    await socket.send(frame)
                reading.cancel()

        before, wall = cpu(), time.monotonic()
        await asyncio.gather(*(one() for _ in range(sessions)))
        return (cpu() - before) / (time.monotonic() - wall), came

    with served() as url:
        child = children()

        def cpu() -> float:
            fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

        share, came = asyncio.run(many(url))
    return f"{sessions} talks: {100 * share:.0f} % of a core, {came} pieces came"


def children() -> int:
    """Return the process id of the newest child of this process."""
    return max(int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--onsets", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=60.0, help="the longest a talk may last")
    parser.add_argument(
        "--sessions", type=int, default=64, help="how many talks the server holds at once; 0: do not ask"
    )
    given = parser.parse_args()
    missed = False
    with served() as url:
        for clock, where in (("virtual", None), ("wall", url)):
            for name, errors in measure(clock, where, given.onsets, seconds(given.seconds)).items():
                late = float(np.quantile(np.abs(errors), 0.99)) >= BOUNDS[clock]
                missed |= late
                print(f"{clock:8s} {name:24s} {told(errors)}{'  MISSED' if late else ''}")
            off = cuts(clock, where, 20)
            missed |= any(abs(samples) > 1 for samples in off)
            print(f"{clock:8s} {'flush cuts':24s} n={len(off):5d}  worst {max(map(abs, off))} samples")
    if given.sessions:
        print(f"server   {server_cost(given.sessions)}")
    sys.exit(4 if missed else 0)


if __name__ == "__main__":
    main()
