"""Full-Duplex-Bench v1.5 as it is declared, and the released rules at their edges."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fullduplex.benchmarks import fdb15, find
from fullduplex.benchmarks import fdb15_released as released
from fullduplex.model.items import Item
from fullduplex.model.spans import seconds
from fullduplex.model.speech import Token, Track
from fullduplex.model.trials import Absent, Fact, Trial, Verdict


def words(*times: tuple[float, float]) -> tuple[Token, ...]:
    return tuple(Token("w", start, end) for start, end in times)


@pytest.mark.parametrize(
    ("times", "event_end", "at"),
    [
        ([(1.0, 2.0), (2.0, 3.0)], 2.0, 2.0),  # a word that ends there does not hold it
        ([(1.0, 2.5), (3.0, 4.0)], 2.0, 1.0),
        ([(1.0, 1.5), (3.0, 4.0)], 2.0, 3.0),
        ([(1.0, 1.5)], 2.0, 1.5),
        ([], 2.0, 2.0),
        ([(3.0, 4.0), (1.0, 1.5)], 2.0, 3.0),  # out of order
        ([(3.0, 4.0), (1.0, 1.5)], 5.0, 4.0),  # the end of the word that begins last
        ([(2.0, 2.0), (3.0, 4.0)], 2.0, 3.0),  # a word without length holds nothing
    ],
)
def test_the_split_is_at_a_word(times: list[tuple[float, float]], event_end: float, at: float) -> None:
    assert released.split(words(*times), event_end) == at


def trial(tokens: tuple[Token, ...], event_end: float, length: float, **more: Any) -> Trial:
    track = Track(tokens=tokens, duration=seconds(length))
    return Trial(Item("1", reference={"overlap_end_seconds": event_end}), system=track, **more)


def test_nothing_is_measured_past_the_recordings_ends() -> None:
    late = trial(words((0.5, 1.0)), 9.0, 0.8)
    assert released.split_of(late) == 0.8
    assert released.rate_of(late, "post") == Absent("no sound", "the cut lies at an end of the recording")
    early = trial(words((0.0, 1.0)), 0.5, 5.0)
    assert isinstance(released.rate_of(early, "pre"), Absent)
    assert isinstance(released.rate_of(early, "post"), Fact)


def test_a_rate_of_words_out_of_order_is_none() -> None:
    assert released.words_per_minute(words((3.0, 4.0), (1.0, 2.0))) == (0.0, 0.0)


def test_a_recorded_tag_with_two_labels_counts_by_halves() -> None:
    tag = Verdict("C_RESPOND", ("C_RESPOND", "C_RESUME"), by="recorded")
    both = trial((), 1.0, 5.0, verdicts={"behaviour": tag})
    assert [getattr(released.behaves(both, label), "value", None) for label in ("respond", "resume", "other")] == [
        0.5, 0.5, 0.0,
    ]  # fmt: skip
    odd = replace(both, verdicts={"behaviour": Verdict("C_IGNORE", by="recorded")})
    assert getattr(released.behaves(odd, "other"), "value", None) == 1.0


def test_what_a_judge_lacked_is_not_a_zero() -> None:
    lost = trial((), 1.0, 5.0, verdicts={"behaviour": Absent("unreachable", "no route")})
    for variant in find("fdb-1.5@all"):
        respond = next(m for m in variant.scenarios[0].metrics if m.name == "respond")
        found = respond.measure(lost)
        assert isinstance(found, Absent)


def test_every_variant_declares_the_four_scenarios_with_twins_and_a_question() -> None:
    for variant in find("fdb-1.5@all"):
        assert {scenario.task for scenario in variant.scenarios} == set(fdb15.TASKS)
        assert variant.twins and variant.parts is not None
        assert all(scenario.asks[0].verdict == "behaviour" for scenario in variant.scenarios)
        assert variant.departures
        names = [metric.name for metric in variant.scenarios[0].metrics]
        assert len(names) == len(set(names))


def test_the_better_behaviour_is_the_scenarios_own() -> None:
    (anchored,) = find("fdb-1.5@anchored")
    better = {
        (scenario.task, metric.name): metric.better for scenario in anchored.scenarios for metric in scenario.metrics
    }
    assert better["user_interruption", "respond"] == better["background_speech", "resume"] == "higher"
    assert better["user_interruption", "resume"] == better["talking_to_other", "respond"] == "lower"
    assert better["user_interruption", "stop_latency"] == "lower"
    assert better["user_backchannel", "stop_latency"] == "neither"
