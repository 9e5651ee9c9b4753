"""The system's own voice in the user's microphone: it exists only while a talk goes on, so it is applied there."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fullduplex.making.effects.members import LEVEL, SEED, Maybe, Member, Number, Time, as_json, check
from fullduplex.making.effects.room import room
from fullduplex.making.effects.sound import Samples, amplitude, count
from fullduplex.model.spans import ms, seconds


@dataclass(frozen=True, slots=True)
class Echo:
    """What the system says comes back ``delay`` after it was heard, at ``gain`` dB.

    With ``t60`` the loudspeaker stands in a room: what follows the direct sound falls by 60 dB in that time and
    has ``direct_to_reverberant`` dB less energy. Live: :meth:`kernel` is the way from the
    loudspeaker to the microphone, and the talk applies it.
    """

    delay: int
    gain: float
    t60: int | None = None
    direct_to_reverberant: float = 6.0
    seed: int = 0

    kind: ClassVar[str] = "echo"
    live: ClassVar[bool] = True
    members: ClassVar[Mapping[str, Member]] = {
        "delay": Time(0, seconds(2)),
        "gain": LEVEL,
        "t60": Maybe(Time(ms(20), seconds(2))),
        "direct_to_reverberant": Number(-30, 60, "dB"),
        "seed": SEED,
    }

    def __post_init__(self) -> None:
        check(self)

    def to_json(self) -> dict[str, Any]:
        """Return the effect as a JSON object."""
        return as_json(self)

    def impulse(self, rate: int) -> Samples:
        """Return the impulse response of the echo path at ``rate`` without the delay: the direct sound is sample 0."""
        direct = amplitude(self.gain)
        if self.t60 is None:
            return np.asarray([direct], np.float32)
        drawn = np.random.default_rng([self.seed, zlib.crc32(json.dumps(self.to_json(), sort_keys=True).encode())])
        return (room(self.t60, self.direct_to_reverberant, rate, drawn) * direct).astype(np.float32)

    def kernel(self, rate: int) -> Samples:
        """Return the impulse response of the echo path at ``rate``: the direct sound comes at ``delay``."""
        return np.concatenate([np.zeros(count(self.delay, rate), np.float32), self.impulse(rate)])
