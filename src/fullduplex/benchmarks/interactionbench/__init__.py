"""InteractionBench: thirteen scenarios in four dimensions, which are reported apart and never combined.

``page`` is the published page's rules; ``lenient-pause``, ``early-150`` and ``early-300`` are the same but for one
threshold that the page varies too, and ``lenient`` for both, to see what they do to the order of systems; ``anchored``
is ours. Items, words and
code are ours; the page is the source of the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import Any, Literal, TypeVar

from fullduplex.benchmarks.declare import Asks, Benchmark, Departure, Hearing, Parts, Scenario
from fullduplex.benchmarks.interactionbench import asks
from fullduplex.benchmarks.interactionbench.departures import ANCHORED, EARLY, LENIENT, PAGE
from fullduplex.benchmarks.interactionbench.sounds import replies
from fullduplex.measures import exchange, grounded, tasks, whispering
from fullduplex.measures import replies as answering
from fullduplex.measures.exchange import LENIENT_PAUSE_WORDS
from fullduplex.measures.metric import Better, Measure, Metric
from fullduplex.model.spans import in_seconds
from fullduplex.model.spec import Spec
from fullduplex.model.trials import Absent, Fact, Trial

NAME, VERSION = "interactionbench", "1"
CITATION = "InteractionBench, AveraLabs, 2026 (its public page)"
DEFAULT = "page"

#: scenario, title, dimension, official number of items.
SCENARIOS = (
    ("backchannel", "Backchannel", "timing", 20),
    ("pause", "Pause", "timing", 30),
    ("turn_taking", "Turn-taking", "timing", 30),
    ("user_backchannel", "User backchannel", "timing", 30),
    ("interruption", "Interruption", "timing", 30),
    ("logic", "Logic", "tasks", 10),
    ("countdown", "Countdown", "tasks", 10),
    ("alternating_count", "Alternating count", "tasks", 1),
    ("grammar", "Grammar repair", "tasks", 10),
    ("keyword_wait", "Keyword wait", "tasks", 10),
    ("stay_quiet", "Stay quiet", "tasks", 10),
    ("whisper", "Whisper on request", "voice", 10),
    ("volume", "Volume understanding", "voice", 10),
    ("groundedness", "Groundedness", "groundedness", 10),
)
TASKS = tuple(f"ib_{name}" for name, *_ in SCENARIOS)
#: Scenarios whose expectations are scored on four points.
POINTED = ("grammar", "keyword_wait", "stay_quiet", "alternating_count")
#: Scenarios in which the user takes another turn after the system's; one who interrupts does so by design.
SEVERAL_TURNS = ("alternating_count", "groundedness")
PROBES = ("recall", "update", "never_said", "constraint", "attribution", "false_premise", "nonsense")

_L = TypeVar("_L")
_OURS = Hearing("silero", Spec("silero", {"pad_ms": 0}))
_REPLIES = Parts(whispering.PARTS, replies, Spec("silero", {"pad_ms": 0}), "voice", tasks=TASKS)


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of the rules: the thresholds, what passes a pause, and what an answer's latency runs to.

    ``speaks_after``: a pause is passed by whoever speaks after it, or after the whole ``turn``. ``starts``: a reply
    starts with its sound (``reply``) or with its ``first word``.
    """

    exchange: exchange.Limits
    replies: answering.Limits
    speaks_after: Literal["turn", "pause"]
    starts: Literal["reply", "first word"]


_PAGE = Reading(exchange.PAGE, answering.PAGE, "pause", "first word")


def variants() -> Mapping[str, Benchmark]:
    """Return every variant by name, the default first."""
    made = [
        _benchmark("page", _PAGE, PAGE, "the published page's rules, its pause rule strict"),
        _benchmark(
            "lenient-pause",
            replace(_PAGE, exchange=replace(exchange.PAGE, pause_words=LENIENT_PAUSE_WORDS)),
            PAGE + LENIENT,
            f"the page's rules; up to {LENIENT_PAUSE_WORDS} words in a pause are allowed",
        ),
        *(_early(start) for start in exchange.EARLY_STARTS[1:]),
        _benchmark(
            "lenient",
            replace(
                _PAGE,
                exchange=replace(exchange.PAGE, pause_words=LENIENT_PAUSE_WORDS, early=exchange.EARLY_STARTS[-1]),
            ),
            PAGE + LENIENT + EARLY,
            "the page's rules, both of them lenient: words in a pause, and a start of up to 300 ms too early",
        ),
        anchored(exchange.Limits()),
    ]
    return {benchmark.variant: benchmark for benchmark in made}


