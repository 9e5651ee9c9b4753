from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import jensenshannon

from fullduplex.measures.conversation import Distance, jensen_shannon, kolmogorov_smirnov, standing, wasserstein
from fullduplex.model.spans import ms, seconds
from fullduplex.model.trials import Absent

FEW = 200


def corpus(seed: int, mean: float, talks: int = 12, each: int = 25) -> dict[str, list[int]]:
    random = np.random.default_rng(seed)
    return {str(n): [ms(v) for v in random.normal(mean, 300, each)] for n in range(talks)}


def pooled(values: dict[str, list[int]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.concatenate([np.asarray(each) for each in values.values()]) / seconds(1)


def figures(found: Distance) -> list[float]:
    figures = (found.value, found.low, found.high, found.chance, found.p)
    return [figure for figure in figures if figure is not None]


def test_they_are_what_scipy_computes() -> None:
    one, other = corpus(1, 0), corpus(2, 150, talks=7)
    a, b = pooled(one), pooled(other)
    assert wasserstein(one, other, resamples=FEW).value == pytest.approx(stats.wasserstein_distance(a, b), abs=1e-9)
    assert kolmogorov_smirnov(one, other, resamples=FEW).value == pytest.approx(stats.ks_2samp(a, b).statistic)
    edges = np.r_[-np.inf, np.arange(-2, 2.0001, 0.05), np.inf]
    edges[1:-1] = edges[1:-1].round(9)
    p, q = np.histogram(a, edges)[0], np.histogram(b, edges)[0]
    assert jensen_shannon(one, other, resamples=FEW).value == pytest.approx(jensenshannon(p, q, base=2) ** 2)
    root = jensen_shannon(one, other, unit="nats", root=True, resamples=FEW)
    assert root.value == pytest.approx(jensenshannon(p, q))
    assert root.unit == "√nats"


def test_a_shift_of_every_value_is_the_wasserstein_distance() -> None:
    one = corpus(3, 0)
    moved = {name: [value + ms(120) for value in values] for name, values in one.items()}
    assert wasserstein(one, moved, resamples=FEW).value == pytest.approx(0.12)


def test_corpora_that_share_no_bin_are_one_bit_apart_and_ln_2_nats() -> None:
    one, other = {"a": [0]}, {"b": [seconds(1)]}
    assert jensen_shannon(one, other).value == pytest.approx(1)
    assert jensen_shannon(one, other, unit="nats").value == pytest.approx(math.log(2))
    assert jensen_shannon(one, other, unit="bits", root=True).value == pytest.approx(1)


def test_what_lies_beyond_the_bins_is_in_the_outermost() -> None:
    far, farther, edge = {"a": [seconds(5)]}, {"b": [seconds(9)]}, {"c": [seconds(2)]}
    assert jensen_shannon(far, farther).value == 0
    assert jensen_shannon(far, edge).value == 0
    assert jensen_shannon(far, {"d": [seconds(2) - 1]}).value == pytest.approx(1)


def test_alike_corpora_lie_as_near_as_chance_and_different_ones_beyond_it() -> None:
    alike = wasserstein(corpus(4, 0), corpus(5, 0), resamples=FEW)
    apart = wasserstein(corpus(4, 0), corpus(5, 300), resamples=FEW)
    assert alike.p is not None and alike.p > 0.05
    assert apart.p == pytest.approx(1 / (FEW + 1))
    assert apart.low is not None and apart.high is not None and apart.low < 0.3 < apart.high
    assert apart.chance is not None and apart.value is not None and apart.chance < apart.value / 3


def test_conversations_are_drawn_and_not_values() -> None:
    # Each conversation is one value said fifty times: fifty times as many values are no more evidence.
    one = {str(n): [ms(100 * n)] for n in range(8)}
    other = {str(n): [ms(100 * n + 50)] for n in range(8)}
    many, others = ({k: v * 50 for k, v in each.items()} for each in (one, other))
    a, b = wasserstein(one, other, resamples=FEW), wasserstein(many, others, resamples=FEW)
    assert figures(a) == pytest.approx(figures(b))


def test_the_same_seed_gives_the_same_interval() -> None:
    one, other = corpus(6, 0), corpus(7, 80)
    assert wasserstein(one, other, resamples=FEW, seed=3) == wasserstein(one, other, resamples=FEW, seed=3)


def test_a_corpus_without_values_has_no_distance_and_says_why() -> None:
    found = jensen_shannon({"a": []}, {"b": [1]})
    assert (found.value, found.low, found.p, found.method) == (None, None, None, "no values")
    assert wasserstein({}, {}).value is None


def test_one_conversation_has_a_distance_and_no_interval() -> None:
    found = wasserstein({"a": [0, 10]}, corpus(8, 0), resamples=FEW)
    assert found.value is not None
    assert (found.low, found.chance, found.method) == (None, None, "one conversation: no interval")


def test_blocks_of_a_long_support_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = corpus(9, 0), corpus(10, 90)
    whole = wasserstein(one, other, resamples=FEW), kolmogorov_smirnov(one, other, resamples=FEW)
    monkeypatch.setattr("fullduplex.measures.conversation.distances._BLOCK", 1_000)
    parts = wasserstein(one, other, resamples=FEW), kolmogorov_smirnov(one, other, resamples=FEW)
    for a, b in zip(whole, parts, strict=True):
        assert figures(a) == pytest.approx(figures(b))


def test_a_value_in_the_middle_of_people_stands_at_50_and_one_above_all_at_100() -> None:
    people = [1.0, 2.0, 3.0]
    middle, top, below = (standing(value, people) for value in (2.0, 4.0, 0.0))
    assert not isinstance(middle, Absent) and not isinstance(top, Absent) and not isinstance(below, Absent)
    assert (below.percentile, middle.percentile, top.percentile) == (0, 50, 100)
    assert (middle.median, middle.n) == (2.0, 3)


def test_without_people_there_is_no_standing() -> None:
    assert standing(1.0, []) == Absent("no people")
    with pytest.raises(ValueError, match="finite"):
        standing(float("nan"), [1.0])
