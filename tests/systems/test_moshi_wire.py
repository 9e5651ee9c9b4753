"""Bytes that Kyutai's own client and server sent, as our driver and our facade read them.

The fixtures are what ``moshi.client`` and ``moshi.server`` 0.2.13 with ``sphn`` 0.2.1 sent in a talk of two seconds,
the server with random weights; ``test_moshi_real.py`` writes them.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.clock import run_virtual
from fullduplex.driving.drive import drive
from fullduplex.driving.link import Happening, Said
from fullduplex.driving.playout import Chunk
from fullduplex.model.spans import SECOND, ms, seconds
from fullduplex.systems.moshi import Moshi
from fullduplex.systems.moshi.codec import AUDIO, FRAME, HANDSHAKE, RATE, TEXT
from fullduplex.systems.ogg_opus import LOOKAHEAD, Page, Pages
from fullduplex.systems.wire import Gone, Memory
from fullduplex.testing.behaviour import Behaviour, Utterance
from fullduplex.testing.facades import Spoken, facade_of
from fullduplex.testing.facades.serving import FacedTwin
from fullduplex.testing.watermark import stretches

FIXTURES = Path(__file__).parent / "fixtures" / "moshi"
#: What the client's microphone heard: watermark from block 500 on, from 0.48 s.
SPOKEN = Utterance(ms(480), seconds(1), 500)


def messages(name: str) -> list[bytes]:
    data, found = (FIXTURES / name).read_bytes(), []
    while data:
        size = int.from_bytes(data[:4], "little")
        found.append(data[4 : 4 + size])
        data = data[4 + size :]
    return found


def pages(sent: list[bytes]) -> list[list[Page]]:
    """Return the pages of each message of sound."""
    reader = Pages()
    return [list(reader.take(message[1:])) for message in sent if message[0] == AUDIO]


def events(sent: list[bytes]) -> list[Happening]:
    async def read() -> list[Happening]:
        there: asyncio.Queue[Any] = asyncio.Queue()
        back: asyncio.Queue[Any] = asyncio.Queue()
        for message in (*sent, Gone("1000")):
            back.put_nowait(message)
        async with Moshi().over(Memory(there, back), "") as link:
            return [event async for event in link]

    return run_virtual(read())


def test_the_driver_reads_what_the_vendors_server_sent() -> None:
    sent = messages("server.bin")
    assert sent[0] == bytes([HANDSHAKE])
    chunks = [event for event in events(sent) if isinstance(event, Chunk)]
    assert len(chunks) == sum(message[0] == AUDIO for message in sent)
    assert [chunk.source for chunk in chunks] == [(k + 2) * FRAME for k in range(len(chunks))]
    # What the change of rates holds back comes with the next.
    assert [len(chunk.samples) for chunk in chunks] == [1_902, *[1_920] * (len(chunks) - 1)]
    assert float(np.abs(np.concatenate([chunk.samples for chunk in chunks])).max()) > 0.001


def test_the_vendors_server_sends_a_text_behind_its_frame() -> None:
    sent = messages("server.bin")
    assert all(a[0] == AUDIO for a, b in pairwise(sent) if b[0] == TEXT)
    heard = events(sent)
    for before, event in pairwise(heard):
        if isinstance(event, Said):
            assert isinstance(before, Chunk) and event.source == before.source


def test_the_facade_hears_what_the_vendors_client_said() -> None:
    dialect = facade_of("moshi").dialect(Behaviour())
    frames = [part for message in messages("client.bin") for part in dialect.hears(message)]
    assert all(isinstance(frame, np.ndarray) and len(frame) == 1_920 for frame in frames)
    sound = np.concatenate([frame for frame in frames if isinstance(frame, np.ndarray)])
    (found,) = stretches(sound, RATE)
    assert found.at - found.source == pytest.approx(SPOKEN.at - SPOKEN.block * ms(20) + LOOKAHEAD, abs=ms(1))
    assert found.duration == pytest.approx(SPOKEN.length, abs=ms(10))


def test_the_facade_lays_its_pages_as_the_vendors_server_does() -> None:
    theirs = pages(messages("server.bin"))
    dialect = facade_of("moshi").dialect(Behaviour())
    silence = np.zeros(1_920, "<i2").tobytes()
    said = [m for k in range(len(theirs)) for m in dialect.says(Spoken(silence, 1, 0, k * FRAME, False))]
    ours = pages([message for message in said if isinstance(message, bytes)])

    def layout(found: list[list[Page]]) -> list[list[tuple[int, int, int]]]:
        # The granule, how many packets, and how long the first one lasts.
        return [[(page.granule, len(page.packets), lasts(page.packets[0])) for page in message] for message in found]

    assert layout(ours) == layout(theirs)
    assert ours[0][0].packets[0][:12] == theirs[0][0].packets[0][:12]


def lasts(packet: bytes) -> int:
    """Return how long an Opus packet lasts in microseconds, by its first byte (RFC 6716, 3.1); 0 for a header."""
    if packet.startswith(b"Opus"):
        return 0
    config, code = packet[0] >> 3, packet[0] & 3
    frame = [10_000, 20_000, 40_000, 60_000] if config < 12 else [10_000, 20_000] * 2 if config < 16 else None
    length = frame[config % 4] if frame else [2_500, 5_000, 10_000, 20_000][config % 4]
    return length * {0: 1, 1: 2, 2: 2}.get(code, packet[1] & 63 if code == 3 else 0)


def test_the_driver_sends_each_frame_in_one_message_of_whole_pages() -> None:
    sent: list[bytes] = []

    class Kept:
        def __init__(self, behaviour: Behaviour) -> None:
            self._dialect = facade_of("moshi").dialect(behaviour)
            self.rate_in, self.open, self.says = self._dialect.rate_in, self._dialect.open, self._dialect.says

        def hears(self, message: str | bytes) -> Any:
            assert isinstance(message, bytes)
            sent.append(message)
            return self._dialect.hears(message)

    run_virtual(
        drive(FacedTwin(Moshi(), replace(facade_of("moshi"), dialect=Kept), Behaviour()), (), length=seconds(2))
    )
    assert len(sent) == seconds(2) // FRAME
    found = pages(sent)
    for n, message in enumerate(found):
        sound = [page for page in message if not page.packets[0].startswith(b"Opus")]
        assert len(message) - len(sound) == (2 if n == 0 else 0)
        assert sum(lasts(packet) for page in sound for packet in page.packets) == FRAME
        assert sound[-1].granule == (n + 1) * FRAME * 48_000 // SECOND
    assert [kind for kind, _ in groupby(message[0] for message in sent)] == [AUDIO]
