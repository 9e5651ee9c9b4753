"""How many measures a second one core makes, over trials drawn as text.

python bench/measure_speed.py
"""

from __future__ import annotations

import time
from dataclasses import replace

from fullduplex.benchmarks import find
from fullduplex.model.sketch import sketch
from fullduplex.model.trials import Trial

_REFERENCE = {"turn_end_seconds": 2.0, "interruption_end_seconds": 2.0, "distribution": [0.01] * 100}


def trials() -> list[Trial]:
    """Return forty trials whose system answers at as many times."""
    made = []
    for i in range(40):
        trial = sketch(
            f"""
            user          ####################..............................................
            system        {"." * (i + 5)}aaabbbcccddd{"." * (30 - i // 2)}eee..fffggghhh
            pause         ..........^^^^^.................................................
            turn_end      ....................^^^.........................................
            interruption  ...........^^^^^^^^^............................................
            """
        )
        made.append(replace(trial, item=replace(trial.item, reference=_REFERENCE)))
    return made


def main() -> None:
    made = trials()
    print(f"{'variant':<20}{'measures/s':>12}")
    for benchmark in find("fdb-1.0@all"):
        measures = [metric.measure for scenario in benchmark.scenarios for metric in scenario.metrics]
        count, began = 0, time.process_time()
        while time.process_time() - began < 1:
            for trial in made:
                for measure in measures:
                    measure(trial)
            count += len(made) * len(measures)
        print(f"{benchmark.variant:<20}{count / (time.process_time() - began):>12,.0f}")


if __name__ == "__main__":
    main()
