"""What DNSMOS makes of short speech: ``python bench/quality_lengths.py RECORDING [RECORDING ...]``.

From the speech of each recording (joined where a detector hears it) pieces are cut at
drawn places, and their scores compared with those of the whole. A piece is repeated to fill the
network's nine seconds, and the joints count as noise: how much, this prints for each length.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

from fullduplex.data import audio
from fullduplex.errors import FullDuplexError
from fullduplex.listening.detectors.silero import Silero
from fullduplex.listening.quality.dnsmos import NAMES, RATE, dnsmos
from fullduplex.providers import weights

LENGTHS = (0.25, 0.5, 1.0, 2.0, 3.0)
PIECES = 4


def speech(path: Path, detector: Silero) -> audio.Samples:
    samples, rate = audio.read(path)
    samples = audio.resample(samples, rate, RATE)
    segments = detector.detect([samples])[0]
    return np.concatenate([samples[:0], *(samples[round(a * RATE) : round(b * RATE)] for a, b in segments)])


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit("which recordings? python bench/quality_lengths.py RECORDING [RECORDING ...]")
    cache = weights.default_cache(os.environ)
    random = np.random.default_rng(0)
    differences: dict[float, list[list[float]]] = {length: [] for length in LENGTHS}
    try:
        detector = Silero(cache=cache)
        for name in sys.argv[1:]:
            voice = speech(Path(name), detector)
            if len(voice) <= LENGTHS[-1] * RATE:
                print(f"{name}: {len(voice) / RATE:.1f} s of speech, too short to cut from", file=sys.stderr)
                continue
            whole = dnsmos(voice, RATE, cache, at_least=0).values
            for length in LENGTHS:
                for first in random.integers(0, len(voice) - round(length * RATE), PIECES).tolist():
                    piece = dnsmos(voice[first : first + round(length * RATE)], RATE, cache, at_least=0).values
                    differences[length].append([piece[key] - whole[key] for key in NAMES])
    except FullDuplexError as error:
        sys.exit(str(error))
    print(f"{'piece':<8}{'n':>4}" + "".join(f"{name:>16}" for name in NAMES))
    for length, found in differences.items():
        if found:
            table = np.asarray(found)
            cells = "".join(f"{mean:>+9.2f} ± {sd:4.2f}" for mean, sd in zip(table.mean(axis=0), table.std(axis=0)))
            print(f"{length:<6} s{len(found):>4}{cells}")


if __name__ == "__main__":
    main()