def anchored(limits: exchange.Limits) -> Benchmark:
    """Return our own reading under ``limits``."""
    reading = Reading(limits, answering.Limits(), "turn", "reply")
    made = _benchmark("anchored", reading, ANCHORED, "ours: every reply to an interruption is judged")
    return replace(made, limits=limits, rebuilt=anchored)


def _early(start: int) -> Benchmark:
    told = f"{in_seconds(start) * 1000:.0f}"
    reading = replace(_PAGE, exchange=replace(exchange.PAGE, early=start))
    return _benchmark(
        f"early-{told}", reading, PAGE + EARLY, f"the page's rules; an answer may begin {told} ms before the turn's end"
    )


def usual_level(trials: Iterable[Trial]) -> Mapping[str, Any]:
    """Return the median level of a system's replies to requests in a normal voice, for what compares with it.

    Over the items that are asked in a normal voice and for no whisper; by measure, where any reply has it.
    """
    found: dict[str, list[float]] = {name: [] for name in whispering.LEVELS}
    for trial in trials:
        told = trial.item.reference.get("interaction")
        if not isinstance(told, Mapping) or told.get("scenario") == "whisper" or told.get("style"):
            continue
        for name, values in found.items():
            level = whispering.level(trial, name, answering.Limits())
            if isinstance(level, Fact):
                values.append(float(level.value))
    levels = {name: median(values) for name, values in found.items() if values}
    return {"usual_level": levels} if levels else {}


def _benchmark(variant: str, reading: Reading, departures: tuple[Departure, ...], summary: str) -> Benchmark:
    scenarios = tuple(
        Scenario(
            f"ib_{name}", f"ib_{name}", f"ib_{name}", _metrics(name, reading), title, official,
            needs_speech=True, asks=_asks(name, reading), dimension=dimension, card=name,
        )
        for name, title, dimension, official in SCENARIOS
    )  # fmt: skip
    return Benchmark(
        NAME, VERSION, variant, CITATION, scenarios, _OURS, departures, summary, parts=_REPLIES, learned=usual_level
    )


def _metrics(name: str, limits: Reading) -> tuple[Metric, ...]:
    passed = Metric(
        "passed", _passed(name, limits), "higher", "share", "rate", "content", "Passed", judged=_judged_by(name)
    )
    if name == "groundedness":
        return _grounded(limits.replies)
    made = [passed, *_TIMING.get(name, _nothing)(limits)]
    if name in POINTED:
        made += [_point(point, limits.replies) for point in tasks.POINTS]
        made.append(_median("reaction", partial(tasks.reaction, limits=limits.replies), "neither", "Reaction"))
    if name in tasks.PASSES_BY:
        made.append(_rate("answered", partial(tasks.answered, limits=limits.replies), "neither", "Answered"))
    if name in ("logic", "countdown"):
        made.append(
            replace(
                _rate("target_heard", partial(tasks.target_heard, limits=limits.replies), "neither", "Target heard"),
                rests_on="content",
            )
        )
    if name == "keyword_wait":
        made.append(_rate("spoke_before", partial(tasks.speaks_before, limits=limits.replies), "lower", "Spoke before"))
    if name in ("whisper", "volume"):
        missed = partial(whispering.words_missed, limits=limits.replies)
        made.append(_rate("words_missed", missed, "neither", "Sound without words"))
    if name == "volume":
        made.append(_rate("adapted", partial(whispering.adapts, limits=limits.replies), "higher", "Adapted"))
    if name in SEVERAL_TURNS:
        made.append(_released())
    return tuple(made)


