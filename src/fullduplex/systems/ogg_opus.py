"""Opus in Ogg as it is streamed: bytes in any pieces become pages, packets, samples.

Servers differ in all that RFC 7845 leaves open and in some that it does not: pre-skip 312 or 3840, granules
that count 48 or 24 thousand a second, packets of 20 to 60 ms, several to a page, the header by itself or in front of
the first audio. None of it changes what a packet holds. So every decoded sample is kept, in order, and neither
pre-skip nor granules are acted on: a player of files would drop 80 ms that a server with a pre-skip of 3840 means
to be heard. What remains is the codec's own delay, :data:`LOOKAHEAD`: a listener hears it, so it stays in
the sound, and is told, so that whoever compares systems can subtract it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from fullduplex.driving.playout import Samples
from fullduplex.errors import ConversationError

#: How much later than its source Opus sounds, in microseconds: libopus' lookahead of 312 samples at 48 kHz.
LOOKAHEAD = 6_500
RATE = 48_000

_CAPTURE, _FIXED, _CONTINUED = b"OggS", 27, 1
#: A page holds 255 segments of 255 bytes at most.
_LARGEST = _FIXED + 255 + 255 * 255


@dataclass(frozen=True, slots=True)
class Page:
    """An Ogg page: ``packets`` in it, of which the first continues one begun before and the last goes on, where so."""

    packets: tuple[bytes, ...]
    granule: int
    continued: bool
    goes_on: bool


class Pages:
    """A stream of bytes as Ogg pages; a page may come in any number of pieces."""

    def __init__(self) -> None:
        self._rest = b""

    def take(self, data: bytes) -> Iterator[Page]:
        """Yield the pages that ``data`` completes; raises :class:`ConversationError` where it is no Ogg."""
        self._rest += data
        while len(self._rest) >= _FIXED:
            if not self._rest.startswith(_CAPTURE) or self._rest[4]:
                raise ConversationError("sent bytes that are no Ogg page")
            lacing = self._rest[_FIXED : _FIXED + self._rest[26]]
            size = _FIXED + self._rest[26] + sum(lacing)
            if len(lacing) < self._rest[26] or len(self._rest) < size:
                return
            page, self._rest = self._rest[:size], self._rest[size:]
            if checksum(page[:22] + bytes(4) + page[26:]) != int.from_bytes(page[22:26], "little"):
                raise ConversationError("sent an Ogg page that is damaged")
            granule = int.from_bytes(page[6:14], "little", signed=True)
            yield _page(page[_FIXED + len(lacing) :], lacing, granule, bool(page[5] & _CONTINUED))


def _page(body: bytes, lacing: bytes, granule: int, continued: bool) -> Page:
    packets, at, size = [], 0, 0
    for segment in lacing:
        size += segment
        if segment < 255:
            packets.append(body[at : at + size])
            at, size = at + size, 0
    if size or (lacing and lacing[-1] == 255):
        packets.append(body[at:])
    return Page(tuple(packets), granule, continued, bool(lacing) and lacing[-1] == 255)


def checksum(data: bytes) -> int:
    """Return the CRC of an Ogg page whose own field is zero."""
    table, crc = _table(), 0
    for byte in data:
        crc = (crc << 8 & 0xFFFFFFFF) ^ table[crc >> 24 ^ byte]
    return crc


@cache
def _table() -> tuple[int, ...]:
    def entry(byte: int) -> int:
        value = byte << 24
        for _ in range(8):
            value = (value << 1 ^ 0x04C11DB7) if value & 0x80000000 else value << 1
        return value & 0xFFFFFFFF

    return tuple(map(entry, range(256)))


class OggOpus:
    """Bytes of one Ogg-Opus stream in, samples of one channel at 48 kHz out.

    ``pre_skip`` is what the header states (samples at 48 kHz), None before it came; it is told and not acted on.
    """

    rate = RATE
    delay = LOOKAHEAD

    def __init__(self) -> None:
        self.pre_skip: int | None = None
        self._pages, self._half = Pages(), b""
        self._decoder = _decoder()

    def take(self, data: bytes) -> Samples:
        """Return the samples that ``data`` completes; raises :class:`ConversationError` where it is no Ogg-Opus."""
        parts = [self._decoded(packet) for page in self._pages.take(data) for packet in self._packets(page)]
        return np.concatenate(parts) if parts else np.zeros(0, np.float32)

    def _packets(self, page: Page) -> Iterator[bytes]:
        for n, packet in enumerate(page.packets):
            whole = (self._half if n == 0 and page.continued else b"") + packet
            if n == len(page.packets) - 1 and page.goes_on:
                self._half = whole
                return
            if n == 0:
                self._half = b""
            yield whole

    def _decoded(self, packet: bytes) -> Samples:
        nothing = np.zeros(0, np.float32)
        if packet.startswith(b"OpusHead"):
            if len(packet) < 19 or packet[9] != 1:
                raise ConversationError("sent Opus of more than one channel, or a header that is too short")
            self.pre_skip = int.from_bytes(packet[10:12], "little")
            return nothing
        if packet.startswith(b"OpusTags") or not packet:
            return nothing
        if self.pre_skip is None:
            raise ConversationError("sent Opus without its header")
        return self._sounds(packet)

    def _sounds(self, packet: bytes) -> Samples:
        import av

        try:
            frames = self._decoder.decode(av.Packet(packet))
        except av.FFmpegError as error:
            raise ConversationError("sent a packet that is no Opus") from error
        if not frames:
            return np.zeros(0, np.float32)
        samples: Samples = np.concatenate([frame.to_ndarray().reshape(-1) for frame in frames])
        return samples.astype(np.float32) / np.float32(32_768)


def _decoder() -> Any:
    import av

    decoder: Any = av.CodecContext.create("libopus", "r")
    decoder.layout, decoder.sample_rate, decoder.format = "mono", RATE, "s16"
    return decoder
