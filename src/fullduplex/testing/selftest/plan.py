"""Talks with planted answers: who says what, when exactly, and what a measure has to find.

There are four kinds, after the tasks of Full-Duplex-Bench. Every planted time is a whole millisecond, so
that it is a whole sample at every rate in use, and what is found late or early is the finder's error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from fullduplex.data import audio
from fullduplex.errors import InputError
from fullduplex.model.items import Event
from fullduplex.model.spans import SECOND, Span, ms
from fullduplex.systems.scripted import Answer, Say, Script, Scripted
from fullduplex.testing.selftest.clips import RATE, Clip, planted_span, sound_of
from fullduplex.testing.selftest.texts import NODS, SENTENCES

T = TypeVar("T")
Kind = Literal["backchannel", "turn", "pause", "interruption", "overlap"]
KINDS: tuple[Kind, ...] = ("backchannel", "turn", "pause", "interruption", "overlap")
#: How many of ten talks are of each kind.
SHARES = {"backchannel": 3, "turn": 2, "pause": 1, "interruption": 2, "overlap": 2}
#: The levels of the systems, in dB of the voices' own: a range of 20 dB.
LEVELS = (0.0, -5.0, -10.0, -15.0, -20.0)
#: No text is said, and no real clip used, more often.
AT_MOST = 15
#: What the scripted system takes for speech, and the rate at which it hears.
_AUDIBLE, _RATE_IN = 10 ** (-50 / 20), 16_000
#: No talk plants more.
_A_TALK = 6
#: What is interrupted lasts at least so long: 0.5 s before the user, the longest stop, and some more.
_LONG = ms(1_600)
_BEFORE, _AFTER = ms(500), ms(1_500)


@dataclass(frozen=True, slots=True)
class Use:
    """A clip that the system says: why (``nod``, ``answer``, ``stop``, ``overlap``, ``say``), when, and how much of it.

    ``at`` is when its first sample sounds; ``kept`` is how many samples sound, None for all. ``span`` is its truth.
    ``delay`` is what was planted: after the user's end (``answer``), or from the user's onset to the stop (``stop``).
    """

    why: str
    clip: Clip
    at: int
    span: Span
    kept: int | None = None
    delay: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedTalk:
    """One talk: the system's voice and level (dB), the user's turns ``(clip, at)``, and what is planted.

    ``planted`` is in order of time. ``events`` are the user's, as a benchmark sees them.
    """

    id: str
    kind: Kind
    voice: str
    level: float
    user: tuple[tuple[Clip, int], ...]
    planted: tuple[Use, ...]
    script: Script
    burst: bool
    events: tuple[Event, ...]
    length: int

    @property
    def system(self) -> Scripted:
        """Return the system that says what is planted."""
        return Scripted(self.script, f"planted-{self.kind}", burst=self.burst, rate_in=_RATE_IN)


_TEXTS = frozenset((*NODS, *SENTENCES))


class Deck:
    """Clips in a drawn order, each text and each voice as often as the others."""

    def __init__(self, clips: Sequence[Clip], random: np.random.Generator) -> None:
        self._random = random
        self._used: dict[str, int] = {}
        self._clips = list(clips)

    def draw(self, voice: str, role: str, at_least: int = 0) -> Clip:
        """Return a clip of ``voice`` that lasts ``at_least`` microseconds, of a text used least so far.

        Raises :class:`InputError` where every one was used :data:`AT_MOST` times.
        """
        able = [c for c in self._clips if c.voice == voice and c.role == role and c.duration >= at_least]
        able = able or [c for c in self._clips if c.voice == voice and c.duration >= at_least]
        able = [c for c in able if self._used.get(self.name(c), 0) < AT_MOST]
        if not able:
            raise InputError("selftest", voice, found="no clip left", expected=f"none used more than {AT_MOST} times")
        least = min(self._used.get(self.name(c), 0) for c in able)
        able = [c for c in able if self._used.get(self.name(c), 0) == least]
        clip = able[int(self._random.integers(len(able)))]
        self._used[self.name(clip)] = least + 1
        return clip

    def name(self, clip: Clip) -> str:
        """Return what counts as one utterance: a text in any voice, or one real clip."""
        return clip.text if clip.text in _TEXTS else clip.file

    def left(self, voice: str, at_least: int = 0) -> int:
        """Return how many more clips of ``voice`` that last ``at_least`` microseconds may be said."""
        names = {self.name(c) for c in self._clips if c.voice == voice and c.duration >= at_least}
        return sum(AT_MOST - self._used.get(name, 0) for name in names)


def planned(folder: Path, clips: Sequence[Clip], talks: int, seed: int) -> tuple[PlannedTalk, ...]:
    """Return ``talks`` talks with the clips of ``folder``: the same for the same clips and seed."""
    random = np.random.default_rng([seed, 1])
    deck = Deck([c for c in clips if c.role != "user"], random)
    users = [c for c in clips if c.role == "user"]
    voices = sorted({c.voice for c in clips if c.role != "user"})
    kinds = _dealt([kind for kind in KINDS for _ in range(SHARES[kind])], talks, random)
    spoken, levels = _dealt(voices, talks, random), _dealt(LEVELS, talks, random)
    bursts = _dealt((False, True), talks, random)
    made = []
    for i, (kind, voice, level) in enumerate(zip(kinds, spoken, levels, strict=True)):
        if deck.left(voice) < _A_TALK or (kind == "interruption" and not deck.left(voice, _LONG)):
            voice = max(voices, key=lambda other: deck.left(other, _LONG))
        planner = _Planner(folder, deck, [u for u in users if u.voice != voice], voice, level, random)
        made.append(planner.talk(f"{i:03d}-{kind}", kind, burst=bursts[i]))
    return tuple(made)


def _dealt(values: Sequence[T], count: int, random: np.random.Generator) -> list[T]:
    """Return ``count`` of ``values``, each as often as the others, in drawn order."""
    dealt: list[T] = []
    while len(dealt) < count:
        dealt += [values[int(k)] for k in random.permutation(len(values))]
    return dealt[:count]


class _Planner:
    """Plans one talk; everything drawn is drawn in order."""

    def __init__(
        self, folder: Path, deck: Deck, users: Sequence[Clip], voice: str, level: float, random: np.random.Generator
    ) -> None:
        self.folder, self.deck, self.users = folder, deck, users
        self.voice, self.level, self.random = voice, level, random
        self.turns: list[tuple[Clip, int]] = []
        self.lines: list[Say | Answer] = []
        self.planted: list[Use] = []
        self.events: list[Event] = []
        self.yields: int | None = None

    def talk(self, id: str, kind: Kind, *, burst: bool) -> PlannedTalk:
        plans: Mapping[Kind, Any] = {
            "backchannel": self.backchannel,
            "turn": self.turn,
            "pause": self.pause,
            "interruption": self.interruption,
            "overlap": self.overlap,
        }
        plans[kind]()
        ends = [use.at + use.clip.duration for use in self.planted] + [at + clip.duration for clip, at in self.turns]
        length = -(-(max(ends) + _AFTER) // ms(20)) * ms(20)
        script = Script(tuple(self.lines), self.yields, rate=RATE)
        return PlannedTalk(
            id,
            kind,
            self.voice,
            self.level,
            tuple(self.turns),
            tuple(sorted(self.planted, key=lambda use: use.at)),
            script,
            burst,
            tuple(self.events),
            length,
        )

    def between(self, low: float, high: float) -> int:
        """Return a drawn time between ``low`` and ``high`` seconds, on a millisecond."""
        return ms(int(self.random.integers(round(low * 1000), round(high * 1000))))

    def user_says(self, at: int) -> Span:
        """Let the user say something from ``at`` on; return where the system hears it."""
        clip = self.users[int(self.random.integers(len(self.users)))]
        self.turns.append((clip, at))
        first, last = audible(user_samples(self.folder, clip))
        return Span(at + first * SECOND // _RATE_IN, at + last * SECOND // _RATE_IN)

    def plant(self, why: str, clip: Clip, at: int, kept: int | None = None, delay: int | None = None) -> int:
        """Note that ``clip`` sounds from ``at`` on; return when its last sample has sounded."""
        sound = sound_of(self.folder, clip, self.level)
        span = planted_span(sound.samples, at, kept)
        if span is None:
            raise InputError(clip.file, found="nothing to hear in what is kept of it", expected="a sound")
        self.planted.append(Use(why, clip, at, span, kept, delay))
        return at + (clip.length if kept is None else kept) * SECOND // RATE

    def say(self, why: str, role: str, at: int) -> int:
        clip = self.deck.draw(self.voice, role)
        self.lines.append(Say(sound_of(self.folder, clip, self.level), at))
        return self.plant(why, clip, at)

    def answer(self, delay: int, user: Span) -> int:
        """Let the system answer about ``delay`` after the user's end, as it hears it."""
        clip = self.deck.draw(self.voice, "sentence")
        # The user's last sample is on no millisecond; the answer's first shall be.
        delay = _next(user.end + delay) - user.end
        self.lines.append(Answer(sound_of(self.folder, clip, self.level), delay, user.end - ms(10)))
        return self.plant("answer", clip, user.end + delay, delay=delay)

    def backchannel(self) -> None:
        at = self.user_says(_BEFORE).start
        for i in range(_A_TALK - 1):
            at = _next(self.say("nod", "nod", _next(at) + self.between(0.5, 1.2)))
            if i % 2 and at > self.turns[-1][1] + self.turns[-1][0].duration:
                self.user_says(at + ms(100))
        end = max(start + clip.duration for clip, start in self.turns)
        if self.random.random() < 0.25:
            self.say("say", "sentence", _next(max(at, end)) + self.between(0.3, 1.0))

    def turn(self) -> None:
        user = self.user_says(_BEFORE)
        end = self.answer(self.between(0.1, 1.6), user)
        self.events.append(Event("turn_end", Span(user.end, user.end + SECOND)))
        end = self.say("say", "sentence", _next(end) + self.between(0.3, 1.2))
        self.say("say", "sentence", _next(end) + self.between(0.3, 1.2))

    def pause(self) -> None:
        first = self.user_says(_BEFORE)
        resumes = _next(first.end) + self.between(0.8, 1.6)
        if self.random.random() < 0.5:
            end = self.say("nod", "nod", _next(first.end) + self.between(0.1, 0.5))
        else:
            end = self.say("overlap", "sentence", _next(first.end) + self.between(0.1, 0.5))
        second = self.user_says(max(resumes, _next(self.turns[-1][1] + self.turns[-1][0].duration) + ms(300)))
        self.events.append(Event("pause", Span(first.end, second.start)))
        end = self.say("say", "sentence", _next(max(end, second.end)) + self.between(0.3, 1.2))
        self.say("say", "sentence", _next(end) + self.between(0.3, 1.2))

    def interruption(self) -> None:
        stop = self.between(0.1, 0.9)
        clip = self.deck.draw(self.voice, "sentence", at_least=_LONG)
        begins = ms(400) + self.between(0.0, 0.3)
        spare = clip.duration - stop - ms(600)
        onset_at = begins + ms(500) + ms(int(self.random.integers(0, max(1, spare // ms(1)))))
        self.lines.append(Say(sound_of(self.folder, clip, self.level), begins))
        user = self.user_says(onset_at)
        self.yields = stop = _next(user.start + stop) - user.start
        kept = (user.start + stop - begins) * RATE // SECOND
        self.plant("stop", clip, begins, kept if kept < clip.length else None, stop)
        self.events.append(Event("interruption", user))
        end = self.answer(self.between(0.1, 1.6), user)
        self.say("say", "sentence", _next(end) + self.between(0.3, 1.2))

    def overlap(self) -> None:
        user = self.user_says(_BEFORE)
        end = self.say("overlap", "sentence", _next(user.end) - self.between(0.2, 0.6))
        again = self.user_says(max(_next(user.end) + ms(300), _next(end) - self.between(0.3, 0.8)))
        end = self.say("say", "sentence", _next(max(end, again.end)) + self.between(0.3, 1.2))
        self.say("say", "sentence", _next(end) + self.between(0.3, 1.2))


def _next(time: int) -> int:
    """Return the first whole millisecond at or after ``time``."""
    return -(-time // ms(1)) * ms(1)


def user_samples(folder: Path, clip: Clip) -> audio.Samples:
    """Return what the user says, at the rate at which the system hears."""
    samples, rate = audio.read(folder / clip.file)
    return audio.resample(samples, rate, _RATE_IN)


def audible(samples: audio.Samples) -> tuple[int, int]:
    """Return the first sample that a scripted system hears, and the one after the last."""
    loud = np.flatnonzero(np.abs(samples) > _AUDIBLE)
    if not len(loud):
        raise InputError("selftest", found="a user who cannot be heard", expected="a clip above -50 dBFS")
    return int(loud[0]), int(loud[-1]) + 1


def uses(talks: Sequence[PlannedTalk]) -> Iterator[tuple[PlannedTalk, Use]]:
    """Yield everything planted, with its talk."""
    for talk in talks:
        for use in talk.planted:
            yield talk, use
