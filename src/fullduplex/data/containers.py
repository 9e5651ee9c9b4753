"""Does a file hold the audio that its header promises?

libsndfile reads a cut file to its end and says nothing. A cut recording then
looks like a system that fell silent, so the promise is checked here first.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import BinaryIO

from fullduplex.errors import InputError

#: Sizes that writers without a seekable file leave behind: ffmpeg, SoX, or nothing at all.
_UNSET_FROM = 0x7FFF_F000


def check_whole(path: Path) -> int | None:
    """Raise :class:`InputError` where ``path`` is shorter than its own header says.

    Checked: WAV (RIFF, RIFX, RF64, BW64), AIFF, AU, SPHERE and Ogg. FLAC and MP3 tell only when
    decoded. A WAV header whose RIFF size and data size were both left unset (0, or at least
    0x7FFFF000, as pipes write them) promises nothing and is read to the end of the file. Where that data size
    is 0, which libsndfile takes at its word, return where the size stands (byte); else None.
    """
    try:
        if path.exists() and not path.is_file():  # a pipe would wait for ever
            raise InputError(path, found="no regular file", expected="an audio file")
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            head = file.read(4)
            if size == 0:
                raise InputError(path, found="an empty file", expected="audio")
            if head in (b"RIFF", b"RIFX", b"RF64", b"BW64"):
                return _check_wav(path, file, size, ">" if head == b"RIFX" else "<")
            elif head == b"FORM":
                _check_aiff(path, file, size)
            elif head == b".snd":
                _check_au(path, file, size)
            elif head == b"NIST":
                _check_sphere(path, file, size)
            elif head == b"OggS":
                _check_ogg(path, file, size)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InputError(path, found=reason, expected="an audio file that can be read") from error
    return None


def _truncated(path: Path, field: str, held: int, promised: int) -> InputError:
    return InputError(
        path,
        field,
        found=f"truncated audio: {held:,} bytes of {promised:,}",
        expected="all the audio that the header promises",
    )


def _check_wav(path: Path, file: BinaryIO, size: int, order: str) -> int | None:
    whole: int = struct.unpack(order + "I", _exactly(path, file, 4))[0]
    _exactly(path, file, 4)
    long_data: int | None = None
    at = 12
    while at + 8 <= size:
        file.seek(at)
        name, length = struct.unpack(order + "4sI", file.read(8))
        if name == b"ds64" and length >= 24:
            _, long_data = struct.unpack("<QQ", _exactly(path, file, 16))
        if name == b"data":
            if length == 0xFFFF_FFFF and long_data is not None:
                length = long_data
            elif _unset(length) and _unset(whole):
                return at + 4 if length == 0 and size > at + 8 else None
            held = size - at - 8
            if held < length:
                raise _truncated(path, "data chunk", held, length)
            if length == 0 and held > 1:
                raise InputError(
                    path,
                    "data chunk",
                    found="a header that says 0 bytes before a file that goes on",
                    expected="a finished WAV header",
                    do="the program that wrote it was stopped; write the file again",
                )
            return None
        at += 8 + length + (length & 1)
    raise InputError(path, found="truncated audio: a WAV file without a data chunk", expected="a whole WAV file")


def _unset(size: int) -> bool:
    return size == 0 or size >= _UNSET_FROM


def _check_aiff(path: Path, file: BinaryIO, size: int) -> None:
    at = 12
    while at + 8 <= size:
        file.seek(at)
        name, length = struct.unpack(">4sI", file.read(8))
        if name == b"SSND" and size - at - 8 < length:
            raise _truncated(path, "SSND chunk", size - at - 8, length)
        at += 8 + length + (length & 1)


def _check_au(path: Path, file: BinaryIO, size: int) -> None:
    begin, length = struct.unpack(">II", _exactly(path, file, 8))
    if length != 0xFFFF_FFFF and size - begin < length:
        raise _truncated(path, "header", max(0, size - begin), length)


def _check_sphere(path: Path, file: BinaryIO, size: int) -> None:
    file.seek(0)
    lines = file.read(4096).decode("latin-1").split("\n")
    fields = {parts[0]: parts[2] for parts in (line.split() for line in lines) if len(parts) == 3}
    try:
        begin = int(lines[1])
        length = int(fields["sample_count"]) * int(fields["sample_n_bytes"]) * int(fields.get("channel_count", "1"))
    except (KeyError, ValueError, IndexError):
        return
    if fields.get("sample_coding", "pcm") in ("pcm", "ulaw", "alaw", "mu-law") and size - begin < length:
        raise _truncated(path, "header", max(0, size - begin), length)


def _check_ogg(path: Path, file: BinaryIO, size: int) -> None:
    """Walk the pages: the last one is whole, and it is the one that ends the stream."""
    at, ends = 0, False
    while at < size:
        file.seek(at)
        header = file.read(27)
        if len(header) < 27 or header[:4] != b"OggS":
            break
        lengths = file.read(header[26])
        after = at + 27 + header[26] + sum(lengths)
        if len(lengths) < header[26] or after > size:
            raise _truncated(path, "last Ogg page", size - at, after - at)
        ends, at = bool(header[5] & 4), after
    if not ends:
        raise InputError(path, found="truncated audio: an Ogg stream that is never closed", expected="a whole Ogg file")


def _exactly(path: Path, file: BinaryIO, count: int) -> bytes:
    data = file.read(count)
    if len(data) < count:
        raise InputError(path, found="truncated audio: a header that breaks off", expected="a whole audio file")
    return data
