"""How well each distance tells responses drawn from people's distribution from responses at random times.

``python bench/listeners_discrimination.py icc_gt_distribution.json``: for each stimulus, responses of a person (drawn
from Q) and at random (uniform); the table shows how often the person's are called the better, ties as half. Where both
respond equally often, and where chance responds three times as often.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fullduplex.data.fdb_json import read_reference
from fullduplex.measures.clusters import Floats
from fullduplex.measures.listeners import covered, divergence_from, support, wasserstein_from
from fullduplex.measures.timing import WINDOW
from fullduplex.model.trials import Absent

ROUNDS = 10


def least(found: float | Absent) -> float:
    """Return a distance as a score that is the higher the nearer."""
    return -np.inf if isinstance(found, Absent) else -found


def windows(times: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the windows of onsets."""
    return np.unique(np.asarray(times, dtype=np.int64) // WINDOW)


def share(found: tuple[float, float]) -> float:
    """Return part over whole, 0 where there is no whole."""
    return found[0] / found[1] if found[1] else 0.0


def lift(times: list[int], q: Floats, level: float) -> float:
    """Return how much more is covered than by the same responses rotated."""
    mine = windows(times)
    rotated = [share(covered((mine + by) % len(q), q, at_least=level)) for by in range(0, len(q), 5)]
    return share(covered(mine, q, at_least=level)) - float(np.mean(rotated))


def main() -> None:
    """Print the table."""
    stimuli = {name: np.asarray(bins) for name, bins in read_reference(Path(sys.argv[1])).items()}
    scores: dict[str, Callable[[list[int], Floats], float]] = {
        "Jensen-Shannon divergence": lambda times, q: least(divergence_from(times, q)),
        "Wasserstein on times": lambda times, q: least(wasserstein_from(times, q)),
        "support": lambda times, q: share(support(windows(times), q)),
        "covered, lift": lambda times, q: lift(times, q, float(np.quantile(q, 0.75))),
    }
    random = np.random.default_rng(11)
    print(f"{'person : random responses':28s} " + " ".join(f"{n}:{m:<6d}" for n, m in ((5, 5), (5, 15))))
    for name, score in scores.items():
        cells = []
        for n, m in ((5, 5), (5, 15)):
            better = 0.0
            for _ in range(ROUNDS):
                for q in stimuli.values():
                    person = (random.choice(len(q), n, p=q / q.sum()) * WINDOW).tolist()
                    chance = (random.integers(len(q), size=m) * WINDOW).tolist()
                    a, b = score(person, q), score(chance, q)
                    better += (a > b) + 0.5 * (a == b)
            cells.append(better / (ROUNDS * len(stimuli)))
        print(f"{name:28s} " + " ".join(f"{cell:8.3f}" for cell in cells))


if __name__ == "__main__":
    main()
