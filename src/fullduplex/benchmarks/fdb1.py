"""Full-Duplex-Bench v1.0: four tasks on five datasets, under each of its rules.

``paper`` is the paper alone (arXiv 2503.04721), ``released-COMMIT`` what the scripts
of that commit compute, ``anchored`` ours: verdicts tied to the annotated event.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from fullduplex.benchmarks import fdb1_paper as paper
from fullduplex.benchmarks import fdb1_released as released
from fullduplex.benchmarks.declare import Asks, Benchmark, Departure, Hearing, Scenario
from fullduplex.benchmarks.fdb1_departures import ANCHORED, NOT_CHECKED, OLDER, PAPER, RELEASED
from fullduplex.measures import answers
from fullduplex.measures.metric import Better, Measure, Metric, given
from fullduplex.model.spans import in_seconds
from fullduplex.model.spec import Spec
from fullduplex.model.trials import Absent, Fact, Trial

NAME, VERSION = "fdb-1.0", "1"
CITATION = "Full-Duplex-Bench: A Benchmark to Evaluate Full-Duplex Spoken Dialogue Models on Turn-taking Capabilities"
DEFAULT = "released-3e799c4"

#: dataset, task, title, official number of items.
DATASETS = (
    ("synthetic_pause_handling", "pause_handling", "Pause handling, synthetic", 137),
    ("candor_pause_handling", "pause_handling", "Pause handling, Candor", 216),
    ("icc_backchannel", "backchannel", "Backchannel, ICC", 55),
    ("candor_turn_taking", "smooth_turn_taking", "Smooth turn-taking, Candor", 119),
    ("synthetic_user_interruption", "user_interruption", "User interruption, synthetic", 200),
)
TITLES = {
    "pause_handling": "Pause handling",
    "backchannel": "Backchannel",
    "smooth_turn_taking": "Smooth turn-taking",
    "user_interruption": "User interruption",
}

_OURS = Hearing("silero", Spec("silero", {"pad_ms": 0}))
_AS_RELEASED = Spec("silero", {"min_silence_ms": 100, "pad_ms": 30, "round_to": 1})
_RESAMPLED = Hearing("released", _AS_RELEASED, channels="refuse")
_MISREAD = Hearing("released-16k", _AS_RELEASED, assume_rate=16_000, channels="refuse")


@dataclass(frozen=True, slots=True)
class Rules:
    """The measure of each metric by task, under one reading of the benchmark."""

    pause_tor: Measure
    backchannel_tor: Measure
    backchannel_frequency: Measure
    backchannel_jsd: Measure
    turn_tor: Measure
    turn_latency: Measure
    interruption_tor: Measure
    interruption_latency: Measure
    interruption_rating: Measure
    interruption_exercised: Measure | None = None
    interruption_reply: Callable[[Trial], str] = released.reply


def variants() -> Mapping[str, Benchmark]:
    """Return every variant by name, the default first; ``released`` is an alias of the default."""
    made = (
        _benchmark(
            DEFAULT,
            _released("every short segment"),
            _RESAMPLED,
            RELEASED,
            extra=True,
            summary="what the scripts of May 2026 compute: audio resampled before listening",
        ),
        _benchmark(
            "released-d7336bd",
            _released("every short segment"),
            _MISREAD,
            RELEASED + OLDER,
            extra=True,
            summary="the scripts of April 2026: audio of any rate is read as 16 kHz",
        ),
        _benchmark(
            "released-4efb765",
            _released("emptied by a takeover"),
            _MISREAD,
            RELEASED + OLDER + NOT_CHECKED,
            extra=True,
            summary="the scripts until February 2026: a takeover empties the list of backchannels",
        ),
        _benchmark("paper", _paper(), _OURS, PAPER, summary="the paper's definitions alone"),
        anchored(answers.Limits()),
    )
    return {benchmark.variant: benchmark for benchmark in made}


def anchored(limits: answers.Limits) -> Benchmark:
    """Return our own reading of the benchmark under ``limits``."""
    made = _benchmark(
        "anchored",
        _anchored(limits),
        _OURS,
        ANCHORED,
        summary="ours: verdicts tied to the annotated event, signed latency, explicit states",
    )
    return replace(made, limits=limits, rebuilt=anchored)


def _released(counting: released.Counting) -> Rules:
    return Rules(
        pause_tor=partial(released.takeover, open_end_is_start=True),
        backchannel_tor=partial(released.backchannel_takeover, counting=counting),
        backchannel_frequency=partial(released.backchannel_frequency, counting=counting),
        backchannel_jsd=partial(released.backchannel_jsd, counting=counting),
        turn_tor=released.turn_takeover,
        turn_latency=given(released.turn_takeover, released.latency, "no takeover"),
        interruption_tor=released.interruption_takeover,
        interruption_latency=given(released.interruption_takeover, released.latency, "no takeover"),
        interruption_rating=given(released.interruption_takeover, released.rating, "no takeover"),
    )


def _paper() -> Rules:
    return Rules(
        pause_tor=paper.takeover,
        backchannel_tor=paper.takeover,
        backchannel_frequency=paper.frequency,
        backchannel_jsd=given(_not(paper.takeover), paper.jsd, "takeover"),
        turn_tor=paper.turn_takeover,
        turn_latency=given(paper.turn_takeover, paper.latency, "no takeover"),
        interruption_tor=paper.turn_takeover,
        interruption_latency=given(paper.turn_takeover, paper.latency, "no takeover"),
        interruption_rating=given(paper.turn_takeover, released.rating, "no takeover"),
    )


def _anchored(limits: answers.Limits) -> Rules:
    tor = partial(answers.takes_turn, limits=limits)
    floor = partial(answers.takes_floor_anywhere, limits=limits)
    return Rules(
        pause_tor=partial(answers.takes_pause, limits=limits),
        backchannel_tor=floor,
        backchannel_frequency=partial(_anchored_frequency, limits=limits),
        backchannel_jsd=given(_not(floor), partial(_anchored_jsd, limits=limits), "takeover"),
        turn_tor=tor,
        turn_latency=partial(answers.signed_latency, limits=limits),
        interruption_tor=tor,
        interruption_latency=partial(answers.signed_latency, limits=limits),
        interruption_rating=given(tor, released.rating, "no takeover"),
        interruption_exercised=answers.was_speaking,
        interruption_reply=partial(answers.reply, limits=limits),
    )


def _not(measure: Measure) -> Measure:
    def inverse(trial: Trial) -> Fact | Absent:
        found = measure(trial)
        return found if isinstance(found, Absent) else Fact(0 if found.value else 1, found.at, found.why)

    inverse.__name__ = "no takeover"
    return inverse


def _anchored_frequency(trial: Trial, limits: answers.Limits) -> Fact | Absent:
    """Return true backchannels by second of the system's recording."""
    found = answers.backchannels(trial, limits)
    if isinstance(found, Absent):
        return found
    length = trial.system.duration
    if not length:
        return Absent("no speech track", "the recording's length is not known")
    return Fact(len(found) / in_seconds(length), found[0].span.start if found else None, f"counted: {len(found)}")


