"""A clip as a request carries it: WAV and MP3 as they are, anything else as WAV."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Literal

from fullduplex.data import audio
from fullduplex.errors import FullDuplexError
from fullduplex.judging.question import Refused

#: What the clips of one request may hold, in bytes, before they are written as text: vendors take about 20 MB.
LARGEST = 14 << 20


def clips(paths: tuple[Path, ...]) -> list[tuple[bytes, Literal["wav", "mp3"]]]:
    """Return each file's bytes and what they are.

    Raises :class:`Refused` where one is not audio, or they are too large together.
    """
    found = [_clip(path) for path in paths]
    size = sum(len(content) for content, _ in found)
    if size > LARGEST:
        raise Refused(f"the clips hold {size / 1e6:.0f} MB, and a request takes {LARGEST / 1e6:.0f} MB at most")
    return found


def _clip(path: Path) -> tuple[bytes, Literal["wav", "mp3"]]:
    try:
        about = audio.probe(path)
        if about.format == "WAV":
            return path.read_bytes(), "wav"
        if path.suffix.lower() == ".mp3":
            return path.read_bytes(), "mp3"
        samples, rate = audio.read_all(path)
    except (FullDuplexError, OSError) as error:
        raise Refused(f"a clip cannot be read: {error}") from error
    import soundfile

    made = io.BytesIO()
    soundfile.write(made, samples, rate, format="WAV", subtype="PCM_16")
    return made.getvalue(), "wav"
