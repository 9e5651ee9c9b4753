"""Telephone channels: a narrow band and a codec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fullduplex.data.audio import resample
from fullduplex.errors import InputError
from fullduplex.making.effects.codecs import through_g711, through_opus
from fullduplex.making.effects.filters import centred, low_pass, without_lows
from fullduplex.making.effects.members import FREQUENCY, Maybe, Member, OneOf, Row, Whole, as_json, check
from fullduplex.making.effects.sound import Load, Made, Samples, fitted

#: What passes a telephone line, in Hz.
BAND = (300.0, 3_400.0)
OPUS_BITRATE = 24_000
_G711_RATE = 8_000
_G711 = ("mulaw", "alaw")


@dataclass(frozen=True, slots=True)
class Telephone:
    """A call. ``codec``: ``mulaw`` or ``alaw`` (ITU-T G.711 at 8 kHz), or ``opus``.

    ``band`` in Hz is what passes before the codec: 300 to 3400 with G.711 unless told otherwise; with Opus none is
    taken out, unless told. ``bitrate`` is Opus's, in bits a second: 24,000 unless told; G.711's is fixed. The samples
    come back at the rate at which they went in.
    """

    codec: str = "mulaw"
    bitrate: int | None = None
    band: tuple[float, float] | None = None

    kind: ClassVar[str] = "telephone"
    live: ClassVar[bool] = False
    adds: ClassVar[bool] = False
    members: ClassVar[Mapping[str, Member]] = {
        "codec": OneOf((*_G711, "opus")),
        "bitrate": Maybe(Whole(6_000, 510_000, "bits a second")),
        "band": Maybe(Row((FREQUENCY, FREQUENCY), "two frequencies in Hz, [lowest, highest]")),
    }

    def __post_init__(self) -> None:
        check(self)
        if self.bitrate is not None and self.codec != "opus":
            raise InputError(self.kind, "bitrate", found=self.bitrate, expected="none: G.711 has 64,000 bits a second")
        if self.band is not None and self.band[0] >= self.band[1]:
            raise InputError(
                self.kind, "band", found=list(self.band), expected="the lowest frequency, then the highest"
            )
        if self.band is not None and self.codec != "opus" and self.band[0] >= _G711_RATE / 2:
            raise InputError(self.kind, "band", found=list(self.band), expected="a band that begins below 4000 Hz")

    def to_json(self) -> dict[str, Any]:
        """Return the effect as a JSON object."""
        return as_json(self)

    def make(self, samples: Samples, rate: int, *, random: np.random.Generator, load: Load) -> Made:
        """Return what the other end hears."""
        if self.codec == "opus":
            heard = samples if self.band is None else _in_band(samples, self.band, rate)
            return Made(through_opus(heard, rate, self.bitrate or OPUS_BITRATE))
        narrow = _in_band(resample(samples, rate, _G711_RATE), self.band or BAND, _G711_RATE)
        return Made(fitted(resample(through_g711(narrow, self.codec), _G711_RATE, rate), len(samples)))


def _in_band(samples: Samples, band: tuple[float, float], rate: int) -> Samples:
    passed = centred(samples, low_pass(band[1], rate)).astype(np.float32)
    return passed if band[0] >= rate / 2 else without_lows(passed, band[0], rate).astype(np.float32)
