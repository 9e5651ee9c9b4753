"""Full-Duplex-Bench v1.5: what a system does when something is said over it, in four scenarios with clean twins.

``paper`` is the paper alone, ``released-d7336bd`` what the scripts of that commit compute, ``anchored`` ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from fullduplex.benchmarks import fdb15_paper as paper
from fullduplex.benchmarks import fdb15_released as released
from fullduplex.benchmarks.declare import Asks, Benchmark, Departure, Hearing, Parts, Scenario, Stretch
from fullduplex.benchmarks.fdb15_asks import behaviour_fields, settled_by_nothing
from fullduplex.benchmarks.fdb15_departures import ANCHORED, PAPER, RELEASED
from fullduplex.measures import overlap, prosody
from fullduplex.measures.metric import Better, Measure, Metric
from fullduplex.measures.overlap import BEHAVIOURS, Behaviour, Limits, event_of
from fullduplex.model.spans import in_seconds
from fullduplex.model.spec import Spec
from fullduplex.model.trials import Trial

NAME, VERSION = "fdb-1.5", "1"
CITATION = "Full-Duplex-Bench v1.5: Evaluating Overlap Handling for Full-Duplex Speech Models"
DEFAULT = "released-d7336bd"

#: task, title, what it calls for, official number of items.
SCENARIOS: tuple[tuple[str, str, Behaviour, int], ...] = (
    ("user_interruption", "User interruption", "respond", 200),
    ("user_backchannel", "User backchannel", "resume", 99),
    ("talking_to_other", "Talking to other", "resume", 100),
    ("background_speech", "Background speech", "resume", 100),
)
TASKS = tuple(task for task, *_ in SCENARIOS)
#: The features of speech that the publication compares before and after, with their unit.
FEATURES = (
    ("mean_pitch", "Hz", "Pitch"),
    ("std_pitch", "Hz", "Pitch spread"),
    ("mean_intensity", "dB", "Intensity"),
    ("std_intensity", "dB", "Intensity spread"),
)
#: What our reading measures of a voice beside those, where it was asked for or can be.
MORE_FEATURES = (
    ("hnr", "dB", "Harmonics-to-noise ratio"),
    ("voiced_fraction", "share", "Voiced"),
    ("cutoffs", "count", "Sudden cut-offs"),
    ("loudness_lufs", "LUFS", "Loudness"),
    ("dnsmos_ovrl", "MOS", "DNSMOS overall"),
    ("dnsmos_sig", "MOS", "DNSMOS speech"),
    ("dnsmos_p808", "MOS", "DNSMOS P.808"),
    ("utmos_mos", "MOS", "UTMOS"),
)
#: Measured of the whole item with ``--quality echo``.
ECHO = (
    ("level_level_db", "dB", "Echo level"),
    ("aecmos_echo", "MOS", "AECMOS echo"),
    ("aecmos_other", "MOS", "AECMOS other"),
)
PARTS = ("before", "after", "clean")
_OFFICIAL = {"before": "pre", "after": "post", "clean": "clean"}

#: The scripts take what their detector finds as it comes; a file of several channels crashes them.
_AS_RELEASED = Hearing(
    "released-1.5",
    Spec("silero", {"min_silence_ms": 100, "pad_ms": 30}),
    channels="without",
    tasks=TASKS,
    sides=("user", "system"),
)
_OURS = Hearing("silero", Spec("silero", {"pad_ms": 0}))


def before_and_after(trial: Trial) -> Mapping[str, Stretch]:
    """Return the system's sound until the event, from the event's end on, and of the whole clean twin."""
    event = event_of(trial)
    made = {} if trial.twin is None else {"clean": Stretch("clean_system")}
    if event is None:
        return made
    start, end = in_seconds(event.span.start), in_seconds(event.span.end)
    return {"before": Stretch("system", 0.0, start), "after": Stretch("system", end), **made}


_VOICE = Parts("speech", before_and_after, Spec("silero", {"pad_ms": 0}), "voice", tasks=TASKS)
_RELEASED_PARTS = Parts(
    "released-1.5",
    released.stretches,
    Spec("silero", {"min_speech_ms": 60, "min_silence_ms": 50, "pad_ms": 30}),
    "released",
    whole_if_silent=True,
    tasks=TASKS,
)


@dataclass(frozen=True, slots=True)
class Rules:
    """The measures of one reading of the benchmark; ``behaves`` and ``feature`` make one for each name."""

    behaves: Callable[[str, Behaviour], Measure]
    stop: Measure
    response: Measure
    feature: Callable[[str, str], Measure]
    more: tuple[Metric, ...] = ()
    kind: Literal["mean", "trimmed"] = "mean"
    labels: tuple[str, ...] = BEHAVIOURS


def variants() -> Mapping[str, Benchmark]:
    """Return every variant by name, the default first; ``released`` is an alias of released-d7336bd."""
    made = (
        _benchmark("released-d7336bd", _released(), _AS_RELEASED, RELEASED, _RELEASED_PARTS,
                   "what the scripts of April 2026 compute; the means over files are ours, they print none"),
        _benchmark("paper", _paper(), _OURS, PAPER, _VOICE, "the paper's definitions alone"),
        anchored(Limits()),
    )  # fmt: skip
    return {benchmark.variant: benchmark for benchmark in made}


def anchored(limits: Limits) -> Benchmark:
    """Return our own reading of the benchmark under ``limits``."""
    summary = "ours: latencies from the annotated event, talking through is a state of its own"
    made = _benchmark("anchored", _anchored(limits), _OURS, ANCHORED, _VOICE, summary, limits)
    return replace(made, limits=limits, rebuilt=anchored)


def _anchored(limits: Limits) -> Rules:
    return Rules(
        behaves=lambda label, calls_for: partial(overlap.behaves, label=label, limits=limits, calls_for=calls_for),
        stop=partial(overlap.stop_latency, limits=limits),
        response=partial(overlap.response_latency, limits=limits),
        feature=_our_feature,
        more=(
            _rate("talked_through", partial(overlap.talks_through, limits=limits), "Talked through"),
            _rate("stopped", partial(overlap.stops, limits=limits), "Stopped"),
            _rate("stopped_in_twin", partial(overlap.stops, limits=limits, in_twin=True), "Stopped in twin"),
            _rate("exercised", partial(overlap.exercised, limits=limits), "Exercised"),
        ),
    )


def _paper(limits: Limits = Limits()) -> Rules:  # noqa: B008
    return Rules(
        behaves=lambda label, calls_for: partial(paper.behaves, label=label),
        stop=partial(paper.stop_latency, limits=limits),
        response=partial(paper.response_latency, limits=limits),
        feature=_our_feature,
    )


def _released() -> Rules:
    return Rules(
        behaves=lambda label, calls_for: partial(released.behaves, label=label),
        stop=released.stop_latency,
        response=released.response_latency,
        feature=_released_feature,
        kind="trimmed",
        labels=(*BEHAVIOURS, "other"),
    )


def _our_feature(name: str, part: str) -> Measure:
    if name == "wpm":
        return partial(prosody.words_per_minute, part=part)
    return partial(prosody.feature, part=part, name=name, parts=_VOICE.name)


def _released_feature(name: str, part: str) -> Measure:
    if name == "wpm":
        return partial(released.rate_of, part=_OFFICIAL[part])
    return partial(prosody.feature, part=_OFFICIAL[part], name=name, parts=_RELEASED_PARTS.name)


def _benchmark(
    variant: str,
    rules: Rules,
    hearing: Hearing,
    departures: tuple[Departure, ...],
    parts: Parts,
    summary: str,
    limits: Limits | None = None,
) -> Benchmark:
    scenarios = [
        Scenario(task, task, dataset, _metrics(rules, calls_for, variant), title, official if dataset else 0,
                 needs_speech=True, asks=(_asks(limits, calls_for),))
        for task, title, calls_for, official in SCENARIOS
        for dataset in (task, "")
    ]  # fmt: skip
    return Benchmark(
        NAME, VERSION, variant, CITATION, tuple(scenarios), hearing, departures, summary, parts=parts, twins=True,
    )  # fmt: skip


def _asks(limits: Limits | None, calls_for: Behaviour) -> Asks:
    # The released script and the paper have every item judged; ours only what speech alone does not decide.
    rule = None if limits is None else partial(overlap.by_rule, limits=limits, calls_for=calls_for)
    return Asks("behaviour", "behaviour", partial(behaviour_fields, by_rule=rule or settled_by_nothing), "system")


def _metrics(rules: Rules, calls_for: Behaviour, variant: str) -> tuple[Metric, ...]:
    stop_better: Better = "lower" if calls_for == "respond" else "neither"
    made = [
        Metric(label, rules.behaves(label, calls_for), _better(label, calls_for), "share",
               "rate" if variant == "anchored" else "share", "content", label.capitalize(), judged="behaviour")
        for label in rules.labels
    ] + [
        Metric("stop_latency", rules.stop, stop_better, "s", "mean", "voice activity", "Stop latency"),
        Metric("response_latency", rules.response, "lower", "s", "mean", "voice activity", "Response latency"),
        *rules.more,
    ]  # fmt: skip
    if variant == "anchored":
        made += [
            Metric("level_change", partial(prosody.change, name="mean_intensity", parts=_VOICE.name), "neither", "dB",
                   "mean", "voice activity", "Level, after less clean"),
            _rate("whispered_after", partial(prosody.whispers, part="after", parts=_VOICE.name), "Whispered after"),
        ]  # fmt: skip
    if variant == "anchored":
        made += [
            Metric(name.removeprefix("level_"), partial(prosody.of_item, name=name, parts="echo"), "neither", unit,
                   "mean", "voice activity", title, optional=True)
            for name, unit, title in ECHO
        ]  # fmt: skip
    features = (("wpm", "words/min", "Words per minute"), *FEATURES, *(MORE_FEATURES if variant == "anchored" else ()))
    for name, unit, title in features:
        for part in PARTS:
            made.append(
                Metric(f"{name}_{part}", rules.feature(name, part), "neither", unit, rules.kind,
                       "content" if name == "wpm" else "voice activity", f"{title}, {part}", family="speech features",
                       optional=name in _OPTIONAL)
            )  # fmt: skip
    return tuple(made)


_OPTIONAL = frozenset(name for name, *_ in MORE_FEATURES)


def _better(label: str, calls_for: Behaviour) -> Better:
    if label == calls_for:
        return "higher"
    return "neither" if label in ("uncertain", "unknown", "other") else "lower"


def _rate(name: str, measure: Measure, title: str) -> Metric:
    return Metric(name, measure, "neither", "share", "rate", "voice activity", title)
