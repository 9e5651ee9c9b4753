"""The French configurations are v1.0's rules on other items, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullduplex.benchmarks import fdb1, fdb_french
from fullduplex.benchmarks.declare import Benchmark
from fullduplex.making.harvest.fdb.rules import FDB_RULES
from fullduplex.measures.answers import Limits
from fullduplex.measures.metric import name_of
from fullduplex.runs.measured import scenario_of

VARIANTS = fdb_french.variants()


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_scenario_has_the_measures_of_v1_0(variant: str) -> None:
    theirs = {
        scenario.task: scenario.metrics for scenario in fdb1.variants()[variant].scenarios if not scenario.dataset
    }
    for scenario in VARIANTS[variant].scenarios:
        assert [(m.name, name_of(m.measure), m.better, m.unit) for m in scenario.metrics] == [
            (m.name, name_of(m.measure), m.better, m.unit) for m in theirs[scenario.task]
        ]


def test_the_default_is_v1_0s_default() -> None:
    assert next(iter(VARIANTS)) == fdb1.DEFAULT


def test_media_has_no_backchannels_and_callfc_has_all_tasks() -> None:
    named = {scenario.dataset for scenario in VARIANTS["anchored"].scenarios if scenario.dataset}
    assert named == {
        *(f"callfc_{task}" for task in ("pause_handling", "backchannel", "smooth_turn_taking", "user_interruption")),
        *(f"media_{task}" for task in ("pause_handling", "smooth_turn_taking", "user_interruption")),
    }


@pytest.mark.parametrize("corpus", fdb_french.CORPORA, ids=lambda one: one.name)
def test_a_configuration_asks_for_the_tasks_that_its_rules_harvest(corpus: fdb_french.Corpus) -> None:
    rules = FDB_RULES[corpus.rules]
    assert set(corpus.tasks) == set(rules.tasks)
    assert rules.cap == fdb_french.CAP


def test_an_item_goes_to_its_corpus_and_one_of_no_known_corpus_to_its_task() -> None:
    benchmark = VARIANTS["anchored"]
    of_media = scenario_of(benchmark, {"task": "pause_handling", "dataset": "media_pause_handling"})
    of_none = scenario_of(benchmark, {"task": "pause_handling", "dataset": ""})
    assert of_media is not None and of_media.title == "Pause handling, MEDIA"
    assert of_none is not None and of_none.name == "pause_handling"


def test_no_count_of_items_is_made_up() -> None:
    assert {scenario.official for benchmark in VARIANTS.values() for scenario in benchmark.scenarios} == {0}


def test_anchored_with_other_limits_is_still_french() -> None:
    anchored = VARIANTS["anchored"]
    assert anchored.rebuilt is not None
    made: Benchmark = anchored.rebuilt(Limits())
    assert (made.name, made.paper, [s.name for s in made.scenarios]) == (
        "fdb-french", fdb_french.CITATION, [s.name for s in anchored.scenarios],
    )  # fmt: skip


@pytest.mark.parametrize("variant", VARIANTS)
def test_departures_name_one_judge_and_it_is_the_french_sources(variant: str) -> None:
    of_rating = [one for one in VARIANTS[variant].departures if one.where == "rating"]
    assert len(of_rating) == 1
    assert "llama3.3:70b" in of_rating[0].theirs


def test_no_rubric_in_french_ships() -> None:
    folder = Path(fdb1.__file__).parent.parent / "judging" / "rubrics"
    assert not [path for path in folder.rglob("*") if "french" in path.name or path.name.endswith("-fr.toml")]
