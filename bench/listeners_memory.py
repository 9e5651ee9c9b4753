"""Measure the memory and the time that a panel of many stimuli and listeners takes.

``python bench/listeners_memory.py [STIMULI LISTENERS]``: draws panels of half a minute a stimulus from a seed (1,000
stimuli and 60 listeners unless told), of a tenth of the stimuli and of all, counts everything that ``fullduplex
listeners`` does with one system beside people, and prints time and peak memory. Each is a process of its own.
"""

from __future__ import annotations

import csv
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SECONDS = 30


def write(path: Path, stimuli: int, listeners: int) -> None:
    """Write a panel whose listeners each heed two in five of the same moments."""
    random = np.random.default_rng(0)
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["stimulus", "listener", "onset", "duration"])
        for n in range(stimuli):
            moments = np.arange(3, SECONDS - 3, 5) + random.uniform(-1, 1, 5)
            for who in range(listeners):
                late = moments + random.normal(0.3, 0.12, 5)
                said = [f"{time:.3f}" for time in late[random.random(5) < 0.4]]
                table.writerows([f"s{n:05d}", f"p{who:02d}", onset, SECONDS] for onset in said or [""])


def count(path: Path) -> None:
    """Count a panel with a system that responds every five seconds, and print what it took."""
    from fullduplex.baselines.panels import Responder, distributions, panel_statistics
    from fullduplex.data.panels import read_panel
    from fullduplex.model.spans import seconds

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.monotonic()
    file = read_panel(path)
    read = time.monotonic() - began
    regular = {name: [[seconds(time) for time in range(2, SECONDS, 5)]] for name in file.names}
    told = panel_statistics(file, [Responder("regular", "regular.run", regular, 0, 0, {})])
    distributions(file)
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    of = told["totals"]
    print(
        f"{of['stimuli']:>6,} stimuli  {of['heard']:>7,} heard  {of['responses']:>8,} responses  "
        f"read {read:5.1f} s  all {time.monotonic() - began:6.1f} s  +{more:5.0f} MB"
    )


def main() -> None:
    """Print a line for a tenth of the stimuli, and one for all."""
    if sys.argv[1:2] == ["--count"]:
        count(Path(sys.argv[2]))
        return
    stimuli, listeners = (int(given) for given in (sys.argv[1:3] or ("1000", "60")))
    with tempfile.TemporaryDirectory() as folder:
        for n in (max(1, stimuli // 10), stimuli):
            path = Path(folder) / f"{n}.csv"
            write(path, n, listeners)
            subprocess.run([sys.executable, __file__, "--count", path], check=True)


if __name__ == "__main__":
    main()
