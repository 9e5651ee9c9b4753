"""How long scoring takes once words and speech are cached, and what memory it needs as items grow.

    python bench/score_speed.py            the 727 items of Full-Duplex-Bench v1.0, and ten times as many

Items are made here: one second of noise each way, a dozen words, the event of their
task. Each figure is one process, `fullduplex score … --no-page`, the second time over:
what is left is reading, measuring, 10,000 resamples a number, and writing Markdown.
The maximum resident set is the parent's; workers are counted apart.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from fullduplex.data import audio

SETS = (
    ("candor_pause_handling", 216, "pause.json"),
    ("synthetic_pause_handling", 137, "pause.json"),
    ("candor_turn_taking", 119, "turn_taking.json"),
    ("icc_backchannel", 55, ""),
    ("synthetic_user_interruption", 200, "interrupt.json"),
)
_CHILD = """
import resource, sys
from fullduplex.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"PEAK {peak} {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}", file=sys.stderr)
    raise
"""


def make(root: Path, times: int) -> int:
    rng, draw = np.random.default_rng(0), random.Random(0)
    noise = rng.normal(0, 0.01, 16_000).astype(np.float32)
    made = 0
    for name, count, event in SETS:
        for i in range(count * times):
            folder = root / name / str(i)
            folder.mkdir(parents=True)
            audio.write(folder / "input.wav", noise, 16_000)
            os.link(folder / "input.wav", folder / "output.wav")
            start = draw.uniform(0, 4)
            words = [
                {"text": f"w{k}", "timestamp": [start + k / 3, start + k / 3 + 0.3]}
                for k in range(draw.choice([0, 1, 2, 12]))
            ]
            (folder / "output.json").write_text(json.dumps({"text": "", "chunks": words}))
            span = {"text": "", "context": "", "interrupt": "", "timestamp": [2.0, 2.6]}
            if event:
                (folder / event).write_text(json.dumps([span]))
            made += 1
    return made


def score(source: Path, out: Path, environment: dict[str, str]) -> tuple[float, int, int]:
    command = [sys.executable, "-c", _CHILD, "score", str(source), "--out", str(out), "--no-page"]
    began = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    took = time.perf_counter() - began
    _, own, workers = done.stderr.strip().splitlines()[-1].split()
    return took, int(own) // 1024, int(workers) // 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, nargs="*", default=[1, 10], help="multiples of 727 items")
    asked = parser.parse_args()
    peaks: list[int] = []
    print(f"{'items':>7}{'first, s':>10}{'cached, s':>11}{'parent, MB':>12}{'worker, MB':>12}")
    for times in asked.times:
        with tempfile.TemporaryDirectory() as folder:
            source, out = Path(folder, "data"), Path(folder, "run")
            n = make(source, times)
            first, _, _ = score(source, out, dict(os.environ))
            took, own, workers = score(source, out, dict(os.environ))
            peaks.append(own)
            print(f"{n:>7}{first:>10.1f}{took:>11.2f}{own:>12}{workers:>12}", flush=True)
    if len(peaks) > 1:
        print(f"peak memory, last over first: {peaks[-1] / peaks[0]:.3f}")


if __name__ == "__main__":
    main()
