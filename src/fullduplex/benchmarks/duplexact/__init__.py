"""DuplexAct: eight actions under twenty-four conditions; each succeeds at once (I) and is followed through (S), or not.

``page`` is the published page's criteria with thresholds of ours, for it prints none; ``lenient`` allows brief tokens
where the system is to be silent. What is whose stands in ``conditions.toml``; items are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from fullduplex.benchmarks.declare import Asks, Benchmark, Departure, Hearing, Scenario
from fullduplex.benchmarks.duplexact import asks
from fullduplex.benchmarks.duplexact.conditions import Action, Condition, actions
from fullduplex.benchmarks.duplexact.departures import LENIENT, PAGE
from fullduplex.measures import actions as measures
from fullduplex.measures.actions import FOLLOW_THROUGH, LENIENT_WORDS, SUBSTANTIVE, TIMED, TONE, Limits
from fullduplex.measures.metric import Better, Metric
from fullduplex.model.spec import Spec

NAME, VERSION = "duplexact", "1"
CITATION = "DuplexAct, Dong et al., 2026 (its public page)"
DEFAULT = "page"
#: The higher the better; an interruption before the target point is not better than one after it.
_BETTER: Mapping[str, Better] = {"stop": "lower", "interrupt": "neither", "recover": "lower"}
_TIMES = {"stop": "Yield latency", "interrupt": "Interruption timing", "recover": "Response latency"}
_OURS = Hearing("silero", Spec("silero", {"pad_ms": 0}))


def variants() -> Mapping[str, Benchmark]:
    """Return every variant by name, the default first."""
    made = (page(Limits()), lenient(Limits(allowed_words=LENIENT_WORDS)))
    return {benchmark.variant: benchmark for benchmark in made}


def page(limits: Limits) -> Benchmark:
    """Return the page's criteria under ``limits``."""
    summary = "the published page's criteria where it has them, ours elsewhere; every threshold is ours"
    return replace(_benchmark("page", limits, PAGE, summary), rebuilt=page)


def lenient(limits: Limits) -> Benchmark:
    """Return the same, with brief tokens allowed where the system is to be silent."""
    summary = f"as page; up to {limits.allowed_words} words under a second are allowed where the system is to be silent"
    return replace(_benchmark("lenient", limits, PAGE + LENIENT, summary), rebuilt=lenient)


def _benchmark(variant: str, limits: Limits, departures: tuple[Departure, ...], summary: str) -> Benchmark:
    scenarios = tuple(
        Scenario(
            f"da_{condition.name}",
            f"da_{condition.name}",
            f"da_{condition.name}",
            _metrics(action, condition, limits),
            f"{action.title}: {condition.title}",
            condition.official,
            needs_speech=True,
            asks=_asks(action, condition, limits),
            dimension=action.key,
            card=condition.name,
        )
        for action in actions()
        for condition in action.conditions
    )
    return Benchmark(NAME, VERSION, variant, CITATION, scenarios, _OURS, departures, summary, limits=limits)


def _metrics(action: Action, condition: Condition, limits: Limits) -> tuple[Metric, ...]:
    at: dict[str, Any] = {"action": action.key, "condition": condition.key, "limits": limits}
    judged = SUBSTANTIVE if _responds(action) else ""
    made = [
        Metric(
            "immediate", partial(measures.immediate, **at), "higher", "share", "rate",
            "content" if judged else "voice activity", "I", judged=judged,
        ),
        Metric(
            "follow_through", partial(measures.follow_through, **at), "higher", "share", "rate", "content", "S",
            judged=FOLLOW_THROUGH,
        ),
    ]  # fmt: skip
    if action.key in TIMED:
        made.append(
            Metric(
                "timing", partial(measures.timing, **at), _BETTER[action.key], "s", "median",
                "content" if judged else "voice activity", f"T ({_TIMES[action.key].lower()})", judged=judged,
            )
        )  # fmt: skip
    return tuple(made)


def _asks(action: Action, condition: Condition, limits: Limits) -> tuple[Asks, ...]:
    at: dict[str, Any] = {"action": action, "condition": condition, "limits": limits}
    made: list[Asks] = []
    if _responds(action):
        made.append(Asks(SUBSTANTIVE, "substantive", partial(asks.substantive_fields, **at)))
    if action.key == "backchannel":
        heard = partial(asks.tone_heard, **at)
        made.append(Asks(TONE, "backchannel-tone", partial(asks.tone_fields, **at), "system", cut=heard))
    made.append(Asks(FOLLOW_THROUGH, "follow-through", partial(asks.follow_through_fields, **at)))
    return tuple(made)


def _responds(action: Action) -> bool:
    return action.key in measures.RESPONDS
