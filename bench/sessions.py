"""How late frames go out when many talks are held at once on the wall clock, against a server in another process.

    python bench/sessions.py [--sessions 64] [--minutes 10] [--processes 2] [--frame 20]

Every session sends 20-ms frames to a loopback server, which answers each of the user's turns. A worker
process holds its share of the sessions in one event loop, as `fullduplex run --sessions` does.
Printed: the lateness of all frames (the moment a frame was sent less the end of its capture) as median, p99 and
worst; the drift (how far the last frame is from its deadline, worst session); and the processor's share.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from fullduplex.data import audio
from fullduplex.data.dataset import Entry, Voice
from fullduplex.data.files import read_json
from fullduplex.model.spans import ms
from fullduplex.model.spec import Spec
from fullduplex.runs.drive import DriveTask, hold_together
from fullduplex.runs.record import LATENESS
from fullduplex.testing.loopback import served

RATE = 16_000


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--sessions", type=int, default=64)
    asked.add_argument("--minutes", type=float, default=10)
    asked.add_argument("--processes", type=int, default=2)
    asked.add_argument("--frame", type=int, default=20, help="milliseconds")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        audio.write(root / "input.wav", user(given.minutes * 60), RATE)
        with served() as url:
            tasks = [
                DriveTask(
                    str(root / "run"),
                    Entry(str(n), "smooth_turn_taking", user_voice=Voice(root / "input.wav")),
                    Spec("loopback", {"url": url}),
                    clock="wall",
                    retries=0,
                    frame=ms(given.frame),
                )
                for n in range(given.sessions)
            ]
            shares = [tasks[n :: given.processes] for n in range(given.processes)]
            began = time.perf_counter()
            with ProcessPoolExecutor(given.processes) as pool:
                held = [one for share in pool.map(hold_together, shares) for one in share]
            took = time.perf_counter() - began
        told([one if isinstance(one, str) else one.failed for one in held], root / "run", took, given.minutes * 60)


def user(length: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """Two seconds of speech-like noise every eight."""
    drawn = np.random.default_rng(0).standard_normal(round(length * RATE)).astype(np.float32) * 0.1
    speaks = np.arange(len(drawn)) % (8 * RATE) < 2 * RATE
    return np.where(speaks, drawn, 0).astype(np.float32)


def told(failed: list[str], run: Path, took: float, length: float) -> None:
    """Print what was measured."""
    for why in filter(None, failed):
        print(f"failed: {why}", file=sys.stderr)
    found = [np.asarray(read_json(path)) for path in sorted(run.glob("trials/*/*/" + LATENESS))]
    if not found:
        return
    late = np.concatenate(found) * 1000
    last = max(float(np.median(one[-50:])) for one in found) * 1000
    first = min(float(np.median(one[:50])) for one in found) * 1000
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{len(found)} sessions, {len(late)} frames, {took:.0f} s for {length:.0f} s of talk")
    print(f"lateness, ms: median {np.median(late):.2f}, p99 {np.percentile(late, 99):.2f}, worst {late.max():.2f}")
    print(f"drift over the talk, ms: at most {last - first:.2f}")
    print(f"processor, workers and server together: {(used.ru_utime + used.ru_stime) / took:.2f} cores")


if __name__ == "__main__":
    main()
