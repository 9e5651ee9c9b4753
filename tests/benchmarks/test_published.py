from pathlib import Path

import pytest

from fullduplex.benchmarks.fdb1 import variants
from fullduplex.benchmarks.published import PAPER, published

SOURCE = Path(__file__).parents[2].parent / "shared" / "sources" / "full-duplex-bench-v1.txt"


def test_every_printed_number_is_a_metric_of_the_benchmark() -> None:
    ours = {(s.name, m.name): m for s in variants()["paper"].scenarios for m in s.metrics}
    for one in published("fdb-1.0"):
        metric = ours[one.scenario, one.metric]
        assert (one.better, one.unit, one.title, one.rests_on) == (
            metric.better,
            metric.unit,
            metric.title,
            metric.rests_on,
        )


def test_eight_systems_have_ten_numbers_each() -> None:
    found = published("fdb-1.0")
    assert len(found) == 80
    assert len({one.system for one in found}) == 8


def test_the_papers_table_is_as_printed() -> None:
    if not SOURCE.exists():
        pytest.skip("the paper's text is not beside this checkout")
    text = SOURCE.read_text(encoding="utf-8")
    for system in ("dGSLM", "Moshi", "Freeze-Omni", "Gemini Live"):
        line = next(line for line in text.splitlines() if line.startswith(f"{system}\t0."))
        ours = [one.value for one in published("fdb-1.0") if one.system.startswith(system) and one.source == PAPER]
        assert ours == [float(cell) for cell in line.split("\t")[1:]]


def test_rows_that_break_their_rule_say_so() -> None:
    marked = {(one.system, one.metric) for one in published("fdb-1.0") if one.departure}
    assert marked == {("Moshi", "jsd"), ("PersonaPlex", "jsd"), ("PersonaPlex", "frequency")}


def test_a_row_claims_no_interval_and_no_n() -> None:
    row = published("fdb-1.0")[0].to_row()
    assert (row["low"], row["high"], row["n"]) == (None, None, None)
    assert row["source"] and row["variant"]


def test_a_benchmark_without_printed_rows_has_none() -> None:
    assert published("fdb-9") == ()
