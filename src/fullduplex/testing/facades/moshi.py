"""The servers of the Moshi family as facades: their kinds of messages, Ogg-Opus or raw samples, a frame for a frame."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np

from fullduplex.driving.observe import output_lags
from fullduplex.driving.playout import Samples
from fullduplex.driving.talk import Talk
from fullduplex.model.spans import SECOND, ms
from fullduplex.systems.incoming import AHEAD
from fullduplex.systems.moshi import raon
from fullduplex.systems.moshi.codec import AUDIO, BEHIND, ERROR, FRAME, HANDSHAKE, METADATA, RATE, TEXT
from fullduplex.systems.ogg_opus import LOOKAHEAD, OggOpus
from fullduplex.systems.ogg_opus_writer import OggOpusWriter
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.facades import Facade, Peer, Spoken, Unheard
from fullduplex.testing.ogg import OpusStyle
from fullduplex.testing.stage import Terms

#: How the vendors' servers write their stream: sphn (Python), and the Rust server.
SPHN = OpusStyle(ms(40), 1, 3_840, 48_000, False)
RUST = OpusStyle(ms(40), 1, 3_840, 24_000, False)

_SIZE = FRAME * RATE // SECOND


def lags_by_answer(talk: Talk, frame: int) -> dict[int, int]:
    """Return the lag of each output frame, the first numbered 0: it answers the second frame of the input."""
    return {number - 2: lag for number, lag in output_lags(talk.received, frame, sourced=True).items()}


#: What no client of this protocol knows, or can do anything about.
_ODDITIES: tuple[str | bytes, ...] = (
    '{"type": "session.created"}',
    "",
    b"",
    bytes([3, 1]),
    bytes([4]) + b"no JSON",
    bytes([4]) + b'{"voice": "../../x<script>"}',
    bytes([5]) + b"\x1b[31mbad luck",
    bytes([6]),
    bytes([7, 1]) + b"coloured",
    bytes([42]) + bytes(40),
    bytes([255]),
)
_NOTHINGS: tuple[str | bytes, ...] = (bytes([TEXT]) + b"only words", bytes([AUDIO]))

TERMS = Terms(
    frame=FRAME,
    rate_in=RATE,
    lag=BEHIND + LOOKAHEAD + AHEAD,
    rough=ms(10),
    settles=True,
    lags=lags_by_answer,
    oddities=_ODDITIES,
    vads=0,
    nothings=_NOTHINGS,
    flushes=0,
)
#: Why a case does not apply to a server that answers a frame for a frame and takes nothing back.
SYNC = {
    1: "it answers a frame for a frame, and sends nothing ahead",
    3: "the protocol has no flush",
    4: "the protocol has no flush",
    5: "the protocol has no flush",
    7: "its silence always travels",
    17: "it never says that it is done",
    20: "it announces no format",
    23: "it takes no word of what was heard",
}
OPUS = SYNC | {
    14: "its output carries no index of the input",
    21: "it asks for no sign of life but the WebSocket's own",
    22: "its words carry no time",
    24: "its pages are put together in case 12",
}


_RAON_BESIDE = SYNC | {
    11: "its samples are not coded",
    12: "its samples are not coded",
    14: "its index counts what it processed: what it dropped shows as lag",
    22: "its words carry no time of their own",
}
_RAON_TERMS = replace(
    TERMS,
    lag=FRAME,
    rough=0,
    usual=("trace",),
    lags=lambda talk, frame: {n - 1: lag for n, lag in output_lags(talk.received, frame, sourced=True).items()},
    oddities=(
        '{"type": "session.created"}',
        "",
        b"",
        bytes([raon.TEXT]) + b"\n",
        bytes([raon.ERROR]) + b"\x1b[31mbad luck",
        bytes([raon.PONG]),
        bytes([9]) + b"../../x<script>",
        bytes([255]),
    ),
)


def _fits_raon(behaviour: Behaviour) -> Behaviour:
    return replace(behaviour, pace="sync", coding="f32", rate=RATE, flush="none", primes=False)


def fits(behaviour: Behaviour) -> Behaviour:
    """Return ``behaviour`` a frame for a frame, with raw samples for the codec to code."""
    return replace(behaviour, pace="sync", coding="pcm16", rate=RATE, flush="none")


class KindByte:
    """One talk with a client that speaks Ogg-Opus behind a kind byte.

    What comes before the handshake is kept and heard after it, as the Python server does. ``first``: messages in
    front of the handshake; ``handshake``: what follows its kind. The pages of a frame come in one message, or
    ``apart``.
    """

    rate_in = RATE

    def __init__(
        self,
        behaviour: Behaviour,
        style: OpusStyle,
        *,
        first: tuple[bytes, ...] = (),
        handshake: bytes = b"",
        apart: bool = False,
    ) -> None:
        self._style, self._first, self._handshake, self._apart = style, first, handshake, apart
        self._writer = OggOpusWriter(
            RATE, packet=style.packet, packets=style.packets, pre_skip=style.pre_skip, granules=style.granules
        )
        self._opus, self._rest = OggOpus(), np.zeros(0, np.float32)
        self._begun = False

    async def open(self, peer: Peer, getting_ready: Callable[[], Awaitable[None]]) -> None:
        """Say that it is ready, once it is."""
        for message in self._first:
            await peer.send(message)
        await getting_ready()
        await peer.send(bytes([HANDSHAKE]) + self._handshake)

    def says(self, event: Spoken | Mapping[str, Any]) -> list[str | bytes]:
        """Return a frame as pages, words as text, an end as an error."""
        if isinstance(event, Spoken):
            return [bytes([AUDIO]) + page for page in self._pages(event.data)]
        if event["type"] == "said":
            return [bytes([TEXT]) + str(event["text"]).encode()]
        if event["type"] == "close":
            return [bytes([ERROR]) + str(event.get("reason", "")).encode()]
        return []

    def _pages(self, data: bytes) -> list[bytes]:
        """Return the messages of a frame, without their kind."""
        pages = self._writer.take(np.frombuffer(data, "<i2").astype(np.float32) / np.float32(32_767))
        if not pages:
            return []
        header = [] if self._begun else [self._writer.header()]
        self._begun = True
        alone = header if self._style.header_alone else []
        if not self._style.header_alone:
            pages = [b"".join([*header, pages[0]]), *pages[1:]]
        messages = [*alone, *(pages if self._apart else [b"".join(pages)])]
        if self._style.split:
            # Within the header of the page: the worst place to be cut.
            return [piece for message in messages for piece in (message[:20], message[20:])]
        return messages

    def hears(self, message: str | bytes) -> list[Samples | Mapping[str, Any]]:
        """Return the frames that a message completes; kinds that such a server does not know are let pass."""
        if isinstance(message, str) or message[:1] != bytes([AUDIO]):
            return []
        heard = self._opus.take(message[1:])
        # By halves from 48 to 24 kHz: loudness is all that the talker goes by, and nothing may be held back.
        self._rest = np.concatenate([self._rest, heard[: len(heard) // 2 * 2].reshape(-1, 2).mean(1)])
        frames: list[Samples | Mapping[str, Any]] = []
        while len(self._rest) >= _SIZE:
            frame, self._rest = self._rest[:_SIZE], self._rest[_SIZE:]
            frames.append(frame.astype(np.float32))
        return frames


class Prompted(KindByte):
    """One talk with a client of PersonaPlex: it needs two prompts, and loses what comes before the handshake."""

    async def open(self, peer: Peer, getting_ready: Callable[[], Awaitable[None]]) -> None:
        """Say that it is ready, once it is and both prompts are there; raises :class:`Unheard` where they are not."""
        asked = parse_qs(urlsplit(peer.path).query, keep_blank_values=True)
        if not asked.get("voice_prompt", [""])[0] or not asked.get("text_prompt", [""])[0]:
            raise Unheard("Internal Server Error: a prompt is missing")
        if "seed" in asked:
            raise Unheard("Internal Server Error: seed")
        ready = asyncio.ensure_future(getting_ready())
        early = asyncio.ensure_future(peer.receive())
        try:
            await asyncio.wait({ready, early}, return_when=asyncio.FIRST_COMPLETED)
            if early.done():
                early.result()
                raise Unheard("sound came before the handshake, and the header of its stream is lost")
        finally:
            for task in (ready, early):
                task.cancel()
            await asyncio.gather(ready, early, return_exceptions=True)
        await peer.send(bytes([HANDSHAKE]))


class RawSamples:
    """One talk with a client of Raon: float32 samples, a trace of each frame, pings that are answered."""

    rate_in = RATE

    def __init__(self, behaviour: Behaviour) -> None:
        self._rest, self._answered, self._pings = b"", 0, 0
        self._odd, self._owed = behaviour.odd, b""

    async def open(self, peer: Peer, getting_ready: Callable[[], Awaitable[None]]) -> None:
        """Say that it is ready, once it is."""
        await getting_ready()
        await peer.send(bytes([raon.READY]))

    def says(self, event: Spoken | Mapping[str, Any]) -> list[str | bytes]:
        """Return a frame with its trace, words as text, a ping, an end as an error and a reason."""
        if isinstance(event, Spoken):
            self._answered += 1
            trace = f"frame={self._answered} seq_len={self._answered} token_count=1 ids=[7] tokens=['x'] text=''"
            return [bytes([raon.DELTA]) + trace.encode(), bytes([raon.AUDIO]) + self._cut(event.data)]
        if event["type"] == "said":
            return [bytes([raon.TEXT]) + str(event["text"]).encode()]
        if event["type"] == "ping":
            self._pings += 1
            return [bytes([raon.PING])]
        if event["type"] == "close":
            reason = str(event.get("reason", "")).encode()
            return [bytes([raon.ERROR]) + reason, bytes([raon.CLOSE]) + reason]
        return []

    def _cut(self, data: bytes) -> bytes:
        """Return what a message holds: where samples are cut, the last byte of every other frame is in the next."""
        data, self._owed = self._owed + data, b""
        if self._odd and self._answered % 2:
            data, self._owed = data[:-1], data[-1:]
        return data

    def hears(self, message: str | bytes) -> list[Samples | Mapping[str, Any]]:
        """Return the frames that a message completes; raises :class:`Unheard` for a kind that no client may send."""
        if isinstance(message, str) or not message:
            raise Unheard("invalid_client_frame")
        kind, payload = message[0], message[1:]
        if kind == raon.PONG:
            # A pong has no number: it answers all that were asked.
            return [{"type": "pong", "n": self._pings}]
        if kind == raon.PING:
            return []
        if kind == raon.CLOSE:
            return [{"type": "finish"}]
        if kind != raon.AUDIO:
            raise Unheard("invalid_client_frame")
        data, size = self._rest + payload, 4 * _SIZE
        whole = len(data) - len(data) % size
        self._rest = data[whole:]
        return [np.frombuffer(data[i : i + size], "<f4") for i in range(0, whole, size)]


def facade(options: Mapping[str, Any]) -> Facade:
    """Return a Moshi server, Python's or Rust's as ``options`` say."""
    rust = options.get("server") == "rust"
    metadata = json.dumps({"text_temperature": 0.7, "build_info": {"crate": "facade"}}).encode()

    def dialect(behaviour: Behaviour) -> KindByte:
        style = RUST if rust and behaviour.opus == OpusStyle() else _style(behaviour)
        if not rust:
            return KindByte(behaviour, style)
        return KindByte(
            behaviour, style, first=(bytes([METADATA]) + metadata,), handshake=struct.pack("<II", 0, 0), apart=True
        )

    return Facade("moshi", dialect, replace(TERMS, notes=int(rust)), fits, OPUS, exclusive=True)


def personaplex(options: Mapping[str, Any]) -> Facade:
    """Return a PersonaPlex server."""
    return Facade(
        "personaplex", lambda behaviour: Prompted(behaviour, _style(behaviour)), TERMS, fits, OPUS, exclusive=True
    )


def flm_audio(options: Mapping[str, Any]) -> Facade:
    """Return an FLM-Audio server, which takes ``/api/settings`` as long as no talk is live."""
    return Facade(
        "flm-audio",
        lambda behaviour: KindByte(behaviour, _style(behaviour)),
        TERMS,
        fits,
        OPUS,
        posts=_settings,
        exclusive=True,
    )


def _settings(path: str, body: bytes, live: bool) -> tuple[int, str]:
    """Answer who sets something: what is set, 503 during a talk; of what is no object the real answer is not known."""
    if path != "/api/settings":
        return 404, "{}"
    if live:
        return 503, '{"error": "a session is live"}'
    try:
        asked = json.loads(body)
    except ValueError:
        asked = None
    return (200, json.dumps(asked)) if isinstance(asked, dict) else (422, "{}")


def raon_facade(options: Mapping[str, Any]) -> Facade:
    """Return a Raon gateway."""
    return Facade("raon", RawSamples, _RAON_TERMS, _fits_raon, _RAON_BESIDE)


def _style(behaviour: Behaviour) -> OpusStyle:
    return behaviour.opus if behaviour.opus != OpusStyle() else SPHN


__all__ = ["KindByte", "Prompted", "RawSamples", "facade", "fits", "flm_audio", "personaplex", "raon_facade"]
