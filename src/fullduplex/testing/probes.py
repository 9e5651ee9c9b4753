"""The cases that can be judged from outside, on a system whose server nobody can tell what to do.

Four talks and a pair are held: a question and its answer, an interruption, one with a client that stalls, one whose
line is cut, two at once. What the system declares is compared with what it was seen to do; on the virtual clock the
first is held twice, and where somebody asks for it one lasts as long as the longest that is declared.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median_low
from time import perf_counter
from typing import Any

import numpy as np

from fullduplex.driving.clock import Clock
from fullduplex.driving.cues import AUDIBLE, at, into_reply
from fullduplex.driving.drive import BrokenTalk, HangUp, Talk, Turn, drive
from fullduplex.driving.link import System
from fullduplex.driving.observe import (
    at_once,
    decision_lags,
    dropped_frames,
    falls_behind,
    growth,
    output_lags,
    receive_factor,
    taken_back,
    underruns,
    unit_of,
)
from fullduplex.driving.placements import fit_source, source_points
from fullduplex.driving.playout import Chunk, Flush, Samples, playout, sample_at
from fullduplex.errors import ConversationError, PluginError, printable
from fullduplex.model.spans import SECOND, in_seconds, ms, seconds
from fullduplex.systems.pages import no_server
from fullduplex.testing.cases import CASES
from fullduplex.testing.declared import DECLARED, LIMIT, SAME, ends_at_its_limit, the_same, why_not_same
from fullduplex.testing.exclusive import one_at_a_time
from fullduplex.testing.stage import CaseResult, Failed, Measured, expect
from fullduplex.testing.watched import Seen, Watched

#: How long a talk may last in which two seconds are said at a time, and how long the user waits in silence
#: before hanging up.
LONGEST, QUIET = seconds(20), seconds(3)
#: After a talk that broke and took longer, in real seconds, no other is held.
GIVEN_UP_AFTER = 45.0
#: A system that says it sends at about real time sends no faster than this.
PACED_BELOW = 1.5


class _Beside(Exception):
    """The case does not apply, and why."""


def like_speech(rate: int, length: int = seconds(2), seed: int = 1) -> Samples:
    """Return sound with the pitch, the formants' place and the rhythm of speech, for systems that go by loudness."""
    rng, time = np.random.default_rng(seed), np.arange(length * rate // SECOND) / rate
    pitch = 2 * np.pi * np.cumsum(130 + 25 * np.sin(2 * np.pi * 0.7 * time)) / rate
    harmonics = range(1, max(2, min(25, rate // 2 // 160)))
    voice = np.sum([np.sin(n * pitch) / (1 + abs(n - 4)) for n in harmonics], axis=0)
    syllables = 0.15 + 0.85 * np.abs(np.sin(2 * np.pi * 2.2 * time)) ** 0.7
    sound = (voice + 0.1 * rng.standard_normal(len(time))) * syllables
    made: Samples = (0.3 * sound / np.abs(sound).max()).astype(np.float32)
    return made


def said_of(sound: Samples) -> Samples:
    """Return ``sound`` without the silence behind its last word (below -40 dB); whole where it is silence alone.

    A user who is silent for seconds after a question would have the reply behind them before their next words.
    """
    loud = np.flatnonzero(np.abs(sound) > AUDIBLE)
    return sound[: int(loud[-1]) + 1] if len(loud) else sound


@dataclass(slots=True)
class _Held:
    """A talk as it was held: ``error`` where it broke."""

    talk: Talk | None
    seen: Seen
    error: str = ""

    def whole(self) -> Talk:
        """Return the talk; raises :class:`Failed` where it broke."""
        if self.talk is None or self.error:
            raise Failed(self.error or "there was no talk")
        return self.talk


class _Probes:
    """The talks, each held once, when a case first needs it."""

    def __init__(self, system: System, clock: Clock, say: Samples) -> None:
        self.system, self.clock, self.say = system, clock, said_of(say)
        #: How long they last beyond :data:`LONGEST`, since something long is said.
        self.longer = max(0, len(self.say) * SECOND // system.traits.rate_in - seconds(2))
        self.frame = system.traits.frame or ms(20)
        self._held: dict[str, _Held] = {}
        self._given_up = ""

    async def _hold(
        self, name: str, turns: Sequence[Turn], *, length: int, hang_up: HangUp | None = None, **how: Any
    ) -> _Held:
        if name not in self._held:
            watched = Watched(self.system, **how)
            held = _Held(None, watched.seen, self._given_up)
            if self._given_up:
                return held
            began = perf_counter()
            try:
                held.talk = await drive(watched, turns, length=length, hang_up=hang_up)
            except BrokenTalk as error:
                held.talk, held.error = error.talk, str(error)
            except ConversationError as error:
                held.error = f"{error}{no_server(error, self.system)}"
            if held.error and perf_counter() - began > GIVEN_UP_AFTER:
                # The next talk would last as long, and so would the one after that.
                self._given_up = f"not held, since the one before took {perf_counter() - began:.0f} s: {held.error}"
            self._held[name] = held
        return self._held[name]

    @property
    def given_up(self) -> str:
        """Return why no more talks are held, empty where they are."""
        return self._given_up

    async def answered(self, name: str = "answered") -> _Held:
        turns = [Turn(self.say, at(ms(500)))]
        return await self._hold(name, turns, length=LONGEST + self.longer, hang_up=HangUp(QUIET, seconds(12)))

    async def interrupted(self) -> _Held:
        turns = [Turn(self.say, at(ms(500))), Turn(self.say, into_reply(seconds(1)))]
        return await self._hold(
            "interrupted", turns, length=LONGEST + 2 * self.longer, hang_up=HangUp(QUIET, seconds(12))
        )

    async def stalled(self) -> _Held:
        return await self._hold("stalled", (), length=seconds(3), stalls=seconds(1) // self.frame, stall=ms(800))

    async def cut(self) -> _Held:
        return await self._hold("cut", (), length=seconds(3), breaks=ms(1_500))


def _has_audio(talk: Talk) -> bool:
    return any(isinstance(event, Chunk) and len(event.samples) for event in talk.received)


async def _rate(probes: _Probes) -> Measured:
    talk, timing = (await probes.answered()).whole(), probes.system.traits.timing
    factor = receive_factor(talk.received, talk.rate) if _has_audio(talk) else None
    if not _has_audio(talk):
        raise _Beside("it said nothing to the sound that it heard; give a spoken question")
    if timing in ("paced", "sync", "track", "unit") and factor is not None:
        expect(factor <= PACED_BELOW, f"declares {timing} and sends {factor:.2f} times real time")
    return {"declares": timing, "receive_factor": "at once" if factor is None else round(factor, 3)}


async def _jitter(probes: _Probes) -> Measured:
    talk = (await probes.answered()).whole()
    if not _has_audio(talk):
        raise _Beside("it said nothing to the sound that it heard; give a spoken question")
    placed = [playout(talk.received, talk.rate, len(talk.system), priming=j).placed for j in (0, ms(100))]
    return {"underruns_J0": underruns(placed[0]), "underruns_J100": underruns(placed[1])}


async def _flush(probes: _Probes) -> Measured:
    talk, declares = (await probes.interrupted()).whole(), probes.system.traits.flush
    flushes = [event for event in talk.received if isinstance(event, Flush)]
    if declares == "none":
        raise _Beside("it declares no flush")
    if len([turn for turn in talk.turns if turn.span is not None]) < 2:
        raise _Beside("it gave no reply to interrupt")
    if not flushes:
        raise _Beside("it sent no flush when it was interrupted")
    for part in talk.placed:
        for flush in flushes:
            if flush.arrived >= part.chunk.arrived and flush.covers(part.chunk):
                beyond = part.end - max(part.start, sample_at(flush.arrived, talk.rate))
                expect(not part.played or beyond <= 1, f"{beyond} samples sounded after the flush")
    return {"flushes": len(flushes), "discarded_s": round(taken_back(talk.placed) / talk.rate, 4)}


async def _late(probes: _Probes) -> Measured:
    talk = (await probes.interrupted()).whole()
    late = [part for part in talk.placed if part.late]
    if not late:
        raise _Beside("nothing came late after a flush")
    expect(not any(part.played for part in late), "late audio was heard")
    return {"late_chunks_dropped": len(late)}


async def _quiet(probes: _Probes) -> Measured:
    talk = (await probes.interrupted()).whole()
    if probes.system.traits.flush != "none":
        raise _Beside(f"it declares flush: {probes.system.traits.flush}")
    expect(not any(isinstance(event, Flush) for event in talk.received), "declares no flush and sent one")
    return {"discarded_s": round(taken_back(talk.placed) / talk.rate, 4)}


async def _ready(probes: _Probes) -> Measured:
    held = await probes.answered()
    talk = held.whole()
    expect(held.seen.ready, "it was never ready")
    expect(
        held.seen.frames[0] >= probes.frame - ms(1), f"the first frame went out {held.seen.frames[0]} µs after ready"
    )
    return {"handshake_s": round(in_seconds(talk.handshake), 4), "first_frame_ms": held.seen.frames[0] / 1_000}


async def _lags(probes: _Probes) -> tuple[Talk, dict[int, int]]:
    """Return for each output frame how long after its own place it came: after its source, else after its turn."""
    if probes.system.traits.timing != "sync":
        raise _Beside(f"it declares {probes.system.traits.timing}, not an output frame for each input frame")
    talk = (await probes.answered()).whole()
    lags = output_lags(talk.received, probes.frame, sourced=probes.system.traits.source == "session")
    if len(lags) < 2:
        raise _Beside("it said nothing to the sound that it heard; give a spoken question")
    return talk, lags


def _chunks(talk: Talk) -> list[Chunk]:
    return [event for event in talk.received if isinstance(event, Chunk) and len(event.samples)]


async def _frames(probes: _Probes) -> Measured:
    talk, lags = await _lags(probes)
    before = 0
    for chunk in _chunks(talk):
        # What follows so much output needs a frame more of input, whichever it belongs to.
        early = before * SECOND // talk.rate + probes.frame - chunk.arrived
        expect(early <= ms(1), f"output came {early} µs before its input was whole")
        before += len(chunk.samples)
    ordered = sorted(lags.values())
    table = {"median_lag_ms": ordered[len(ordered) // 2] / 1_000, "worst_lag_ms": ordered[-1] / 1_000}
    return {"frames_in": talk.pacing.frames, "frames_out": len(lags)} | table


async def _speed(probes: _Probes) -> Measured:
    traits = probes.system.traits
    if traits.timing == "unit" and traits.source == "session":
        talk = (await probes.answered()).whole()
        ends = decision_lags((*talk.received, *talk.notes))
        if len(ends) < 2:
            raise _Beside(f"it answered {len(ends)} units")
        expect(not falls_behind(ends, 1, unit=unit_of(ends)), f"it falls behind by {growth(ends, 1):.3f} s a second")
        return {"lag_growth": round(growth(ends, 1), 4), "median_lag_ms": median_low(ends.values()) / 1_000}
    _, lags = await _lags(probes)
    grows = growth(lags, probes.frame)
    expect(grows <= 0.01, f"it falls behind by {grows:.3f} s a second")
    return {"lag_growth": round(grows, 4)}


async def _missing(probes: _Probes) -> Measured:
    if probes.system.traits.source != "session":
        raise _Beside("its output carries no index of the input")
    _, lags = await _lags(probes)
    dropped = dropped_frames(lags, probes.frame)
    expect(not dropped, f"{len(dropped)} input frames were dropped, the first {dropped[0]}" if dropped else "")
    return {"missing_frames": 0, "silent_frames": max(lags) - min(lags) + 1 - len(lags)}


async def _stall(probes: _Probes) -> Measured:
    held = await probes.stalled()
    talk = held.whole()
    expect(talk.pacing.late, f"the talk is not flagged: worst {talk.pacing.worst} µs")
    most = at_once(held.seen.frames, 3 * probes.frame)
    expect(most <= 6, f"{most} frames went out within three frames' time")
    return {"worst_lateness_ms": talk.pacing.worst / 1_000, "most_frames_in_three": most}


async def _silence(probes: _Probes) -> Measured:
    held = await probes.answered()
    talk = held.whole()
    expect(
        len(held.seen.frames) == talk.pacing.frames, f"{len(held.seen.frames)} of {talk.pacing.frames} frames went out"
    )
    spoke = in_seconds(talk.turns[0].span.end) if talk.turns and talk.turns[0].span else 0.0
    last = held.seen.frames[-1] if held.seen.frames else 0
    expect(in_seconds(last) >= min(spoke, in_seconds(talk.duration)) - 0.1, "frames ceased with the user's words")
    return {"frames": talk.pacing.frames, "last_frame_s": round(in_seconds(last), 3)}


async def _hang_up(probes: _Probes) -> Measured:
    talk = (await probes.answered()).whole()
    if not _has_audio(talk):
        raise _Beside("it said nothing to the sound that it heard; give a spoken question")
    if talk.ended_by != "quiet":
        raise _Beside(f"the talk ended by {talk.ended_by}, before it was quiet")
    ends = max((part.end for part in talk.placed if part.played and np.abs(part.chunk.samples).max() > 0.01), default=0)
    heard = ends * SECOND // talk.rate
    expect(heard <= talk.duration, f"it hung up {heard - talk.duration} µs before the last of it had sounded")
    return {"last_heard_s": round(in_seconds(heard), 3), "hung_up_s": round(in_seconds(talk.duration), 3)}


async def _cut(probes: _Probes) -> Measured:
    held = await probes.cut()
    if held.talk is None:
        raise Failed(held.error or "nothing was kept")
    expect(bool(held.error), "the talk is said to be whole")
    expect("cut" in held.error, f"the reason is {held.error!r}")
    return {"kept_s": round(in_seconds(held.talk.duration), 3)}


async def _source(probes: _Probes) -> Measured:
    talk = (await probes.answered()).whole()
    if probes.system.traits.source != "session":
        raise _Beside("it tells no times of a clock of its own session")
    line = fit_source(source_points(talk.received))
    if line is None:
        raise _Beside("it told fewer than two times")
    return {"slope": round(line.slope, 6), "worst_residual_ms": round(max(map(abs, line.residuals)) / 1_000, 3)}


async def _acks(probes: _Probes) -> Measured:
    held = await probes.interrupted()
    held.whole()
    expect(held.seen.beyond == 0, f"{held.seen.beyond} positions beyond what had come")
    return {"positions": held.seen.positions, "beyond": 0}


async def _two(probes: _Probes) -> Measured:
    if probes.given_up:
        raise Failed(probes.given_up)
    if probes.system.traits.exclusive:
        if probes.system.traits.offline:
            raise _Beside("it hears nothing before the last frame, so that nobody can tell which talk it is in")
        alone = (await probes.answered()).whole()
        return await one_at_a_time(probes.system, probes.say, alone, probes.frame)
    turns = [Turn(probes.say, at(ms(500)))]
    try:
        talks = await asyncio.gather(*(drive(probes.system, turns, length=seconds(4)) for _ in range(2)))
    except ConversationError as error:
        raise Failed(f"two talks at once: {error}") from error
    return {"talks": len(talks)}


async def _limit(probes: _Probes) -> Measured:
    if not probes.system.traits.longest:
        raise _Beside("it declares no longest talk")
    if probes.given_up:
        raise Failed(probes.given_up)
    return await ends_at_its_limit(probes.system)


async def _same(probes: _Probes) -> Measured:
    if why := why_not_same(probes.system, probes.clock):
        raise _Beside(why)
    one = (await probes.answered()).whole()
    return the_same(one, (await probes.answered("answered again")).whole())


#: What is judged from outside, by the number of the case.
PROBES: dict[int, Callable[[_Probes], Awaitable[Measured]]] = {
    1: _rate,
    2: _jitter,
    3: _flush,
    4: _late,
    6: _quiet,
    8: _ready,
    10: _frames,
    13: _speed,
    14: _missing,
    15: _stall,
    16: _silence,
    17: _hang_up,
    18: _cut,
    22: _source,
    23: _acks,
    25: _two,
    LIMIT: _limit,
    SAME: _same,
}


async def probe(system: System, clock: Clock, wanted: Sequence[int], say: Samples | None) -> list[CaseResult]:
    """Return the results of the cases ``wanted`` as far as they can be judged from outside.

    The others do not apply: each says what its server would have to be told.
    """
    probes = _Probes(system, clock, like_speech(system.traits.rate_in) if say is None else say)
    return [await _judged(probes, clock, number) for number in wanted]


async def _judged(probes: _Probes, clock: Clock, number: int) -> CaseResult:
    title = DECLARED[number] if number in DECLARED else CASES[number].title
    result = CaseResult(number, title, clock, "passed")
    judge = PROBES.get(number)
    if judge is None:
        why = f"needs a server that can be told to {CASES[number].told}"
        return replace(result, outcome="not applicable", why=why)
    if probes.system.traits.offline and number in (15, 18):
        return replace(result, outcome="not applicable", why="it hears nothing before the last frame")
    try:
        return replace(result, measured=await judge(probes))
    except _Beside as beside:
        return replace(result, outcome="not applicable", why=str(beside))
    except Failed as failed:
        return replace(result, outcome="failed", why=printable(str(failed)))
    except (asyncio.CancelledError, PluginError):
        # What has to be installed first is no fault of the system.
        raise
    except Exception as error:  # noqa: BLE001
        return replace(result, outcome="failed", why=printable(f"{type(error).__name__}: {error}"))
