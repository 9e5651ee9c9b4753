"""Sound becomes an Ogg-Opus stream while it comes: pages as soon as their packets are full."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from fullduplex.driving.playout import Samples
from fullduplex.model.spans import SECOND, ms
from fullduplex.systems.ogg_opus import checksum

_FIRST = 2


class OggOpusWriter:
    """Samples of one channel at ``rate`` in, Ogg pages out.

    ``packet`` is the length of a packet (microseconds: 20, 40 or 60 ms), ``packets`` how many a page holds,
    ``pre_skip`` what the header states (samples at 48 kHz), ``granules`` how many a second its granules count,
    ``bits`` the bit rate. Whoever decodes it hears the sound libopus' lookahead later, see
    :data:`fullduplex.systems.ogg_opus.LOOKAHEAD`.
    """

    def __init__(
        self,
        rate: int = 24_000,
        *,
        packet: int = ms(20),
        packets: int = 1,
        pre_skip: int = 312,
        granules: int = 48_000,
        bits: int = 48_000,
    ) -> None:
        self.rate, self._packet, self._packets = rate, packet, packets
        self._pre_skip, self._granules = pre_skip, granules
        self._encoder = _encoder(rate, packet, bits)
        self._size = packet * rate // SECOND
        self._rest = np.zeros(0, np.float32)
        self._held: list[bytes] = []
        self._pages, self._granule, self._taken = 2, 0, 0

    def header(self) -> bytes:
        """Return the two pages that a stream begins with."""
        return ogg_page(0, 0, _FIRST, [opus_head(self._pre_skip, self.rate)]) + ogg_page(1, 0, 0, [opus_tags()])

    def take(self, samples: Samples) -> list[bytes]:
        """Return the pages that ``samples`` complete."""
        self._rest = np.concatenate([self._rest, samples])
        while len(self._rest) >= self._size:
            part, self._rest = self._rest[: self._size], self._rest[self._size :]
            self._held += self._encoded(part)
        pages = []
        while len(self._held) >= self._packets:
            part_of, self._held = self._held[: self._packets], self._held[self._packets :]
            self._granule += self._packets * self._packet * self._granules // SECOND
            pages.append(ogg_page(self._pages, self._granule, 0, part_of))
            self._pages += 1
        return pages

    def _encoded(self, samples: Samples) -> list[bytes]:
        import av

        pcm = np.clip(np.rint(samples * 32_767), -32_768, 32_767).astype(np.int16)
        frame = av.AudioFrame.from_ndarray(pcm[None], "s16", "mono")
        frame.sample_rate, frame.pts = self.rate, self._taken
        self._taken += len(pcm)
        return [bytes(packet) for packet in self._encoder.encode(frame)]


def _encoder(rate: int, packet: int, bits: int) -> Any:
    import av

    encoder = cast(Any, av.CodecContext.create("libopus", "w"))
    encoder.sample_rate, encoder.layout, encoder.format, encoder.bit_rate = rate, "mono", "s16", bits
    encoder.options = {"application": "voip", "frame_duration": str(packet // 1_000)}
    encoder.open()
    return encoder


def opus_head(pre_skip: int, rate: int) -> bytes:
    """Return the packet that says what the stream is."""
    return b"OpusHead" + struct.pack("<BBHIhB", 1, 1, pre_skip, rate, 0, 0)


def opus_tags() -> bytes:
    """Return the packet of comments."""
    return b"OpusTags" + struct.pack("<I10sI", 10, b"fullduplex", 0)


def ogg_page(number: int, granule: int, flags: int, packets: Sequence[bytes]) -> bytes:
    """Return one page with whole packets in it."""
    lacing = b"".join(bytes([255] * (len(packet) // 255) + [len(packet) % 255]) for packet in packets)
    head = struct.pack("<4sBBqIII", b"OggS", 0, flags, granule, 1, number, 0) + bytes([len(lacing)]) + lacing
    page = head + b"".join(packets)
    return page[:22] + struct.pack("<I", checksum(page)) + page[26:]
