"""The cases about what is heard: bursts, jitter, flushes, silence, codings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fullduplex.driving.cues import at
from fullduplex.driving.drive import Talk, Turn
from fullduplex.driving.link import Said
from fullduplex.driving.observe import (
    receive_factor,
    samples_received,
    taken_back,
    underruns,
)
from fullduplex.driving.playout import Flush, playout, sample_at
from fullduplex.model.spans import SECOND, in_seconds, ms, seconds
from fullduplex.systems.ogg_opus import LOOKAHEAD
from fullduplex.testing.behaviour import Behaviour, Sent, Utterance
from fullduplex.testing.ogg import OpusStyle
from fullduplex.testing.stage import Measured, Stage, case, expect, pieces_heard, told_of, whole
from fullduplex.testing.watermark import BLOCK, Stretch


def _tone(length: int, rate: int) -> Any:
    """Return sound that is loud from its first sample to its last, and that speech codecs let through."""
    return (0.5 * np.cos(2 * np.pi * 300 * np.arange(length * rate // SECOND) / rate)).astype(np.float32)


@case(1, "burst x8, then silence", "contiguous playout, receive factor 8", "send eight times as fast as real time")
async def burst(stage: Stage) -> Measured:
    """Audio ahead of time is queued and its speed is told."""
    said = Utterance(ms(500), seconds(3), 40)
    talk, _ = await stage.talk(Behaviour(say=(said,), pace="burst", burst=8), length=seconds(4))
    stretch = whole(talk, said.length, said.block, rough=stage.terms.rough)
    stage.at(stretch.at - stretch.source, stage.sounds(said.at) - said.block * BLOCK, "began")
    factor = receive_factor(talk.received, talk.rate) or 0.0
    allowed = 0.1 if stage.clock == "virtual" else 1.5
    expect(abs(factor - 8) <= allowed, f"receive factor {factor:.2f}, not 8")
    return {
        "receive_factor": round(factor, 3),
        "onset_error_ms": (stretch.at - stretch.source - stage.sounds(said.at) + said.block * BLOCK) / 1_000,
    }


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
    found = pieces_heard(talk)
    expect(len(found) == 1, f"heard {told_of(found)}")
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
    found = pieces_heard(talk)
    expect(len(found) == 2, f"heard {told_of(found)}")
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
    found = pieces_heard(talk)
    expect([round(s.duration, -3) for s in found] == [ms(500)] * 2, f"heard {told_of(found)}")
    return {"flushes": flushes, "discarded_s": 0.0}


@case(6, "no flush: it goes quiet when interrupted", "nothing is truncated", "stop speaking without a flush")
async def goes_quiet(stage: Stage) -> Measured:
    """A system that only falls silent is heard to the last sample that it sent."""
    behaviour = Behaviour(say=(Utterance(ms(300), seconds(3), 0),), yields=ms(200))
    talk, _ = await stage.talk(behaviour, Turn(_tone(ms(600), stage.terms.rate_in), at(seconds(1))), length=ms(2_500))
    expect(not any(isinstance(event, Flush) for event in talk.received), "a flush was made up")
    expect(taken_back(talk.placed) == 0, f"{taken_back(talk.placed)} samples were cut")
    found = pieces_heard(talk)
    expect(bool(found), "nothing was heard")
    # Nobody stops for what has not arrived: a whole unit of the user's sound, where that is what a message holds.
    unit = stage.terms.unit
    planned = stage.sounds(max(ms(1_200), (seconds(1) // unit + 1) * unit if unit else 0))
    expect(
        abs(found[-1].until - planned) <= stage.near + stage.terms.frame + stage.terms.rough,
        f"it was quiet at {in_seconds(found[-1].until):.3f} s, not {in_seconds(planned):.3f}",
    )
    return {"quiet_after_ms": (found[-1].until - seconds(1)) / 1_000}


@case(7, "silence omitted, or sent", "the same playout", "send silence between utterances, or not")
async def silence(stage: Stage) -> Measured:
    """Whether silence travels makes no difference to what is heard."""
    said = (Utterance(ms(300), ms(400), 20), Utterance(ms(1_200), ms(400), 90))
    talks = [
        await stage.talk(Behaviour(say=said, silence=sent), length=seconds(2), priming=stage.settle)
        for sent in (False, True)
    ]
    without, within = (pieces_heard(talk) for talk, _ in talks)
    expect(len(without) == len(within) == 2, f"heard {told_of(without)} and {told_of(within)}")
    apart = max(abs(a.at - a.source - b.at + b.source) for a, b in zip(without, within, strict=True))
    expect(apart <= stage.near + (0 if stage.clock == "virtual" else stage.settle), f"{apart} µs apart")
    return {"apart_ms": apart / 1_000}


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
        talk, _ = await stage.talk(behaviour, length=ms(1_500), priming=stage.settle)
        stretch = _whole_source(talk, said)
        delay = stretch.at - stretch.source - said.at + said.block * BLOCK - stage.settle
        stage.at(delay, max(LOOKAHEAD, stage.terms.lag), f"{name}: delay")
        measured[name] = delay / 1_000
    return {f"delay_ms, {name}": delay for name, delay in measured.items()}


def _whole_source(talk: Talk, said: Utterance) -> Stretch:
    """Return the one stretch heard, which coding may have frayed at its ends."""
    found = pieces_heard(talk)
    expect(len(found) == 1, f"heard {told_of(found)}")
    expect(abs(found[0].duration - said.length) <= ms(10), f"heard {found[0].duration} µs of {said.length}")
    return found[0]


@case(20, "announced format differs", "pitch and duration are right", "announce another rate or coding")
async def format_differs(stage: Stage) -> Measured:
    """Audio is what the server announced, not what was asked for."""
    said, measured = Utterance(ms(200), ms(500), 13), {}
    formats: tuple[tuple[int, Any], ...] = ((48_000, "wav"), (48_000, "pcm16"), (16_000, "f32"), (8_000, "mulaw"))
    for rate, coding in formats:
        talk, _ = await stage.talk(Behaviour(say=(said,), pace="burst", rate=rate, coding=coding), length=ms(900))
        stretch = whole(talk, said.length, said.block, slack=ms(2))
        stage.at(stretch.at - stretch.source, said.at - said.block * BLOCK, f"{coding} at {rate}: onset")
        measured[f"duration_error_ms, {coding} {rate}"] = (stretch.duration - said.length) / 1_000
    return measured


@case(24, "chunks that end inside a sample", "the rest is carried over", "cut samples in two")
async def odd(stage: Stage) -> Measured:
    """Half a sample waits for its other half."""
    said, codings = Utterance(ms(200), ms(800), 17), ("pcm16", "f32")
    for coding in codings:
        behaviour = Behaviour(say=(said,), pace="burst", coding=coding, odd=True)  # type: ignore[arg-type]
        talk, report = await stage.talk(behaviour, length=ms(1_200))
        whole(talk, said.length, said.block, rough=stage.terms.rough)
        missing = report["sent"] * talk.rate // SECOND - samples_received(talk.received)
        # Of what goes on to the end of the talk, the last frame may be under way.
        expect(0 <= missing <= _under_way(stage, talk), f"{coding}: {missing} of the samples sent did not come")
    return {"codings": len(codings)}


def _under_way(stage: Stage, talk: Talk) -> int:
    """Return how many samples may be on their way when a talk ends, of a system that answers a frame for a frame."""
    return stage.terms.frame * talk.rate // SECOND if stage.declares.timing == "sync" else 0


@case(26, "text alone, empty audio, a flush of nothing", "the talk goes on", "answer without audio")
async def nothing(stage: Stage) -> Measured:
    """Events without substance are events."""
    said = Utterance(ms(800), ms(500), 19)
    sent = tuple(Sent(ms(100 + 50 * n), message) for n, message in enumerate(stage.terms.nothings))
    behaviour = Behaviour(say=(said,), pace="burst", flush="id", messages=sent)
    talk, _ = await stage.talk(behaviour, length=ms(2_000))
    whole(talk, said.length, said.block, rough=stage.terms.rough)
    words = [note.text for note in talk.notes if isinstance(note, Said)]
    expect(words == [*stage.terms.words], f"the words are {words}")
    flushes = sum(isinstance(event, Flush) for event in talk.received)
    expect(flushes == stage.terms.flushes, f"{flushes} flushes came, not {stage.terms.flushes}")
    return {"words": len(words), "empty_chunks": sum(part.size == 0 for part in talk.placed)}
