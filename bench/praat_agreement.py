"""How near our prosody is to Praat's, and how fast: ``python bench/praat_agreement.py [FOLDER ...] [--seconds 20]``.

Every recording in the folders (and below) is measured, first channel, up to so many seconds,
by ours and by Praat through parselmouth (the extra ``praat``, GPL-3: nothing else needs it). Printed are, for each
number, the recording that agrees least, and how many times faster than real time ours is on one core.

    pitch (50 to 600 Hz)   apart in the mean, share of frames that agree on voicing, share of commonly voiced
                           frames within 1 %
    intensity              apart at most, dB, over the frames above -100 dB
    harmonicity            apart in the mean, dB, over the frames both tell; share of those within 0.5 dB and of
                           frames that agree on being silent

The last line is the memory that half an hour takes, beside its samples.
"""

from __future__ import annotations

import argparse
import importlib
import time
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.data import audio
from fullduplex.errors import FullDuplexError
from fullduplex.listening.acoustics import Contour, harmonicity, intensity, pitch

SHARED = Path(__file__).parents[2] / "shared" / "data"
FOLDERS = (
    "ten_vad_testset",
    "vocal_phenomena",
    "fdb_official",
    "fdb_site_stereo",
    "aws_lca_calls",
    "french",
    "fdb_v3_demo",
    "dgslm_demo",
    "easy_turn_samples",
    "pyannote_sample",
    "echo_leakage",
)
SOUNDS = {".wav", ".flac", ".mp3", ".ogg", ".opus"}
MEASURES: tuple[Callable[..., Contour], ...] = (pitch, intensity, harmonicity)


def agreement(samples: audio.Samples, rate: int, praat: Any) -> dict[str, float]:
    """Return each number for one sound; one that has no frames to speak of is left out."""
    sound = praat.Sound(samples.astype(np.float64), rate)
    found: dict[str, float] = {}

    theirs = sound.to_pitch(0.01, 50.0, 600.0)
    ours = pitch(samples, rate, floor=50.0)
    hertz = theirs.selected_array["frequency"]
    voiced, voiced_here = hertz > 0, ~np.isnan(ours.values)
    found["pitch: frames, apart"] = abs(len(hertz) - len(ours.values))
    found["pitch: share that disagrees on voicing"] = float(np.mean(voiced != voiced_here))
    if (both := voiced & voiced_here).any():
        found["pitch: mean, apart in %"] = float(abs(ours.defined.mean() / hertz[voiced].mean() - 1)) * 100
        found["pitch: share over 1 % apart"] = float(np.mean(np.abs(ours.values[both] / hertz[both] - 1) > 0.01))

    levels = sound.to_intensity(time_step=0.01).values[0]
    if (heard := levels > -100).any():
        found["intensity: most, dB"] = float(np.abs(intensity(samples, rate).values - levels)[heard].max())

    ratios = sound.to_harmonicity_cc().values[0]
    here = harmonicity(samples, rate).values
    told, told_here = ratios > -200, ~np.isnan(here)
    found["harmonicity: share that disagrees on silence"] = float(np.mean(told != told_here))
    if (both := told & told_here).any():
        apart = here[both] - ratios[both]
        found["harmonicity: mean, dB"] = float(abs(apart.mean()))
        found["harmonicity: share over 0.5 dB apart"] = float(np.mean(np.abs(apart) > 0.5))
    return found


def recordings(folders: Iterable[Path]) -> list[Path]:
    return sorted(path for folder in folders for path in folder.rglob("*") if path.suffix.lower() in SOUNDS)


def half_an_hour(rate: int = 8_000) -> float:
    """Return the megabytes that all three need at most, beside the samples, on 30 minutes of noise and tones."""
    random = np.random.default_rng(0)
    clock = np.arange(1800 * rate, dtype=np.float32) / rate
    samples = np.sin(900 * clock).astype(np.float32) * (clock % 2 < 1) * 0.1
    samples += random.standard_normal(len(samples), np.float32) * np.float32(0.003)
    del clock
    tracemalloc.start()
    for measure in MEASURES:
        measure(samples, rate)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=20.0)
    asked = parser.parse_args()
    praat = importlib.import_module("parselmouth")
    worst: dict[str, tuple[float, str]] = {}
    every: dict[str, list[float]] = {}
    spent: dict[tuple[str, int], list[float]] = {}
    count = 0
    for path in recordings(asked.folders or [SHARED / name for name in FOLDERS]):
        try:
            samples, rate = audio.read(path, 0)
        except FullDuplexError:
            continue
        samples = samples[: int(asked.seconds * rate)]
        if len(samples) < 0.2 * rate:
            continue
        count += 1
        for name, value in agreement(samples, rate, praat).items():
            worst[name] = max(worst.get(name, (-1.0, "")), (value, f"{path.parent.name}/{path.name}"))
            every.setdefault(name, []).append(value)
        for measure in MEASURES:
            start = time.process_time()
            measure(samples, rate)
            for key in ((measure.__name__, rate), ("all three", rate)):
                spent.setdefault(key, [0.0, 0.0])[0] += time.process_time() - start
            spent[measure.__name__, rate][1] += len(samples) / rate
        spent["all three", rate][1] += len(samples) / rate
    print(f"{count} recordings")
    for name, (value, where) in worst.items():
        print(f"{name:46} mean {np.mean(every[name]):9.5f}   worst {value:9.5f}   {where}")
    for (name, rate), (seconds, length) in sorted(spent.items()):
        print(f"{name:12} {rate:6} Hz  {length / seconds:7.0f} times real time over {length:.0f} s")
    print(f"half an hour: {half_an_hour():.0f} MB beside the samples")


if __name__ == "__main__":
    main()
