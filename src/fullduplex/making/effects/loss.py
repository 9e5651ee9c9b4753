"""Frames that never arrive, in bursts: the channel of Gilbert and Elliott.

The channel is good or bad, and may change before each frame. It starts as the long run has it:
bad with probability p_good_to_bad / (p_good_to_bad + p_bad_to_good).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullduplex.errors import InputError
from fullduplex.making.effects.members import SEED, Member, Number, OneOf, Time, as_json, check
from fullduplex.making.effects.sound import Load, Made, Samples, count
from fullduplex.making.effects.sound import span as span_of
from fullduplex.model.items import Event
from fullduplex.model.spans import Timeline, ms

#: A repeated frame sounds in full this long, and has faded out at ``_GONE``: as in ITU-T G.711 Appendix I.
_FULL, _GONE = ms(10), ms(60)
_PROBABILITY = Number(0, 1)


@dataclass(frozen=True, slots=True)
class FrameLoss:
    """Frames of ``frame`` microseconds are lost: with ``loss_bad`` in the bad state, ``loss_good`` in the good one.

    ``concealment``: ``silence``, or ``repeat`` (the last frame that arrived, again and again, in full for 10 ms and
    then 20 % softer each 10 ms). A frame that arrives is not touched. A sound that begins in a lost frame
    is first heard in the next that arrives: the events say which were lost.
    """

    p_good_to_bad: float
    p_bad_to_good: float
    loss_bad: float = 1.0
    loss_good: float = 0.0
    frame: int = ms(20)
    concealment: str = "repeat"
    seed: int = 0

    kind: ClassVar[str] = "frame_loss"
    live: ClassVar[bool] = False
    adds: ClassVar[bool] = False
    members: ClassVar[Mapping[str, Member]] = {
        "p_good_to_bad": _PROBABILITY,
        "p_bad_to_good": _PROBABILITY,
        "loss_bad": _PROBABILITY,
        "loss_good": _PROBABILITY,
        "frame": Time(ms(1), ms(200)),
        "concealment": OneOf(("repeat", "silence")),
        "seed": SEED,
    }

    def __post_init__(self) -> None:
        check(self)
        if self.p_good_to_bad + self.p_bad_to_good <= 0:
            raise InputError(
                self.kind, "p_bad_to_good", found="0, as p_good_to_bad is", expected="a channel that can change"
            )

    def to_json(self) -> dict[str, Any]:
        """Return the effect as a JSON object."""
        return as_json(self)

    @property
    def share(self) -> float:
        """Return the share of frames that is lost in the long run."""
        bad = self.p_good_to_bad / (self.p_good_to_bad + self.p_bad_to_good)
        return bad * self.loss_bad + (1 - bad) * self.loss_good

    def make(self, samples: Samples, rate: int, *, random: np.random.Generator, load: Load) -> Made:
        """Return what arrives, and an event ``lost`` for each run of lost frames."""
        size = max(1, count(self.frame, rate))
        lost = self.lost(-(-len(samples) // size), random)
        made = samples.copy()
        for number in np.flatnonzero(lost):
            at = slice(number * size, (number + 1) * size)
            made[at] = 0.0
        if self.concealment == "repeat":
            _repeat(made, lost, size, rate)
        spans = lost_spans(lost, size, len(samples), rate)
        return Made(made, tuple(Event("lost", span, source="effect frame_loss") for span in spans))

    def lost(self, frames: int, random: np.random.Generator) -> NDArray[np.bool_]:
        """Return for each frame whether it is lost."""
        draws = random.random((frames + 1, 2))
        bad = bool(draws[0, 0] < self.p_good_to_bad / (self.p_good_to_bad + self.p_bad_to_good))
        lost = np.zeros(frames, np.bool_)
        for number, (change, loss) in enumerate(draws[1:]):
            lost[number] = loss < (self.loss_bad if bad else self.loss_good)
            bad ^= bool(change < (self.p_bad_to_good if bad else self.p_good_to_bad))
        return lost


def lost_spans(lost: NDArray[np.bool_], size: int, length: int, rate: int) -> Timeline:
    """Return when nothing arrived: frames of ``size`` samples, of audio of ``length`` samples."""
    edges = np.flatnonzero(np.diff(lost, prepend=False, append=False))
    return Timeline(
        span_of(int(start) * size, min(int(end) * size, length) - int(start) * size, rate)
        for start, end in zip(edges[::2], edges[1::2], strict=True)
    )


def _repeat(samples: Samples, lost: NDArray[np.bool_], size: int, rate: int) -> None:
    """Fill lost frames with the last that arrived, fading."""
    last: Samples | None = None
    since = 0
    full, gone = count(_FULL, rate), count(_GONE, rate)
    for number, is_lost in enumerate(lost):
        frame = samples[number * size : (number + 1) * size]
        if not is_lost:
            last, since = frame.copy(), 0
        elif last is not None:
            late = np.arange(since, since + len(frame))
            frame[:] = last[: len(frame)] * np.clip((gone - late) / max(1, gone - full), 0, 1)
            since += size
