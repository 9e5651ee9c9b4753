"""What is measured in stretches of an item's sound, kept in acoustics.json: scoring again reads no audio."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.benchmarks.declare import Parts, Stretch
from fullduplex.data import audio
from fullduplex.data.files import read_json, write_json
from fullduplex.errors import InputError
from fullduplex.model.spec import digest
from fullduplex.model.trials import Trial

FILE = "acoustics.json"
#: Raised when the same sound would give other numbers.
VERSION = 1
#: The rate at which voices are measured, in Hz.
RATE = 16_000

Kept = Callable[[str, Callable[[], dict[str, Any]]], tuple[dict[str, Any], bool]]


def measure_sound(
    folder: Path,
    files: Mapping[str, str],
    trial: Trial,
    parts: Sequence[Parts],
    qualities: Sequence[str],
    *,
    detector_of: Callable[[Any], Any],
    content: Callable[[Path], str],
    kept: Kept,
    cache: Path,
) -> list[str]:
    """Measure every stretch that ``parts`` name in the item in ``folder``, and keep it; return what was made anew.

    ``files`` maps a side to its recording. ``qualities`` are measured beside a voice's own features
    (:mod:`fullduplex.listening.quality`). ``kept`` returns what the cache has under a digest, or has it made.
    """
    found: dict[str, Any] = {}
    did = []
    for one in parts:
        stretches: dict[str, Any] = {}
        for name, stretch in one.cut(trial).items():
            if stretch.side not in files:
                continue
            path = folder / files[stretch.side]
            mark = digest(
                [VERSION, one.to_json(), detector_of(one.detector).spec.to_json(), [stretch.start, stretch.end],
                 content(path), list(qualities) if one.measure == "voice" else []]
            )  # fmt: skip
            made, new = kept(mark, partial(_measured, path, one, stretch, tuple(qualities), detector_of, cache))
            stretches[name] = {"side": stretch.side, "start": stretch.start, "end": stretch.end, **made}
            did += [f"sound of {one.name}, {name}"] if new else []
        found[one.name] = stretches
    value = {"schema": 1, "parts": found}
    if found and _there(folder / FILE) != value:
        write_json(folder / FILE, value)
    return did


def read_acoustics(folder: Path) -> dict[str, float]:
    """Return what was measured of the item in ``folder`` as ``PARTS/STRETCH/FEATURE``; nothing where nothing was."""
    told: dict[str, float] = {}
    for name, stretches in _there(folder / FILE).get("parts", {}).items():
        for stretch, value in stretches.items():
            for feature, number in value.get("features", {}).items():
                told[f"{name}/{stretch}/{feature}"] = float(number)
    return told


def _measured(
    path: Path,
    one: Parts,
    stretch: Stretch,
    qualities: Sequence[str],
    detector_of: Callable[[Any], Any],
    cache: Path,
) -> dict[str, Any]:
    from fullduplex.listening import acoustics

    samples = _cut(path, stretch)
    (segments,) = detector_of(one.detector).detect([samples])
    speech = acoustics.speech_of(samples, RATE, segments)
    if not len(speech) and one.whole_if_silent:
        speech = samples
    seconds = sum(end - start for start, end in segments)
    if one.measure == "released":
        return {"speech": seconds, "features": acoustics.as_released(speech, RATE), "absent": {}}
    features, absent = acoustics.voice(speech, RATE), dict[str, str]()
    if qualities:
        from fullduplex.listening.quality import quality

        more, absent = quality(speech, RATE, qualities, cache)
        features |= more
    return {"speech": seconds, "features": features, "absent": absent}


def _cut(path: Path, stretch: Stretch) -> NDArray[np.float32]:
    samples, rate = audio.read(path)
    at_rate = audio.resample(samples, rate, RATE)
    first = round(stretch.start * RATE)
    last = len(at_rate) if stretch.end is None else round(stretch.end * RATE)
    return at_rate[max(0, first) : max(0, last)]


def _there(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        value = read_json(path)
    except InputError:
        return {}
    return value if isinstance(value, dict) and isinstance(value.get("parts"), dict) else {}
