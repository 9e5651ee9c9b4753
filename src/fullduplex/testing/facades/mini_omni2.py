"""Mini-Omni2's server as a facade: ``POST /chat`` with a recording, speech and words in parts, one answer at a time.

It speaks only when it is asked. So the user makes a short sound all the time (``Terms.bed``), and the driver that is
played asks for each: its ``silence`` is the shortest there is, since the cases plan by tenths of a second. What is
said next is the answer to the next question, which is open from its moment on; where nothing is left to say, the
answer is empty. Read in the project's source at 6efd5bf.

``python -m fullduplex.testing.facades mini-omni2 --port 60808`` serves it alone.
"""

from __future__ import annotations

import base64
import io
import json
import wave
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fullduplex.driving.playout import Samples
from fullduplex.errors import PluginError
from fullduplex.model.spans import SECOND, ms
from fullduplex.systems.mini_omni2.talk import RATE_IN, RATE_OUT
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.facades import Answer, Facade, Spoken, Unheard
from fullduplex.testing.facades.over_http import over_http
from fullduplex.testing.stage import Terms

KIND = "multipart/x-mixed-replace; boundary=frame"
#: The user asks so often, with a sound so long; an utterance of the driver ends with so much silence.
ASKS, SOUND, SILENCE = ms(100), ms(40), ms(50)


def part(kind: str, body: bytes) -> bytes:
    """Return a part as the project's server writes it: it ends where the next begins."""
    return b"\r\n--frame\r\nContent-Type: " + kind.encode() + b"\r\n\r\n" + body


#: What no client knows, or can do anything about.
_ODDITIES: tuple[str | bytes, ...] = (
    part("image/png", b"\x89PNG"),
    part("application/json", b'{"type": "rate_limits"}'),
    part("\x1b[31m../../x<script>", b"?"),
    part("", b"of no type"),
    b"\r\n--frame\r\n\r\nof no header",
    b"\r\n--frame\r\nContent-Type: audio/wav",
    b"\r\n--frame\r\n" + b"x" * 5_000 + b"\r\n\r\nof a head without an end",
    b"\r\n--frame\r\n\x00\xff\x00",
)
_NOTHINGS: tuple[str | bytes, ...] = (part("text/plain", b"only words"), part("audio/wav", b""))
_FLUSH = "the server takes nothing back: a flush is the driver's own, where the user speaks (interrupts=true)"
_SYNC = "it answers a recording, and no frame for a frame"
_DEAF = "nothing that is said while it answers is heard"
BESIDE = {
    3: _FLUSH,
    4: _FLUSH,
    5: _FLUSH,
    6: _DEAF,
    10: _SYNC,
    11: "its samples are not coded",
    12: "its samples are not coded",
    13: _SYNC,
    14: _SYNC,
    16: _DEAF,
    20: "it announces no rate, and has one",
    21: "it asks for no sign of life",
    22: "its words carry no time",
    23: "it takes no word of what was heard",
}


def asking(length: int) -> Samples:
    """Return so much of a user who asks all the time."""
    time = np.arange(length * RATE_IN // SECOND) * SECOND // RATE_IN
    sound: Samples = (0.5 * np.cos(2 * np.pi * 300 * time / SECOND) * (time % ASKS < SOUND)).astype(np.float32)
    return sound


TERMS = Terms(
    rate_in=RATE_IN,
    oddities=_ODDITIES,
    vads=0,
    usual=("asked", "answered"),
    nothings=_NOTHINGS,
    flushes=0,
    done="answered",
    unit=ASKS,
    ends={"reset": "reset"},
    closes=False,
    bed=asking,
)


def fits(behaviour: Behaviour) -> Behaviour:
    """Return ``behaviour`` with the only samples that this server sends."""
    return replace(behaviour, coding="pcm16", rate=RATE_OUT)


def played(system: Any) -> Any:
    """Return the driver, quick to ask; raises :class:`PluginError` where it interrupts: it would at every sound."""
    if system.interrupts:
        raise PluginError("the cases of mini-omni2 are played with interrupts=false: its user is never silent")
    return replace(system, silence=SILENCE / SECOND, at_least=0.0)


class Chat:
    """One talk."""

    rate_in = RATE_IN

    def __init__(self, behaviour: Behaviour) -> None:
        #: How much there is to say: one who answers always has something.
        self._left = float("inf") if behaviour.answer is not None else len(behaviour.say)
        self._asked = False

    async def open(self, peer: Any, getting_ready: Callable[[], Awaitable[None]]) -> None:
        """Refuse the request by which a client sees that it is there, once it is; a recording needs none before it."""
        asked = await peer.receive()
        if isinstance(asked, bytes):
            await getting_ready()
            peer.ask_again(asked)
            return
        if asked != "GET /chat":
            raise Unheard("nothing was asked")
        await getting_ready()
        await peer.send("405")

    def says(self, event: Spoken | Mapping[str, Any]) -> list[str | bytes]:
        """Return sound with empty words behind it, or words; an answer ends with its utterance."""
        if isinstance(event, Spoken):
            if not event.id and not self._asked:
                return []
            # Words are a part of their own behind each piece of sound, which thereby is whole.
            piece: list[str | bytes] = [part("audio/wav", event.data) + part("text/plain", b"")]
            if not event.last:
                return piece
            self._left, self._asked = self._left - 1, False
            return [*piece, b""]
        return [part("text/plain", str(event["text"]).encode())] if event["type"] == "said" else []

    def hears(self, message: str | bytes) -> list[Samples | Answer]:
        """Return the recording that was asked about; raises :class:`Unheard` for what is none."""
        if isinstance(message, str):
            return [Answer("405")]
        heard = _recording(message)
        self._asked = bool(self._left)
        return [heard] if self._asked else [heard, Answer(b"")]


def _recording(body: bytes) -> Samples:
    try:
        told = json.loads(body)
        if type(told["stream_stride"]) is not int or type(told["max_tokens"]) is not int:
            raise TypeError("stream_stride and max_tokens")
        with wave.open(io.BytesIO(base64.b64decode(told["audio"], validate=True)), "rb") as reading:
            if (reading.getnchannels(), reading.getsampwidth(), reading.getframerate()) != (1, 2, RATE_IN):
                raise ValueError("another format")
            pcm = reading.readframes(reading.getnframes())
    except (ValueError, TypeError, KeyError, EOFError, wave.Error) as error:
        raise Unheard(f"no recording: {error}") from error
    made: Samples = (np.frombuffer(pcm, "<i2") / np.float32(32_768)).astype(np.float32)
    return made


def facade(options: Mapping[str, Any]) -> Facade:
    """Return the server."""
    return Facade("mini-omni2", Chat, TERMS, fits, BESIDE, carried=over_http(KIND), scheme="http", played=played)


__all__ = ["ASKS", "BESIDE", "SILENCE", "TERMS", "Chat", "asking", "facade", "fits", "part", "played"]
