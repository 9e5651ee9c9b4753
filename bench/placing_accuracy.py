"""What turns placed by words are worth: ``python bench/placing_accuracy.py ITEMS [--recogniser NAME] [--seed N]``.

ITEMS is a folder of made interactions, which know their words to the sample. Each item's turns are laid on one track
with silences of 2 to 6 s between them, heard by the recogniser, and placed by what was heard alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.data import audio
from fullduplex.data.interactions import FILE, on_the_clock, read_interaction
from fullduplex.listening.detectors.silero import Silero
from fullduplex.listening.hear import hear_speech
from fullduplex.making.make_item import recogniser_of
from fullduplex.measures.placed import Placed, placed_by_words
from fullduplex.model.spans import Span, Timeline, seconds
from fullduplex.model.spec import Spec
from fullduplex.model.speech import Word
from fullduplex.providers.weights import default_cache

Row = tuple[str, float, float]


def recorded(folder: Path, told: dict[str, Any], rng: np.random.Generator) -> tuple[Any, int, dict[str, Any]]:
    """Return a track that holds the item's turns, its rate, and the truth of when each fell."""
    parts, turns, at, rate = [], [], 0, 0
    for line in told["script"]:
        if "cue" not in line:
            continue
        samples, rate = audio.read(folder / f"{line['cue']}.wav")
        gap = np.zeros(int(rng.uniform(2, 6) * rate), dtype=samples.dtype)
        at += len(gap)
        parts += [gap, samples]
        turns.append({"id": line["cue"], "text": line["text"], "timestamp": [at / rate, (at + len(samples)) / rate]})
        at += len(samples)
    return np.concatenate([*parts, np.zeros(rate, dtype=parts[0].dtype)]), rate, on_the_clock(told, turns)


def errors(truth: dict[str, Any], found: Placed) -> Iterator[Row]:
    """Yield the error of each placed start and end, in seconds; a trigger's end is what its window counts from."""
    for one, other in zip(truth["turns"], found.told["turns"], strict=True):
        if other["timestamp"] is not None:
            yield "turn", other["timestamp"][0] - one["timestamp"][0], other["timestamp"][1] - one["timestamp"][1]
    for kind in ("expects", "pauses"):
        for one, other in zip(truth[kind], found.told[kind], strict=True):
            if other["start"] is not None and one["start"] is not None:
                yield kind, other["start"] - one["start"], other["end"] - one["end"]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("items", type=Path)
    parser.add_argument("--recogniser", default="whisper")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, default=0)
    asked = parser.parse_args()
    recogniser, rng = recogniser_of(Spec(asked.recogniser), None), np.random.default_rng(asked.seed)
    detector = Silero(cache=default_cache({}))
    rows, failures, counts = list[Row](), list[str](), {"turn": 0, "expects": 0, "pauses": 0, "near": 0}
    folders = sorted(path.parent for path in asked.items.rglob(FILE))
    for folder in folders[: asked.limit or None]:
        told = read_interaction(folder / FILE)
        samples, rate, truth = recorded(folder, told, rng)
        heard = recogniser.recognise(samples, rate, "en").tokens
        words = [
            Word(t.text, Span(seconds(t.start), max(seconds(t.start) + 1, seconds(t.end))))
            for t in heard
            if t.start is not None and t.end is not None
        ]
        unplaced = {**truth, "turns": [{**turn, "timestamp": None} for turn in truth["turns"]]}
        spoken = Timeline(
            Span(seconds(start), seconds(end))
            for start, end in hear_speech({"user": (samples, rate)}, detector)["user"]
        )
        found = placed_by_words(unplaced, words, user=spoken)
        rows += errors(truth, found)
        failures += [f"{folder.parent.name}/{folder.name}: {f.what} {f.id}: {f.reason}" for f in found.failures]
        counts["turn"] += len(truth["turns"])
        counts["expects"] += len(truth["expects"])
        counts["pauses"] += len(truth["pauses"])
        counts["near"] += found.by_neighbours
    print(f"{'':<10}{'n':>5}{'placed':>8}{'start':>9}{'p90':>7}{'end':>9}{'p90':>7}   median and 90th percentile, ms")
    for kind in ("turn", "expects", "pauses"):
        its = np.abs([row[1:] for row in rows if row[0] == kind]) * 1000
        if len(its):
            middle, most = np.percentile(its, 50, axis=0), np.percentile(its, 90, axis=0)
            cells = f"{middle[0]:>9.0f}{most[0]:>7.0f}{middle[1]:>9.0f}{most[1]:>7.0f}"
            print(f"{kind:<10}{counts[kind]:>5}{len(its):>8}{cells}")
    print(f"{counts['near']} triggers by their neighbours", *failures, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
