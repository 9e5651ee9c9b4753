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
from fullduplex.data.files import number, read_json, write_json
from fullduplex.errors import InputError
from fullduplex.listening import acoustics
from fullduplex.listening.quality import aecmos, dnsmos, networks, quality
from fullduplex.listening.quality import spec as quality_spec
from fullduplex.listening.quality.echo import echo_level
from fullduplex.model.spec import digest
from fullduplex.model.trials import Trial
from fullduplex.providers import weights

FILE = "acoustics.json"
#: Raised when the same sound would give other numbers.
VERSION = 2
#: The rate at which voices are measured, in Hz.
RATE = 16_000
#: The quality that is measured of a whole item and not of a stretch.
ECHO = "echo"

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
                 content(path), _qualities(qualities, cache) if one.measure == "voice" else None]
            )  # fmt: skip
            made, new = kept(mark, partial(_measured, path, one, stretch, tuple(qualities), detector_of, cache))
            stretches[name] = {"side": stretch.side, "start": stretch.start, "end": stretch.end, **made}
            did += [f"sound of {one.name}, {name}"] if new else []
        found[one.name] = stretches
    if ECHO in qualities and {"user", "system"} <= set(files):
        played, taken = folder / files["system"], folder / files["user"]
        mark = digest([VERSION, ECHO, networks.revision(aecmos.MODEL), content(played), content(taken)])
        made, new = kept(mark, partial(_echo, played, taken, cache))
        found[ECHO] = {"whole": {"side": "user", "start": 0.0, "end": None, **made}}
        did += ["echo"] if new else []
    value = {"schema": 1, "parts": found}
    if found and _there(folder / FILE) != value:
        write_json(folder / FILE, value)
    return did


def read_acoustics(folder: Path) -> dict[str, float]:
    """Return what was measured of the item in ``folder`` as ``PARTS/STRETCH/FEATURE``; nothing where nothing was.

    Raises :class:`InputError` where the file is not as a run writes it.
    """
    path = folder / FILE
    if not path.is_file():
        return {}
    told: dict[str, float] = {}
    try:
        for name, stretches in read_json(path)["parts"].items():
            for stretch, value in stretches.items():
                for feature, measured in value["features"].items():
                    told[f"{name}/{stretch}/{feature}"] = number(measured, path, feature, "a number")
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(path, found="another shape", expected="what a run measured of its sound") from error
    return told


def forget_acoustics(folder: Path) -> None:
    """Remove what was measured of the item in ``folder`` where it cannot be read, for it to be measured again."""
    try:
        read_acoustics(folder)
    except InputError:
        (folder / FILE).unlink(missing_ok=True)


def check_qualities(names: Sequence[str], cache: Path) -> None:
    """Raise :class:`PluginError` where weights or libraries are lacking for what ``names`` measure."""
    quality_spec([name for name in names if name != ECHO], cache)
    for name, model in (("dnsmos", dnsmos.MODEL), (ECHO, aecmos.MODEL)):
        if name in names:
            weights.path(model, cache)


def _measured(
    path: Path,
    one: Parts,
    stretch: Stretch,
    qualities: Sequence[str],
    detector_of: Callable[[Any], Any],
    cache: Path,
) -> dict[str, Any]:
    samples = _cut(path, stretch, RATE)
    if not len(samples):
        return {"speech": 0.0, "features": {}, "absent": {}}
    detector = detector_of(one.detector)
    # Its segments are in seconds, whatever rate it hears at.
    (segments,) = detector.detect([samples if detector.rate == RATE else _cut(path, stretch, detector.rate)])
    speech = acoustics.speech_of(samples, RATE, segments)
    if not len(speech) and one.whole_if_silent:
        speech = samples
    seconds = sum(end - start for start, end in segments)
    if one.measure == "released":
        return {"speech": seconds, "features": acoustics.as_released(speech, RATE), "absent": {}}
    features, absent = acoustics.voice(speech, RATE), dict[str, str]()
    voice_qualities = [name for name in qualities if name != ECHO]
    if voice_qualities:
        found = quality(speech, RATE, voice_qualities, cache)
        features, absent = features | found.values, found.absent
    return {"speech": seconds, "features": features, "absent": absent}


def _qualities(names: Sequence[str], cache: Path) -> Any:
    return quality_spec([name for name in names if name != ECHO], cache).to_json()


def _echo(played: Path, taken: Path, cache: Path) -> dict[str, Any]:
    """Return how much of what the system played is in the user's channel, which went to it as it was."""
    loopback, microphone = (audio.resample(*audio.read(path), RATE) for path in (played, taken))
    level = echo_level(loopback, microphone, RATE).under("level")
    scores = aecmos.aecmos(loopback, microphone, microphone, RATE, cache).under("aecmos")
    return {"features": level.values | scores.values, "absent": level.absent | scores.absent}


def _cut(path: Path, stretch: Stretch, rate: int) -> NDArray[np.float32]:
    """Return a stretch of a recording at ``rate``."""
    samples = audio.resample(*audio.read(path), rate)
    first = round(stretch.start * rate)
    last = len(samples) if stretch.end is None else round(stretch.end * rate)
    return samples[max(0, first) : max(0, last)]


def _there(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        value = read_json(path)
    except InputError:
        return {}
    return value if isinstance(value, dict) and isinstance(value.get("parts"), dict) else {}
