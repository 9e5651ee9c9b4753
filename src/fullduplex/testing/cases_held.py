"""The cases about how a talk goes: handshakes, frames, lags, clocks, ends, and what nobody understands."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from fullduplex.driving.drive import BrokenTalk, HangUp, drive
from fullduplex.driving.link import Closed, Note, Said, UserVad
from fullduplex.driving.observe import (
    at_once,
    falls_behind,
    growth,
    missing_frames,
    taken_back,
)
from fullduplex.driving.placements import fit_source
from fullduplex.errors import ConversationError
from fullduplex.model.spans import in_seconds, ms, seconds
from fullduplex.testing.behaviour import Behaviour, Sent, Utterance
from fullduplex.testing.stage import Failed, Measured, Stage, case, expect, pieces_heard, whole
from fullduplex.testing.watched import Watched


@case(8, "handshake of 5 s", "no frame before it is over", "be ready late, and refuse frames before")
async def handshake(stage: Stage) -> Measured:
    """The talk begins when the system is ready; the server refuses anything earlier."""
    unit = stage.terms.unit or stage.terms.frame
    length = max(ms(500), 2 * stage.terms.unit)
    talk, report = await stage.talk(Behaviour(handshake=seconds(5)), length=length)
    stage.at(talk.handshake, seconds(5), "ready")
    first = report["arrivals"][0]
    expect(first >= unit - ms(1), f"the first frame came {first} µs after ready, before it was captured")
    # The last is sent whole where the talk ends within it, and may not have been heard.
    least, most = length // unit - bool(stage.terms.unit) - stage.terms.held, -(-length // unit)
    expect(least <= report["frames"] <= most, f"{report['frames']} frames in {in_seconds(length):g} s, not {most}")
    return {"handshake_s": round(in_seconds(talk.handshake), 4), "first_frame_ms": first / 1_000}


@case(9, "busy server", "given up in time, with a reason", "accept and never be ready")
async def busy(stage: Stage) -> Measured:
    """A server that accepts and is never ready is left after the stated time."""
    system = stage.make(Behaviour(busy=True), stage.traits(), None, ready_within=seconds(1))
    loop = asyncio.get_running_loop()
    async with stage.resting.talk(stage.case):
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
    frame, lags = stage.terms.frame, stage.lags(talk)
    frames = report["frames"]
    # What belongs to the last frame comes when the talk is over.
    expect(
        frames == seconds(2) // frame and len(lags) in (frames - 2, frames - 1), f"{frames} frames in, {len(lags)} out"
    )
    expect(not missing_frames(lags), f"frames {missing_frames(lags)} are missing")
    ordered = sorted(lags.values())
    median = ordered[len(ordered) // 2]
    expect(-ms(1) <= ordered[0] and median <= stage.near, f"lags from {ordered[0]} to {ordered[-1]} µs")
    expect(not falls_behind(lags, frame), f"the lag grows by {growth(lags, frame):.3f}")
    return {
        "frames_in": frames,
        "frames_out": len(lags),
        "median_lag_ms": median / 1_000,
        "worst_lag_ms": ordered[-1] / 1_000,
    }


@case(13, "server at 1.3 times real time", "the growing lag is told and flagged", "compute slower than real time")
async def too_slow(stage: Stage) -> Measured:
    """A system that cannot keep up shows it in its lags; one in long units takes a few of them to show it."""
    behaviour = Behaviour(pace="sync", rtf=1.3, say=(Utterance(0, seconds(3), 0),))
    talk, _ = await stage.talk(behaviour, length=seconds(3) + 5 * stage.terms.unit)
    frame, lags = stage.terms.frame, stage.lags(talk)
    grows = growth(lags, frame)
    expect(falls_behind(lags, frame, unit=stage.terms.unit), "it is not flagged")
    # On the wall clock the server's own sleeps take a little longer.
    expect(
        0.28 <= grows <= (0.31 if stage.clock == "virtual" else 0.5), f"the lag grows by {grows:.3f} s/s, not by 0.3"
    )
    return {"lag_growth": round(grows, 4), "last_lag_ms": max(lags.values()) / 1_000}


@case(14, "server drops input", "the missing frames are named", "throw input frames away")
async def drops(stage: Stage) -> Measured:
    """Output that belongs to no input is missed by its index."""
    talk, _ = await stage.talk(Behaviour(pace="sync", drops=(5, 6, 20)), length=seconds(1))
    missing = missing_frames(stage.lags(talk))
    expect(missing == (4, 5, 19), f"missing are {missing}, not those of inputs 5, 6 and 20")
    return {"missing_frames": len(missing)}


@case(15, "the client stalls for 0.8 s", "flagged late, no burst to catch up", "report when each frame came")
async def stall(stage: Stage) -> Measured:
    """A late client is flagged and does not pour out what it owes."""
    reports: list[Mapping[str, Any]] = []
    system = Watched(
        stage.make(Behaviour(), stage.traits(), reports.append), stalls=ms(400) // stage.terms.frame, stall=ms(800)
    )
    talk = await stage.hold(system, length=seconds(1))
    expect(talk.pacing.late, f"it is not flagged: worst {talk.pacing.worst} µs")
    most = at_once(reports[0]["arrivals"], 3 * stage.terms.frame)
    # On the wall clock the server may be late, too: what it then reads at once is less than all that was owed.
    allowed = 4 if stage.clock == "virtual" else max(6, ms(400) // stage.terms.frame)
    expect(most <= allowed, f"{most} frames came within the time of three")
    return {"worst_lateness_ms": talk.pacing.worst / 1_000, "most_frames_in_three": most}


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
        Behaviour(say=(said,), pace="per-input"),
        length=seconds(4),
        hang_up=HangUp(quiet=ms(500)),
        priming=stage.settle,
    )
    expect(talk.ended_by == "quiet", f"it ended by {talk.ended_by}")
    whole(talk, said.length, said.block, rough=stage.terms.rough)
    expect(taken_back(talk.placed) == 0, "not all of it was heard")
    return {"pieces": len(talk.placed), "ended_at_s": round(in_seconds(talk.duration), 3)}


@case(17, "response done before it has sounded", "the user hangs up after playout", "say that it is done at once")
async def done_early(stage: Stage) -> Measured:
    """That everything was sent does not mean that everything was heard."""
    said = Utterance(ms(200), ms(1_500), 5)
    behaviour = Behaviour(say=(said,), pace="burst", burst=30, done=True)
    talk, _ = await stage.talk(behaviour, length=seconds(5), hang_up=HangUp(quiet=ms(500)))
    done = next((note.arrived for note in talk.notes if isinstance(note, Note) and note.kind == stage.terms.done), None)
    expect(done is not None and done < ms(700), f"done came at {done}")
    expect(talk.ended_by == "quiet", f"it ended by {talk.ended_by}")
    stretch = whole(talk, said.length, said.block, rough=stage.terms.rough)
    waited = talk.duration - stretch.until
    expect(waited >= ms(500) - stage.terms.frame, f"it hung up {waited} µs after the last sound")
    return {"done_at_s": in_seconds(done or 0), "hung_up_at_s": round(in_seconds(talk.duration), 3)}


_GO_AWAY = Sent(ms(800), '{"type": "note", "kind": "go_away", "data": {"time_left": 0.2}}')


@case(
    18, "expiry, and a TCP reset in mid-word", "closed with the reason, what was heard is kept", "close, and break off"
)
async def closes(stage: Stage) -> Measured:
    """A talk that ends before its time is kept as far as it got."""
    said, kept = Utterance(ms(300), seconds(3), 9), {}
    ends = {
        "expiry": Behaviour(say=(said,), closes=seconds(1), reason="session expired", messages=(_GO_AWAY,)),
        "reset": Behaviour(say=(said,), resets=seconds(1)),
    }
    for name, reason in stage.terms.ends.items():
        try:
            await stage.talk(ends[name], length=seconds(3))
        except BrokenTalk as error:
            expect(reason in str(error), f"{name}: the reason is {str(error)!r}")
            expect(error.talk is not None, f"{name}: nothing was kept")
            assert error.talk is not None
            closed = any(isinstance(note, Closed) for note in error.talk.notes)
            expect(closed or not stage.terms.closes, f"{name}: it is not told that it closed")
            expect(error.talk.ended_by == ("closed" if stage.terms.closes else "failed"), f"{name}: it is not flagged")
            found = pieces_heard(error.talk)
            expect(bool(found), f"{name}: nothing was heard")
            stage.at(error.talk.duration, seconds(1), f"{name}: end")
            kept[f"kept_s, {name}"] = round(in_seconds(error.talk.duration), 3)
        else:
            raise Failed(f"{name}: the talk is said to be whole")
    return kept


@case(19, "unknown events and nonsense", "each is noted, the talk goes on", "send what no protocol knows")
async def unknown(stage: Stage) -> Measured:
    """What is not understood is kept and does no harm."""
    said = Utterance(ms(900), ms(500), 11)
    oddities, known = stage.terms.oddities, stage.terms.vads
    messages = tuple(Sent(ms(100 + 50 * n), message) for n, message in enumerate(oddities))
    talk, _ = await stage.talk(Behaviour(say=(said,), pace="burst", messages=messages), length=ms(2_000))
    whole(talk, said.length, said.block, rough=stage.terms.rough)
    vads = sum(isinstance(note, UserVad) for note in talk.notes)
    expect(vads == known, f"{vads} of the {known} spellings of an event were understood")
    found = [note for note in talk.notes if isinstance(note, Note) and note.kind not in stage.terms.usual]
    notes = len(found) - stage.terms.notes
    expect(notes == len(oddities) - known, f"{notes} notes for {len(oddities) - known} oddities")
    return {"oddities": len(oddities), "notes": notes}


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
    expect(report["acks"] >= stage.terms.positions, f"{report['acks']} positions were told")
    expect(report["acks_beyond"] == 0, f"{report['acks_beyond']} positions beyond what was sent")
    return {"positions": report["acks"], "beyond": report["acks_beyond"]}
