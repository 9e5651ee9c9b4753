"""The 26 cases that a driver has to get right, each played out with a server that does as it is told.

A case holds one talk or a few, reads from the watermark what was heard when, and says what it measured. It is
run on the virtual clock, with the server's twin in memory, and on the wall clock over real sockets: the
rules are the same, and only how near a planned time has to be differs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from fullduplex.driving.clock import Clock
from fullduplex.driving.cues import at
from fullduplex.driving.drive import BrokenTalk, HangUp, Talk, Turn, drive
from fullduplex.driving.link import Closed, Note, Said, System, Traits, UserVad
from fullduplex.driving.placements import fit_source
from fullduplex.driving.playout import Chunk, Flush, playout, sample_at
from fullduplex.errors import ConversationError
from fullduplex.model.spans import SECOND, in_seconds, ms, seconds
from fullduplex.systems.ogg_opus import LOOKAHEAD
from fullduplex.testing.behaviour import Behaviour, Sent, Utterance
from fullduplex.testing.observe import (
    at_once,
    falls_behind,
    frame_lags,
    growth,
    missing_frames,
    receive_factor,
    taken_back,
    underruns,
)
from fullduplex.testing.ogg import OpusStyle
from fullduplex.testing.watched import Watched
from fullduplex.testing.watermark import BLOCK, Stretch, stretches

Measured = Mapping[str, float | int | str]
FRAME = ms(20)
_RATE_IN = 16_000


class Failed(Exception):
    """What was expected and what was found."""


def expect(holds: bool, otherwise: str) -> None:
    """Raise :class:`Failed` with ``otherwise`` unless ``holds``."""
    if not holds:
        raise Failed(otherwise)


class Resting:
    """Lets talks go on together, and whoever comes out of one wait until all have ended.

    Reading a watermark takes a second now and then, and on the wall clock every talk of the loop would wait for it.
    """

    def __init__(self) -> None:
        self._talks = 0
        self._rest = asyncio.Event()

    async def __aenter__(self) -> None:
        self._talks += 1
        self._rest.clear()

    async def __aexit__(self, *_: object) -> None:
        self._talks -= 1
        if not self._talks:
            self._rest.set()
        await self._rest.wait()


@dataclass(frozen=True, slots=True)
class Stage:
    """Where cases are played: ``make`` gives the system for a behaviour, ``near`` is how near planned times must be.

    ``resting`` keeps what computes from what keeps time.
    """

    clock: Clock
    make: Callable[..., System]
    near: int
    resting: Resting = field(default_factory=lambda: Resting())

    async def talk(
        self, behaviour: Behaviour, *turns: Turn, length: int, traits: Mapping[str, Any] | None = None, **how: Any
    ) -> tuple[Talk, Mapping[str, Any]]:
        """Return a talk with a server that behaves so, and the server's own report (empty where it gave none)."""
        reports: list[Mapping[str, Any]] = []
        given: dict[str, Any] = {"timing": _TIMING[behaviour.pace], "flush": behaviour.flush, "frame": FRAME} | dict(
            traits or {}
        )
        system = self.make(behaviour, Traits(_RATE_IN, 24_000, **given), reports.append)
        talk = await self.hold(system, *turns, length=length, **how)
        return talk, reports[0] if reports else {}

    async def hold(self, system: System, *turns: Turn, length: int, **how: Any) -> Talk:
        """Return a talk with ``system``, once no other talk is going on: what follows may take its time."""
        async with self.resting:
            return await drive(system, turns, length=length, **how)

    def at(self, found: int, planned: int, what: str) -> None:
        """Fail where ``found`` is not near ``planned``."""
        off = abs(found - planned)
        expect(off <= self.near, f"{what} at {in_seconds(found):.4f} s, not at {in_seconds(planned):.4f} s")


_TIMING = {"paced": "paced", "burst": "burst", "sync": "sync", "per-input": "paced", "echo": "sync"}


