"""The labelled pairs are many, varied and hard enough, and what the judge is said to be worth is so."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from fullduplex.errors import PluginError
from fullduplex.judging.embedding import worth
from fullduplex.judging.embedding.interruption import ADDRESSED_FROM, fitted
from fullduplex.judging.embedding.signals import SIGNALS
from fullduplex.judging.embedding.vectors import Vectoriser, vectoriser
from fullduplex.providers.weights import default_cache

MODEL = "wordllama-256"
HARD = {"number", "slot", "old", "negation", "person", "repeat", "filler", "polarity"}
STALE = "run bench/embedding_auc.py again"


@pytest.fixture(scope="module")
def vectors() -> Vectoriser:
    try:
        return vectoriser(MODEL, default_cache(os.environ))
    except PluginError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def stored() -> dict[str, object]:
    found = json.loads(worth.WORTH.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def test_there_are_enough_pairs_and_enough_of_them_are_hard() -> None:
    kinds = Counter(pair.kind for pair in worth.pairs())
    assert kinds.total() >= 240
    assert sum(kinds[kind] for kind in HARD) >= 0.4 * kinds.total()
    assert kinds["paraphrase"] >= 20
    assert kinds["short"] >= 20


def test_no_reply_stands_twice() -> None:
    assert len({(pair.scenario, pair.reply) for pair in worth.pairs()}) == len(worth.pairs())


def test_good_and_bad_stand_in_both_halves() -> None:
    halves = Counter((pair.half, pair.good) for pair in worth.pairs())
    assert min(halves.values()) >= 50
    assert len(halves) == 4


def test_there_are_enough_behaviours_of_each_kind() -> None:
    runs = [run for one in json.loads(worth.PAIRS.read_text(encoding="utf-8"))["behaviours"] for run in one["runs"]]
    labels = Counter(run["label"] for run in runs)
    assert labels.total() >= 60
    assert min(labels[label] for label in ("respond", "resume", "uncertain")) >= 20


def test_the_stored_worth_is_of_these_pairs_and_rules(stored: dict[str, object]) -> None:
    assert stored["pairs"] == worth.pairs_digest(), STALE
    assert stored["rules"] == worth.rules_digest(), STALE


@pytest.mark.weights
def test_the_stored_areas_are_measured_again(vectors: Vectoriser) -> None:
    stored = json.loads(worth.WORTH.read_text(encoding="utf-8"))["models"][MODEL]
    chances = worth.chances(vectors, fitted(MODEL))
    for name, half in (("tuned", worth.TUNED), ("held out", worth.HELD_OUT)):
        assert worth.measured(chances, half) == pytest.approx(stored["rules"][name], abs=2e-3), STALE
        assert worth.by_kind(chances, half, ADDRESSED_FROM) == stored["kinds"][name], STALE
        assert worth.behaviours(vectors, half) == stored["behaviours"][name], STALE
        assert worth.measured(worth.similarities(vectors), half) == pytest.approx(stored["similarity"][name], abs=2e-3)


@pytest.mark.weights
def test_the_weights_are_those_that_the_tuned_half_gives(vectors: Vectoriser) -> None:
    again = worth.fit(vectors)
    assert [again[name] for name in ("constant", *SIGNALS)] == pytest.approx(fitted(MODEL), abs=0.02)


def test_rules_add_to_nearness_on_pairs_that_they_were_not_tuned_on() -> None:
    found = worth.stored_worth(MODEL)
    assert found.low > found.similarity


def test_the_area_counts_ties_as_one_half() -> None:
    assert worth.area(np.array([1.0, 2.0]), np.array([1.0, 0.0])) == 0.875


def test_an_interval_covers_its_area() -> None:
    scores = np.array([0.9, 0.2, 0.8, 0.4, 0.3, 0.5])
    good = np.array([True, False, True, False, True, False])
    low, high = worth.interval(scores, good, np.array([0, 0, 1, 1, 2, 2]))
    assert low <= worth.area(scores[good], scores[~good]) <= high


def test_the_page_on_judges_has_the_measured_figures() -> None:
    page = (Path(__file__).parents[2] / "docs/explanation/judges.md").read_text(encoding="utf-8")
    models = json.loads(worth.WORTH.read_text(encoding="utf-8"))["models"]
    for name, model in (("WordLlama", "wordllama-256"), ("MiniLM", "minilm-l6")):
        for row, part in ((f"nearness by {name} alone", "similarity"), (f"nearness by {name} and rules", "rules")):
            halves = [models[model][part][half] for half in ("tuned", "held out")]
            cells = [f"{half['auc']:.2f} ({half['low']:.2f}-{half['high']:.2f})" for half in halves]
            assert f"| {row} | {' | '.join(cells)} |" in page
    for label, (right, whole) in models[MODEL]["behaviours"]["held out"].items():
        assert f"| {label} | {right} of {whole} |" in page
