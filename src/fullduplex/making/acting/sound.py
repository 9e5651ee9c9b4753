"""A user's turn becomes sound: own words, words for somebody else, a voice in the background, and where each lies.

Levels are those of :mod:`fullduplex.making.effects`: an aside 8 dB and the background 15 dB below the user's speech.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullduplex.errors import InputError
from fullduplex.making.acting.breath import in_one_breath
from fullduplex.making.acting.markup import SHORTEST_PAUSE, Marked
from fullduplex.making.acting.words import Mark, Words
from fullduplex.making.effects import Background, OtherDirected
from fullduplex.making.effects.sound import speech_level
from fullduplex.making.joining import Phrase as Placed
from fullduplex.making.joining import join
from fullduplex.making.script import Phrase, Turn
from fullduplex.making.speaking import Said, Speaker
from fullduplex.model.spans import SECOND, Span, ms
from fullduplex.model.speech import Word

Samples = NDArray[np.float32]

#: Who speaks to somebody else turns away first, and back again after it: so much silence on both sides.
TURNING = SHORTEST_PAUSE
#: What an effect brings in is at hand, and has a name only because a recording needs one.
_NAME = "said"
#: The effects of what is not meant for the system.
ASIDE, BACKGROUND = OtherDirected(_NAME), Background(_NAME)
#: What a room sends back of an aside or a background lasts no longer than this.
TAIL = ms(150)
#: No sample of a cue is greater; a cue in which one would be is made softer as a whole.
MOST = 0.99


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Heard:
    """Something that is said in a cue, and where. ``who``: ``user``, ``aside`` or ``background``.

    ``effect`` and ``level`` (dB from the user's speech, as it came out) are those of what is not for the system.
    """

    who: str
    said: Said
    placed: Placed
    effect: Mapping[str, Any] | None = None
    level: float | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cue:
    """What the user's side plays at once.

    ``pauses`` are the silences that were asked for, ``softer`` the factor by which all of it was scaled, 1 where it
    was not.
    """

    id: str
    text: str
    samples: Samples
    rate: int
    heard: tuple[Heard, ...]
    marks: tuple[Mark, ...]
    pauses: tuple[Span, ...] = ()
    softer: float = 1.0

    @property
    def duration(self) -> int:
        """Return the length in microseconds."""
        return len(self.samples) * SECOND // self.rate


@dataclass(frozen=True, slots=True)
class Voices:
    """Who speaks an item: the user, and another person in the background (None where nobody is)."""

    user: Speaker
    other: Speaker | None = None

    def background(self, words: str) -> Said:
        """Return what the other person says."""
        assert self.other is not None
        return _one(self.other, words)


def turn_of(id: str, turn: Marked, voices: Voices) -> Cue:
    """Return a turn in which the user speaks to the system, audible from its first sample to its last.

    Pauses are silence of the stated length, and there is no other silence as long as a pause. Raises
    :class:`InputError` where nothing places a word that a mark hangs on, or a voice in the background outlasts the
    turn.
    """
    rate = voices.user.rate
    own = _say(voices.user, Turn(tuple(map(Phrase, turn.phrases)), tuple(one.pause for one in turn.breaks)))
    order, gaps = [("user", own[0])], list[int]()
    for parted, phrase in zip(turn.breaks, own[1:], strict=True):
        if parted.aside:
            order.append(("aside", _one(voices.user, parted.aside)))
        order.append(("user", phrase))
        gaps += [TURNING, TURNING] if parted.aside else [parted.pause]
    placed, samples = join(
        [said.phrase.text for _, said in order], [said.spoken for _, said in order], gaps, 0, 0, rate
    )
    laid = [Heard(who, said, place) for (who, said), place in zip(order, placed, strict=True)]
    away = [one for one in laid if one.who == "aside"]
    user = samples.copy()
    for one in away:
        user[_sample(one.placed.span.start, rate) : _sample(one.placed.span.end, rate)] = 0
    words = Words(id, [one.placed for one in laid if one.who == "user"], user, rate)
    behind = [
        _behind(voices.background(place.text), words.end(place.after - 1))
        for place in turn.places
        if place.kind == "background"
    ]
    for one in behind:
        longer = one.placed.span.end - _time(len(samples), rate)
        if longer > 0:
            found = f"a voice that sounds {longer / SECOND:.2f} s longer than the user"
            raise InputError(f"{id}, [background]", found=found, expected="more words of the user's after it")
    mixed, heard, softer = _mixed(user, rate, [*away, *behind])
    every = [*(one for one in laid if one.who == "user"), *heard]
    marks = [
        *(Mark("ignored", one.placed.span, one.placed.text) for one in heard),
        *(words.mark(place) for place in turn.places if place.kind != "background"),
    ]
    marks.sort(key=lambda one: one.span)
    pauses = [gap for parted, gap in zip(turn.breaks, words.gaps(), strict=True) if parted.pause]
    return Cue(id, turn.text, mixed, rate, tuple(every), tuple(marks), tuple(pauses), softer)


def alone_of(turn: Marked, voices: Voices, before: Cue) -> Cue:
    """Return an aside or a background that is said over the system's answer; its level is from the cue ``before``.

    It begins with its first audible sample, and ends with what the room sends back of it.
    """
    kind = turn.kinds[0]
    text = turn.breaks[0].aside if kind == "aside" else turn.places[0].text
    said = _one(voices.user, text) if kind == "aside" else voices.background(text)
    rate, length = before.rate, len(said.spoken.samples)
    first = len(before.samples)
    user = np.concatenate([before.samples, np.zeros(length + TAIL * before.rate // SECOND, np.float32)])
    placed = Placed(text, Span(0, said.spoken.duration), said.spoken.words)
    mixed, (heard,), softer = _mixed(user, rate, [_moved(Heard(kind, said, placed), _time(first, rate))])
    heard = _moved(heard, -heard.placed.span.start)
    last = first + int(np.flatnonzero(mixed[first:])[-1]) + 1
    mark = Mark("ignored", heard.placed.span, text)
    return Cue("b0", text, mixed[first:last], rate, (heard,), (mark,), softer=softer)


def _mixed(user: Samples, rate: int, others: Sequence[Heard]) -> tuple[Samples, list[Heard], float]:
    """Return the user's speech with the others', each with its level, and the factor that all of it was scaled by."""
    random, mixed, heard = np.random.default_rng(0), user.copy(), list[Heard]()
    for one in others:
        at, sound = one.placed.span.start, one.said.spoken.samples
        effect = OtherDirected(_NAME, at=at) if one.who == "aside" else Background(_NAME, at=at)
        added = effect.make(user, rate, random=random, load=partial(_at_hand, sound)).samples
        first, last = (_sample(time, rate) for time in (one.placed.span.start, one.placed.span.end))
        level = 20 * log10(speech_level(added[first:last], rate) / speech_level(user, rate))
        heard.append(Heard(one.who, one.said, one.placed, effect.to_json(), level))
        mixed += added
    peak = float(np.abs(mixed).max())
    softer = min(1.0, MOST / peak)
    return (mixed if softer == 1 else mixed * np.float32(softer)), heard, softer


def _at_hand(sound: Samples, name: str) -> Samples:
    """Return the recording that an effect brings in, which is here already."""
    return sound


def _one(speaker: Speaker, words: str) -> Said:
    (said,) = _say(speaker, Turn((Phrase(words),)))
    return said


def _say(speaker: Speaker, turn: Turn) -> list[Said]:
    return [replace(said, spoken=in_one_breath(said.spoken)) for said in speaker.say(turn)]


def _behind(said: Said, begin: int) -> Heard:
    placed = Placed(said.phrase.text, Span(0, said.spoken.duration), said.spoken.words)
    return _moved(Heard("background", said, placed), begin)


def _moved(one: Heard, by: int) -> Heard:
    placed = one.placed
    words = None if placed.words is None else tuple(Word(w.text, w.span.shift(by)) for w in placed.words)
    return Heard(one.who, one.said, Placed(placed.text, placed.span.shift(by), words), one.effect, one.level)


def _sample(time: int, rate: int) -> int:
    """Return the sample whose time, cut to whole microseconds, is ``time``."""
    return -(-time * rate // SECOND)


def _time(sample: int, rate: int) -> int:
    return sample * SECOND // rate
