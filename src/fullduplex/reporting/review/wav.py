"""A stereo file as the WAV file of the same samples, any stretch of it, without writing one.

A browser cannot be trusted to seek in FLAC: Chromium does not find the last frames of a file without seek points, and
the sound is gone until the page is loaded anew. In a WAV file every sample has its place.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fullduplex.errors import InputError

_HEAD = 44
_WIDTH = 2
_BLOCK = 1 << 15


@dataclass(frozen=True, slots=True)
class Wav:
    """The WAV file, 16 bit, that has the samples of the sound file at ``path``."""

    path: Path
    rate: int
    channels: int
    frames: int

    @classmethod
    def of(cls, path: Path) -> Wav:
        """Return the WAV file of a sound file; raises :class:`InputError` where that cannot be opened."""
        import soundfile

        try:
            found = soundfile.info(str(path))
        except (OSError, soundfile.SoundFileError) as error:
            raise InputError(path, found=str(error), expected="a sound file") from error
        return cls(path, int(found.samplerate), int(found.channels), int(found.frames))

    @property
    def size(self) -> int:
        """Return how many bytes it has."""
        return _HEAD + self.frames * self._frame

    @property
    def _frame(self) -> int:
        return self.channels * _WIDTH

    def stretch(self, start: int, end: int) -> Iterator[bytes]:
        """Yield the bytes from ``start`` until before ``end``, in pieces."""
        import soundfile

        if start < _HEAD:
            yield self._head()[start : min(end, _HEAD)]
        first, skip = divmod(max(start - _HEAD, 0), self._frame)
        left = end - max(start, _HEAD)
        if left <= 0:
            return
        with soundfile.SoundFile(str(self.path)) as file:
            file.seek(first)
            while left > 0:
                block = file.read(_BLOCK, dtype="int16", always_2d=True).astype("<i2").tobytes()[skip : skip + left]
                if not block:
                    return
                skip = 0
                left -= len(block)
                yield block

    def _head(self) -> bytes:
        data = self.frames * self._frame
        second = self.rate * self._frame
        form = struct.pack("<HHIIHH", 1, self.channels, self.rate, second, self._frame, 8 * _WIDTH)
        return (
            b"RIFF"
            + struct.pack("<I", _HEAD - 8 + data)
            + b"WAVEfmt "
            + struct.pack("<I", 16)
            + form
            + (b"data" + struct.pack("<I", data))
        )
