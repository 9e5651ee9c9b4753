"""A stretch of a recording as a file of its own, for whoever hears no more than that."""

from __future__ import annotations

from pathlib import Path

from fullduplex.benchmarks.declare import Stretch
from fullduplex.data import audio
from fullduplex.model.spec import digest
from fullduplex.providers.weights import sha256


def cut_clip(path: Path, stretch: Stretch, folder: Path) -> Path:
    """Return the file in ``folder`` with that stretch of ``path``; made where it is not there.

    It is named by what it holds, so that one name is never two sounds. Raises :class:`InputError` where ``path`` is no
    audio.
    """
    made = folder / f"{digest([sha256(path), stretch.start, stretch.end])}.wav"
    if not made.is_file():
        samples, rate = audio.read_all(path)
        first = max(0, round(stretch.start * rate))
        last = len(samples) if stretch.end is None else round(stretch.end * rate)
        folder.mkdir(parents=True, exist_ok=True)
        audio.write(made, samples[first:last], rate)
    return made
