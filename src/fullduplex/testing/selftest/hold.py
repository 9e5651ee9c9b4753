"""Planted talks are held, spoilt, and listened to: one task for some of the talks, one row for each edge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.data import audio
from fullduplex.driving.clock import run_virtual
from fullduplex.driving.cues import at
from fullduplex.driving.drive import Turn, drive
from fullduplex.driving.talk import Talk
from fullduplex.listening.edges import STEP, EdgeRule, band_powers, refine
from fullduplex.listening.hear import hear_speech
from fullduplex.model.spans import SECOND, in_seconds
from fullduplex.model.spec import Spec
from fullduplex.once import once_per_process
from fullduplex.runs.listen import detector
from fullduplex.testing.selftest.clips import read_clips, sound_of
from fullduplex.testing.selftest.plan import PlannedTalk, planned, user_samples
from fullduplex.testing.selftest.score import Match, matched, sounding
from fullduplex.testing.selftest.sound import CONDITIONS, NOISES, under


@dataclass(frozen=True, slots=True)
class TalkTask:
    """Which of ``talks`` talks to hold and who listens. ``cache`` is the folder of weights."""

    folder: Path
    talks: int
    seed: int
    which: tuple[int, ...]
    detectors: tuple[Spec, ...]
    cache: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Held:
    """A planned talk and the system's recording of it, clean and at its own rate."""

    plan: PlannedTalk
    recording: audio.Samples
    rate: int


@once_per_process
def talks_of(folder: Path, talks: int, seed: int) -> tuple[PlannedTalk, ...]:
    """Return the plan, made once in each process."""
    return planned(folder, read_clips(folder), talks, seed)


def hold(plan: PlannedTalk, folder: Path) -> Held:
    """Return the talk as it was held on the virtual clock and played out."""
    turns = [Turn(user_samples(folder, clip), at(time)) for clip, time in plan.user]
    talk: Talk = run_virtual(drive(plan.system, turns, length=plan.length))
    return Held(plan, talk.system, talk.rate)


def recordings(held: Held, seed: int) -> Iterator[tuple[str, audio.Samples, int]]:
    """Yield the name, the samples and the rate of the talk's recording under each condition."""
    speech = [use.span for use in held.plan.planted]
    for k, condition in enumerate(CONDITIONS):
        random = np.random.default_rng([seed, 2, int(held.plan.id[:3]), k])
        yield condition, *under(condition, held.recording, held.rate, speech, random)


def listen_to_talks(task: TalkTask) -> list[dict[str, Any]]:
    """Return a row for each of the task's talks: what was planted, and what each detector heard of it."""
    plans = talks_of(task.folder, task.talks, task.seed)
    return [_row(task, hold(plans[i], task.folder)) for i in task.which]


def _row(task: TalkTask, held: Held) -> dict[str, Any]:
    plan, spoilt = held.plan, list(recordings(held, task.seed))
    return {
        "talk": plan.id,
        "kind": plan.kind,
        "voice": plan.voice,
        "level": plan.level,
        "length": in_seconds(plan.length),
        "events": [[e.kind, in_seconds(e.span.start), in_seconds(e.span.end)] for e in plan.events],
        "planted": [
            {
                "why": use.why,
                "text": use.clip.text,
                "file": use.clip.file,
                "truth": [in_seconds(use.span.start), in_seconds(use.span.end)],
                "delay": None if use.delay is None else in_seconds(use.delay),
                "driver_error": error,
            }
            for use, error in zip(plan.planted, _driver_errors(task, held), strict=True)
        ],
        "rises": {name: _rises(held, samples) for name, samples, _ in spoilt if name in NOISES},
        "heard": [one for name, samples, rate in spoilt for one in _heard(task, plan, name, samples, rate)],
    }


def _rises(held: Held, spoilt: audio.Samples) -> list[float | None]:
    """Return how long after its onset each planted sound can first be told from the noise, in decimal seconds.

    In each band and millisecond an observer who knew the powers s of the sound and 1 of the noise would gain
    s - ln(1 + s) nats for each independent value of power (width times duration). Until that comes to the evidence that
    an edge needs, summed over bands from the onset on, nobody could tell it. None where it does not within a second.
    """
    noise, rule = (spoilt - held.recording).astype(np.float32), EdgeRule()
    found: list[float | None] = []
    for use in held.plan.planted:
        first = use.span.start // STEP
        frames = np.arange(first, min(first + SECOND // STEP, use.span.end // STEP))
        own, width = band_powers(held.recording, held.rate, frames, rule.frame)
        ratio = own / band_powers(noise, held.rate, frames, rule.frame)[0].mean(axis=0)
        gained = np.cumsum(((ratio - np.log1p(ratio)) * width * (STEP / SECOND)).sum(axis=1))
        told = np.flatnonzero(gained >= rule.evidence)
        moment = None if not len(told) else (first + int(told[0])) * STEP + rule.frame // 2 - use.span.start
        found.append(None if moment is None else in_seconds(max(0, moment)))
    return found


def _driver_errors(task: TalkTask, held: Held) -> list[list[float] | None]:
    """Return the onset's and the end's error of each planted sound in the clean recording; None if it never sounded."""
    found: list[list[float] | None] = []
    spans = [use.span for use in held.plan.planted]
    for i, use in enumerate(held.plan.planted):
        said = sound_of(task.folder, use.clip, held.plan.level).samples[: use.kept]
        low = (spans[i - 1].end + spans[i].start) // 2 if i else 0
        high = (spans[i].end + spans[i + 1].start) // 2 if i + 1 < len(spans) else held.plan.length
        span = sounding(held.recording, held.rate, float(np.abs(said).max()), low, high)
        found.append(
            None if span is None else [in_seconds(span.start - use.span.start), in_seconds(span.end - use.span.end)]
        )
    return found


def label(spec: Spec) -> str:
    """Return the name of a detector or a recogniser with the options that were asked for."""
    return str(Spec(spec.name, spec.options))


def _heard(
    task: TalkTask, plan: PlannedTalk, condition: str, samples: audio.Samples, rate: int
) -> Iterator[dict[str, Any]]:
    spans = [use.span for use in plan.planted]
    for spec in task.detectors:
        raw = hear_speech({"system": (samples, rate)}, detector(spec, task.cache))["system"]
        for edges, segments in (("raw", raw), ("refined", refine(raw, samples, rate))):
            matches, invented = matched(spans, segments)
            yield {
                "condition": condition,
                "detector": label(spec),
                "edges": edges,
                "segments": [list(segment) for segment in segments],
                "matches": [_match(match) for match in matches],
                "invented": invented,
            }


def _match(match: Match) -> list[Any]:
    """Return a match as ``[onset error or why there is none, end error or why, cuts]``, in decimal seconds."""
    edges = (match.onset, match.offset)
    return [*(edge.why if edge.error is None else in_seconds(edge.error) for edge in edges), match.cuts]
