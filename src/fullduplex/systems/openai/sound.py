"""The sound of both APIs: raw pcm16, or G.711 in either law, in base64 within JSON."""

from __future__ import annotations

import base64
import binascii
import struct
from typing import Literal, get_args

import numpy as np

from fullduplex.driving.playout import Samples
from fullduplex.errors import ConversationError
from fullduplex.systems.incoming import Incoming, Rates, mulaw_encoded

Format = Literal["pcm16", "pcmu", "pcma"]
FORMATS: tuple[Format, ...] = get_args(Format)
#: The rate of G.711.
TELEPHONE = 8_000


def alaw_decoded(data: bytes) -> Samples:
    """Return the samples of A-law bytes (G.711)."""
    code = np.frombuffer(data, np.uint8) ^ 0x55
    exponent, mantissa = (code >> 4 & 7).astype(np.int32), (code & 15).astype(np.int32)
    size = np.where(exponent == 0, (mantissa << 4) + 8, ((mantissa << 4) + 264) << np.maximum(exponent - 1, 0))
    return (np.where(code & 128, size, -size) / np.float32(32_768)).astype(np.float32)


def alaw_encoded(samples: Samples) -> bytes:
    """Return samples as A-law bytes (G.711)."""
    value = np.clip(np.rint(samples * 32_768), -32_768, 32_767).astype(np.int32)
    size = np.where(value < 0, -value - 1, value) >> 4
    exponent = np.maximum(np.floor(np.log2(np.maximum(size, 1))).astype(np.int32) - 3, 1)
    exponent = np.where(size < 32, size >> 4, exponent)
    mantissa = np.where(size < 32, size, size >> (exponent - 1)) & 15
    code = np.where(value < 0, 0, 128) | exponent << 4 | mantissa
    return bytes((code.astype(np.uint8) ^ 0x55).tobytes())


def encoded(format: Format, samples: Samples) -> bytes:
    """Return samples as bytes of ``format``."""
    if format == "pcmu":
        return mulaw_encoded(samples)
    if format == "pcma":
        return alaw_encoded(samples)
    return bytes(np.clip(np.rint(samples * 32_768), -32_768, 32_767).astype("<i2").tobytes())


def wav(data: bytes, rate: int) -> bytes:
    """Return pcm16 as a WAV file of one channel."""
    head = struct.pack("<4sI4s4sIHHIIHH", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16)
    return head + struct.pack("<4sI", b"data", len(data)) + data


def text_of(data: bytes) -> str:
    """Return bytes in base64."""
    return base64.b64encode(data).decode("ascii")


def bytes_of(text: object) -> bytes:
    """Return what base64 holds; raises ValueError for anything else."""
    if not isinstance(text, str):
        raise ValueError(text)
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(text[:40]) from error


class Voice:
    """One voice as it comes: bytes of ``format`` at ``rate``, samples at ``rate_out``.

    A chunk may end within a sample; :meth:`end` gives what a change of rate held back.
    """

    def __init__(self, format: Format, rate: int, rate_out: int) -> None:
        self.format, self.rate = format, rate
        self._alaw = format == "pcma"
        self._rates = Rates(rate, rate_out) if self._alaw and rate != rate_out else None
        self._incoming = None if self._alaw else Incoming("mulaw" if format == "pcmu" else "pcm16", rate, rate_out)
        self._rate_out = rate_out

    def take(self, data: bytes) -> Samples:
        """Return the samples that ``data`` completes."""
        if self._incoming is not None:
            return self._incoming.take(data)
        samples = alaw_decoded(data)
        return samples if self._rates is None else self._rates.take(samples)

    def end(self) -> Samples:
        """Return the samples that waited, and start afresh."""
        if self._incoming is not None:
            return self._incoming.end()
        waiting = np.zeros(0, np.float32) if self._rates is None else self._rates.end()
        self._rates = Rates(self.rate, self._rate_out) if self._rates is not None else None
        return waiting


#: A rate that a server may announce.
_RATES = range(8_000, 48_001)


def announced(told: object, asked: tuple[Format, int]) -> tuple[Format, int]:
    """Return the format and rate that a session tells of, and what was asked for where it tells of none.

    Raises :class:`ConversationError` for one that is not known here.
    """
    kind = told.get("type") if isinstance(told, dict) else told
    if kind is None:
        return asked
    rate = told.get("rate") if isinstance(told, dict) else None
    known: dict[str, Format] = {
        "audio/pcm": "pcm16",
        "audio/pcmu": "pcmu",
        "audio/pcma": "pcma",
        "g711_ulaw": "pcmu",
        "g711_alaw": "pcma",
        "pcm": "pcm16",
        "pcm16": "pcm16",
        "pcm24": "pcm16",
        "wav": "pcm16",
    }
    name, _, more = str(kind).partition("_") if str(kind).startswith("pcm16_") else (str(kind), "", "")
    found = known.get(name)
    if found is None or (rate is not None and (type(rate) is not int or rate not in _RATES)):
        raise ConversationError("the session announces audio in a format that is not known here")
    if found != "pcm16":
        return found, rate or TELEPHONE
    if more:
        hertz = more.removesuffix("hz")
        return found, int(hertz) if hertz.isdecimal() and int(hertz) in _RATES else asked[1]
    return found, rate or (asked[1] if asked[0] == "pcm16" else 24_000)
