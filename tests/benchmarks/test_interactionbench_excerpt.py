"""Every overlap list, latency and pause verdict of the released excerpt, computed again from its segments and words.

A difference that :data:`KNOWN` does not list fails, and so does a listed one that is none.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fullduplex.benchmarks.interactionbench import variants
from fullduplex.benchmarks.interactionbench.published import PRINTED, SYSTEMS, published
from fullduplex.making.interaction_policy import POLICY, SCENARIOS
from fullduplex.measures.strips import latency_of, longest_pause, overlap_printed, overlaps, prompt, spoke_in_pause
from fullduplex.model.spans import Span, Timeline, in_seconds, ms, seconds
from fullduplex.model.trials import Fact

EXCERPT = Path(__file__).parents[3] / "shared" / "data" / "results_per_item" / "interactionbench_excerpt" / "cells.json"
#: (what, task, item, system) of every known difference, and its reason. There is none.
KNOWN: dict[tuple[str, str, str, str], str] = {}


@cache
def excerpt() -> dict[str, Any]:
    if not EXCERPT.is_file():
        pytest.skip("the excerpt of the released results is not here")
    return dict(json.loads(EXCERPT.read_text(encoding="utf-8")))


def cells(task: str = "") -> list[dict[str, Any]]:
    return [cell for cell in excerpt()["cells"] if task in ("", cell["task"])]


def timeline(spans: list[list[float]]) -> Timeline:
    return Timeline(Span(seconds(start), seconds(end)) for start, end in spans)


def differing(
    what: str, theirs: Sequence[tuple[dict[str, Any], object]], ours: Sequence[object]
) -> set[tuple[str, ...]]:
    return {
        (what, cell["task"], cell["item"], cell["system"])
        for (cell, printed), found in zip(theirs, ours, strict=True)
        if printed != found
    }


def known(what: str) -> set[tuple[str, ...]]:
    return {key for key in KNOWN if key[0] == what}


def test_all_33_overlap_lists_are_reproduced() -> None:
    printed = [(cell, cell["overlap"]) for cell in cells()]
    found: list[object] = [
        [[in_seconds(s.start), in_seconds(s.end)] for s in overlaps(timeline(c["user"]), timeline(c["model"]))]
        for c in cells()
    ]
    assert len(printed) == 33
    assert differing("overlap", printed, found) == known("overlap")


def test_a_plain_intersection_reproduces_32_of_them() -> None:
    plain = [
        [[in_seconds(s.start), in_seconds(s.end)] for s in timeline(c["user"]) & timeline(c["model"])] for c in cells()
    ]
    missed = [cell for cell, found in zip(cells(), plain, strict=True) if cell["overlap"] != found]
    assert [(cell["task"], cell["item"], cell["system"]) for cell in missed] == [("pause", "7", "moshi")]


def test_all_33_overlap_totals_are_reproduced() -> None:
    printed = [(cell, cell["overlap_s"]) for cell in cells()]
    assert differing("total", printed, [overlap_printed(cell["overlap"]) for cell in cells()]) == known("total")


def test_all_11_latencies_are_reproduced() -> None:
    printed, found = [], list[object]()
    for cell in cells("turn_taking"):
        printed.append((cell, int(cell["metric"].removesuffix("ms"))))
        one = latency_of(seconds(cell["user_last_word_end"]), map(seconds, cell["model_word_onsets"]))
        found.append(round(one.value * 1000) if isinstance(one, Fact) else one)
    assert len(printed) == 11
    assert differing("latency", printed, found) == known("latency")


def test_all_11_turn_taking_verdicts_are_reproduced() -> None:
    printed = [(cell, cell["good"]) for cell in cells("turn_taking")]
    found: list[object] = [
        prompt(latency_of(seconds(c["user_last_word_end"]), map(seconds, c["model_word_onsets"]))) for c, _ in printed
    ]
    assert differing("prompt", printed, found) == known("prompt")


def test_speech_inside_the_turn_is_passed_over_by_the_released_latency() -> None:
    early = [
        cell["system"] for cell in cells("turn_taking") if min(cell["model_word_onsets"]) < cell["user_last_word_end"]
    ]
    assert early == ["gptlive", "moshi"]
    assert all(cell["good"] for cell in cells("turn_taking") if cell["system"] in early)


def test_all_9_pause_verdicts_follow_from_the_segments() -> None:
    printed = [(cell, cell["good"]) for cell in cells("pause")]
    found: list[object] = []
    for cell, _ in printed:
        pause = longest_pause(timeline(cell["user"]))
        assert pause is not None
        found.append(spoke_in_pause(pause, timeline(cell["model"])).value == 0)
    assert len(printed) == 9
    assert differing("pause", printed, found) == known("pause")


def test_printed_rows_agree_with_the_excerpts_leaderboards() -> None:
    names = {"npass": "passed", "bargein": "barge_in", "floor_take": "floor_take", "avg_bc": "acknowledgements"}
    names |= {"med_lat_ms": "turn_latency", "yielded": "yielded"}
    ours = {
        (row.scenario, row.system, row.metric): row
        for row in PRINTED
        if row.revision == "0cb35b6" and row.scenario != "timing"
    }
    theirs = {
        (f"ib_{task.removesuffix('_production')}", SYSTEMS[system], names[name]): (value, row["n"])
        for task, board in excerpt()["leaderboards"].items()
        for system, row in board.items()
        for name, value in row.items()
        if name != "n"
    }
    assert set(ours) == set(theirs)
    for key, (value, n) in theirs.items():
        row = ours[key]
        assert row.n == n, key
        shown = row.part if row.metric == "passed" else row.value * (1000 if row.metric == "turn_latency" else 1)
        assert shown == pytest.approx(value), key


def test_printed_timing_totals_agree_with_the_excerpt() -> None:
    totals = {SYSTEMS[name]: tuple(pair) for name, pair in excerpt()["timing_totals"].items()}
    ours = {row.system: (row.part, row.n) for row in PRINTED if row.revision == "0cb35b6" and row.scenario == "timing"}
    assert ours == totals


def test_timing_scores_are_the_sums_of_the_five_scenarios() -> None:
    five = ("ib_backchannel", "ib_pause", "ib_turn_taking", "ib_user_backchannel", "ib_interruption")
    passed, n = Counter[str](), Counter[str]()
    for row in PRINTED:
        if row.revision == "0cb35b6" and row.metric == "passed" and row.scenario in five:
            assert row.part is not None
            assert row.n is not None
            passed[row.system] += row.part
            n[row.system] += row.n
    totals = {
        row.system: (row.part, row.n) for row in PRINTED if row.revision == "0cb35b6" and row.scenario == "timing"
    }
    assert {system: (passed[system], n[system]) for system in passed} == totals


def test_every_row_names_source_variant_and_clock() -> None:
    assert all(row.source and row.variant and row.clock for row in PRINTED)


def test_a_share_is_its_part_of_n() -> None:
    for row in PRINTED:
        if row.part is not None:
            assert row.n
            assert row.value == row.part / row.n


def test_other_benchmarks_have_no_rows_here() -> None:
    assert published("fdb-1.0") == ()
    assert len(published("interactionbench")) == len(PRINTED)


def test_printed_rows_stand_beside_our_own_metrics() -> None:
    ours = {
        (scenario.name, metric.name): (metric.unit, metric.better, metric.rests_on)
        for scenario in variants()["page"].scenarios
        for metric in scenario.metrics
    }
    printed = {(row.scenario, row.metric): (row.unit, row.better, row.rests_on) for row in PRINTED}
    assert {key: what for key, what in printed.items() if key[0] != "timing"} == {
        key: ours[key] for key in printed if key[0] != "timing"
    }


def test_every_row_can_be_shown() -> None:
    assert all(row.to_row()["scenario_title"] for row in PRINTED)


PAGE = (Path(__file__).parents[2] / "docs" / "explanation" / "interactionbench.md").read_text(encoding="utf-8")


def test_the_windows_of_the_document_are_those_of_the_items() -> None:
    rows = re.findall(r"^\| `ib_(\w+)` \| (\w+) \| (\w+) \| (-?\d+) to (\d+) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 5
    for name, action, overlap, first, last in rows:
        policy = POLICY[name]
        assert (policy.action, policy.overlap, policy.window) == (action, overlap, (ms(int(first)), ms(int(last))))
    windowed = {name for name in SCENARIOS if POLICY[name].window is not None}
    assert {row[0] for row in rows} == windowed


def test_the_variants_of_the_document_are_the_variants_there_are() -> None:
    table = PAGE.split("## Variants")[1].split("\n\n")[1]
    named = [name for line in table.splitlines() for name in re.findall(r"`([\w-]+)`", line.split("|")[1])]
    assert named == list(variants())


def test_the_document_counts_the_items_that_the_benchmark_does() -> None:
    table = PAGE.split("## What passes")[1].split("\n\n")[2]
    counts = {
        name: int(cells[2].split()[0])
        for line in table.splitlines()[2:]
        for cells in (line.split("|"),)
        for name in re.findall(r"`(\w+)`", cells[1])
    }
    assert counts == {scenario.name: scenario.official for scenario in variants()["page"].scenarios}