def _passed(name: str, limits: Reading) -> Measure:
    at, said = limits.exchange, limits.replies
    known: dict[str, Measure] = {
        "backchannel": partial(exchange.backchannel_passed, limits=at),
        "pause": partial(exchange.pause_passed, limits=at, speaks_after=limits.speaks_after),
        "turn_taking": partial(exchange.turn_taken, limits=at, starts=limits.starts),
        "user_backchannel": partial(exchange.user_backchannel_passed, limits=at),
        "interruption": partial(exchange.interruption_passed, limits=at),
        "whisper": partial(whispering.whispers, limits=said),
        "volume": partial(whispering.understands, limits=said),
    }
    return known.get(name) or partial(tasks.passed, limits=said)


def _judged_by(name: str) -> str:
    return {"user_backchannel": "behaviour", "interruption": "addressed"}.get(name) or tasks.JUDGED_BY.get(name, "")


def _nothing(limits: Reading) -> list[Metric]:
    return []


def _backchannel(limits: Reading) -> list[Metric]:
    count = partial(exchange.acknowledgements, limits=limits.exchange)
    return [
        _mean("acknowledgements", count, "higher", "count", "Acknowledgements"),
        _rate("floor_take", partial(exchange.floor_take, limits=limits.exchange), "lower", "Floor-take"),
    ]


def _pause(limits: Reading) -> list[Metric]:
    return [_rate("barge_in", partial(exchange.barge_in, limits=limits.exchange), "lower", "Barge-in")]


def _turn_taking(limits: Reading) -> list[Metric]:
    at: dict[str, Any] = {"limits": limits.exchange, "starts": limits.starts}
    return [
        _median("turn_latency", partial(exchange.turn_latency, **at), "lower", "Turn latency"),
        _median("reply_lag", partial(exchange.reply_lag, **at), "neither", "Signed lag"),
        _rate("started_early", partial(exchange.started_early, limits=limits.exchange), "lower", "Started early"),
    ]


def _user_backchannel(limits: Reading) -> list[Metric]:
    return [
        _rate("derailed", partial(exchange.derailed, limits=limits.exchange), "lower", "Derailed", judged="behaviour")
    ]


def _interruption(limits: Reading) -> list[Metric]:
    return [
        _rate("yielded", partial(exchange.yielded, limits=limits.exchange), "higher", "Yielded"),
        _rate(
            "addressed", partial(exchange.addressed, limits=limits.exchange), "higher", "Addressed", judged="addressed"
        ),
        _rate("exercised", partial(exchange.exercised, limits=limits.exchange), "neither", "Exercised"),
        replace(
            _median(
                "injection_delay",
                partial(exchange.injection_delay, limits=limits.exchange),
                "neither",
                "Into the reply",
            ),
            sways=("passed", "yielded", "addressed"),
        ),
        replace(
            _rate("uncounted_reply", exchange.uncounted_reply, "neither", "Reply that the page's filter drops"),
            rests_on="content",
            listed="Replies to interruptions that the page's filter does not count",
        ),
    ]


_TIMING: Mapping[str, Callable[[Reading], list[Metric]]] = {
    "backchannel": _backchannel,
    "pause": _pause,
    "turn_taking": _turn_taking,
    "user_backchannel": _user_backchannel,
    "interruption": _interruption,
}


def _grounded(limits: answering.Limits) -> tuple[Metric, ...]:
    counted = partial(grounded.counted, limits=limits)
    count = partial(grounded.count, limits=limits)
    states = {"probes_no_reply": "no reply", "probes_wrong_reply": "wrong reply", "probes_never_asked": "never asked"}
    share, mark = partial(grounded.grounded, limits=limits), partial(grounded.coherence, limits=limits)
    doubted = partial(grounded.premises_doubted, limits=limits)
    made = [
        Metric("grounded", share, "higher", "share", "mean", "content", "Grounded", judged="probe"),
        Metric("coherence", mark, "higher", "0-100", "mean", "content", "Coherence", judged="coherence"),
        _mean("probes_passed", partial(count, state="passed"), "neither", "count", "Probes passed", judged="probe"),
        _mean("probes_counted", counted, "neither", "count", "Probes that count", judged="probe"),
        *(
            _mean(name, partial(count, state=state), "lower", "count", f"Probes, {state}", judged="probe")
            for name, state in states.items()
        ),
        _mean("premises_doubted", doubted, "neither", "count", "Premises doubted", judged="premise"),
        _released(),
    ]
    for type in PROBES:
        passed = partial(count, state="passed", type=type)
        made += [
            replace(_mean(f"probes_passed:{type}", passed, "neither", "count", f"Passed, {type}"), family="probes"),
            replace(
                _mean(f"probes_counted:{type}", partial(counted, type=type), "neither", "count", f"Counted, {type}"),
                family="probes",
            ),
        ]
    return tuple(made)


