import tracemalloc
from typing import Any

import numpy as np
import pytest

from fullduplex.measures.metric import Estimate
from fullduplex.measures.statistics import estimate, quantile_estimate, wilson


def bounds(found: Estimate) -> tuple[float, float]:
    assert found.low is not None and found.high is not None
    return found.low, found.high


def width(found: Estimate) -> float:
    low, high = bounds(found)
    return high - low


@pytest.mark.parametrize(("hits", "n"), [(0, 10), (1, 10), (10, 10), (90, 137), (1, 2), (54, 55), (200, 200)])
def test_wilson_agrees_with_scipy(hits: Any, n: Any) -> None:
    from scipy.stats import binomtest

    oracle = binomtest(hits, n).proportion_ci(method="wilson")
    assert wilson(hits, n) == pytest.approx((oracle.low, oracle.high), abs=1e-9)


def test_a_rate_of_single_items_has_wilsons_interval() -> None:
    found = estimate([1.0] * 90 + [0.0] * 47, None, {}, "rate")
    assert found.value == pytest.approx(90 / 137)
    assert (found.low, found.high) == wilson(90, 137)
    assert found.method == "Wilson 95 %"


def test_a_rate_in_which_every_named_group_is_one_item_has_wilsons_interval() -> None:
    assert estimate([1, 0, 1], ["a", "b", ""], {}, "rate").method == "Wilson 95 %"


def test_one_group_of_two_items_calls_for_the_bootstrap() -> None:
    values = [1.0, 0.0] * 15
    groups = ["pair", "pair", *(f"{i}" for i in range(28))]
    assert (
        estimate(values, groups, {}, "rate", seed=4).method
        == "cluster bootstrap 95 %, 29 groups, 10000 resamples, seed 4"
    )


def test_a_mean_of_single_items_is_resampled_by_item() -> None:
    found = estimate(np.linspace(0, 1, 30), None, {}, "mean", seed=2, resamples=500)
    assert found.method == "bootstrap 95 %, 30 items, 500 resamples, seed 2"


def test_few_groups_are_called_too_few() -> None:
    assert "fewer than 20 groups: too narrow" in estimate([1, 2, 3, 4], ["a", "a", "b", "b"], {}).method


def test_dependence_inside_groups_widens_the_interval() -> None:
    values = [1.0] * 50 + [0.0] * 50
    grouped = estimate(values, [f"{i // 5}" for i in range(100)], {}, "rate")
    alone = estimate(values, None, {}, "rate")
    assert width(grouped) > 1.8 * width(alone)


def test_a_grouped_rate_of_all_ones_is_not_called_certain() -> None:
    found = estimate([1.0] * 40, [f"{i // 2}" for i in range(40)], {}, "rate")
    assert (found.low, found.high) == wilson(20, 20)
    assert found.method == "Wilson 95 % on 20 groups, every value equal"


def test_equal_latencies_have_an_interval_of_no_width_that_says_so() -> None:
    found = estimate([0.2] * 30, None, {}, "mean")
    assert (found.value, found.low, found.high) == (0.2, 0.2, 0.2)
    assert found.method.endswith("every value equal")


@pytest.mark.parametrize(
    ("values", "groups", "why"),
    [([1.0], None, "one item: no interval"), ([1.0, 0.0], ["a", "a"], "one group: no interval")],
)
@pytest.mark.parametrize("kind", ["rate", "mean"])
def test_one_group_has_a_value_and_no_interval(values: Any, groups: Any, why: Any, kind: Any) -> None:
    found = estimate(values, groups, {}, kind)
    assert found.value is not None
    assert (found.low, found.high, found.method) == (None, None, why)


def test_no_values_is_none_and_not_zero() -> None:
    found = estimate([], [], {"system was silent": 3}, "rate")
    assert (found.value, found.low, found.high, found.n) == (None, None, None, 0)
    assert found.absent == {"system was silent": 3}


def test_a_reason_that_nothing_has_is_not_listed() -> None:
    assert estimate([1.0, 0.0], None, {"no words": 0, "silent": 1}, "rate").absent == {"silent": 1}


def test_a_rate_is_made_of_zeros_and_ones() -> None:
    with pytest.raises(ValueError, match="0 or 1"):
        estimate([0.5], None, {}, "rate")


def test_the_seed_decides_the_interval() -> None:
    values = np.random.default_rng(0).exponential(size=40)
    assert estimate(values, None, {}, "mean", seed=1) == estimate(values, None, {}, "mean", seed=1)
    assert estimate(values, None, {}, "mean", seed=1).low != estimate(values, None, {}, "mean", seed=2).low


def test_the_order_of_items_changes_nothing() -> None:
    random = np.random.default_rng(8)
    values, groups = random.exponential(size=80), np.array([f"{i % 13}" for i in range(80)])
    order = random.permutation(80)
    assert estimate(values, groups, {}) == estimate(values[order], groups[order], {})
    assert quantile_estimate(values, groups, 0.9) == quantile_estimate(values[order], groups[order], 0.9)


def test_the_bootstrap_agrees_with_scipys() -> None:
    from scipy.stats import bootstrap

    values = np.random.default_rng(11).lognormal(-1, 0.5, 60)
    oracle = bootstrap(
        (values,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(5)
    ).confidence_interval
    found = estimate(values, None, {}, "mean")
    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high), rel=0.01)


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    random = np.random.default_rng(17)
    held = 0
    for seed in range(200):
        own = random.normal(size=(40, 1)) * 0.1 + random.normal(size=(40, 3)) * 0.1 + 0.4
        low, high = bounds(estimate(own.ravel(), [f"{i // 3}" for i in range(120)], {}, "mean", seed, resamples=400))
        held += low <= 0.4 <= high
    assert 0.90 <= held / 200 <= 0.985


def test_a_quantile_is_numpys() -> None:
    values = [0.3, 0.1, 0.9, 0.4]
    assert quantile_estimate(values, None, 0.9).value == pytest.approx(np.quantile(values, 0.9))
    assert bounds(quantile_estimate(values, None, 0.5))[0] >= 0.1


def test_a_quantile_of_one_group_has_no_interval() -> None:
    assert quantile_estimate([1.0, 2.0], ["a", "a"], 0.5).method == "one group: no interval"


def test_a_quantile_outside_0_to_1_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        quantile_estimate([1.0], None, 90)


def test_memory_stays_small_whatever_n() -> None:
    values = np.random.default_rng(0).exponential(size=200_000)
    tracemalloc.start()
    try:
        estimate(values, None, {}, "mean", resamples=3)
        base = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        estimate(values, None, {}, "mean", resamples=30)
        more = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # The values themselves take their room; ten times the draws must not.
    assert more - base < 1_000_000
