"""How fast Silero runs here, and what the rules around it cost: ``python bench/detector_speed.py [MINUTES] [THREADS]``.

The bare model, on frames cut beforehand, and the whole detector, from samples to segments,
take turns in one process with the same session, threads and audio in memory. The best
of each is compared, so that another process on the machine does not decide. Ten
recordings share the minutes.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

import numpy as np

from fullduplex.errors import FullDuplexError
from fullduplex.listening.detectors import Samples
from fullduplex.listening.detectors.silero import RATE, Silero, windows
from fullduplex.providers import weights

ROUNDS = 5


def sound(minutes: float) -> list[Samples]:
    """Return ten recordings of bursts of noise: what is in them does not change the work."""
    random = np.random.default_rng(1)
    length = int(minutes * 60 * RATE / 10)
    bursts = (np.arange(length) // (RATE // 2)) % 2
    return [(random.normal(0, 0.1, length) * bursts).astype(np.float32) for _ in range(10)]


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 31.0
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    cache = weights.default_cache(os.environ)
    try:
        detector = Silero(threads=threads, cache=cache)
        by_windows = Silero(network="windows", cache=cache)
    except FullDuplexError as error:
        sys.exit(str(error))
    batch = sound(minutes)
    probe = batch[0][: 20 * RATE]
    difference = float(np.abs(detector.probabilities(probe) - by_windows.probabilities(probe)).max())
    frames = [windows(samples) for samples in batch]
    bare, whole = [], []
    for _ in range(ROUNDS):
        bare.append(seconds(lambda: [detector.judge(frame) for frame in frames]))
        whole.append(seconds(lambda: detector.detect(batch)))
    audio = sum(map(len, batch)) / RATE
    print(f"{audio / 60:.1f} min of audio, {threads} thread{'s' * (threads > 1)}, best of {ROUNDS}")
    print(f"model     {min(bare):6.2f} s  {audio / min(bare):6.0f} x real time")
    print(f"detector  {min(whole):6.2f} s  {audio / min(whole):6.0f} x real time")
    print(f"detector / model: {min(bare) / min(whole):.1%} of its throughput")
    print(f"largest difference of the two networks' probabilities: {difference:.1e}")


if __name__ == "__main__":
    main()