@dataclass(frozen=True, slots=True)
class Case:
    """One case: what happens, what is expected, and how it is played."""

    number: int
    title: str
    expects: str
    run: Callable[[Stage], Awaitable[Measured]]
    #: What a server has to be told for it, for systems that cannot be told.
    told: str


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What came of a case on a clock; ``why`` where it failed or does not apply."""

    number: int
    title: str
    clock: Clock
    outcome: Literal["passed", "failed", "not applicable"]
    why: str = ""
    measured: Measured = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON."""
        told = {"case": self.number, "title": self.title, "clock": self.clock, "outcome": self.outcome}
        return told | {"why": self.why, "measured": dict(self.measured)}


CASES: dict[int, Case] = {}


def case(number: int, title: str, expects: str, told: str) -> Callable[[Any], Any]:
    """Enter a function as a case."""

    def enter(run: Callable[[Stage], Awaitable[Measured]]) -> Callable[[Stage], Awaitable[Measured]]:
        CASES[number] = Case(number, title, expects, run, told)
        return run

    return enter


def _heard(talk: Talk) -> tuple[Stretch, ...]:
    return stretches(talk.system, talk.rate)


def _whole(talk: Talk, length: int, block: int, slack: int = ms(1)) -> Stretch:
    """Return the one stretch that was heard; fail where it is not ``length`` of watermark from ``block`` on."""
    found = _heard(talk)
    expect(len(found) == 1, f"heard {len(found)} pieces, not one: {_told(found)}")
    (stretch,) = found
    expect(abs(stretch.duration - length) <= slack, f"heard {stretch.duration} µs, not {length}")
    expect(abs(stretch.source - block * BLOCK) <= slack, f"began {stretch.source - block * BLOCK} µs into it")
    return stretch


def _told(found: tuple[Stretch, ...]) -> str:
    return "; ".join(f"{in_seconds(s.at):.4f}-{in_seconds(s.until):.4f} s" for s in found[:6]) or "nothing"


def _received(talk: Talk) -> int:
    return sum(len(event.samples) for event in talk.received if isinstance(event, Chunk))


