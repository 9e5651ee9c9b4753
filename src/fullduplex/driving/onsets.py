"""When a talk's turns were due, found again from what was finally heard.

A user decides while the talk goes on. Asking each turn's condition once more, over the finished playout and
the reports as they came, tells whether it really was met when the turn began.
"""

from __future__ import annotations

import numpy as np

from fullduplex.driving.cues import AUDIBLE, Ear
from fullduplex.driving.heard import WordsAsTheySound
from fullduplex.driving.link import Said
from fullduplex.driving.playout import Samples, sample_at
from fullduplex.driving.talk import Talk
from fullduplex.model.spans import SECOND


def onsets_due(talk: Talk, *, within: int = 0) -> tuple[int | None, ...]:
    """Return when each turn that was said should have begun, in order; None where it was not due when it began.

    A turn should begin at the moment at which its condition is first met after the turn before it, or at
    that turn's end if that is later. The condition is asked at the end of each frame, until ``within`` (microseconds)
    after the moment at which the turn did begin. Words that a recogniser gave to the user live are not in the record: a
    condition on them is met only where the system reported them.
    """
    said = [taken for taken in talk.turns if taken.span is not None]
    found: list[int | None] = [None] * len(said)
    hearing = _Hearing(talk)
    turn, begun = 0, False
    for end in range(talk.pacing.frame, talk.duration + talk.pacing.frame, talk.pacing.frame):
        now = min(end, talk.duration)
        hearing.until(now)
        while turn < len(said):
            span = said[turn].span
            assert span is not None
            ear = hearing.ear
            if found[turn] is None and ear.spoke_until <= now:
                due = said[turn].turn.due(ear)
                if due is not None and due <= now:
                    found[turn] = max(due, ear.spoke_until)
            begun = span.start < now
            if not begun or (found[turn] is None and now < span.start + within):
                break
            ear.begin(span.start, span.end)
            turn += 1
        if turn == len(said):
            break
    return tuple(found)


class _Hearing:
    """An ear that hears a finished talk again, frame by frame."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.ear = Ear(rate=talk.rate, pending=self.pending, sound=self.sound)
        self.reports = [note for note in talk.notes if isinstance(note, Said)]
        self.words = WordsAsTheySound(self.ear, talk.rate)
        self.told = 0
        loud = [
            (p.chunk.arrived, p.start + n)
            for p in talk.placed
            if p.played and (n := _audible(p.chunk.samples, p.played))
        ]
        self.came = np.asarray([came for came, _ in loud], np.int64)
        self.ends = np.asarray([end for _, end in loud], np.int64)

    def until(self, now: int) -> None:
        first, last = (sample_at(time, self.talk.rate) for time in (self.ear.now, now))
        while self.told < len(self.reports) and self.reports[self.told].arrived <= now:
            note = self.reports[self.told]
            self.words.take(note, self.talk.placed)
            self.told += 1
        self.ear.now = now
        self.ear.hear(self.talk.system[first:last], first, self.talk.rate)
        self.words.sound(self.talk.placed, now)

    def pending(self) -> bool:
        now = self.ear.now
        return bool(((self.came <= now) & (self.ends > now * self.talk.rate // SECOND)).any())

    def sound(self, start: int, end: int) -> Samples:
        return self.talk.system[sample_at(max(0, start), self.talk.rate) : sample_at(max(0, end), self.talk.rate)]


def _audible(samples: Samples, played: int) -> int:
    """Return the sample after the last audible one of those that sounded; 0 where none is."""
    loud = np.flatnonzero(np.abs(samples[:played]) > AUDIBLE)
    return int(loud[-1]) + 1 if len(loud) else 0
