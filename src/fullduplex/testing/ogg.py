"""A watermark as an Ogg-Opus stream, in each of the ways in which servers write one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from fullduplex.driving.playout import Samples
from fullduplex.model.spans import SECOND, ms
from fullduplex.systems.ogg_opus_writer import ogg_page, opus_head, opus_tags

_FIRST = 2


@dataclass(frozen=True, slots=True)
class OpusStyle:
    """How a server writes its stream.

    ``packet`` is the length of a packet (microseconds: 20, 40 or 60 ms), ``packets`` how many a page holds,
    ``granules`` how many its granules count a second, ``header_alone`` whether the header comes in a
    message of its own or in front of the first audio, ``split`` whether pages are cut in two messages.
    """

    packet: int = ms(20)
    packets: int = 1
    pre_skip: int = 312
    granules: int = 48_000
    header_alone: bool = True
    split: bool = False

    @property
    def page(self) -> int:
        """Return the length of a page in microseconds."""
        return self.packet * self.packets


def opus_packets(samples: Samples, rate: int, packet: int, *, bits: int = 24_000, use: str = "voip") -> list[bytes]:
    """Return ``samples`` as Opus packets of ``packet`` microseconds; silence fills the last."""
    import av

    encoder = cast(Any, av.CodecContext.create("libopus", "w"))
    encoder.sample_rate, encoder.layout, encoder.format, encoder.bit_rate = rate, "mono", "s16", bits
    encoder.options = {"application": use, "frame_duration": str(packet // 1_000)}
    encoder.open()
    size = packet * rate // SECOND
    pcm = np.clip(np.rint(np.pad(samples, (0, -len(samples) % size)) * 32_767), -32_768, 32_767).astype(np.int16)
    made: list[bytes] = []
    for first in range(0, len(pcm), size):
        frame = av.AudioFrame.from_ndarray(pcm[None, first : first + size], "s16", "mono")
        frame.sample_rate, frame.pts = rate, first
        made += [bytes(part) for part in encoder.encode(frame)]
    # The encoder holds back as many packets as its lookahead fills.
    return (made + [bytes(part) for part in encoder.encode(None)])[: len(pcm) // size]


def ogg_opus(samples: Samples, rate: int, style: OpusStyle) -> list[tuple[int, bytes]]:
    """Return the messages of a stream: the moment of each in it (microseconds), and its bytes."""
    packets = opus_packets(samples, rate, style.packet)
    header = ogg_page(0, 0, _FIRST, [opus_head(style.pre_skip, rate)]) + ogg_page(1, 0, 0, [opus_tags()])
    messages = [(0, header)] if style.header_alone else []
    granule = 0
    for n, first in enumerate(range(0, len(packets), style.packets)):
        part = packets[first : first + style.packets]
        granule += len(part) * style.packet * style.granules // SECOND
        page = ogg_page(n + 2, granule, 0, part)
        if n == 0 and not style.header_alone:
            page = header + page
        messages += [(first * style.packet, piece) for piece in _pieces(page, style.split)]
    return messages


def _pieces(page: bytes, split: bool) -> Iterator[bytes]:
    # Within the header of the page: the worst place to be cut.
    yield from (page[:20], page[20:]) if split else (page,)
