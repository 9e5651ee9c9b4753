"""Bytes as they come become samples: a chunk may end in the middle of one, or at another rate than was asked for.

========  ====================================================================
pcm16     signed 16-bit little-endian
f32       32-bit floats, little-endian
mulaw     μ-law, G.711
wav       each chunk a whole WAV file of one channel, 16-bit, with its own rate
opus      Ogg pages with Opus (:mod:`fullduplex.systems.ogg_opus`)
========  ====================================================================
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from math import gcd
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fullduplex.driving.playout import Samples
from fullduplex.errors import ConversationError, printable
from fullduplex.model.spans import SECOND
from fullduplex.once import once_per_process

Coding = Literal["pcm16", "f32", "mulaw", "wav", "opus"]
CODINGS: tuple[Coding, ...] = get_args(Coding)

_WIDTH = {"pcm16": 2, "f32": 4, "mulaw": 1}


class Incoming:
    """One voice as it arrives: bytes of ``coding`` at ``rate`` in, samples at ``rate_out`` out.

    Bytes that do not yet make a sample wait for the next. Where the rates differ, samples within
    :data:`AHEAD` of the newest wait too; :meth:`end` gives what waits. Raises :class:`ConversationError` for rates of
    which one does not become the other.
    """

    def __init__(self, coding: Coding, rate: int, rate_out: int) -> None:
        self.coding, self.rate, self.rate_out = coding, rate, rate_out
        self._rest = b""
        self._rates: Rates | None = None
        self._opus: Any = None
        if coding == "opus":
            # Now, and not when the first page comes: loading takes a while.
            from fullduplex.systems.ogg_opus import OggOpus

            self._opus = OggOpus()
            self.rate = self._opus.rate
        if self.rate != rate_out:
            # Now, as well: the first sound of the talk is not to wait for it.
            self._rates = Rates(self.rate, rate_out)

    @property
    def resampled(self) -> bool:
        """Return whether what was announced comes at another rate than is kept; Opus is decoded at any rate."""
        return self.rate != self.rate_out and self.coding != "opus"

    def take(self, data: bytes) -> Samples:
        """Return the samples that ``data`` completes; raises :class:`ConversationError` where it is no such audio."""
        if self.coding == "opus":
            samples = self._opus.take(data)
        elif self.coding == "wav":
            samples, rate = _wav(data)
            if rate != self.rate:
                # Each file has a rate of its own; what waited at the one before comes first.
                waited, self.rate = self.end(), rate
                return np.concatenate([waited, self._at_rate(samples)])
        else:
            data = self._rest + data
            whole = len(data) - len(data) % _WIDTH[self.coding]
            data, self._rest = data[:whole], data[whole:]
            samples = _decoded(self.coding, data)
        return self._at_rate(samples)

    def end(self) -> Samples:
        """Return the samples that waited, and start afresh; half a sample is nothing."""
        self._rest = b""
        waiting = self._rates.end() if self._rates else np.zeros(0, np.float32)
        self._rates = None
        return waiting

    def _at_rate(self, samples: Samples) -> Samples:
        if self._rates is None and self.rate == self.rate_out:
            return samples
        if self._rates is None:
            self._rates = Rates(self.rate, self.rate_out)
        return self._rates.take(samples)


#: The rates at which a server may announce its voice.
RATES = range(8_000, 192_001)


def announced(told: Mapping[str, Any], rate_out: int, what: str) -> Incoming:
    """Return the voice that ``what`` announces by ``rate_out`` and ``coding``: else at ``rate_out``, and in pcm16.

    Raises :class:`ConversationError` for what is no audio.
    """
    rate, coding = told.get("rate_out", rate_out), told.get("coding", "pcm16")
    if type(rate) is not int or rate not in RATES or coding not in CODINGS:
        raise ConversationError(f"{what} announces {printable(repr((rate, coding)), 80)}, no such audio")
    return Incoming(coding, rate, rate_out)


def _decoded(coding: str, data: bytes) -> Samples:
    if coding == "pcm16":
        samples = np.frombuffer(data, "<i2").astype(np.float32)
        samples /= 32_768
        return samples
    if coding == "f32":
        return np.frombuffer(data, "<f4").astype(np.float32)
    return mulaw_decoded(data)


def pcm16_encoded(samples: Samples) -> bytes:
    """Return samples as pcm16; what is louder than full scale is cut to it."""
    return bytes(np.clip(np.rint(samples * 32_768), -32_768, 32_767).astype("<i2").tobytes())


def mulaw_decoded(data: bytes) -> Samples:
    """Return the samples of μ-law bytes (G.711)."""
    code = ~np.frombuffer(data, np.uint8)
    exponent, mantissa = (code >> 4 & 7).astype(np.int32), (code & 15).astype(np.int32)
    size = (((mantissa << 3) + 132) << exponent) - 132
    return (np.where(code & 128, -size, size) / np.float32(32_768)).astype(np.float32)


def mulaw_encoded(samples: Samples) -> bytes:
    """Return samples as μ-law bytes (G.711)."""
    value = np.clip(np.rint(samples * 32_768), -32_635, 32_635).astype(np.int32)
    size = np.abs(value) + 132
    exponent = np.floor(np.log2(size)).astype(np.int32) - 7
    mantissa = size >> (exponent + 3) & 15
    code = np.where(value < 0, 128, 0) | exponent << 4 | mantissa
    return bytes((~code.astype(np.uint8)).tobytes())


def _wav(data: bytes) -> tuple[Samples, int]:
    """Return the samples and the rate of a whole WAV file of one channel and 16 bits."""
    at, rate, samples = 12, 0, None
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise ConversationError("sent a chunk that is no WAV file")
    while at + 8 <= len(data):
        name, size = data[at : at + 4], struct.unpack_from("<I", data, at + 4)[0]
        body = data[at + 8 : at + 8 + size]
        if name == b"fmt " and len(body) >= 16:
            coding, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", body)
            if coding not in (1, 0xFFFE) or channels != 1 or bits != 16 or not rate:
                raise ConversationError(f"sent WAV of {channels} channels, {bits} bits, not of one and 16")
        elif name == b"data":
            samples = _decoded("pcm16", body[: len(body) // 2 * 2])
        at += 8 + size + size % 2
    if samples is None or not rate:
        raise ConversationError("sent a WAV file without a format or samples")
    if rate not in RATES:
        raise ConversationError(f"sent WAV at {rate} samples a second, expected {RATES[0]} to {RATES[-1]}")
    return samples, rate


#: Another rate takes samples so far ahead (microseconds) to make one.
AHEAD = 750
#: Two rates with hardly a common divisor need more weights than this: 48,000 and 44,100 need 11,000.
_WEIGHTS = 2_000_000


class Rates:
    """Samples at one rate become samples at another while they come, without a shift in time.

    A Kaiser-windowed sinc of :data:`AHEAD` to either side: each sample is made as soon as all that it
    needs is there, so chunks join without a click and hardly anything is held back. Raises
    :class:`ConversationError` for two rates of which the one is made of the other at too many places.
    """

    def __init__(self, rate: int, rate_out: int) -> None:
        self._rate, self._rate_out = rate, rate_out
        self._half = max(8, AHEAD * rate // SECOND)
        if rate_out // gcd(rate, rate_out) * 2 * self._half > _WEIGHTS:
            raise ConversationError(f"sound at {rate} samples a second does not become sound at {rate_out}")
        self._weights = _weights(rate, rate_out, self._half)
        self._heard = np.zeros(self._half, np.float64)
        self._gone = -self._half
        self._made = 0

    def take(self, samples: Samples) -> Samples:
        """Return what can be made with ``samples``."""
        self._heard = np.concatenate([self._heard, samples])
        ready = self._gone + len(self._heard) - self._half
        count = max(0, -(-ready * self._rate_out // self._rate) - self._made)
        made = self._between(self._made, self._made + count)
        self._made += count
        spent = self._made * self._rate // self._rate_out - self._half - self._gone
        if spent > 0:
            self._heard, self._gone = self._heard[spent:], self._gone + spent
        return made

    def end(self) -> Samples:
        """Return the rest, as if silence followed."""
        until = (self._gone + len(self._heard)) * self._rate_out // self._rate
        self._heard = np.concatenate([self._heard, np.zeros(self._half + 1)])
        made = self._between(self._made, max(self._made, until))
        self._made = max(self._made, until)
        return made

    def _between(self, first: int, last: int) -> Samples:
        if first >= last:
            return np.zeros(0, np.float32)
        place = np.arange(first, last) * self._rate
        near = (place // self._rate_out - self._gone)[:, None] + np.arange(1 - self._half, self._half + 1)
        phase = place % self._rate_out // gcd(self._rate, self._rate_out)
        made: NDArray[np.float64] = (self._heard[np.clip(near, 0, len(self._heard) - 1)] * self._weights[phase]).sum(
            axis=1
        )
        return made.astype(np.float32)


@once_per_process
def _weights(rate: int, rate_out: int, half: int) -> NDArray[np.float64]:
    """Return what each of the ``2 * half`` samples around one counts, for each place [phase] that one can have."""
    phases = rate_out // gcd(rate, rate_out)
    cutoff = 0.95 * min(1.0, rate_out / rate)
    apart = np.arange(1 - half, half + 1) - np.arange(phases)[:, None] / phases
    weights: NDArray[np.float64] = cutoff * np.sinc(cutoff * apart) * _kaiser(apart / half)
    return weights


def _kaiser(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.i0(8.0 * np.sqrt(np.maximum(0.0, 1 - x * x))) / np.i0(8.0))