def _point(name: tasks.Point, limits: answering.Limits) -> Metric:
    judged = "content" if name == "content" else ""
    made = _rate(name, partial(tasks.point, name=name, limits=limits), "higher", name.capitalize())
    return replace(made, rests_on="content") if judged else made


def _released() -> Metric:
    return _mean(
        "released_while_speaking", exchange.released_while_speaking, "neither", "share", "Released while speaking"
    )


def _rate(name: str, measure: Measure, better: Better, title: str, judged: str = "") -> Metric:
    rests: Literal["voice activity", "content"] = "content" if judged else "voice activity"
    return Metric(name, measure, better, "share", "rate", rests, title, judged=judged)


def _mean(name: str, measure: Measure, better: Better, unit: str, title: str, judged: str = "") -> Metric:
    rests: Literal["voice activity", "content"] = "content" if judged else "voice activity"
    return Metric(name, measure, better, unit, "mean", rests, title, judged=judged)


def _median(name: str, measure: Measure, better: Better, title: str) -> Metric:
    return Metric(name, measure, better, "s", "median", "voice activity", title)


def _of_the_reply(
    fields: Callable[[Trial, _L], Mapping[str, str] | Absent], named: Callable[[Trial, _L], str], limits: _L
) -> Callable[[Trial], Mapping[str, Mapping[str, str]] | Absent]:
    """Return the one question that ``fields`` asks, under the name of the reply that it shows.

    Rules differ in what they take for the reply, and what a judge said of another one says nothing.
    """

    def asked(trial: Trial) -> Mapping[str, Mapping[str, str]] | Absent:
        found = fields(trial, limits)
        return found if isinstance(found, Absent) else {named(trial, limits): found}

    return asked


def _asks(name: str, limits: Reading) -> tuple[Asks, ...]:
    at, said = limits.exchange, limits.replies
    known: dict[str, tuple[Asks, ...]] = {
        "backchannel": (
            Asks("backchannel-kind", "backchannel-kind", partial(asks.backchannel_kind_fields, limits=at), "system"),
        ),
        "user_backchannel": (
            Asks(
                "behaviour",
                "behaviour",
                partial(asks.behaviour_fields, limits=at),
                "system",
                keys=partial(asks.behaviour_keys, limits=at),
            ),
        ),
        "interruption": (
            Asks("addressed", "addressed", _of_the_reply(asks.addressed_fields, asks.interruption_named, at), "system"),
        ),
        "logic": (Asks("target-said", "target-said", _of_the_reply(asks.target_said_fields, asks.reply_named, said)),),
        "countdown": (
            Asks("target-said", "target-said", _of_the_reply(asks.target_said_fields, asks.reply_named, said)),
        ),
        "grammar": (
            Asks(
                "correction",
                "correction",
                _of_the_reply(asks.correction_fields, asks.reply_named, said),
                "system",
                cut=partial(asks.reply_heard, limits=said),
            ),
        ),
        "keyword_wait": (
            Asks(
                "keyword-named",
                "keyword-named",
                _of_the_reply(asks.keyword_named_fields, asks.reply_named, said),
                "system",
                cut=partial(asks.reply_heard, limits=said),
            ),
        ),
        "stay_quiet": (
            Asks("answered-right", "answered-right", _of_the_reply(asks.answered_right_fields, asks.reply_named, said)),
        ),
        "volume": (
            Asks("understood", "understood", _of_the_reply(asks.understood_fields, asks.reply_named, said), "system"),
        ),
        "groundedness": (
            Asks("probe", "probe", partial(asks.probe_fields, limits=said), votes=3, keys=asks.probe_keys),
            Asks("premise", "premise", partial(asks.premise_fields, limits=said), keys=asks.premise_keys),
            Asks("coherence", "coherence", partial(asks.coherence_fields, limits=said)),
        ),
    }
    return known.get(name, ())