def _anchored_jsd(trial: Trial, limits: answers.Limits) -> Fact | Absent:
    """Return the divergence (log base 2) of the backchannels' onsets from the reference; Absent with none."""
    found = answers.backchannels(trial, limits)
    if isinstance(found, Absent):
        return found
    return paper.divergence_of([u.span.start for u in found], trial, silent_is_uniform=False)


def _benchmark(
    variant: str,
    rules: Rules,
    hearing: Hearing,
    departures: tuple[Departure, ...],
    *,
    summary: str,
    extra: bool = False,
) -> Benchmark:
    asks = {"user_interruption": (Asks("rating", "interruption", partial(_rating_fields, rules=rules), "system"),)}
    scenarios = [
        Scenario(
            dataset, task, dataset, _metrics(task, rules), title, official,
            needs_speech=task == "backchannel", asks=asks.get(task, ()),
        )
        for dataset, task, title, official in (*DATASETS, *((task, task, title, 0) for task, title in TITLES.items()))
    ]  # fmt: skip
    scenarios = [replace(s, dataset="") if s.name in TITLES else s for s in scenarios]
    return Benchmark(NAME, VERSION, variant, CITATION, tuple(scenarios), hearing, departures, summary, extra)


def _rating_fields(trial: Trial, rules: Rules) -> Mapping[str, str] | Absent:
    """Return what the rating of a reply to an interruption rests on; Absent where there is no takeover to rate."""
    took = rules.interruption_tor(trial)
    if isinstance(took, Absent):
        return took
    if not took.value:
        return Absent("no takeover", took.why)
    event = trial.event("interruption")
    return {
        "context": str(trial.item.reference.get("context", "")),
        "interruption": "" if event is None else event.text,
        "reply": rules.interruption_reply(trial),
    }


def _metrics(task: str, rules: Rules) -> tuple[Metric, ...]:
    if task == "pause_handling":
        return (_tor(rules.pause_tor, "lower"),)
    if task == "backchannel":
        return (
            _tor(rules.backchannel_tor, "lower"),
            Metric("frequency", rules.backchannel_frequency, "neither", "1/s", "mean", "voice activity", "Freq"),
            Metric("jsd", rules.backchannel_jsd, "lower", "", "mean", "voice activity", "JSD"),
        )
    if task == "smooth_turn_taking":
        return (_tor(rules.turn_tor, "higher"), _latency(rules.turn_latency))
    made = [
        _tor(rules.interruption_tor, "higher"),
        Metric("rating", rules.interruption_rating, "higher", "0-5", "mean", "content", "Rating", judged="rating"),
        _latency(rules.interruption_latency),
    ]
    if rules.interruption_exercised is not None:
        exercised = rules.interruption_exercised
        made.append(Metric("exercised", exercised, "neither", "share", "rate", "voice activity", "Exercised"))
    return tuple(made)


def _tor(measure: Measure, better: Better) -> Metric:
    return Metric("tor", measure, better, "share", "rate", "voice activity", "TOR")


def _latency(measure: Measure) -> Metric:
    return Metric("latency", measure, "lower", "s", "mean", "voice activity", "Latency")
