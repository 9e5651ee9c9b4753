"""The published excerpt of InteractionBench: its latencies, and who jumped into which pause."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fullduplex.measures import exchange
from fullduplex.measures.exchange import PAGE
from fullduplex.model.items import Item
from fullduplex.model.spans import Span, Timeline, seconds
from fullduplex.model.speech import Track, Word
from fullduplex.model.trials import Absent, Fact, Trial

EXCERPT = Path(__file__).parents[3] / "shared/data/results_per_item/interactionbench_excerpt/cells.json"


def cells(task: str) -> list[dict[str, Any]]:
    if not EXCERPT.is_file():
        pytest.skip("the excerpt of InteractionBench's published results is not here")
    return [cell for cell in json.loads(EXCERPT.read_text("utf-8"))["cells"] if cell["task"] == task]


def timeline(segments: list[list[float]]) -> Timeline:
    return Timeline(Span(seconds(start), seconds(end)) for start, end in segments)


def trial(cell: dict[str, Any], onsets: list[float], turn: tuple[float, float], pauses: list[Any]) -> Trial:
    told = {
        "scenario": cell["task"],
        "turns": [{"id": "u0", "timestamp": list(turn)}],
        "expects": [],
        "probes": [],
        "pauses": pauses,
    }
    words = tuple(Word("word", Span(seconds(at), seconds(at + 0.1))) for at in onsets)
    user = Track((Word("word", Span(seconds(turn[0]), seconds(turn[1]))),))
    system = Track(words, timeline(cell["model"]), duration=seconds(cell["dur"]))
    return Trial(Item(cell["item"], reference={"interaction": told}), user, system)


def test_every_published_latency_is_the_first_word_after_the_users_last() -> None:
    found = {}
    for cell in cells("turn_taking"):
        end = cell["user_last_word_end"]
        made = trial(cell, cell["model_word_onsets"], (0.0, end), [])
        # The excerpt is older than the page's rule that a reply that begins early has no latency.
        value = exchange.turn_latency(made, _any_start())
        assert isinstance(value, Fact)
        found[cell["item"], cell["system"]] = round(value.value * 1000)
    published = {
        (cell["item"], cell["system"]): int(cell["metric"].removesuffix("ms")) for cell in cells("turn_taking")
    }
    assert found == published
    assert len(found) == 11


def test_under_the_pages_final_rule_who_spoke_within_the_turn_has_no_latency() -> None:
    early = set()
    for cell in cells("turn_taking"):
        made = trial(cell, cell["model_word_onsets"], (0.0, cell["user_last_word_end"]), [])
        value = exchange.turn_latency(made, PAGE, starts="first word")
        if isinstance(value, Absent):
            assert value.reason == "spoke before the end"
            early.add((cell["item"], cell["system"]))
    assert early == {("18", "moshi"), ("18", "gptlive")}


def test_slow_is_who_needs_more_than_two_and_a_half_seconds() -> None:
    for cell in cells("turn_taking"):
        made = trial(cell, cell["model_word_onsets"], (0.0, cell["user_last_word_end"]), [])
        value = exchange.turn_taken(made, _any_start(), starts="first word")
        assert isinstance(value, Fact)
        assert bool(value.value) is cell["good"]


def test_who_jumped_into_a_pause_is_who_the_excerpt_says() -> None:
    for cell in cells("pause"):
        (_, paused), (resumed, end) = cell["user"]
        # The excerpt has segments of the system and no words: a word is set at each segment's onset, so that the
        # published pauses are met on segments alone.
        made = trial(
            cell, [start for start, _ in cell["model"]], (0.0, end), [{"start": paused, "end": resumed}]
        )  # fmt: skip
        jumped = exchange.barge_in(made, PAGE)
        passed = exchange.pause_passed(made, PAGE, speaks_after="pause")
        assert isinstance(jumped, Fact)
        assert isinstance(passed, Fact)
        assert bool(jumped.value) is (not cell["good"]), (cell["item"], cell["system"])
        assert bool(passed.value) is cell["good"], (cell["item"], cell["system"])


def _any_start() -> exchange.Limits:
    return replace(PAGE, early=seconds(60))
