"""The table of seek points of a FLAC file, which libsndfile does not write.

Without it Chromium searches, does not find the last frames of any file, and the sound is dead until the page is
loaded anew ("demuxer seek failed"). With it the last frame alone is not found: so a file needs one frame more than
its sound.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from fullduplex.data.files import replacing

#: The samples of a frame as libsndfile writes them.
FRAME = 4096
_SEEKTABLE = 3


def padded_length(length: int) -> int:
    """Return the samples that a file needs so that the first ``length``, and their end, lie before its last frame."""
    return (length // FRAME + 1) * FRAME + 1


def add_seek_points(path: Path) -> None:
    """Give the FLAC file at ``path``, of frames of one size, a seek point for each; every sample stays."""
    data = path.read_bytes()
    blocks, first = _blocks(data)
    stream = blocks[0][1]
    size, total = int.from_bytes(stream[2:4], "big"), int.from_bytes(stream[13:18], "big") & ((1 << 36) - 1)
    places = _frames(data, first)
    table = b"".join(
        struct.pack(">QQH", n * size, place - first, min(size, total - n * size)) for n, place in enumerate(places)
    )
    blocks = [blocks[0], (_SEEKTABLE, table), *(block for block in blocks[1:] if block[0] != _SEEKTABLE)]
    head = b"".join(
        bytes([kind | (0x80 if n == len(blocks) else 0)]) + len(body).to_bytes(3, "big") + body
        for n, (kind, body) in enumerate(blocks, 1)
    )
    with replacing(path) as part:
        part.write_bytes(b"fLaC" + head + data[first:])


def _blocks(data: bytes) -> tuple[list[tuple[int, bytes]], int]:
    """Return the kind and the body of each block of metadata, and where the first frame begins."""
    at, last, found = 4, False, []
    while not last:
        last, kind = bool(data[at] & 0x80), data[at] & 0x7F
        length = int.from_bytes(data[at + 1 : at + 4], "big")
        found.append((kind, data[at + 4 : at + 4 + length]))
        at += 4 + length
    return found, at


def _frames(data: bytes, first: int) -> list[int]:
    """Return where each frame begins: two bytes of sync, then the number that is due, in a header that is whole."""
    sound = np.frombuffer(data, np.uint8)
    sync = np.flatnonzero((sound[first:-1] == 0xFF) & (sound[first + 1 :] == 0xF8)) + first
    found: list[int] = []
    for at in map(int, sync):
        number, length = _coded(data, at + 4)
        if number != len(found):
            continue
        size, rate = data[at + 2] >> 4, data[at + 2] & 0x0F
        end = at + 4 + length + {6: 1, 7: 2}.get(size, 0) + {12: 1, 13: 2, 14: 2}.get(rate, 0)
        if end < len(data) and _crc8(data[at:end]) == data[end]:
            found.append(at)
    return found


def _coded(data: bytes, at: int) -> tuple[int, int]:
    """Return the number coded at ``at`` as UTF-8 codes one, and its bytes; -1 where there is none."""
    head = data[at] if at < len(data) else 0xFF
    ones = 8 - (~head & 0xFF).bit_length()
    if ones == 0:
        return head, 1
    if ones in (1, 8):
        return -1, 1
    number = head & ((1 << (7 - ones)) - 1)
    for more in data[at + 1 : at + ones]:
        number = number << 6 | more & 0x3F
    return number, ones


def _crc8(data: bytes) -> int:
    """Return the check of a frame's header: the polynomial x^8 + x^2 + x + 1."""
    check = 0
    for byte in data:
        check ^= byte
        for _ in range(8):
            check = (check << 1 ^ 0x07 if check & 0x80 else check << 1) & 0xFF
    return check
