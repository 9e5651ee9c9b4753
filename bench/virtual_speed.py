"""How many times faster than real time a talk is held on the virtual clock, with a scripted system.

    python bench/virtual_speed.py [--minutes 10]

The user speaks for one second in four; the system answers each time and yields. The ratio is the talk's
length over the time that it took, for a system that sends in real time and for one that sends in bursts.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from fullduplex.driving.clock import run_virtual
from fullduplex.driving.cues import at
from fullduplex.driving.drive import Turn, drive
from fullduplex.model.spans import ms, seconds
from fullduplex.systems.scripted import Answer, Script, Scripted, Sound

RATE = 16_000


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--minutes", type=float, default=10)
    length = asked.parse_args().minutes * 60
    tone = (0.3 * np.sin(np.arange(RATE) / 10)).astype(np.float32)
    four = np.concatenate([tone, np.zeros(3 * RATE, np.float32)])
    user = np.tile(four, int(length // 4) + 1)
    answer = Sound((0.3 * np.sin(np.arange(24_000) / 10)).astype(np.float32), "One moment.")
    for burst in (False, True):
        system = Scripted(Script((Answer(answer, ms(400), again=True),), ms(300)), burst=burst)
        began = time.perf_counter()
        talk = run_virtual(drive(system, [Turn(user, at(0))], length=seconds(length)))
        took = time.perf_counter() - began
        kind = "in bursts" if burst else "in real time"
        print(f"{kind}: {length / took:.0f} x real time ({len(talk.received)} chunks, {talk.pacing.frames} frames)")


if __name__ == "__main__":
    main()
