"""How fast perceived quality is measured here: ``python bench/quality_speed.py [SECONDS]``.

One recording of noise, one thread, best of three after the weights are loaded. Noise stands
for speech: what is in the samples does not change the work.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

import numpy as np

from fullduplex.errors import FullDuplexError
from fullduplex.listening.quality.aecmos import LONGEST_SECONDS, aecmos
from fullduplex.listening.quality.dnsmos import dnsmos
from fullduplex.listening.quality.echo import echo_level
from fullduplex.listening.quality.loudness import loudness
from fullduplex.providers import weights

RATE = 16_000
ROUNDS = 3


def best(work: Callable[[], object]) -> float:
    work()
    found = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def main() -> None:
    duration = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    cache = weights.default_cache(os.environ)
    random = np.random.default_rng(1)
    played, taken = (random.normal(0, 0.1, round(duration * RATE)).astype(np.float32) for _ in range(2))
    taken += 0.1 * np.roll(played, RATE // 10)
    judged = min(duration, LONGEST_SECONDS)
    works: dict[str, tuple[float, Callable[[], object]]] = {
        "dnsmos": (duration, lambda: dnsmos(taken, RATE, cache, at_least=0)),
        "dnsmos, 3 s": (3.0, lambda: dnsmos(taken[: 3 * RATE], RATE, cache, at_least=0)),
        "aecmos": (judged, lambda: aecmos(played, taken, taken, RATE, cache, "both")),
        "aecmos, 48 kHz": (judged, lambda: aecmos(played, taken, taken, RATE, cache, "both", 48_000)),
        "echo_level": (duration, lambda: echo_level(played, taken, RATE)),
        "loudness": (duration, lambda: loudness(taken, RATE)),
    }
    print(f"{'':<16}{'audio':>8}{'time':>10}{'x real time':>14}")
    for name, (audio, work) in works.items():
        try:
            took = best(work)
        except FullDuplexError as error:
            sys.exit(str(error))
        print(f"{name:<16}{audio:>6.1f} s{took:>8.2f} s{audio / took:>14.0f}")


if __name__ == "__main__":
    main()
