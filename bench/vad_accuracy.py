"""How right the detectors are on hand-labelled speech: ``python bench/vad_accuracy.py [FOLDER]``.

FOLDER holds clips as ``NAME.flac`` (or .wav) with labels ``NAME.scv``: the name, then
start, end and 0 or 1 for each stretch, between commas. Frames are 10 ms; those farther than
100 ms from every label are also counted alone, since labellers differ by about that.
The error of a label's onset is the signed distance to the nearest onset that was heard.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from fullduplex.data import audio
from fullduplex.errors import FullDuplexError
from fullduplex.listening.detectors import Detector, Samples, Segments
from fullduplex.listening.detectors.energy import Energy
from fullduplex.listening.detectors.silero import Silero
from fullduplex.listening.detectors.webrtc import WebRtc
from fullduplex.providers import weights

FOLDER = Path(__file__).parents[2] / "shared" / "data" / "ten_vad_testset"


@dataclass(frozen=True, slots=True)
class Score:
    """Shares of frames that are right, and signed errors in seconds (late is positive)."""

    right: float
    right_far_from_labels: float
    onsets: tuple[float, ...]
    offsets: tuple[float, ...]

    @property
    def median_onset_error(self) -> float:
        return median(map(abs, self.onsets))


def clips(folder: Path) -> list[tuple[Samples, Segments]]:
    """Return each clip at 16 kHz with the stretches that people labelled as speech."""
    found = []
    for path in sorted(p for p in folder.iterdir() if p.suffix in (".flac", ".wav")):
        samples, rate = audio.read(path)
        cells = path.with_suffix(".scv").read_text(encoding="utf-8").strip().split(",")[1:]
        rows = zip(cells[::3], cells[1::3], cells[2::3], strict=False)
        labels = tuple((float(start), float(end)) for start, end, kind in rows if kind == "1")
        found.append((audio.resample(samples, rate, 16_000), labels))
    return found


def score(detector: Detector, clips: Sequence[tuple[Samples, Segments]]) -> Score:
    heard = detector.detect([samples for samples, _ in clips])
    right, far = [], []
    onsets: list[float] = []
    offsets: list[float] = []
    for (samples, labels), segments in zip(clips, heard, strict=True):
        middles = np.arange(0.005, len(samples) / 16_000, 0.01)
        edges = np.array([edge for label in labels for edge in label])
        right.append(_covered(segments, middles) == _covered(labels, middles))
        far.append(np.abs(middles[:, None] - edges).min(axis=1) > 0.1)
        onsets += onset_errors(segments, labels)
        offsets += offset_errors(segments, labels)
    all_right, all_far = np.concatenate(right), np.concatenate(far)
    return Score(float(all_right.mean()), float(all_right[all_far].mean()), tuple(onsets), tuple(offsets))


def onset_errors(heard: Segments, labels: Segments) -> list[float]:
    return [min((start - label for start, _ in heard), key=abs) for label, _ in labels if heard]


def offset_errors(heard: Segments, labels: Segments) -> list[float]:
    return [min((end - label for _, end in heard), key=abs) for _, label in labels if heard]


def _covered(
    segments: Segments, times: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    covered = np.zeros(len(times), np.bool_)
    for start, end in segments:
        covered |= (times >= start) & (times < end)
    return covered


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    cache = weights.default_cache(os.environ)
    try:
        data = clips(folder)
        detectors: list[tuple[str, Detector]] = [
            ("silero", Silero(cache=cache)),
            ("silero, min_silence_ms=100", Silero(min_silence_ms=100, cache=cache)),
            ("silero as released", Silero(min_silence_ms=100, pad_ms=30, round_to=1, cache=cache)),
            ("webrtc", WebRtc()),
            ("webrtc, mode=2", WebRtc(2)),
            ("energy", Energy()),
        ]
    except (FullDuplexError, OSError) as error:
        sys.exit(str(error))
    print(f"{len(data)} clips, {sum(len(s) for s, _ in data) / 16_000:.0f} s, {sum(len(s) for _, s in data)} labels")
    print(f"{'detector':<28}{'frames':>8}{'far':>8}{'|onset|':>9}{'onset':>8}{'p90':>7}{'|offset|':>10}{'offset':>8}")
    for name, detector in detectors:
        s = score(detector, data)
        print(
            f"{name:<28}{s.right:>8.1%}{s.right_far_from_labels:>8.1%}"
            f"{1000 * s.median_onset_error:>6.0f} ms{1000 * median(s.onsets):>5.0f} ms"
            f"{1000 * float(np.percentile(np.abs(s.onsets), 90)):>7.0f}"
            f"{1000 * median(map(abs, s.offsets)):>7.0f} ms{1000 * median(s.offsets):>5.0f} ms"
        )


if __name__ == "__main__":
    main()