def _tone(length: int) -> Any:
    return np.full(length * _RATE_IN // SECOND, 0.5, np.float32)


@case(1, "burst x8, then silence", "contiguous playout, receive factor 8", "send eight times as fast as real time")
async def burst(stage: Stage) -> Measured:
    """Audio ahead of time is queued and its speed is told."""
    said = Utterance(ms(500), seconds(3), 40)
    talk, _ = await stage.talk(Behaviour(say=(said,), pace="burst", burst=8), length=seconds(4))
    stretch = _whole(talk, said.length, said.block)
    stage.at(stretch.at, said.at, "began")
    factor = receive_factor(talk.received, talk.rate) or 0.0
    allowed = 0.1 if stage.clock == "virtual" else 1.5
    expect(abs(factor - 8) <= allowed, f"receive factor {factor:.2f}, not 8")
    return {"receive_factor": round(factor, 3), "onset_error_ms": (stretch.at - said.at) / 1_000}


@case(2, "paced, jitter of ±40 ms", "underruns counted at J = 0, none at J = 0.1 s", "send with jitter")
async def jitter(stage: Stage) -> Measured:
    """What a player without a buffer would have suffered is counted, from the same log."""
    said = Utterance(ms(300), seconds(2), 0)
    talk, _ = await stage.talk(Behaviour(say=(said,), jitter=ms(80), seed=3), length=seconds(3))
    length = len(talk.system)
    plain, primed = (playout(talk.received, talk.rate, length, priming=j) for j in (0, ms(100)))
    counts = underruns(plain.placed), underruns(primed.placed)
    expect(counts[0] > 0, "no underrun at J = 0")
    expect(counts[1] == 0, f"{counts[1]} underruns at J = 0.1 s")
    return {"underruns_J0": counts[0], "underruns_J100": counts[1]}


@case(3, "flush in mid-chunk", "cut at the flush, to a sample; discarded samples exact", "take back what it sent")
async def flush(stage: Stage) -> Measured:
    """A flush cuts at its sample and what it took back adds up."""
    said, cut = Utterance(ms(300), seconds(2), 7), 1_001_537
    behaviour = Behaviour(say=(said,), pace="burst", burst=40, flush="id", flushes=((cut, "u1"),))
    talk, report = await stage.talk(behaviour, length=seconds(3))
    (event,) = (event for event in talk.received if isinstance(event, Flush))
    stage.at(event.arrived, cut, "flush")
    found = _heard(talk)
    expect(len(found) == 1, f"heard {_told(found)}")
    off = abs(sample_at(found[0].until, talk.rate) - sample_at(event.arrived, talk.rate))
    expect(off <= 1, f"cut {off} samples from the flush")
    heard = sample_at(found[0].until, talk.rate) - sample_at(found[0].at, talk.rate)
    sent = report["sent"] * talk.rate // SECOND
    expect(
        abs(sent - heard - taken_back(talk.placed)) <= 1,
        f"sent {sent}, heard {heard}, took back {taken_back(talk.placed)}",
    )
    return {"cut_error_samples": off, "discarded_s": round(taken_back(talk.placed) / talk.rate, 6)}


@case(4, "late audio after a flush", "of the same id dropped, of a new id kept", "send on after a flush")
async def late(stage: Stage) -> Measured:
    """What was under way when the flush was sent is not heard."""
    first, second = Utterance(ms(300), seconds(2), 100), Utterance(ms(1_500), ms(600), 500)
    behaviour = Behaviour(say=(first, second), pace="burst", flush="id", flushes=((seconds(1), "u1"),), late=5)
    talk, _ = await stage.talk(behaviour, length=ms(2_400))
    dropped = sum(part.late for part in talk.placed)
    expect(dropped == 5, f"{dropped} chunks were dropped as late, not 5")
    found = _heard(talk)
    expect(len(found) == 2, f"heard {_told(found)}")
    expect(
        abs(found[1].duration - second.length) <= ms(1) and found[1].source == 500 * BLOCK, "the new id was not kept"
    )
    return {"late_chunks_dropped": dropped}


@case(5, "flush with an empty queue", "nothing changes", "flush while nothing is queued")
async def idle_flush(stage: Stage) -> Measured:
    """A benign flush, or speech noticed while idle, changes nothing."""
    said = (Utterance(ms(300), ms(500), 10), Utterance(ms(1_400), ms(500), 60))
    vad = Sent(ms(1_150), '{"type": "user_vad", "speaking": true}')
    behaviour = Behaviour(
        say=said, pace="burst", flush="all", flushes=((ms(100), None), (ms(1_200), None)), messages=(vad,)
    )
    talk, _ = await stage.talk(behaviour, length=ms(2_200))
    flushes = sum(isinstance(event, Flush) for event in talk.received)
    expect(flushes == 2, f"{flushes} flushes came, not 2")
    expect(taken_back(talk.placed) == 0, f"{taken_back(talk.placed)} samples were taken back")
    found = _heard(talk)
    expect([round(s.duration, -3) for s in found] == [ms(500)] * 2, f"heard {_told(found)}")
    return {"flushes": flushes, "discarded_s": 0.0}


@case(6, "no flush: it goes quiet when interrupted", "nothing is truncated", "stop speaking without a flush")
async def goes_quiet(stage: Stage) -> Measured:
    """A system that only falls silent is heard to the last sample that it sent."""
    behaviour = Behaviour(say=(Utterance(ms(300), seconds(3), 0),), yields=ms(200))
    talk, _ = await stage.talk(behaviour, Turn(_tone(ms(600)), at(seconds(1))), length=ms(2_500))
    expect(not any(isinstance(event, Flush) for event in talk.received), "a flush was made up")
    expect(taken_back(talk.placed) == 0, f"{taken_back(talk.placed)} samples were cut")
    found = _heard(talk)
    expect(bool(found), "nothing was heard")
    expect(
        abs(found[-1].until - ms(1_200)) <= stage.near + FRAME,
        f"it was quiet at {in_seconds(found[-1].until):.3f} s, not 1.2",
    )
    return {"quiet_after_ms": (found[-1].until - seconds(1)) / 1_000}


@case(7, "silence omitted, or sent", "the same playout", "send silence between utterances, or not")
async def silence(stage: Stage) -> Measured:
    """Whether silence travels makes no difference to what is heard."""
    said = (Utterance(ms(300), ms(400), 20), Utterance(ms(1_200), ms(400), 90))
    talks = [
        await stage.talk(Behaviour(say=said, silence=sent), length=seconds(2), priming=_settle(stage))
        for sent in (False, True)
    ]
    without, within = (_heard(talk) for talk, _ in talks)
    expect(len(without) == len(within) == 2, f"heard {_told(without)} and {_told(within)}")
    apart = max(abs(a.at - a.source - b.at + b.source) for a, b in zip(without, within, strict=True))
    expect(apart <= stage.near + (0 if stage.clock == "virtual" else _settle(stage)), f"{apart} µs apart")
    return {"apart_ms": apart / 1_000}


def _settle(stage: Stage) -> int:
    """Return the priming under which pieces sent at real time join: none on the virtual clock."""
    return 0 if stage.clock == "virtual" else ms(100)


@case(8, "handshake of 5 s", "no frame before it is over", "be ready late, and refuse frames before")
async def handshake(stage: Stage) -> Measured:
    """The talk begins when the system is ready; the server refuses anything earlier."""
    talk, report = await stage.talk(Behaviour(handshake=seconds(5)), length=ms(500))
    stage.at(talk.handshake, seconds(5), "ready")
    first = report["arrivals"][0]
    expect(first >= FRAME - ms(1), f"the first frame came {first} µs after ready, before it was captured")
    expect(report["frames"] == 25, f"{report['frames']} frames in 0.5 s, not 25")
    return {"handshake_s": round(in_seconds(talk.handshake), 4), "first_frame_ms": first / 1_000}


@case(9, "busy server", "given up in time, with a reason", "accept and never be ready")
async def busy(stage: Stage) -> Measured:
    """A server that accepts and is never ready is left after the stated time."""
    system = stage.make(Behaviour(busy=True), Traits(_RATE_IN, 24_000), None, ready_within=seconds(1))
    loop = asyncio.get_running_loop()
    async with stage.resting:
        began, why = loop.time(), ""
        try:
            await drive(system, (), length=seconds(1))
        except ConversationError as error:
            why = str(error)
        spent = loop.time() - began
    expect(bool(why), "the talk began")
    expect("ready" in why and "busy" in why, f"the reason is {why!r}")
    expect(spent < 4, f"it took {spent:.1f} s to give up")
    return {"gave_up_after_s": round(spent, 3)}


@case(10, "N frames in, N - 1 out", "the lag of each frame exact", "answer frame for frame, the first only primes")
async def frame_for_frame(stage: Stage) -> Measured:
    """Output k belongs to input k + 1."""
    talk, report = await stage.talk(Behaviour(pace="sync", say=(Utterance(ms(400), seconds(1), 0),)), length=seconds(2))
    lags = frame_lags(talk.received, FRAME)
    frames = report["frames"]
    # What belongs to the last frame comes when the talk is over.
    expect(frames == 100 and len(lags) in (frames - 2, frames - 1), f"{frames} frames in, {len(lags)} out")
    expect(not missing_frames(lags), f"frames {missing_frames(lags)} are missing")
    ordered = sorted(lags.values())
    median = ordered[len(ordered) // 2]
    expect(-ms(1) <= ordered[0] and median <= stage.near, f"lags from {ordered[0]} to {ordered[-1]} µs")
    expect(not falls_behind(lags, FRAME), f"the lag grows by {growth(lags, FRAME):.3f}")
    return {
        "frames_in": frames,
        "frames_out": len(lags),
        "median_lag_ms": median / 1_000,
        "worst_lag_ms": ordered[-1] / 1_000,
    }


_STYLES = {
    "own header, 20 ms": OpusStyle(),
    "header in the first message, 40 ms, pre-skip 3840, granules of 24k": OpusStyle(ms(40), 1, 3840, 24_000, False),
    "60 ms": OpusStyle(ms(60)),
    "four packets a page": OpusStyle(ms(20), 4),
}


@case(11, "Opus in its variants", "the same onset for each pre-skip, granule, packet and page", "send Ogg-Opus")
async def opus(stage: Stage) -> Measured:
    """None of what differs between servers moves what is heard."""
    return await _opus(stage, _STYLES)


@case(12, "an Ogg page in two messages", "the same as in one", "cut its pages")
async def split(stage: Stage) -> Measured:
    """Pages are put together before they are read."""
    return await _opus(stage, {"cut in its header": OpusStyle(split=True)})


async def _opus(stage: Stage, styles: Mapping[str, OpusStyle]) -> Measured:
    said = Utterance(ms(400), ms(600), 77)
    measured: dict[str, float] = {}
    for name, style in styles.items():
        behaviour = Behaviour(say=(said,), coding="opus", opus=style)
        talk, _ = await stage.talk(behaviour, length=ms(1_500), priming=_settle(stage))
        stretch = _whole_source(talk, said)
        delay = stretch.at - stretch.source - said.at + said.block * BLOCK - _settle(stage)
        stage.at(delay, LOOKAHEAD, f"{name}: delay")
        measured[name] = delay / 1_000
    return {f"delay_ms, {name}": delay for name, delay in measured.items()}


def _whole_source(talk: Talk, said: Utterance) -> Stretch:
    """Return the one stretch heard, which coding may have frayed at its ends."""
    found = _heard(talk)
    expect(len(found) == 1, f"heard {_told(found)}")
    expect(abs(found[0].duration - said.length) <= ms(10), f"heard {found[0].duration} µs of {said.length}")
    return found[0]


@case(13, "server at 1.3 times real time", "the growing lag is told and flagged", "compute slower than real time")
async def too_slow(stage: Stage) -> Measured:
    """A system that cannot keep up shows it in its lags."""
    talk, _ = await stage.talk(Behaviour(pace="sync", rtf=1.3, say=(Utterance(0, seconds(3), 0),)), length=seconds(3))
    lags = frame_lags(talk.received, FRAME)
    grows = growth(lags, FRAME)
    expect(falls_behind(lags, FRAME), "it is not flagged")
    expect(0.28 <= grows <= 0.36, f"the lag grows by {grows:.3f} s/s, not by 0.3")
    return {"lag_growth": round(grows, 4), "last_lag_ms": max(lags.values()) / 1_000}


@case(14, "server drops input", "the missing frames are named", "throw input frames away")
async def drops(stage: Stage) -> Measured:
    """Output that belongs to no input is missed by its index."""
    talk, _ = await stage.talk(Behaviour(pace="sync", drops=(5, 6, 20)), length=seconds(1))
    missing = missing_frames(frame_lags(talk.received, FRAME))
    expect(missing == (4, 5, 19), f"missing are {missing}, not those of inputs 5, 6 and 20")
    return {"missing_frames": len(missing)}


@case(15, "the client stalls for 0.8 s", "flagged late, no burst to catch up", "report when each frame came")
async def stall(stage: Stage) -> Measured:
    """A late client is flagged and does not pour out what it owes."""
    reports: list[Mapping[str, Any]] = []
    system = Watched(
        stage.make(Behaviour(), Traits(_RATE_IN, 24_000, frame=FRAME), reports.append), stalls=20, stall=ms(800)
    )
    talk = await stage.hold(system, length=seconds(1))
    expect(talk.pacing.late, f"it is not flagged: worst {talk.pacing.worst} µs")
    most = at_once(reports[0]["arrivals"], 3 * FRAME)
    expect(most <= (4 if stage.clock == "virtual" else 6), f"{most} frames came within 60 ms")
    return {"worst_lateness_ms": talk.pacing.worst / 1_000, "most_frames_in_60_ms": most}


@case(
    16,
    "a piece for each input event",
    "silence flows until the queue is empty",
    "send one piece for each frame it gets",
)
async def per_input(stage: Stage) -> Measured:
    """The user's silence is what makes such a server go on."""
    said = Utterance(ms(200), seconds(1), 3)
    talk, _ = await stage.talk(
        Behaviour(say=(said,), pace="per-input"), length=seconds(4), hang_up=HangUp(quiet=ms(500))
    )
    expect(talk.ended_by == "quiet", f"it ended by {talk.ended_by}")
    got = _received(talk) * SECOND // talk.rate
    expect(got == said.length, f"{in_seconds(got):.2f} s of {in_seconds(said.length):.2f} s came")
    expect(taken_back(talk.placed) == 0, "not all of it was heard")
    return {"pieces": len(talk.placed), "ended_at_s": round(in_seconds(talk.duration), 3)}


@case(17, "response done before it has sounded", "the user hangs up after playout", "say that it is done at once")
async def done_early(stage: Stage) -> Measured:
    """That everything was sent does not mean that everything was heard."""
    said = Utterance(ms(200), ms(1_500), 5)
    behaviour = Behaviour(say=(said,), pace="burst", burst=30, done=True)
    talk, _ = await stage.talk(behaviour, length=seconds(5), hang_up=HangUp(quiet=ms(500)))
    done = next((note.arrived for note in talk.notes if isinstance(note, Note) and note.kind == "response.done"), None)
    expect(done is not None and done < ms(700), f"done came at {done}")
    expect(talk.ended_by == "quiet", f"it ended by {talk.ended_by}")
    stretch = _whole(talk, said.length, said.block)
    waited = talk.duration - stretch.until
    expect(waited >= ms(500) - FRAME, f"it hung up {waited} µs after the last sound")
    return {"done_at_s": in_seconds(done or 0), "hung_up_at_s": round(in_seconds(talk.duration), 3)}


@case(
    18, "expiry, and a TCP reset in mid-word", "closed with the reason, what was heard is kept", "close, and break off"
)
async def closes(stage: Stage) -> Measured:
    """A talk that ends before its time is kept as far as it got."""
    said, kept = Utterance(ms(300), seconds(3), 9), {}
    ends = {
        "expiry": (
            Behaviour(say=(said,), closes=seconds(1), reason="session expired", messages=(_GO_AWAY,)),
            "session expired",
        ),
        "reset": (Behaviour(say=(said,), resets=seconds(1)), "reset"),
    }
    for name, (behaviour, reason) in ends.items():
        try:
            await stage.talk(behaviour, length=seconds(3))
        except BrokenTalk as error:
            expect(reason in str(error), f"{name}: the reason is {str(error)!r}")
            expect(error.talk is not None, f"{name}: nothing was kept")
            assert error.talk is not None
            expect(any(isinstance(note, Closed) for note in error.talk.notes), f"{name}: it is not told that it closed")
            found = _heard(error.talk)
            expect(bool(found), f"{name}: nothing was heard")
            stage.at(error.talk.duration, seconds(1), f"{name}: end")
            kept[f"kept_s, {name}"] = round(in_seconds(error.talk.duration), 3)
        else:
            raise Failed(f"{name}: the talk is said to be whole")
    return kept


_GO_AWAY = Sent(ms(800), '{"type": "note", "kind": "go_away", "data": {"time_left": 0.2}}')
_ODDITIES: tuple[str | bytes, ...] = (
    '{"type": "rate_limits.updated", "limits": []}',
    '{"type": "userVad", "speaking": true, "confidence": 0.5}',
    '{"type": "user_vad", "speaking": false, "audioStartMs": 3}',
    '{"type": "said", "text": "\\u001b[31m../../x<script>", "who": "nobody"}',
    '{"type": "said", "text": 5, "source": 1e999}',
    '{"type": "note"',
    "[" * 5_000,
    "null",
    "",
    b"",
    b"\x07",
    b"\x63" + bytes(40),
)


@case(19, "unknown events and nonsense", "each is noted, the talk goes on", "send what no protocol knows")
async def unknown(stage: Stage) -> Measured:
    """What is not understood is kept and does no harm."""
    said = Utterance(ms(900), ms(500), 11)
    messages = tuple(Sent(ms(100 + 50 * n), message) for n, message in enumerate(_ODDITIES))
    talk, _ = await stage.talk(Behaviour(say=(said,), pace="burst", messages=messages), length=ms(1_700))
    _whole(talk, said.length, said.block)
    vads = sum(isinstance(note, UserVad) for note in talk.notes)
    expect(vads == 2, f"{vads} of the two spellings of user_vad were understood")
    notes = sum(isinstance(note, Note) for note in talk.notes)
    expect(notes == len(_ODDITIES) - 2, f"{notes} notes for {len(_ODDITIES) - 2} oddities")
    return {"oddities": len(_ODDITIES), "notes": notes}


@case(20, "announced format differs", "pitch and duration are right", "announce another rate or coding")
async def format_differs(stage: Stage) -> Measured:
    """Audio is what the server announced, not what was asked for."""
    said, measured = Utterance(ms(200), ms(500), 13), {}
    formats: tuple[tuple[int, Any], ...] = ((48_000, "wav"), (48_000, "pcm16"), (16_000, "f32"), (8_000, "mulaw"))
    for rate, coding in formats:
        talk, _ = await stage.talk(Behaviour(say=(said,), pace="burst", rate=rate, coding=coding), length=ms(900))
        stretch = _whole(talk, said.length, said.block, slack=ms(2))
        stage.at(stretch.at - stretch.source, said.at - said.block * BLOCK, f"{coding} at {rate}: onset")
        measured[f"duration_error_ms, {coding} {rate}"] = (stretch.duration - said.length) / 1_000
    return measured


@case(21, "deadlines for pongs, under load", "each is kept", "ask whether the client lives")
async def pings(stage: Stage) -> Measured:
    """The client answers while audio and words pour in."""
    said = Utterance(ms(100), seconds(20), 0)
    behaviour = Behaviour(say=(said,), pace="burst", burst=20, words=ms(5), ping=ms(60), pong=ms(300))
    talk, report = await stage.talk(behaviour, length=ms(1_500))
    expect(report["pongs"] >= report["pings"] - 1, f"{report['pongs']} answers to {report['pings']} pings")
    expect(report["pings"] >= 3, f"{report['pings']} pings")
    return {"pings": report["pings"], "pongs": report["pongs"], "events": len(talk.notes)}


@case(
    22,
    "transcripts on a clock that runs 6 % fast",
    "the fit finds its speed within 0.1 %",
    "tell times of another clock",
)
async def drift(stage: Stage) -> Measured:
    """How the server's clock runs against ours is found from its words."""
    talk, _ = await stage.talk(Behaviour(words=ms(25), drift=0.06), length=seconds(4))
    points = [(n.source, n.arrived) for n in talk.notes if isinstance(n, Said) and n.source is not None]
    line = fit_source(points)
    expect(line is not None, f"{len(points)} words came")
    assert line is not None
    off = abs(line.slope * 1.06 - 1)
    expect(off <= 0.001, f"the slope is off by {100 * off:.3f} %")
    worst = max(abs(r) for r in line.residuals)
    return {
        "slope": round(line.slope, 6),
        "error_percent": round(100 * off, 4),
        "worst_residual_ms": round(worst / 1_000, 3),
    }


@case(23, "telling what was heard", "never more than had come", "count what it is told was heard")
async def acks(stage: Stage) -> Measured:
    """No position lies beyond what the server has sent of it."""
    said = (Utterance(ms(200), seconds(2), 0), Utterance(ms(1_300), ms(500), 200))
    behaviour = Behaviour(say=said, pace="burst", burst=4, flush="id", flushes=((seconds(1), "u1"),))
    _, report = await stage.talk(behaviour, length=seconds(2))
    expect(report["acks"] > 20, f"{report['acks']} positions were told")
    expect(report["acks_beyond"] == 0, f"{report['acks_beyond']} positions beyond what was sent")
    return {"positions": report["acks"], "beyond": report["acks_beyond"]}


@case(24, "chunks that end inside a sample", "the rest is carried over", "cut samples in two")
async def odd(stage: Stage) -> Measured:
    """Half a sample waits for its other half."""
    said, codings = Utterance(ms(200), ms(800), 17), ("pcm16", "f32")
    for coding in codings:
        behaviour = Behaviour(say=(said,), pace="burst", coding=coding, odd=True)  # type: ignore[arg-type]
        talk, _ = await stage.talk(behaviour, length=ms(1_200))
        _whole(talk, said.length, said.block)
        expect(_received(talk) == said.length * talk.rate // SECOND, f"{coding}: {_received(talk)} samples came")
    return {"codings": len(codings)}


@case(25, "two talks at once", "each hears its own", "hold two talks")
async def two(stage: Stage) -> Measured:
    """Nothing of one talk is heard in another."""
    said = [Utterance(ms(200), ms(900), 1_000), Utterance(ms(260), ms(900), 20_000)]
    talks = await asyncio.gather(*(stage.talk(Behaviour(say=(one,), pace="burst"), length=ms(1_500)) for one in said))
    for (talk, _), one in zip(talks, said, strict=True):
        stage.at(_whole(talk, one.length, one.block).at, one.at, "began")
    return {"talks": len(talks)}


@case(26, "text alone, empty audio, a flush of nothing", "the talk goes on", "answer without audio")
async def nothing(stage: Stage) -> Measured:
    """Events without substance are events."""
    from fullduplex.systems.loopback import HEADER, SYSTEM_AUDIO

    said = Utterance(ms(800), ms(500), 19)
    messages: tuple[str | bytes, ...] = (
        '{"type": "said", "text": "only words", "id": "u7"}',
        HEADER.pack(SYSTEM_AUDIO, 0, 0, 0, 7, -1),
        '{"type": "flush", "scope": "u7"}',
        '{"type": "flush", "scope": "never"}',
    )
    sent = tuple(Sent(ms(100 + 50 * n), message) for n, message in enumerate(messages))
    behaviour = Behaviour(say=(said,), pace="burst", flush="id", messages=sent)
    talk, _ = await stage.talk(behaviour, length=ms(1_600))
    _whole(talk, said.length, said.block)
    words = [note.text for note in talk.notes if isinstance(note, Said)]
    expect(words == ["only words"], f"the words are {words}")
    expect(sum(isinstance(event, Flush) for event in talk.received) == 2, "a flush is missing")
    return {"words": len(words), "empty_chunks": sum(part.size == 0 for part in talk.placed)}


async def play(one: Case, stage: Stage) -> CaseResult:
    """Return what came of a case; what goes wrong in any way is its failure, in a sentence."""
    result = CaseResult(one.number, one.title, stage.clock, "passed")
    try:
        return replace(result, measured=await one.run(stage))
    except Failed as failed:
        return replace(result, outcome="failed", why=str(failed))
    except asyncio.CancelledError:
        raise
    except Exception as error:  # noqa: BLE001
        return replace(result, outcome="failed", why=f"{type(error).__name__}: {error}")
