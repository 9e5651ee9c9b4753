"""What our edges are worth: ``python bench/edge_accuracy.py [--out FOLDER] [--clips FOLDER] [--labels FOLDER] ...``.

Two tables. The first is the self-test's: planted sounds, on both cores. The second is on hand-labelled speech that no
number of the rule was set on: FOLDER holds clips with labels as ``bench/vad_accuracy.py`` reads them. A labeller's
edge is no sample: two labellers differ by tens of milliseconds, so that table shows no error below that.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.engines import each, open_engine
from fullduplex.errors import FullDuplexError, RunError
from fullduplex.listening.detectors import Detector
from fullduplex.listening.detectors.silero import Silero
from fullduplex.listening.detectors.webrtc import WebRtc
from fullduplex.listening.edges import refine
from fullduplex.providers import weights
from fullduplex.testing.selftest import selftest
from vad_accuracy import FOLDER, clips, offset_errors, onset_errors  # type: ignore[import-not-found]


def labelled(folder: Path, cache: Path) -> Iterator[str]:
    """Yield the lines of the table on hand-labelled speech."""
    data = clips(folder)
    labels = sum(len(label) for _, label in data)
    yield f"{len(data)} clips with {labels} labels; the distance of each label's edge to the nearest edge heard, in ms"
    yield f"{'detector':<10}{'edges':<10}{'onset':>7}{'p90':>7}{'bias':>7}{'end':>9}{'p90':>7}{'bias':>7}"
    detectors: list[tuple[str, Detector]] = [("silero", Silero(cache=cache)), ("webrtc", WebRtc())]
    for name, detector in detectors:
        heard = detector.detect([samples for samples, _ in data])
        moved = [refine(raw, samples, 16_000) for raw, (samples, _) in zip(heard, data, strict=True)]
        for edges, found in (("raw", heard), ("refined", moved)):
            figures = ""
            for errors_of in (onset_errors, offset_errors):
                errors = [1000 * e for one, (_, label) in zip(found, data, strict=True) for e in errors_of(one, label)]
                median, p90 = np.percentile(np.abs(errors), (50, 90))
                figures += f"{median:>7.0f}{p90:>7.0f}{np.median(errors):>+7.0f}  "
            yield f"{name:<10}{edges:<10}{figures}"


def on_both_cores(engine: Any) -> Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]:
    """Return what runs tasks on ``engine``, and ends with the first error."""

    def run(function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Any]:
        for outcome in each(engine, function, tasks):
            if outcome.error:
                raise RunError(outcome.error)
            yield outcome.result

    return run


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--out", type=Path)
    asked.add_argument("--clips", type=Path)
    asked.add_argument("--labels", type=Path, default=FOLDER)
    asked.add_argument("--quick", action="store_true")
    asked.add_argument("--recogniser", action="append", default=[])
    given = asked.parse_args()
    cache = weights.default_cache(os.environ)
    try:
        with tempfile.TemporaryDirectory() as scratch, open_engine("processes:2") as engine:
            result = selftest(
                given.out or Path(scratch),
                cache=cache,
                recognisers=given.recogniser,
                clips=given.clips,
                quick=given.quick,
                run_tasks=on_both_cores(engine),
            )
            print(result.to_markdown())
        if given.labels.is_dir():
            print("\n".join(labelled(given.labels, cache)))
    except FullDuplexError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
